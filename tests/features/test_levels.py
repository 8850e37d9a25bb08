"""Categories with an order: found by words and numbers, said, and used as one number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset
from hetviz.errors import DataError
from hetviz.features import table
from hetviz.features.columns.levels import complete_order, natural_order, proposed_order, ranks
from hetviz.features.recipe import make_features


@pytest.mark.parametrize(
    "order",
    [
        ("low", "medium", "high"),
        ("Niedrig", "Mittel", "Hoch", "sehr hoch"),
        ("faible", "moyen", "élevé"),
        ("XS", "S", "M", "L", "XL", "XXL"),
        ("Jan", "Feb", "Mar", "Dec"),
        ("März", "April", "Mai", "Dezember"),
        ("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"),
        ("5-17 years", "18-25 years", "65-80 years"),
        ("grade 2", "grade 9", "grade 10"),
        ("-10", "-2", "0", "7"),
        ("never", "sometimes", "always"),
        ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
        ("Very dissatisfied", "Dissatisfied", "Neither satisfied nor dissatisfied", "Satisfied"),
        ("under 18", "18-24", "25-34", "65+"),
        ("<10", "10-20", "20-50", ">50"),
        ("18-24", "25-34", "65 or older"),
    ],
)
def test_known_order_ignores_input_order(order):
    for turned in (order[::-1], order[1:] + order[:1]):
        assert natural_order(turned) == order
        assert proposed_order(turned) == order


@pytest.mark.parametrize(
    "values",
    [("red", "green"), ("low", "blue"), ("low", "niedrig"), ("a1", "b2"), ("M", "F"), ("one",), (),
     ("1", "2+", "3"), ("over 1", "2-4", "5-9"), ("a 1", "b 2", "c 3")],
)  # fmt: skip
def test_known_order_of_unordered_values(values):
    assert natural_order(values) is None
    assert proposed_order(values) == values


def test_ranks_of_cells():
    order = complete_order(("b", "a"), ["a", "c"])
    assert order == ("b", "a", "c")
    np.testing.assert_array_equal(
        ranks(order, ["a", None, "x", "b", " c "]), [1.0, np.nan, np.nan, 0.0, 2.0]
    )


GRADES = pd.DataFrame({"grade": ["low", "high", "medium", "low", "", "high"] * 3}, dtype=str)


def test_ordered_category_has_one_feature():
    result = table.fit(GRADES, options={"grade": {"kind": "ordered"}})
    (step,) = result.recipe["columns"]
    assert step["order"] == ["low", "medium", "high"]
    assert result.feature_names[0] == "grade"
    x = result.X[:, 0]
    assert x[0] < x[2] < x[1]
    assert x[1] - x[2] == pytest.approx(x[2] - x[0])
    np.testing.assert_allclose(result.X.var(axis=0).sum(), 1.0)
    np.testing.assert_allclose(table.transform(result.recipe, GRADES), result.X)


def test_given_order_is_completed():
    messages = {"grade": {"kind": "ordered", "order": ["high", "low"]}}
    result = table.fit(GRADES, options=messages)
    assert result.recipe["columns"][0]["order"] == ["high", "low", "medium"]
    problems = []
    new = pd.DataFrame({"grade": ["low", "huge"]}, dtype=str)
    X = table.transform_leniently(result.recipe, new, None, problems)
    assert [problem.code for problem in problems] == ["unknown-category"]
    np.testing.assert_allclose(X[0], result.X[0])
    with pytest.raises(DataError, match="an order must be a list of strings"):
        table.fit(GRADES, options={"grade": {"kind": "ordered", "order": [1, 2]}})
    plain = table.fit(GRADES, options={"grade": {"order": ["high"], "kind": "category"}})
    assert plain.X.shape == (18, 3)


def test_make_features_with_order():
    grades = Dataset("d", [str(k) for k in range(18)], table=GRADES)
    result = make_features(grades, {"grade": {"kind": "ordered"}})
    assert result.recipe["features"]["columns"][0]["kind"] == "ordered"

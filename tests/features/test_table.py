import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.errors import DataError, HetvizError
from hetviz.features import table as features
from hetviz.features.columns import types as kinds
from hetviz.features.table import transform

TEXTS = ["red fox runs", "blue fox sits", "red dog runs fast", "blue dog sits still"]


def frame():
    return pd.DataFrame(
        {
            "size": ["1", "2", "", "4"],
            "colour": ["red", "blue", "red", "N/A"],
            "born": ["2020-01-01", "2020-01-03", "2021-01-01", "2022-05-06"],
            "text": TEXTS,
            "same": ["x"] * 4,
            "code": ["a1", "b2", "c3", "d4"],
        },
        dtype=str,
    )


def test_infer_column_types():
    result = {name: kinds.infer(name, frame()[name]).kind for name in frame()}
    assert result == {
        "size": "number",
        "colour": "category",
        "born": "date",
        "text": "text",
        "same": "constant",
        "code": "unique",
    }


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "nan", "NULL", "none", "?", "-"])
def test_infer_missing_markers(cell):
    column = kinds.infer("x", ["1", cell, "3"])
    assert column.kind == "number"
    assert column.n_missing == 1
    assert np.isnan(column.values[1])


def test_infer_codes_as_text():
    assert kinds.infer("c", ["NA", "FR", "FR", "DE"]).n_missing == 0
    assert kinds.infer("c", ["nan", "fra", "fra", "deu"]).n_missing == 0
    assert kinds.infer("c", ["NA", "France", "France", "Chad"]).n_missing == 1
    assert kinds.infer("z", ["007", "010", "010"]).kind == "category"


def test_infer_decimal_comma():
    np.testing.assert_allclose(kinds.infer("x", ["1,5", "2"], ",").values, [1.5, 2.0])
    assert kinds.infer("x", ["1,5", "2", "2"]).kind == "category"


def test_every_column_has_the_same_total_variance():
    result = features.fit(frame())
    for name in ("size", "colour", "born", "text"):
        at = [
            place
            for place, title in enumerate(result.feature_names)
            if title == name or title.startswith((f"{name}=", f"{name}~"))
        ]
        assert result.X[:, at].var(axis=0).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(result.X.mean(axis=0), 0.0, atol=1e-12)


def test_missing_numbers_become_the_mean():
    result = features.fit(frame(), columns=["size"])
    assert result.X[2, 0] == pytest.approx(0.0)


def test_fit_notes_excluded_columns():
    messages = {problem.where: problem.code for problem in features.fit(frame()).notes}
    assert messages["table, column same"] == "constant-column"
    assert messages["table, column size"] == "missing"


def test_fit_log():
    result = features.fit(pd.DataFrame({"x": [0.0, 9.0, 99.0]}), log=["x"])
    low, middle, high = result.X[:, 0]
    assert middle - low == pytest.approx(high - middle)


def test_fit_limits_categories():
    values = [f"v{n % 60}" for n in range(600)]
    result = features.fit(pd.DataFrame({"c": values}))
    assert result.X.shape[1] == kinds.MAX_CATEGORIES
    assert [problem.code for problem in result.notes] == ["many-categories"]
    # Of a key, which is left out, no value is used.
    coded = features.fit(pd.DataFrame({"c": values, "shop_id": [f"k{n % 70}" for n in range(600)]}))
    assert [column["column"] for column in coded.recipe["left_out"]] == ["shop_id"]
    assert [problem.where for problem in coded.notes] == [problem.where for problem in result.notes]


def test_the_recipe_is_json_and_repeats_the_fit():
    result = features.fit(frame())
    recipe = json.loads(json.dumps(result.recipe))
    np.testing.assert_allclose(transform(recipe, frame()), result.X, atol=1e-12)


def test_transform_new_rows():
    result = features.fit(frame())
    new = frame().iloc[[1]].assign(colour="green")
    X = transform(result.recipe, new)
    assert X.shape == (1, result.X.shape[1])
    at = result.feature_names.index("size")
    assert X[0, at] == pytest.approx(result.X[1, at])


def test_transform_refuses_invalid_rows():
    result = features.fit(frame())
    with pytest.raises(DataError, match="this column does not exist"):
        transform(result.recipe, frame().drop(columns="size"))
    with pytest.raises(DataError, match="numbers"):
        transform(result.recipe, frame().assign(size="large"))


@pytest.mark.parametrize("cell", ["inf", "1e999", "1e101", "#DIV/0!", "nan(ind)"])
def test_unusable_numbers_are_missing(cell):
    cells = ["1", "2", cell, "4.5"]
    result = kinds.infer("x", cells)
    assert (result.kind, result.n_missing, result.unusable) == ("number", 1, (2,))
    assert kinds.infer("x", ["1", "2", "", "4.5"]).unusable == ()
    fitted = features.fit(pd.DataFrame({"x": cells}))
    plain = features.fit(pd.DataFrame({"x": [1, 2, np.nan, 4.5]}))
    np.testing.assert_array_equal(fitted.X, plain.X)
    for table in (pd.DataFrame({"x": cells}), pd.DataFrame({"x": [1, 2, 1e101, 4.5]})):
        np.testing.assert_array_equal(transform(fitted.recipe, table), plain.X)


def test_fit_without_usable_columns():
    assert features.fit(frame()[["same", "code"]]).X is None


@given(
    st.lists(
        st.lists(st.one_of(st.text(max_size=6), st.floats().map(str)), min_size=3, max_size=3),
        min_size=1,
        max_size=12,
    )
)
def test_fit_of_any_table_is_finite_and_repeatable(rows):
    table = pd.DataFrame(rows, columns=["a", "b", "c"], dtype=str)
    try:
        result = features.fit(table)
    except HetvizError:
        return
    if result.X is not None:
        assert np.isfinite(result.X).all()
        again = transform(json.loads(json.dumps(result.recipe)), table)
        np.testing.assert_allclose(again, result.X, rtol=1e-9, atol=1e-9)


def test_fit_notes_mixed_columns():
    result = features.fit(pd.DataFrame({"x": ["1", "2", "2", "y"]}))
    assert [(problem.code, problem.value) for problem in result.notes] == [("mixed-column", "y")]
    assert not features.fit(pd.DataFrame({"x": ["a", "b", "b", "1"]})).notes

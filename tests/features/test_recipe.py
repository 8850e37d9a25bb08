"""The recipe of features: each step by hand on small numbers, and what must hold of any table."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hetviz
from hetviz.errors import DataError, HetvizError, ParameterError
from hetviz.features import table as features
from hetviz.features.columns.categories import separator_of
from hetviz.features.recipe import (
    columns_used,
    describe_sources,
    make_features_with_notes,
    recipe_of,
)
from hetviz.features.table import transform
from tests.depth import examples


def made(values, **messages):
    """Return the features of one column x."""
    return features.fit(pd.DataFrame({"x": values}), options={"x": messages} if messages else None)


def test_standard_scale():
    np.testing.assert_allclose(made([1.0, 3.0]).X, [[-1.0], [1.0]])


def test_weight_is_share_of_variance():
    table = pd.DataFrame({"x": [1.0, 2.0, 6.0], "y": [5.0, 1.0, 1.0]})
    result = features.fit(table, options={"x": {"weight": 3.0}})
    np.testing.assert_allclose(result.X.var(axis=0), [3.0, 1.0])
    assert [step["share"] for step in result.recipe["columns"]] == pytest.approx([0.75, 0.25])


def test_robust_scale_uses_quartiles():
    X = made([0.0, 1.0, 2.0, 3.0, 100.0], scale="robust").X[:, 0]
    # the median is 2 and the middle half reaches from 1 to 3
    np.testing.assert_allclose(X, (np.array([0, 1, 2, 3, 100]) - 2) * 1.3489795003921634 / 2)
    # where the middle half is one value, the spread is taken
    assert made([1.0, 1.0, 1.0, 1.0, 9.0], scale="robust").X.var() == pytest.approx(1.0)


def test_rank_scale_interpolates_new_values():
    result = made([10.0, 1000.0, 20.0, 20.0], scale="rank")
    ranks = np.array([0.125, 0.875, 0.5, 0.5])
    np.testing.assert_allclose(result.X[:, 0], (ranks - 0.5) / ranks.std())
    new = transform(result.recipe, pd.DataFrame({"x": [15.0, -1e6, 1e6]}))
    np.testing.assert_allclose(
        new[:, 0], np.array([0.3125, 0.125, 0.875]) / ranks.std() - 0.5 / ranks.std()
    )


def test_scale_none_only_centres():
    np.testing.assert_allclose(made([1.0, 5.0], scale="none").X[:, 0], [-2.0, 2.0])


def test_log_is_skipped_for_negative_numbers():
    result = made([0.0, np.e - 1.0], log=True)
    np.testing.assert_allclose(result.X[:, 0], [-1.0, 1.0])
    assert result.feature_names == ("log x",)
    refused = made([-1.0, 1.0], log=True)
    assert [note.code for note in refused.notes] == ["log-negative"]
    np.testing.assert_allclose(refused.X[:, 0], [-1.0, 1.0])


@pytest.mark.parametrize(("impute", "filled"), [("mean", 4.0), ("median", 2.0)])
def test_imputation_of_numbers(impute, filled):
    values = np.array([1.0, 2.0, 9.0, filled])
    X = made([1.0, 2.0, 9.0, np.nan], impute=impute).X[:, 0]
    np.testing.assert_allclose(X, (values - 4.0) / np.std(values))


def test_missing_flag_of_numbers():
    result = made([1.0, 3.0, np.nan, np.nan], impute="none")
    assert result.feature_names == ("x", "x (missing)")
    np.testing.assert_allclose(result.X[:, 1], np.array([-1, -1, 1, 1]) / np.sqrt(2))
    np.testing.assert_allclose(result.X.var(axis=0), [0.5, 0.5])
    assert made([1.0, 3.0], impute="none").feature_names == ("x",)


def test_imputation_of_categories():
    values = ["a", "a", "b", None]
    assert made(values).feature_names == ("x=a", "x=b")
    own_values = made(values, impute="own category", scale="none")
    assert own_values.feature_names == ("x=a", "x=b", "x=(missing)")
    hot = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(own_values.X, hot - [0.5, 0.25, 0.25])
    frequent = made(values, impute="most frequent", scale="none")
    np.testing.assert_allclose(frequent.X[3], frequent.X[0])


def test_lists_have_one_feature_per_entry():
    result = made(["red; round", "round", "red;flat", "flat"], scale="none")
    assert result.recipe["columns"][0]["kind"] == "list"
    assert result.feature_names == ("x=flat", "x=red", "x=round")
    np.testing.assert_allclose(
        result.X + 0.5, [[0, 1, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]], atol=1e-12
    )
    assert made(["red; round", "round", "red;flat", "flat"], kind="text").X is not None


def test_prose_is_not_a_list():
    assert separator_of(["it rained; we left", "they stayed; it snowed", "all is well"]) is None
    assert separator_of(["a|b", "b|c", "a|c"]) == "|"


def test_dates_and_season():
    dates = ["2020-01-01", "2020-07-01", "2021-01-01"]
    days = made(dates, scale="none").X[:, 0]
    np.testing.assert_allclose(np.diff(days), [182, 184])
    result = made(dates, cyclic=True, scale="none")
    assert result.X.shape == (3, 3)
    season = result.X[:, 1:] * np.sqrt(2)
    # half a year is the diameter of the circle, a year is nothing
    assert np.linalg.norm(season[0] - season[1]) == pytest.approx(2.0, abs=0.01)
    assert np.linalg.norm(season[0] - season[2]) == pytest.approx(0.0, abs=0.02)


def test_latlong_on_unit_sphere():
    table = pd.DataFrame({"home_lat": [0.0, 0.0, 90.0], "home_lon": [0.0, 180.0, 77.0]})
    result = features.fit(table, options={"home_lat": {"scale": "none"}})
    assert result.feature_names == tuple(f"home_lat home_lon ({axis})" for axis in "xyz")
    # the chord: a diameter between opposite points, the square root of 2 from equator to pole
    assert np.linalg.norm(result.X[0] - result.X[1]) == pytest.approx(2.0)
    assert np.linalg.norm(result.X[0] - result.X[2]) == pytest.approx(np.sqrt(2))
    apart = features.fit(table, options={"home_lat": {"kind": "number"}})
    assert apart.feature_names == ("home_lat", "home_lon")
    assert columns_used(result.recipe) == ["home_lat", "home_lon"]


@pytest.mark.parametrize(
    "table",
    [
        {"lat": [1.0, 95.0], "lon": [1.0, 2.0]},
        {"lat": [1.0, 9.0], "length": [1.0, 2.0]},
        {"a_lat": [1.0, 9.0], "b_lon": [1.0, 2.0]},
        {"plate": [1.0, 9.0], "alone": [1.0, 2.0]},
    ],
)
def test_other_numbers_are_not_latlong(table):
    result = features.fit(pd.DataFrame(table))
    assert [step["kind"] for step in result.recipe["columns"]] == ["number", "number"]


def frame():
    return pd.DataFrame(
        {
            "name": ["fir", "oak", "elm", "ash", "yew"],
            "size": [1.0, 2.0, np.nan, 4.0, 50.0],
            "colour": ["red", "blue", "red", None, "blue"],
            "tags": ["a; b", "b", "a", "b; a", "a"],
            "born": ["2020-01-01", "2020-01-03", "2021-01-01", "2022-05-06", None],
            "lat": [10.0, 20.0, -30.0, 40.0, np.nan],
            "lon": [1.0, 200.0, -170.0, 4.0, 5.0],
            "text": ["red fox runs", "blue fox sits", "red dog runs", "blue dog sits", "a red dog"],
        }
    )


def dataset(**more):
    return hetviz.Dataset("trees", list("vwxyz"), table=frame(), **more)


ALL = {
    "size": {"scale": "rank", "impute": "none", "weight": 2.0},
    "colour": {"impute": "own category"},
    "born": {"cyclic": True, "scale": "robust", "impute": "median"},
    "lat": {"impute": "none"},
    "tags": {"impute": "own category"},
}


@pytest.mark.parametrize("said", [None, ALL])
def test_transform_features_reproduces_fit(said):
    result = hetviz.make_features(dataset(), said)
    assert result.X is not None and np.isfinite(result.X).all()
    assert result.X.shape[1] == len(result.feature_names)
    recipe = json.loads(json.dumps(result.recipe))
    again = hetviz.Dataset("trees", result.ids, result.X, feature_names=result.feature_names,
                           table=result.table, recipe=recipe)  # fmt: skip
    assert np.array_equal(hetviz.transform_features(again, frame()), result.X)
    assert np.array_equal(hetviz.transform_features(again, frame().astype(str)), result.X)
    assert np.array_equal(hetviz.transform_features(again, frame().iloc[[2]])[0], result.X[2])
    # making them again changes nothing
    assert np.array_equal(hetviz.make_features(again).X, result.X)
    assert hetviz.transform_features(again, frame().iloc[:0]).shape == (0, result.X.shape[1])


def test_titles_and_labels_are_excluded_by_default():
    result = hetviz.make_features(dataset(), labels=["colour"])
    recipe = recipe_of(result)
    assert {first["column"]: first["why"] for first in recipe["left_out"]} == {
        "name": "title",
        "colour": "label",
    }
    assert "colour" in columns_used(
        recipe_of(hetviz.make_features(result, {"colour": {"use": True}}))
    )
    # what was known to be a label stays one
    assert "colour" not in columns_used(recipe_of(hetviz.make_features(result)))
    off = hetviz.make_features(result, {"size": {"use": False}})
    assert "size" not in off.feature_names
    assert "size" in hetviz.make_features(off, {"size": {"use": True}}).feature_names


def test_transform_features_reports_invalid_rows():
    result = hetviz.make_features(dataset())
    rows = frame().drop(columns="size").assign(colour="green", born="soon")
    problems = []
    X = hetviz.transform_features(result, rows, problems=problems)
    assert [problem.code for problem in problems] == [
        "unknown-column",
        "unknown-category",
        "not-numbers",
    ]
    assert {problem.severity for problem in problems} == {"note"}
    at = result.feature_names.index("size")
    np.testing.assert_allclose(X[:, at], result.X[2, at])
    at = result.feature_names.index("born")
    np.testing.assert_allclose(X[:, at], result.X[4, at])
    with pytest.raises(DataError, match="this column does not exist"):
        hetviz.transform_features(result, pd.DataFrame({"other": [1]}))
    with pytest.raises(DataError, match="recipe"):
        hetviz.transform_features(hetviz.Dataset("d", ["a"], [[1.0]]), frame())


def test_upgrade_recipe_of_first_format():
    recipe = {
        "format": 1,
        "columns": [
            {
                "column": "size",
                "kind": "number",
                "log": True,
                "mean": 1.0,
                "decimal": ",",
                "scale": 2.0,
            },
            {
                "column": "colour",
                "kind": "category",
                "levels": ["blue", "red"],
                "mean": [0.5, 0.25],
                "scale": 0.5,
            },
        ],
    }
    rows = pd.DataFrame({"size": ["1,5", ""], "colour": ["red", "green"]})
    X = transform(recipe, rows)
    first = [2.0 * (np.log1p(1.5) - 1.0), -0.25, 0.375]
    np.testing.assert_allclose(X, [first, [0.0, -0.25, -0.125]])
    typed = rows.assign(size=[1.5, 3.0])
    old = hetviz.Dataset("d", ["a", "b"], X, table=typed, recipe={"features": recipe})
    np.testing.assert_allclose(hetviz.transform_features(old, rows), X)
    assert hetviz.make_features(old, {"size": {"weight": 2.0}}).feature_names[0] == "log size"


@pytest.mark.parametrize("sparse", [False, True])
def test_own_vectors_with_columns(sparse):
    V = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [3.0, 1.0], [0.0, 5.0]])
    expected_input = dataset(X=sp.csr_array(V) if sparse else V)
    result = hetviz.make_features(
        expected_input, {"size": {"use": True}, "(own vectors)": {"weight": 3.0}}
    )
    assert result.feature_names == ("vector 1", "vector 2", "size")
    steps = recipe_of(result)["columns"]
    assert [step["share"] for step in steps] == pytest.approx([0.75, 0.25])
    again = hetviz.make_features(result, {"(own vectors)": {"scale": "none", "weight": 1.0}})
    X = again.X.toarray() if sparse else again.X
    np.testing.assert_allclose(X[:, :2], V, atol=1e-12)
    new = hetviz.transform_features(again, frame(), vectors=expected_input.X)
    np.testing.assert_allclose(new.toarray() if sparse else new, X, atol=1e-12)
    with pytest.raises(DataError, match="small weight"):
        hetviz.make_features(expected_input, {"(own vectors)": {"use": False}})
    with pytest.raises(DataError, match="vectors of shape"):
        hetviz.transform_features(again, frame())
    assert describe_sources(recipe_of(result)) == "made from own vectors and 1 column"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"size": {"scales": "rank"}}, "Did you mean 'scale'"),
        ({"size": {"scale": "big"}}, "unknown value of scale"),
        ({"size": {"weight": 0}}, "above 0"),
        ({"size": {"weight": True}}, "wrong kind"),
        ({"size": {"use": 1}}, "wrong kind"),
        ({"colour": {"scale": "rank"}}, "cannot be used for categories"),
        ({"colour": {"log": True}}, "cannot be used for categories"),
        ({"text": {"kind": "number"}}, "cannot be used as numbers"),
        ({"size": {"kind": "latlong"}}, "no matching column"),
        ({"no column": {"use": True}}, "this column does not exist"),
        ({"(pictures)": {"use": True}}, "no pictures"),
        ({"(own vectors)": {"weight": 2.0}}, "no own vectors"),
        ({"size": 3}, "fields and values"),
    ],
)
def test_make_features_refuses_invalid_options(said, words):
    with pytest.raises(DataError, match=words.replace("(", r"\(")):
        hetviz.make_features(dataset(), said)


def test_make_features_refuses_other_input():
    with pytest.raises(ParameterError, match="text_model"):
        hetviz.make_features(dataset(), text_model="letters")
    with pytest.raises(DataError, match="no columns"):
        hetviz.make_features(hetviz.Dataset("d", ["a"]))
    double = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(DataError, match="two columns"):
        hetviz.make_features(hetviz.Dataset("d", ["a"], table=double))


def test_empty_and_single_row_tables():
    result, notes = make_features_with_notes(hetviz.Dataset("d", ["a"], table=frame().iloc[:1]))
    assert result.X is None
    assert {note.code for note in notes} == {"constant-column"}
    assert features.fit(frame().iloc[:0]).X is None


cells = st.one_of(
    st.floats(),
    st.integers(-5, 5).map(float),
    st.sampled_from(["", "a", "b", "a; b", "1,5", "2020-02-30", "NA", "inf", "a b c d"]),
    st.none(),
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "scale": st.sampled_from(["standard", "robust", "rank", "none"]),
        "impute": st.sampled_from(["mean", "median", "none", "own category", "most frequent"]),
        "log": st.booleans(),
        "weight": st.floats(0.01, 100),
        "kind": st.sampled_from(["number", "category", "list", "text", "date", "latlong"]),
    },
)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(1, 8).flatmap(lambda n: st.tuples(*[st.lists(cells, min_size=n, max_size=n)] * 2)),
    fields,
    fields,
    st.booleans(),
)
def test_any_options_give_finite_features_or_an_error(columns, first, second, text):
    table = pd.DataFrame(dict(zip(("lat", "lon"), columns, strict=True)))
    table = table.astype(str) if text else table
    ids = [str(row) for row in range(len(table))]
    try:
        result = hetviz.make_features(
            hetviz.Dataset("d", ids, table=table), {"lat": first, "lon": second}
        )
    except HetvizError:
        return
    if result.X is not None:
        assert np.isfinite(result.X).all()
        json.dumps(result.recipe, allow_nan=False)
        again = hetviz.transform_features(result, table)
        np.testing.assert_allclose(again, result.X, rtol=1e-9, atol=1e-9)

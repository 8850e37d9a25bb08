"""Gradient boosting consensus: labels, missing rows and cells, new rows and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hetviz import Dataset, HeteroData, Labels, Links
from hetviz.algorithms import gbc as module
from hetviz.algorithms.gbc import GBC
from hetviz.core.prediction.gbc import CLASSES, LAM0, NUMBER
from hetviz.errors import DataError, DataWarning, HetvizError, NotApplicableError, ParameterError
from hetviz.features import table as tables
from hetviz.features.problems.label_problems import label_column, label_problem


def two_views(n: int = 90, seed: int = 0) -> HeteroData:
    """Return two views with missing rows, a graph, and a label for half of the items."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    ids = np.array([f"i{k}" for k in range(n)], dtype=object)
    first = Dataset("first", ids[: n - 20], Z[: n - 20] @ rng.normal(size=(2, 4)), entity="thing")
    second = Dataset("second", ids[15:], Z[15:] @ rng.normal(size=(2, 3)), entity="thing")
    items = Dataset("items", [*ids, "nowhere"], entity="thing")
    side = [None if k % 2 else ("left" if Z[k, 0] < 0 else "right") for k in range(n)]
    near = Links("items", "items", np.arange(n - 1), np.arange(1, n), kind="near", role="relation")
    return HeteroData(
        [items, first, second], [near], None, [Labels("items", "side", [*side, None])]
    )


def fitted(data: HeteroData, **params: Any) -> GBC:
    return GBC(**{"n_rounds": 15, **params}).fit(data)


def test_all_items_get_a_label_and_unrecorded_items_the_prior() -> None:
    data = two_views()
    model = fitted(data, label="items:side")
    table = model.predict(data)
    assert list(table.columns) == [
        *("dataset", "id", "label", "probability", "spread", "p_left", "p_right")
    ]
    assert len(table) == data.n_rows
    np.testing.assert_allclose(table[["p_left", "p_right"]].sum(axis=1), 1.0)
    # All views of an item have the same prediction.
    assert (table.groupby("id")["probability"].nunique() == 1).all()
    lost = table[table["id"] == "nowhere"].iloc[0]
    labels = [value for value in data.labels[0].values if value is not None]
    assert lost["p_right"] == pytest.approx(labels.count("right") / len(labels))
    assert np.isnan(lost["spread"])
    assert not model.embedding_.placed["items"][-1]
    assert model.embedding_.placed["items"][:-1].all()
    assert set(model.diagnostics_["weights"]) == {"first", "second"}
    rounds = pd.DataFrame(model.weight_table(), columns=["round", "source", "weight"])
    assert rounds.groupby("round")["weight"].sum().round(9).eq(2.0).all()


def test_new_rows_may_lack_sources() -> None:
    data = two_views()
    model = fitted(data)
    X, Z = np.asarray(data["first"].X), np.asarray(data["second"].X)
    twin = HeteroData(
        [
            Dataset("first", ["twin", "half"], X[[20, 20]], entity="thing"),
            Dataset("second", ["twin", "i3"], Z[[5, 5]], entity="thing"),
        ]
    )
    probability = model.predict(twin).set_index(["dataset", "id"])["p_right"]
    old = model.predict(data).set_index(["dataset", "id"])["p_right"]
    assert probability["first", "twin"] == probability["second", "twin"] == old["items", "i20"]
    assert probability["first", "half"] != probability["first", "twin"]
    only = fitted(data.edit().drop("first"))
    assert (
        probability["second", "i3"] != only.predict(twin["second"]).set_index("id")["p_right"]["i3"]
    )
    places = model.transform(twin)
    np.testing.assert_allclose(
        places.coordinates["first"][0], model.embedding_.coordinates["items"][20], atol=1e-12
    )
    with pytest.raises(DataError, match="4 features were fitted"):
        model.predict(Dataset("first", ["wide"], np.ones((1, 9)), entity="thing"))
    with pytest.raises(HetvizError, match="call fit before predict"):
        GBC().predict(data)


def test_regression_predicts_numbers_and_spread() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(80, 2))
    ids = [f"i{k}" for k in range(80)]
    parts = [Dataset(name, ids, Z @ rng.normal(size=(2, 3)), entity="thing") for name in ("a", "b")]
    amounts = np.where(np.arange(80) % 4 == 0, np.nan, 100 + 10 * Z[:, 0])
    data = HeteroData(parts, [], None, [Labels("a", "size", amounts)])
    model = fitted(data, n_rounds=60, lam1=0.0)
    table = model.predict(data["a"])
    assert model.classes_ == ()
    guess = np.nanstd(amounts)
    hidden = np.isnan(amounts)
    error = table["label"].astype(float)[hidden] - (100 + 10 * Z[hidden, 0])
    assert np.sqrt((error**2).mean()) < 0.6 * guess
    assert table["probability"].isna().all()
    assert (table["spread"] > 0).all()
    assert model.problem_.column.task == NUMBER


def test_chosen_settings_are_reported() -> None:
    data = two_views(60)
    model = fitted(data, n_rounds=5, lam0="cv", lam1="cv")
    assert model.settings_.n_rounds == model.diagnostics_["n_rounds"] == 5
    assert model.diagnostics_["lam0"] in LAM0
    early = fitted(data, n_rounds="early", weights="equal", lam1=0.0)
    assert early.n_iter_ == early.diagnostics_["n_rounds"] <= 200


def test_missing_cells_and_the_label_column_are_no_features() -> None:
    values = np.arange(40.0)
    cells = pd.DataFrame(
        {
            "age": [None if k % 5 == 0 else k for k in range(40)],
            "kind": ["x", "y"] * 20,
            "target": values,
        }
    )
    model = tables.fit(cells)
    data = HeteroData(
        [
            Dataset(
                "people",
                [f"p{k}" for k in range(40)],
                model.X,
                feature_names=model.feature_names,
                table=cells,
                recipe={"features": model.recipe},
            )
        ]
    )
    problem = label_problem(data, "people", "target")
    X = problem.parts[0].X
    assert X.shape == (40, 3)
    np.testing.assert_array_equal(np.isnan(X[:, 0]), np.arange(40) % 5 == 0)
    assert not np.isnan(X[:, 1:]).any()
    assert problem.column.task == NUMBER
    assert label_column(data, "people", "kind").classes == ("x", "y")
    twin = problem.new_features("people", data["people"].as_new(np.array([5, 6]), np.arange(40)))
    np.testing.assert_array_equal(twin, X[[5, 6]])


def test_labels_of_other_views_are_used() -> None:
    ids = [f"i{k}" for k in range(12)]
    X = np.arange(24.0).reshape(12, 2)
    parts = [Dataset(name, ids, X, entity="thing") for name in ("a", "b")]
    first = Labels("a", "digit", [0, 1, 2, *[None] * 9])
    second = Labels("b", "digit", [2, None, None, 1, 0, 5, *[None] * 6])
    problem = label_problem(HeteroData(parts, [], None, [first, second]), "a", "digit")
    assert problem.column.task == CLASSES
    assert problem.column.classes == ("0", "1", "2")
    np.testing.assert_array_equal(problem.y, [0, 1, 2, 1, 0, *[np.nan] * 7])
    Y = problem.targets()
    np.testing.assert_array_equal(Y[0], [1, -1, -1])
    assert np.isnan(Y[5]).all()


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (("x",), "x is left off the map: it has"),
        (("x", "y"), "x, y are left off the map: they have"),
    ],
)
def test_warns_about_datasets_of_other_items(others: tuple[str, ...], words: str) -> None:
    data = two_views(60)
    other_datasets = [
        Dataset(name, ["p", "q"], np.eye(2), entity=f"other {name}") for name in others
    ]
    with pytest.warns(DataWarning, match=words):
        fitted(
            HeteroData([*data.datasets.values(), *other_datasets], data.links, None, data.labels)
        )


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"label": "first:side"}, DataError, "does not exist"),
        ({"label": "nothing"}, ParameterError, "Give dataset:column"),
        ({"label": "nothing:side"}, ParameterError, "Give dataset:column"),
        ({"label": "first"}, NotApplicableError, "has no label"),
        ({"label": "items:side", "task": "number"}, ParameterError, "numbers are needed"),
        ({"lam0": -1.0}, ParameterError, "lam0 = -1.0"),
        ({"n_rounds": "many"}, ParameterError, "'cv' or 'early'"),
    ],
)
def test_unlearnable_labels_are_refused(
    params: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        fitted(two_views(40), **params)


def test_few_labels_one_class_and_large_data_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = two_views(40)
    one_class = [value if value == "left" else None for value in data.labels[0].values]
    few_labels = [*data.labels[0].values[:3], *[None] * 38]
    many = [f"c{row}" for row in range(41)]
    for values, words in ((one_class, "has one value only"), (few_labels, "are needed")):
        with pytest.raises(NotApplicableError, match=words):
            fitted(HeteroData(data.datasets, [], None, [Labels("items", "side", values)]))
    named = HeteroData(data.datasets, [], None, [Labels("items", "side", many)])
    assert len(fitted(named, n_rounds=1, lam1=0.0).classes_) == 41
    monkeypatch.setattr(module, "_MAX_HOURS", 1e-9)
    with pytest.raises(NotApplicableError, match=r"about [\d,]+ hours.*rounds and 2 classes"):
        fitted(data, lam0="cv", lam1="cv")

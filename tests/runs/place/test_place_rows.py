"""New rows on a fitted map: places, uncertainty, neighbours and rejected input."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Links
from hetviz.algorithms.base import BaseEmbedder
from hetviz.core.layout.out_of_sample import place_uncertainty, usual_distance
from hetviz.errors import DataError, DataWarning, HetvizError, ParameterError
from hetviz.jobs.tasks.place import place_items
from hetviz.progress import ignore_progress

N = 40


def plant_shop() -> HeteroData:
    rng = np.random.default_rng(3)
    size = rng.normal(size=N)
    table = pd.DataFrame(
        {
            "name": [f"plant {k}" for k in range(N)],
            "height": size,
            "width": size + rng.normal(size=N),
            "count": rng.integers(1, 9, N),
            "colour": np.where(size > 0, "red", "blue"),
        }
    )
    plants = hetviz.make_features(Dataset("plants", [f"p{k}" for k in range(N)], table=table))
    birds = Dataset("birds", [f"b{k}" for k in range(N)], rng.normal(size=(N, 3)) + size[:, None])
    tags = Dataset("tags", ["shade", "sun"])
    links = [Links("plants", "birds", range(N), range(N))]
    links.append(Links("plants", "tags", range(N), (size > 0).astype(int)))
    return HeteroData([plants, birds, tags], links)


DATA = plant_shop()
TABLE = DATA["plants"].table
assert TABLE is not None
TWINS = TABLE.iloc[:4].assign(id=["n0", "n1", "n2", "n3"])


def fitted_method(key: str = "pca") -> BaseEmbedder:
    with warnings.catch_warnings():
        # Methods of features warn that tags have none.
        warnings.simplefilter("ignore", DataWarning)
        return hetviz.get_method(key)().fit(DATA)


@pytest.mark.parametrize("key", ["pca", "cdmca", "guided-projection"])
def test_place_rows_puts_a_copy_at_its_original(key: str) -> None:
    model = fitted_method(key)
    before = {name: Y.copy() for name, Y in model.embedding_.coordinates.items()}
    placed = hetviz.place_rows(DATA, model, TWINS, "plants")
    Y = placed.embedding.coordinates["plants"]
    np.testing.assert_allclose(Y, before["plants"][:4], atol=1e-9)
    for name, places in model.embedding_.coordinates.items():
        np.testing.assert_array_equal(places, before[name])
    first = placed.neighbours[placed.neighbours["rank"] == 1]
    same_dataset = first[first["dataset"] == "plants"]
    assert same_dataset["neighbour"].tolist() == ["p0", "p1", "p2", "p3"]
    assert same_dataset["distance"].max() < 1e-9
    assert placed.problems == ()


def test_place_rows_with_a_loaded_model(tmp_path) -> None:  # type: ignore[no-untyped-def]
    model = fitted_method()
    file = hetviz.save_model(model, tmp_path / "model.zip")
    expected = hetviz.place_rows(DATA, model, TWINS, "plants").frame()
    pd.testing.assert_frame_equal(
        hetviz.place_rows(DATA, hetviz.load_model(file), TWINS, "plants").frame(), expected
    )
    assert {"x", "y", "doubt", "why", "nearest_plants", "nearest_birds"} <= set(expected.columns)


def test_place_rows_reads_links_from_columns() -> None:
    rows = TWINS.iloc[:2].assign(tags=["sun; nowhere", ""])
    placed = hetviz.place_rows(DATA, fitted_method("mr-sne"), rows, "plants")
    assert [(p.code, p.value) for p in placed.problems] == [("unknown-id", "nowhere")]
    # Items with links alone are placed without an uncertainty.
    new = pd.DataFrame({"id": ["dusk"], "plants": ["p1; p2; plant 3"]})
    alone = hetviz.place_rows(DATA, fitted_method("mr-sne"), new, "tags")
    assert alone.embedding.n_unplaced == 0
    assert np.isnan(alone.doubt["doubt"][0])


def test_place_rows_reports_problems() -> None:
    rows = TWINS.drop(columns="width").assign(id=["p0", "n1", "n2", "n3"], shop="x")
    rows = rows.astype({"height": object})
    rows.loc[1, "height"] = "tall"
    placed = hetviz.place_rows(DATA, fitted_method(), rows, "plants")
    assert list(placed.rows.ids) == ["n1", "n2", "n3"]
    assert sorted(p.code for p in placed.problems) == [
        "known-id",
        "not-numbers",
        "unknown-column",
        "unused-column",
    ]
    assert np.isfinite(placed.embedding.coordinates["plants"]).all()


def test_place_rows_rejects_bad_rows() -> None:
    model = fitted_method()
    for rows, code in (
        (TWINS.iloc[:0], "no-rows"),
        (TWINS.drop(columns="id"), "unknown-column"),
        (TWINS[["id"]].assign(other=1), "unknown-column"),
        (TWINS.assign(id=["p0", "p1", "p2", "p3"]), "no-rows"),
        (TWINS.assign(id="same"), "duplicate-id"),
    ):
        with pytest.raises(DataError) as refused:
            hetviz.place_rows(DATA, model, rows, "plants")
        assert {problem.code for problem in refused.value.problems} == {code}
    with pytest.raises(ParameterError):
        hetviz.place_rows(DATA, model, TWINS, "plants", k=0)
    with pytest.raises(HetvizError, match="call fit"):
        hetviz.place_rows(DATA, hetviz.get_method("pca")(), TWINS, "plants")
    with pytest.raises(HetvizError, match=r"cannot place.*these can: .*Principal components"):
        hetviz.place_rows(DATA, hetviz.get_method("hemap")(), TWINS, "plants")


def test_uncertainty_is_the_share_of_similar_rows_elsewhere() -> None:
    Y = np.arange(40.0)[:, None]
    away = np.abs(np.arange(40.0) - 5.0)[None] ** 2
    assert place_uncertainty(away, np.array([[5.0]]), Y, 0.0).total.tolist() == [0.0]
    assert place_uncertainty(away, np.array([[39.0]]), Y, 0.0).elsewhere.tolist() == [1.0]
    # Four times as far as usual from anything.
    far = place_uncertainty(away + 16.0, np.array([[5.0]]), Y, 1.0)
    assert far.unlike.tolist() == [0.75]
    assert far.total.tolist() == [0.75]
    assert np.isnan(place_uncertainty(away, np.array([[np.nan]]), Y, 0.0).elsewhere[0])


def test_usual_distance_ignores_duplicate_rows() -> None:
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    result = usual_distance(X, np.random.default_rng(0))
    assert result == pytest.approx(np.sqrt(np.quantile([1.0, 4.0], 0.95)))
    assert usual_distance(np.zeros((3, 1)), np.random.default_rng(0)) == 0.0


CSV = "id;height;width;colour\nn0;0,5;1,25;red\nn0;1;1;red\nn1;;1;green\n"


@pytest.mark.parametrize("method", ["pca", "umap"])
def test_place_items_task_places_a_file_on_the_current_map(method: str) -> None:
    current = fitted_method(method).embedding_
    result = place_items(
        DATA,
        "plants",
        {"new.csv": CSV.encode()},
        {},
        None,
        ignore_progress,
        current,
        method=method,
        params={},
        seed=0,
        hold_out=0.0,
    )
    content = result.content
    assert content["ids"] == ["n0", "n1"]
    assert all(place is not None for place in content["places"])
    assert content["near"][0]["plants"]
    codes = {problem["code"] for problem in content["problems"]}
    assert {"bad-id", "unknown-category"} <= codes


def test_place_items_task_rejects_an_outdated_map() -> None:
    current = fitted_method().embedding_
    moved = hetviz.Embedding(
        {name: Y + 1.0 for name, Y in current.coordinates.items()}, current.ids, current.entity
    )
    args = ({"new.csv": CSV.encode()}, {}, None, ignore_progress, moved)
    with pytest.raises(HetvizError, match="Make the map again"):
        place_items(DATA, "plants", *args, method="pca", params={}, seed=0, hold_out=0.0)

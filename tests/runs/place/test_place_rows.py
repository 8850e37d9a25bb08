"""New rows on a fitted map: nothing moves, doubt and neighbours, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Links
from hetviz.algorithms.base import BaseEmbedder
from hetviz.core.measures.out_of_sample import doubt, usual_distance
from hetviz.errors import DataError, DataWarning, HetvizError, ParameterError
from hetviz.jobs.tasks.place import place_items
from hetviz.progress import silent

N = 40


def shop() -> HeteroData:
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


DATA = shop()
TABLE = DATA["plants"].table
assert TABLE is not None
TWINS = TABLE.iloc[:4].assign(id=["n0", "n1", "n2", "n3"])


def fitted(key: str = "pca") -> BaseEmbedder:
    with warnings.catch_warnings():
        # That tags have no features, so methods of features leave them out.
        warnings.simplefilter("ignore", DataWarning)
        return hetviz.get_method(key)().fit(DATA)


@pytest.mark.parametrize("key", ["pca", "cdmca", "guided-projection"])
def test_a_twin_lies_where_its_twin_lies_and_nothing_moves(key: str) -> None:
    model = fitted(key)
    before = {name: Y.copy() for name, Y in model.embedding_.coordinates.items()}
    placed = hetviz.place_rows(DATA, model, TWINS, "plants")
    Y = placed.embedding.coordinates["plants"]
    np.testing.assert_allclose(Y, before["plants"][:4], atol=1e-9)
    for name, places in model.embedding_.coordinates.items():
        np.testing.assert_array_equal(places, before[name])
    first = placed.neighbours[placed.neighbours["rank"] == 1]
    own = first[first["dataset"] == "plants"]
    assert own["neighbour"].tolist() == ["p0", "p1", "p2", "p3"]
    assert own["distance"].max() < 1e-9
    assert placed.problems == ()


def test_a_saved_model_places_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    model = fitted()
    file = hetviz.save_model(model, tmp_path / "model.zip")
    ours = hetviz.place_rows(DATA, model, TWINS, "plants").frame()
    pd.testing.assert_frame_equal(
        hetviz.place_rows(DATA, hetviz.load_model(file), TWINS, "plants").frame(), ours
    )
    assert {"x", "y", "doubt", "why", "nearest_plants", "nearest_birds"} <= set(ours.columns)


def test_a_column_named_as_a_dataset_lists_links() -> None:
    rows = TWINS.iloc[:2].assign(tags=["sun; nowhere", ""])
    placed = hetviz.place_rows(DATA, fitted("mr-sne"), rows, "plants")
    assert [(p.code, p.value) for p in placed.problems] == [("unknown-id", "nowhere")]
    # Items of links alone are placed by these, with nothing to judge their place by.
    new = pd.DataFrame({"id": ["dusk"], "plants": ["p1; p2; plant 3"]})
    alone = hetviz.place_rows(DATA, fitted("mr-sne"), new, "tags")
    assert alone.embedding.n_unplaced == 0
    assert np.isnan(alone.doubt["doubt"][0])


def test_what_does_not_fit_is_told() -> None:
    rows = TWINS.drop(columns="width").assign(id=["p0", "n1", "n2", "n3"], shop="x")
    rows = rows.astype({"height": object})
    rows.loc[1, "height"] = "tall"
    placed = hetviz.place_rows(DATA, fitted(), rows, "plants")
    assert list(placed.rows.ids) == ["n1", "n2", "n3"]
    assert sorted(p.code for p in placed.problems) == [
        "known-id",
        "not-numbers",
        "unknown-column",
        "unused-column",
    ]
    assert np.isfinite(placed.embedding.coordinates["plants"]).all()


def test_refusals() -> None:
    model = fitted()
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


def test_doubt_is_the_share_of_the_alike_that_lie_elsewhere() -> None:
    Y = np.arange(40.0)[:, None]
    away = np.abs(np.arange(40.0) - 5.0)[None] ** 2
    assert doubt(away, np.array([[5.0]]), Y, 0.0).total.tolist() == [0.0]
    assert doubt(away, np.array([[39.0]]), Y, 0.0).elsewhere.tolist() == [1.0]
    # Four times as far as usual from anything.
    far = doubt(away + 16.0, np.array([[5.0]]), Y, 1.0)
    assert far.unlike.tolist() == [0.75]
    assert far.total.tolist() == [0.75]
    assert np.isnan(doubt(away, np.array([[np.nan]]), Y, 0.0).elsewhere[0])


def test_usual_distance_is_of_rows_without_a_double() -> None:
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    found = usual_distance(X, np.random.default_rng(0))
    assert found == pytest.approx(np.sqrt(np.quantile([1.0, 4.0], 0.95)))
    assert usual_distance(np.zeros((3, 1)), np.random.default_rng(0)) == 0.0


CSV = "id;height;width;colour\nn0;0,5;1,25;red\nn0;1;1;red\nn1;;1;green\n"


@pytest.mark.parametrize("method", ["pca", "umap"])
def test_the_task_places_a_file_on_the_map_that_is_shown(method: str) -> None:
    shown = fitted(method).embedding_
    found = place_items(
        DATA, "plants", {"new.csv": CSV.encode()}, {}, None, method, {}, 0, 0.0, {}, silent, shown
    )
    content = found.content
    assert content["ids"] == ["n0", "n1"]
    assert all(place is not None for place in content["places"])
    assert content["near"][0]["plants"]
    codes = {problem["code"] for problem in content["problems"]}
    assert {"bad-id", "unknown-category"} <= codes


def test_the_task_refuses_a_map_that_the_method_does_not_give_again() -> None:
    shown = fitted().embedding_
    moved = hetviz.Embedding(
        {name: Y + 1.0 for name, Y in shown.coordinates.items()}, shown.ids, shown.entity
    )
    rest = ({}, None, "pca", {}, 0, 0.0, {}, silent, moved)
    with pytest.raises(HetvizError, match="Make the map again"):
        place_items(DATA, "plants", {"new.csv": CSV.encode()}, *rest)

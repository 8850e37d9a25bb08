"""Maps with many axes drawn as neighbour maps: saving, cancelling and new items."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.guided_projection import GuidedProjection
from hetviz.algorithms.mkpe import MKPE
from hetviz.algorithms.pca import PCA
from hetviz.algorithms.registry import get_method, methods
from hetviz.core.layout.axes_map import make_axes_map, place_new_points, share_neighbors_preserved
from hetviz.core.measures.ranking import label_agreement
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import Cancelled, DataWarning, ParameterError
from hetviz.io.bundle.coordinates import coordinates_csv, read_coordinates
from hetviz.io.bundle.loaded import Loaded
from hetviz.io.intake.pack_loaded import pack_loaded, unpack_loaded
from hetviz.runs.embed.run import MapResult, fit_run
from hetviz.runs.recipe import run_recipe, write_run
from hetviz.workspace.store.maps import pack_map, unpack_map

GROUPS = 6
GROUP = np.arange(90) % GROUPS


def grouped() -> HeteroData:
    """Two datasets in six groups that differ along five axes, linked within groups."""
    rng = np.random.default_rng(0)
    centres = 6.0 * np.linalg.qr(rng.normal(size=(GROUPS, GROUPS)))[0]
    parts = [
        Dataset(name, [f"{name}{k}" for k in range(90)], centres[GROUP] + rng.normal(size=(90, 6)))
        for name in "ab"
    ]
    i = rng.integers(0, 90, 200)
    j = (i + GROUPS * rng.integers(0, 15, 200)) % 90
    return HeteroData(parts, [Links("a", "b", i, j)])


DATA = grouped()


@cache
def fitted() -> GuidedProjection:
    return GuidedProjection(n_components=5, drawn_by="neighbors").fit(DATA)


def test_neighbor_map_shows_groups_hidden_on_two_axes() -> None:
    embedding = fitted().embedding_
    plain = GuidedProjection(n_components=5).fit(DATA).embedding_
    np.testing.assert_array_equal(embedding.stacked(), plain.stacked())
    assert plain.drawn is None
    flat, codes = embedding.planar(), np.tile(GROUP, 2)
    assert flat.n_components == 2
    assert flat.drawn is None
    assert flat.note.endswith("; neighbour map of 5 axes")
    right = [label_agreement(e.planar().stacked(), codes, 5).mean() for e in (embedding, plain)]
    assert right[0] > 0.95
    assert right[0] > right[1] + 0.1
    diagnostics = embedding.diagnostics
    assert diagnostics["picture"].to_dict()["values"]["neighbours in both"] > 0.4
    assert "agreement" in " ".join(diagnostics)
    again = GuidedProjection(n_components=5, drawn_by="neighbors").fit(DATA).embedding_
    np.testing.assert_array_equal(again.planar().stacked(), flat.stacked())


def test_new_items_are_drawn_near_their_nearest_items() -> None:
    X = np.asarray(DATA["a"].X)
    new = fitted().transform(Dataset("a", ["twin", "like"], np.vstack([X[7], X[7] + 0.1])))
    embedding = fitted().embedding_
    assert new.drawn is not None
    assert embedding.drawn is not None
    np.testing.assert_allclose(new.drawn["a"][0], embedding.drawn["a"][7], atol=1e-9)
    width = embedding.planar().stacked().std()
    assert np.linalg.norm(new.drawn["a"][1] - embedding.drawn["a"][7]) < width
    joined = embedding.joined(Embedding({"a": new.coordinates["a"]}, {"a": new.ids["a"]}))
    np.testing.assert_array_equal(joined.planar().coordinates["a"][-2:], new.drawn["a"])
    assert joined.planar().coordinates["b"].shape == (90, 2)


def test_drawing_is_saved_and_loaded(tmp_path) -> None:
    embedding = fitted().embedding_
    read = read_coordinates("c.csv", coordinates_csv(embedding).encode(), DATA)
    result = MapResult("", "pca", {}, 0, title="Map", embedding=embedding)
    packed = unpack_map(pack_map(result), DATA).embedding
    loaded = Loaded(DATA, "data", "data", map=embedding)
    sent = unpack_loaded(b"".join(pack_loaded(loaded)))[0].map
    assert sent is not None
    for other in (read, packed, sent):
        np.testing.assert_array_equal(other.stacked(), embedding.stacked())
        np.testing.assert_array_equal(other.planar().stacked(), embedding.planar().stacked())
    hetviz.save(DATA, tmp_path / "data")
    params = {"n_components": 5, "drawn_by": "neighbors"}
    run = fit_run(DATA, "guided-projection", params, only=np.arange(150))
    assert np.isfinite(run.result.embedding.planar().stacked()).all(axis=1).sum() == 150
    write_run(tmp_path / "run", str(tmp_path / "data"), DATA, run)
    again = run_recipe(tmp_path / "run")
    assert hetviz.load_run(again)[1].drawn is not None


def test_cancel_in_each_stage_keeps_partial_results() -> None:
    def stops_at(share: float):
        def progress(fraction: float, message: str = "", **figures: object) -> None:
            if fraction >= share and "layout" in figures:
                layout = figures["layout"]
                Y = layout() if callable(layout) else layout
                assert np.asarray(Y).shape[0] == 180
                raise Cancelled

        return progress

    method = MKPE(n_components=3, drawn_by="neighbors", n_iter=2, n_init=1)
    with pytest.raises(Cancelled) as first:
        method.fit(DATA, stops_at(0.1))
    assert isinstance(first.value.partial, Embedding)
    assert first.value.partial.drawn is None
    with pytest.raises(Cancelled) as second:
        method.fit(DATA, stops_at(0.7))
    assert isinstance(second.value.partial, Embedding)
    assert second.value.partial.drawn is not None
    assert second.value.partial.n_components == 3


def test_two_axes_are_refused_or_drawn_directly() -> None:
    with pytest.raises(ParameterError, match=r"n_components = 2\. Use 10 axes"):
        PCA(drawn_by="neighbors").fit(DATA)
    rng = np.random.default_rng(2)
    flat = [Dataset(name, [f"{k}" for k in range(20)], rng.normal(size=(20, 2))) for name in "ab"]
    flat_data = HeteroData(flat, [Links("a", "b", np.arange(20), np.arange(20))])
    with pytest.warns(DataWarning) as caught:
        embedding = hetviz.embed(
            flat_data, "guided-projection", n_components=4, drawn_by="neighbors"
        )
    assert "has only 2 axes" in str(caught[-1].message)
    assert embedding.n_components == 2
    assert embedding.drawn is None


def test_methods_with_many_axes_have_drawn_by() -> None:
    for card in methods():
        axes = get_method(card.key).params["n_components"]
        wide = getattr(axes, "high", 2) is None or getattr(axes, "high", 2) > 3
        is_neighbor_map = card.key in ("mr-sne", "umap", "joint-map", "graph-axes")
        assert ("drawn_by" in get_method(card.key).params) == (wide and not is_neighbor_map), (
            card.key
        )


def test_drawing_keeps_components_separate() -> None:
    rng = np.random.default_rng(1)
    half = rng.normal(size=(40, 4))
    Y = np.vstack([half, half])
    groups = [np.arange(40), np.arange(40, 80)]
    drawn = make_axes_map(Y, groups, np.random.default_rng(0))
    D = np.linalg.norm(drawn.positions[:40] - drawn.positions[40:], axis=1)
    near = np.linalg.norm(drawn.positions[:40, None] - drawn.positions[None, :40], axis=2)
    near[np.arange(40), np.arange(40)] = np.inf
    # Twins of the two groups are farther from each other than from their own neighbours.
    assert (near.min(axis=1) < D).mean() > 0.9
    assert share_neighbors_preserved(Y, Y, groups, rng) == 1.0
    tiny_map = make_axes_map(Y[:3], [np.arange(3)], np.random.default_rng(0))
    np.testing.assert_array_equal(tiny_map.positions, 0.0)
    assert tiny_map.share_preserved is None


def test_twins_share_the_drawn_place() -> None:
    Y = np.array([[0.0, 0, 0], [1, 0, 0], [0, 9, 0], [np.nan] * 3])
    Z = np.array([[5.0, 5], [6, 5], [-3, 2], [np.nan] * 2])
    places = place_new_points(np.array([[0.0, 9, 0], [np.nan] * 3]), Y, Z)
    np.testing.assert_array_equal(places[0], [-3.0, 2.0])
    assert np.isnan(places[1]).all()

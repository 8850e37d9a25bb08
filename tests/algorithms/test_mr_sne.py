"""MR-SNE: links, negative links, earlier maps and new items."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.algorithms.mr_sne import MRSNE
from hetviz.core.graph.distances import DistanceSpace, FeatureSpace
from hetviz.core.layout.procrustes import align
from hetviz.core.measures.neighborhoods import measure_preservation
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import Cancelled, DataWarning, NotApplicableError, ParameterError
from hetviz.metrics.fit.displacement import displacements
from hetviz.metrics.fit.summary import evaluate

GROUPS = 5


def world(n: int = 150, tags: int = 10, seed: int = 0, tag_features: bool = True) -> HeteroData:
    """Items in groups, and tags each linked to one group."""
    rng = np.random.default_rng(seed)
    centres = 5.0 * rng.normal(size=(GROUPS, 6))
    group = np.arange(n) % GROUPS
    items = Dataset("items", [f"i{k}" for k in range(n)], centres[group] + rng.normal(size=(n, 6)))
    mine = np.arange(tags) % GROUPS
    X = 4.0 * rng.normal(size=(GROUPS, 4))[mine] + rng.normal(size=(tags, 4))
    words = Dataset("words", [f"w{k}" for k in range(tags)], X if tag_features else None)
    i, j = np.nonzero((group[:, None] == mine[None]) & (rng.random((n, tags)) < 0.6))
    return HeteroData([items, words], [Links("items", "words", i, j)])


WORLD = world()


def extents(embedding: Embedding) -> list[float]:
    return [float(np.nanvar(Y, axis=0).sum()) for Y in embedding.coordinates.values()]


def quick(**parameters: Any) -> MRSNE:
    return MRSNE(**({"n_iter": 200, "perplexity": 15.0} | parameters))


def test_linked_items_and_neighbours_are_close() -> None:
    scores = evaluate(WORLD, quick().fit(WORLD).embedding_).to_dict()
    assert scores["link_auc"] > 0.9
    assert scores["trustworthiness"] > 0.85


@pytest.mark.parametrize("normalization", ["unnorm", "norm", "pmi"])
def test_few_tags_spread_as_wide_as_many_items(normalization: str) -> None:
    data = world(400, 10)
    first, second = extents(MRSNE(normalization=normalization).fit(data).embedding_)
    assert 0.5 < first / second < 2.0
    even = MRSNE(normalization=normalization, balance=0.0, paper=True).fit(data)
    uneven = extents(even.embedding_)
    assert abs(np.log(uneven[0] / uneven[1])) > abs(np.log(first / second))


def test_block_weights_follow_link_strength() -> None:
    plain, strong = quick().fit(WORLD), quick(link_strength=8.0).fit(WORLD)
    for method in (plain, strong):
        assert sum(method.beta_.values()) == pytest.approx(1.0)
    assert set(plain.beta_) == {("items", "items"), ("items", "words"), ("words", "words")}
    assert strong.beta_["items", "words"] > 2 * plain.beta_["items", "words"]
    scores = [evaluate(WORLD, method.embedding_).to_dict() for method in (plain, strong)]
    assert scores[1]["link_auc"] >= scores[0]["link_auc"]
    assert scores[1]["trustworthiness"] < scores[0]["trustworthiness"]
    alone = quick(weights={"words": 0.0})
    with pytest.warns(DataWarning, match="10 of words"):
        alone.fit(WORLD)
    assert set(alone.beta_) == {("items", "items")}


def test_one_hot_ids_are_no_features() -> None:
    items = WORLD["items"]
    plain = HeteroData([items, Dataset("words", WORLD["words"].ids)], WORLD.links)
    hot = HeteroData([items, Dataset("words", WORLD["words"].ids, np.eye(10))], WORLD.links)
    a, b = quick().fit(plain), quick().fit(hot)
    assert set(a.beta_) == set(b.beta_) == {("items", "items"), ("items", "words")}
    np.testing.assert_array_equal(a.embedding_.stacked(), b.embedding_.stacked())


def test_items_without_features_and_links_have_no_place() -> None:
    data = world(60, 5, tag_features=False)
    words = Dataset("words", [*data["words"].ids, "lonely"])
    data = HeteroData([data["items"], words], data.links)
    with pytest.warns(DataWarning, match="1 of words have no features"):
        embedding = quick().fit(data).embedding_
    assert np.isnan(embedding.coordinates["words"][5]).all()
    assert embedding.n_unplaced == 1


def test_unlinked_datasets_are_separate_components() -> None:
    data = HeteroData(WORLD.datasets.values())
    with pytest.warns(DataWarning, match="Links do not connect all datasets"):
        embedding = quick().fit(data).embedding_
    assert len(set(embedding.components.values())) == 2
    assert embedding.n_unplaced == 0
    assert len(set(quick().fit(WORLD).embedding_.components.values())) == 1


def test_data_without_information_are_refused() -> None:
    same = Dataset("same", [str(k) for k in range(9)], np.ones((9, 2)))
    with pytest.raises(NotApplicableError, match="no link counts"):
        MRSNE().fit(HeteroData([same]))
    with pytest.raises(ParameterError, match="needs a kernel"):
        MRSNE(features="precomputed").fit(WORLD)


def test_links_within_a_dataset_pull_and_push() -> None:
    rng = np.random.default_rng(4)
    items = WORLD["items"]
    i, j = np.arange(5), np.arange(5) + 21
    apart_i, apart_j = np.arange(30, 35), np.arange(30, 35) + GROUPS
    plain = HeteroData([items])
    guided = HeteroData(
        [items],
        [Links("items", "items", i, j), Links("items", "items", apart_i, apart_j, -np.ones(5))],
    )
    before, after = (quick().fit(data).embedding_.stacked() for data in (plain, guided))

    def nearness(Y: Any, a: Any, b: Any) -> float:
        pairs = rng.integers(0, 150, (2, 2000))
        usual = np.linalg.norm(Y[pairs[0]] - Y[pairs[1]], axis=1)
        return float(np.mean(np.linalg.norm(Y[a] - Y[b], axis=1)) / np.median(usual))

    assert nearness(after, i, j) < 0.5 * nearness(before, i, j)
    assert nearness(after, apart_i, apart_j) > 1.5 * nearness(before, apart_i, apart_j)
    assert quick().fit(guided).diagnostics_["apart far enough"] >= 0.8


def test_distances_and_kernels_define_neighbours() -> None:
    X = np.asarray(WORLD["items"].X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    ids = WORLD["items"].ids
    for dataset in (Dataset("d", ids, distance=D), Dataset("k", ids, kernel=X @ X.T)):
        Y = quick().fit(HeteroData([dataset])).embedding_.stacked()
        assert measure_preservation(DistanceSpace(D), Y).trustworthiness > 0.9
    sparse = Dataset("s", ids, sp.csr_array(X))
    Y = quick().fit(HeteroData([sparse])).embedding_.stacked()
    assert measure_preservation(FeatureSpace(X), Y).trustworthiness > 0.9


def test_views_of_one_object_are_close() -> None:
    rng = np.random.default_rng(0)
    X = np.asarray(WORLD["items"].X)
    ids = WORLD["items"].ids
    views = [
        Dataset(name, ids, X @ rng.normal(size=(6, 4)), entity="thing")
        for name in ("left", "right")
    ]
    data = HeteroData(views)

    def gap(method: MRSNE) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            Y = method.fit(data).embedding_.coordinates
        apart = np.linalg.norm(Y["left"] - Y["right"], axis=1)
        return float(np.median(apart) / np.std(Y["left"]))

    assert gap(quick()) < 0.5 * gap(quick(tie_views=False))


def test_paper_steps_reach_a_layout() -> None:
    method = MRSNE(paper=True, perplexity=15.0).fit(WORLD)
    assert method.n_iter_ == 500
    assert method.loss_history_[-1] < method.loss_history_[0]
    ours = MRSNE(perplexity=15.0, balance=method.balance).fit(WORLD)
    assert ours.loss_history_[-1] < method.loss_history_[-1]


def test_one_axis() -> None:
    embedding = quick(n_components=1).fit(WORLD).embedding_
    assert embedding.n_components == 1
    assert embedding.n_unplaced == 0


def test_continuing_moves_only_affected_items() -> None:
    words = Dataset("words", [*(f"w{k}" for k in range(10)), "new"])
    data = HeteroData([WORLD["items"], words], WORLD.links)
    with pytest.warns(DataWarning, match="1 of words"):
        first = MRSNE(perplexity=15.0).fit(data)
    before = first.embedding_.stacked()
    links = Links("items", "words", [0, 5, 15], [10, 10, 10])
    changed = HeteroData(data.datasets.values(), [*data.links, links])
    again = MRSNE(perplexity=15.0).fit(changed, start=first.embedding_)
    assert again.n_iter_ == 100
    after = again.embedding_.stacked()
    moved = np.linalg.norm(after - before, axis=1)[:-1]
    assert np.median(moved) < 0.05 * np.ptp(before[:-1], axis=0).max()
    linked = np.linalg.norm(after[[0, 5, 15]] - after[-1], axis=1)
    assert linked.max() < 0.2 * np.ptp(after, axis=0).max()
    cold = MRSNE(perplexity=15.0).fit(changed).loss_history_[-1]
    assert again.loss_history_[-1] < 1.05 * cold


def test_continuing_with_new_items_or_another_method() -> None:
    part = WORLD.edit().subset({"items": np.arange(120)})
    first = MRSNE(perplexity=15.0).fit(part)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        more = MRSNE(perplexity=15.0).fit(WORLD, start=first.embedding_)
    assert more.embedding_.n_unplaced == 0
    old = more.embedding_.coordinates["items"][:120]
    assert align(old, first.embedding_.coordinates["items"]).residual < 0.1
    other = Embedding(
        {name: 50.0 * np.asarray(d.X)[:, :2] for name, d in WORLD.datasets.items()},
        {name: d.ids for name, d in WORLD.datasets.items()},
        note="features",
    )
    from_features = quick().fit(WORLD, start=other)
    assert from_features.n_iter_ == 200
    assert evaluate(WORLD, from_features.embedding_).to_dict()["trustworthiness"] > 0.85


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_partial_layouts_have_all_rows_and_cancel_keeps_the_last() -> None:
    data = world(60, 5, tag_features=False)
    data = HeteroData([data["items"], Dataset("words", [*data["words"].ids, "x"])], data.links)
    frames: list[Any] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            frames.append(figures["layout"]())
            if len(frames) == 3:
                raise Cancelled

    method = quick()
    with pytest.raises(Cancelled) as caught:
        method.fit(data, progress)
    assert frames[0].shape == (66, 2)
    assert np.isnan(frames[0][-1]).all()
    np.testing.assert_array_equal(method.embedding_.stacked(), frames[-1])
    assert caught.value.partial is method.embedding_
    assert method.stopping_reason_.startswith("stopped after")


def test_new_items_are_close_to_similar_and_linked_items() -> None:
    method = MRSNE(perplexity=15.0).fit(WORLD)
    Y = method.embedding_.coordinates["items"]
    X = np.asarray(WORLD["items"].X)
    rng = np.random.default_rng(1)
    fresh = X[:50] + 0.3 * rng.normal(size=(50, 6))
    new = Dataset("items", [f"n{k}" for k in range(50)], fresh)
    placed = method.transform(new).coordinates["items"]
    nearest = np.linalg.norm(placed[:, None] - Y[None], axis=2).argmin(axis=1)
    assert (nearest % GROUPS == np.arange(50) % GROUPS).mean() > 0.9
    tag = method.embedding_.coordinates["words"][7]
    linked = method.transform(new, [("items", "n0", "words", "w7")]).coordinates["items"]
    assert np.linalg.norm(linked[0] - tag) < np.linalg.norm(placed[0] - tag)
    np.testing.assert_array_equal(linked[1:], placed[1:])


def test_new_items_without_features_are_placed_by_links() -> None:
    data = world(60, 5, tag_features=False)
    method = quick().fit(data)
    Y = method.embedding_.coordinates["items"]
    new = Dataset("words", ["by", "none"])
    links = [("words", "by", "items", "i0", 1.0), ("words", "by", "items", "i5", 0.5)]
    placed = method.transform(new, links).coordinates["words"]
    np.testing.assert_allclose(placed[0], (Y[0] + 0.5 * Y[5]) / 1.5)
    assert np.isnan(placed[1]).all()


def test_warm_up_compiles_kernels() -> None:
    from hetviz.core.layout import sne_loops

    MRSNE.warm_up()
    before = len(sne_loops.exact_steps.signatures)
    quick().fit(WORLD)
    assert len(sne_loops.exact_steps.signatures) == before


def test_continuing_applies_new_links() -> None:
    first = quick().fit(WORLD).embedding_
    places = first.coordinates["items"]
    a = int(places[:, 0].argmin())
    b = int(np.linalg.norm(places - places[a], axis=1).argmax())
    far = float(np.linalg.norm(places[a] - places[b]))
    left = {}
    for strength in (0.0, 1.0):
        guided = WORLD.edit().add(Links("items", "items", [a], [b], kind="said"))
        again = quick(guidance_boost=strength).fit(guided, start=first).embedding_
        Y = again.coordinates["items"]
        left[strength] = float(np.linalg.norm(Y[a] - Y[b])) / far
        assert np.median(np.delete(displacements(first, again), [a, b])) < 0.05
    assert left[1.0] < 0.1
    assert left[0.0] > 0.5


def test_three_axes() -> None:
    scores = {}
    for k in (2, 3):
        method = quick(n_components=k, n_iter=150).fit(WORLD)
        Y = method.embedding_.stacked()
        assert Y.shape == (160, k)
        assert (Y.std(axis=0) > 1.0).all()
        scores[k] = method.loss_history_[-1]
    assert scores[3] < scores[2]
    again = quick(n_components=3).fit(WORLD, start=method.embedding_)
    assert again.n_iter_ == 100
    assert np.median(displacements(method.embedding_, again.embedding_)) < 0.1
    twin = Dataset("items", ["new"], np.asarray(WORLD["items"].X)[:1])
    placed = method.transform(twin).coordinates["items"][0]
    np.testing.assert_allclose(placed, method.embedding_.coordinates["items"][0], atol=1e-9)


def test_three_axes_of_large_data_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hetviz.algorithms.mr_sne.MAX_ROWS_ABOVE_TWO_AXES", 100)
    with pytest.raises(NotApplicableError, match="the data have 160"):
        MRSNE(n_components=3).fit(WORLD)

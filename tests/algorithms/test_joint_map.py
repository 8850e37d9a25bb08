"""Joint map: limits, kinds of links, user links, earlier maps and new items."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from hetviz.algorithms import joint_map
from hetviz.algorithms.joint_map import FULL_WEIGHT_AUC, MIN_LINK_WEIGHT, JointMap, link_weight
from hetviz.core.graph.distances import FeatureSpace
from hetviz.core.measures.neighborhoods import measure_preservation
from hetviz.core.spectral.evidence import LinkEvidence
from hetviz.data import Dataset, HeteroData, Labels, Links
from hetviz.errors import Cancelled, DataWarning, NotApplicableError
from hetviz.metrics.fit.displacement import displacements
from hetviz.metrics.fit.nearest import nearest
from hetviz.metrics.fit.summary import evaluate

GROUPS = 5


def world(n: int = 150, tags: int = 30, share: float = 0.25, seed: int = 0) -> HeteroData:
    """Items with features in groups, and tags without features, each linked to one group."""
    rng = np.random.default_rng(seed)
    group, mine = np.arange(n) % GROUPS, np.arange(tags) % GROUPS
    X = 3.0 * rng.normal(size=(GROUPS, 6))[group] + rng.normal(size=(n, 6))
    items = Dataset("items", [f"i{k}" for k in range(n)], X)
    words = Dataset("words", [f"w{k}" for k in range(tags)])
    i, j = np.nonzero((group[:, None] == mine[None]) & (rng.random((n, tags)) < share))
    labels = [
        Labels("items", "group", group.astype(str)),
        Labels("words", "group", mine.astype(str)),
    ]
    return HeteroData([items, words], [Links("items", "words", i, j)], None, labels)


WORLD = world()


def quick(**parameters: Any) -> JointMap:
    return JointMap(**({"n_iter": 200, "perplexity": 15.0} | parameters))


def test_groups_are_close_across_datasets_including_held_out_links() -> None:
    train, held_out = WORLD.holdout(0.2, random_state=0)
    scores = evaluate(train, quick().fit(train).embedding_, held_out).to_dict()
    # A perfect map of the groups has .92, because a word links to a fifth of its group.
    assert scores["link_auc_held_out"] > 0.85
    assert scores["degree_auc_held_out"] > 0.85
    assert scores["label_across_accuracy"] > 0.9
    assert scores["trustworthiness"] > 0.85


def test_link_scores_use_joint_axes() -> None:
    train, _ = WORLD.holdout(0.2, random_state=0)
    method = quick(n_iter=10).fit(train)
    items, words = WORLD["items"], WORLD["words"]
    Y = method.embedding_.coordinates
    scores = method.link_scores(items, words, Y["items"], Y["words"])
    Z = method.axes_.coordinates
    np.testing.assert_allclose(scores, (1.0 + Z["items"] @ Z["words"].T) / 2.0, atol=1e-9)
    groups = np.equal.outer(np.arange(150) % GROUPS, np.arange(30) % GROUPS)
    assert scores[groups].min() > np.quantile(scores[~groups], 0.9)
    twin = Dataset("items", ["new"], np.asarray(items.X)[:1])
    fitted_scores = method.link_scores(items, words, Y["items"], Y["words"])[:1]
    alike = method.link_scores(twin, words, Y["items"][:1], Y["words"])
    np.testing.assert_allclose(alike, fitted_scores, atol=0.05)
    # A word without data uses the items around its place.
    named = Dataset("words", ["new"])
    around = method.link_scores(items, named, Y["items"], Y["words"][:1])[:, 0]
    assert np.corrcoef(around, scores[:, 0])[0, 1] > 0.8


def test_single_dataset_is_a_neighbour_map() -> None:
    data = HeteroData([WORLD["items"]])
    method = quick().fit(data)
    X = np.asarray(WORLD["items"].X)
    assert measure_preservation(FeatureSpace(X), method.embedding_.stacked()).trustworthiness > 0.9
    assert method.link_evidence_ == {}
    # Parameters of links have no effect.
    same = quick(link_strength=1.0, check_links=False).fit(data)
    np.testing.assert_array_equal(same.embedding_.stacked(), method.embedding_.stacked())


def test_network_without_features_has_a_map() -> None:
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    i, j = np.nonzero(np.triu((group[:, None] == group) & (rng.random((60, 60)) < 0.3), 1))
    net = Dataset("net", [f"n{k}" for k in range(60)])
    Y = quick().fit(HeteroData([net], [Links("net", "net", i, j)])).embedding_
    order = np.argsort(np.linalg.norm(Y.stacked()[:, None] - Y.stacked(), axis=2), axis=1)
    assert (group[order[:, 1]] == group).mean() > 0.9


def test_axes_are_an_embedding() -> None:
    method = quick().fit(WORLD)
    axes = method.axes_
    assert list(axes.coordinates) == ["items", "words"]
    assert list(axes.ids["words"]) == list(WORLD["words"].ids)
    np.testing.assert_allclose(np.linalg.norm(axes.coordinates["items"], axis=1), 1.0)
    scores = evaluate(WORLD, axes).to_dict()
    assert scores["link_auc"] > 0.95
    rows = nearest(WORLD, axes, WORLD.offsets["words"].start + 3, 5)["items"].rows
    assert (rows % GROUPS == 3).all()


def test_random_links_count_less_with_a_warning() -> None:
    rng = np.random.default_rng(1)
    links = WORLD.links[0]
    shuffled = Links("items", "words", links.i, rng.permutation(links.j), kind="at random")
    data = HeteroData(WORLD.datasets.values(), [links, shuffled])
    with pytest.warns(DataWarning, match=r"items – words, at random \(AUC 0\.\d\d"):
        method = quick().fit(data)
    counts = {
        kind: link_weight(evidence) for (_, _, kind), evidence in method.link_evidence_.items()
    }
    assert counts["at random"] < 0.6
    entries = method.diagnostics_["links foretold"]
    assert entries["items - words, at random"]["counts"] == counts["at random"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blind = quick(check_links=False).fit(data)
    trust = [
        evaluate(data, model.embedding_).to_dict()["trustworthiness"] for model in (method, blind)
    ]
    assert trust[0] > trust[1]


def test_link_weight_follows_auc() -> None:
    assert link_weight(LinkEvidence(float("nan"), 0.0, 0)) == 1.0
    assert link_weight(LinkEvidence(0.3, 0.01, 50)) == MIN_LINK_WEIGHT
    assert link_weight(LinkEvidence(0.6, 0.0, 50)) == pytest.approx(0.1 / (FULL_WEIGHT_AUC - 0.5))
    assert link_weight(LinkEvidence(0.95, 0.0, 50)) == 1.0


def test_link_strength_trades_neighbours_for_links() -> None:
    scores = [
        evaluate(WORLD, quick(link_strength=m).fit(WORLD).embedding_).to_dict() for m in (0.0, 0.9)
    ]
    assert scores[1]["guidance_area"] > scores[0]["guidance_area"]
    assert scores[1]["trustworthiness"] < scores[0]["trustworthiness"]


def test_links_over_features_goes_from_features_to_links() -> None:
    features, default, links = (
        quick(links_over_features=position).fit(WORLD) for position in (0.0, 0.5, 1.0)
    )
    plain = quick().fit(WORLD).embedding_.stacked()
    np.testing.assert_array_equal(default.embedding_.stacked(), plain)
    # The parameter replaces the two that it combines.
    replaced = quick(links_over_features=0.5, own_share=1.0, link_strength=0.9).fit(WORLD)
    np.testing.assert_array_equal(replaced.embedding_.stacked(), plain)
    scores = [evaluate(WORLD, model.embedding_).to_dict() for model in (features, links)]
    assert scores[1]["guidance_area"] > scores[0]["guidance_area"]
    assert scores[1]["trustworthiness"] < scores[0]["trustworthiness"]


def test_links_over_features_counts_unpredictable_links_in_full_at_its_end() -> None:
    chance = LinkEvidence(0.5, 0.0, 50)
    weights = [
        JointMap(links_over_features=position)._link_weight("tags", chance)
        for position in (None, 0.0, 0.5, 0.75, 1.0)
    ]
    assert weights == pytest.approx([0.1, 0.1, 0.1, 0.55, 1.0])


def test_dataset_of_weight_zero_is_left_out() -> None:
    method = quick(weights={"words": 0.0})
    with pytest.warns(DataWarning, match="30 of words"):
        method.fit(WORLD)
    assert method.embedding_.placed["items"].all()
    assert not method.embedding_.placed["words"].any()
    assert method.link_evidence_ == {}


def test_negative_links_act_in_layout_and_axes() -> None:
    rng = np.random.default_rng(4)
    near = evaluate(WORLD, quick().fit(WORLD).axes_)
    assert near.to_dict()["trustworthiness"] > 0.8
    i = np.arange(30, 50, 5)
    j = i + GROUPS
    apart = Links("items", "items", i, j, -np.ones(len(i)))
    guided = HeteroData(WORLD.datasets.values(), [*WORLD.links, apart])
    before, after = (quick().fit(data) for data in (WORLD, guided))

    def gap(method: JointMap) -> float:
        Y = method.embedding_.coordinates["items"]
        pairs = rng.integers(0, 150, (2, 2000))
        usual = np.median(np.linalg.norm(Y[pairs[0]] - Y[pairs[1]], axis=1))
        return float(np.mean(np.linalg.norm(Y[i] - Y[j], axis=1)) / usual)

    assert gap(after) > 1.5 * gap(before)
    assert after.diagnostics_["apart far enough"] >= 0.8
    cosines = [
        np.einsum("ij,ij->i", Z[i], Z[j]).mean()
        for Z in (before.axes_.coordinates["items"], after.axes_.coordinates["items"])
    ]
    assert cosines[1] < cosines[0]


def test_views_kernels_and_distances_are_used() -> None:
    rng = np.random.default_rng(0)
    X, ids = np.asarray(WORLD["items"].X), WORLD["items"].ids
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    views = [
        Dataset("left", ids, X @ rng.normal(size=(6, 4)), entity="thing"),
        Dataset("middle", ids, kernel=X @ X.T, entity="thing"),
        Dataset("right", ids, distance=D, entity="thing"),
    ]
    Y = quick().fit(HeteroData(views)).embedding_.coordinates
    for other in ("middle", "right"):
        apart = np.linalg.norm(Y["left"] - Y[other], axis=1)
        assert np.median(apart) < 0.3 * np.std(Y["left"])


def test_one_axis_and_data_without_information() -> None:
    embedding = quick(n_components=1).fit(WORLD).embedding_
    assert (embedding.n_components, embedding.n_unplaced) == (1, 0)
    same = Dataset("same", [str(k) for k in range(9)], np.ones((9, 2)))
    with pytest.raises(NotApplicableError, match="no link counts"):
        JointMap().fit(HeteroData([same]))


def test_partial_layouts_have_all_rows_and_cancel_keeps_the_last() -> None:
    words = Dataset("words", [*WORLD["words"].ids, "lonely"])
    data = HeteroData([WORLD["items"], words], WORLD.links)
    frames: list[Any] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            frames.append(figures["layout"]())
            if len(frames) == 3:
                raise Cancelled

    method = quick()
    with pytest.warns(DataWarning, match="1 of words"), pytest.raises(Cancelled) as caught:
        method.fit(data, progress)
    assert frames[0].shape == (181, 2)
    assert np.isnan(frames[0][-1]).all()
    np.testing.assert_array_equal(method.embedding_.stacked(), frames[-1])
    assert caught.value.partial is method.embedding_


def test_continuing_moves_only_affected_items() -> None:
    words = Dataset("words", [*WORLD["words"].ids, "new"])
    data = HeteroData([WORLD["items"], words], WORLD.links)
    with pytest.warns(DataWarning, match="1 of words"):
        first = quick().fit(data)
    before = first.embedding_.stacked()
    links = Links("items", "words", [0, 5, 15], [30, 30, 30])
    changed = HeteroData(data.datasets.values(), [*data.links, links])
    again = quick().fit(changed, start=first.embedding_)
    assert again.n_iter_ == 100
    after = again.embedding_.stacked()
    extent = np.ptp(before[:-1], axis=0).max()
    assert np.median(np.linalg.norm(after - before, axis=1)[:-1]) < 0.05 * extent
    assert np.linalg.norm(after[[0, 5, 15]] - after[-1], axis=1).max() < 0.3 * extent


def test_continuing_applies_new_links() -> None:
    first = quick().fit(WORLD).embedding_
    places = first.coordinates["items"]
    a = int(places[:, 0].argmin())
    b = int(np.linalg.norm(places - places[a], axis=1).argmax())
    far = float(np.linalg.norm(places[a] - places[b]))
    guided = WORLD.edit().add(Links("items", "items", [a], [b], kind="said"))
    again = quick().fit(guided, start=first)
    Y = again.embedding_.coordinates["items"]
    assert np.linalg.norm(Y[a] - Y[b]) < 0.1 * far
    assert np.median(np.delete(displacements(first, again.embedding_), [a, b])) < 0.05
    # User links always count in full.
    assert again.diagnostics_["links foretold"]["items - items, said"]["counts"] == 1.0


def test_new_items_are_close_to_similar_and_linked_items() -> None:
    method = quick().fit(WORLD)
    Y = method.embedding_.coordinates["items"]
    X = np.asarray(WORLD["items"].X)
    fresh = X[:50] + 0.3 * np.random.default_rng(1).normal(size=(50, 6))
    new = Dataset("items", [f"n{k}" for k in range(50)], fresh)
    placed = method.transform(new).coordinates["items"]
    close = np.linalg.norm(placed[:, None] - Y[None], axis=2).argmin(axis=1)
    assert (close % GROUPS == np.arange(50) % GROUPS).mean() > 0.9
    words = Dataset("words", ["by links", "none"])
    links = [("words", "by links", "items", f"i{k}", 1.0) for k in (2, 7, 12)]
    placed = method.transform(words, links).coordinates["words"]
    assert np.linalg.norm(Y - placed[0], axis=1).argmin() % GROUPS == 2
    assert np.isnan(placed[1]).all()


def test_user_links_do_not_repeat_the_link_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = quick().fit(WORLD)
    monkeypatch.setattr(joint_map, "link_evidence", lambda *args: pytest.fail("checked again"))
    user_link = Links("items", "items", [0], [1], kind="said")
    again = quick().fit(WORLD.edit().add(user_link), start=first.embedding_)
    table_evidence = {
        key: evidence for key, evidence in again.link_evidence_.items() if "said" not in key
    }
    assert table_evidence == first.link_evidence_
    assert again.link_evidence_["items", "items", "said"].n_hidden == 0

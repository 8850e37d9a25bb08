"""Each measure of `evaluate` against brute force or scikit-learn on small data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import (
    ndcg_score,
    normalized_mutual_info_score,
    rand_score,
    roc_auc_score,
)
from sklearn.neighbors import KNeighborsClassifier

from hetviz.core.graph.neighbors import nearest_places
from hetviz.core.measures.ranking import label_agreement, rank_partners
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
from hetviz.metrics.fit.clustering import cluster_map, label_codes
from hetviz.metrics.fit.curves import curves
from hetviz.metrics.fit.measured_map import MeasuredMap
from hetviz.metrics.fit.ranking import (
    NEIGHBOR_COUNTS,
    _shares_entry,
    link_ranking,
    shared_link_neighbors,
)
from hetviz.metrics.fit.summary import evaluate

rng = np.random.default_rng(8)
N_A, N_B = 40, 25
A, B = rng.normal(size=(N_A, 2)), 1.7 * rng.normal(size=(N_B, 2))
W = rng.random((N_A, N_B)) < 0.12
W[3] = False
W[7, :12] = True
KINDS = rng.integers(0, 3, N_A)


def ids(n: int, letter: str) -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def example(features_of_b: bool = False) -> tuple[HeteroData, Embedding]:
    a = Dataset("a", ids(N_A, "a"), rng.normal(size=(N_A, 4)))
    b = Dataset("b", ids(N_B, "b"), rng.normal(size=(N_B, 3)) if features_of_b else None)
    compared = rng.permuted(np.tile(np.arange(N_A + N_B), (30, 1)), axis=1)[:, :4]
    data = HeteroData(
        [a, b],
        [
            Links("a", "b", *np.nonzero(W)),
            Links("b", "a", [1, 2, 3], [20, 21, 22], [-1.0, -0.5, -0.1]),
            Links("a", "a", [0, 1], [5, 9]),
        ],
        Comparisons(compared),
        [Labels("a", "kind", [f"k{k}" for k in KINDS])],
    )
    return data, Embedding({"a": A, "b": B}, {"a": a.ids, "b": b.ids})


def distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.linalg.norm(X[:, None] - Y[None], axis=2)


def brute_ndcg(D: np.ndarray, truth: np.ndarray) -> list[float]:
    gains = []
    for distance, mine in zip(D, truth, strict=True):
        if mine.any():
            gains.append(ndcg_score([mine.astype(float)], [-distance], k=int(mine.sum())))
    return gains


def test_ndcg_equals_scikit_learn() -> None:
    data, embedding = example()
    values = evaluate(data, embedding).to_dict()
    D = distances(A, B)
    assert values["ndcg"] == pytest.approx(np.mean(brute_ndcg(D, W)), abs=1e-12)
    # The guess has the same order for all items: by frequency, ties in data order.
    order = np.argsort(-W.sum(axis=0), kind="stable")
    rank = np.empty(N_B)
    rank[order] = np.arange(N_B)
    guess = brute_ndcg(np.tile(rank, (N_A, 1)), W)
    assert values["ndcg_guess"] == pytest.approx(np.mean(guess), abs=1e-12)


def test_ndcg_uses_both_directions_if_both_have_features() -> None:
    data, embedding = example(features_of_b=True)
    D = distances(A, B)
    both = brute_ndcg(D, W) + brute_ndcg(D.T, W.T)
    assert evaluate(data, embedding).to_dict()["ndcg"] == pytest.approx(np.mean(both), abs=1e-12)


def test_held_out_ndcg_skips_given_tags() -> None:
    data, embedding = example()
    train, held_out = data.holdout(links=0.4)
    truth, given_tags = np.zeros((N_A, N_B), bool), np.zeros((N_A, N_B), bool)
    for part, matrix in ((held_out, truth), (train, given_tags)):
        for links in part.links:
            if (links.source, links.target) == ("a", "b"):
                matrix[links.i, links.j] = True
    gains = []
    for distance, mine, tags in zip(distances(A, B), truth, given_tags, strict=True):
        if mine.any():
            free = ~tags
            gains.append(
                ndcg_score([mine[free].astype(float)], [-distance[free]], k=int(mine.sum()))
                if free.sum() > 1
                else 1.0
            )
    values = evaluate(train, embedding, held_out).to_dict()
    assert values["ndcg_held_out"] == pytest.approx(np.mean(gains), abs=1e-12)
    assert 0 < values["ndcg_guess_held_out"] < 1


def test_linked_neighbors_equal_brute_force() -> None:
    data, embedding = example()
    values = evaluate(data, embedding).to_dict()
    D = distances(A, B)
    for k in NEIGHBOR_COUNTS:
        hits = []
        for table, truth in ((D, W), (D.T, W.T)):
            for distance, mine in zip(table, truth, strict=True):
                if mine.any():
                    hits.append(mine[np.argsort(distance)[:k]].sum())
        if k > N_A:
            assert f"metric_1@{k}" not in values
            continue
        assert values[f"metric_1@{k}"] == pytest.approx(np.mean(np.array(hits) > 0), abs=1e-12)
        assert values[f"metric_2@{k}"] == pytest.approx(np.mean(hits), abs=1e-12)
    shares = [values[f"metric_1@{k}"] for k in NEIGHBOR_COUNTS if f"metric_1@{k}" in values]
    assert shares == sorted(shares)


def test_shared_link_neighbors_equal_brute_force() -> None:
    data, embedding = example()
    values = evaluate(data, embedding).to_dict()
    for k in NEIGHBOR_COUNTS:
        hits = []
        for Y, truth in ((A, W), (B, W.T)):
            D, share = distances(Y, Y), truth.astype(int) @ truth.T.astype(int) > 0
            np.fill_diagonal(D, np.inf)
            for row in np.flatnonzero(truth.any(axis=1)):
                hits.append(share[row, np.argsort(D[row])[: min(k, len(Y) - 1)]].sum())
        if k > N_A - 1:
            assert f"metric_1_within@{k}" not in values
            continue
        measured = values[f"metric_1_within@{k}"], values[f"metric_2_within@{k}"]
        assert measured == pytest.approx((np.mean(np.array(hits) > 0), np.mean(hits)), abs=1e-12)


def test_shared_link_neighbors_by_hand() -> None:
    # Four pictures on a line: 0 and 1 share a tag, 0 and 2 share a tag, 3 has its own tag.
    pictures, tags = Dataset("pictures", list("abcd")), Dataset("tags", list("xyz"))
    links = Links("pictures", "tags", np.array([0, 1, 0, 2, 3]), np.array([0, 0, 1, 1, 2]))
    data = HeteroData([pictures, tags], [links])
    places = {
        "pictures": np.array([[0.0], [1.0], [3.0], [4.1]]),
        "tags": np.array([[0.0], [1.0], [5.0]]),
    }
    measured = MeasuredMap(data, Embedding(places, {name: data[name].ids for name in places}))
    near = measured.nearest_within("pictures", "tags", 3)
    hits = _shares_entry(measured.cross_links["pictures", "tags"], *near)
    # a: b, c, d    b: a, c, d    c: d, b, a    d: c, b, a
    wanted = [[True, True, False], [True, False, False], [False, False, True], [False] * 3]
    np.testing.assert_array_equal(hits, wanted)
    values = shared_link_neighbors(measured)
    # Tags x and y belong to picture a, tag z does not.
    assert values["metric_1_within@1"][0] == pytest.approx((2 + 2) / 7)


@pytest.mark.parametrize("tied", [False, True])
def test_graph_auc_equals_roc_of_ranks(tied: bool) -> None:
    data, embedding = example()
    places = {"a": np.round(A) if tied else A, "b": np.round(B) if tied else B}
    Y = np.vstack(list(places.values()))
    truth = np.zeros((N_A + N_B, N_A + N_B), bool)
    truth[:N_A, N_A:], truth[N_A:, :N_A] = W, W.T
    pooled_truth, pooled_rank = [], []
    for row in np.flatnonzero(truth.any(axis=1)):
        others = np.arange(len(Y)) != row
        squared = ((Y - Y[row]) ** 2).sum(axis=1)
        pooled_rank.append(rankdata(squared[others]))
        pooled_truth.append(truth[row][others])
    embedding = Embedding(places, embedding.ids)
    value = evaluate(data, embedding).to_dict()["graph_auc"]
    if not tied:
        expected = roc_auc_score(np.concatenate(pooled_truth), -np.concatenate(pooled_rank))
        assert value == pytest.approx(expected, abs=1e-12)
    else:
        # Rows at equal distance in random order, many times.
        drawn = []
        shuffled = np.random.default_rng(0)
        for _ in range(200):
            ranks = [rankdata(ranks + 1e-6 * shuffled.random(len(ranks))) for ranks in pooled_rank]
            drawn.append(roc_auc_score(np.concatenate(pooled_truth), -np.concatenate(ranks)))
        assert value == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(200))


def test_cluster_measures_equal_brute_force() -> None:
    data, embedding = example()
    values = evaluate(data, embedding).to_dict()
    code = cluster_map(MeasuredMap(data, embedding)).code
    assert len(np.unique(code)) == 3
    is_together = [code[i] == code[N_A + j] for i, j in zip(*np.nonzero(W), strict=True)]
    is_together += [code[N_A + j] != code[i] for j, i in ((1, 20), (2, 21), (3, 22))]
    is_together += [code[0] == code[5], code[1] == code[9]]
    assert values["rand_index"] == pytest.approx(np.mean(is_together), abs=1e-12)
    same = code[:N_A][:, None] == code[N_A:]
    assert values["rand_index_pairs"] == pytest.approx(np.mean(same == W), abs=1e-12)
    nmi = normalized_mutual_info_score(KINDS, code[:N_A])
    assert values["nmi"] == pytest.approx(nmi, abs=1e-12)


def test_rand_index_pairs_equals_scikit_learn_for_partitions() -> None:
    group = rng.integers(0, 3, 30)
    i, j = np.nonzero(group[:, None] == group)
    data = HeteroData(
        [Dataset("a", ids(30, "a")), Dataset("b", ids(30, "b"))], Links("a", "b", i, j)
    )
    Y = rng.normal(size=(30, 2))
    embedding = Embedding({"a": Y, "b": Y}, {"a": ids(30, "a"), "b": ids(30, "b")})
    code = cluster_map(MeasuredMap(data, embedding)).code[:30]
    # Pairs of a row and its copy are in both. The usual index has all other pairs once.
    pairs = evaluate(data, embedding).to_dict()["rand_index_pairs"]
    assert (pairs * 900 - 30) / 870 == pytest.approx(rand_score(group, code), abs=1e-12)


def test_held_out_items_get_the_nearest_cluster() -> None:
    centres = np.array([[0.0, 0.0], [10.0, 0.0]])
    side = np.arange(40) % 2
    Y = centres[side] + 0.1 * rng.normal(size=(40, 2))
    a = Dataset("a", ids(40, "a"), Y)
    links = Links("a", "a", np.arange(38), np.arange(2, 40))
    data = HeteroData([a], links, labels=[Labels("a", "side", [str(s) for s in side])])
    train, held_out = data.holdout(links=0.0, objects={"a": 0.25})
    everywhere = Embedding({"a": Y}, {"a": a.ids})
    values = evaluate(train, everywhere, held_out).to_dict()
    assert values["rand_index_held_out"] == 1.0
    assert values["nmi"] == pytest.approx(1.0)
    assert values["label_knn_accuracy"] == 1.0


def test_variance_ratio_of_two_and_of_more() -> None:
    data, embedding = example()
    traces = [np.trace(np.cov(Y.T)) for Y in (A, B)]
    values = evaluate(data, embedding).to_dict()
    assert values["variance_ratio"] == pytest.approx(traces[0] / traces[1], abs=1e-12)
    three = HeteroData([*data.datasets.values(), Dataset("c", ids(9, "c"))])
    C = 0.01 * rng.normal(size=(9, 2))
    mapped = Embedding({"a": A, "b": B, "c": C}, {**embedding.ids, "c": ids(9, "c")})
    pooled = np.trace(np.cov(np.vstack([A, B, C]).T))
    ratio = evaluate(three, mapped).to_dict()["variance_ratio"]
    assert ratio == pytest.approx(np.trace(np.cov(C.T)) / pooled, abs=1e-12)


def test_label_knn_equals_scikit_learn() -> None:
    codes = rng.integers(0, 2, 60)
    Y = rng.normal(size=(60, 3))
    expected = [
        KNeighborsClassifier(5).fit(Y[others], codes[others]).predict(Y[[row]])[0] == codes[row]
        for row in range(60)
        for others in [np.arange(60) != row]
    ]
    np.testing.assert_array_equal(label_agreement(Y, codes, 5), expected)
    # Two of each, so the label of the nearest decides.
    line = np.array([[0.0], [1.0], [2.1], [3.3], [4.6]])
    assert label_agreement(line, np.array([0, 0, 1, 1, 0]), 4)[0]


def test_fractions_and_unique_names_are_no_classes() -> None:
    def codes(values: list) -> object:
        a = Dataset("a", ids(len(values), "a"))
        return label_codes(HeteroData([a], labels=[Labels("a", "x", values)]))

    assert codes([0.5, 1.5, 0.5, 0.5]) is None
    assert codes(ids(20, "name")) is None
    assert codes(["x"] * 9) is None
    assert codes([None, 1, 2, 1, 2])[0].tolist() == [-1, 0, 1, 0, 1]


@pytest.mark.parametrize("d", [2, 7])
def test_nearest_places_equal_brute_force_in_few_and_many_axes(d: int) -> None:
    X, Y = rng.normal(size=(30, d)), rng.normal(size=(50, d))
    np.testing.assert_array_equal(nearest_places(X, Y, 6), np.argsort(distances(X, Y))[:, :6])
    without_self = distances(Y, Y) + np.diag(np.full(50, np.inf))
    np.testing.assert_array_equal(
        nearest_places(Y, Y, 4, same=True), np.argsort(without_self)[:, :4]
    )
    piled = nearest_places(np.zeros((9, d)), np.zeros((9, d)), 3, same=True)
    assert (piled != np.arange(9)[:, None]).all()


def test_measures_are_invariant_to_similarity_transforms() -> None:
    data, embedding = example()
    train, held_out = data.holdout(links=0.3, comparisons=0.3)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    moved = {"a": 4 * A @ turn + 7, "b": 4 * B @ turn + 7}
    before = evaluate(train, embedding, held_out).to_dict()
    after = evaluate(train, Embedding(moved, embedding.ids), held_out).to_dict()
    assert after == pytest.approx(before, abs=1e-9)


def test_measures_do_not_depend_on_row_order() -> None:
    data, embedding = example()
    order = {"a": rng.permutation(N_A), "b": rng.permutation(N_B)}
    other = data.edit().subset(order)
    before = evaluate(data, embedding).to_dict()
    after = evaluate(other, embedding).to_dict()
    # The guess sorts tags of equal frequency by data order. k-means starts are random.
    for name in ("ndcg_guess", "rand_index", "rand_index_pairs", "nmi"):
        assert before.pop(name) == pytest.approx(after.pop(name), abs=0.1)
    assert after == pytest.approx(before, abs=1e-9)


def test_sampled_measures_are_within_their_error() -> None:
    n = 4_000
    Y = rng.normal(size=(n, 2))
    Z = Y + 0.4 * rng.normal(size=(n, 2))
    i = np.arange(n)
    names = {"a": ids(n, "a"), "b": ids(n, "b")}
    data = HeteroData([Dataset("a", names["a"]), Dataset("b", names["b"])], Links("a", "b", i, i))
    cross = MeasuredMap(data, Embedding({"a": Y, "b": Z}, names))
    from scipy.sparse import block_array

    T = block_array(
        [[None, cross.cross_links["a", "b"]], [cross.cross_links["b", "a"], None]], format="csr"
    )
    exact = rank_partners(cross.stacked, T, max_queries=10**6)
    assert exact.standard_error == 0.0
    drawn = [rank_partners(cross.stacked, T, random_state=seed) for seed in range(12)]
    z = [(sample.auc - exact.auc) / sample.standard_error for sample in drawn]
    assert 0.3 < np.std(z) < 2.2
    assert np.abs(z).max() < 4


def test_curves_agree_with_measures() -> None:
    data, embedding = example()
    train, held_out = data.holdout(links=0.4, comparisons=0.4)
    curves_by_kind = curves(train, embedding, held_out)
    assert set(curves_by_kind) == {"links", "apart", "a|b", "a|a", "comparisons"}
    values = evaluate(train, embedding, held_out).to_dict()
    x, y = curves_by_kind["comparisons"]["held_out"]
    assert y[-1] == pytest.approx(values["comparison_accuracy_held_out"], abs=1e-6)
    for kind, sign in (("links", 1), ("apart", -1)):
        x, y, (chance, value) = map(np.array, curves_by_kind[kind]["given"])
        assert 0 < chance < 1
        if sign > 0:
            assert value == pytest.approx(values["links_kept"], abs=1e-6)
            assert chance == pytest.approx(values["links_kept_chance"], abs=1e-6)
        assert y[-1] == (1.0 if sign > 0 else 0.0)
        assert (sign * np.diff(y) >= 0).all()
    for parts in curves_by_kind.values():
        for x, y, *_ in parts.values():
            assert (np.diff(x) > 0).all()
            assert 0 <= min(y) <= max(y) <= 1


def test_comparison_curve_counts_ties_half() -> None:
    Y = np.array([[0.0], [1.0], [2.0], [-1.0]])
    data = HeteroData(
        [Dataset("a", ids(4, "a"))], (), Comparisons([[0, 1, 2], [0, 1, 3], [0, 2, 1]])
    )
    x, y = curves(data, Embedding({"a": Y}, {"a": ids(4, "a")}))["comparisons"]["given"]
    at = dict(zip(x, y, strict=True))
    assert (at[0.49], at[0.5], at[0.99]) == (0.0, pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert at[1.0] == pytest.approx(0.5)


def test_link_ranking_auc_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    scores, links = rng.integers(0, 6, 200).astype(float), rng.random(200) < 0.2
    auc, _ = link_ranking(scores, links, ())
    assert auc == pytest.approx(roc_auc_score(links, scores))


def test_link_ranking_precision_with_ties() -> None:
    scores, links = [3.0, 2.0, 2.0, 2.0, 1.0], [False, True, False, True, False]
    _, precision = link_ranking(scores, links, (1, 2, 3, 5, 9))
    orders = [(0, *order, 4) for order in itertools.permutations((1, 2, 3))]
    for k in (1, 2, 3, 5):
        expected = np.mean([np.mean([links[row] for row in order[:k]]) for order in orders])
        assert precision[k] == pytest.approx(expected)
    assert 9 not in precision


def test_unscored_pairs_rank_last() -> None:
    auc, precision = link_ranking([0.5, -np.inf, -np.inf], [True, False, False], (1,))
    assert (auc, precision[1]) == (1.0, 1.0)

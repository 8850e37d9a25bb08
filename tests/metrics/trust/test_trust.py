from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.measures.neighborhoods import count_near
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import ParameterError
from hetviz.metrics.trust import neighborhoods
from hetviz.metrics.trust.stability import stability
from hetviz.metrics.trust.trust import trust

rng = np.random.default_rng(4)
N_A, N_B, K = 60, 50, 4
FIELDS = ("false_within", "missing_within", "false_across", "missing_across", "violated", "score")


def ids(n: int, letter: str) -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def example(b_has_features: bool = True) -> tuple[HeteroData, Embedding]:
    Z_a, Z_b = rng.normal(size=(N_A, 3)), rng.normal(size=(N_B, 3))
    a = Dataset("a", ids(N_A, "a"), Z_a @ rng.normal(size=(3, 6)))
    b = Dataset("b", ids(N_B, "b"), Z_b @ rng.normal(size=(3, 5)) if b_has_features else None)
    i, j = rng.integers(0, N_A, 40), rng.integers(0, N_B, 40)
    links = [
        Links("a", "b", i, j),
        Links("b", "a", [1, 2, 3], [50, 51, 52], [-1, -1, -1]),
        Links("a", "a", [0, 5], [9, 7]),
    ]
    compared = Comparisons([[0, 1, 2], [4, 70, 80], [9, 1, 0]])
    Y = {"a": Z_a[:, :2] + 0.2 * rng.normal(size=(N_A, 2)), "b": Z_b[:, :2]}
    Y["a"][11] = np.nan
    return HeteroData([a, b], links, compared), Embedding(Y, {"a": a.ids, "b": b.ids})


def squared(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return ((X[:, None] - Y[None]) ** 2).sum(axis=2)


def order_of(D: np.ndarray, row: int, itself: bool) -> list[int]:
    """Placed rows, the nearest to `row` first."""
    order = [k for k in np.argsort(D[row]) if np.isfinite(D[row, k])]
    return [k for k in order if k != row] if itself else order


def near_set(D: np.ndarray, row: int, itself: bool) -> set[int]:
    order = order_of(D, row, itself)
    return set(order[: count_near(len(order), 0.05, K)])


@pytest.mark.parametrize("b_has_features", [True, False])
def test_trust_equals_brute_force(b_has_features: bool) -> None:
    data, embedding = example(b_has_features)
    result = trust(data, embedding, k=K)
    places = {name: np.asarray(Y) for name, Y in embedding.coordinates.items()}
    here = {(s, t): squared(places[s], places[t]) for s in "ab" for t in "ab"}
    data_distances = {"a": squared(data["a"].X, data["a"].X)}
    # Rows without a place are ignored, in the data too.
    data_distances["a"][:, 11] = np.nan
    if b_has_features:
        data_distances["b"] = squared(data["b"].X, data["b"].X)
    W = {("a", "b"): np.zeros((N_A, N_B), bool)}
    W["a", "b"][data.links[0].i, data.links[0].j] = True
    W["a", "b"][11] = False
    W["b", "a"] = W["a", "b"].T
    for name, other in (("a", "b"), ("b", "a")):
        for row in range(len(data[name])):
            at = data.offsets[name].start + row
            if np.isnan(places[name][row, 0]):
                assert np.isnan([getattr(result, field)[at] for field in FIELDS]).all()
                continue
            if name in data_distances:
                mapped = order_of(here[name, name], row, True)[:K]
                truly = order_of(data_distances[name], row, True)[:K]
                false = len(set(mapped) - near_set(data_distances[name], row, True))
                missing = len(set(truly) - near_set(here[name, name], row, True))
                assert (result.false_within[at], result.missing_within[at]) == (false, missing)
                assert set(result.near(at) - data.offsets[name].start) == set(mapped)
            else:
                assert np.isnan(result.false_within[at])
            _check_across(result, data, here, data_distances, W, name, other, row, at)


def _check_across(result, data, here, data_distances, W, name, other, row, at) -> None:
    linked = W[name, other]
    via = [row] if linked[row].any() else []
    if name in data_distances:
        able = [k for k in np.argsort(data_distances[name][row]) if linked[k].any() and k != row]
        via += [k for k in able[: K - len(via)] if k in near_set(data_distances[name], row, True)]
    expected = set(np.flatnonzero(linked[via].any(axis=0))) if via else set()
    if not expected:
        assert np.isnan(result.missing_across[at])
        return
    share = len(expected - near_set(here[name, other], row, False)) / len(expected)
    assert result.missing_across[at] == pytest.approx(K * share, abs=1e-12)
    mapped = order_of(here[name, other], row, False)[:K]
    right = set(expected)
    if other in data_distances:
        # Its own links, then one link of each close row.
        first = [
            *np.flatnonzero(linked[row])[:K],
            *(np.flatnonzero(linked[k])[0] for k in via if k != row),
        ]
        for partner in first[:K]:
            right |= near_set(data_distances[other], partner, True) | {partner}
    else:
        mapped = mapped[: len(expected)]
    share = len(set(mapped) - right) / len(mapped)
    assert result.false_across[at] == pytest.approx(K * share, abs=1e-12)


def test_broken_statements_count_for_both_items() -> None:
    line = np.arange(100.0)[:, None]
    links = Links("a", "a", [0, 0, 0], [1, 50, 3], [1, 1, -1])
    data = HeteroData([Dataset("a", ids(100, "a"))], links, Comparisons([[0, 9, 5], [0, 5, 9]]))
    result = trust(data, Embedding({"a": line}, {"a": data["a"].ids}), k=5)
    # The five nearest of 99 are close: row 3, linked as apart, but not row 50, linked as together.
    assert (result.violated[0], result.said[0]) == (3, 5)
    assert (result.violated[50], result.said[50]) == (1, 1)
    assert (result.violated[9], result.said[9]) == (1, 2)
    assert (result.violated[20], result.said[20]) == (0, 0)
    assert result.score[0] == pytest.approx(1 - 3 / 5)
    assert np.isnan(result.score[20])


def test_subset_of_rows_gives_the_same_values() -> None:
    data, embedding = example()
    every, subset = trust(data, embedding, k=K), trust(data, embedding, k=K, rows=[3, 70])
    asked = np.isin(np.arange(data.n_rows), [3, 70])
    for field in FIELDS:
        whole, part = getattr(every, field), getattr(subset, field)
        np.testing.assert_array_equal(part[asked], whole[asked])
        assert np.isnan(part[~asked]).all()


def test_perfect_map_has_full_trust_after_rotation() -> None:
    X = rng.normal(size=(80, 2))
    data = HeteroData(
        [Dataset("a", ids(80, "a"), X), Dataset("b", ids(80, "b"), X)],
        Links("a", "b", np.arange(80), np.arange(80)),
    )
    names = {"a": ids(80, "a"), "b": ids(80, "b")}
    perfect = trust(data, Embedding({"a": X, "b": X}, names))
    assert (perfect.score == 1.0).all()
    bad = Embedding({"a": X, "b": rng.permutation(X)}, names)
    turn = np.array([[0.0, 2.0], [-2.0, 0.0]])
    turned = {name: Y @ turn + 5 for name, Y in bad.coordinates.items()}
    score = trust(data, bad).score
    assert score.mean() < 0.7
    np.testing.assert_allclose(trust(data, Embedding(turned, names)).score, score, atol=1e-12)


def test_views_of_one_object_count_as_linked() -> None:
    X = rng.normal(size=(40, 2))
    views = [Dataset(name, ids(40, "o"), X, entity="thing") for name in "ab"]
    names = {"a": ids(40, "o"), "b": ids(40, "o")}
    data = HeteroData(views)
    assert (trust(data, Embedding({"a": X, "b": X}, names)).missing_across == 0).all()
    apart = trust(data, Embedding({"a": X, "b": X[::-1]}, names))
    assert apart.missing_across.mean() > 3


def test_sampled_trust_is_within_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 3_000
    X = rng.normal(size=(n, 3))
    data = HeteroData([Dataset("a", ids(n, "a"), X)])
    embedding = Embedding({"a": X[:, :2]}, {"a": ids(n, "a")})
    exact = trust(data, embedding)
    assert exact.standard_error == 0.0
    monkeypatch.setattr("hetviz.core.measures.neighborhoods.EXACT_PAIRS", 1_000_000)
    sampled = trust(data, embedding)
    assert sampled.standard_error == pytest.approx(np.sqrt(0.05 * 0.95 / 2_000), rel=0.02)
    # The ten nearest of a sample are slightly farther than the ten nearest of all.
    for field in ("false_within", "missing_within"):
        assert abs(getattr(sampled, field).mean() - getattr(exact, field).mean()) < 0.5
    assert np.corrcoef(sampled.score, exact.score)[0, 1] > 0.7


def test_number_of_close_rows() -> None:
    assert count_near(1000, neighborhoods.NEAR, 10) == 50
    assert count_near(100, neighborhoods.NEAR, 10) == 10
    assert count_near(8, neighborhoods.NEAR, 10) == 4
    assert count_near(1, neighborhoods.NEAR, 10) == 1


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_k_is_checked(k: object) -> None:
    data, embedding = example()
    with pytest.raises(ParameterError, match="whole number of 1 or more"):
        trust(data, embedding, k=k)  # type: ignore[arg-type]


def test_stability_ignores_rotation() -> None:
    Y = rng.normal(size=(200, 2))
    names = {"a": ids(200, "a")}
    turn = np.array([[0.0, -3.0], [-3.0, 0.0]])
    same = stability([Embedding({"a": Y}, names), Embedding({"a": Y @ turn - 8}, names)])
    np.testing.assert_allclose(same, 1.0, atol=1e-9)
    other = Y.copy()
    other[:10] = -other[:10]
    moved = stability([Embedding({"a": Y}, names), Embedding({"a": other}, names)])
    assert moved[10:].min() > 0.9
    assert moved[:10].mean() < 0.4
    noise = [Embedding({"a": rng.normal(size=(200, 2))}, names) for _ in range(4)]
    assert stability(noise).mean() < 0.25


def test_stability_matches_rows_by_id() -> None:
    Y = rng.normal(size=(20, 2))
    first = Y.copy()
    first[3] = np.nan
    order = rng.permutation(20)
    other = Embedding({"a": Y[order]}, {"a": [f"a{k}" for k in order]})
    values = stability([Embedding({"a": first}, {"a": ids(20, "a")}), other])
    assert np.isnan(values[3])
    np.testing.assert_allclose(np.delete(values, 3), 1.0, atol=1e-9)


def test_stability_needs_two_maps_with_the_same_axes() -> None:
    embedding = Embedding({"a": rng.normal(size=(5, 2))})
    with pytest.raises(ParameterError, match="at least two"):
        stability([embedding])
    with pytest.raises(ParameterError, match="numbers of axes"):
        stability([embedding, Embedding({"a": rng.normal(size=(5, 3))})])

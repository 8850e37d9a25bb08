"""Partitions: exact small cases, independence of order, equal points, number of groups."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from hetviz.core.clustering import partition as module
from hetviz.core.clustering.partition import METHODS, number_by_size, partition
from hetviz.core.clustering.partition_choice import (
    choose_partition,
    measure_partition,
    silhouette_of,
    sizes_to_try,
    try_sizes,
)

SIZES = {"k-means": 3, "agglomerative": 3, "hdbscan": 6}


def make_heaps(
    sizes: tuple[int, ...] = (40, 30, 20), seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(code), 2)) * 0.3 + np.c_[10.0 * code, (code % 2) * 10.0], code


@pytest.mark.parametrize("method", METHODS)
def test_partition_finds_groups_sorted_by_size(method: str) -> None:
    X, code = make_heaps()
    result = partition(X, method, SIZES[method])
    assert result.tolist() == code.tolist()
    mixed = np.random.default_rng(1).permutation(len(X))
    assert partition(X[mixed], method, SIZES[method]).tolist() == code[mixed].tolist()


@pytest.mark.parametrize("method", METHODS)
def test_partition_does_not_depend_on_order(method: str) -> None:
    X = np.random.default_rng(3).normal(size=(120, 2))
    mixed = np.random.default_rng(4).permutation(len(X))
    result = partition(X, method, 5)
    assert partition(X[mixed], method, 5).tolist() == result[mixed].tolist()


@pytest.mark.parametrize("method", METHODS)
def test_partition_of_no_one_and_equal_points(method: str) -> None:
    assert partition(np.zeros((0, 2)), method, 3).shape == (0,)
    assert partition(np.ones((1, 2)), method, 3).tolist() == [0]
    assert partition(np.ones((20, 2)), method, 3).tolist() == [0] * 20


def test_partition_has_at_most_as_many_groups_as_points() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], [3, 2], axis=0)
    assert partition(X, "k-means", 5).tolist() == [0, 0, 0, 1, 1]
    assert len(set(partition(X, "agglomerative", 4)[:3])) == 1


def test_hdbscan_marks_outliers_as_noise() -> None:
    X, code = make_heaps()
    far = np.vstack([X, [[100.0, 100.0], [-100.0, 50.0]]])
    assert partition(far, "hdbscan", 6).tolist() == [*code.tolist(), -1, -1]
    assert partition(X[:6], "hdbscan", 5).tolist() == [-1] * 6


@pytest.mark.parametrize(
    ("method", "limit"),
    [
        ("agglomerative", "MAX_PAIRED_ROWS"),
        ("hdbscan", "MAX_PAIRED_ROWS"),
        ("k-means", "MAX_KMEANS_ROWS"),
        ("k-means", "MAX_START_ROWS"),
    ],
)
def test_partition_fits_large_data_on_a_sample(
    method: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 60)
    X, code = make_heaps((60, 50, 40))
    assert adjusted_rand_score(partition(X, method, SIZES[method]), code) == 1.0


def test_k_means_starts_on_all_points_if_a_sample_has_too_few_different_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_START_ROWS", 2)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], [5, 4, 3], axis=0)
    assert partition(X, "k-means", 3).tolist() == np.repeat([0, 1, 2], [5, 4, 3]).tolist()


def test_partitions_measured_together_equal_partitions_measured_alone() -> None:
    X, _ = make_heaps()
    together = [(p.silhouette, p.stability) for p in try_sizes(X, "k-means", [2, 3, 5])]
    alone = [measure_partition(X, "k-means", size) for size in (2, 3, 5)]
    assert together == [(p.silhouette, p.stability) for p in alone]


def test_number_by_size_then_centre() -> None:
    X = np.array([[5.0], [5.0], [1.0], [1.0], [9.0], [0.0]])
    assert number_by_size(X, np.array([4, 4, 7, 7, 1, -1])).tolist() == [1, 1, 0, 0, 2, -1]


def test_silhouette_of_a_small_case() -> None:
    X = np.array([[0.0], [1.0], [10.0], [12.0]])
    own_part, other = np.array([1, 1, 2, 2]), np.array([11, 10, 9.5, 11.5])
    expected = ((other - own_part) / other).mean()
    assert silhouette_of(X, np.array([0, 0, 1, 1])) == pytest.approx(expected)
    assert np.isnan(silhouette_of(X, np.zeros(4, dtype=np.int64)))


def test_choose_partition_of_clear_groups() -> None:
    X, _ = make_heaps((30, 30, 30, 30), seed=2)
    assert sizes_to_try(len(X), "k-means") == list(range(2, 11))
    assert sizes_to_try(1_900, "k-means")[-1] == 40
    assert sizes_to_try(12, "k-means") == [2]
    assert sizes_to_try(3, "k-means") == [1]
    tried = try_sizes(X, "k-means", range(2, 7))
    assert choose_partition(tried).k == 4
    assert choose_partition(tried).stability == 1.0
    assert choose_partition(tried).of_groups.tolist() == [1.0] * 4
    even = np.random.default_rng(0).uniform(size=(120, 2))
    assert measure_partition(even, "k-means", 7).stability < 0.9


def test_too_few_points_have_no_stability() -> None:
    result = measure_partition(np.arange(6.0)[:, None], "k-means", 2)
    assert np.isnan(result.stability)
    assert result.score == 0.0

"""Cosines of link rows and rows that are alike."""

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.measures.alike import cosines_with, is_alike, most_alike_rows


def test_cosines_with_signs_and_empty_rows():
    L = sp.csr_array(
        np.array([[1, -1, 0], [0.5, -0.5, 0], [1, 1, 0], [-1, 1, 0], [1, 0, 0.0], [0, 0, 0]])
    )
    expected = [1.0, 1.0, 0.0, -1.0, np.sqrt(0.5), 0.0]
    assert cosines_with(L, 0) == pytest.approx(expected, abs=1e-12)
    # Rows that differ in length only tie exactly.
    assert cosines_with(L, 0)[1] == 1.0
    assert not cosines_with(L, 5).any()


def test_cosines_with_equals_dense_computation():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 30)) < 0.2, rng.uniform(-1, 1, (40, 30)), 0.0)
    lengths = np.linalg.norm(X, axis=1)
    expected = X @ X[7] / np.maximum(lengths * lengths[7], 1e-300)
    assert cosines_with(sp.csr_array(X), 7) == pytest.approx(expected, abs=1e-11)


def test_most_alike_rows_skips_itself_and_scores_of_0():
    scores = np.array([0.2, 1.0, 0.5, 0.0, 0.5, -0.3])
    assert most_alike_rows(scores, 1, 8).tolist() == [2, 4, 0]
    assert most_alike_rows(scores, 1, 2).tolist() == [2, 4]
    assert most_alike_rows(np.array([1.0]), 0, 3).tolist() == []


def test_is_alike_is_midway_between_typical_and_near():
    # The other rows have median 0.2, and the second highest is 0.8: alike from 0.5.
    scores = np.array([1.0, 0.9, 0.8, 0.5, 0.2, 0.2, 0.1, 0.49])
    scores[7] = 0.2
    assert np.flatnonzero(is_alike(scores, 0, 2)).tolist() == [1, 2, 3]
    scores[3] = 0.49
    assert np.flatnonzero(is_alike(scores, 0, 2)).tolist() == [1, 2]


def test_is_alike_without_contrast():
    # Most rows are as near as the nearest: only the highest scores count.
    assert is_alike(np.array([1.0, 0.9, 0.3, 0.3, 0.3, 0.3]), 0, 3).tolist() == [
        False,
        True,
    ] + 4 * [False]
    assert is_alike(np.full(5, 0.7), 2, 2).tolist() == [True, True, False, True, True]
    # Scores of 0 and below are never alike, however low the others are.
    assert not is_alike(np.array([1.0, 0.0, -0.5, -0.9]), 0, 2).any()
    assert not is_alike(np.ones(1), 0, 1).any()

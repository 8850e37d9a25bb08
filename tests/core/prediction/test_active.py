"""Active choice of items to label: coverage of uncertainty, without repeats."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.prediction.active import (
    choose_informative,
    class_probabilities,
    label_uncertainty,
    neighbor_similarity,
)


def covered(S: np.ndarray, open_: np.ndarray, rows: list[int]) -> float:
    return float(S[rows].max(axis=0) @ open_) if rows else 0.0


def test_label_uncertainty_of_ties_and_certain_labels() -> None:
    P = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.7, 0.1]])
    assert label_uncertainty(P).tolist() == pytest.approx([1.0, 0.0, 0.5])


def test_choose_informative_covers_nearly_the_optimum() -> None:
    rng = np.random.default_rng(0)
    S = np.maximum(rng.random((9, 9)) - 0.4, 0.0)
    S = np.maximum(S, S.T)
    np.fill_diagonal(S, 1.0)
    open_ = rng.random(9)
    allowed = np.ones(9, dtype=bool)
    allowed[4] = False
    is_known = np.array([2])
    chosen, gain = choose_informative(sp.csr_array(S), open_, is_known, allowed, 3)
    assert not {2, 4} & set(chosen.tolist())
    before = covered(S, open_, [2])
    for k in range(3):
        after = covered(S, open_, [2, *chosen[: k + 1]])
        assert gain[k] == pytest.approx(after - before)
        before = after
    free = [row for row in range(9) if row not in (2, 4)]
    best = max(covered(S, open_, [2, *subset]) for subset in combinations(free, 3))
    start = covered(S, open_, [2])
    assert before - start >= (1 - 1 / np.e) * (best - start)


def test_choose_informative_without_uncertainty() -> None:
    S = sp.csr_array(np.eye(4))
    nobody = np.empty(0, dtype=np.int64)
    assert len(choose_informative(S, np.zeros(4), nobody, np.ones(4, bool), 3)[0]) == 0
    assert len(choose_informative(S, np.ones(4), np.arange(4), np.ones(4, bool), 3)[0]) == 0


def test_neighbor_similarity_is_symmetric_with_unit_diagonal() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(30, 4))
    S = neighbor_similarity(Z, k=5)
    dense = S.toarray()
    assert np.array_equal(dense, dense.T)
    assert (np.diag(dense) == 1.0).all()
    assert ((dense > 0).sum(axis=1) >= 6).all()
    assert np.allclose(dense, neighbor_similarity(Z * rng.uniform(1, 9, (30, 1)), k=5).toarray())
    assert neighbor_similarity(np.ones((1, 2))).toarray().tolist() == [[1.0]]


def test_class_probabilities_of_unseen_classes_are_zero() -> None:
    Z = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    y = np.full(10, -1)
    y[[0, 5]] = [0, 2]
    P = class_probabilities(Z, y, 3)
    assert P.sum(axis=1) == pytest.approx(1.0)
    assert (P[:, 1] == 0.0).all()
    assert (P.argmax(axis=1) == np.repeat([0, 2], 5)).all()

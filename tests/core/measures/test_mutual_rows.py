"""Pairs of rows that are mutually most specific."""

import numpy as np
import scipy.sparse as sp

from hetviz.core.measures import mutual_rows as module
from hetviz.core.measures.mutual_rows import mutual_rows


def random_rows(n: int, seed: int) -> sp.csr_array:
    """Return rows of length 1 with at most 12 features, so that none is left out."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, 60))
    for row in X:
        row[rng.choice(60, 6, replace=False)] = rng.random(6) + 0.1
    return sp.csr_array(X / np.linalg.norm(X, axis=1, keepdims=True))


def test_mutual_rows_equal_those_of_full_product():
    X, Y = random_rows(80, 0), random_rows(50, 1)
    S = (X @ Y.T).toarray()
    means = [np.sort(S, axis=axis).take(range(-10, 0), axis).mean(axis) for axis in (1, 0)]
    score = 2 * S - means[0][:, None] - means[1]
    nearest = score.argmax(axis=1)
    rows = np.flatnonzero(score.argmax(axis=0)[nearest] == np.arange(80))
    i, j, cosines = mutual_rows(X, Y)
    assert i.tolist() == rows.tolist()
    assert j.tolist() == nearest[rows].tolist()
    np.testing.assert_allclose(cosines, S[rows, nearest[rows]], rtol=1e-6)


def test_rows_that_are_similar_to_many_need_higher_cosines():
    # The first row of Y is similar to all rows of X, and each has a row of its own.
    own = np.eye(12)
    X = sp.csr_array((0.8 * own + 0.6 / np.sqrt(12)) / 1.2)
    Y = sp.csr_array(np.vstack([np.ones((1, 12)) / np.sqrt(12), 0.55 * own + 0.01]))
    S = (X @ Y.T).toarray()
    assert (S.argmax(axis=1) == 0).all()
    i, j, _ = mutual_rows(X, Y)
    assert (j[j > 0] == i[j > 0] + 1).all()
    assert len(i) >= 11


def test_order_of_matrices_does_not_change_pairs():
    X, Y = random_rows(80, 0), random_rows(50, 1)
    i, j, cosines = mutual_rows(X, Y)
    back_j, back_i, back = mutual_rows(Y, X)
    order = np.argsort(back_i)
    assert (i.tolist(), j.tolist()) == (back_i[order].tolist(), back_j[order].tolist())
    np.testing.assert_allclose(cosines, back[order])


def test_candidates_are_of_the_largest_products():
    X, Y = random_rows(300, 2), random_rows(200, 3)
    S = (X @ Y.T).toarray()
    first = np.argsort(-S, axis=1)[:, :10]
    second = np.argsort(-S, axis=0)[:10].T
    pairs = {(i, j) for i, row in enumerate(first) for j in row if S[i, j] > 0}
    pairs |= {(i, j) for j, row in enumerate(second) for i in row if S[i, j] > 0}
    assert set(zip(*map(np.ndarray.tolist, module._candidates(X, Y)), strict=True)) == pairs


def test_heaviest_entries_are_kept(monkeypatch):
    X = random_rows(40, 4)
    X.data[:3] = X.data[0]
    monkeypatch.setattr(module, "N_HEAVIEST", 4)
    dense = np.sort(X.toarray())[:, -4:]
    np.testing.assert_array_equal(np.sort(module._heaviest(X, X).toarray())[:, -4:], dense)
    assert module._heaviest(X, X).nnz == 4 * 40


def test_first_of_equal_rows_is_paired():
    X = sp.csr_array(np.eye(3)[[0, 0, 1]])
    Y = sp.csr_array(np.eye(3)[[2, 1, 1, 0]])
    i, j, cosines = mutual_rows(X, Y)
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 3), (2, 1)]
    assert cosines.tolist() == [1.0, 1.0]


def test_empty_and_unlike_rows_have_no_pair():
    X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 0.0]]))
    Y = sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert all(len(part) == 0 for part in mutual_rows(X, Y))
    assert all(len(part) == 0 for part in mutual_rows(X[:0], Y))


def test_features_that_meet_too_many_rows_are_left_out_of_the_search(monkeypatch):
    # All rows have the last feature, and each has one that few others have.
    rows = np.hstack([0.8 * np.eye(20), np.full((20, 1), 0.6)])
    X = sp.csr_array(rows)
    assert len(module._candidates(module._heaviest(X, X), module._heaviest(X, X))[0]) > 20
    monkeypatch.setattr(module, "N_MET", 0)
    heavy = module._heaviest(X, X)
    i, j = module._candidates(heavy, heavy)
    assert i.tolist() == j.tolist() == list(range(20))
    # The cosines are still those of all features.
    np.testing.assert_allclose(mutual_rows(X, X)[2], 1.0)


def test_inputs_are_not_changed():
    X = sp.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    mutual_rows(X, X)
    assert X.indices.tolist() == [1, 0]

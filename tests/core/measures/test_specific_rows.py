"""Rows of another matrix that are most specific to each row."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.measures import specific_rows as module
from hetviz.core.measures.specific_rows import (
    N_NEAR,
    mutual_pairs,
    nearest_within,
    relative_similarity,
    specific_rows,
    without_dense,
)


def vectors(n: int, seed: int):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(n, 6)), rng.random((n, 9)) * (rng.random((n, 9)) < 0.4)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    return V.astype(np.float32), sp.csr_array(X.astype(np.float32))


@pytest.mark.parametrize(("n", "m"), [(40, 25), (7, 30), (30, 4)])
def test_pairs_are_those_of_the_full_matrix(monkeypatch, n, m):
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", 3 * m)
    first, second = vectors(n, 0), vectors(m, 1)
    S = (first[0] @ second[0].T + (first[1] @ second[1].T).toarray()) / 2
    near_row = np.sort(S, axis=1)[:, -N_NEAR:].mean(axis=1)
    near_column = np.sort(S, axis=0)[-N_NEAR:].mean(axis=0)
    order = np.argsort(-(2 * S - near_row[:, None] - near_column), axis=1)[:, :3]
    i, j, similarity = specific_rows(first, second, 3)
    np.testing.assert_array_equal(i, np.repeat(np.arange(n), 3))
    np.testing.assert_array_equal(j, order.ravel())
    np.testing.assert_allclose(similarity, S[i, j], atol=1e-6)


def test_a_row_similar_to_all_is_partner_of_none():
    V = np.eye(12, dtype=np.float32)
    hub = np.full((1, 12), 12**-0.5)
    other = np.vstack([hub, 0.28 * np.eye(12) + 0.0]).astype(np.float32)
    none_first, none_second = sp.csr_array((12, 1)), sp.csr_array((13, 1))
    i, j, _ = specific_rows((V, none_first), (other, none_second), 1)
    assert (other @ V.T).argmax(axis=0).tolist() == [0] * 12
    np.testing.assert_array_equal(j, i + 1)


def test_no_rows_have_no_partners():
    first, second = vectors(3, 0), vectors(0, 1)
    for ends in ((first, second), (second, first)):
        assert [len(part) for part in specific_rows(*ends, 3)] == [0, 0, 0]
    assert len(specific_rows(first, vectors(2, 2), 5)[0]) == 6


@pytest.mark.parametrize(("n", "m"), [(40, 40), (40, 10)])
def test_mutual_pairs_are_the_same_from_either_table(n, m):
    first, second = vectors(n, 3), vectors(m, 4)
    i, j, similarity = mutual_pairs(first, second, 3)
    back_j, back_i, back = mutual_pairs(second, first, 3)
    order = np.lexsort((back_j, back_i)), np.lexsort((j, i))
    np.testing.assert_array_equal(i[order[1]], back_i[order[0]])
    np.testing.assert_array_equal(j[order[1]], back_j[order[0]])
    np.testing.assert_allclose(similarity[order[1]], back[order[0]], atol=1e-6)
    # Rows of the smaller table have more partners, so that it does not limit those of the larger.
    assert np.bincount(i).max() <= 3
    assert 3 * n // m - 3 < np.bincount(j).max() <= 3 * n // m


def test_of_equally_specific_rows_the_first_count():
    V = np.ones((3, 2), dtype=np.float32) / np.sqrt(2)
    same = V, sp.csr_array((3, 1))
    assert specific_rows(same, same, 2)[1].tolist() == [0, 1] * 3


def unit(V):
    return (V / np.linalg.norm(V, axis=1, keepdims=True)).astype(np.float32)


def test_rows_of_the_other_table_are_compared_with_those_of_their_own():
    rng = np.random.default_rng(5)
    things, topics = rng.normal(size=(2, 300, 40)), rng.normal(size=(6, 40))
    of = topics[rng.integers(0, 6, 300)]
    empty = sp.csr_array((300, 2))

    def relative(A, B):
        return relative_similarity((unit(A), empty), (unit(B), empty))

    noise = 0.4 * rng.normal(size=(2, 300, 40))
    assert relative(things[0] + noise[0], things[0] + noise[1]) > 1.3
    # Other things of the same six topics are as similar as other rows of the own table.
    assert relative(of + things[0], of[::-1] + things[1]) == pytest.approx(1, abs=0.05)
    far = rng.normal(size=(2, 300, 40))
    far[0, :, :20], far[1, :, 20:] = 0, 0
    assert relative(*far) == pytest.approx(0, abs=0.05)
    same = unit(things[0] + noise[0])
    twice = np.vstack([same, same]), sp.csr_array((600, 2))
    once = relative_similarity((same, empty), (same[::-1], empty))
    assert relative_similarity(twice, (same, empty)) == pytest.approx(once)
    assert np.isnan(relative_similarity((same[:1], empty[:1]), (same, empty)))


def test_sparse_rows_are_compared_with_those_of_their_own_table():
    rng = np.random.default_rng(2)
    first, second = (sp.csr_array(unit(rng.random((40, 30)) ** 4)) for _ in "ab")
    tables = [without_dense(X) for X in (first, second)]
    once = relative_similarity(*tables)
    assert once == pytest.approx(relative_similarity(*tables[::-1]))
    S = (first @ first.T).toarray()
    np.fill_diagonal(S, 0)
    rows = np.array([3, 17])
    np.testing.assert_allclose(2 * nearest_within(tables[0], rows), S[rows].max(axis=1), atol=1e-6)
    # Equal rows and rows without a feature do not count.
    more = without_dense(sp.csr_array(sp.vstack([first, first, sp.csr_array((5, 30))])))
    assert relative_similarity(more, tables[1]) == pytest.approx(once)
    np.testing.assert_allclose(nearest_within(more, rows), nearest_within(tables[0], rows), 1e-5)

from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.ordinal.constant_shift import embed_by_constant_shift, order_levels
from hetviz.core.ordinal.partial_order import partial_order
from hetviz.errors import DataError


def consistent(n: int, m: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Z, C = rng.normal(size=(n, 3)), rng.integers(0, n, (m, 4))
    near, far = (((Z[C[:, a]] - Z[C[:, a + 1]]) ** 2).sum(axis=1) for a in (0, 2))
    C = np.where((near > far)[:, None], C[:, [2, 3, 0, 1]], C)
    return partial_order(C).pairs


@pytest.mark.parametrize("n", [3, 10, 50])
def test_distances_are_shifted_levels_with_margin_one(n: int) -> None:
    pairs = consistent(n, 20 * n)
    Delta, result = order_levels(n, pairs), embed_by_constant_shift(n, pairs)
    X = result.positions
    d = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(d[off], (Delta - 2 * result.shift)[off], atol=1e-9)
    i, j, k, q = pairs.T
    assert (d[k, q] - d[i, j]).min() >= 1 - 1e-9
    assert X.shape[1] <= n - 1
    assert result.levels == Delta.max()


def test_levels_are_longest_paths() -> None:
    Delta = order_levels(4, np.array([[0, 1, 0, 2], [0, 2, 0, 3], [0, 1, 0, 3], [2, 2, 1, 2]]))
    assert Delta[0].tolist() == [0, 1, 2, 3]
    assert Delta[2, 1] == Delta[1, 2] == 1
    assert Delta[1, 3] == 1


def test_no_comparisons_give_equal_distances() -> None:
    result = embed_by_constant_shift(4, np.zeros((0, 4), dtype=int))
    d = ((result.positions[:, None] - result.positions[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(d, 1 - np.eye(4), atol=1e-12)


def test_cycle_is_named() -> None:
    with pytest.raises(DataError, match="in a cycle") as caught:
        embed_by_constant_shift(4, np.array([[0, 1, 0, 2], [0, 2, 0, 3], [0, 3, 0, 1]]))
    for pair in ("(0, 1)", "(0, 2)", "(0, 3)"):
        assert pair in str(caught.value)

"""The smallest entries of long rows, in one pass."""

from __future__ import annotations

from hetviz._types import Array
from hetviz.core.compiled import compiled


@compiled
def smallest(D: Array, index: Array, value: Array) -> None:
    """Write the columns of the k smallest entries of each row of D, of equal ones the first.

    Parameters
    ----------
    D : ndarray of shape (m, n)
    index : ndarray of shape (m, k)
        Filled, in no order.
    value : ndarray of shape (k,)
        To work in.

    Notes
    -----
    A heap with the worst of those kept at its top: O(n + k log k log(n / k)) a row where entries
    come in no order, against the several passes of a partition.
    """
    m, n = D.shape
    k = value.size
    for i in range(m):
        kept = index[i]
        for j in range(n):
            d = D[i, j]
            if j < k:
                at = j
                while at > 0:
                    up = (at - 1) // 2
                    if value[up] > d:
                        break
                    value[at], kept[at] = value[up], kept[up]
                    at = up
                value[at], kept[at] = d, j
            elif d < value[0]:
                at = 0
                while 2 * at + 1 < k:
                    down = 2 * at + 1
                    if down + 1 < k and (
                        value[down + 1] > value[down]
                        or (value[down + 1] == value[down] and kept[down + 1] > kept[down])
                    ):
                        down += 1
                    if value[down] <= d:
                        break
                    value[at], kept[at] = value[down], kept[down]
                    at = down
                value[at], kept[at] = d, j

"""Smallest entries of long rows in one pass."""

from __future__ import annotations

from hetviz._types import Array
from hetviz.core.compiled import compiled


@compiled
def smallest(D: Array, index: Array, value: Array) -> None:
    """Write the columns of the k smallest entries of each row of D, the first of equal ones.

    A heap with the largest entry at its top: O(n + k log k log(n / k)) per row for entries in
    random order, against several passes of a partition.
    """
    m, n = D.shape
    k = value.size
    for i in range(m):
        columns = index[i]
        for j in range(n):
            d = D[i, j]
            if j < k:
                position = j
                while position > 0:
                    parent = (position - 1) // 2
                    if value[parent] > d:
                        break
                    value[position], columns[position] = value[parent], columns[parent]
                    position = parent
                value[position], columns[position] = d, j
            elif d < value[0]:
                position = 0
                while 2 * position + 1 < k:
                    child = 2 * position + 1
                    if child + 1 < k and (
                        value[child + 1] > value[child]
                        or (
                            value[child + 1] == value[child] and columns[child + 1] > columns[child]
                        )
                    ):
                        child += 1
                    if value[child] <= d:
                        break
                    value[position], columns[position] = value[child], columns[child]
                    position = child
                value[position], columns[position] = d, j

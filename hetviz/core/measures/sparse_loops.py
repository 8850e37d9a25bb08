"""Compiled loops over the entries of sparse rows."""

from __future__ import annotations

from hetviz._types import Array
from hetviz.core.compiled import compiled


@compiled
def largest_entries(indptr: Array, data: Array, kept: Array) -> None:
    """Fill kept (n, k) with the positions of the k largest entries of each row, filled with -1."""
    k = kept.shape[1]
    for i in range(len(kept)):
        for e in range(indptr[i], indptr[i + 1]):
            at = k
            while at > 0 and (kept[i, at - 1] < 0 or data[kept[i, at - 1]] < data[e]):
                at -= 1
            for c in range(k - 1, at, -1):
                kept[i, c] = kept[i, c - 1]
            if at < k:
                kept[i, at] = e


@compiled
def largest_products(
    x_indptr: Array,
    x_indices: Array,
    x_data: Array,
    y_indptr: Array,
    y_indices: Array,
    y_data: Array,
    products: Array,
    best_j: Array,
    row_values: Array,
    best_i: Array,
    column_values: Array,
) -> None:
    """Fill in the largest entries of each row and column of X @ Y.T, the largest first.

    `x_*`: CSR of X. `y_*`: CSC of Y, that is the rows of each feature. `products` (m,): zeros, and
    zeros again afterwards. `best_j`, `row_values` (n, k) and `best_i`, `column_values` (m, k): in
    and out, -1 and 0 where there are fewer. Of equal entries the first counts.
    """
    k = best_j.shape[1]
    touched = best_i[:, 0].copy()
    for i in range(len(best_j)):
        n_touched = 0
        for e in range(x_indptr[i], x_indptr[i + 1]):
            feature, weight = x_indices[e], x_data[e]
            for f in range(y_indptr[feature], y_indptr[feature + 1]):
                j = y_indices[f]
                if products[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                products[j] += weight * y_data[f]
        for t in range(n_touched):
            j = touched[t]
            value = products[j]
            products[j] = 0
            if value >= row_values[i, k - 1]:
                at = k
                while at > 0 and (
                    row_values[i, at - 1] < value
                    or (row_values[i, at - 1] == value and best_j[i, at - 1] > j)
                ):
                    at -= 1
                for c in range(k - 1, at, -1):
                    row_values[i, c], best_j[i, c] = row_values[i, c - 1], best_j[i, c - 1]
                if at < k:
                    row_values[i, at], best_j[i, at] = value, j
            if value > column_values[j, k - 1]:
                at = k
                while at > 0 and column_values[j, at - 1] < value:
                    at -= 1
                for c in range(k - 1, at, -1):
                    column_values[j, c], best_i[j, c] = column_values[j, c - 1], best_i[j, c - 1]
                column_values[j, at], best_i[j, at] = value, i


@compiled
def pair_products(
    i: Array, j: Array, x_indptr: Array, x_indices: Array, x_data: Array,
    y_indptr: Array, y_indices: Array, y_data: Array, products: Array,
) -> None:  # fmt: skip
    """Fill products (k,) with those of the rows i of X and j of Y, CSR of sorted indices."""
    for pair in range(len(products)):
        e, f = x_indptr[i[pair]], y_indptr[j[pair]]
        e_end, f_end = x_indptr[i[pair] + 1], y_indptr[j[pair] + 1]
        total = 0.0
        while e < e_end and f < f_end:
            if x_indices[e] == y_indices[f]:
                total += x_data[e] * y_data[f]
                e += 1
                f += 1
            elif x_indices[e] < y_indices[f]:
                e += 1
            else:
                f += 1
        products[pair] = total

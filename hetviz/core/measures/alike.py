"""Rows most alike to one row, from similarity scores, and their order on a map."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, Sparse

_DECIMALS = 12


def cosines_with(L: Sparse, row: int) -> Floats:
    """Return the cosine of one row of a sparse matrix with every row, 0 with empty rows."""
    lengths = np.sqrt(np.asarray(L.multiply(L).sum(axis=1)).ravel())
    products = (L @ sp.csr_array(L[[row]]).T).toarray().ravel()
    scale = lengths * lengths[row]
    cosines = np.divide(products, scale, out=np.zeros(len(scale)), where=scale > 0)
    return np.asarray(np.round(np.clip(cosines, -1.0, 1.0), _DECIMALS))


def most_alike_rows(scores: Floats, row: int, k: int) -> Ints:
    """Return the up to k other rows with the highest scores above 0, ties in the order of rows."""
    others = np.flatnonzero(scores > 0)
    others = others[others != row]
    return np.asarray(others[np.argsort(-scores[others], kind="stable")[:k]])


def is_alike(scores: Floats, row: int, n_near: int) -> Bools:
    """Return which rows are alike to a row: closer to its most alike rows than to a typical one.

    Returns (n,): Rows with a score at least midway between a typical and the `n_near`-th highest
        one, and above the typical one, or with the highest one if that is above 0. Typical is the
        median over the other rows, at least 0. False for the row itself.
    """
    others = np.delete(scores, row)
    if not len(others):
        return np.zeros(len(scores), dtype=bool)
    typical, highest = max(float(np.median(others)), 0.0), float(others.max())
    lowest_near = float(np.partition(others, -n_near)[-n_near])
    is_close = (scores > typical) & (scores >= (typical + lowest_near) / 2)
    alike = (scores > 0) & (is_close | (scores == highest))
    alike[row] = False
    return np.asarray(alike)


def count_closer(Y: Floats, row: int) -> Floats:
    """Return how many other rows of a map are closer to a row than each row."""
    squared = ((Y - Y[row]) ** 2).sum(axis=1)
    squared[row] = np.nan
    ordered = np.sort(squared[np.isfinite(squared)])
    closer = np.searchsorted(ordered, squared).astype(np.float64)
    return np.where(np.isfinite(squared), closer, np.nan)

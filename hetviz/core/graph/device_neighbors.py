"""Exact nearest-neighbour search in blocks on a graphics card."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetviz._types import Floats, Ints, Matrix, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.core.device import ComputeDevice, Tensor

BLOCK_ROWS, BLOCK_COLUMNS = 2_048, 16_384
"""Size of the blocks of distances."""
N_SPARE = 16
"""Extra candidates of the single precision search, compared again in double precision."""
_ENTRIES = 1 << 24
_MAX_DENSE_ENTRIES = 1e8
_SINGLE_SHARE = 0.8


def fits_in_memory(device: ComputeDevice, *matrices: Matrix) -> bool:
    """Return whether dense copies of some matrices fit on a device in both precisions."""
    if any(is_sparse(X) and float(X.shape[0]) * X.shape[1] > _MAX_DENSE_ENTRIES for X in matrices):
        return False
    entries = sum(float(X.shape[0]) * X.shape[1] for X in matrices)
    n = max(X.shape[0] for X in matrices)
    return bool(
        12.0 * entries + 24.0 * min(BLOCK_ROWS, n) * min(BLOCK_COLUMNS, n)
        <= device.available_memory()
    )


def nearest_rows_on(
    device: ComputeDevice,
    B: Matrix,
    k: int,
    A: Matrix | None = None,
    progress: Callable[[float], object] = lambda share: None,
) -> tuple[Ints, Floats]:
    """Find the k nearest rows of B for each row of A, or for each row of B except itself.

    Returns `index` (m, k): Nearest first; equally near rows in row order.

    |a|^2 + |b|^2 - 2 a.b in single precision is off by at most (d + 8) u (|a| + |b|)^2, with
    u = 2^-24. The k + 16 smallest of these are compared again in double precision, by squared
    differences. If the k-th of them, r^2, is closer than that bound (with |b| <= |a| + r, as
    longer rows are not nearer) to the (k + 16)-th in single precision, an excluded row might be
    nearer: such rows of A are compared with all of B in double precision. So the result equals
    that of double precision. Only among more than 17 rows at equal distance, within the last
    digits, the order depends on the library.

    O(m n d) time. On the device 12 n d bytes and blocks of bounded size. Without double precision
    on the device, the processor does the second comparison.
    """
    if not k:
        m = B.shape[0] if A is None else A.shape[0]
        return np.empty((m, 0), dtype=np.int64), np.empty((m, 0))
    right = as_dense(B)
    centre = right.mean(axis=0)
    # Centred and scaled against loss of precision by cancellation and overflow of squares.
    right = right - centre  # a copy that may be modified
    left = right if A is None else as_dense(A) - centre
    largest = max(float(np.abs(right).max(initial=0.0)), float(np.abs(left).max(initial=0.0)))
    unit = 2.0 ** np.ceil(np.log2(largest)) if largest > 0 else 1.0
    right /= unit
    if A is not None:
        left /= unit
    search = _BlockSearch(device, right, left, k, A is None)
    rows: Ints = np.arange(len(left))
    share_done = 0.0
    if device.keeps_single_precision():
        share_done = _SINGLE_SHARE
        rows = search.fill(rows, True, lambda share: progress(_SINGLE_SHARE * share))
    if len(rows):
        search.fill(rows, False, lambda share: progress(share_done + (1.0 - share_done) * share))
    progress(1.0)
    return search.index, search.squared * unit**2


class _BlockSearch:
    """Search for the nearest of `right` for each of `left`, rows of length about 1."""

    def __init__(
        self, device: ComputeDevice, right: Floats, left: Floats, k: int, exclude_itself: bool
    ) -> None:
        self._device = device
        # The device of the comparison in double precision.
        self._exact = device if device.has_double else ComputeDevice()
        self._B = self._exact.array(right, self._exact.double)
        self._right, self._left, self._k, self._exclude_itself = right, left, k, exclude_itself
        self.index = np.empty((len(left), k), dtype=np.int64)
        self.squared = np.empty((len(left), k))

    def fill(self, rows: Ints, single: bool, progress: Callable[[float], object]) -> Ints:
        """Search for some rows of `left`; return those whose result is uncertain."""
        device = self._device if single else self._exact
        real = device.single if single else device.double
        right, k = self._right, self._k
        B = device.array(right, real) if single else self._B
        size = device.array(np.einsum("ij,ij->i", right, right), real)
        per_length = (right.shape[1] + 8) * (2.0**-24 if single else 0.0)
        uncertain = []
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            A = self._left[block]
            places, cut = self._closest(device, real, A, B, size, block)
            if device is not self._exact:
                places = self._exact.array(device.host(places), self._exact.xp.int64)
            index, squared = self._compared(A, places)
            self.index[block], self.squared[block] = index[:, :k], squared[:, :k]
            longest = 2.0 * np.sqrt(np.einsum("ij,ij->i", A, A)) + np.sqrt(squared[:, k - 1])
            uncertain.append(block[cut <= squared[:, k - 1] + per_length * longest**2])
            progress((start + len(block)) / len(rows))
        return np.concatenate(uncertain)

    def _closest(
        self, device: ComputeDevice, real: object, A: Floats, B: Tensor, size: Tensor, block: Ints
    ) -> tuple[Tensor, Floats]:
        """Return the k + 16 nearest rows of B for each row of A, and their largest distance."""
        xp = device.xp
        n, m = len(B), len(A)
        n_candidates = min(self._k + N_SPARE, n - self._exclude_itself)
        a = device.array(A, real)
        lengths = device.array(np.einsum("ij,ij->i", A, A), real)[:, None]
        row = device.array(np.arange(m), xp.int64)
        nearest = candidates = None
        for start in range(0, n, BLOCK_COLUMNS):
            stop = min(start + BLOCK_COLUMNS, n)
            D = a @ B[start:stop].T
            D *= -2.0
            D += size[start:stop]
            D += lengths
            inside = (
                np.flatnonzero((start <= block) & (block < stop))
                if self._exclude_itself
                else block[:0]
            )
            if len(inside):
                itself = device.array(block[inside] - start, xp.int64)
                D[device.array(inside, xp.int64), itself] = xp.inf
            values, columns = device.smallest(D, min(n_candidates, stop - start))
            columns = columns + start
            if nearest is None:
                nearest, candidates = values, columns
                continue
            nearest, candidates = (
                xp.concat([nearest, values], 1),
                xp.concat([candidates, columns], 1),
            )
            nearest, smallest = device.smallest(nearest, min(n_candidates, nearest.shape[1]))
            candidates = candidates[row[:, None], smallest]
        if n_candidates == n - self._exclude_itself:
            return candidates, np.full(m, np.inf)
        return candidates, np.asarray(device.host(xp.amax(nearest, 1)), dtype=np.float64)

    def _compared(self, A: Floats, candidates: Tensor) -> tuple[Ints, Floats]:
        """Return candidates sorted by distance in double precision, then by row number."""
        exact, xp = self._exact, self._exact.xp
        step = max(1, _ENTRIES // (candidates.shape[1] * max(A.shape[1], 1)))
        index, squared = [], []
        for start in range(0, len(A), step):
            a = exact.array(A[start : start + step], exact.double)
            row = exact.array(np.arange(len(a)), xp.int64)[:, None]
            columns = candidates[start : start + step]
            columns = columns[row, xp.argsort(columns, axis=1, stable=True)]
            differences = self._B[columns] - a[:, None, :]
            distances = xp.sum(differences * differences, axis=2)
            order = xp.argsort(distances, axis=1, stable=True)
            index.append(exact.host(columns[row, order]))
            squared.append(exact.host(distances[row, order]))
        return np.concatenate(index), np.concatenate(squared)

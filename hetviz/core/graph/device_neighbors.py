"""The nearest rows of each row, exactly, by blocks on a graphics card."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetviz._types import Floats, Ints, Matrix, is_sparse
from hetviz.core.device import Device, Tensor
from hetviz.core.spectral.blocks import as_dense

ROWS, COLUMNS = 2_048, 16_384
"""Rows that are compared at a time, and with how many."""
SPARE = 16
"""So many more than are wanted are taken in single precision, and compared again in double."""
_ENTRIES = 1 << 24
_DENSE = 1e8
_SHARE = 0.8


def has_room(device: Device, *matrices: Matrix) -> bool:
    """Return whether the rows of some matrices can lie on a device, dense and in both precisions.

    Sparse ones of more than 100 million numbers, zeros counted, are too large for the host then.
    """
    if any(is_sparse(X) and float(X.shape[0]) * X.shape[1] > _DENSE for X in matrices):
        return False
    entries = sum(float(X.shape[0]) * X.shape[1] for X in matrices)
    n = max(X.shape[0] for X in matrices)
    return bool(12.0 * entries + 24.0 * min(ROWS, n) * min(COLUMNS, n) <= device.room())


def nearest_on(
    device: Device,
    B: Matrix,
    k: int,
    A: Matrix | None = None,
    progress: Callable[[float], object] = lambda share: None,
) -> tuple[Ints, Floats]:
    """Find the k nearest rows of B for each row of A, or for each of its own, itself left out.

    Parameters
    ----------
    device : Device
    B : ndarray or csr of shape (n, d)
    k : int
        At most n, or n - 1 without A.
    A : ndarray or csr of shape (m, d), optional
    progress : callable
        Gets the share done after each block.

    Returns
    -------
    index : ndarray of shape (m, k)
        Nearest first, and of equally near ones the first row first.
    squared : ndarray of shape (m, k)
        Squared distances, 0 or more.

    Notes
    -----
    |a|^2 + |b|^2 - 2 a.b in single precision is off by at most (d + 8) u (|a| + |b|)^2, with
    u = 2^-24. The k + 16 least of these are compared again in double precision, by the squares of
    differences. Where the k-th of them, r^2, is no further below the (k + 16)-th in single
    precision than that bound (with |b| <= |a| + r, as nothing longer is as near), a row that was
    not taken might be nearer: such rows of A are compared with all of B in double precision. So
    what is found is what double precision finds. Only of more than 17 rows that are equally far,
    within the last digits, it is up to the library which come first.

    O(m n d) time. On the device 12 n d bytes and blocks of bounded size. Where a device has no
    double precision, the processor compares again.
    """
    if not k:
        m = B.shape[0] if A is None else A.shape[0]
        return np.empty((m, 0), dtype=np.int64), np.empty((m, 0))
    right = as_dense(B)
    centre = right.mean(axis=0)
    # Smaller numbers, so that less is lost when lengths cancel; and none too large to be squared.
    right = right - centre  # a copy, which may be changed
    left = right if A is None else as_dense(A) - centre
    largest = max(float(np.abs(right).max(initial=0.0)), float(np.abs(left).max(initial=0.0)))
    unit = 2.0 ** np.ceil(np.log2(largest)) if largest > 0 else 1.0
    right /= unit
    if A is not None:
        left /= unit
    search = _Search(device, right, left, k, A is None)
    rows: Ints = np.arange(len(left))
    done = 0.0
    if device.multiplies_in_single():
        done = _SHARE
        rows = search.fill(rows, True, lambda share: progress(_SHARE * share))
    if len(rows):
        search.fill(rows, False, lambda share: progress(done + (1.0 - done) * share))
    progress(1.0)
    return search.index, search.squared * unit**2


class _Search:
    """What is known of the nearest of `right` to each of `left`, rows of length about 1."""

    def __init__(self, device: Device, right: Floats, left: Floats, k: int, own: bool) -> None:
        self._device = device
        # What compares in double precision.
        self._exact = device if device.has_double else Device()
        self._B = self._exact.array(right, self._exact.double)
        self._right, self._left, self._k, self._own = right, left, k, own
        self.index = np.empty((len(left), k), dtype=np.int64)
        self.squared = np.empty((len(left), k))

    def fill(self, rows: Ints, single: bool, progress: Callable[[float], object]) -> Ints:
        """Search for some rows of `left`; return those of which that leaves doubts."""
        device = self._device if single else self._exact
        real = device.single if single else device.double
        right, k = self._right, self._k
        B = device.array(right, real) if single else self._B
        size = device.array(np.einsum("ij,ij->i", right, right), real)
        per_length = (right.shape[1] + 8) * (2.0**-24 if single else 0.0)
        doubtful = []
        for start in range(0, len(rows), ROWS):
            mine = rows[start : start + ROWS]
            A = self._left[mine]
            places, cut = self._closest(device, real, A, B, size, mine)
            if device is not self._exact:
                places = self._exact.array(device.host(places), self._exact.xp.int64)
            index, squared = self._compared(A, places)
            self.index[mine], self.squared[mine] = index[:, :k], squared[:, :k]
            longest = 2.0 * np.sqrt(np.einsum("ij,ij->i", A, A)) + np.sqrt(squared[:, k - 1])
            doubtful.append(mine[cut <= squared[:, k - 1] + per_length * longest**2])
            progress((start + len(mine)) / len(rows))
        return np.concatenate(doubtful)

    def _closest(
        self, device: Device, real: object, A: Floats, B: Tensor, size: Tensor, mine: Ints
    ) -> tuple[Tensor, Floats]:
        """Return the k + 16 rows of B nearest to each of A, and the furthest of them squared."""
        xp = device.xp
        n, m = len(B), len(A)
        wanted = min(self._k + SPARE, n - self._own)
        a = device.array(A, real)
        own = device.array(np.einsum("ij,ij->i", A, A), real)[:, None]
        row = device.array(np.arange(m), xp.int64)
        near = places = None
        for start in range(0, n, COLUMNS):
            stop = min(start + COLUMNS, n)
            D = a @ B[start:stop].T
            D *= -2.0
            D += size[start:stop]
            D += own
            inside = np.flatnonzero((start <= mine) & (mine < stop)) if self._own else mine[:0]
            if len(inside):
                itself = device.array(mine[inside] - start, xp.int64)
                D[device.array(inside, xp.int64), itself] = xp.inf
            found, columns = device.smallest(D, min(wanted, stop - start))
            columns = columns + start
            if near is None:
                near, places = found, columns
                continue
            near, places = xp.concat([near, found], 1), xp.concat([places, columns], 1)
            near, kept = device.smallest(near, min(wanted, near.shape[1]))
            places = places[row[:, None], kept]
        if wanted == n - self._own:
            return places, np.full(m, np.inf)
        return places, np.asarray(device.host(xp.amax(near, 1)), dtype=np.float64)

    def _compared(self, A: Floats, places: Tensor) -> tuple[Ints, Floats]:
        """Return places by their distance in double precision, equal ones by their number."""
        exact, xp = self._exact, self._exact.xp
        step = max(1, _ENTRIES // (places.shape[1] * max(A.shape[1], 1)))
        index, squared = [], []
        for start in range(0, len(A), step):
            a = exact.array(A[start : start + step], exact.double)
            row = exact.array(np.arange(len(a)), xp.int64)[:, None]
            near = places[start : start + step]
            near = near[row, xp.argsort(near, axis=1, stable=True)]
            apart = self._B[near] - a[:, None, :]
            found = xp.sum(apart * apart, axis=2)
            order = xp.argsort(found, axis=1, stable=True)
            index.append(exact.host(near[row, order]))
            squared.append(exact.host(found[row, order]))
        return np.concatenate(index), np.concatenate(squared)

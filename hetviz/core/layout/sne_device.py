"""Stochastic neighbour embedding on a graphics card, by the formulas of the processor's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetviz._types import Array, Floats, Ints, Real, Sparse
from hetviz.core.device import Device, Tensor, current_device
from hetviz.core.layout.sne import NO_LOOSE, NO_PAIRS, Apart, Layout, Loose, WideLayout

_ENTRIES = 1 << 22
_UNEVEN = 2 / 3
_FINE = 40
_SPECTRA = 4


def layout_of(
    P: Sparse,
    Y: Floats,
    *,
    apart: Apart = NO_PAIRS,
    loose: Loose = NO_LOOSE,
    mass: Floats | None = None,
) -> Layout:
    """Return the layout that starts at Y (n, k), on the card that is asked for, if one is."""
    device = current_device()
    if device is not None:
        return DeviceLayout(device, P, Y, apart=apart, loose=loose, mass=mass)
    kind = Layout if Y.shape[1] <= 2 else WideLayout
    return kind(P, Y, apart=apart, loose=loose, mass=mass)


class DeviceLayout(Layout):
    """A layout on any number of axes, whose iterations are made on a device.

    Parameters
    ----------
    device : Device
    P : csr_array of shape (n, n)
    Y : ndarray of shape (n, k)
    apart, loose, exact, mass, double
        As `Layout`; on more than two axes forces are exact.

    Notes
    -----
    Schedule, forces, grid and their bounds are those of `Layout` and `WideLayout`, so that the
    gradient at a place differs by the last digits of single precision only. A layout of many steps
    makes another picture of these, of about the same divergence. No sum depends on which of a
    device's threads comes first: attraction is summed row by row, and masses are spread over the
    grid as whole multiples of 2^-40. The costs of `Layout`, and 12 bytes of the device for each
    entry of P, with padding at most half more.
    """

    def __init__(
        self,
        device: Device,
        P: Sparse,
        Y: Floats,
        *,
        apart: Apart = NO_PAIRS,
        loose: Loose = NO_LOOSE,
        exact: bool | None = None,
        mass: Floats | None = None,
        double: bool = False,
    ) -> None:
        n, k = Y.shape
        super().__init__(
            P,
            Y[:, :2],
            apart=apart,
            loose=loose,
            exact=True if k > 2 else exact,
            mass=mass,
            double=double,
            threads=1,
        )
        self.n_components = k
        self._device = device
        xp, real = device.xp, device.double if double else device.single
        self._precision = real
        plane = np.column_stack([Y, np.zeros(n)]) if k == 1 else Y
        self._Y = device.array(plane.T, real)
        self._weight = device.array(self._mass, real)
        self._near = _padded(device, self._graph[0], self._graph[1], self._graph[2], 0.0, real)
        self._paired = _padded(device, *_by_row(n, *self._pairs), len(self._force), xp.int64)
        axes = self._Y.shape[0]
        self._pull, self._push = 0.0 * self._Y, device.array(np.zeros((axes + 1, n)), real)
        self._velocity, self._gain = 0.0 * self._Y, 0.0 * self._Y + 1.0
        if self._grid is not None:
            self._grid = _DeviceGrid(device, self._mass)

    @property
    def positions(self) -> Floats:
        """The layout as it is, shape (n, k)."""
        Y = self._device.host(self._Y).T
        return np.ascontiguousarray(Y[:, : self.n_components], dtype=np.float64)

    def _extent(self) -> float:
        return float(np.ptp(self.positions, axis=0).max())

    def _iterate(self, steps: int, force: Array, rate: Array, longest: Real) -> None:
        pairs = self._pairs_with(force)
        for _ in range(steps):
            self._forces()
            self._part(*pairs)
            z = self._total()
            self._move(z, rate.tolist(), float(longest))
        self._z = float(z)

    def _move(self, z: Tensor, rate: list[float], longest: float) -> None:
        """Move by momentum and gains of each coordinate, then recentre, as `wide_step`."""
        xp = self._device.xp
        exaggeration, _, speed, momentum, _, shrink, least, grow = rate
        over_z = xp.asarray(1.0 / z, dtype=self._precision)
        gradient = exaggeration * self._pull - over_z * self._push[:-1]
        agree = xp.sign(self._velocity) * xp.sign(gradient) > 0
        self._gain = xp.where(agree, self._gain * shrink + least, self._gain + grow)
        velocity = momentum * self._velocity - speed * self._gain * gradient
        size = xp.sqrt(xp.sum(velocity * velocity, axis=0))
        self._velocity = velocity * (longest / xp.clip(size, longest, None))
        Y = self._Y + self._velocity
        mean = xp.sum(Y, axis=1, dtype=self._device.double) / self.n
        self._Y = Y - xp.asarray(mean, dtype=self._precision)[:, None]

    def _total(self) -> Tensor:
        """Return Z, in double precision where the device has it."""
        return self._device.xp.sum(self._push[-1], dtype=self._device.double)

    def _all_forces(self) -> tuple[Array, Array, float]:
        self._forces()
        self._part(*self._pairs_with(self._force))
        host = self._device.host
        return host(self._pull), host(self._push[:-1]), float(self._total())

    def _exact_z(self) -> float:
        self._repel(self._push)
        return float(self._total())

    def _cross_entropy(self) -> float:
        xp, wide = self._device.xp, self._device.double
        found = 0.0
        for rows, columns, p in self._near:
            away = self._away(rows, columns)
            d = xp.sum(away * away, axis=0)
            found = found + xp.sum(p * xp.log1p(d), dtype=wide)
        return float(found)

    def _away(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return y_i - y_j of rows (m,) and the columns (m, w) of each: shape (k, m, w)."""
        return self._Y[:, rows][:, :, None] - self._Y[:, columns]

    def _forces(self) -> None:
        xp = self._device.xp
        if self._exact:
            self._repel(self._push)
        else:
            self._grid(self._Y, self._weight, self._push)
        self._pull = xp.zeros_like(self._Y)
        for rows, columns, p in self._near:
            away = self._away(rows, columns)
            w = p / (1.0 + xp.sum(away * away, axis=0))
            # No two rows are the same, in no two blocks either.
            self._pull[:, rows] = xp.sum(w * away, axis=2)

    def _repel(self, push: Tensor) -> None:
        Y, mass, xp = self._Y, self._weight, self._device.xp
        step = max(1, _ENTRIES // self.n)
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            away = Y[:, rows][:, :, None] - Y[:, None, :]
            q = 1.0 / (1.0 + xp.sum(away * away, axis=0))
            w = mass * q
            push[-1, rows] = mass[rows] * (xp.sum(w, axis=1) - mass[rows])
            push[:-1, rows] = mass[rows] * xp.sum((w * q) * away, axis=2)

    def _pairs_with(self, force: Array) -> tuple[Tensor, ...]:
        """Return strength and reach of the pairs for `_part`; nothing where they are not parted."""
        if not len(force):
            return ()
        # The last is of what only fills up rows.
        both = np.append(force, 0.0), np.append(self._within, 0.0)
        return tuple(self._device.array(one, self._precision) for one in both)

    def _part(self, *pairs: Tensor) -> None:
        """Take off what pulls what pushes pairs apart, as `push_apart`."""
        if not pairs:
            return
        xp, (strength, reach) = self._device.xp, pairs
        for rows, columns, pair in self._paired:
            away = self._away(rows, columns)
            d = xp.sum(away * away, axis=0)
            w = xp.where(d < reach[pair], 0.5 * strength[pair] / (1.0 + d), 0.0)
            self._pull[:, rows] -= xp.sum(w * away, axis=2)


class _Block(NamedTuple):
    """Some rows of a sparse matrix that have about as many entries."""

    rows: Tensor  # (m,)
    columns: Tensor  # (m, w), the row itself where it has fewer
    values: Tensor  # (m, w)


def _padded(
    device: Device,
    indptr: Ints,
    columns: Array,
    values: Array,
    filler: float,
    dtype: object,
) -> list[_Block]:
    """Put a sparse matrix on a device, so that sums of rows are sums along an axis."""
    count = np.diff(indptr)
    order = np.argsort(-count, kind="stable")
    falling = -count[order]
    blocks, start = [], 0
    end = int(np.searchsorted(falling, 0))
    while start < end:
        width = -int(falling[start])
        fewest = max(1, int(np.ceil(_UNEVEN * width)))
        stop = min(
            int(np.searchsorted(falling, -fewest, side="right")),
            start + max(1, _ENTRIES // width),
        )
        rows = order[start:stop]
        there = np.arange(width) < count[rows][:, None]
        at = np.where(there, indptr[rows][:, None] + np.arange(width), 0)
        whole = device.xp.int64
        blocks.append(
            _Block(
                device.array(rows, whole),
                device.array(np.where(there, columns[at], rows[:, None]), whole),
                device.array(np.where(there, values[at], filler), dtype),
            )
        )
        start = stop
    return blocks


def _by_row(n: int, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    """Return pairs as rows: where each begins, its partners, and the numbers of the pairs."""
    ends, partners = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.argsort(ends, kind="stable")
    indptr = np.searchsorted(ends[order], np.arange(n + 1))
    return indptr, partners[order], order % max(len(left), 1)


class _DeviceGrid:
    """`hetviz.core.layout.sne_loops.GridRepulsion` on a device."""

    def __init__(self, device: Device, mass: Array) -> None:
        from hetviz.core.layout.sne_loops import GridPlan

        self._device = device
        self._plan = GridPlan()
        self._spectra: dict[tuple[float, int, int], Tensor] = {}
        # No node gets more than all masses, and that has to fit into 62 bits.
        self._scale = 2.0 ** min(_FINE, 61 - int(np.ceil(np.log2(float(mass.sum()) + 1.0))))

    def __call__(self, Y: Tensor, mass: Tensor, push: Tensor) -> None:
        """Write forces and sums of q of points Y (2, n) into `push` (3, n)."""
        device, xp = self._device, self._device.xp
        low = device.host(xp.amin(Y, 1)).astype(np.float64)
        size = device.host(xp.amax(Y, 1)).astype(np.float64) - low
        plan = self._plan.over(size)
        corner = self._plan.corner(low, size, plan).tolist()
        shape = plan[1:]
        across, places, weights = shape[1] // 2, [], []
        for axis in (0, 1):
            u = (Y[axis] - corner[axis]) * (1.0 / plan[0])
            cell = xp.floor(u)
            places.append(xp.asarray(cell, dtype=xp.int64))
            weights.append(_splines(u - cell))
        around = [(r, c, weights[0][r] * weights[1][c]) for r in range(4) for c in range(4)]
        total = device.array(np.zeros(shape[0] // 2 * across), xp.int64)
        first = places[0] * across + places[1]
        heavy = self._scale * mass
        for r, c, w in around:
            device.add_at(total, first + (r * across + c), xp.asarray(heavy * w, dtype=xp.int64))
        grid = xp.asarray(total, dtype=device.single) / self._scale
        spectrum = xp.fft.rfft2(grid.reshape(-1, across), shape)
        fields = xp.fft.irfft2(self._kernels(plan) * spectrum, shape).reshape(3, -1)
        first = places[0] * shape[1] + places[1]
        found: Tensor = 0.0
        for r, c, w in around:
            found = found + w * fields[:, first + (r * shape[1] + c)]
        push[:2] = mass * found[1:]
        push[2] = mass * (found[0] - mass)

    def _kernels(self, plan: tuple[float, int, int]) -> Tensor:
        """Return the spectra of the three kernels, the two odd ones imaginary."""
        from hetviz.core.layout.sne_loops import kernel_spectra

        if plan not in self._spectra:
            if len(self._spectra) >= _SPECTRA:
                self._spectra.pop(next(iter(self._spectra)))
            K = self._device.array(kernel_spectra(*plan), self._device.single)
            self._spectra[plan] = self._device.xp.stack([K[0] + 0.0j, 1.0j * K[1], 1.0j * K[2]])
        return self._spectra[plan]


def _splines(t: Tensor) -> list[Tensor]:
    """Return the values of the four cubic B-splines over a cell at t in [0, 1)."""
    u = 1.0 - t
    return [
        u**3 / 6.0,
        2.0 / 3.0 - t**2 + t**3 / 2.0,
        2.0 / 3.0 - u**2 + u**3 / 2.0,
        t**3 / 6.0,
    ]

"""Stochastic neighbour embedding on a graphics card, with the formulas of `sne`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetviz._types import AnyFloat, Array, Floats, Ints, Sparse
from hetviz.core.device import ComputeDevice, Tensor, current_device
from hetviz.core.layout.pins import Pins
from hetviz.core.layout.sne import (
    NO_APART_PAIRS,
    NO_CAPPED_PAIRS,
    ApartPairs,
    CappedPairs,
    SneLayout,
    WideSneLayout,
)

_BLOCK_ENTRIES = 1 << 22
_MIN_FILL_SHARE = 2 / 3
_MASS_BITS = 40
_MAX_SPECTRA = 4


def make_layout(
    P: Sparse,
    Y: Floats,
    *,
    apart: ApartPairs = NO_APART_PAIRS,
    capped: CappedPairs = NO_CAPPED_PAIRS,
    mass: Floats | None = None,
    pins: Pins | None = None,
) -> SneLayout:
    """Return a layout that starts at Y (n, k), on the current card if there is one."""
    if (device := current_device()) is not None:
        return DeviceSneLayout(device, P, Y, apart=apart, capped=capped, mass=mass, pins=pins)
    layout_class = SneLayout if Y.shape[1] <= 2 else WideSneLayout
    return layout_class(P, Y, apart=apart, capped=capped, mass=mass, pins=pins)


class DeviceSneLayout(SneLayout):
    """A layout on any number of axes whose iterations run on a device.

    Schedule, forces, grid and their bounds are those of `SneLayout` and `WideSneLayout`, so
    gradients differ only in the last digits of single precision. After many steps this gives a
    different map of about the same divergence. No sum depends on the order of threads: attraction
    is summed row by row, and masses are added to the grid as integer multiples of 2^-40. Costs are
    those of `SneLayout`, and 12 bytes on the device for each entry of P, with at most 50 % padding.
    """

    def __init__(
        self,
        device: ComputeDevice,
        P: Sparse,
        Y: Floats,
        *,
        apart: ApartPairs = NO_APART_PAIRS,
        capped: CappedPairs = NO_CAPPED_PAIRS,
        exact: bool | None = None,
        mass: Floats | None = None,
        pins: Pins | None = None,
        double: bool = False,
    ) -> None:
        n, k = Y.shape
        super().__init__(
            P,
            Y[:, :2],
            apart=apart,
            capped=capped,
            exact=True if k > 2 else exact,
            mass=mass,
            pins=pins,
            double=double,
            threads=1,
        )
        self.n_components = k
        self._device = device
        xp, real = device.xp, device.double if double else device.single
        self._precision = real
        in_two_axes = np.column_stack([Y, np.zeros(n)]) if k == 1 else Y
        self._Y = device.array(in_two_axes.T, real)
        self._weight = device.array(self._mass, real)
        self._neighbor_blocks = _padded_blocks(
            device, self._graph[0], self._graph[1], self._graph[2], 0.0, real
        )
        self._pair_blocks = _padded_blocks(
            device, *_pairs_by_row(n, *self._pairs), len(self._force), xp.int64
        )
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

    def _run_steps(self, steps: int, force: Array, rate: Array, longest: AnyFloat) -> None:
        pairs = self._pairs_with(force)
        for _ in range(steps):
            self._forces()
            self._subtract_pair_repulsion(*pairs)
            self._pull_to_pins()
            z = self._total()
            self._move(z, rate.tolist(), float(longest))
            self._limit_gains()
        self._z = float(z)

    def _move(self, z: Tensor, rate: list[float], longest: float) -> None:
        """Move by momentum and gains of each coordinate, then recentre, as `wide_step`."""
        xp = self._device.xp
        exaggeration, _, speed, momentum, _, shrink, min_gain, increase = rate
        over_z = xp.asarray(1.0 / z, dtype=self._precision)
        gradient = exaggeration * self._pull - over_z * self._push[:-1]
        agree = xp.sign(self._velocity) * xp.sign(gradient) > 0
        self._gain = xp.where(agree, self._gain * shrink + min_gain, self._gain + increase)
        velocity = momentum * self._velocity - speed * self._gain * gradient
        size = xp.sqrt(xp.sum(velocity * velocity, axis=0))
        self._velocity = velocity * (longest / xp.clip(size, longest, None))
        Y = self._Y + self._velocity
        mean = xp.sum(Y, axis=1, dtype=self._device.double) / self.n
        self._Y = Y - xp.asarray(mean, dtype=self._precision)[:, None]

    def _total(self) -> Tensor:
        """Return Z, in double precision if the device has it."""
        return self._device.xp.sum(self._push[-1], dtype=self._device.double)

    def _all_forces(self) -> tuple[Array, Array, float]:
        self._forces()
        self._subtract_pair_repulsion(*self._pairs_with(self._force))
        self._pull_to_pins()
        host = self._device.host
        return host(self._pull), host(self._push[:-1]), float(self._total())

    def _add_pull(self, force: Floats) -> None:
        in_all_axes = np.zeros((self._pull.shape[0], self.n))
        in_all_axes[: len(force)] = force
        self._pull = self._pull + self._device.array(in_all_axes, self._precision)

    def _limit_gains(self) -> None:
        if self._pins is not None:
            limit = np.full(self.n, np.inf)
            limit[self._pins.rows] = self._pins.max_gain
            self._gain = self._device.xp.minimum(
                self._gain, self._device.array(limit, self._precision)[None]
            )

    def _exact_z(self) -> float:
        self._repel(self._push)
        return float(self._total())

    def _cross_entropy(self) -> float:
        xp, double = self._device.xp, self._device.double
        total = 0.0
        for rows, columns, p in self._neighbor_blocks:
            difference = self._differences(rows, columns)
            d = xp.sum(difference * difference, axis=0)
            total = total + xp.sum(p * xp.log1p(d), dtype=double)
        return float(total)

    def _differences(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return y_i - y_j of rows (m,) and the columns (m, w) of each: shape (k, m, w)."""
        return self._Y[:, rows][:, :, None] - self._Y[:, columns]

    def _forces(self) -> None:
        xp = self._device.xp
        if self._exact:
            self._repel(self._push)
        else:
            self._grid(self._Y, self._weight, self._push)
        self._pull = xp.zeros_like(self._Y)
        for rows, columns, p in self._neighbor_blocks:
            difference = self._differences(rows, columns)
            w = p / (1.0 + xp.sum(difference * difference, axis=0))
            # Each row occurs once, in one block.
            self._pull[:, rows] = xp.sum(w * difference, axis=2)

    def _repel(self, push: Tensor) -> None:
        Y, mass, xp = self._Y, self._weight, self._device.xp
        step = max(1, _BLOCK_ENTRIES // self.n)
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            difference = Y[:, rows][:, :, None] - Y[:, None, :]
            q = 1.0 / (1.0 + xp.sum(difference * difference, axis=0))
            w = mass * q
            push[-1, rows] = mass[rows] * (xp.sum(w, axis=1) - mass[rows])
            push[:-1, rows] = mass[rows] * xp.sum((w * q) * difference, axis=2)

    def _pairs_with(self, force: Array) -> tuple[Tensor, ...]:
        """Return strength and reach of the pairs; empty if pair forces are off."""
        if not len(force):
            return ()
        # The last entry belongs to the padding.
        padded = np.append(force, 0.0), np.append(self._squared_reach, 0.0)
        return tuple(self._device.array(values, self._precision) for values in padded)

    def _subtract_pair_repulsion(self, *pairs: Tensor) -> None:
        """Subtract the repulsion of pairs from the attraction, as `push_apart`."""
        if not pairs:
            return
        xp, (strength, reach) = self._device.xp, pairs
        for rows, columns, pair in self._pair_blocks:
            difference = self._differences(rows, columns)
            d = xp.sum(difference * difference, axis=0)
            w = xp.where(d < reach[pair], 0.5 * strength[pair] / (1.0 + d), 0.0)
            self._pull[:, rows] -= xp.sum(w * difference, axis=2)


class _PaddedBlock(NamedTuple):
    """Rows of a sparse matrix with about equal numbers of entries."""

    rows: Tensor  # (m,)
    columns: Tensor  # (m, w), padded with the row itself
    values: Tensor  # (m, w)


def _padded_blocks(
    device: ComputeDevice, indptr: Ints, columns: Array, values: Array, filler: float, dtype: object
) -> list[_PaddedBlock]:
    """Copy a sparse matrix to a device in padded blocks, so that row sums are sums of an axis."""
    count = np.diff(indptr)
    order = np.argsort(-count, kind="stable")
    negative_count = -count[order]
    blocks, start = [], 0
    end = int(np.searchsorted(negative_count, 0))
    while start < end:
        width = -int(negative_count[start])
        min_width = max(1, int(np.ceil(_MIN_FILL_SHARE * width)))
        stop = min(
            int(np.searchsorted(negative_count, -min_width, side="right")),
            start + max(1, _BLOCK_ENTRIES // width),
        )
        rows = order[start:stop]
        present = np.arange(width) < count[rows][:, None]
        at = np.where(present, indptr[rows][:, None] + np.arange(width), 0)
        int64 = device.xp.int64
        blocks.append(
            _PaddedBlock(
                device.array(rows, int64),
                device.array(np.where(present, columns[at], rows[:, None]), int64),
                device.array(np.where(present, values[at], filler), dtype),
            )
        )
        start = stop
    return blocks


def _pairs_by_row(n: int, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    """Return pairs as a CSR structure: row starts, partners, and the numbers of the pairs."""
    ends, partners = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.argsort(ends, kind="stable")
    indptr = np.searchsorted(ends[order], np.arange(n + 1))
    return indptr, partners[order], order % max(len(left), 1)


class _DeviceGrid:
    """`hetviz.core.layout.sne_loops.GridRepulsion` on a device."""

    def __init__(self, device: ComputeDevice, mass: Array) -> None:
        from hetviz.core.layout.sne_loops import GridPlan

        self._device = device
        self._plan = GridPlan()
        self._spectra: dict[tuple[float, int, int], Tensor] = {}
        # A node gets at most the sum of all masses, which has to fit into 62 bits.
        self._scale = 2.0 ** min(_MASS_BITS, 61 - int(np.ceil(np.log2(float(mass.sum()) + 1.0))))

    def __call__(self, Y: Tensor, mass: Tensor, push: Tensor) -> None:
        """Write forces and sums of q of points Y (2, n) into `push` (3, n)."""
        device, xp = self._device, self._device.xp
        low = device.host(xp.amin(Y, 1)).astype(np.float64)
        size = device.host(xp.amax(Y, 1)).astype(np.float64) - low
        plan = self._plan.plan_for(size)
        corner = self._plan.corner(low, size, plan).tolist()
        shape = plan[1:]
        across, places, weights = shape[1] // 2, [], []
        for axis in (0, 1):
            u = (Y[axis] - corner[axis]) * (1.0 / plan[0])
            cell = xp.floor(u)
            places.append(xp.asarray(cell, dtype=xp.int64))
            weights.append(_splines(u - cell))
        nodes = [(r, c, weights[0][r] * weights[1][c]) for r in range(4) for c in range(4)]
        total = device.array(np.zeros(shape[0] // 2 * across), xp.int64)
        first = places[0] * across + places[1]
        scaled_mass = self._scale * mass
        for r, c, w in nodes:
            device.add_at(
                total, first + (r * across + c), xp.asarray(scaled_mass * w, dtype=xp.int64)
            )
        grid = xp.asarray(total, dtype=device.single) / self._scale
        spectrum = xp.fft.rfft2(grid.reshape(-1, across), shape)
        fields = xp.fft.irfft2(self._kernels(plan) * spectrum, shape).reshape(3, -1)
        first = places[0] * shape[1] + places[1]
        values: Tensor = 0.0
        for r, c, w in nodes:
            values = values + w * fields[:, first + (r * shape[1] + c)]
        push[:2] = mass * values[1:]
        push[2] = mass * (values[0] - mass)

    def _kernels(self, plan: tuple[float, int, int]) -> Tensor:
        """Return the spectra of the three kernels, the two odd ones imaginary."""
        from hetviz.core.layout.sne_loops import kernel_spectra

        if plan not in self._spectra:
            if len(self._spectra) >= _MAX_SPECTRA:
                self._spectra.pop(next(iter(self._spectra)))
            K = self._device.array(kernel_spectra(*plan), self._device.single)
            self._spectra[plan] = self._device.xp.stack([K[0] + 0.0j, 1.0j * K[1], 1.0j * K[2]])
        return self._spectra[plan]


def _splines(t: Tensor) -> list[Tensor]:
    """Return the values of the four cubic B-splines over a cell at t in [0, 1)."""
    u = 1.0 - t
    return [u**3 / 6.0, 2.0 / 3.0 - t**2 + t**3 / 2.0, 2.0 / 3.0 - u**2 + u**3 / 2.0, t**3 / 6.0]

"""UMAP: fuzzy neighbourhood graphs and their layout, with pairs that repel each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.optimize import curve_fit

from hetviz._types import Floats, Ints, Rng, Sparse
from hetviz.core.graph.neighbors import Neighbors
from hetviz.core.layout.pins import Pins
from hetviz.progress import Progress, ignore_progress

START_EXTENT = 10.0
"""Size of the layout at the start."""
NEGATIVES = 5.0
_EDGES_PER_REPORT = 1_000_000
_EPOCHS_PER_REPORT = 20


def fuzzy_graph(neighbors: Neighbors) -> Sparse:
    """Return the union of the fuzzy neighbourhoods of all items.

    McInnes, Healy and Melville (2018), with local connectivity 1. O(n k).
    """
    from hetviz.core.layout.umap_loops import write_memberships

    n, k = neighbors.index.shape
    out = np.empty((n, k))
    write_memberships(np.sqrt(neighbors.squared), float(np.log2(k + 1)), out)
    A = sp.csr_array(
        (out.ravel(), neighbors.index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )
    return fuzzy_union(A, A.T.tocsr())


def fuzzy_union(A: Sparse, B: Sparse) -> Sparse:
    """Return a + b - ab of two graphs of memberships."""
    return sp.csr_array(A + B - A.multiply(B))


def fit_curve(min_dist: float) -> tuple[float, float]:
    """Return (a, b) for which 1 / (1 + a d^2b) fits 1 up to min_dist and a decay beyond it."""
    d = np.linspace(0.0, 3.0, 300)
    target = np.where(d < min_dist, 1.0, np.exp(-(d - min_dist)))
    (a, b), _ = curve_fit(lambda d, a, b: 1.0 / (1.0 + a * d ** (2.0 * b)), d, target)
    return float(a), float(b)


class UmapLayout:
    """Optimisation of a UMAP layout.

    `apart` (tuple of (left, right, weight)): Pairs to keep at least half a root mean square radius
        apart: each epoch moves them by this share, 0 to 1, of the missing distance.
    `pins`: Their strength, 0 to 1, is the share of the missing distance by which each epoch moves
        pinned points.

    An epoch costs O(sampled edges x (1 + negatives)). It runs on one thread, so the same seed
    gives the same layout.
    """

    def __init__(
        self,
        graph: Sparse,
        Y: Floats,
        *,
        n_epochs: int,
        min_dist: float = 0.1,
        speed: float = 1.0,
        apart: tuple[Ints, Ints, Floats] | None = None,
        pins: Pins | None = None,
        random_state: int = 0,
    ) -> None:
        edges = sp.coo_array(graph)
        is_sampled = edges.data >= edges.data.max() / n_epochs
        self._head, self._tail = (end[is_sampled].astype(np.int64) for end in edges.coords)
        self._every = edges.data.max() / edges.data[is_sampled]
        self._due = self._every.copy()
        self._due_negative = self._every / NEGATIVES
        self._ab = fit_curve(min_dist)
        self._speed, self._n_epochs = speed, n_epochs
        empty = np.zeros(0, np.int64)
        self._apart, self._pins = apart or (empty, empty, np.zeros(0)), pins
        seed = np.random.default_rng(random_state).integers(1, 2**63, dtype=np.uint64)
        self._state = np.array([seed], dtype=np.uint64)
        self.positions = np.ascontiguousarray(Y, dtype=np.float64).copy()
        self.n_iter = 0

    def run(
        self, progress: Progress = ignore_progress, layout: Callable[[Floats], object] | None = None
    ) -> None:
        """Run all epochs, with reports as in `hetviz.core.layout.sne.SneLayout.run`."""
        from hetviz.core.layout.umap_loops import push_pairs_apart, run_epochs

        left, right, weight = self._apart
        each_epoch = weight.size > 0 or self._pins is not None
        block = min(_EPOCHS_PER_REPORT, 1 + _EDGES_PER_REPORT // max(self._head.size, 1))
        while self.n_iter < self._n_epochs:
            last = min(self.n_iter + (1 if each_epoch else block), self._n_epochs)
            run_epochs(
                self.n_iter,
                last,
                self._n_epochs,
                self.positions,
                self._head,
                self._tail,
                self._every,
                self._due,
                self._due_negative,
                NEGATIVES,
                *self._ab,
                self._speed,
                self._state,
            )
            push_pairs_apart(self.positions, left, right, weight, self.reach())
            self._move_to_pins()
            self.n_iter = last
            if last % block == 0 or last == self._n_epochs:
                progress(
                    last / self._n_epochs,
                    f"Epoch {last:,} of {self._n_epochs:,}",
                    layout=lambda: self._copy() if layout is None else layout(self._copy()),
                )

    def _move_to_pins(self) -> None:
        if self._pins is not None:
            box = self._pins.box(self.positions)
            self.positions -= self._pins.strength * self._pins.offsets(self.positions, box)

    def reach(self) -> float:
        """Return half the root mean square distance from the centre."""
        Y = self.positions
        return float(np.sqrt(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean()) / 2.0)

    def share_far_enough(self) -> float:
        """Return the share of apart pairs that are far enough apart; 1 without pairs."""
        left, right, _ = self._apart
        if not left.size:
            return 1.0
        d = np.linalg.norm(self.positions[left] - self.positions[right], axis=1)
        return float((d >= 0.95 * self.reach()).mean())

    def _copy(self) -> Floats:
        return self.positions.copy()


def spread_out(Y: Floats, rng: Rng) -> Floats:
    """Scale start positions to an extent of 10 on each axis, with a little noise: shape (n, k)."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    return np.asarray(START_EXTENT * (Y - low) / size + 1e-4 * rng.standard_normal(Y.shape))

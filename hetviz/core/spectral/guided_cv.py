"""Cross-validated choice of the ridge and the number of axes of a guided projection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, Matrix, Sparse
from hetviz.core.arrays import slices
from hetviz.core.graph.laplacian import SignedGraph, dataset_components
from hetviz.core.grid_search import Point, Span, search_grid
from hetviz.core.measures.satisfaction import distance_percentiles, satisfaction_area
from hetviz.core.spectral.blocks import ProjectionBlock
from hetviz.core.spectral.eigen import SpectralSolution, solve
from hetviz.core.spectral.guided import NU, axis_scale, constant_solutions, signed_form
from hetviz.core.spectral.prepare import make_block
from hetviz.errors import NotApplicableError

GAMMAS = (0.01, 0.1, 1.0, 10.0)
AXES = (1, 2, 3, 5, 8, 12, 20)
"""Start of the search, which extends the grid while the best value is at one of its ends."""
MIN_GAMMA, MAX_GAMMA, MAX_AXES = 1e-6, 1e6, 500
MAX_TRIED = 200
FOLDS = 5
_MAX_PAIRS = 50_000


@dataclass(frozen=True, eq=False)
class ProjectionChoice:
    """The chosen ridge and number of axes, and the scores of all that were tried."""

    gamma: float
    n_components: int
    gammas: tuple[float, ...]
    axes: tuple[int, ...]
    areas: Floats
    cut_off: tuple[str, ...] = ()
    at_limit: tuple[str, ...] = ()


def choose_projection(
    features: Sequence[Matrix | int],
    W: Sparse,
    *,
    gammas: Sequence[float] = GAMMAS,
    axes: Sequence[int] = AXES,
    signed: str = "ratio",
    nu: float | None = None,
    exponent: Callable[[int], float] = lambda k: 0.0 if k <= 3 else 1.0,
    nominal: Sequence[int | None] | None = None,
    title: str = "Guided projection",
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> ProjectionChoice:
    """Choose ridge and number of axes by held-out links, extending the grid where it pays.

    Returns: With the best mean area; of equal ones the larger ridge and the fewer axes.

    The search is `hetviz.core.grid_search.search_grid` over all combinations. Each time the grid
    grows, the features of each fold are prepared once and solved once per ridge, for all numbers
    of axes.
    """
    sizes = [X if isinstance(X, int) else X.shape[0] for X in features]
    upper = sp.triu(sp.csr_array(W), 1).tocoo()
    p, q = (np.asarray(end, dtype=np.int64) for end in upper.coords)
    if int((upper.data > 0).sum()) < 2 * FOLDS:
        raise NotApplicableError(
            title,
            [
                f"The choice by held-out links needs at least {2 * FOLDS} links that pull "
                f"together. There are {int((upper.data > 0).sum())}.",
                "Set the smoothing and the number of axes to numbers.",
            ],
        )
    owner = np.repeat(np.arange(len(sizes)), sizes)
    fold = _assign_folds(owner[p] * len(sizes) + owner[q], upper.data > 0, random_state)
    share_done = 0.0

    def score(points: Sequence[Point]) -> list[float]:
        # The number of extensions is unknown, so each one reports half of the remaining progress.
        nonlocal share_done
        before, share_done = (
            share_done,
            share_done + (1.0 - share_done) * (0.7 if not share_done else 0.5),
        )
        ridges: dict[float, list[int]] = {}
        for point in points:
            ridges.setdefault(point["gamma"], []).append(point["axes"])
        total = {(gamma, k): 0.0 for gamma, counts in ridges.items() for k in counts}
        for number in range(FOLDS):
            in_training = fold != number
            entries = (upper.data[in_training], (p[in_training], q[in_training]))
            half = sp.csr_array(entries, shape=upper.shape)
            graph = SignedGraph.split(half + half.T, symmetric=True)
            train = _Fold(features, sizes, graph, signed, nu, nominal)
            held_out = ~in_training & (upper.data > 0)
            for row, (gamma, counts) in enumerate(ridges.items()):
                mu, Y = train.embed(gamma, max(counts), random_state)
                for k in counts:
                    scaled = Y[:, :k] * axis_scale(mu[:, :k], exponent(k))[owner]
                    area = _area(scaled, p[held_out], q[held_out], owner, sizes, random_state)
                    total[gamma, k] += area
                share = (number + (row + 1) / len(ridges)) / FOLDS
                progress(before + (share_done - before) * share)
        return [total[point["gamma"], point["axes"]] / FOLDS for point in points]

    spans = {
        "gamma": Span(tuple(gammas), low=MIN_GAMMA, high=MAX_GAMMA),
        "axes": Span(tuple(axes), low=1, high=MAX_AXES, whole=True),
    }
    search = search_grid(score, spans, whole_grid=True, max_points=MAX_TRIED)
    progress(1.0)
    gammas, axes = (search.spans[name].values for name in ("gamma", "axes"))
    areas = np.full((len(gammas), len(axes)), np.nan)
    for point, area in search.tried:
        areas[gammas.index(point["gamma"]), axes.index(point["axes"])] = area
    best = float(np.nanmax(areas))
    row = int(np.flatnonzero((areas >= best - 1e-12).any(axis=1))[-1])
    column = int(np.flatnonzero(areas[row] >= best - 1e-12)[0])
    return ProjectionChoice(
        gammas[row], axes[column], gammas, axes, areas, search.cut_off, search.at_limit
    )


class _Fold:
    """The projection problem without the links of one fold, prepared for any ridge."""

    def __init__(
        self,
        features: Sequence[Matrix | int],
        sizes: Sequence[int],
        graph: SignedGraph,
        signed: str,
        nu: float | None,
        nominal: Sequence[int | None] | None,
    ) -> None:
        self.graph, self.signed = graph, signed
        self.nu = NU[signed] if nu is None else nu
        self.rows = slices(sizes)
        degrees = graph.absolute_degrees
        self.blocks: list[ProjectionBlock] = [
            make_block(
                None if isinstance(X, int) else X,
                degrees[rows],
                1.0,
                nominal=None if nominal is None else nominal[v],
            )
            for v, (X, rows) in enumerate(zip(features, self.rows, strict=True))
        ]
        self.ridges = [block.ridge for block in self.blocks]
        self.component = dataset_components(graph.absolute, sizes)

    def embed(self, gamma: float, k: int, random_state: int) -> tuple[Floats, Floats]:
        """Return mu (m, k) and coordinates (n, k) for one ridge; 0 on axes that do not exist."""
        for block, ridge in zip(self.blocks, self.ridges, strict=True):
            block.ridge = gamma * ridge
        mu = np.zeros((len(self.blocks), k))
        Y = np.zeros((self.rows[-1].stop, k))
        for number in range(int(self.component.max()) + 1):
            members = [int(v) for v in np.flatnonzero(self.component == number)]
            solution = self._solve(members, k, random_state)
            if solution is None:
                continue
            n_axes = len(solution.mu)
            mu[members, :n_axes] = solution.mu
            for v, part in zip(members, solution.embeddings, strict=True):
                Y[self.rows[v], :n_axes] = part
        return mu, Y

    def _solve(self, members: list[int], k: int, random_state: int) -> SpectralSolution | None:
        inside = self.graph.restrict(np.concatenate([np.r_[self.rows[v]] for v in members]))
        if not inside.positive.nnz:
            return None
        blocks = [self.blocks[v] for v in members]
        S, mass, coupling = signed_form(blocks, inside, self.signed, self.nu)
        return solve(
            blocks,
            S,
            mass,
            k,
            coupling=coupling,
            deflate=constant_solutions(blocks, inside),
            random_state=random_state,
        )


def _assign_folds(block: Ints, positive: Bools, random_state: int) -> Ints:
    rng = np.random.default_rng(random_state)
    fold = np.empty(len(block), dtype=np.int64)
    stratum = 2 * block + positive
    start = 0
    for value in np.unique(stratum):
        rows = rng.permutation(np.flatnonzero(stratum == value))
        # Each stratum continues where the last one stopped, so that small strata fill all folds.
        fold[rows] = (start + np.arange(len(rows))) % FOLDS
        start += len(rows)
    return fold


def _area(Y: Floats, p: Ints, q: Ints, owner: Ints, sizes: Sequence[int], seed: int) -> float:
    """Return the area under the held-out curve, with blocks weighted by their links."""
    rows = slices(sizes)
    areas, weights = [], []
    block = owner[p] * len(sizes) + owner[q]
    for value in np.unique(block):
        u, v = divmod(int(value), len(sizes))
        chosen = block == value
        ranked = distance_percentiles(
            Y[rows[u]],
            p[chosen] - rows[u].start,
            q[chosen] - rows[v].start,
            None if u == v else Y[rows[v]],
            max_pairs=_MAX_PAIRS,
            n_samples=_MAX_PAIRS,
            random_state=seed,
        )
        area = satisfaction_area(ranked.values)
        if np.isfinite(area):
            areas.append(area)
            weights.append(int(np.isfinite(ranked.values).sum()))
    return float(np.average(areas, weights=weights)) if areas else float("nan")

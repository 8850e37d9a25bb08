"""Nearest-neighbour search, exact and approximate, and neighbour graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from hetviz._types import Floats, Ints, Matrix, Reals, Sparse, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.core.device import ComputeDevice, current_device
from hetviz.core.graph.device_neighbors import fits_in_memory, nearest_rows_on
from hetviz.core.graph.distances import FeatureSpace, Space, cross_squared_distances
from hetviz.errors import DataWarning

EXACT_ROWS = 30_000
"""Up to this many rows the search compares all pairs; above, it is approximate."""
RECALL = 0.97
"""Share of the nearest rows that a search by cells must find, measured on a sample of rows."""
DESCENT_ROWS = 150_000
"""Above this many rows nearest-neighbour descent, whose start is slow, beats comparing all pairs
where cells do not separate the rows."""
MAX_TREE_AXES = 4
"""Up to this many axes a k-d tree finds the nearest rows."""
_FAR = 1_000.0
_N_SAMPLED = 240
_BLOCK_ENTRIES = 4_000_000
_LONG_ROW_ENTRIES, _MAX_HEAP_SHARE = 4_096, 0.1
_N_PROBES, _CELLS_PER_ROOT = 12, 3
_MAX_PROBES, _MANY_ROWS = 24, 100_000


def nearest_columns(D: Reals, k: int) -> Ints:
    """Return the columns of the k smallest entries of each row, nearest first."""
    if D.shape[1] < _LONG_ROW_ENTRIES or k > _MAX_HEAP_SHARE * D.shape[1]:
        part = np.argpartition(D, k - 1, axis=1)[:, :k]
    else:
        # Loading the compiler takes longer than sorting many short rows.
        from hetviz.core.graph.selection import smallest

        part = np.empty((len(D), k), dtype=np.int64)
        smallest(D, part, np.empty(k, dtype=D.dtype))
        part.sort(axis=1)
    order = np.argsort(np.take_along_axis(D, part, axis=1), axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest rows of each row, except itself.

    `recall`: Share of the true nearest rows that were found, on a sample; 1 if all pairs were
        compared.
    """

    index: Ints
    squared: Floats
    recall: float = 1.0


_recalls: ContextVar[dict[str, float] | None] = ContextVar("recalls", default=None)


@contextmanager
def collect_recalls() -> Iterator[dict[str, float]]:
    """Collect the recall of approximate searches in this context, by the searched dataset."""
    by_name: dict[str, float] = {}
    token = _recalls.set(by_name)
    try:
        yield by_name
    finally:
        _recalls.reset(token)


def report_recall(name: str, recall: float, n: int) -> None:
    """Report the recall of a search among more than 30,000 rows to `collect_recalls`."""
    by_name = _recalls.get()
    if by_name is not None and n > EXACT_ROWS:
        by_name[name] = min(recall, by_name.get(name, 1.0))


def nearest_neighbors(
    space: Space, k: int, progress: Callable[[float], object] = lambda share: None
) -> Neighbors:
    """Find the k nearest rows of each row, exactly."""
    n = space.n
    index = np.empty((n, k), dtype=np.int64)
    squared = np.empty((n, k))
    step = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n, step):
        queries = np.arange(start, min(start + step, n))
        D = space.between(queries)
        D[np.arange(len(queries)), queries] = np.inf
        index[queries] = nearest_columns(D, k)
        squared[queries] = np.take_along_axis(D, index[queries], axis=1)
        progress(float(queries[-1] + 1) / n)
    return Neighbors(index, squared)


def cross_neighbors(
    A: Floats, B: Floats, k: int, progress: Callable[[float], object] = lambda share: None
) -> Neighbors:
    """Find the k nearest rows of B for each row of A: shapes (m, k).

    Exactly if A or B has at most 30,000 rows; otherwise in as many cells of B as contain 97 % of
    the nearest rows of a sample, or in all rows if these are more than half of the cells.
    """
    if (device := _card_with_memory_for(A, B)) is not None:
        return Neighbors(*nearest_rows_on(device, B, k, A, progress))
    if min(len(A), len(B)) > EXACT_ROWS:
        cells = _make_cells(B, 0)
        probes = _cross_probes_needed(A, B, k, cells)
        if probes <= len(cells) // 2:
            neighbors = cross_neighbors_by_cells(A, B, k, cells, probes, progress)
            return replace(neighbors, recall=_cross_recall(A, B, neighbors))
        return _cross_neighbors_in_single_precision(A, B, k, progress)
    return _cross_neighbors_of_all(A, B, k, progress)


def _cross_neighbors_of_all(
    A: Floats, B: Floats, k: int, progress: Callable[[float], object] = lambda share: None
) -> Neighbors:
    """Find the k nearest rows of B for each row of A, exactly. O(m n d) in blocks."""
    index = np.empty((len(A), k), dtype=np.int64)
    squared = np.empty((len(A), k))
    step = max(1, _BLOCK_ENTRIES // max(len(B), 1))
    for start in range(0, len(A), step):
        part = slice(start, start + step)
        D = cross_squared_distances(A[part], B)
        index[part] = nearest_columns(D, k) if k < len(B) else np.argsort(D, axis=1, kind="stable")
        squared[part] = np.take_along_axis(D, index[part], axis=1)
        progress(min(1.0, (start + step) / len(A)))
    return Neighbors(index, squared)


def _cross_neighbors_in_single_precision(
    A: Floats, B: Floats, k: int, progress: Callable[[float], object]
) -> Neighbors:
    """Find the k nearest rows of B in single precision, with their distances in double.

    Two to three times faster than in double precision; rows may be missed that are farther than
    the k-th nearest by less than the rounding error. O(m n d) in blocks.
    """
    centre = B.mean(axis=0)
    left, right = (A - centre).astype(np.float32), (B - centre).astype(np.float32)
    half = (right * right).sum(axis=1) / 2
    index = np.empty((len(A), k), dtype=np.int64)
    step = max(1, _BLOCK_ENTRIES // len(B))
    for start in range(0, len(A), step):
        part = slice(start, start + step)
        # Half of the squared distance, up to a constant per row.
        index[part] = np.sort(nearest_columns(half - left[part] @ right.T, k), axis=1)
        progress(min(1.0, (start + step) / len(A)))
    near = nearest_candidates(A, B, index)
    order = np.argsort(near.squared, axis=1, kind="stable")
    return Neighbors(
        np.take_along_axis(index, order, axis=1), np.take_along_axis(near.squared, order, axis=1)
    )


def _cross_probes_needed(A: Floats, B: Floats, k: int, cells: NeighborCells) -> int:
    """Return the number of cells of B that contain `RECALL` of the nearest rows of a sample."""
    Q = A[np.sort(np.random.default_rng(0).choice(len(A), _N_SAMPLED, replace=False))]
    rank = np.argsort(cells.nearest(), axis=1)
    own_cell = cross_squared_distances(Q, cells.centres).argmin(axis=1)
    cell_of = cells.cell_of_rows(len(B))[_cross_neighbors_of_all(Q, B, k).index]
    ranks = rank[own_cell[:, None], cell_of]
    return 1 + int(np.quantile(ranks, RECALL, method="higher"))


def _cross_recall(A: Floats, B: Floats, neighbors: Neighbors) -> float:
    """Return the share of the true nearest rows of B that were found, on a sample of A."""
    rows = np.sort(np.random.default_rng([0, 1]).choice(len(A), _N_SAMPLED, replace=False))
    furthest = _cross_neighbors_of_all(A[rows], B, neighbors.index.shape[1]).squared[:, -1]
    return float((neighbors.squared[rows] <= furthest[:, None] * (1.0 + 1e-6)).mean())


def nearest_candidates(A: Floats, B: Floats, candidates: Ints) -> Neighbors:
    """Return the distances of each row of A to given rows of B."""
    squared = np.empty(candidates.shape)
    index = np.maximum(candidates, 0)
    own, other = (A * A).sum(axis=1), (B * B).sum(axis=1)
    step = max(1, _BLOCK_ENTRIES // max(candidates.shape[1] * A.shape[1], 1))
    for start in range(0, len(A), step):
        part = slice(start, start + step)
        products = np.einsum("id,ikd->ik", A[part], B[index[part]])
        squared[part] = own[part, None] + other[index[part]] - 2.0 * products
    np.maximum(squared, 0.0, out=squared)
    squared[candidates < 0] = _FAR * (1.0 + squared.max(initial=0.0))
    return Neighbors(index, squared)


def approximate_neighbors(X: Matrix, k: int, random_state: int = 0) -> Neighbors:
    """Find approximately the k nearest rows of each row, by nearest-neighbour descent.

    Dong, Moses and Li (2011), with pynndescent on one thread, because results depend on the number
    of threads. About O(n^1.2 d) time.
    """
    from pynndescent import NNDescent

    search = NNDescent(
        X, n_neighbors=k + 1, metric="euclidean", random_state=random_state, n_jobs=1
    )
    index, distance = search.neighbor_graph
    n = index.shape[0]
    # A row is its own nearest one, except among duplicates.
    itself = index == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return Neighbors(
        index[~itself].reshape(n, k).astype(np.int64),
        distance[~itself].reshape(n, k).astype(np.float64) ** 2,
    )


def neighbors_by_cells(X: Matrix, k: int, random_state: int = 0) -> Neighbors:
    """Find approximately the k nearest rows of each row, in the cells around it.

    An inverted file (Jegou, Douze and Schmid 2011): about 3 sqrt(n) cells, of which the 12 nearest
    are searched. O(n^1.5 d) time: far less than all pairs, and without the slow start of
    `approximate_neighbors`; a few of the nearest are missed.
    """
    return _search_cells(X, k, _make_cells(X, random_state), _N_PROBES)


def affordable_neighbors(
    X: Matrix,
    k: int,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors:
    """Find the k nearest rows of each row in up to 24 cells around it; exactly to 30,000 rows.

    Never compares all pairs of a large dataset as `feature_neighbors` does; it may miss more of the
    nearest, but time and memory are bounded: O(n^1.5 d), and O(n (d + k)).
    """
    n = X.shape[0]
    if n <= EXACT_ROWS:
        return nearest_neighbors(FeatureSpace(X), k, progress)
    cells = _make_cells(X, random_state)
    probes = min(_probes_needed(X, k, cells, random_state), _MAX_PROBES)
    neighbors = _search_cells(X, k, cells, probes, progress)
    return replace(neighbors, recall=measure_recall(X, neighbors, random_state))


def cross_neighbors_by_cells(
    A: Floats,
    B: Floats,
    k: int,
    cells: NeighborCells,
    probes: int = _N_PROBES,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors:
    """Find approximately the k nearest rows of B for each row of A, in the cells around it."""
    index = np.empty((len(A), k), dtype=np.int64)
    squared = np.empty((len(A), k))
    nearest_cells = cells.nearest()
    step = max(1, _BLOCK_ENTRIES // len(cells))
    for start in range(0, len(A), step):
        part = np.arange(start, min(start + step, len(A)))
        cell_of = cross_squared_distances(A[part], cells.centres).argmin(axis=1)
        for cell_number in np.unique(cell_of).tolist():
            in_cell = part[cell_of == cell_number]
            candidates = cells.rows_of_nearest(nearest_cells[cell_number], probes, k)
            sub_step = max(1, _BLOCK_ENTRIES // len(candidates))
            for first in range(0, len(in_cell), sub_step):
                rows = in_cell[first : first + sub_step]
                D = cross_squared_distances(A[rows], B[candidates])
                at = (
                    nearest_columns(D, k)
                    if k < len(candidates)
                    else D.argsort(axis=1, kind="stable")
                )
                index[rows] = candidates[at]
                squared[rows] = np.take_along_axis(D, at, axis=1)
        progress(min(1.0, (start + step) / len(A)))
    return Neighbors(index, squared)


def _make_cells(X: Matrix, random_state: int) -> NeighborCells:
    return NeighborCells.around_sample(
        X, random_state, _CELLS_PER_ROOT * round(np.sqrt(X.shape[0]))
    )


def _search_cells(
    X: Matrix,
    k: int,
    cells: NeighborCells,
    probes: int,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors:
    """Find the k nearest rows of each row in the `probes` cells around it."""
    n = X.shape[0]
    index = np.empty((n, k), dtype=np.int64)
    nearest_cells = cells.nearest()
    single = X.astype(np.float32)
    half = np.asarray((single * single).sum(axis=1), dtype=np.float32).ravel() / 2
    for cell, in_cell in enumerate(cells.members):
        if not len(in_cell):
            continue
        candidates = cells.rows_of_nearest(nearest_cells[cell], probes, k + 1)
        # Half of the squared distance, up to a constant per row.
        D = half[candidates] - _as_dense_product(single[in_cell] @ single[candidates].T)
        D[np.arange(len(in_cell)), np.searchsorted(candidates, in_cell)] = np.inf
        index[in_cell] = candidates[_smallest_columns(D, k, n)]
        progress((cell + 1) / len(cells))
    squared = FeatureSpace(X).pairs(np.repeat(np.arange(n), k), index.ravel()).reshape(n, k)
    order = np.lexsort((index, squared), axis=1)
    return Neighbors(
        np.take_along_axis(index, order, axis=1), np.take_along_axis(squared, order, axis=1)
    )


def _smallest_columns(D: Reals, k: int, n: int) -> Ints:
    """Return the columns of the k smallest of each row, unordered; faster for very many rows."""
    if n < _MANY_ROWS:
        return np.argpartition(D, k - 1, axis=1)[:, :k]
    from hetviz.core.graph.selection import smallest

    columns = np.empty((len(D), k), dtype=np.int64)
    smallest(D, columns, np.empty(k, dtype=D.dtype))
    return columns


def _probes_needed(X: Matrix, k: int, cells: NeighborCells, random_state: int) -> int:
    """Return the number of cells that contain `RECALL` of the nearest rows, on a sample."""
    n = X.shape[0]
    cell_of = cells.cell_of_rows(n)
    # The rank of each cell by distance from each other one.
    rank = np.argsort(cells.nearest(), axis=1)
    sample = np.random.default_rng(random_state).choice(n, min(_N_SAMPLED, n), replace=False)
    space, step, ranks = FeatureSpace(X), max(1, _BLOCK_ENTRIES // n), []
    for start in range(0, len(sample), step):
        rows = sample[start : start + step]
        D = space.between(rows)
        D[np.arange(len(rows)), rows] = np.inf
        ranks.append(rank[cell_of[rows][:, None], cell_of[nearest_columns(D, k)]].ravel())
    return 1 + int(np.quantile(np.concatenate(ranks), RECALL, method="higher"))


def _as_dense_product(X: object) -> Any:
    """Return a product of rows as a plain array of its own precision."""
    return X.toarray() if is_sparse(X) else X


@dataclass(frozen=True, eq=False)
class NeighborCells:
    """Rows grouped by their nearest centre."""

    centres: Floats
    members: list[Ints]

    def __len__(self) -> int:
        return len(self.centres)

    def cell_of_rows(self, n: int) -> Ints:
        """Return the cell of each of the n rows."""
        cell_of = np.empty(n, dtype=np.int64)
        for number, members in enumerate(self.members):
            cell_of[members] = number
        return cell_of

    def nearest(self) -> Ints:
        """Return all cells sorted by distance, for each cell: shape (c, c)."""
        D = cross_squared_distances(self.centres, self.centres)
        return nearest_columns(D, len(self))

    def rows(self, cells: Ints) -> Ints:
        return np.sort(np.concatenate([self.members[cell] for cell in cells.tolist()]))

    def rows_of_nearest(self, cells: Ints, count: int, k: int) -> Ints:
        """Return the rows of the first `count` cells, or of more cells for at least k rows."""
        rows = self.rows(cells[:count])
        while len(rows) < k and count < len(cells):
            count *= 2
            rows = self.rows(cells[:count])
        return rows

    @classmethod
    def around_sample(
        cls, X: Matrix, random_state: int = 0, count: int | None = None
    ) -> NeighborCells:
        """Draw centres from the rows, about sqrt(n), and replace each by the mean of its cell."""
        n = X.shape[0]
        count = min(max(1, round(np.sqrt(n)) if count is None else count), n)
        sample = np.sort(np.random.default_rng(random_state).choice(n, count, replace=False))
        centres = as_dense(X[sample])
        cell_of = np.empty(n, dtype=np.int64)
        step = max(1, _BLOCK_ENTRIES // count)
        for start in range(0, n, step):
            part = slice(start, start + step)
            cell_of[part] = cross_squared_distances(X[part], centres).argmin(axis=1)
        order = np.argsort(cell_of, kind="stable")
        ends = np.searchsorted(cell_of[order], np.arange(count + 1))
        members = [order[a:b] for a, b in pairwise(ends.tolist())]
        size = np.maximum(np.diff(ends), 1)
        membership = sp.csr_array((np.ones(n), (cell_of, np.arange(n))), shape=(count, n))
        return cls(as_dense(membership @ X) / size[:, None], members)


def feature_neighbors(
    X: Matrix,
    k: int,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
    name: str = "",
) -> Neighbors:
    """Find the k nearest rows of each row: exactly to 30,000 rows, approximately above.

    Above 30,000 rows it searches as many cells around each row as contain 97 % of the nearest rows
    of a sample. If these are more than half of all cells, it compares all pairs, or above 150,000
    rows uses `approximate_neighbors`. Recall is then measured on other rows. On a card with enough
    memory the search is always exact.
    """
    neighbors = _feature_neighbors(X, k, random_state, progress)
    if name:
        report_recall(name, neighbors.recall, X.shape[0])
    return neighbors


def _feature_neighbors(
    X: Matrix, k: int, random_state: int, progress: Callable[[float], object]
) -> Neighbors:
    if (device := _card_with_memory_for(X)) is not None:
        return Neighbors(*nearest_rows_on(device, X, k, progress=progress))
    n = X.shape[0]
    neighbors = None
    if n > EXACT_ROWS:
        cells = _make_cells(X, random_state)
        probes = _probes_needed(X, k, cells, random_state)
        if probes <= len(cells) // 2:
            neighbors = _search_cells(X, k, cells, probes, progress)
        elif n > DESCENT_ROWS:
            neighbors = approximate_neighbors(X, k, random_state)
    if neighbors is None:
        return nearest_neighbors(FeatureSpace(X), k, progress)
    return replace(neighbors, recall=measure_recall(X, neighbors, random_state))


def _card_with_memory_for(*matrices: Matrix) -> ComputeDevice | None:
    """Return the current card, or None with a warning if its memory is too small."""
    device = current_device()
    if device is None or fits_in_memory(device, *matrices):
        return device
    sizes = " and ".join(f"{X.shape[0]:,} x {X.shape[1]:,}" for X in matrices)
    warnings.warn(
        f"Features of {sizes} do not fit into the memory of the graphics card ({device.title}), "
        "so the processor searches the neighbours.",
        DataWarning,
        stacklevel=2,
    )
    return None


def measure_recall(X: Matrix, neighbors: Neighbors, random_state: int = 0) -> float:
    """Return the share of the true k nearest rows that a search found, on a sample of rows."""
    n, k = neighbors.index.shape
    # Other rows than those that chose the number of cells.
    rng = np.random.default_rng([random_state, 1])
    sample = np.sort(rng.choice(n, min(_N_SAMPLED, n), replace=False))
    space, step, hits = FeatureSpace(X), max(1, _BLOCK_ENTRIES // n), 0
    for start in range(0, len(sample), step):
        rows = sample[start : start + step]
        D = space.between(rows)
        D[np.arange(len(rows)), rows] = np.inf
        furthest = np.partition(D, k - 1, axis=1)[:, k - 1]
        # Distances computed in different ways differ in their last digits.
        hits += int((neighbors.squared[rows] <= furthest[:, None] * (1.0 + 1e-6)).sum())
    return float(hits / (len(sample) * k))


def neighbor_graph(
    X: Matrix,
    n_neighbors: int,
    *,
    heat: bool = True,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Sparse:
    """Return the graph that connects every row with its nearest rows.

    `heat`: Give an edge the weight exp(-|x_i - x_j|^2 / (2 s^2)), with s the median distance of a
        row to its furthest neighbour; else every edge has weight 1.

    O(n^2 d) time in blocks of bounded memory; less above 30,000 rows if rows form groups, where a
    few of the nearest may be missed, see `feature_neighbors`.
    """
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    if k < 1:
        return sp.csr_array((n, n))
    neighbors = feature_neighbors(X, k, random_state, progress)
    weight = np.ones(neighbors.squared.shape)
    if heat:
        width = float(np.median(neighbors.squared[:, -1]))
        # Where most rows have k duplicates, any other neighbour is far by comparison.
        weight = (
            np.exp(-0.5 * neighbors.squared / width)
            if width > 0
            else 1.0 * (neighbors.squared == 0)
        )
    rows = np.repeat(np.arange(n), k)
    A = sp.csr_array((weight.ravel(), (rows, neighbors.index.ravel())), shape=(n, n))
    A = sp.csr_array(A.maximum(A.T))
    A.eliminate_zeros()
    return A


def nearest_places(A: Floats, B: Floats, k: int, *, same: bool = False) -> Ints:
    """Return the k nearest rows of B for each row of A, shape (m, k), the nearest first."""
    n_wanted = k + same
    if B.shape[1] <= MAX_TREE_AXES:
        _, index = cKDTree(B).query(A, k=n_wanted)
        index = np.asarray(index, dtype=np.int64).reshape(len(A), n_wanted)
    else:
        index = np.empty((len(A), n_wanted), dtype=np.int64)
        step = max(1, _BLOCK_ENTRIES // len(B))
        for start in range(0, len(A), step):
            D = cross_squared_distances(A[start : start + step], B)
            index[start : start + step] = nearest_columns(D, n_wanted)
    if not same:
        return np.asarray(index)
    itself = index == np.arange(len(A))[:, None]
    # Among many rows at one position, a row need not be among its own nearest.
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(index[~itself].reshape(len(A), k))

"""The nearest rows of each row, and graphs that join them."""

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

from hetviz._types import Floats, Ints, Matrix, Reals, Sparse, is_sparse
from hetviz.core.device import Device, current_device
from hetviz.core.graph.device_neighbors import has_room, nearest_on
from hetviz.core.graph.distances import FeatureSpace, Space, cross_squared_distances
from hetviz.core.spectral.blocks import as_dense
from hetviz.errors import DataWarning

EXACT_ROWS = 30_000
"""Features of up to this many rows are compared two by two; of more, searched approximately."""
RECALL = 0.97
"""Share of the nearest that a search by cells has to find, judged on a sample of rows."""
DESCENT_ROWS = 150_000
"""Above this, what cells cannot tell apart is searched by nearest-neighbour descent: to start it
takes as long as comparing so many two by two."""
_SAMPLED = 240
_BLOCK_ENTRIES = 4_000_000
_LONG_ROW, _FEW = 4_096, 0.1
_PROBES, _CELLS_BY_ROOT = 12, 3
_MOST_PROBES, _VERY_MANY = 24, 100_000


def nearest_columns(D: Floats, k: int) -> Ints:
    """Return the columns of the k smallest entries of each row, nearest first."""
    if D.shape[1] < _LONG_ROW or k > _FEW * D.shape[1]:
        part = np.argpartition(D, k - 1, axis=1)[:, :k]
    else:
        # It loads the compiler, which takes longer than many short rows.
        from hetviz.core.graph.selection import smallest

        part = np.empty((len(D), k), dtype=np.int64)
        smallest(D, part, np.empty(k, dtype=D.dtype))
        part.sort(axis=1)
    order = np.argsort(np.take_along_axis(D, part, axis=1), axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest rows of each row, itself left out.

    Attributes
    ----------
    index : ndarray of shape (n, k)
        Nearest first.
    squared : ndarray of shape (n, k)
        Squared distances, 0 or more.
    recall : float
        Share of the nearest of a sample of rows that were found; 1 where each two were compared.
    """

    index: Ints
    squared: Floats
    recall: float = 1.0


_heard: ContextVar[dict[str, float] | None] = ContextVar("recalls", default=None)


@contextmanager
def recalls() -> Iterator[dict[str, float]]:
    """Collect how well approximate searches do that are made within, by what was searched."""
    found: dict[str, float] = {}
    before = _heard.set(found)
    try:
        yield found
    finally:
        _heard.reset(before)


def tell_recall(of: str, recall: float, n: int) -> None:
    """Tell who collects it of a search among more than 30,000 rows.

    Of several searches of the same, the worst counts.
    """
    found = _heard.get()
    if found is not None and n > EXACT_ROWS:
        found[of] = min(recall, found.get(of, 1.0))


def nearest_neighbors(
    space: Space, k: int, progress: Callable[[float], object] = lambda share: None
) -> Neighbors:
    """Find the k nearest rows of each row, exactly.

    Parameters
    ----------
    space : Space
        Of n rows.
    k : int
        1 <= k < n.
    progress : callable
        Gets the share done after each block.

    Notes
    -----
    O(n^2 d) time in row blocks of bounded memory.
    """
    n = space.n
    index = np.empty((n, k), dtype=np.int64)
    found = np.empty((n, k))
    step = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n, step):
        queries = np.arange(start, min(start + step, n))
        D = space.between(queries)
        D[np.arange(len(queries)), queries] = np.inf
        index[queries] = nearest_columns(D, k)
        found[queries] = np.take_along_axis(D, index[queries], axis=1)
        progress(float(queries[-1] + 1) / n)
    return Neighbors(index, found)


def cross_neighbors(
    A: Floats, B: Floats, k: int, progress: Callable[[float], object] = lambda share: None
) -> Neighbors:
    """Find the k nearest rows of B for each row of A, exactly: shapes (m, k).

    `progress` gets the share done after each block. On a card where one is asked for.
    """
    if (device := _card_for(A, B)) is not None:
        return Neighbors(*nearest_on(device, B, k, A, progress))
    index = np.empty((len(A), k), dtype=np.int64)
    found = np.empty((len(A), k))
    step = max(1, _BLOCK_ENTRIES // max(len(B), 1))
    for start in range(0, len(A), step):
        part = slice(start, start + step)
        D = cross_squared_distances(A[part], B)
        index[part] = nearest_columns(D, k) if k < len(B) else np.argsort(D, axis=1, kind="stable")
        found[part] = np.take_along_axis(D, index[part], axis=1)
        progress(min(1.0, (start + step) / len(A)))
    return Neighbors(index, found)


def approximate_neighbors(X: Matrix, k: int, random_state: int = 0) -> Neighbors:
    """Find about the k nearest of each row of features, by nearest-neighbour descent.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    k : int
    random_state : int

    Notes
    -----
    Of Dong, Moses and Li (2011), by pynndescent, on one thread: on more it finds others. About
    O(n^1.2 d) time.
    """
    from pynndescent import NNDescent

    search = NNDescent(
        X, n_neighbors=k + 1, metric="euclidean", random_state=random_state, n_jobs=1
    )
    index, distance = search.neighbor_graph
    n = index.shape[0]
    # a row is most often its own nearest, but not where others are equal to it
    itself = index == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return Neighbors(
        index[~itself].reshape(n, k).astype(np.int64),
        distance[~itself].reshape(n, k).astype(np.float64) ** 2,
    )


def neighbors_by_cells(X: Matrix, k: int, random_state: int = 0) -> Neighbors:
    """Find about the k nearest of each row of features, among the rows of the cells around it.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    k : int
        1 <= k < n.
    random_state : int
        Draws the rows around which cells lie.

    Notes
    -----
    An inverted file (Jegou, Douze and Schmid 2011): about 3 sqrt(n) cells, of which the 12 nearest
    are looked through. O(n^1.5 d) time: far less than all pairs, and with none of the start of
    `approximate_neighbors`; a few of the nearest are missed.
    """
    return _in_cells(X, k, _cells(X, random_state), _PROBES)


def affordable_neighbors(
    X: Matrix,
    k: int,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors:
    """Find the k nearest of each row that 24 cells around it hold; exactly to 30,000 rows.

    Where `feature_neighbors` would compare each two rows, this finds fewer of the nearest in a
    time and memory that are known beforehand: O(n^1.5 d), and O(n (d + k)).
    """
    n = X.shape[0]
    if n <= EXACT_ROWS:
        return nearest_neighbors(FeatureSpace(X), k, progress)
    cells = _cells(X, random_state)
    probes = min(_probes(X, k, cells, random_state), _MOST_PROBES)
    found = _in_cells(X, k, cells, probes, progress)
    return replace(found, recall=measured_recall(X, found, random_state))


def cross_neighbors_by_cells(A: Floats, B: Floats, k: int, cells: Cells) -> Neighbors:
    """Find about the k nearest rows of B for each row of A, among the cells around it: (m, k).

    Parameters
    ----------
    A : ndarray of shape (m, d)
    B : ndarray of shape (n, d)
    k : int
        At most n.
    cells : Cells
        Of the rows of B.

    Notes
    -----
    The 12 nearest cells are looked through, more where they hold too few. O(m (n / c + c) d) for c
    cells.
    """
    index = np.empty((len(A), k), dtype=np.int64)
    squared = np.empty((len(A), k))
    near = cells.nearest()
    step = max(1, _BLOCK_ENTRIES // len(cells))
    for start in range(0, len(A), step):
        part = np.arange(start, min(start + step, len(A)))
        cell = cross_squared_distances(A[part], cells.centres).argmin(axis=1)
        for one in np.unique(cell).tolist():
            mine = part[cell == one]
            others = cells.enough(near[one], _PROBES, k)
            few = max(1, _BLOCK_ENTRIES // len(others))
            for first in range(0, len(mine), few):
                rows = mine[first : first + few]
                D = cross_squared_distances(A[rows], B[others])
                at = nearest_columns(D, k) if k < len(others) else D.argsort(axis=1, kind="stable")
                index[rows] = others[at]
                squared[rows] = np.take_along_axis(D, at, axis=1)
    return Neighbors(index, squared)


def _cells(X: Matrix, random_state: int) -> Cells:
    return Cells.of(X, random_state, _CELLS_BY_ROOT * round(np.sqrt(X.shape[0])))


def _in_cells(
    X: Matrix,
    k: int,
    cells: Cells,
    probes: int,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors:
    """Find the k nearest of each row among those of the cells around it, as many as `probes`."""
    n = X.shape[0]
    index = np.empty((n, k), dtype=np.int64)
    near = cells.nearest()
    single = X.astype(np.float32)
    half = np.asarray((single * single).sum(axis=1), dtype=np.float32).ravel() / 2
    for cell, mine in enumerate(cells.members):
        if not len(mine):
            continue
        others = cells.enough(near[cell], probes, k + 1)
        # half of the squared distance but for what all columns share
        D = half[others] - _plain(single[mine] @ single[others].T)
        D[np.arange(len(mine)), np.searchsorted(others, mine)] = np.inf
        index[mine] = others[_some_smallest(D, k, n)]
        progress((cell + 1) / len(cells))
    found = FeatureSpace(X).pairs(np.repeat(np.arange(n), k), index.ravel()).reshape(n, k)
    order = np.lexsort((index, found), axis=1)
    return Neighbors(
        np.take_along_axis(index, order, axis=1), np.take_along_axis(found, order, axis=1)
    )


def _some_smallest(D: Reals, k: int, n: int) -> Ints:
    """Return the columns of the k smallest of each row, in no order; quicker for very many rows."""
    if n < _VERY_MANY:
        return np.argpartition(D, k - 1, axis=1)[:, :k]
    from hetviz.core.graph.selection import smallest

    found = np.empty((len(D), k), dtype=np.int64)
    smallest(D, found, np.empty(k, dtype=D.dtype))
    return found


def _probes(X: Matrix, k: int, cells: Cells, random_state: int) -> int:
    """Return how many cells hold `RECALL` of the nearest of a sample of rows."""
    n = X.shape[0]
    cell = np.empty(n, dtype=np.int64)
    for at, members in enumerate(cells.members):
        cell[members] = at
    # The place of each cell in the order of nearness to each other one.
    place = np.argsort(cells.nearest(), axis=1)
    drawn = np.random.default_rng(random_state).choice(n, min(_SAMPLED, n), replace=False)
    space, step, places = FeatureSpace(X), max(1, _BLOCK_ENTRIES // n), []
    for start in range(0, len(drawn), step):
        rows = drawn[start : start + step]
        D = space.between(rows)
        D[np.arange(len(rows)), rows] = np.inf
        places.append(place[cell[rows][:, None], cell[nearest_columns(D, k)]].ravel())
    return 1 + int(np.quantile(np.concatenate(places), RECALL, method="higher"))


def _plain(X: object) -> Any:
    """Return a product of rows as a plain array of its own precision."""
    return X.toarray() if is_sparse(X) else X


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows by the nearest of some centres.

    Attributes
    ----------
    centres : ndarray of shape (c, d)
        The mean row of each cell.
    members : list of ndarray of int
        Its rows, in order.
    """

    centres: Floats
    members: list[Ints]

    def __len__(self) -> int:
        return len(self.centres)

    def nearest(self) -> Ints:
        """Return for each cell all of them, the nearest first."""
        D = cross_squared_distances(self.centres, self.centres)
        return nearest_columns(D, len(self))

    def rows(self, cells: Ints) -> Ints:
        """Return the rows of some cells, in order."""
        return np.sort(np.concatenate([self.members[cell] for cell in cells.tolist()]))

    def enough(self, cells: Ints, count: int, k: int) -> Ints:
        """Return the rows of the first `count` cells, of more of them where they are not k."""
        found = self.rows(cells[:count])
        while len(found) < k and count < len(cells):
            count *= 2
            found = self.rows(cells[:count])
        return found

    @classmethod
    def of(cls, X: Matrix, random_state: int = 0, count: int | None = None) -> Cells:
        """Take some rows for centres, about sqrt(n), then the mean of what lies around each."""
        n = X.shape[0]
        count = min(max(1, round(np.sqrt(n)) if count is None else count), n)
        drawn = np.sort(np.random.default_rng(random_state).choice(n, count, replace=False))
        centres = as_dense(X[drawn])
        cell = np.empty(n, dtype=np.int64)
        step = max(1, _BLOCK_ENTRIES // count)
        for start in range(0, n, step):
            part = slice(start, start + step)
            cell[part] = cross_squared_distances(X[part], centres).argmin(axis=1)
        order = np.argsort(cell, kind="stable")
        ends = np.searchsorted(cell[order], np.arange(count + 1))
        members = [order[a:b] for a, b in pairwise(ends.tolist())]
        size = np.maximum(np.diff(ends), 1)
        which = sp.csr_array((np.ones(n), (cell, np.arange(n))), shape=(count, n))
        return cls(as_dense(which @ X) / size[:, None], members)


def feature_neighbors(
    X: Matrix,
    k: int,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
    of: str = "",
) -> Neighbors:
    """Find the k nearest rows of each row of features: exactly to 30,000 rows, about so above.

    `of` says what is searched: with it the share that was found is told to `recalls`.

    Notes
    -----
    Above that in the cells around each row, as many of them as hold 97 % of the nearest of a sample
    of rows; where that would be half of all, by comparing each two, or of more than 150,000 rows by
    `approximate_neighbors`. How many of the nearest were found is then measured on other rows.
    Where a card is asked for and has room for the rows, exactly on it, however many there are.
    """
    found = _feature_neighbors(X, k, random_state, progress)
    if of:
        tell_recall(of, found.recall, X.shape[0])
    return found


def _feature_neighbors(
    X: Matrix, k: int, random_state: int, progress: Callable[[float], object]
) -> Neighbors:
    if (device := _card_for(X)) is not None:
        return Neighbors(*nearest_on(device, X, k, progress=progress))
    n = X.shape[0]
    found = None
    if n > EXACT_ROWS:
        cells = _cells(X, random_state)
        probes = _probes(X, k, cells, random_state)
        if probes <= len(cells) // 2:
            found = _in_cells(X, k, cells, probes, progress)
        elif n > DESCENT_ROWS:
            found = approximate_neighbors(X, k, random_state)
    if found is None:
        return nearest_neighbors(FeatureSpace(X), k, progress)
    return replace(found, recall=measured_recall(X, found, random_state))


def _card_for(*matrices: Matrix) -> Device | None:
    """Return the card that is asked for, unless these rows are too many for it, which is told."""
    device = current_device()
    if device is None or has_room(device, *matrices):
        return device
    sizes = " and ".join(f"{X.shape[0]:,} x {X.shape[1]:,}" for X in matrices)
    warnings.warn(
        f"Features of {sizes} are too many for the card ({device.title}), so neighbours are "
        "searched on the processor.",
        DataWarning,
        stacklevel=2,
    )
    return None


def measured_recall(X: Matrix, found: Neighbors, random_state: int = 0) -> float:
    """Return the share of the k nearest of a sample of rows of features that a search found.

    One that is as near as the k-th nearest counts as one of them. O(s n d) for s = 240 rows.
    """
    n, k = found.index.shape
    # Not the rows by which the number of cells was chosen.
    rng = np.random.default_rng([random_state, 1])
    drawn = np.sort(rng.choice(n, min(_SAMPLED, n), replace=False))
    space, step, hits = FeatureSpace(X), max(1, _BLOCK_ENTRIES // n), 0
    for start in range(0, len(drawn), step):
        rows = drawn[start : start + step]
        D = space.between(rows)
        D[np.arange(len(rows)), rows] = np.inf
        furthest = np.partition(D, k - 1, axis=1)[:, k - 1]
        # Distances are computed in other ways, which differ in their last digits.
        hits += int((found.squared[rows] <= furthest[:, None] * (1.0 + 1e-6)).sum())
    return float(hits / (len(drawn) * k))


def neighbor_graph(
    X: Matrix,
    n_neighbors: int,
    *,
    heat: bool = True,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Sparse:
    """Join every row with its nearest rows.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    n_neighbors : int
        Lowered to n - 1 where there are fewer rows.
    heat : bool
        Weigh an edge exp(-|x_i - x_j|^2 / (2 s^2)), s the median distance of a row to its furthest
        neighbour; else every edge weighs 1.
    random_state : int
        Seeds the search above 30,000 rows.
    progress : callable
        Gets the share done.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric: i and j are joined when either is a nearest neighbour of the other. No diagonal.

    Notes
    -----
    O(n^2 d) time in blocks of bounded memory; above 30,000 rows less where rows form groups, and a
    few of the nearest may be missed, see `feature_neighbors`.
    """
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    if k < 1:
        return sp.csr_array((n, n))
    found = feature_neighbors(X, k, random_state, progress)
    weight = np.ones(found.squared.shape)
    if heat:
        width = float(np.median(found.squared[:, -1]))
        # where most rows have k equals, any other neighbour is far by comparison
        weight = np.exp(-0.5 * found.squared / width) if width > 0 else 1.0 * (found.squared == 0)
    rows = np.repeat(np.arange(n), k)
    A = sp.csr_array((weight.ravel(), (rows, found.index.ravel())), shape=(n, n))
    A = sp.csr_array(A.maximum(A.T))
    A.eliminate_zeros()
    return A

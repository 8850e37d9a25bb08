"""Regions of a map, at two levels, each with a name that says what many of its items have to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._text import is_word
from hetviz._types import Floats, Ints, Sparse
from hetviz.core.clustering.partition import by_size, nearest_code, partition
from hetviz.data import HeteroData
from hetviz.runs.cluster.cards import cluster_names
from hetviz.runs.cluster.contrast import Contrasts

LEVELS = (9, 30)
_LEAST = 12
_MOST_FITTED = 3_000
_LONGEST = 24
_STEM = 4
_COVER = 1.2
_LEAST_LINKS = 3
_LEAST_COMMON = 2
# What files are called, and what machines call things, is no name of a region.
_FILE = re.compile(r"_|/|\\|::|\.\w{1,4}$")
_NO_WORD = re.compile(rf"\d|{_FILE.pattern}")
# Nor is a running id, such as shop-07.
_ID = r"(?:^|\s)[^\W\d]+[-#.]\d+(?=$|[\s,])"
_NO_NAME = re.compile(rf"[^\W\d]\d|\(\d+\)$|{_ID}|{_FILE.pattern}")
# Datasets whose items have at least this share of the links that those of the best linked one have.
_LINKED = 0.6


@dataclass(frozen=True, eq=False)
class Level:
    """One division of a map into regions.

    Attributes
    ----------
    codes : array of int, shape (n_rows,)
        Region of each row, the largest first; -1 without a place.
    names : tuple of str
        Of the regions; empty for one that has no name worth writing.
    """

    codes: Ints
    names: tuple[str, ...]


def regions(contrasts: Contrasts, Y: Floats) -> tuple[Level, ...]:
    """Divide a map into regions by Ward's linkage on it, and name them.

    Parameters
    ----------
    contrasts : Contrasts
        Of the data.
    Y : array of shape (n_rows, 2)
        Where the rows lie, NaN without a place.

    Returns
    -------
    tuple of Level
        About 9 regions, then about 30, never fewer than 12 items to a region on average; none where
        so few items have a place.

    Notes
    -----
    A name is the two titles (one, on the second level) with the largest share of their links that
    lie inside, times the links inside to the power of 1.2: a word that covers many members before
    one that covers few alone. A title names only the region where that is largest, those of
    sparsely linked datasets name none, and two that share their first four letters, or that fewer
    than two items are both linked with, are not put together. A region without such titles is
    called by what sets it apart from the others, if anything does, and not as one before it.
    Ward's linkage is fitted to at most 3,000 rows; the others join the nearest.
    """
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    data = contrasts.data
    if len(placed) < 2 * _LEAST:
        return ()
    A = data.adjacency("+").astype(bool).astype(np.float64)
    degree = np.asarray(A.sum(axis=1), dtype=np.float64).ravel()
    titles = _titles(data, degree)
    found: list[Level] = []
    for level, size in enumerate(LEVELS):
        codes = np.full(data.n_rows, -1)
        codes[placed] = _ward(Y[placed], min(size, len(placed) // _LEAST))
        n = int(codes.max()) + 1
        names = _linked_names(A, degree, codes, n, titles, 1 if level else 2)
        if not all(names):
            apart = cluster_names(contrasts, codes, n, codes >= 0)
            for k, other in enumerate(apart):
                known = other in names or any(other in one.names for one in found)
                if not (names[k] or known or other == f"Cluster {k + 1}" or _NO_NAME.search(other)):
                    names[k] = other
        found.append(Level(codes, tuple(names)))
    return tuple(found)


def _ward(P: Floats, size: int) -> Ints:
    if len(P) <= _MOST_FITTED:
        return partition(P, "agglomerative", size)
    fitted = np.sort(np.random.default_rng(0).choice(len(P), _MOST_FITTED, replace=False))
    code = partition(P[fitted], "agglomerative", size)
    return by_size(P, nearest_code(P[fitted], code, P))


def _titles(data: HeteroData, degree: Floats) -> list[str]:
    """Return the title of each row that may be part of a name, else nothing."""
    mean = {name: float(degree[rows].mean()) for name, rows in data.offsets.items()}
    found: list[str] = []
    for name, dataset in data.datasets.items():
        use = mean[name] >= _LINKED * max(mean.values())
        found += [
            title
            if use and is_word(title) and len(title) <= _LONGEST and not _NO_WORD.search(title)
            else ""
            for title in map(str, dataset.titles)
        ]
    return found


def _linked_names(
    A: Sparse, degree: Floats, codes: Ints, n_regions: int, titles: Sequence[str], words: int
) -> list[str]:
    """Return the titles whose links lie in a region more than elsewhere; empty where none do."""
    allowed = np.flatnonzero([bool(title) for title in titles])
    member = np.zeros((len(codes), n_regions))
    placed = np.flatnonzero(codes >= 0)
    member[placed, codes[placed]] = 1.0
    inside: Floats = np.asarray(A[allowed] @ member)
    total = np.maximum(degree[allowed], 1.0)
    score = np.where(inside >= _LEAST_LINKS, inside / total[:, None] * inside**_COVER, 0.0)
    own = score.argmax(axis=1) if len(allowed) else np.zeros(0, dtype=np.int64)
    names = []
    for code in range(n_regions):
        mine = np.flatnonzero((own == code) & (score[:, code] > 0))
        chosen: list[str] = []
        first = -1
        for at in mine[np.argsort(-score[mine, code], kind="stable")]:
            title = titles[allowed[at]]
            if title[:_STEM].casefold() in {one[:_STEM].casefold() for one in chosen}:
                continue
            # Two words of which no item has both name two things, not one region.
            if first < 0 or _in_common(A, int(allowed[first]), int(allowed[at])) >= _LEAST_COMMON:
                chosen.append(title)
                first = at if first < 0 else first
            if len(chosen) == words:
                break
        names.append(" · ".join(chosen))
    return names


def _in_common(A: Sparse, one: int, other: int) -> int:
    """Return how many items two rows are both linked with."""
    return len(np.intersect1d(A[[one]].indices, A[[other]].indices))

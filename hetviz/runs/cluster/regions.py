"""Named regions of a map at two levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._text import is_word
from hetviz._types import Floats, Ints, Sparse
from hetviz.core.clustering.partition import code_of_nearest, number_by_size, partition
from hetviz.data import HeteroData
from hetviz.runs.cluster.cards import cluster_names
from hetviz.runs.cluster.contrast import Contrasts

LEVELS = (9, 30)
_MIN_REGION_SIZE = 12
_MAX_FITTED = 3_000
_MAX_TITLE_LENGTH = 24
_STEM_LENGTH = 4
_COVER_EXPONENT = 1.2
_MIN_LINKS = 3
_MIN_COMMON = 2
# File names and machine names are no names of regions.
_FILE_PATTERN = re.compile(r"_|/|\\|::|\.\w{1,4}$")
_BAD_WORD_PATTERN = re.compile(rf"\d|{_FILE_PATTERN.pattern}")
# Running ids such as shop-07 are not either.
_RUNNING_ID = r"(?:^|\s)[^\W\d]+[-#.]\d+(?=$|[\s,])"
_BAD_NAME_PATTERN = re.compile(rf"[^\W\d]\d|\(\d+\)$|{_RUNNING_ID}|{_FILE_PATTERN.pattern}")
# Minimum mean number of links of a dataset, relative to the best linked dataset.
_MIN_RELATIVE_LINKS = 0.6


@dataclass(frozen=True, eq=False)
class RegionLevel:
    """One division of a map into regions."""

    codes: Ints  # Shape (n_rows,). Region of each row, 0 for the largest; -1 without a place.
    names: tuple[str, ...]  # Names of the regions; empty for a region without a good name.


def find_regions(contrasts: Contrasts, Y: Floats) -> tuple[RegionLevel, ...]:
    """Divide a map into regions by Ward's linkage, and name them.

    `Y` (n_rows, 2): coordinates, NaN without a place.

    Returns about 9 regions, then about 30, with at least 12 items on average; empty with too few
    placed items.

    A name has the two titles (one on the second level) with the highest score: the share of their
    links inside the region, times the number of links inside to the power of 1.2, which prefers
    words that cover many members. A title names only the region with its highest score. Titles of
    sparsely linked datasets name none. Two titles are not combined if they share their first four
    letters or fewer than two common linked items. A region without such titles gets a name from
    its differences to other regions, if it has any and the name is new. Ward's linkage is fitted
    to at most 3,000 rows; the others join the nearest.
    """
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    data = contrasts.data
    if len(placed) < 2 * _MIN_REGION_SIZE:
        return ()
    A = data.adjacency("+").astype(bool).astype(np.float64)
    degree = np.asarray(A.sum(axis=1), dtype=np.float64).ravel()
    titles = _usable_titles(data, degree)
    levels: list[RegionLevel] = []
    for level, size in enumerate(LEVELS):
        codes = np.full(data.n_rows, -1)
        codes[placed] = _ward_codes(Y[placed], min(size, len(placed) // _MIN_REGION_SIZE))
        n = int(codes.max()) + 1
        names = _linked_names(A, degree, codes, n, titles, 1 if level else 2)
        if not all(names):
            candidates = cluster_names(contrasts, codes, n, codes >= 0)
            for k, candidate in enumerate(candidates):
                is_used = candidate in names or any(
                    candidate in earlier.names for earlier in levels
                )
                if not (
                    names[k]
                    or is_used
                    or candidate == f"Cluster {k + 1}"
                    or _BAD_NAME_PATTERN.search(candidate)
                ):
                    names[k] = candidate
        levels.append(RegionLevel(codes, tuple(names)))
    return tuple(levels)


def _ward_codes(P: Floats, size: int) -> Ints:
    if len(P) <= _MAX_FITTED:
        return partition(P, "agglomerative", size)
    fitted = np.sort(np.random.default_rng(0).choice(len(P), _MAX_FITTED, replace=False))
    code = partition(P[fitted], "agglomerative", size)
    return number_by_size(P, code_of_nearest(P[fitted], code, P))


def _usable_titles(data: HeteroData, degree: Floats) -> list[str]:
    """Return the title of each row that may be part of a name, else ""."""
    mean = {name: float(degree[rows].mean()) for name, rows in data.offsets.items()}
    titles: list[str] = []
    for name, dataset in data.datasets.items():
        is_linked = mean[name] >= _MIN_RELATIVE_LINKS * max(mean.values())
        titles += [
            title
            if is_linked
            and is_word(title)
            and len(title) <= _MAX_TITLE_LENGTH
            and not _BAD_WORD_PATTERN.search(title)
            else ""
            for title in map(str, dataset.titles)
        ]
    return titles


def _linked_names(
    A: Sparse, degree: Floats, codes: Ints, n_regions: int, titles: Sequence[str], words: int
) -> list[str]:
    """Return names of regions from titles with most links inside, or ""."""
    allowed = np.flatnonzero([bool(title) for title in titles])
    member = np.zeros((len(codes), n_regions))
    placed = np.flatnonzero(codes >= 0)
    member[placed, codes[placed]] = 1.0
    inside: Floats = np.asarray(A[allowed] @ member)
    total = np.maximum(degree[allowed], 1.0)
    score = np.where(inside >= _MIN_LINKS, inside / total[:, None] * inside**_COVER_EXPONENT, 0.0)
    best_region = score.argmax(axis=1) if len(allowed) else np.zeros(0, dtype=np.int64)
    names = []
    for code in range(n_regions):
        own_titles = np.flatnonzero((best_region == code) & (score[:, code] > 0))
        chosen: list[str] = []
        first_title = -1
        for at in own_titles[np.argsort(-score[own_titles, code], kind="stable")]:
            title = titles[allowed[at]]
            if title[:_STEM_LENGTH].casefold() in {
                chosen_title[:_STEM_LENGTH].casefold() for chosen_title in chosen
            }:
                continue
            # Two words without common items name two things, not one region.
            if (
                first_title < 0
                or _count_common_links(A, int(allowed[first_title]), int(allowed[at]))
                >= _MIN_COMMON
            ):
                chosen.append(title)
                first_title = at if first_title < 0 else first_title
            if len(chosen) == words:
                break
        names.append(" · ".join(chosen))
    return names


def _count_common_links(A: Sparse, row: int, other_row: int) -> int:
    """Return the number of items that link to both rows."""
    return len(np.intersect1d(A[[row]].indices, A[[other_row]].indices))

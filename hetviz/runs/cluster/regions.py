"""Named regions of a map at two levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints
from hetviz.core.clustering.partition import code_of_nearest, number_by_size, partition
from hetviz.core.graph.neighbors import nearest_places
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.names import GroupName, name_groups

LEVELS = (9, 30)
_MIN_REGION_SIZE = 12
_MAX_FITTED = 3_000
_CORE_SHARE, _MIN_CORE = 0.7, 8
_N_NEIGHBOURS = 10
_MIN_STAYED = 0.6


@dataclass(frozen=True, eq=False)
class RegionLevel:
    """One division of a map into regions.

    `codes` int (n_rows,): Region of each row, 0 for the largest; -1 without a place.
    `details`: Name of each region, with what it rests on.
    """

    codes: Ints
    details: tuple[GroupName, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the regions; empty where nothing is true of enough members."""
        return tuple(name.text for name in self.details)

    @property
    def is_true(self) -> Bools:
        """Rows that the name of their region is true of."""
        mask = np.zeros(len(self.codes), dtype=bool)
        for name in self.details:
            mask[name.rows] = True
        return mask


def find_regions(
    contrasts: Contrasts, Y: Floats, before: Sequence[tuple[Ints, Sequence[str]]] = ()
) -> tuple[RegionLevel, ...]:
    """Divide a map into regions, and name them by what is true of most of their members.

    `Y` (n_rows, 2): coordinates, NaN without a place. `before`: codes and names of each level of
    the map that this one was refitted from. Then a row belongs to the earlier region of most of its
    neighbours, and a name stays while 60 % of its members stay and it still holds.

    Returns about 9 regions, then about 30, with at least 12 items on average; empty with too few
    placed items. Otherwise regions are from Ward's linkage, fitted to at most 3,000 rows; the
    others join the nearest. See `hetviz.runs.cluster.names.name_groups` for the names. The core of
    a region are the 70 % of its members in the densest places.
    """
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    data = contrasts.data
    if len(placed) < 2 * _MIN_REGION_SIZE:
        return ()
    levels: list[RegionLevel] = []
    taken: list[str] = []
    for level, size in enumerate(LEVELS):
        kept: list[str] = []
        codes = np.full(data.n_rows, -1)
        if len(before) == len(LEVELS) and len(before[level][0]) == data.n_rows:
            earlier_codes, earlier_names = before[level]
            codes[placed] = _followed_codes(Y[placed], earlier_codes[placed])
            kept = _kept_names(codes, earlier_codes, earlier_names)
        else:
            codes[placed] = _ward_codes(Y[placed], min(size, len(placed) // _MIN_REGION_SIZE))
        # A region that lost all members keeps its number.
        n_regions = max(int(codes.max()) + 1, len(kept))
        details = name_groups(
            data,
            contrasts.facts,
            codes,
            n_regions,
            core=_core(Y, codes, n_regions),
            taken=taken,
            kept=kept,
            parts=1 if level else 2,
        )
        taken += [part for name in details for part in name.text.split(" · ") if part]
        levels.append(RegionLevel(codes, tuple(details)))
    return tuple(levels)


def regions(data: HeteroData, m: Embedding, *, before: Embedding | None = None) -> pd.DataFrame:
    """Return the named regions of a map, at two levels.

    A region is named by what is true of more than half of its members and of its core: a value of a
    category, an item that they are linked with, or a word. Otherwise it has no name.

    Parameters
    ----------
    data : HeteroData
    m : Embedding
        Map in the plane. Rows are matched by dataset and id.
    before : Embedding, optional
        Map that this one was refitted from. Regions follow their items, and names stay while they
        hold.

    Returns
    -------
    DataFrame
        One row per region, the largest first in each level:

        level
            0 for about 9 regions, 1 for about 30.
        name
            Empty without a name.
        share
            Share of the members that the name is true of, NaN without a name.
        true, members
            The same as numbers.
        account
            The same in words, such as "JetBlue Airways: 130 of 186 planes".
        x, y
            Place of the name: the densest place of the members that it is true of.
        rows
            Global rows of the members, in the order of `HeteroData.offsets`.

    Raises
    ------
    hetviz.errors.DataError
        If the map shares no row with the data.

    Notes
    -----
    Deterministic. O(n log n + nonzeros of links, categories and words).
    """
    contrasts = Contrasts(data)
    Y = _plane(data, m)
    earlier = [] if before is None else find_regions(contrasts, _plane(data, before))
    followed = [(level.codes, level.names) for level in earlier]
    records = []
    for number, level in enumerate(find_regions(contrasts, Y, followed)):
        for code, name in enumerate(level.details):
            members = np.flatnonzero(level.codes == code)
            if not len(members):
                continue
            x, y = _densest(Y[name.rows if len(name.rows) else members])
            records.append(
                (number, name.text, name.share, name.n_true, name.n_members, name.account, x, y,
                 members)
            )  # fmt: skip
    columns = ["level", "name", "share", "true", "members", "account", "x", "y", "rows"]
    return pd.DataFrame(records, columns=columns)


def _plane(data: HeteroData, m: Embedding) -> Floats:
    return np.vstack([places[:, :2] for places in coordinates_of(data, m).values()])


def _ward_codes(P: Floats, size: int) -> Ints:
    if len(P) <= _MAX_FITTED:
        return partition(P, "agglomerative", size)
    fitted = np.sort(np.random.default_rng(0).choice(len(P), _MAX_FITTED, replace=False))
    code = partition(P[fitted], "agglomerative", size)
    return number_by_size(P, code_of_nearest(P[fitted], code, P))


def _followed_codes(P: Floats, codes: Ints) -> Ints:
    """Return the earlier region of most of the neighbours of each row."""
    known = np.flatnonzero(codes >= 0)
    k = min(_N_NEIGHBOURS + 1, len(known))
    near = codes[known][nearest_places(P, P[known], k)]
    votes = np.zeros((len(P), int(codes.max()) + 1))
    np.add.at(votes, (np.arange(len(P))[:, None], near), 1.0)
    # A row keeps its region if its neighbours are of two minds.
    own = np.flatnonzero(codes >= 0)
    votes[own, codes[own]] += 0.5
    return np.asarray(votes.argmax(axis=1))


def _kept_names(codes: Ints, earlier_codes: Ints, earlier_names: Sequence[str]) -> list[str]:
    names = []
    for code, name in enumerate(earlier_names):
        members = earlier_codes == code
        stayed = (codes[members] == code).mean() if members.any() else 0.0
        names.append(name if stayed >= _MIN_STAYED else "")
    return names


def _core(Y: Floats, codes: Ints, n_regions: int) -> Bools:
    """Return the members of each region in its densest places."""
    core = np.zeros(len(codes), dtype=bool)
    for code in range(n_regions):
        rows = np.flatnonzero(codes == code)
        n_core = max(int(np.ceil(_CORE_SHARE * len(rows))), min(_MIN_CORE, len(rows)))
        core[rows[np.argsort(_crowding(Y[rows]), kind="stable")[:n_core]]] = True
    return core


def _crowding(P: Floats) -> Floats:
    """Return the distance of each place to its tenth nearest, smaller where it is denser."""
    k = min(_N_NEIGHBOURS, len(P) - 1)
    if k < 1:
        return np.zeros(len(P))
    farthest = P[nearest_places(P, P, k + 1)[:, -1]]
    return np.asarray(((P - farthest) ** 2).sum(axis=1))


def _densest(P: Floats) -> tuple[float, float]:
    x, y = P[int(np.argmin(_crowding(P)))]
    return float(x), float(y)

"""Links between or within groups of items, by a few typical pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from hetviz._types import Ints
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData, Links
from hetviz.data.model.checks import check_global_rows
from hetviz.errors import DataError, ParameterError
from hetviz.features.relations.label_links import distinct_pairs, typical_rows

DEFAULT_MAX_PAIRS = 60
"""Default number of pairs for two groups."""
DEFAULT_MAX_IN_TURN = 300
"""Default number of pairs if every item is to be in a pair."""


@dataclass(frozen=True, eq=False)
class GroupLinks(Sequence[Links]):
    """Links from groups of items, one `Links` per pair of datasets."""

    links: tuple[Links, ...]
    n_possible: int
    exemplars: tuple[Ints, ...]
    whole: bool = False

    def __len__(self) -> int:
        return len(self.links)

    def __iter__(self) -> Iterator[Links]:
        return iter(self.links)

    @overload
    def __getitem__(self, place: int) -> Links: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Links]: ...
    def __getitem__(self, place: int | slice) -> Links | Sequence[Links]:
        return self.links[place]

    @property
    def n_pairs(self) -> int:
        return sum(map(len, self.links))

    @property
    def account(self) -> str:
        """Selection of the pairs, in words."""
        if self.n_pairs == self.n_possible:
            return f"All {self.n_pairs:,} pairs." if self.n_pairs != 1 else "The only pair."
        if self.whole:
            return f"{self.n_pairs:,} of {self.n_possible:,} pairs. Every item is in one of them."
        items = " and ".join(f"{len(rows):,}" for rows in self.exemplars)
        return f"{self.n_pairs:,} of {self.n_possible:,} pairs, between {items} typical items."


@one_thread()
def links_between(
    data: HeteroData,
    rows_a: ArrayLike,
    rows_b: ArrayLike | None,
    weight: float,
    *,
    most: int | None = None,
    kind: str = "said",
    embedding: Embedding | None = None,
    in_turn: bool = False,
) -> GroupLinks:
    """Link two groups, or the items of one group, by a few typical pairs.

    Parameters
    ----------
    data : HeteroData
    rows_a, rows_b : array of int
        Global rows; without `rows_b`, pairs are within the first group.
    weight : float
        From -1 (apart) to 1 (together).
    most : int, optional
        Largest number of pairs; default 60.
    kind : str
    embedding : Embedding, optional
        Typical items are selected by these coordinates; default: by features, or evenly spread
        without features.
    in_turn : bool
        Pair all items in turn instead of all pairs of few items, so that the links cover every
        item: all pairs if there are at most 300, else 300 pairs within one group, or as many as
        the larger of two groups has items, unless `most` is given. Groups of more than 300 items
        are thinned.

    Returns
    -------
    GroupLinks
        Sequence of Links for ``data.edit().add``; its `account` describes the selection of pairs.

    Raises
    ------
    hetviz.errors.DataError
        If rows are unknown, no pair is possible, or the weight is out of range.

    Notes
    -----
    Rows of one object count once. Each dataset of a group gets exemplars in proportion to its
    items; more than 2,000 items of a dataset are first thinned evenly. The result is
    deterministic.
    """
    if most is not None and (isinstance(most, bool) or most < 1):
        raise ParameterError(f"most = {most!r} must be a whole number of 1 or more.")
    A = _objects(data, rows_a)
    if in_turn:
        return _links_in_turn(data, A, rows_b, weight, most, kind, embedding)
    limit = DEFAULT_MAX_PAIRS if most is None else int(most)
    if rows_b is None:
        n_possible = _n_possible(data, A)
        k = len(A) if n_possible <= limit else int((1 + np.sqrt(1 + 8 * limit)) / 2)
        chosen: tuple[Ints, ...] = (typical_rows(data, A, max(k, 2), embedding),)
        pairs = np.column_stack(np.triu_indices(len(chosen[0]), 1))
        p, q = chosen[0][pairs[:, 0]], chosen[0][pairs[:, 1]]
    else:
        B = _objects(data, rows_b)
        n_possible = _n_possible(data, A, B)
        a, b = (len(A), len(B)) if n_possible <= limit else _group_sizes(len(A), len(B), limit)
        chosen = (typical_rows(data, A, a, embedding), typical_rows(data, B, b, embedding))
        p, q = (side.ravel() for side in np.meshgrid(*chosen, indexing="ij"))
    return GroupLinks(
        links_between_rows(data, *_check_pairs(data, p, q), weight, kind), n_possible, chosen
    )


def _links_in_turn(
    data: HeteroData,
    A: Ints,
    rows_b: ArrayLike | None,
    weight: float,
    max_pairs: int | None,
    kind: str,
    embedding: Embedding | None,
) -> GroupLinks:
    groups = [A] if rows_b is None else [A, _objects(data, rows_b)]
    chosen = tuple(
        typical_rows(data, rows, max_pairs or DEFAULT_MAX_IN_TURN, embedding) for rows in groups
    )
    n_possible = _n_possible(data, *groups)
    ordered = sorted(chosen, key=len)
    other, longest = ordered[0], ordered[-1]
    usual = (
        DEFAULT_MAX_IN_TURN if rows_b is None or n_possible <= DEFAULT_MAX_IN_TURN else len(longest)
    )
    k = np.arange(min(max_pairs or usual, n_possible))
    round_, place = np.divmod(k, len(longest))
    # Within one group each item is paired with the next one, then with the one after that.
    partner = place + round_ + (rows_b is None)
    p, q = _check_pairs(data, longest[place], other[partner % len(other)])
    is_complete = all(len(rows) == len(group) for rows, group in zip(chosen, groups, strict=True))
    is_complete = is_complete and len(np.union1d(p, q)) == len(np.union1d(groups[0], groups[-1]))
    return GroupLinks(links_between_rows(data, p, q, weight, kind), n_possible, chosen, is_complete)


def _n_possible(data: HeteroData, A: Ints, B: Ints | None = None) -> int:
    if B is None:
        return len(A) * (len(A) - 1) // 2
    both = len(np.intersect1d(data.object_of[A], data.object_of[B]))
    return len(A) * len(B) - both - both * (both - 1) // 2


def _objects(data: HeteroData, rows: ArrayLike) -> Ints:
    """Return sorted rows, one per object."""
    unique = check_global_rows(rows, data.n_rows)
    _, first = np.unique(data.object_of[unique], return_index=True)
    return unique[np.sort(first)]


def _group_sizes(a: int, b: int, limit: int) -> tuple[int, int]:
    """Return proportional numbers of items of both groups that give at most `limit` pairs."""
    first = min(a, max(1, round(np.sqrt(limit * a / b))), limit)
    second = min(b, limit // first)
    return min(a, limit // second), second


def _check_pairs(data: HeteroData, p: Ints, q: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of different objects; raise if there are none."""
    p, q = distinct_pairs(data, p, q)
    if not len(p):
        message = "the groups have no pair of different items"
        raise DataError.of("no-pairs", "groups", message, remedy="Choose other items.")
    return p, q


def links_between_rows(
    data: HeteroData, p: Ints, q: Ints, weight: float, kind: str
) -> tuple[Links, ...]:
    """Return links between global rows, one `Links` per pair of datasets."""
    low, high = np.minimum(p, q), np.maximum(p, q)
    names = list(data.datasets)
    starts = np.array([span.start for span in data.offsets.values()])
    i, j = (np.searchsorted(starts, side, side="right") - 1 for side in (low, high))
    return tuple(
        Links(names[a], names[b], low[here] - starts[a], high[here] - starts[b], weight, kind=kind)
        for a, b in np.unique(np.column_stack([i, j]), axis=0).tolist()
        if len(here := np.flatnonzero((i == a) & (j == b)))
    )

"""Links from groups of items: a few typical pairs stand for all that could be made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from hetviz._types import Ints, JsonObject
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData, Links
from hetviz.data.model.checks import check_global_rows
from hetviz.errors import DataError, ParameterError, Problem
from hetviz.features.relations.label_links import distinct_pairs, typical_rows

DEFAULT_MAX_PAIRS = 60
"""So many pairs stand for two groups unless another number is given."""
DEFAULT_MAX_IN_TURN = 300
"""Likewise, where every item is to be in a pair."""


@dataclass(frozen=True, eq=False)
class GroupLinks(Sequence[Links]):
    """Links that groups of items give, one `Links` for each two datasets.

    Attributes
    ----------
    links : tuple of Links
    n_possible : int
        Pairs of different objects that the groups could make.
    exemplars : tuple of array of int
        Global rows that stand for each group, in order.
    whole : bool
        Whether every item of the groups is in a pair.
    """

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
        """Pairs that were made."""
        return sum(map(len, self.links))

    @property
    def account(self) -> str:
        """How the pairs were chosen, in words."""
        if self.n_pairs == self.n_possible:
            return f"All {self.n_pairs:,} pairs." if self.n_pairs != 1 else "The one pair."
        if self.whole:
            return f"{self.n_pairs:,} of {self.n_possible:,} pairs: every item is in one."
        items = " and ".join(f"{len(rows):,}" for rows in self.exemplars)
        return f"{self.n_pairs:,} of {self.n_possible:,} pairs, between {items} typical items."

    def to_command(self, data: HeteroData, note: str = "", set: str = "") -> JsonObject:
        """Return the command, as a JSON-ready dictionary, that adds these links in one step."""
        kinds = {links.kind for links in self.links}
        return {
            "op": "add-pairs",
            "pairs": [
                [[links.source, str(a)], [links.target, str(b)]]
                for links in self.links
                for a, b in zip(
                    data[links.source].ids[links.i], data[links.target].ids[links.j], strict=True
                )
            ],
            "weight": [float(weight) for links in self.links for weight in links.weight],
            "kind": kinds.pop() if len(kinds) == 1 else "said",
            "note": note,
            "set": set,
        }


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
    """Say how near two groups belong, or the items of one, by a few typical pairs.

    Parameters
    ----------
    data : HeteroData
    rows_a, rows_b : array of int
        Global rows; without `rows_b`, pairs are made within the first group.
    weight : float
        From -1 (apart) to 1 (together).
    most : int, optional
        At most so many pairs; 60 unless given.
    kind : str
    embedding : Embedding, optional
        Typical by these places; else by features, and evenly spread where there are none.
    in_turn : bool
        Not all pairs of few items, but pairs of all items, each in its turn, so that what is said
        holds for every one of them: all pairs where there are no more than 300, else 300 of
        one group, or as many as the larger of two has, unless `most` is given. Groups of more than
        300 items are thinned.

    Returns
    -------
    GroupLinks
        A sequence of Links that ``data.edit().add`` takes; its `account` says how many pairs
        could be made and how they were thinned.

    Raises
    ------
    hetviz.errors.DataError
        If there are no such rows, no pair can be made, or the weight is out of range.

    Notes
    -----
    Rows that show one object count once. Each dataset of a group gets exemplars in proportion to
    its items; groups of more than 2,000 items of a dataset are first thinned evenly. The result is
    the same for the same input.
    """
    if most is not None and (isinstance(most, bool) or most < 1):
        raise ParameterError(f"most = {most!r}; it must be a whole number of 1 or more.")
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
        _link_blocks(data, *_check_pairs(data, p, q), weight, kind), n_possible, chosen
    )


def _links_in_turn(
    data: HeteroData,
    A: Ints,
    rows_b: ArrayLike | None,
    weight: float,
    most: int | None,
    kind: str,
    embedding: Embedding | None,
) -> GroupLinks:
    groups = [A] if rows_b is None else [A, _objects(data, rows_b)]
    chosen = tuple(
        typical_rows(data, rows, most or DEFAULT_MAX_IN_TURN, embedding) for rows in groups
    )
    n_possible = _n_possible(data, *groups)
    ordered = sorted(chosen, key=len)
    other, longest = ordered[0], ordered[-1]
    usual = (
        DEFAULT_MAX_IN_TURN if rows_b is None or n_possible <= DEFAULT_MAX_IN_TURN else len(longest)
    )
    k = np.arange(min(most or usual, n_possible))
    round_, place = np.divmod(k, len(longest))
    # Within one group each item is paired with the next, and in the next round with that after.
    turn = place + round_ + (rows_b is None)
    p, q = _check_pairs(data, longest[place], other[turn % len(other)])
    whole = all(len(rows) == len(group) for rows, group in zip(chosen, groups, strict=True))
    whole = whole and len(np.union1d(p, q)) == len(np.union1d(groups[0], groups[-1]))
    return GroupLinks(_link_blocks(data, p, q, weight, kind), n_possible, chosen, whole)


def _n_possible(data: HeteroData, A: Ints, B: Ints | None = None) -> int:
    if B is None:
        return len(A) * (len(A) - 1) // 2
    both = len(np.intersect1d(data.object_of[A], data.object_of[B]))
    return len(A) * len(B) - both - both * (both - 1) // 2


def _objects(data: HeteroData, rows: ArrayLike) -> Ints:
    """Return the rows in order, one for each object."""
    unique = check_global_rows(rows, data.n_rows)
    _, first = np.unique(data.object_of[unique], return_index=True)
    return unique[np.sort(first)]


def _group_sizes(a: int, b: int, limit: int) -> tuple[int, int]:
    """Return how many of `a` and of `b` items make at most `limit` pairs, about in proportion."""
    first = min(a, max(1, round(np.sqrt(limit * a / b))), limit)
    second = min(b, limit // first)
    return min(a, limit // second), second


def _check_pairs(data: HeteroData, p: Ints, q: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of different objects; refuse where there is none."""
    p, q = distinct_pairs(data, p, q)
    if not len(p):
        what = "no pair of different items can be made of the groups"
        raise DataError(Problem("no-pairs", "groups", what, remedy="Choose other items."))
    return p, q


def _link_blocks(data: HeteroData, p: Ints, q: Ints, weight: float, kind: str) -> tuple[Links, ...]:
    low, high = np.minimum(p, q), np.maximum(p, q)
    names = list(data.datasets)
    starts = np.array([span.start for span in data.offsets.values()])
    i, j = (np.searchsorted(starts, side, side="right") - 1 for side in (low, high))
    return tuple(
        Links(
            names[a],
            names[b],
            low[here] - starts[a],
            high[here] - starts[b],
            weight,
            kind=kind,
        )
        for a, b in np.unique(np.column_stack([i, j]), axis=0).tolist()
        if len(here := np.flatnonzero((i == a) & (j == b)))
    )

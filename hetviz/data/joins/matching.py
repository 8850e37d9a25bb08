"""Items of two datasets that share a key: the same id, or the same value of a column."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.data.joins.keys import Loose, alone, columns_keys, members, quoted
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError, DataWarning, Problem

MOST_PAIRS = 1_000_000
_BETWEEN = "\x00"


@dataclass(frozen=True, eq=False)
class Match:
    """Pairs of rows that belong together.

    Attributes
    ----------
    source, target : str
    i, j : array of int, shape (m,)
        Rows of `source` and of `target`, pair by pair.
    source_alone, target_alone : array of int
        Rows of each that have no partner, in order; rows without a key are among them.
    weight : array of shape (m,) or None
        Above 0 to 1; None for 1 each.
    kind : str
        What the links are called unless they get another name.
    told : tuple of str
        What must be said of the pairs, in sentences.
    crossed : int
        Pairs of keys that stand in several rows of both datasets.
    made : Dataset or None
        The target, where it is not among the data yet.
    """

    source: str
    target: str
    i: Ints
    j: Ints
    source_alone: Ints
    target_alone: Ints
    weight: Floats | None = None
    kind: str = "link"
    told: tuple[str, ...] = ()
    crossed: int = 0
    made: Dataset | None = None

    def links(self, kind: str | None = None) -> Links:
        """Return the pairs as links."""
        return Links(
            self.source,
            self.target,
            self.i,
            self.j,
            self.weight,
            kind=self.kind if kind is None else kind,
            role="relation",
        )

    def added_to(self, data: HeteroData, kind: str | None = None) -> HeteroData:
        """Return `data` with the links, and with the new dataset where there is one."""
        made = () if self.made is None else (self.made,)
        return data.edit().add(*made, self.links(kind))


def match_by_key(
    data: HeteroData,
    source: str,
    source_column: str,
    target: str,
    target_column: str,
    *,
    loose: Loose = False,
    also: Sequence[tuple[str, str]] = (),
) -> Match:
    """Pair the items of two datasets whose keys are the same text.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Two different datasets.
    source_column, target_column : str
        Columns of their tables; empty for the ids. Blanks around a key do not count, and a whole
        number is the same key whether it is written 7 or 7.0.
    loose : bool or "spelling"
        Compare as `hetviz.data.joins.keys.folded` does: case, blanks and Unicode forms do not
        count; with "spelling", accents and punctuation of words do not either.
    also : sequence of (str, str)
        Further columns, of `source` and of `target`, that must agree too.

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, or the keys name more than 1,000,000 pairs; those
        are counted before any is made.

    Notes
    -----
    Costs O(n log n + pairs).
    """
    two_datasets(source, target, "links by key")
    columns = [(source_column, target_column), *also]
    # A sign that no text of a table has, so that "a b" + "c" is not "a" + "b c".
    left = columns_keys(data[source], [first for first, _ in columns], loose, _BETWEEN)
    right = columns_keys(data[target], [second for _, second in columns], loose, _BETWEEN)
    known = pd.Index(right.different, dtype=object)
    to = known.get_indexer(pd.Index(left.different, dtype=object)).astype(np.int64)
    keys = np.flatnonzero(to >= 0)
    uses = left.uses[keys], right.uses[to[keys]]
    each = uses[0] * uses[1]
    pairs = int(each.sum())
    if pairs > MOST_PAIRS:
        worst = int(np.argmax(each))
        too_many_pairs(
            f"links {source} - {target} by key",
            f"the keys name {pairs:,} pairs of {len(data[source]):,} and {len(data[target]):,} "
            f"rows ({_said(left.different[keys[worst]])!r} alone stands in {uses[0][worst]:,} rows "
            f"of {source} and {uses[1][worst]:,} of {target})",
            "Choose a column whose values differ more from row to row.",
        )
    i, j = members(np.append(to, -1)[left.at], right.at)
    crossed = (uses[0] > 1) & (uses[1] > 1)
    return paired(
        data,
        source,
        target,
        i,
        j,
        kind=f"same {' and '.join(first or 'id' for first, _ in columns)}",
        told=_told(source, target, left.different[keys], uses, crossed),
        crossed=int(each[crossed].sum()),
    )


def links_by_key(
    data: HeteroData,
    source: str,
    target: str,
    source_column: str = "",
    target_column: str = "",
    *,
    loose: Loose = False,
    kind: str | None = None,
    also: Sequence[tuple[str, str]] = (),
) -> Links:
    """Link the items of two datasets that share an id or the value of a column.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Two different datasets; the order of their rows plays no part.
    source_column, target_column : str
        Columns of their tables; empty for the ids.
    loose : bool or "spelling"
        Whether upper and lower case, blanks and Unicode forms do not count; with "spelling",
        accents and punctuation of words do not either.
    kind : str, optional
        What to call the links; "same <source_column>" unless given.
    also : sequence of (str, str)
        Further columns, of `source` and of `target`, that must agree too.

    Returns
    -------
    Links
        A link of weight 1 for each pair, ordered by row of `source`; role "relation".

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, or the keys name more than 1,000,000 pairs.

    Warns
    -----
    hetviz.errors.DataWarning
        If keys stand in several rows of both datasets: each row is linked with each.

    Notes
    -----
    Costs O(n log n + links).

    Examples
    --------
    >>> from hetviz import Dataset, HeteroData, links_by_key
    >>> data = HeteroData([Dataset("a", ["x", "Y"]), Dataset("b", ["y", "x"])])
    >>> links_by_key(data, "a", "b", loose=True).j.tolist()
    [1, 0]
    """
    match = match_by_key(data, source, source_column, target, target_column, loose=loose, also=also)
    if match.crossed:
        warnings.warn(" ".join(match.told), DataWarning, stacklevel=2)
    return match.links(kind)


def paired(
    data: HeteroData,
    source: str,
    target: str,
    i: Ints,
    j: Ints,
    *,
    made: Dataset | None = None,
    weight: Floats | None = None,
    kind: str = "link",
    told: tuple[str, ...] = (),
    crossed: int = 0,
) -> Match:
    """Return a match with the rows that have no partner."""
    n_target = len(data[target] if made is None else made)
    lone = alone(i, len(data[source])), alone(j, n_target)
    return Match(source, target, i, j, *lone, weight, kind, told, crossed, made)


def two_datasets(source: str, target: str, where: str) -> None:
    """Refuse to join a dataset with itself."""
    if source == target:
        raise DataError(Problem("one-dataset", where, "two different datasets are needed", source))


def too_many_pairs(where: str, counted: str, remedy: str) -> None:
    """Refuse more pairs than are allowed, before they are made."""
    raise DataError(
        Problem("too-many-pairs", where, f"{counted}; {MOST_PAIRS:,} are allowed", remedy=remedy)
    )


def _said(key: str) -> str:
    """Return a key of several columns as people write it."""
    return key.replace(_BETWEEN, " + ")


def _told(
    source: str,
    target: str,
    keys: Texts,
    uses: tuple[Ints, Ints],
    crossed: Bools,
) -> tuple[str, ...]:
    """Say how many rows of the one a row of the other is paired with."""
    if not len(keys):
        return ()
    each = uses[0] * uses[1]
    if crossed.any():
        several = sorted(map(_said, keys[crossed].tolist()))
        one = len(several) == 1
        return (
            f"{len(several):,} {'key stands' if one else 'keys stand'} in several rows of both "
            f"({quoted(several)}): each row is paired with each, which makes "
            f"{int(each[crossed].sum()):,} of the {int(each.sum()):,} pairs.",
        )
    most_a, most_b = (int(side.max()) for side in uses)
    if most_a == 1 and most_b == 1:
        return ("Each of them has exactly one partner.",)
    many, one_of, most = (source, target, most_a) if most_a > 1 else (target, source, most_b)
    return (f"A row of {one_of} is paired with up to {most:,} rows of {many}.",)

"""Matching of items of two datasets by shared keys."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.data.joins.keys import (
    LooseKeys,
    combined_keys,
    matching_pairs,
    quote_values,
    rows_without,
)
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError, DataWarning

MAX_PAIRS = 1_000_000
PROBABILITY = "probability"
"""Column of the meta table of proposed links that were judged."""
_KEY_SEPARATOR = "\x00"


@dataclass(frozen=True, eq=False)
class Match:
    """Matching pairs of rows of two datasets.

    Attributes
    ----------
    source, target : str
    i, j : array of int, shape (m,)
        Rows of `source` and of `target`, pair by pair.
    unmatched_source, unmatched_target : array of int
        Rows of each dataset without a partner, in order, including rows without a key.
    weight : array of shape (m,) or None
        Weights above 0, at most 1; None for 1 each.
    kind : str
        Default kind of the links.
    messages : tuple of str
        Messages about the pairs, in sentences.
    crossed : int
        Number of pairs by keys that occur in several rows of both datasets.
    new_dataset : Dataset or None
        The target dataset if it is new.
    probability : array of shape (m,) or None
        Probabilities that proposed pairs are right, if they are known.
    """

    source: str
    target: str
    i: Ints
    j: Ints
    unmatched_source: Ints
    unmatched_target: Ints
    weight: Floats | None = None
    kind: str = "link"
    messages: tuple[str, ...] = ()
    crossed: int = 0
    new_dataset: Dataset | None = None
    probability: Floats | None = None

    def links(self, kind: str | None = None) -> Links:
        return Links(
            self.source,
            self.target,
            self.i,
            self.j,
            self.weight,
            kind=self.kind if kind is None else kind,
            role="relation",
            meta=None
            if self.probability is None
            else pd.DataFrame({PROBABILITY: self.probability}),
        )

    def add_to(self, data: HeteroData, kind: str | None = None) -> HeteroData:
        """Return `data` with the links and the new dataset, if any."""
        new = () if self.new_dataset is None else (self.new_dataset,)
        return data.edit().add(*new, self.links(kind))


def match_by_key(
    data: HeteroData,
    source: str,
    source_column: str,
    target: str,
    target_column: str,
    *,
    loose: LooseKeys = False,
    also: Sequence[tuple[str, str]] = (),
) -> Match:
    """Match the items of two datasets with equal keys, or of one by a key to its own rows."""
    columns = [(source_column, target_column), *also]
    if all(first == second for first, second in columns):
        check_two_datasets(source, target, "links by key")
    # The separator occurs in no table text, so "a b" + "c" differs from "a" + "b c".
    left = combined_keys(data[source], [first for first, _ in columns], loose, _KEY_SEPARATOR)
    right = combined_keys(data[target], [second for _, second in columns], loose, _KEY_SEPARATOR)
    right_keys = pd.Index(right.distinct, dtype=object)
    position = right_keys.get_indexer(pd.Index(left.distinct, dtype=object)).astype(np.int64)
    keys = np.flatnonzero(position >= 0)
    uses = left.uses[keys], right.uses[position[keys]]
    n_pairs = uses[0] * uses[1]
    pairs = int(n_pairs.sum())
    if pairs > MAX_PAIRS:
        worst = int(np.argmax(n_pairs))
        raise_too_many_pairs(
            f"links {source} - {target} by key",
            f"the keys give {pairs:,} pairs of {len(data[source]):,} and {len(data[target]):,} "
            f"rows ({_readable_key(left.distinct[keys[worst]])!r} alone occurs in "
            f"{uses[0][worst]:,} rows of {source} and {uses[1][worst]:,} of {target})",
            "Choose a column with more distinct values.",
        )
    i, j = matching_pairs(np.append(position, -1)[left.at], right.at)
    if source == target:
        i, j = _pairs_within(i, j)
    crossed = (uses[0] > 1) & (uses[1] > 1)
    return make_match(
        data,
        source,
        target,
        i,
        j,
        kind=f"same {' and '.join(first or 'id' for first, _ in columns)}",
        messages=_match_messages(source, target, left.distinct[keys], uses, crossed),
        crossed=int(n_pairs[crossed].sum()),
    )


def _pairs_within(i: Ints, j: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of different rows of one dataset, each once."""
    pairs = np.column_stack([i, j])[i != j]
    _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    pairs = pairs[np.sort(first)]
    return pairs[:, 0], pairs[:, 1]


def links_by_key(
    data: HeteroData,
    source: str,
    target: str,
    source_column: str = "",
    target_column: str = "",
    *,
    loose: LooseKeys = False,
    kind: str | None = None,
    also: Sequence[tuple[str, str]] = (),
) -> Links:
    """Link the items of two datasets that share an id or the value of a column.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Datasets; the order of their rows does not matter. They may be the same if the columns
        differ, as for a column that names other rows of its table.
    source_column, target_column : str
        Columns of their tables; empty for the ids.
    loose : bool, "spelling" or "zeros"
        Ignore upper and lower case, blanks and Unicode forms; with "spelling", also accents and
        punctuation of words; with "zeros", also zeros in front of whole numbers.
    kind : str, optional
        Kind of the links; default: "same <source_column>".
    also : sequence of (str, str)
        Further columns of `source` and `target` that must agree too.

    Returns
    -------
    Links
        A link of weight 1 for each pair, ordered by row of `source`; role "relation".

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, or there are more than 1,000,000 pairs.

    Warns
    -----
    hetviz.errors.DataWarning
        If keys occur in several rows of both datasets; all combinations are linked.

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
        warnings.warn(" ".join(match.messages), DataWarning, stacklevel=2)
    return match.links(kind)


def make_match(
    data: HeteroData,
    source: str,
    target: str,
    i: Ints,
    j: Ints,
    *,
    new_dataset: Dataset | None = None,
    weight: Floats | None = None,
    kind: str = "link",
    messages: tuple[str, ...] = (),
    crossed: int = 0,
    probability: Floats | None = None,
) -> Match:
    """Return a `Match` with the rows that have no partner."""
    n_target = len(data[target] if new_dataset is None else new_dataset)
    unmatched = rows_without(i, len(data[source])), rows_without(j, n_target)
    return Match(
        source, target, i, j, *unmatched, weight, kind, messages, crossed, new_dataset, probability
    )


def check_two_datasets(source: str, target: str, where: str) -> None:
    """Raise if source and target are the same dataset."""
    if source == target:
        raise DataError.of("one-dataset", where, "two different datasets are needed", source)


def raise_too_many_pairs(where: str, counted: str, remedy: str) -> None:
    """Raise the error of more pairs than allowed."""
    raise DataError.of(
        "too-many-pairs", where, f"{counted}, at most {MAX_PAIRS:,} are allowed", remedy=remedy
    )


def _readable_key(key: str) -> str:
    """Return a combined key in readable form."""
    return key.replace(_KEY_SEPARATOR, " + ")


def _match_messages(
    source: str, target: str, keys: Texts, uses: tuple[Ints, Ints], crossed: Bools
) -> tuple[str, ...]:
    """Return messages about keys that match several rows."""
    if not len(keys):
        return ()
    n_pairs = uses[0] * uses[1]
    if crossed.any():
        repeated = sorted(map(_readable_key, keys[crossed].tolist()))
        is_single = len(repeated) == 1
        return (
            f"{len(repeated):,} {'key occurs' if is_single else 'keys occur'} in several rows of "
            f"both ({quote_values(repeated)}). All combinations are paired: "
            f"{int(n_pairs[crossed].sum()):,} of {int(n_pairs.sum()):,} pairs.",
        )
    most_a, most_b = (int(side.max()) for side in uses)
    if most_a == 1 and most_b == 1:
        return ("Each has exactly one partner.",)
    many, one_of, max_partners = (
        (source, target, most_a) if most_a > 1 else (target, source, most_b)
    )
    return (f"Some rows of {one_of} match up to {max_partners:,} rows of {many}.",)

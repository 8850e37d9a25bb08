"""Columns that list several items in a cell: their entries, and links by them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain

import numpy as np
import pandas as pd

from hetviz._pandas import factorized
from hetviz._types import Floats, Ints
from hetviz.data.joins.keys import (
    Keys,
    all_folded,
    all_stripped,
    column_keys,
    kept,
    keys_of,
    members,
    quoted,
)
from hetviz.data.joins.matching import MOST_PAIRS, Match, paired, too_many_pairs, two_datasets
from hetviz.data.model.checks import MAX_ID_LENGTH
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError, ParameterError, Problem

SEPARATORS = (";", "|", "\n", ",", "/")
_LISTS_FROM = 0.2
_WORDS_MOST = 3.0
_SAMPLED = 2_000
# Different beginnings of paths, for each of them, at most.
_BEGINNINGS = 0.2

_DECIMAL = re.compile(r"[<>~]?\s*[+-]?\d[\d.]*,\d+\s*\S{0,5}")

WEIGHTS = ("rare", "same")
MOST_TAGS = 100_000
# Uses up to which a tag counts fully.
_FULL = 3


def separator_of(cells: Iterable[str]) -> str | None:
    """Return the sign that parts the entries of a column, or None where it lists nothing.

    A fifth of the different cells must have it, and entries must be short, three words in the mean:
    prose has commas too. Of more than 2,000 different cells, 2,000 are looked at, the same ones
    whatever their order.
    """
    different = {cell for cell in cells if cell}
    whole = "".join(different)
    if not any(sign in whole for sign in SEPARATORS):
        return None
    held = _some(different)
    best, most = None, max(1.0, _LISTS_FROM * len(held))
    for sign in SEPARATORS:
        listing = [cell for cell in held if sign in cell]
        if len(listing) < most:
            continue
        if sign in ",/" and not _are_lists(held, listing, sign):
            continue
        parts = [part for cell in listing for part in cell.split(sign) if part.strip()]
        words = sum(len(part.split()) for part in parts) / max(1, len(parts))
        if words <= _WORDS_MOST and len(parts) > len(listing):
            best, most = sign, len(listing) + 1.0
    return best


def _are_lists(held: list[str], listing: list[str], sign: str) -> bool:
    """Whether what stands between commas or slashes are entries of lists.

    Numbers with a decimal comma are none, and neither are names in parts, as America/New_York or
    Denver, CO: what stands first in them never stands later. Nor are the paths of files and
    addresses: few beginnings, and ends of which most stand in one of them only.
    """
    if sum(bool(_DECIMAL.fullmatch(cell.strip())) for cell in listing) > 0.5 * len(listing):
        return False
    split = [[part.strip() for part in cell.split(sign)] for cell in listing]
    first = [parts[0] for parts in split]
    later = {part for parts in split for part in parts[1:]}
    if sign == "/":
        ends = Counter(parts[-1] for parts in split)
        once = sum(ends[parts[-1]] == 1 for parts in split)
        if len(set(first)) <= _BEGINNINGS * len(split) and once > 0.5 * len(split):
            return False
    alone = {cell.strip() for cell in held if sign not in cell}
    if any(part in later for part in first) or any(one in alone for one in (*first, *later)):
        return True
    # Entries of which none occurs twice: more or fewer of them in some cells, after commas.
    return sign == "," and (bool(alone) or len({len(parts) for parts in split}) > 1)


def _some(cells: set[str]) -> list[str]:
    """Return the cells whose hashes are the least, as many as are looked at."""
    texts = list(cells)
    if len(texts) <= _SAMPLED:
        return texts
    hashes = pd.util.hash_array(np.array(texts, dtype=object), categorize=False)
    return [texts[at] for at in np.argpartition(hashes, _SAMPLED)[:_SAMPLED]]


def entries_of(dataset: Dataset, column: str, separator: str, loose: bool = False) -> pd.DataFrame:
    """Return what a column lists: row, text and key of each entry, each key once a row.

    It is read once a dataset, and must not be changed.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column.
    hetviz.errors.ParameterError
        If there is no separator.

    Notes
    -----
    O(entries), with Python's work for each different cell.
    """
    if not separator:
        raise ParameterError("separator is empty; it must be the sign between two entries.")
    key = ("entries", column, separator, loose)
    return kept(dataset, key, lambda: _entries(column_keys(dataset, column), separator, loose), len)


def _entries(cells: Keys, separator: str, loose: bool) -> pd.DataFrame:
    listed = [text.split(separator) for text in cells.different.tolist()]
    cell = np.repeat(np.arange(len(listed)), np.array(list(map(len, listed)), dtype=np.int64))
    as_read, parts = factorized(list(chain.from_iterable(listed)))
    at, texts = factorized(all_stripped(list(parts)), sort=True)
    keys = np.array(all_folded(list(texts)), dtype=object) if loose else texts
    key, different = factorized(keys)
    at = at[as_read]
    # Of entries of a cell that are one key, the first in the alphabet stands.
    order = np.lexsort((at, cell))
    order = order[(keys != "")[at[order]]]
    again = pd.Series(cell[order] * max(1, len(different)) + key[at[order]]).duplicated()
    order = order[~again.to_numpy()]
    rows, of = members(cells.at, cell[order])
    at = at[order][of]
    return pd.DataFrame(
        {
            "row": rows,
            "text": pd.Series(np.asarray(texts, dtype=object)[at], dtype=object),
            "key": pd.Series(np.asarray(different, dtype=object)[key[at]], dtype=object),
        }
    )


def rarity(uses: Ints) -> Floats:
    """Return min(1, sqrt(3 / uses)): what a link to an entry weighs that so many items list."""
    return np.minimum(1.0, np.sqrt(_FULL / np.maximum(uses, 1)))


def dataset_from_list(
    data: HeteroData,
    source: str,
    column: str,
    name: str | None = None,
    separator: str = ";",
    *,
    loose: bool = True,
) -> Dataset:
    """Return a dataset of the distinct entries that a column lists, without features.

    Parameters
    ----------
    data : HeteroData
    source : str
    column : str
        Its cells hold entries with `separator` between them, as in "red; round".
    name : str, optional
        What to call it; the column's name unless given.
    separator : str
    loose : bool
        Whether entries that differ only in case, blanks or Unicode form are one; it is called as
        it is written most often.

    Returns
    -------
    Dataset
        The entries are the ids, most used first; the table counts their uses.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column, it lists nothing, an entry has more than 256 characters, or
        there are more than 100,000.

    Notes
    -----
    Costs O(entries log entries).
    """
    return _dataset(
        data, source, column, name or column, entries_of(data[source], column, separator, loose)
    )


def match_by_list(
    data: HeteroData,
    source: str,
    column: str,
    target: str,
    target_column: str | None = None,
    separator: str = ";",
    *,
    loose: bool = True,
    weight: str = "rare",
    make: bool = False,
) -> Match:
    """Pair items with the items of another dataset that a column of theirs lists.

    Parameters
    ----------
    data, source, column, target, target_column, separator, loose, weight
        As of `links_by_list`.
    make : bool
        Make a new dataset of the distinct entries and call it `target`.

    Raises
    ------
    hetviz.errors.DataError, hetviz.errors.ParameterError
        As `links_by_list`; with `make` also as `dataset_from_list`.
    """
    where = f"links {source} - {target} by {column}"
    if weight not in WEIGHTS:
        raise ParameterError(f"weight = {weight!r}; it must be one of {', '.join(WEIGHTS)}.")
    two_datasets(source, target, where)
    entries = entries_of(data[source], column, separator, loose)
    made = None
    if make:
        if target in data.datasets:
            what = "a dataset has this name already"
            raise DataError(Problem("duplicate-name", where, what, target, "Choose another name."))
        made = _dataset(data, source, column, target, entries)
        keys = keys_of(made, "", loose)
    elif target_column is None:
        keys = _better_keys(data[target], entries, loose)
    else:
        keys = keys_of(data[target], target_column, loose)
    uses = entries["key"].value_counts()
    rows = keys.value_counts()
    pairs = int((uses * rows.reindex(uses.index).fillna(0)).sum())
    if pairs > MOST_PAIRS:
        too_many_pairs(
            where,
            f"{len(entries):,} entries name {pairs:,} pairs",
            "Choose a column whose values differ more from row to row.",
        )
    joined = entries.merge(keys.to_frame("key").assign(j=keys.index), on="key")
    joined = joined.sort_values(["row", "j"]).drop_duplicates(["row", "j"])
    weights = rarity(np.asarray(joined["key"].map(uses), np.int64)) if weight == "rare" else None
    return paired(
        data,
        source,
        target,
        joined["row"].to_numpy(np.int64),
        joined["j"].to_numpy(np.int64),
        made=made,
        weight=weights,
        kind=column,
        told=_told(entries, keys, uses, target, weight),
    )


def links_by_list(
    data: HeteroData,
    source: str,
    column: str,
    target: str,
    target_column: str | None = None,
    separator: str = ";",
    *,
    loose: bool = True,
    weight: str = "rare",
    kind: str | None = None,
) -> Links:
    """Link items with the items of another dataset that a column of theirs lists.

    Parameters
    ----------
    data : HeteroData
    source : str
    column : str
        Its cells hold entries with `separator` between them, as in "red; round".
    target : str
        Another dataset; for one of the entries themselves see `dataset_from_list`.
    target_column : str, optional
        Which column of `target` the entries name; empty for the ids. Unless given, ids or titles,
        whichever more entries name.
    separator : str
    loose : bool
        Whether upper and lower case, blanks and Unicode forms do not count.
    weight : {"rare", "same"}
        "rare": a link weighs min(1, sqrt(3 / u)) where u items list the entry, so that what nearly
        all have draws less; "same": 1 each.
    kind : str, optional
        What to call the links; the column's name unless given.

    Returns
    -------
    Links
        Ordered by row of `source`; role "relation".

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, or the entries name more than 1,000,000 pairs.
    hetviz.errors.ParameterError
        For another `weight`, or no separator.

    Notes
    -----
    Costs O(entries log entries + links).

    Examples
    --------
    >>> import pandas as pd
    >>> from hetviz import Dataset, HeteroData, links_by_list
    >>> toys = Dataset("toys", ["ball", "die"], table=pd.DataFrame({"is": ["red; round", "red"]}))
    >>> links_by_list(HeteroData([toys, Dataset("looks", ["round", "red"])]), "toys", "is",
    ...               "looks").j.tolist()
    [0, 1, 1]
    """
    found = match_by_list(
        data, source, column, target, target_column, separator, loose=loose, weight=weight
    )
    return found.links(kind)


def _better_keys(target: Dataset, entries: pd.DataFrame, loose: bool) -> pd.Series:
    """Return ids or titles, whichever more entries name."""
    ids = keys_of(target, "", loose)
    if target.title_column is None:
        return ids
    titles = keys_of(target, target.title_column, loose)
    named = [int(entries["key"].isin(set(keys)).sum()) for keys in (ids, titles)]
    return titles if named[1] > named[0] else ids


def _dataset(
    data: HeteroData, source: str, column: str, name: str, entries: pd.DataFrame
) -> Dataset:
    where = f"dataset {source!r}, column {column!r}"
    if not len(entries):
        raise DataError(
            Problem("no-entries", where, "no cell holds an entry", remedy="Choose another column.")
        )
    # The commonest spelling stands for a key, the first in the alphabet among equals.
    spelled = entries.groupby(["key", "text"]).size().reset_index(name="n")
    spelled = spelled.sort_values(["key", "n", "text"], ascending=[True, False, True])
    first = spelled.drop_duplicates("key").set_index("key")["text"]
    uses = entries["key"].value_counts()
    if len(uses) > MOST_TAGS:
        what = f"it lists {len(uses):,} different entries; {MOST_TAGS:,} are allowed"
        raise DataError(Problem("too-many-entries", where, what, remedy="Choose another column."))
    tags = pd.DataFrame({"text": first, "uses": uses.reindex(first.index)})
    tags = tags.sort_values(["uses", "text"], ascending=[False, True])
    long = [text for text in tags["text"] if len(text) > MAX_ID_LENGTH]
    if long:
        what = f"an entry has {len(long[0])} characters; {MAX_ID_LENGTH} are allowed"
        remedy = "Is another sign between the entries?"
        raise DataError(Problem("long-entry", where, what, long[0][:40] + "…", remedy))
    table = tags[["uses"]].reset_index(drop=True)
    return Dataset(name, tags["text"].tolist(), table=table)


def _told(
    entries: pd.DataFrame, keys: pd.Series, uses: pd.Series, target: str, weight: str
) -> tuple[str, ...]:
    lost = entries[~entries["key"].isin(set(keys))].drop_duplicates("key")
    told = []
    if len(lost):
        lost = lost.assign(uses=lost["key"].map(uses))
        lost = lost.sort_values(["uses", "key"], ascending=[False, True])
        told.append(f"Not in {target}: {quoted(lost['text'].tolist())}.")
    if weight == "rare" and len(uses) and int(uses.max()) > _FULL:
        top = int(uses.max())
        told.append(
            f"What up to {_FULL} items list weighs 1; what more list weighs less, down to "
            f"{float(rarity(np.array([top]))[0]):.2g} for what {top:,} list."
        )
    return tuple(told)

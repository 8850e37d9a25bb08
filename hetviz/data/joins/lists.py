"""Columns with lists in their cells: entries, and links by entries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain

import numpy as np
import pandas as pd

from hetviz._pandas import factorize
from hetviz._types import Floats, Ints
from hetviz.data.joins.keys import (
    TEXTS,
    Keys,
    column_keys,
    keys_by_row,
    matching_pairs,
    normalise_keys,
    quote_values,
    strip_texts,
)
from hetviz.data.joins.matching import (
    MAX_PAIRS,
    Match,
    check_two_datasets,
    make_match,
    raise_too_many_pairs,
)
from hetviz.data.model.checks import MAX_ID_LENGTH
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError, ParameterError

SEPARATORS = (";", "|", "\n", ",", "/")
_MIN_LIST_SHARE = 0.2
_MAX_MEAN_WORDS = 3.0
_MAX_SAMPLED_CELLS = 2_000
# Largest share of distinct first parts for which cells count as paths.
_MAX_PREFIX_SHARE = 0.2

_MIN_CELLS_IN_PARTS = 20
_MIN_EQUAL_SHARE = 0.9
_MAX_MOVED_SHARE = 0.05

_DECIMAL = re.compile(r"[<>~]?\s*[+-]?\d[\d.]*,\d+\s*\S{0,5}")

WEIGHTS = ("rare", "same")
MAX_TAGS = 100_000
# Number of uses up to which an entry has full weight.
_MAX_FULL_WEIGHT_USES = 3


def separator_of(cells: Iterable[str]) -> str | None:
    """Return the separator of the entries of a column, or None if it has no lists.

    A fifth of the distinct cells must contain it, and entries must have at most three words on
    average, because prose has commas too. At most 2,000 distinct cells are tested; the sample does
    not depend on their order.
    """
    distinct = {cell for cell in cells if cell}
    text = "".join(distinct)
    if not any(sign in text for sign in SEPARATORS):
        return None
    sample = _sample_cells(distinct)
    best, min_cells = None, max(1.0, _MIN_LIST_SHARE * len(sample))
    for sign in SEPARATORS:
        listing = [cell for cell in sample if sign in cell]
        if len(listing) < min_cells:
            continue
        if sign in ",/" and not _are_lists(sample, listing, sign):
            continue
        parts = [part for cell in listing for part in cell.split(sign) if part.strip()]
        words = sum(len(part.split()) for part in parts) / max(1, len(parts))
        if words <= _MAX_MEAN_WORDS and len(parts) > len(listing):
            best, min_cells = sign, len(listing) + 1.0
    return best


def _are_lists(cells: list[str], listing: list[str], sign: str) -> bool:
    """Return whether cells with commas or slashes are lists.

    Not lists are: numbers with a decimal comma, names in parts such as America/New_York or
    Denver, CO (their first part never comes later, or in few of many cells), and paths or addresses
    (few first parts, most last parts unique).
    """
    if sum(bool(_DECIMAL.fullmatch(cell.strip())) for cell in listing) > 0.5 * len(listing):
        return False
    split = [[part.strip() for part in cell.split(sign)] for cell in listing]
    first = [parts[0] for parts in split]
    later = {part for parts in split for part in parts[1:]}
    if sign == "/":
        ends = Counter(parts[-1] for parts in split)
        n_unique_ends = sum(ends[parts[-1]] == 1 for parts in split)
        if len(set(first)) <= _MAX_PREFIX_SHARE * len(split) and n_unique_ends > 0.5 * len(split):
            return False
    if _are_in_parts(split):
        return False
    single_cells = {cell.strip() for cell in cells if sign not in cell}
    if any(part in later for part in first) or any(
        entry in single_cells for entry in (*first, *later)
    ):
        return True
    # No entry occurs twice: a list if the number of entries differs between cells.
    return sign == "," and (bool(single_cells) or len({len(parts) for parts in split}) > 1)


def _are_in_parts(split: list[list[str]]) -> bool:
    """Return whether many cells have as many parts, and each stays in its place: 1939, May."""
    if len(split) < _MIN_CELLS_IN_PARTS:
        return False
    widths = Counter(map(len, split))
    first = Counter(parts[0] for parts in split)
    later = Counter(part for parts in split for part in parts[1:])
    n_moved = sum(min(n, later[part]) for part, n in first.items())
    return (
        widths.most_common(1)[0][1] >= _MIN_EQUAL_SHARE * len(split)
        and n_moved <= _MAX_MOVED_SHARE * len(split)
        and min(len(first), len(later)) <= 0.5 * len(split)
    )


def _sample_cells(cells: set[str]) -> list[str]:
    """Return a sample of cells: those with the smallest hashes."""
    texts = list(cells)
    if len(texts) <= _MAX_SAMPLED_CELLS:
        return texts
    hashes = pd.util.hash_array(np.array(texts, dtype=object), categorize=False)
    return [texts[at] for at in np.argpartition(hashes, _MAX_SAMPLED_CELLS)[:_MAX_SAMPLED_CELLS]]


def entries_of(dataset: Dataset, column: str, separator: str, loose: bool = False) -> pd.DataFrame:
    """Return row, text and key of each list entry of a column, each key once a row."""
    if not separator:
        raise ParameterError("separator is empty. Give the character between two entries.")
    key = ("entries", column, separator, loose)
    return TEXTS.get_or_compute(
        dataset, key, lambda: _entries(column_keys(dataset, column), separator, loose)
    )


def _entries(cells: Keys, separator: str, loose: bool) -> pd.DataFrame:
    split_cells = [text.split(separator) for text in cells.distinct.tolist()]
    cell = np.repeat(
        np.arange(len(split_cells)), np.array(list(map(len, split_cells)), dtype=np.int64)
    )
    as_read, parts = factorize(list(chain.from_iterable(split_cells)))
    at, texts = factorize(strip_texts(list(parts)), sort=True)
    keys = np.array(normalise_keys(list(texts)), dtype=object) if loose else texts
    key, different = factorize(keys)
    at = at[as_read]
    # If several entries of a cell have the same key, the alphabetically first one stays.
    order = np.lexsort((at, cell))
    order = order[(keys != "")[at[order]]]
    is_repeated = pd.Series(cell[order] * max(1, len(different)) + key[at[order]]).duplicated()
    order = order[~is_repeated.to_numpy()]
    rows, of = matching_pairs(cells.at, cell[order])
    at = at[order][of]
    return pd.DataFrame(
        {
            "row": rows,
            "text": pd.Series(np.asarray(texts, dtype=object)[at], dtype=object),
            "key": pd.Series(np.asarray(different, dtype=object)[key[at]], dtype=object),
        }
    )


def rarity_weights(uses: Ints) -> Floats:
    """Return the weight of links to an entry by its number of uses: min(1, sqrt(3 / uses))."""
    return np.minimum(1.0, np.sqrt(_MAX_FULL_WEIGHT_USES / np.maximum(uses, 1)))


def dataset_from_list(
    data: HeteroData,
    source: str,
    column: str,
    name: str | None = None,
    separator: str = ";",
    *,
    loose: bool = True,
) -> Dataset:
    """Return a featureless dataset of the distinct list entries of a column.

    Parameters
    ----------
    data : HeteroData
    source : str
    column : str
        Column with entries separated by `separator`, as in "red; round".
    name : str, optional
        Name of the new dataset; default: the name of the column.
    separator : str
    loose : bool
        Merge entries that differ only in case, blanks or Unicode form; the most frequent spelling
        becomes the id.

    Returns
    -------
    Dataset
        The entries are the ids, most used first; the table counts their uses.

    Raises
    ------
    hetviz.errors.DataError
        If the column does not exist or has no entries, an entry has more than 256 characters, or
        there are more than 100,000 distinct entries.

    Notes
    -----
    Costs O(entries log entries).
    """
    return _dataset_of_entries(
        source, column, name or column, entries_of(data[source], column, separator, loose)
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
    """Match items with the items of another dataset that one of their columns lists."""
    where = f"links {source} - {target} by {column}"
    if weight not in WEIGHTS:
        raise ParameterError(f"weight = {weight!r} must be one of {', '.join(WEIGHTS)}.")
    check_two_datasets(source, target, where)
    entries = entries_of(data[source], column, separator, loose)
    new_dataset = None
    if make:
        if target in data.datasets:
            message = "a dataset with this name already exists"
            raise DataError.of("duplicate-name", where, message, target, "Choose another name.")
        new_dataset = _dataset_of_entries(source, column, target, entries)
        keys = keys_by_row(new_dataset, "", loose)
    elif target_column is None:
        keys = _keys_named_most(data[target], entries, loose)
    else:
        keys = keys_by_row(data[target], target_column, loose)
    uses = entries["key"].value_counts()
    rows = keys.value_counts()
    pairs = int((uses * rows.reindex(uses.index).fillna(0)).sum())
    if pairs > MAX_PAIRS:
        raise_too_many_pairs(
            where,
            f"{len(entries):,} entries give {pairs:,} pairs",
            "Choose a column with more distinct values.",
        )
    joined = entries.merge(keys.to_frame("key").assign(j=keys.index), on="key")
    joined = joined.sort_values(["row", "j"]).drop_duplicates(["row", "j"])
    weights = (
        rarity_weights(np.asarray(joined["key"].map(uses), np.int64)) if weight == "rare" else None
    )
    return make_match(
        data,
        source,
        target,
        joined["row"].to_numpy(np.int64),
        joined["j"].to_numpy(np.int64),
        new_dataset=new_dataset,
        weight=weights,
        kind=column,
        messages=_match_messages(entries, keys, uses, target, weight),
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
    """Link items with the items of another dataset that one of their columns lists.

    Parameters
    ----------
    data : HeteroData
    source : str
    column : str
        Column with entries separated by `separator`, as in "red; round".
    target : str
        Another dataset. `dataset_from_list` makes one from the entries.
    target_column : str, optional
        Column of `target` that the entries refer to; empty for the ids. Default: ids or titles,
        whichever matches more entries.
    separator : str
    loose : bool
        Ignore upper and lower case, blanks and Unicode forms.
    weight : {"rare", "same"}
        "rare": weight min(1, sqrt(3 / u)) for an entry that u items list, so that frequent entries
        attract less. "same": weight 1.
    kind : str, optional
        Kind of the links; default: the name of the column.

    Returns
    -------
    Links
        Ordered by row of `source`; role "relation".

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, or there are more than 1,000,000 pairs.
    hetviz.errors.ParameterError
        If `weight` is unknown or the separator is empty.

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
    match = match_by_list(
        data, source, column, target, target_column, separator, loose=loose, weight=weight
    )
    return match.links(kind)


def _keys_named_most(target: Dataset, entries: pd.DataFrame, loose: bool) -> pd.Series:
    """Return ids or titles as keys, whichever matches more entries."""
    ids = keys_by_row(target, "", loose)
    if target.title_column is None:
        return ids
    titles = keys_by_row(target, target.title_column, loose)
    named = [int(entries["key"].isin(set(keys)).sum()) for keys in (ids, titles)]
    return titles if named[1] > named[0] else ids


def _dataset_of_entries(source: str, column: str, name: str, entries: pd.DataFrame) -> Dataset:
    where = f"dataset {source!r}, column {column!r}"
    if not len(entries):
        raise DataError.of(
            "no-entries", where, "no cell has an entry", remedy="Choose another column."
        )
    # The most frequent spelling represents a key; ties go to the alphabetically first.
    spellings = entries.groupby(["key", "text"]).size().reset_index(name="n")
    spellings = spellings.sort_values(["key", "n", "text"], ascending=[True, False, True])
    first = spellings.drop_duplicates("key").set_index("key")["text"]
    uses = entries["key"].value_counts()
    if len(uses) > MAX_TAGS:
        message = f"{len(uses):,} different entries, at most {MAX_TAGS:,} are allowed"
        raise DataError.of("too-many-entries", where, message, remedy="Choose another column.")
    tags = pd.DataFrame({"text": first, "uses": uses.reindex(first.index)})
    tags = tags.sort_values(["uses", "text"], ascending=[False, True])
    long = [text for text in tags["text"] if len(text) > MAX_ID_LENGTH]
    if long:
        message = f"an entry has {len(long[0])} characters, at most {MAX_ID_LENGTH} are allowed"
        remedy = "Check the separator."
        raise DataError.of("long-entry", where, message, long[0][:40] + "…", remedy)
    table = tags[["uses"]].reset_index(drop=True)
    return Dataset(name, tags["text"].tolist(), table=table)


def _match_messages(
    entries: pd.DataFrame, keys: pd.Series, uses: pd.Series, target: str, weight: str
) -> tuple[str, ...]:
    unmatched = entries[~entries["key"].isin(set(keys))].drop_duplicates("key")
    messages = []
    if len(unmatched):
        unmatched = unmatched.assign(uses=unmatched["key"].map(uses))
        unmatched = unmatched.sort_values(["uses", "key"], ascending=[False, True])
        messages.append(f"Not in {target}: {quote_values(unmatched['text'].tolist())}.")
    if weight == "rare" and len(uses) and int(uses.max()) > _MAX_FULL_WEIGHT_USES:
        top = int(uses.max())
        messages.append(
            f"Entries used up to {_MAX_FULL_WEIGHT_USES} times have weight 1. More frequent "
            f"entries count less, down to {float(rarity_weights(np.array([top]))[0]):.2g} for "
            f"{top:,} uses."
        )
    return tuple(messages)

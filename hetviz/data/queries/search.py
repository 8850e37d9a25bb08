"""Search for items by title, id and cells of their columns, ignoring case and accents."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._pandas import as_texts, factorize
from hetviz._types import Ints
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.queries.filters import fold_text
from hetviz.errors import check_type

MAX_HITS = 12
MAX_QUERY_CHARS = 100
MAX_VALUE_CHARS = 60
"""Longest text of a cell that counts as a value rather than as a text."""
# Hits checked for each kind of match. The shortest names among them are returned.
_MAX_HITS_CHECKED = 300
_MAX_NAME_CHARS = 300
# Occurrences of a word up to which matches are counted, so that each key is answered at once.
_MAX_COUNTED, _MAX_CELLS_COUNTED = 50_000, 5_000
_MAX_LOOKED_UP = 2_000
_MIN_CELL_CHARS = 2
_MAX_CELL_HITS = 1_000
_MAX_NUMBERS = 50
_MAX_EXAMPLE_CHARS = 20
# White space other than single spaces; line breaks separate the texts.
_UNTIDY = re.compile(r"[^\S \n]|  |\n | \n")


@dataclass(frozen=True, eq=False)
class TextIndex:
    """Texts joined by line breaks, so that one search covers all."""

    text: str  # Text without case and accents
    starts: Ints  # Start of each text, including its line break

    @classmethod
    def build(cls, texts: Iterable[str]) -> TextIndex:
        lines = list(texts)
        joined = "\n".join(lines)
        tidy = joined.count("\n") == len(lines) - 1 and not _UNTIDY.search(f"\n{joined}\n")
        if not tidy or max(map(len, lines)) > _MAX_NAME_CHARS:
            lines = [" ".join(text[:_MAX_NAME_CHARS].split()) for text in lines]
            joined = "\n".join(lines)
        # Folding all texts at once is faster. It keeps line breaks and adds none.
        folded_text = "\n" + fold_text(joined)
        lengths = np.fromiter(map(len, folded_text.split("\n")[1:]), dtype=np.int64) + 1
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        return cls(folded_text + "\n", starts[: len(lines)])

    def find_rows(self, needle: str) -> list[int]:
        """Return the rows of texts that contain `needle`, the shortest texts first."""
        rows = list(dict.fromkeys(self._iter_hits(needle)))
        return sorted(rows, key=lambda row: (self._length(row), row))

    def find_all_rows(self, needle: str) -> Ints:
        """Return all rows of texts that contain `needle`, in order."""
        return self.find_rows_with([needle], -1)[0]

    def find_rows_with(self, words: Sequence[str], max_hits: int) -> tuple[Ints, bool]:
        """Return the rows of texts that contain all words, in order, and whether these are all.

        `max_hits`: Occurrences of a word after which no more are looked at, -1 for no limit.
        """
        rows, is_complete = np.arange(len(self.starts)), True
        # A long word leaves few texts, whose other words are looked up one by one.
        for word in sorted(words, key=len, reverse=True):
            if len(rows) < min(_MAX_LOOKED_UP, len(self.starts)):
                rows = rows[[self._has_word(row, word) for row in rows.tolist()]]
                continue
            # Splitting is several times faster than one search after the other.
            *parts, last = self.text.split(word, max_hits)
            lengths = np.fromiter(map(len, parts), np.int64, len(parts))
            at = np.cumsum(lengths + len(word)) - len(word)
            has_word = np.zeros(len(self.starts), dtype=bool)
            has_word[np.searchsorted(self.starts, at, side="right") - 1] = True
            rows = rows[has_word[rows]]
            is_complete &= len(parts) != max_hits or word not in last
        return rows, is_complete

    def line(self, row: int) -> str:
        """Return the text of a row."""
        start = int(self.starts[row])
        return self.text[start + 1 : start + self._length(row)]

    def _has_word(self, row: int, word: str) -> bool:
        start = int(self.starts[row])
        return self.text.find(word, start, start + self._length(row)) >= 0

    def _iter_hits(self, needle: str) -> Iterator[int]:
        at = self.text.find(needle)
        for _ in range(_MAX_HITS_CHECKED):
            if at < 0:
                return
            row = bisect_right(self.starts, at) - 1
            yield row
            # One hit per text is enough.
            after = self.starts[row + 1] if row + 1 < len(self.starts) else len(self.text)
            at = self.text.find(needle, int(after))

    def _length(self, row: int) -> int:
        end = self.starts[row + 1] if row + 1 < len(self.starts) else len(self.text)
        return int(end - self.starts[row])


@dataclass(frozen=True, eq=False)
class NameIndex:
    """Indexes of all titles and of the ids that differ from the titles."""

    titles: TextIndex
    ids: TextIndex
    id_rows: Ints


def get_name_index(data: HeteroData) -> NameIndex:
    """Return the cached indexes of the data; O(characters)."""
    check_type(data, HeteroData, "data")

    def make() -> NameIndex:
        titles = [str(t) for dataset in data.datasets.values() for t in dataset.titles]
        ids = [str(t) for dataset in data.datasets.values() for t in dataset.ids]
        rows = np.flatnonzero(np.array(titles, dtype=object) != np.array(ids, dtype=object))
        return NameIndex(
            TextIndex.build(titles), TextIndex.build([ids[row] for row in rows.tolist()]), rows
        )

    return ITEM_RESULTS.get_or_compute(tuple(data.datasets.values()), "names", make)


def rows_with_title(data: HeteroData, text: str) -> Ints:
    """Return all global rows whose title contains a folded text."""
    return get_name_index(data).titles.find_all_rows(text)


@dataclass(frozen=True, eq=False)
class NameMatches:
    """Items whose titles or ids match a query."""

    best: list[int]  # Global rows, the best first
    rows: Ints  # All global rows, sorted
    is_complete: bool  # False if the query is so frequent that counting ended


def search_names(
    data: HeteroData, query: str, max_hits: int = MAX_HITS, *, count_all: bool = False
) -> NameMatches:
    """Return the items with the words of a query in their titles, or with it in their ids."""
    # Equal titles come first, then titles and ids that begin with the query, titles with a word
    # that does, titles and ids that contain it, then titles with its words in another order.
    # Shorter names come first.
    words = _words_of(query)
    if not words:
        return NameMatches([], np.zeros(0, dtype=np.int64), True)
    needle = " ".join(words)
    names, max_counted = get_name_index(data), -1 if count_all else _MAX_COUNTED
    titled, are_all_titles = names.titles.find_rows_with(words, max_counted)
    ids, are_all_ids = names.ids.find_rows_with([needle], max_counted)
    rows = np.union1d(titled, names.id_rows[ids])
    best: dict[int, None] = {}
    ways = (
        (names.titles, f"\n{needle}\n"),
        (names.titles, f"\n{needle}"),
        (names.ids, f"\n{needle}"),
        (names.titles, f" {needle}"),
        (names.titles, needle),
        (names.ids, needle),
    )
    for index, text in ways:
        if len(best) < min(max_hits, len(rows)):
            for row in index.find_rows(text):
                best.setdefault(int(names.id_rows[row]) if index is names.ids else row)
    best |= dict.fromkeys(titled[:max_hits].tolist())
    return NameMatches(list(best)[:max_hits], rows, are_all_titles and are_all_ids)


@dataclass(frozen=True, eq=False)
class CellColumn:
    """Distinct cells of one column."""

    dataset: str
    name: str
    texts: TextIndex
    values: Sequence[str]  # The texts, if some recur; else empty
    is_category: bool  # Whether most recur
    bounds: Ints  # Range of each text in `rows`
    rows: Ints  # Global rows, sorted by text

    def rows_with(self, text: int) -> Ints:
        """Return the global rows with one of its texts."""
        return self.rows[self.bounds[text] : self.bounds[text + 1]]


@dataclass(frozen=True)
class ValueMatch:
    """Value of a column that matches a query."""

    dataset: str
    column: str
    value: str
    n_items: int


@dataclass(frozen=True, eq=False)
class CellMatches:
    """Values, and items with texts, that match a query."""

    values: list[ValueMatch]  # The best first
    columns: dict[int, str]  # By global row: the column with the text, the best first
    has_all_values: bool  # Whether all cells of columns with values were looked at
    has_all_texts: bool


def get_cell_index(data: HeteroData) -> tuple[CellColumn, ...]:
    """Return the cached indexes of the columns of all tables; O(characters)."""
    return ITEM_RESULTS.get_or_compute(
        tuple(data.datasets.values()), "cells", lambda: _index_cells(data, _table_columns(data))
    )


def search_cells(data: HeteroData, query: str, *, count_all: bool = False) -> CellMatches:
    """Return the values of columns, and the items with texts, that match a query.

    A query such as "country: Austria" is about the columns with this name, if there are any.
    """
    index = _all_columns(data)
    name, colon, value = query[:MAX_QUERY_CHARS].partition(":")
    named = [part for part in index if colon and _is_named(part.name, _words_of(name))]
    words = _words_of(value if named else query)
    needle = " ".join(words)
    # One letter is in most cells, but one sign or emoji is not.
    if not named and needle.isascii() and sum(map(len, words)) < _MIN_CELL_CHARS:
        return CellMatches([], {}, True, True)
    n_left = data.n_rows if count_all else _MAX_CELL_HITS
    max_counted = -1 if count_all else _MAX_CELLS_COUNTED
    values: list[tuple[int, ValueMatch]] = []
    columns: list[tuple[int, dict[int, str]]] = []
    has_all_values = has_all_texts = True
    # Columns with few texts come first, so that values are found in any case.
    for part in sorted(named or index, key=lambda part: len(part.bounds)):
        texts, is_complete = part.texts.find_rows_with(words, max_counted)
        is_complete &= len(texts) <= n_left
        has_all_values &= is_complete or not part.values
        has_all_texts &= is_complete
        for text in texts[:n_left].tolist():
            rows, value = part.rows_with(text), part.values[text] if part.values else ""
            recurs = part.is_category or len(rows) > 1
            rank = _rank(part.texts.line(text), needle)
            if value and recurs and len(value) <= MAX_VALUE_CHARS:
                values.append((rank, ValueMatch(part.dataset, part.name, value, len(rows))))
            else:
                columns.append((rank, dict.fromkeys(rows.tolist(), part.name)))
        n_left = n_left if count_all else max(n_left - len(texts), 0)
    values.sort(key=lambda pair: (pair[0], -pair[1].n_items))
    best: dict[int, str] = {}
    for _, by_row in sorted(columns, key=lambda pair: pair[0]):
        for row, column in by_row.items():
            best.setdefault(row, column)
    return CellMatches([value for _, value in values], best, has_all_values, has_all_texts)


def rows_with_value(data: HeteroData, dataset: str, column: str, value: str) -> Ints:
    """Return the global rows with a value that `search_cells` found."""
    for part in _all_columns(data):
        if (part.dataset, part.name) == (dataset, column) and value in part.values:
            return part.rows_with(list(part.values).index(value))
    return np.zeros(0, dtype=np.int64)


def example_value(data: HeteroData) -> ValueMatch | None:
    """Return the most frequent value of the first column with words that recur, if any."""
    for part in _all_columns(data):
        sizes = np.diff(part.bounds)
        if part.is_category and len(sizes) > 1:
            value = part.values[int(sizes.argmax())]
            is_word = value.isalpha() and value not in ("True", "False")
            if is_word and len(value) <= _MAX_EXAMPLE_CHARS:
                return ValueMatch(part.dataset, part.name, value, int(sizes.max()))
    return None


def _all_columns(data: HeteroData) -> list[CellColumn]:
    """Return the indexes of labels and columns; a label replaces the column of its name."""
    labels = ITEM_RESULTS.get_or_compute(
        (*data.datasets.values(), *data.labels),
        "labels",
        lambda: _index_cells(
            data,
            ((of.dataset, of.name, pd.Series(of.values, dtype=object)) for of in data.labels),
        ),
    )
    names = {(label.dataset, label.name) for label in data.labels}
    tables = get_cell_index(data)
    return [*labels, *(part for part in tables if (part.dataset, part.name) not in names)]


def _table_columns(data: HeteroData) -> Iterator[tuple[str, str, pd.Series]]:
    for name, dataset in data.datasets.items():
        hidden = {dataset.title_column, (dataset.recipe or {}).get("media")}
        table = pd.DataFrame() if dataset.table is None else dataset.table
        for column in table.columns:
            if column not in hidden:
                yield name, str(column), table[column]


def _index_cells(
    data: HeteroData, series: Iterable[tuple[str, str, pd.Series]]
) -> tuple[CellColumn, ...]:
    columns: list[CellColumn] = []
    for dataset, name, values in series:
        is_number = pd.api.types.is_numeric_dtype(values)
        if pd.api.types.is_datetime64_any_dtype(values) or (
            is_number and values.nunique() > _MAX_NUMBERS
        ):
            continue
        present = np.flatnonzero(values.notna().to_numpy(dtype=bool))
        cells = as_texts(values.iloc[present])
        has_text = (cells.str.strip() != "").to_numpy(dtype=bool)
        present = present[has_text]
        if len(present):
            codes, texts = factorize(cells[has_text].to_numpy(dtype=object))
            repeated = texts.tolist() if is_number or len(texts) < len(present) else []
            is_category = is_number or 2 * len(texts) <= len(present)
            bounds = np.r_[0, np.cumsum(np.bincount(codes, minlength=len(texts)))]
            rows = present[np.argsort(codes, kind="stable")] + data.offsets[dataset].start
            index = TextIndex.build(texts)
            columns.append(CellColumn(dataset, name, index, repeated, is_category, bounds, rows))
    return tuple(columns)


def _is_named(text: str, words: Sequence[str]) -> bool:
    folded = fold_text(f"{text} {text.replace('_', ' ').replace('-', ' ')}")
    return all(word in folded for word in words)


def _words_of(query: str) -> list[str]:
    return fold_text(query[:MAX_QUERY_CHARS]).split()


def _rank(text: str, needle: str) -> int:
    """Return how well a folded text fits: equal, begins with it, a word does, contains it."""
    return (text == needle, text.startswith(needle), f" {needle}" in text, True).index(True)

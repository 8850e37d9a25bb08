"""Search for items by title or id, ignoring case and accents."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.data.queries.filters import fold_text

MAX_HITS = 12
MAX_QUERY_CHARS = 100
# Hits checked for each kind of match. The shortest names among them are returned.
_MAX_HITS_CHECKED = 300
_MAX_NAME_CHARS = 300
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
        at = [match.start() for match in re.finditer(re.escape(needle), self.text)]
        return np.unique(np.searchsorted(self.starts, at, side="right") - 1)

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


def search_items(data: HeteroData, query: str, max_hits: int = MAX_HITS) -> list[int]:
    """Return global rows that match a query, the best first."""
    # Equal titles come first, then titles and ids that begin with the query, titles with a word
    # that does, titles and ids that contain it. Shorter names come first.
    needle = " ".join(fold_text(query[:MAX_QUERY_CHARS]).split())
    if not needle:
        return []
    names = get_name_index(data)
    rows: dict[int, None] = {}
    ways = (
        (names.titles, f"\n{needle}\n"),
        (names.titles, f"\n{needle}"),
        (names.ids, f"\n{needle}"),
        (names.titles, f" {needle}"),
        (names.titles, needle),
        (names.ids, needle),
    )
    for index, text in ways:
        for row in index.find_rows(text):
            rows.setdefault(int(names.id_rows[row]) if index is names.ids else row)
            if len(rows) == max_hits:
                return list(rows)
    return list(rows)

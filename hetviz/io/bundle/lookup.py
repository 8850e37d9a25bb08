"""Lookup of dataset rows by the ids in a file, with hints for unknown ids."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.data import Dataset
from hetviz.errors import MAX_LISTED, Problem, limit_problems
from hetviz.features.columns.types import numbers
from hetviz.io.infer.parsed import Table

_MAX_HINTS = 50
_MAX_IDS_SHOWN = 3
_MAX_HINT_IDS = 20_000
_NO_HINT = "Correct the id, or leave the row out."


class Lookup:
    """Checks the columns of a table of links or comparisons and collects problems."""

    def __init__(
        self, table: Table, datasets: Mapping[str, Dataset], problems: list[Problem]
    ) -> None:
        self.read, self.datasets = table, datasets
        self.good = np.ones(len(table.frame), dtype=bool)
        self._into = problems
        self._problems: list[Problem] = []
        self._notes: list[Problem] = list(table.problems)
        self._n_hints = 0

    def column(self, name: str, default: str = "") -> Texts:
        """Return the cells of a column, with `default` where they are empty or have no column."""
        if name not in self.read.frame.columns:
            return np.full(len(self.read.frame), default, dtype=object)
        cells = np.array(self.read.frame[name].tolist(), dtype=object)
        cells[cells == ""] = default
        return cells

    def refuse(
        self,
        code: str,
        wrong: Bools,
        column: str,
        message: str | Callable[[int], str],
        values: Texts,
        remedy: str | Mapping[str, str],
        limit: int = MAX_LISTED,
    ) -> None:
        """Add a problem for each row of a mask."""
        rows = np.flatnonzero(wrong).tolist()
        self.good[rows] = False
        self._problems += limit_problems(
            (
                Problem(
                    code,
                    self.read.place(row, column),
                    message if isinstance(message, str) else message(row),
                    values[row],
                    remedy if isinstance(remedy, str) else remedy[values[row]],
                    row=self.read.row[row],
                )
                for row in rows
            ),
            limit,
        )

    def note(self, code: str, message: str) -> None:
        """Add a note about the whole table."""
        self._notes.append(Problem(code, self.read.where, message, severity="note"))

    def close(self) -> None:
        """Add the collected notes and problems to the caller's list."""
        self._into += self._notes
        self._into += sorted(self._problems, key=lambda problem: problem.row or 0)

    def find(self, names: Texts, texts: Texts, end: str) -> Ints:
        """Return the row of each id in its dataset, -1 if unknown."""
        prefix = f"{end}_" if end else ""
        matched_rows = np.full(len(texts), -1, dtype=np.int64)
        for name in dict.fromkeys(names):
            if name not in self.datasets:
                message = "this dataset does not exist" if name else "the dataset is missing"
                hint = self._near_name(name)
                # One message per name, because a rejected dataset can have many links.
                wrong = names == name
                self.refuse("unknown-dataset", wrong, f"{prefix}dataset", message, names, hint, 1)
        for name, dataset in self.datasets.items():
            rows = np.flatnonzero(names == name)
            at = dataset.find(texts[rows])
            for other in (self._in_other_form, self._by_title):
                unmatched = np.flatnonzero(at < 0)
                at[unmatched] = other(dataset, texts[rows[unmatched]])
            matched_rows[rows] = at
            unmatched = rows[at < 0]
            if len(unmatched):
                wrong = np.zeros(len(texts), dtype=bool)
                wrong[unmatched] = True
                hints = self._near_ids(dataset, list(dict.fromkeys(texts[unmatched])))
                unknown = f"{name} has no item with this id or name"
                messages = [unknown if text else "the item is missing" for text in texts]
                where = f"{prefix}id"
                self.refuse("unknown-id", wrong, where, messages.__getitem__, texts, hints)
        return matched_rows

    def numbers(self, name: str, blank: Collection[str] = ("",)) -> Floats:
        """Return the numbers of a column, NaN for blank cells. Invalid numbers become problems."""
        texts = np.array([cell.strip() for cell in self.column(name)], dtype=object)
        is_filled = np.array([text.lower() not in blank for text in texts], dtype=bool)
        values = np.full(len(texts), np.nan)
        values[is_filled] = numbers(texts[is_filled].tolist(), self.read.decimal)
        remedy = "Write a number such as 0.5, or leave the cell empty."
        wrong = is_filled & np.isnan(values)
        self.refuse("not-a-number", wrong, name, "this is not a number", texts, remedy)
        return values

    def _in_other_form(self, dataset: Dataset, texts: Texts) -> Ints:
        """Find ids whose accented letters use another Unicode form."""
        at = np.full(len(texts), -1, dtype=np.int64)
        for form in ("NFC", "NFD"):
            rows = dataset.find([unicodedata.normalize(form, text) for text in texts])
            at = np.where(at < 0, rows, at)
        if (at >= 0).any() and not any(note.code == "unicode-form" for note in self._notes):
            message = "some ids write accented letters differently, but they are matched anyway"
            self.note("unicode-form", message)
        return at

    def _by_title(self, dataset: Dataset, texts: Texts) -> Ints:
        """Find items by titles that only one item has."""
        at = _rows_by_title(dataset, texts)
        if (at >= 0).any() and not any(note.code == "by-title" for note in self._notes):
            message = "some items are matched by their names instead of their ids"
            self.note("by-title", message)
        return at

    def _near_name(self, name: str) -> str:
        if not name:
            names = ", ".join(self.datasets)
            return f"No dataset has most of these ids. Correct them, or choose one of {names} here."
        near = difflib.get_close_matches(name, self.datasets, n=1)
        return f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(self.datasets)}."

    def _near_ids(self, dataset: Dataset, texts: list[str]) -> dict[str, str]:
        """Suggest the closest id, for the first few only because each costs a pass over all ids."""
        hints = dict.fromkeys(texts, _NO_HINT)
        for name, other in self.datasets.items():
            matching_texts = np.array(texts, dtype=object)[other.find(texts) >= 0]
            hints |= dict.fromkeys(
                matching_texts,
                f"Dataset {name!r} has this id. Check whether two columns are swapped.",
            )
        hints |= _shared_title_hints(dataset, texts)
        hints |= _repeated_id_hints(dataset, [text for text in texts if hints[text] is _NO_HINT])
        if len(dataset) > _MAX_HINT_IDS:
            return hints
        ids: list[Any] = list(dict.fromkeys([*dataset.ids.tolist(), *dataset.titles.tolist()]))
        folded = {text.strip().casefold(): text for text in reversed(ids)}
        for text in [text for text in texts if hints[text] is _NO_HINT][
            : _MAX_HINTS - self._n_hints
        ]:
            self._n_hints += 1
            near = folded.get(text.strip().casefold())
            close = [near] if near is not None else difflib.get_close_matches(text, ids, n=1)
            if close:
                hints[text] = f"Did you mean {close[0]!r}?"
        return hints


def find_rows(dataset: Dataset, texts: Sequence[str] | Texts) -> Ints:
    """Return the row of each id, or of the only item with this title, or -1."""
    named = np.array(texts, dtype=object)
    at = dataset.find(named)
    lost = np.flatnonzero(at < 0)
    at[lost] = _rows_by_title(dataset, named[lost])
    return at


def unique_titles(dataset: Dataset) -> dict[str, int]:
    """Return the row of each title that only one item has."""
    if dataset.title_column is None:
        return {}
    titles = pd.Index(dataset.titles)
    rows = np.flatnonzero(~titles.duplicated(keep=False))
    return dict(zip(titles[rows].tolist(), rows.tolist(), strict=True))


def _rows_by_title(dataset: Dataset, texts: Texts) -> Ints:
    """Return the row of the only item with each title, -1 for no or several items."""
    rows = unique_titles(dataset) if len(texts) else {}
    return np.array([rows.get(text, -1) for text in texts], dtype=np.int64)


def _shared_title_hints(dataset: Dataset, texts: list[str]) -> dict[str, str]:
    if dataset.title_column is None:
        return {}
    rows = pd.Series(dataset.ids).groupby(dataset.titles, sort=False).groups
    hints = {}
    for text in texts:
        same_title = rows.get(text, ())
        if len(same_title) > 1:
            ids_shown = ", ".join(dataset.ids[same_title[:_MAX_IDS_SHOWN]])
            more = " .." if len(same_title) > _MAX_IDS_SHOWN else ""
            hints[text] = (
                f"{len(same_title)} items have this name. Write the id ({ids_shown}{more})."
            )
    return hints


def _repeated_id_hints(dataset: Dataset, texts: list[str]) -> dict[str, str]:
    """Return hints for values of a column named id that is not used as the id."""
    table = dataset.table
    named = [] if table is None else [name for name in table.columns if str(name).lower() == "id"]
    if table is None or not named:
        return {}
    id_cells = table[named[0]].astype(str)
    repeats = set(id_cells[id_cells.duplicated()])
    hint = (
        "Several rows of column id have this value, so row numbers are the ids. "
        "Make the ids unique."
    )
    return {text: hint for text in texts if text in repeats}

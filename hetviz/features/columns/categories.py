"""Categories and lists of categories, one feature per value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.features.columns.options import Fields, Step
from hetviz.features.columns.types import MAX_CATEGORIES

CellTexts = Sequence[str | None]

_SEPARATORS = (";", "|")
_MAX_TOKEN_LENGTH = 60
_MAX_CHOICE_LENGTH = 40
_MIN_USES_PER_CHOICE = 4


def separator_of(cells: CellTexts) -> str | None:
    """Return the separator of cells with lists, or None if the cells are no lists.

    Cells are lists if a tenth of them (at least two) contain the separator, and the entries are
    short and occur twice on average. A comma separates the choices of a form if later entries also
    occur as first entries: not in "Oslo, Norway", "Doe, Jane" or "1,5".
    """
    return separator_of_counts(Counter(cell for cell in cells if cell is not None))


def separator_of_counts(counts: Mapping[str, int]) -> str | None:
    """Return the separator as `separator_of`, from distinct cells and their counts."""
    n = sum(counts.values())
    for separator in _SEPARATORS:
        n_with_separator = sum(count for cell, count in counts.items() if separator in cell)
        if n_with_separator < max(2, 0.1 * n):
            continue
        entries: Counter[str] = Counter()
        for cell, count in counts.items():
            for entry in entries_of(cell, separator):
                entries[entry] += count
        if entries.total() >= 2 * len(entries) and max(map(len, entries)) <= _MAX_TOKEN_LENGTH:
            return separator
    return "," if _is_choice_list(counts, n) else None


def _is_choice_list(counts: Mapping[str, int], n: int) -> bool:
    """Return whether cells are lists of a few choices, separated by commas."""
    n_with_comma = sum(count for cell, count in counts.items() if "," in cell)
    if n_with_comma < max(2, 0.1 * n):
        return False
    first: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for cell, count in counts.items():
        entries = entries_of(cell, ",")
        if any(len(entry) > _MAX_CHOICE_LENGTH or not entry[0].isalpha() for entry in entries):
            return False
        first[entries[0] if entries else ""] += count
        for entry in entries[1:]:
            others[entry] += count
    n_repeated = sum(count for entry, count in others.items() if entry in first)
    has_single = any("," not in cell and cell.strip() in others for cell in counts)
    choices = first.keys() | others.keys()
    # The last choice of a form is a first entry only in cells where it is alone.
    is_frequent = first.total() + others.total() >= _MIN_USES_PER_CHOICE * len(choices)
    return has_single and is_frequent and n_repeated >= 0.8 * others.total() > 0


def entries_of(cell: str | None, separator: str) -> list[str]:
    """Return the stripped, non-empty entries of a list in one cell."""
    if cell is None:
        return []
    return [entry for part in cell.split(separator) if (entry := part.strip())]


def learn(cells: CellTexts, options: Mapping[str, object], separator: str | None = None) -> Fields:
    """Fit the levels of a column, at most the 50 most frequent.

    Returns: ``levels``, ``mean`` (share of rows of each feature), optionally ``fill`` (the level
        of missing cells), ``own`` (whether missing cells have a separate feature) and
        ``separator``; JSON-ready.
    """
    out: Fields = {} if separator is None else {"separator": separator}
    entries: Counter[str] = Counter()
    counted = Counter(cells)
    for cell, count in counted.items():
        for entry in _entries(cell, separator):
            entries[entry] += count
    ranked = sorted(entries, key=lambda value: (-entries[value], value))
    out["levels"] = sorted(ranked[:MAX_CATEGORIES])
    has_missing = None in counted
    if options["impute"] == "most frequent" and ranked:
        out["fill"] = ranked[0]
    out["own"] = options["impute"] == "own category" and has_missing
    rows, X = _one_hot(out, cells)
    counts = np.bincount(rows, minlength=len(X))
    out["mean"] = (counts @ X / max(len(cells), 1)).tolist()
    return out


def parts(step: Fields, cells: CellTexts) -> list[Floats]:
    """Return one centred feature per level, shape (n, levels); unknown values are ignored."""
    rows, X = _one_hot(step, cells)
    return [np.asarray((X - np.array(step["mean"]))[rows])]


def names(step: Step) -> list[str]:
    """Return the names of the features."""
    missing_name = ["(missing)"] if step["own"] else []
    return [f"{step['column']}={level}" for level in [*step["levels"], *missing_name]]


def unknown_entries(step: Fields, cells: CellTexts) -> list[tuple[int, str]]:
    """Return the row and the text of each entry that is not a fitted level."""
    levels = set(step["levels"])
    return [
        (row, entry)
        for row, cell in enumerate(cells)
        for entry in _entries(cell, step.get("separator"))
        if entry not in levels
    ]


def _entries(cell: str | None, separator: str | None) -> list[str]:
    if separator is not None:
        return entries_of(cell, separator)
    return [] if cell is None else [cell]


def _one_hot(step: Fields, cells: CellTexts) -> tuple[Ints, Floats]:
    """Return the row of each cell and the features of the distinct cells, a missing cell last."""
    filler = cast("str | None", step.get("fill"))
    at = {level: column for column, level in enumerate(step["levels"])}
    texts = np.empty(len(cells), dtype=object)
    texts[:] = cells
    rows, distinct = pd.factorize(texts)
    X = np.zeros((len(distinct) + 1, len(at) + bool(step["own"])))
    for row, cell in enumerate([*distinct.tolist(), None]):
        if cell is None and step["own"]:
            X[row, -1] = 1.0
        for entry in _entries(filler if cell is None else cell, step.get("separator")):
            if entry in at:
                X[row, at[entry]] = 1.0
    return rows % len(X), X

"""Which columns of a table look like the titles of its rows, and like labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hetviz.features.columns.types import Column

MAX_LABEL_CLASSES = 20
_TITLES = ("title", "name", "label")
_TITLE_LENGTH = 60


def named_title(columns: Collection[str]) -> str | None:
    """Return the column that its name says holds titles."""
    return next((name for name in _TITLES if name in columns), None)


def guess_labels(columns: Mapping[str, Column], never: Collection[str | None]) -> list[str]:
    """Return the first column of few categories that most rows have one of."""
    for name, column in columns.items():
        n = len(column.values)
        if name in never or column.kind != "category" or column.n_missing >= n / 2:
            continue
        if len(set(column.values) - {None}) <= min(MAX_LABEL_CLASSES, n / 3):
            return [name]
    return []


def guess_title(columns: Mapping[str, Column]) -> str | None:
    """Return the first column of short words that nearly all differ, as names do."""
    for name, column in columns.items():
        words = [value for value in column.values if isinstance(value, str)]
        if column.kind != "unique" or len(words) < 0.9 * len(column.values):
            continue
        spoken = sum(any(sign.isalpha() for sign in word) for word in words)
        if spoken >= 0.9 * len(words) and sum(map(len, words)) <= _TITLE_LENGTH * len(words):
            return name
    return None

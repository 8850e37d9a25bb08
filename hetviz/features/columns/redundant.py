"""Reasons to exclude columns: uninformative or redundant ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from hetviz._types import Floats
from hetviz.features.columns.names import (
    are_web_addresses,
    is_measured,
    is_named_id,
    label_reason,
    words_of,
)
from hetviz.features.columns.types import MAX_CATEGORIES, Column

MAX_KEY_LEVELS = 20
_MIN_ROWS = 12
_MIN_FILLED_SHARE = 0.05
_MIN_COVERED_SHARE = 0.5
_MIN_SAME_CORRELATION = 0.998
_MAX_COLUMNS = 300
_MAX_ROWS = 5_000
_MONTHS = frozenset({"month", "monat", "mois", "mes", "mese"})
_DAYS = frozenset({"day", "tag", "jour", "dia", "día", "giorno", "mday"})
_MAX_DAY = 31


def exclusion_reasons(columns: Mapping[str, Column], free: Collection[str]) -> dict[str, str]:
    """Return the reasons to exclude columns from the features.

    Excluded are phone numbers, postal codes, clock times, days of the month next to a column of
    months, numbers named as keys or codes, row counters, other keys (named like ids, with more than
    20 values), columns with values in fewer than one row in 20, categories whose 50 most frequent
    values cover less than half of the rows, and the coarser of two redundant columns: numbers with
    a correlation of at least 0.998, or categories that are equal except for their names. Tables of
    fewer than 12 rows are tested for the first five only. Correlations use at most 300 columns and
    5,000 rows: O(n p^2).
    """
    n = max((len(column.values) for column in columns.values()), default=0)
    reason_of: dict[str, str] = {}
    months = {
        tuple(words[:-1]) for name in columns if (words := words_of(name)) and words[-1] in _MONTHS
    }
    for name in free:
        why = (
            _label_reason(columns[name])
            or _day_reason(columns[name], months)
            or (None if n < _MIN_ROWS else _reason_alone(columns[name], n))
        )
        if why is not None:
            reason_of[name] = why
    if n < _MIN_ROWS:
        return reason_of
    remaining = [name for name in free if name not in reason_of]
    return (
        reason_of
        | _duplicate_numbers(columns, remaining)
        | _duplicate_categories(columns, remaining)
    )


def _label_reason(column: Column) -> str | None:
    if column.kind in ("constant", "empty", "date"):
        return None
    if are_web_addresses(column.levels):
        return "web addresses"
    is_whole = column.kind == "number" and column.whole
    return label_reason(column.name, column.values if is_whole else None)


def _day_reason(column: Column, months: Collection[tuple[str, ...]]) -> str | None:
    """Return the reason of days of the month, next to a column of months."""
    words = words_of(column.name)
    if column.kind != "number" or not column.whole or not words or words[-1] not in _DAYS:
        return None
    present = column.values[np.isfinite(column.values)]
    is_day = tuple(words[:-1]) in months and present.min() >= 1 and present.max() <= _MAX_DAY
    return "a day of the month" if is_day else None


def _reason_alone(column: Column, n: int) -> str | None:
    n_present = n - column.n_missing
    if column.kind in ("constant", "empty"):
        return None
    if n_present < _MIN_FILLED_SHARE * n:
        return f"only {n_present:,} of {n:,} rows have a value"
    is_full = column.kind == "number" and column.whole and n_present == n
    if is_full and not is_measured(column.name) and _is_row_counter(column.values):
        return "it only counts the rows"
    if column.kind == "category":
        uses = Counter(column.uses)
        if is_named_id(column.name) and len(uses) > MAX_KEY_LEVELS:
            return f"a key or code with {len(uses):,} different values"
        covered = sum(times for _, times in uses.most_common(MAX_CATEGORIES))
        if covered < _MIN_COVERED_SHARE * n_present:
            return f"too many different values: {len(uses):,}"
    return None


def _is_row_counter(values: Floats) -> bool:
    return bool(values[0] in (0.0, 1.0) and (np.diff(values) == 1.0).all())


def _duplicate_numbers(columns: Mapping[str, Column], names: Collection[str]) -> dict[str, str]:
    numbers = [name for name in names if columns[name].kind in ("number", "date")][:_MAX_COLUMNS]
    if len(numbers) < 2:
        return {}
    step = max(1, len(columns[numbers[0]].values) // _MAX_ROWS)
    V = np.column_stack([np.asarray(columns[name].values, dtype=np.float64) for name in numbers])
    V = V[::step]
    is_present = ~np.isnan(V)
    # Scaled first, because squares of very large numbers overflow.
    top = np.nanmax(np.abs(V), axis=0)
    W = V / np.where(top > 0, top, 1.0)
    W = np.where(is_present, W - np.nanmean(W, axis=0), 0.0)
    size = np.sqrt((W**2).sum(axis=0))
    W = W / np.where(size > 1e-12, size, 1.0)
    correlation = np.abs(W.T @ W)
    levels = [len(np.unique(V[is_present[:, at], at])) for at in range(len(numbers))]
    reasons: dict[str, str] = {}
    # The column with more levels stays; ties go to the first.
    order = sorted(range(len(numbers)), key=lambda at: (-levels[at], at))
    retained: list[int] = []
    for at in order:
        twin = next(
            (other for other in retained if correlation[at, other] >= _MIN_SAME_CORRELATION), None
        )
        if twin is None:
            retained.append(at)
        else:
            reasons[numbers[at]] = f"same information as {numbers[twin]}"
    return reasons


def _duplicate_categories(columns: Mapping[str, Column], names: Collection[str]) -> dict[str, str]:
    """Return categories that are equal to another column except for their names."""
    reasons: dict[str, str] = {}
    seen: dict[bytes, str] = {}
    for name in names:
        column = columns[name]
        if column.kind != "category" or column.codes is None:
            continue
        key = column.codes.tobytes()
        if key in seen:
            reasons[name] = f"same information as {seen[key]}"
        else:
            seen[key] = name
    return reasons

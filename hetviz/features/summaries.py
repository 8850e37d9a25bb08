"""Summaries of rows for the items they refer to: counts, means, shares and spans of dates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hetviz._types import Array, Ints
from hetviz.data import Dataset
from hetviz.data.joins.key_names import TIME_WORDS, table_words, words_of_name
from hetviz.errors import DataError
from hetviz.features.columns.names import are_web_addresses, is_named_id, label_reason
from hetviz.features.columns.types import Column, infer
from hetviz.memo import cached_while_alive

MAX_LEVELS = 8
HOW_MANY = ": how many"
"""End of the name of the column that counts rows."""
_MAX_COLUMNS = 60
_MIN_COUNTED_ROWS = 3
_MIN_COUNTER_SHARE = 0.95


@dataclass(frozen=True)
class SummaryColumn:
    """Column of rows and its use in a summary of the items they refer to."""

    name: str
    use: str
    reason: str = ""
    width: int = 1

    @property
    def can_be_used(self) -> bool:
        """Whether a user can include the column."""
        return bool(self.use)


def summary_columns(dataset: Dataset, keys: Collection[str]) -> tuple[SummaryColumn, ...]:
    """Return the columns of rows, without keys, and their use in a summary.

    Left out are clock times, parts of dates, phone numbers, codes, keys and counters, which have no
    meaningful mean, categories of more than 8 values, and columns beyond 60 of a summary.
    """
    kinds = _uses(dataset)
    table = dataset.table
    out = []
    n_columns = 1  # The number of rows
    for column in kinds.values():
        if column.name in keys:
            continue
        reason = column.reason
        if not reason and column.use == "mean" and table is not None:
            reason = _counter_reason(table, column.name, keys)
        if not reason and n_columns + column.width > _MAX_COLUMNS:
            reason = f"the summary already has {n_columns} columns"
        n_columns += 0 if reason else column.width
        out.append(replace(column, reason=reason))
    return tuple(out)


@cached_while_alive
def _uses(dataset: Dataset) -> Mapping[str, SummaryColumn]:
    if dataset.table is None:
        return {}
    own = table_words(dataset.name, [dataset.name])
    columns = (infer(str(name), dataset.table[name]) for name in dataset.table.columns)
    return {
        column.name: _use_of(column, own)
        for column in columns
        if column.name != dataset.title_column
    }


def _use_of(column: Column, own: tuple[str, ...]) -> SummaryColumn:
    name, words = column.name, words_of_name(column.name)
    if column.kind == "date":
        return SummaryColumn(name, "span", width=2)
    if column.kind == "number":
        whole = column.values if column.whole else None
        reason = label_reason(name, whole)
        if reason is None and (is_named_id(name) or (column.whole and tuple(words) == tuple(own))):
            reason = "a key, code or number that only labels"
        if reason is None and TIME_WORDS & set(words):
            reason = "part of a date"
        return SummaryColumn(name, "mean", reason or "")
    if column.kind == "category":
        reason = label_reason(name)
        if reason is None and is_named_id(name):
            reason = "a key or code"
        if reason is None and are_web_addresses(column.levels):
            reason = "web addresses"
        if reason is None and TIME_WORDS & set(words):
            reason = "part of a date"
        if reason is None and len(column.levels) > MAX_LEVELS:
            reason = f"too many different values: {len(column.levels):,}"
        return SummaryColumn(name, "share", reason or "", min(len(column.levels), MAX_LEVELS))
    reasons = {
        "constant": "it has only one value",
        "empty": "the column is empty",
        "unique": "every row has a different short text",
    }
    return SummaryColumn(name, "", reasons.get(column.kind, "free text"))


def _counter_reason(table: pd.DataFrame, name: str, keys: Collection[str]) -> str:
    """Return why whole numbers only count the rows, of the table or of each key; or ""."""
    x = pd.to_numeric(table[name], errors="coerce")
    if not x.notna().all() or not bool((x % 1 == 0).all()) or float(x.min()) not in (0.0, 1.0):
        return ""
    if x.is_unique and int(x.max() - x.min()) == len(x) - 1 and len(x) > 1:
        return "it only counts the rows"
    for key in keys:
        if key not in table.columns:
            continue
        groups = x.groupby(table[key].astype(str))
        size = groups.transform("size")
        is_counted = size >= _MIN_COUNTED_ROWS
        if not is_counted.any():
            continue
        # Counters of a group are all its ranks.
        is_rank = groups.rank(method="first").sub(1) == x - x.min()
        is_distinct = ~pd.concat([table[key].astype(str), x], axis=1).duplicated(keep=False)
        if (is_rank & is_distinct)[is_counted].mean() >= _MIN_COUNTER_SHARE:
            return f"it only counts the rows of each {key}"
    return ""


def summarise_rows(
    dataset: Dataset, keys: Collection[str], at: Ints, n: int, head: str, include: Collection[str]
) -> dict[str, Array | pd.Series]:
    """Return summary columns of n items by name."""
    is_matched = at >= 0
    rows = np.bincount(at[is_matched], minlength=n)
    out: dict[str, Array | pd.Series] = {head + HOW_MANY: rows}
    columns = summary_columns(dataset, keys)
    _check_included(dataset, columns, include)
    table = dataset.table
    for column in columns:
        if table is None or (column.reason and column.name not in include):
            continue
        inferred = infer(column.name, table[column.name])
        if column.use == "share":
            out |= _shares(inferred, at, n, f"{head}: share with {column.name}")
        elif column.use == "span":
            out |= _span(inferred, at, n, head)
        elif column.use == "mean":
            x = np.asarray(inferred.values, dtype=np.float64)
            mask = is_matched & np.isfinite(x)
            n_values = np.bincount(at[mask], minlength=n)
            total = np.bincount(at[mask], weights=x[mask], minlength=n)
            with np.errstate(invalid="ignore", divide="ignore"):
                out[f"{head}: mean {column.name}"] = np.where(
                    n_values > 0, total / n_values, np.nan
                )
    return out


def _check_included(
    dataset: Dataset, columns: Collection[SummaryColumn], include: Collection[str]
) -> None:
    by_name = {column.name: column for column in columns}
    for name in include:
        where = f"dataset {dataset.name!r}, column {name}"
        if name not in by_name:
            message = "this column is no column of a summary"
            remedy = f"Use one of: {', '.join(by_name)}."
            raise DataError.of("unknown-column", where, message, name, remedy)
        if not by_name[name].can_be_used:
            message = "no mean, share or span of dates is possible"
            raise DataError.of("bad-column", where, message, by_name[name].reason)


def _shares(column: Column, at: Ints, n: int, head: str) -> dict[str, Array | pd.Series]:
    codes = np.asarray(column.codes)
    mask = (at >= 0) & (codes >= 0)
    n_values = np.bincount(at[mask], minlength=n)
    counts = np.bincount(codes[codes >= 0], minlength=len(column.levels))
    # The most frequent levels, in the order of the rows.
    frequent = np.sort(np.argsort(-counts, kind="stable")[:MAX_LEVELS])
    out: dict[str, Array | pd.Series] = {}
    for code in frequent.tolist():
        n_level = np.bincount(at[mask & (codes == code)], minlength=n)
        with np.errstate(invalid="ignore", divide="ignore"):
            out[f"{head} {column.levels[code]}"] = np.where(
                n_values > 0, n_level / n_values, np.nan
            )
    return out


def _span(column: Column, at: Ints, n: int, head: str) -> dict[str, Array | pd.Series]:
    days = np.asarray(column.values, dtype=np.float64)
    mask = (at >= 0) & np.isfinite(days)
    groups = pd.Series(days[mask]).groupby(at[mask])
    out: dict[str, Array | pd.Series] = {}
    for word, ends in (("first", groups.min()), ("last", groups.max())):
        dates = pd.to_datetime(ends.reindex(range(n)), unit="D").dt.round("s")
        out[f"{head}: {word} {column.name}"] = dates.reset_index(drop=True)
    return out

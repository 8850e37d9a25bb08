"""Periods of dated data: their bounds, and the items and links of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import pandas as pd

from hetviz._text import join_words
from hetviz._types import Bools, Floats, Ints
from hetviz.data.model.heterodata import HeteroData, with_statements
from hetviz.data.model.links import kind_key
from hetviz.data.queries.filters import are_numbers, column_of, numbers_of
from hetviz.data.queries.rows import select_rows
from hetviz.errors import DataError, ParameterError

UNITS = {"year": "YS", "quarter": "QS", "month": "MS"}
"""Units of a calendar, with their frequency in pandas."""
_UNIT_FORMS = {"year": "{0.year}", "quarter": "{0.year}-Q{0.quarter}", "month": "{0:%Y-%m}"}
MAX_PERIODS = 200
PERIODS = "periods"
"""Kind of the findings that hold maps of periods."""


class PeriodRecord(TypedDict):
    """A period as a run records it: `Period`, and the column with the dates as in `find_dates`."""

    by: str | Mapping[str, str]
    name: str
    start: float
    stop: float


@dataclass(frozen=True)
class Period:
    """Dates from `start` to before `stop`: days since 1970-01-01, or numbers of a column."""

    name: str
    start: float
    stop: float

    def contains(self, dates: Floats) -> Bools:
        """Return which dates are in the period; dates that are unknown (NaN) are not."""
        return np.asarray((dates >= self.start) & (dates < self.stop))


@dataclass(frozen=True, eq=False)
class Dates:
    """Dates of items and links.

    `rows`: Dataset -> date of each row, NaN where it is unknown; only datasets with dates.
    `links`: Position in ``data.links`` -> date of each link.
    `are_numbers`: Whether the columns have numbers, such as years, instead of dates.
    """

    rows: Mapping[str, Floats]
    links: Mapping[int, Floats]
    are_numbers: bool

    def all(self) -> Floats:
        """Return all known dates, sorted."""
        every = np.concatenate([*self.rows.values(), *self.links.values()])
        return np.asarray(np.sort(every[np.isfinite(every)]))


def find_dates(data: HeteroData, by: str | Mapping[str, str]) -> Dates:
    """Return the dates of a column, or of a column for each dataset or kind of links."""
    rows: dict[str, pd.Series] = {}
    columns = by if isinstance(by, Mapping) else {}
    known = {*data.datasets, *map(kind_key, data.links)}
    if unknown := [name for name in columns if name not in known]:
        raise DataError.of(
            "unknown-dataset", "by", "there is no such dataset or kind of links", unknown[0],
            f"Available: {', '.join(sorted(known))}.",
        )  # fmt: skip
    for name, dataset in data.datasets.items():
        column = by if isinstance(by, str) else columns.get(name)
        has_column = dataset.table is not None and column in dataset.table.columns
        if column is not None and (has_column or name in columns):
            rows[name] = column_of(data, name, column)
    links = _dates_of_links(data, by)
    for position, group in enumerate(data.links):
        key = kind_key(group)
        if key in columns and position not in links:
            message = "these links have no such column"
            raise DataError.of("unknown-column", key, message, columns[key])
    if not rows and not links:
        raise DataError.of("unknown-column", "by", "no dataset and no links have this column", by)
    every = [*rows.values(), *links.values()]
    kinds = {are_numbers(series) for series in every if series.notna().any()}
    if len(kinds) > 1:
        raise DataError.of("mixed-dates", "by", "some columns have dates and others numbers", by)
    dates = Dates(
        {name: numbers_of(series) for name, series in rows.items()},
        {position: numbers_of(series) for position, series in links.items()},
        kinds == {True},
    )
    if not len(dates.all()):
        raise DataError.of(
            "no-dates", "by", "no date can be read", by, "Write dates as 2024-01-31."
        )
    return dates


def find_periods(dates: Dates, periods: str | int | Sequence[object]) -> tuple[Period, ...]:
    """Return the periods of a unit of the calendar, a number of equal parts, or bounds.

    Units without any date are left out. Of bounds, the last one belongs to the last period.
    """
    known = dates.all()
    first, last = float(known[0]), float(known[-1])
    if isinstance(periods, str):
        found = _calendar(known, periods, dates.are_numbers)
    elif isinstance(periods, int) and not isinstance(periods, bool):
        if periods < 1:
            raise ParameterError("periods: at least one period is needed.")
        found = _between(np.linspace(first, last, periods + 1), dates.are_numbers)
    elif isinstance(periods, Sequence):
        texts = pd.Series([str(bound) for bound in periods], dtype=object)
        bounds = (
            pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
            if dates.are_numbers
            else numbers_of(texts)
        )
        if len(bounds) < 2 or not np.isfinite(bounds).all() or (np.diff(bounds) <= 0).any():
            raise ParameterError(
                f"periods: bounds must be at least two rising dates or numbers, not {periods!r}."
            )
        found = _between(bounds, dates.are_numbers)
    else:
        raise ParameterError(f"periods: a unit, a number or bounds are needed, not {periods!r}.")
    if len(found) > MAX_PERIODS:
        message = f"periods: there would be {len(found):,} periods, more than {MAX_PERIODS}."
        raise ParameterError(f"{message} Choose longer ones.")
    empty = [period.name for period in found if not period.contains(known).any()]
    if empty:
        raise DataError.of(
            "empty-period",
            "periods",
            "no item and no link has a date in this period",
            join_words(empty[:3]),
            f"Dates are from {_name(first, dates.are_numbers)} to "
            f"{_name(last, dates.are_numbers)}. Choose longer periods.",
        )
    return found


def data_in(data: HeteroData, dates: Dates, period: Period) -> HeteroData:
    """Return the items and links of a period, see `rows_in`."""
    return select_rows(_with_links_in(data, dates.links, period), rows_in(data, dates, period))


def links_in(data: HeteroData, by: str | Mapping[str, str], period: Period) -> HeteroData:
    """Return the data without the dated links of other periods; `by` as in `find_dates`."""
    dated = {position: numbers_of(series) for position, series in _dates_of_links(data, by).items()}
    return _with_links_in(data, dated, period)


def rows_in(data: HeteroData, dates: Dates, period: Period) -> Ints:
    """Return the global rows of the items of a period.

    A dated item is in the period of its date, and a dated link in that of its own, if both its
    items are. Other items are in a period if a link connects them to it: an end of a dated link,
    an item linked to a dated item of the period, or to an item that is in the period for this
    reason, one dataset further each time. Datasets that no links connect to dates are in all.
    """
    is_in = np.zeros(data.n_rows, dtype=bool)
    excluded = np.zeros(data.n_rows, dtype=bool)
    for name, days in dates.rows.items():
        is_in[data.offsets[name]] = period.contains(days)
        excluded[data.offsets[name]] = np.isfinite(days) & ~period.contains(days)
    used = [np.ones(len(links), dtype=bool) for links in data.links]
    ends = [
        (
            links.i + data.offsets[links.source].start,
            links.j + data.offsets[links.target].start,
        )
        for links in data.links
    ]
    for position, days in dates.links.items():
        used[position] = period.contains(days)
    for (p, q), mask in zip(ends, used, strict=True):
        mask &= ~excluded[p] & ~excluded[q]
    reached = {*dates.rows}
    for position in dates.links:
        for rows in ends[position]:
            is_in[rows[used[position]]] = True
        reached |= {data.links[position].source, data.links[position].target}
    waiting = set(data.datasets)
    while front := reached & waiting:
        # Rows that are reached from the datasets of this step, all at once.
        new = np.zeros_like(is_in)
        further: set[str] = set()
        for position, (links, (p, q), mask) in enumerate(zip(data.links, ends, used, strict=True)):
            if position in dates.links:
                continue
            for here, there, rows, others in (
                (links.source, links.target, p, q),
                (links.target, links.source, q, p),
            ):
                if here in front and there in waiting and (here != there or here in dates.rows):
                    new[others[mask & is_in[rows]]] = True
                    further.add(there)
        is_in |= new & ~excluded
        waiting -= front
        reached |= further
    for name in waiting:
        is_in[data.offsets[name]] = True
    return np.flatnonzero(is_in)


def _dates_of_links(data: HeteroData, by: str | Mapping[str, str]) -> dict[int, pd.Series]:
    """Return the column of dates of each group of links that has it."""
    found = {}
    for position, group in enumerate(data.links):
        column = by if isinstance(by, str) else by.get(kind_key(group))
        if group.meta is not None and column in group.meta.columns:
            found[position] = group.meta[column]
    return found


def _with_links_in(data: HeteroData, dated: Mapping[int, Floats], period: Period) -> HeteroData:
    used = [
        period.contains(dated[position]) if position in dated else np.ones(len(links), dtype=bool)
        for position, links in enumerate(data.links)
    ]
    n_compared = 0 if data.comparisons is None else len(data.comparisons)
    return with_statements(data, np.concatenate([*used, np.ones(n_compared, dtype=bool)]))


def _calendar(known: Floats, unit: str, are_numbers: bool) -> tuple[Period, ...]:
    if unit not in UNITS:
        raise ParameterError(
            f"periods: the unit {unit!r} is unknown. Units: {join_words(list(UNITS))}."
        )
    if are_numbers:
        if unit != "year":
            raise ParameterError(f"periods: {unit!r} needs dates, but the column has numbers.")
        years = np.unique(np.floor(known))
        return tuple(Period(f"{year:.0f}", year, year + 1.0) for year in years.tolist())
    days = pd.to_datetime(np.unique(np.floor(known)), unit="D")
    starts = pd.DatetimeIndex(days.to_period(unit[0].upper()).unique().to_timestamp())
    stops = starts + pd.tseries.frequencies.to_offset(UNITS[unit])
    zero = pd.Timestamp(0)
    return tuple(
        Period(
            _UNIT_FORMS[unit].format(start),
            (start - zero) / pd.Timedelta(days=1),
            (stop - zero) / pd.Timedelta(days=1),
        )
        for start, stop in zip(starts, stops, strict=True)
    )


def _between(bounds: Floats, are_numbers: bool) -> tuple[Period, ...]:
    ends = [*bounds.tolist()[:-1], float(np.nextafter(bounds[-1], np.inf))]
    names = [_name(bound, are_numbers) for bound in bounds.tolist()]
    return tuple(
        Period(f"{names[k]} to {names[k + 1]}", ends[k], ends[k + 1]) for k in range(len(ends) - 1)
    )


def _name(value: float, are_numbers: bool) -> str:
    return f"{value:g}" if are_numbers else f"{pd.Timestamp(value, unit='D'):%Y-%m-%d}"

"""Dates in text cells."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz.errors import Problem
from hetviz.features.columns.types import encode_texts

_DAY_MONTH_YEAR = re.compile(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})"
    r"(?:[ T,]+(\d{1,2}:\d{2}(?::\d{2})?)(?: ?([AaPp])\.?[Mm]\.?)?)?"
)
FIRST_DAY, LAST_DAY = 18_000_101, 20_991_231
_COMPACT_DATE = re.compile(r"(1[89]\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
# Zeros stand for an unknown month or day.
_COMPACT_FORM = re.compile(r"(?:1[89]|20)\d\d(?:0\d|1[0-2])(?:[0-2]\d|3[01])")
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_ISO_DATE = re.compile(
    rf"(\d{{4}})-(\d{{1,2}})-(\d{{1,2}})(?:[ T]{_TIME}(?: ?[+-]\d{{2}}(?::?\d{{2}})?)?)?"
    r"(?: ?Z| UTC| GMT)?"
)
_ZONE_NAME = re.compile(r" ?(?:Z|UTC|GMT)$")
# An offset after a time, not the month and day of a date.
_UTC_OFFSET = re.compile(r"(:\d{2}(?:\.\d+)?) ?([+-]\d{2}(?::?\d{2})?)$")
_MONTHS = {
    name: at % 12 + 1
    for names in (
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "jan feb mär apr mai jun jul aug sep okt nov dez",
        "jan fév mar avr mai jui jui aoû sep oct nov déc",
        "ene feb mar abr may jun jul ago sep oct nov dic",
    )
    for at, name in enumerate(names.split())
    if name != "jui"
} | {"juin": 6, "juil": 7}
_MONTH = r"(?P<month>[^\W\d_]{3,10})\.?"
_NAMED_MONTH = (
    re.compile(
        rf"(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th)?[ /-]?{_MONTH},?[ /-]?(?P<year>\d{{4}}|\d\d)"
    ),
    re.compile(rf"{_MONTH} ?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})"),
)
_NOT_YET = frozenset(
    {
        "not yet", "open", "still open", "pending", "ongoing", "in progress", "present", "current",
        "to date", "now", "tbd", "tba", "to be determined", "to be announced", "noch nicht",
        "offen", "noch offen", "ausstehend", "laufend", "heute", "pas encore", "en cours",
        "pendiente", "en curso",
    }
)  # fmt: skip
_MIN_VALID_SHARE = 0.5
# Cells of another form, such as a year alone, are counted as missing up to this share.
_MAX_OTHER_SHARE = 0.02
# A date that ends with a year of two digits.
_SHORT_YEAR = re.compile(r"(.*[./ -])(\d\d)")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
# Another column has the years of dates if it has one for these shares of them, and agrees.
_MIN_YEARS_SHARE, _MIN_AGREEING_SHARE = 0.9, 0.98
_SHORT_OFFSET = re.compile(r"(:\d{2}(?:\.\d+)?) ?([+-]\d{2})$")


def may_be_counts(cells: Sequence[str]) -> bool:
    """Whether a few compact dates could also be counts."""
    return all(_COMPACT_DATE.fullmatch(cell) for cell in cells) and len(cells) < 3


def is_date(cell: str) -> bool:
    """Whether a cell contains a date."""
    return iso_date(cell) is not None


def are_dates(cells: Sequence[str]) -> bool:
    """Whether cells are dates; some may be impossible days, such as 0000-00-00, or a few others."""
    n_valid, n_others = 0, 0
    for cell in cells:
        if is_date(cell):
            n_valid += 1
        elif not _has_date_form(cell.strip()) and not _is_not_yet(cell):
            n_others += 1
            if n_others > _MAX_OTHER_SHARE * len(cells):
                return False
    return n_valid > _MIN_VALID_SHARE * len(cells)


def _is_not_yet(cell: str) -> bool:
    """Whether a cell says that something has no date yet, such as open or pending."""
    return " ".join(cell.lower().strip(" .()").split()) in _NOT_YET


def _has_date_form(text: str) -> bool:
    forms = (_ISO_DATE, _DAY_MONTH_YEAR, _COMPACT_FORM)
    return any(form.fullmatch(text) for form in forms)


def iso_date(cell: str, day_first: bool | None = None) -> str | None:
    """Return a date as year-month-day with its time, None if the cell has no possible date."""
    text = cell.strip()
    match = _ISO_DATE.fullmatch(text)
    if match:
        year, month, day = map(int, match.groups())
        return _ZONE_NAME.sub("Z", text) if _is_day(year, month, day) else None
    match = _COMPACT_DATE.fullmatch(text)
    if match:
        year, month, day = map(int, match.groups())
        return "-".join(match.groups()) if _is_day(year, month, day) else None
    match = _DAY_MONTH_YEAR.fullmatch(text)
    if match is None:
        return _date_with_named_month(text)
    first, second, year_text, time, am_pm = match.groups()
    day, month = (int(first), int(second)) if day_first is not False else (int(second), int(first))
    if month > 12 and day_first is None:
        day, month = month, day
    year = _full_year(year_text)
    if not _is_day(year, month, day):
        return None
    if am_pm:
        hour, minutes = time.split(":", 1)
        time = f"{int(hour) % 12 + 12 * (am_pm in 'pP'):02}:{minutes}"
    return f"{year:04}-{month:02}-{day:02}" + (f" {time.zfill(5)}" if time else "")


def _date_with_named_month(text: str) -> str | None:
    """Return a date such as 1-Mar-2024 or March 1, 2024."""
    for form in _NAMED_MONTH:
        if match := form.fullmatch(text):
            word = match["month"].lower()
            month = _MONTHS.get(word) or _MONTHS.get(word[:4]) or _MONTHS.get(word[:3])
            year, day = _full_year(match["year"]), int(match["day"])
            if month is not None and _is_day(year, month, day):
                return f"{year:04}-{month:02}-{day:02}"
    return None


def _has_short_year(text: str) -> bool:
    if match := _DAY_MONTH_YEAR.fullmatch(text):
        return len(match[3]) == 2
    return bool((match := _NAMED_MONTH[0].fullmatch(text)) and len(match["year"]) == 2)


def _full_year(text: str) -> int:
    return int(text) + (0 if len(text) == 4 else 2000 if int(text) < 50 else 1900)


def _is_day(year: int, month: int, day: int) -> bool:
    return year >= 1 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def _without_offsets(times: list[str]) -> tuple[list[str], str]:
    """Return times without UTC offset, converted to UTC if offsets differ."""
    zones = {match[2] for text in times if (match := _UTC_OFFSET.search(text))}
    if not zones:
        return times, ""
    if len(zones) == 1 and all(_UTC_OFFSET.search(text) for text in times if text):
        return [_UTC_OFFSET.sub(r"\1", text) for text in times], f"UTC{zones.pop()}"
    return [_to_utc(text) for text in times], "UTC"


def _to_utc(text: str) -> str:
    if not _UTC_OFFSET.search(text):
        return text
    try:
        moment = datetime.fromisoformat(_SHORT_OFFSET.sub(r"\1\2:00", text.replace(" +", "+")))
    except ValueError:
        return ""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def _is_day_first(matches: Sequence[re.Match[str]]) -> bool:
    """Return the order of day and month of a column: that which more cells can have."""
    n_day_first = sum(int(match[1]) > 12 for match in matches)
    n_month_first = sum(int(match[2]) > 12 for match in matches)
    if n_day_first != n_month_first:
        return n_day_first > n_month_first
    # AM/PM implies month first.
    return not any(match[5] for match in matches)


def complete_years(
    where: str, cells: pd.Series, frame: pd.DataFrame
) -> tuple[pd.Series, list[Problem]]:
    """Return dates whose years of two digits are completed by a column of years, and a note."""
    texts = cells.str.strip()
    parts = texts.where(texts.map(_has_short_year)).str.extract(_SHORT_YEAR.pattern + "$")
    is_short = parts[1].notna()
    if not is_short.any():
        return cells, []
    for name, others in frame.items():
        years = others[is_short].str.strip()
        is_year = years.str.fullmatch(_YEAR.pattern)
        if name == cells.name or is_year.mean() < _MIN_YEARS_SHARE:
            continue
        years = years[is_year]
        agrees = years.str[2:] == parts[1][years.index]
        if agrees.mean() >= _MIN_AGREEING_SHARE:
            years = years[agrees]
            completed = cells.copy()
            completed[years.index] = parts[0][years.index] + years
            message = f"years of two digits are completed by the column {name}"
            example = str(texts[years.index[0]])
            return completed, [Problem("short-years", where, message, example, severity="note")]
    return cells, []


def convert_dates(where: str, cells: pd.Series) -> tuple[pd.Series, list[Problem]]:
    """Return the cells as year-month-day, and notes."""
    # Most date columns contain repeated days.
    codes, distinct = encode_texts(cells)
    texts = [cell.strip() for cell in distinct]
    matches = [match for text in texts if (match := _DAY_MONTH_YEAR.fullmatch(text))]
    notes = []
    day_first = _is_day_first(matches)
    if matches and not any(int(match[at]) > 12 for match in matches for at in (1, 2)):
        order = "day before month" if day_first else "month before day"
        message = f"the order of day and month is not clear, so dates are read with {order}"
        remedy = "Write dates as 2024-03-31 if this is wrong."
        notes.append(Problem("day-or-month", where, message, matches[0][0], remedy, "note"))
    short = next(filter(_has_short_year, texts), None)
    if short is not None:
        message = "years of two digits are read as 1950 to 2049"
        remedy = "Write years with four digits if this is wrong."
        notes.append(Problem("short-years", where, message, short, remedy, "note"))
    iso_dates = [iso_date(text, day_first) or "" for text in texts]
    iso_dates, zone = _without_offsets(iso_dates)
    dates = np.array([*iso_dates, ""], dtype=object)
    not_yet = [at for at, text in enumerate(texts) if text and _is_not_yet(text)]
    unreadable = [at for at, text in enumerate(texts) if text and not dates[at]]
    unreadable = [at for at in unreadable if at not in not_yet]
    if not_yet:
        n_cells = count(int(np.isin(codes, not_yet).sum()), "cell")
        message = f"{n_cells} without a date yet treated as missing"
        notes.append(Problem("not-yet", where, message, texts[not_yet[0]][:60], severity="note"))
    if zone:
        notes.append(Problem("time-zone", where, f"times are in {zone}", severity="note"))
    if unreadable:
        n_cells = count(int(np.isin(codes, unreadable).sum()), "cell")
        message = f"{n_cells} without a date treated as missing"
        notes.append(
            Problem("words-for-missing", where, message, texts[unreadable[0]][:60], severity="note")
        )
    return pd.Series(dates[codes], index=cells.index, dtype=TEXT), notes

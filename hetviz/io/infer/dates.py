"""Dates in text cells."""

from __future__ import annotations

import re
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
_ISO_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[+-]\d{2}:?\d{2})?)?Z?"
)
# An offset after a time, not the month and day of a date.
_UTC_OFFSET = re.compile(r"(:\d{2}(?:\.\d+)?) ?([+-]\d{2}:?\d{2})$")


def may_be_counts(cells: Sequence[str]) -> bool:
    """Whether a few compact dates could also be counts."""
    return all(_COMPACT_DATE.fullmatch(cell) for cell in cells) and len(cells) < 3


def is_date(cell: str) -> bool:
    """Whether a cell contains a date."""
    return iso_date(cell, True) is not None


def iso_date(cell: str, day_first: bool = True) -> str | None:
    """Return a date as year-month-day with its time, None if the cell has no date."""
    text = cell.strip()
    if _ISO_DATE.fullmatch(text):
        return text
    match = _COMPACT_DATE.fullmatch(text)
    if match:
        return "-".join(match.groups())
    match = _DAY_MONTH_YEAR.fullmatch(text)
    if match is None:
        return None
    first, second, year, time, am_pm = match.groups()
    day, month = (int(first), int(second)) if day_first else (int(second), int(first))
    if month > 12:
        day, month = month, day
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if am_pm:
        hour, minutes = time.split(":", 1)
        time = f"{int(hour) % 12 + 12 * (am_pm in 'pP'):02}:{minutes}"
    full_year = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 50 else 1900)
    return f"{full_year:04}-{month:02}-{day:02}" + (f" {time.zfill(5)}" if time else "")


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
        moment = datetime.fromisoformat(text.replace(" +", "+").replace(" -", "-"))
    except ValueError:
        return ""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def convert_dates(where: str, cells: pd.Series) -> tuple[pd.Series, list[Problem]]:
    """Return the cells as year-month-day, and notes."""
    # Most date columns contain repeated days.
    codes, distinct = encode_texts(cells)
    texts = [cell.strip() for cell in distinct]
    firsts = [int(match[1]) for text in texts if (match := _DAY_MONTH_YEAR.fullmatch(text))]
    seconds = [int(match[2]) for text in texts if (match := _DAY_MONTH_YEAR.fullmatch(text))]
    day_first = not (max(seconds, default=0) > 12 >= max(firsts, default=0))
    if max(seconds, default=0) <= 12 and max(firsts, default=0) <= 12:
        # AM/PM implies month first.
        day_first = not any(text.lower().rstrip(".").endswith("m") for text in texts)
    iso_dates = [iso_date(text, day_first) or "" for text in texts]
    iso_dates, zone = _without_offsets(iso_dates)
    dates = np.array([*iso_dates, ""], dtype=object)
    unreadable = [at for at, text in enumerate(texts) if text and not dates[at]]
    notes = []
    if zone:
        notes.append(Problem("time-zone", where, f"times are in {zone}", severity="note"))
    if unreadable:
        n_cells = count(int(np.isin(codes, unreadable).sum()), "cell")
        message = f"{n_cells} without a date treated as missing"
        notes.append(
            Problem("words-for-missing", where, message, texts[unreadable[0]][:60], severity="note")
        )
    return pd.Series(dates[codes], index=cells.index, dtype=TEXT), notes

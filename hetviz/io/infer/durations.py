"""Durations in text cells, as seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DAYS = re.compile(r"([+-]?)(?:(\d+) days?,? ?)?(?:([+-]?)(\d{1,2}):(\d{2}):(\d{2}(?:\.\d+)?))?")
_HOURS = re.compile(r"([+-]?)(\d{1,5}):(\d{2}):(\d{2}(?:\.\d+)?)")
_PART = r"(?:(\d+(?:\.\d+)?){0})?"
_ISO = re.compile(
    r"([+-]?)P(?:(\d+)D)?(?:T" + "".join(map(_PART.format, "HMS")) + ")?", re.IGNORECASE
)
_DAY_S = 86_400.0


def seconds_of(text: str) -> float | None:
    """Return the seconds of a duration: 2 days 03:04:05, 37:15:00 or P2DT3H; None for others."""
    text = text.strip()
    match = _HOURS.fullmatch(text)
    if match:
        sign, hours, minutes, rest = match.groups()
        total = 3_600.0 * int(hours) + 60.0 * int(minutes) + float(rest)
        return -total if sign == "-" else total
    match = _ISO.fullmatch(text)
    if match and any(match.groups()[1:]):
        sign, *parts = match.groups()
        total = sum(
            size * float(part or 0)
            for size, part in zip((_DAY_S, 3_600.0, 60.0, 1.0), parts, strict=True)
        )
        return -total if sign == "-" else total
    match = _DAYS.fullmatch(text)
    if match is None or match[2] is None:
        return None
    # pandas writes "-1 days +23:00:00" for minus one hour.
    clock = 3_600.0 * int(match[4] or 0) + 60.0 * int(match[5] or 0) + float(match[6] or 0)
    days = _DAY_S * int(match[2]) * (-1 if match[1] == "-" else 1)
    return days + (-clock if match[3] == "-" or (match[1] == "-" and not match[3]) else clock)


def are_durations(cells: Sequence[str]) -> bool:
    """Whether all cells are durations, and at least one cannot be a time of day."""
    if not all(seconds_of(cell) is not None for cell in cells):
        return False
    return any(
        not _HOURS.fullmatch(cell.strip()) or not 0 <= (seconds_of(cell) or 0.0) < _DAY_S
        for cell in cells
    )


def text_of_seconds(text: str, decimal: str) -> str:
    """Return a duration as the text of a number of seconds, other text unchanged."""
    value = seconds_of(text)
    if value is None:
        return text
    digits = str(int(value)) if value == int(value) else repr(round(value, 9))
    return digits.replace(".", decimal)

"""Words of cells that different ways of writing the same quantity or person have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Base unit, and how many of it each unit is.
_UNITS: dict[str, dict[str, float]] = {
    "g": {"mg": 0.001, "g": 1, "gram": 1, "grams": 1, "kg": 1e3, "kgs": 1e3, "kilo": 1e3,
          "kilos": 1e3, "oz": 28.3495, "ounce": 28.3495, "ounces": 28.3495, "lb": 453.592,
          "lbs": 453.592, "pound": 453.592, "pounds": 453.592},
    "ml": {"ml": 1, "cl": 10, "dl": 100, "l": 1e3, "litre": 1e3, "litres": 1e3, "liter": 1e3,
           "liters": 1e3, "fl oz": 29.5735, "fl. oz": 29.5735},
    "mm": {"mm": 1, "cm": 10, "m": 1e3, "in": 25.4, "inch": 25.4, "inches": 25.4, '"': 25.4,
           "''": 25.4, "\u201d": 25.4, "\u2033": 25.4, "\u2032\u2032": 25.4, "ft": 304.8,
           "foot": 304.8, "feet": 304.8},
    "mb": {"kb": 0.001, "mb": 1, "mib": 1, "gb": 1e3, "gib": 1e3, "tb": 1e6, "tib": 1e6},
    "w": {"w": 1, "watt": 1, "watts": 1, "kw": 1e3},
    "mhz": {"khz": 0.001, "mhz": 1, "ghz": 1e3},
}  # fmt: skip
_BASE = {unit: (base, size) for base, units in _UNITS.items() for unit, size in units.items()}
_WHOLE = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*[.,]\d+|\d+"
# Not 8/16 GB, which are two sizes.
_FRACTION = r"(?:1/[2348]|2/3|3/[48]|[57]/8|\d?[13579]/(?:16|32|64))"
_NUMBER = rf"(?:\d+[\s-])?{_FRACTION}|{_WHOLE}"
_LONGEST_FIRST = sorted(_BASE, key=len, reverse=True)
# "5 in 2010", "2-in-1", "11 in the morning" and "2010 in film".
_NOT_INCHES = (
    rf"(?:{_WHOLE})[\s-]in[\s-]+(?:1|(?:1[5-9]|20)\d\d|"
    "an?|the|this|that|these|our|my|your|his|her|its|their|one|each|every|all|total|stock|"
    "january|february|march|april|may|june|july|august|september|october|november|december"
    r")\b|(?:1[5-9]|20)\d\d\sin\b"
)
_QUANTITY = re.compile(
    rf"(?:(?<![\w.,])|(?<=\d[x\u00d7]))(?!{_NOT_INCHES})"
    rf"({_NUMBER})[\s-]?({'|'.join(_LONGEST_FIRST)})(?![^\W_])",
    re.IGNORECASE,
)
# The second mark of "Apollo 13" is not of inches.
_QUOTED = re.compile(r'(?<!\S)"(?=\w)([^"]*)"')
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
_BETWEEN_PEOPLE = re.compile(r"[;&|]|\band\b", re.IGNORECASE)
_LETTER = re.compile(r"(?<![^\W_])[^\W\d_](?![^\W_])")
_MAX_NAMES = 5


def quantities(text: str) -> dict[str, str]:
    """Return the quantities of a text in base units to three digits, and as they are written.

    >>> quantities("1.5 kg of rice, 12 in wide")
    {'1500 g': '1.5 kg', '305 mm': '12 in'}
    """
    out = {}
    for found in _QUANTITY.finditer(_without_quotes(text)):
        number, unit = found.groups()
        base, size = _BASE[unit.casefold()]
        value = float(f"{_in_thousands(_value(number), base) * size:.3g}")
        out[f"{value:.10f}".rstrip("0").rstrip(".") + f" {base}"] = found.group()
    return out


def _value(number: str) -> float:
    *whole, part = re.split(r"[\s-]", number)
    if "/" in part:
        over, under = map(float, part.split("/"))
        return sum(map(float, whole)) + over / under
    is_grouped = number[0] not in "0.," and _THOUSANDS.search(number) is not None
    return float(number.replace(",", "" if is_grouped else "."))


def _in_thousands(value: float, base: str) -> float:
    """Return a number of bytes as if 1024 were 1000: 1024 MB is 1 GB, but 512 GB is not 500."""
    while base == "mb" and value >= 1024 and value % 512 == 0:
        value /= 1.024
    return value


def without_quantities(text: str) -> str:
    """Return a text without the quantities that are found in it."""
    return _QUANTITY.sub(" ", _without_quotes(text))


def _without_quotes(text: str) -> str:
    return _QUOTED.sub(r'"\1 ', text) if '"' in text else text


def short_names(tables: Sequence[Sequence[Sequence[str]]]) -> list[list[list[str]]]:
    """Return family names with an initial for each row of tables of columns of cells.

    "John Smith" counts as "smith j" only if a person is written like that, as in "Smith, J.".
    """
    if not any(_LETTER.search(cell) for t in tables for column in t for cell in column):
        return [[[] for _ in (t[0] if t else ())] for t in tables]
    found = [[[_people(cell) for cell in row] for row in zip(*t, strict=True)] for t in tables]
    written = {
        name for rows in found for row in rows for cell in row for name, short in cell if short
    }
    return [
        [[name for cell in row for name, _ in cell if name in written] for row in rows]
        for rows in found
    ]


def _people(cell: str) -> list[tuple[str, bool]]:
    """Return the family names with initials of a cell, and which are written like that."""
    out: list[tuple[str, bool]] = []
    people: list[tuple[list[str], list[str]]]
    for part in _BETWEEN_PEOPLE.split(cell):
        pieces = [_names(piece) for piece in part.split(",")]
        if len(pieces) > 1 and all(len(piece) > 1 for piece in pieces):
            people = [([], piece) for piece in pieces]
        else:
            family = pieces[0] if len(pieces) == 2 else []
            people = [(family, pieces[-1])] if len(pieces) <= 2 else []
        for family, names in people:
            out += _short(family, names)
    return out


def _names(text: str) -> list[str]:
    return text.casefold().replace(".", " ").split()


def _short(family: Sequence[str], names: Sequence[str]) -> list[tuple[str, bool]]:
    every = [*family, *names]
    if not 2 <= len(every) <= _MAX_NAMES or not all(map(str.isalpha, every)):
        return []
    letters = [name for name in every if len(name) == 1]
    long = [name for name in every if len(name) > 1]
    if letters:
        return [(f"{name} {letter}", True) for name in long[-1:] for letter in letters]
    last = family[-1] if family else long[-1]
    return [(f"{last} {name[0]}", False) for name in every if name != last]

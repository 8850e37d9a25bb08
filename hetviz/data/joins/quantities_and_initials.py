"""Words of cells that different ways of writing the same quantity or person have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Base unit, and how many of it each unit is.
_UNITS = {
    "g": {"mg": 0.001, "g": 1, "kg": 1e3, "oz": 28.3495, "lb": 453.592, "lbs": 453.592},
    "ml": {"ml": 1, "cl": 10, "dl": 100, "l": 1e3, "litre": 1e3, "litres": 1e3, "liter": 1e3,
           "liters": 1e3, "fl oz": 29.5735},
    "mm": {"mm": 1, "cm": 10, "m": 1e3, "in": 25.4, "inch": 25.4, "inches": 25.4, '"': 25.4,
           "ft": 304.8},
    "mb": {"kb": 0.001, "mb": 1, "gb": 1e3, "tb": 1e6},
    "w": {"w": 1, "kw": 1e3},
    "mhz": {"khz": 0.001, "mhz": 1, "ghz": 1e3},
}  # fmt: skip
_BASE = {unit: (base, size) for base, units in _UNITS.items() for unit, size in units.items()}
_NUMBER = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*[.,]\d+|\d+"
_LONGEST_FIRST = sorted(_BASE, key=len, reverse=True)
_QUANTITY = re.compile(
    rf"(?<![\w.,])({_NUMBER})[\s-]?({'|'.join(_LONGEST_FIRST)})(?![^\W_])", re.IGNORECASE
)
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
    for found in _QUANTITY.finditer(text):
        number, unit = found.groups()
        whole = number[0] not in "0.," and _THOUSANDS.search(number) is not None
        plain = number.replace(",", "") if whole else number.replace(",", ".")
        base, size = _BASE[unit.casefold()]
        value = float(f"{float(plain) * size:.3g}")
        out[f"{value:.10f}".rstrip("0").rstrip(".") + f" {base}"] = found.group()
    return out


def without_quantities(text: str) -> str:
    """Return a text without the quantities that are found in it."""
    return _QUANTITY.sub(" ", text)


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

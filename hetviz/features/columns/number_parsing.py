"""Parsing of handwritten numbers with limits, units, thousands and missing-value texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pandas as pd

from hetviz._types import MAX_MAGNITUDE
from hetviz.features.columns.types import MISSING, plain_numbers, why_unusable

_BLANKS = " \u00a0\u2009\u202f"
_B = f"[{_BLANKS}]"
# Texts that people write for missing values, in addition to those of programs.
UNKNOWN_MARKERS = MISSING | frozenset(
    {"n.b.", "n. b.", "nb", "k.a.", "k. a.", "ka", "k.a", "n.a.", "n. a.", "n.n.", "n. n.", "n.d.",
     "n. d.", "nd", "n.v.", "n. v.", "n/d", "n.e.", "n. e.", "k.w.", "--", "---", "–", "—", ".",
     "..", "...", "…", "/", "x", "missing", "unknown", "unbekannt", "fehlt", "keine angabe",
     "nicht bestimmt", "not available", "not determined", "not measured", "inconnu", "s.o.", "tbd",
     "#n/a", "#na", "nil", "leer", "blank", "no data", "keine daten"}
)  # fmt: skip
_LIMIT_SIGNS = {"<": -1, "≤": -1, "<=": -1, "=<": -1, ">": 1, "≥": 1, ">=": 1, "=>": 1}
_PREFIX_PATTERN = (
    rf"(?P<limit><=|>=|=<|=>|[<>≤≥~≈]|(?:ca\.?|c\.|approx\.|circa|about|etwa)(?={_B}))?{_B}*"
)
_UNIT = rf"{_B}*(?P<unit>[%‰$€£¥°µμΩA-Za-z][^\s\d<>]{{0,11}}(?:{_B}?[/·*]{_B}?[^\s<>]{{1,8}})?)?"


def _number(thousands: str, decimal: str) -> str:
    t, d = re.escape(thousands), re.escape(decimal)
    groups = rf"[1-9]\d{{0,2}}(?:[{t}]\d{{3}})+"
    return rf"(?P<whole>{groups}|\d+)?(?P<fraction>[{d}]\d*)?(?P<power>[eE][+-]?\d+)?"


_FORMS = {
    decimal: re.compile(
        rf"{_PREFIX_PATTERN}(?P<minus>[+\-\u2212](?=[$€£¥]))?(?P<money>[$€£¥])?{_B}*(?P<sign>[+\-\u2212])?{_B}*"
        rf"{_number(thousands + _BLANKS + chr(39) + chr(8217), decimal)}{_UNIT}\*?"
    )
    for decimal, thousands in ((".", ","), (",", "."))
}


# Digits without thousands, units and limits.
_SIMPLE = {
    decimal: re.compile(rf"[+-]?[0-9]+(?:[{decimal}][0-9]*)?(?:[eE][+-]?[0-9]+)?")
    for decimal in _FORMS
}
# Powers of ten behind an amount of money, as in $1.2M.
_POWERS = {
    "k": 3, "thousand": 3, "tsd": 3, "m": 6, "mn": 6, "mm": 6, "mio": 6, "million": 6,
    "b": 9, "bn": 9, "mrd": 9, "billion": 9, "t": 12, "tn": 12, "trillion": 12,
}  # fmt: skip
# Those that are no units. They count if a column has several.
_CLEAR_POWERS = {"K": 3, "k": 3, "M": 6, "Mio": 6, "Mio.": 6, "B": 9, "Bn": 9, "Mrd": 9, "Mrd.": 9}
_NO_DIGIT = re.compile(r"\D")
_FRACTIONS = re.compile(r"[.,]\d+")
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")


@dataclass(frozen=True)
class ParsedNumber:
    """Parsed number of a cell."""

    value: float  # Value; for a limit such as ``<0.5`` the limit itself.
    limit: int = 0  # One of {-1, 0, 1}. -1 if the true value is below, 1 if it is above.
    unit: str = ""  # Text after the number, or the currency sign before it.
    grouped: bool = False  # Whether the number has thousands separators.
    # Power of ten that stands behind the number, such as the K of $5K, which its value includes.
    magnitude: str = field(default="", repr=False)


def parse(text: str, decimal: str = ".") -> ParsedNumber | None:
    """Return the number of a cell, or None if it is no number.

    `decimal` in {".", ","}: decimal sign. The other sign, blanks and apostrophes may separate
    thousands.

    Examples
    --------
    >>> from hetviz.features.columns.number_parsing import parse
    >>> parse("<0,5", ",")
    ParsedNumber(value=0.5, limit=-1, unit='', grouped=False)
    >>> parse("1.089,5", ",").value, parse("12 %").unit, parse("3 kg").value
    (1089.5, '%', 3.0)
    >>> parse("(1'234.50)").value, parse("250.00-").value
    (-1234.5, -250.0)
    >>> parse("$1.2M").value, parse("$537K").value
    (1200000.0, 537000.0)
    """
    text = text.strip()
    if _SIMPLE[decimal].fullmatch(text) is not None:
        # Most cells; the same result as below, three times as fast.
        value = float(text.replace(",", "."))
        return ParsedNumber(value) if abs(value) <= MAX_MAGNITUDE else None
    if (inner := strip_accounting_minus(text)) is not None:
        parsed = _parse_plain(inner, decimal)
        is_unsigned = (
            parsed is not None and not parsed.limit and not math.copysign(1, parsed.value) < 0
        )
        return replace(parsed, value=-parsed.value) if parsed is not None and is_unsigned else None
    return _parse_plain(
        text.removesuffix("-").removesuffix("–") if _FRANCS.search(text) else text, decimal
    )


def strip_accounting_minus(text: str) -> str | None:
    """Return a number in accounting notation, (12.50) or 12.50-, without its minus; else None."""
    if text[:1] == "(" and text[-1:] == ")":
        return text[1:-1].strip()
    if text[-1:] in ("-", "\u2212") and text[-2:-1].isdigit():
        return text[:-1]
    return None


# Swiss francs without centimes: 1'200.-
_FRANCS = re.compile(r"\d[.,][-–]$")


def _parse_plain(text: str, decimal: str) -> ParsedNumber | None:
    match = _FORMS[decimal].fullmatch(text)
    if match is None or (match["minus"] and match["sign"]):
        return None
    whole, fraction = match["whole"], match["fraction"] or ""
    digits = _NO_DIGIT.sub("", whole or "")
    if not digits and len(fraction) < 2:
        return None
    if match["unit"] and match["power"] is None and match["unit"][0] in "eE" and not digits:
        return None
    plain = f"{digits or '0'}{fraction.replace(',', '.')}{match['power'] or ''}"
    sign = -1.0 if (match["minus"] or match["sign"]) in ("-", "\u2212") else 1.0
    value = sign * float(plain)
    unit, magnitude = match["money"] or match["unit"] or "", ""
    if match["money"] and (power := _POWERS.get((match["unit"] or "").rstrip(".").lower())):
        value, magnitude = _times_ten(value, power), str(match["unit"])
    if abs(value) > MAX_MAGNITUDE:
        return None
    limit, is_grouped = _LIMIT_SIGNS.get(match["limit"] or "", 0), digits != (whole or digits)
    return ParsedNumber(value, limit, unit, is_grouped, magnitude)


def _times_ten(value: float, power: int) -> float:
    """Return a number times a power of ten, rounded once."""
    return float(Decimal(repr(value)).scaleb(power))


def _with_magnitudes(parsed: dict[str, ParsedNumber | None]) -> dict[str, ParsedNumber | None]:
    """Return numbers in full if their units are several powers of ten, as 900, 1.2K and 3M."""
    units = {number.unit for number in parsed.values() if number is not None} - {""}
    if not units <= set(_CLEAR_POWERS) or len({_CLEAR_POWERS[unit] for unit in units}) < 2:
        return parsed
    return {
        cell: number
        if number is None or not number.unit
        else replace(
            number,
            value=_times_ten(number.value, _CLEAR_POWERS[number.unit]),
            unit="",
            magnitude=number.unit,
        )
        for cell, number in parsed.items()
    }


def detect_decimal(cells: Sequence[str], default: str = ".") -> str:
    """Return the decimal sign of the numbers of one column.

    A comma or point before one, two, four or more digits is a decimal sign. Three digits may be
    thousands, for which the default decides.
    """
    votes: Counter[str] = Counter()
    for cell in cells:
        fractions = _FRACTIONS.findall(cell)
        if not fractions or _LONG_WORD.search(cell):
            continue
        last = fractions[-1]
        if len(last) != 4 or (len(fractions) > 1 and fractions[-2][0] != last[0]):
            votes[last[0]] += 1
        elif len(fractions) > 1:
            votes["," if last[0] == "." else "."] += 1
    if not votes or votes["."] == votes[","]:
        return default
    return max(votes, key=lambda sign: votes[sign])


def is_unit(text: str) -> bool:
    """Return whether a short text can be a unit: mg/l, °C, µS/cm, %, m², T€."""
    plain = text.strip().strip("[]()").strip()
    return bool(plain) and len(plain) <= 14 and bool(_UNITS.fullmatch(plain))


_PREFIX = "(?:[yzafpnµμumcdhkMGTPE]|da)?"
_BASE = (
    "(?:m|g|s|A|K|mol|cd|l|L|h|min|d|a|t|bar|Pa|V|W|J|N|Hz|Ω|Ohm|ohm|S|F|C|T|B|b|eV|cal|Wh|VA|ha|"
    "rad|Bq|Gy|Sv|lx|lm|M|Da|ppm|ppb|ppt|pH|FNU|NTU|PSU|dB|dpi|px|rpm|U|IU|IE|in|ft|yd|mi|lb|lbs|"
    "oz|mph|kn|gal|inch|°|°C|°F|%|‰|€|\\$|£|¥|EUR|USD|GBP|CHF|Tsd|Mio|Mrd|Stk|Stück|Jahre|Tage|"
    "years|days|hours|yr|yrs|sec|°dH|mmHg|km/h|cells|count|pcs)"
)
_EXPONENT = "(?:[²³⁻¹]+|\\^?-?[1-9])?"
_ONE_UNIT = f"{_PREFIX}{_BASE}{_EXPONENT}"
_UNITS = re.compile(rf"(?:T€|k€|Mio\.? ?€|{_ONE_UNIT}(?: ?[/·*. ] ?{_ONE_UNIT}){{0,3}})")


@dataclass(frozen=True)
class NumberColumn:
    """Parsed column of numbers."""

    values: list[float | None]
    unit: str
    below: int
    above: int
    others: dict[str, int]
    grouped: bool
    negative: int = 0
    magnitudes: tuple[str, ...] = ()  # Powers of ten behind the numbers, such as K and M


def number_column(
    cells: Sequence[str], decimal: str = ".", force: bool = False
) -> NumberColumn | None:
    """Return a column as numbers if most of its cells are numbers, else None.

    "Most" is half of the filled cells, except ``N/A`` and the like, if all others are texts for
    missing values (``n. b.``), four in five if the others have few distinct texts, else 19 in 20.
    Numbers with leading zeros (codes) or with many different units do not count, nor do limits on
    both sides alone (``<=50K``, ``>50K``). O(n).
    """
    parsed: dict[str, ParsedNumber | None] = {}
    filled = [cell for text in cells if (cell := text.strip())]
    counts = Counter(filled)
    for cell in counts:
        parsed[cell] = parse(cell, decimal)
    parsed = _with_magnitudes(parsed)
    units: Counter[str] = Counter()
    for cell, number in parsed.items():
        if number is not None:
            units[number.unit] += counts[cell]
    unit = max(units, key=lambda candidate: units[candidate], default="")
    foreign_units = [candidate for candidate in units if candidate not in ("", unit)]
    if not unit and foreign_units:
        unit = max(foreign_units, key=lambda candidate: units[candidate])
        if units[unit] < 0.5 * units.total() and (len(foreign_units) > 1 or not is_unit(unit)):
            unit = ""
    if not force and unit and ((unit in SYMBOL_UNITS and "" in units) or not _may_be_unit(unit)):
        return None
    for cell, number in parsed.items():
        if number is not None and number.unit not in ("", unit):
            parsed[cell] = None
    accounting = {
        cell
        for cell, number in parsed.items()
        if number and strip_accounting_minus(cell) is not None
    }
    is_majority = 2 * sum(counts[cell] for cell in accounting) >= len(filled)
    if not force and is_majority and not any(map(_is_amount, accounting)):
        # (1) and (2) are footnotes, and 18- is an age, unless most cells are plain numbers.
        parsed.update(dict.fromkeys(accounting))
        accounting = set()
    numbers = [cell for cell, number in parsed.items() if number is not None]
    n = sum(counts[cell] for cell in numbers)
    others = {cell: counts[cell] for cell, number in parsed.items() if number is None}
    if not n:
        return None
    if not force and {number.limit for number in parsed.values() if number} == {-1, 1}:
        # Classes such as <=50K and >50K.
        return None
    if not force:
        if any(_CODE.fullmatch(cell) for cell in numbers):
            return None
        if all(_DECADE.fullmatch(cell) for cell in numbers):
            # 1980s is a decade, and no 1,980 seconds.
            return None
        unusable = {cell for cell in others if why_unusable(cell, decimal) is not None}
        unknown = {cell for cell in others if cell.lower() not in UNKNOWN_MARKERS} - unusable
        # N/A is no text that a column of words would have.
        unusable |= {cell for cell in others if cell.lower() in MISSING}
        share = n / (len(filled) - sum(others[cell] for cell in unusable))
        words = 0.8 if len(unknown) <= 5 else 0.95
        if share < (0.5 if not unknown else words):
            return None
    limits: Counter[int] = Counter()
    for cell, number in parsed.items():
        if number is not None:
            limits[number.limit] += counts[cell]
    values = [
        None if (number := parsed.get(cell.strip())) is None else number.value for cell in cells
    ]
    grouped = any(number is not None and number.grouped for number in parsed.values())
    n_behind = sum(counts[cell] for cell in accounting)
    found = {number.magnitude for number in parsed.values() if number is not None} - {""}
    magnitudes = tuple(sorted(found))
    return NumberColumn(values, unit, limits[-1], limits[1], others, grouped, n_behind, magnitudes)


def _is_amount(cell: str) -> bool:
    """Return whether a number has a fraction or thousands, like amounts of money."""
    return bool(_AMOUNT.search(cell))


_AMOUNT = re.compile(r"\d[.,'\u2019 ]\d")
_CODE = re.compile(r"0\d+")
_DECADE = re.compile(r"(?:1\d|2[01])\d0s")
SYMBOL_UNITS = frozenset("%‰$€£¥")
"""Units that all numbers of a column must have: 12 % and 7 are not comparable."""


def _may_be_unit(text: str) -> bool:
    return text in SYMBOL_UNITS or is_unit(text)


def is_plain_numbers(cells: Sequence[str] | pd.Series, decimal: str = ".") -> bool:
    """Return whether all cells are plain numbers or empty."""
    if isinstance(cells, pd.Series):
        if plain_numbers(cells, decimal) is not None:
            return True
        cells = cells.tolist()
    return _PLAIN[decimal].fullmatch("\n".join(cells)) is not None


_PLAIN = {
    sign: re.compile(
        rf"(?:[ \t]*+(?:[+-]?+(?:[0-9]++(?:{re.escape(sign)}[0-9]*+)?+|{re.escape(sign)}[0-9]++)"
        rf"(?:[eE][+-]?+[0-9]++)?+)?+[ \t]*+(?:\n|\Z))*+"
    )
    for sign in ".,"
}

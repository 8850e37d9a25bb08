"""Formatting of lists, counts, percentages, times and names for people."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence

# Plurals and names of many things that do not end in s.
_PLURALS = frozenset(
    [
        "people",
        "men",
        "women",
        "children",
        "emoji",
        "emojis",
        "fish",
        "sheep",
        "mice",
        "geese",
        "feet",
        "teeth",
        "data",
        "media",
        "criteria",
        "phenomena",
        "genera",
        "fungi",
        "alumni",
        "series",
        "species",
        "movies",
    ]
)
# A number and its unit stay on one line.
_UNIT = re.compile(r"(?<=\d) (?=(?:%|ms|s|min|h|kB|MB|GB)(?!\w))")
_NO_BREAK = "\N{NO-BREAK SPACE}"


def join_words(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"; empty for no parts."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def join_first(parts: Sequence[str], max_parts: int = 5) -> str:
    """Return the first parts and the number of others: "a, b, c and 12 more"."""
    if len(parts) <= max_parts:
        return join_words(parts)
    return f"{', '.join(parts[:max_parts])} and {len(parts) - max_parts:,} more"


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return "1 row" or "1,273 rows"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def count_rows(number: int, table: str) -> str:
    """Return "344 penguins", or "398 rows of mpg" where the table is not named by a plural."""
    if number != 1 and _is_plural(table):
        return f"{number:,} {table}"
    return f"{count(number, 'row')} of {table}"


def _is_plural(name: str) -> bool:
    word = re.split(r"[\W_]+", name.casefold().strip(" _"))[-1]
    has_vowel = re.search("[aeiouy]", word) is not None
    is_regular = word.endswith("s") and not word.endswith(("ss", "us", "is")) and has_vowel
    return is_regular or word in _PLURALS or not word.isascii()


def percent(share: float, digits: int = 3) -> str:
    """Return a share as "84.2 %", with `digits` significant digits."""
    return f"{100 * share:.{digits}g} %"


def round_percent(share: float, decimals: int = 0) -> str:
    """Return a share as "84 %", "0.4 %" or "99.6 %", or with a fixed number of decimals."""
    return f"{100 * share:.{decimals}f} %" if decimals else f"{per_hundred(share)} %"


def almost_all(share: float) -> float | None:
    """Return a share that would round to 100 in percent with one decimal, None for others."""
    return min(round(100 * share, 1), 99.9) if 0.995 <= share < 1 else None


def per_hundred(value: float) -> str:
    """Return a share as a number out of 100: "47", "0.4" below one, "99.6" near 100."""
    if (almost := almost_all(value)) is not None:
        return str(almost)
    if value >= 0.0095 or value <= 0:
        return f"{100 * value:.0f}"
    return f"{100 * value:.1f}" if value >= 0.00095 else "under 0.1"


def format_score(value: float) -> str:
    """Return a score of at most 1: "0.87", "0.998" near 1, "1.00" for nothing less than 1."""
    return f"{min(value, 0.999):.3f}" if 0.995 <= value < 1 else f"{value:.2f}"


def format_seconds(seconds: float) -> str:
    """Return a time in words: "0.03 s", "2.4 s", "28 s", "3 min"."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    if seconds >= 9.95:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 0.095 else f"{max(seconds, 0.01):.2f} s"


# Text on plots: shown literally and kept short.


_FILE = re.compile(r"\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|npy|txt|wav|mp3)\s*$", re.IGNORECASE)
_ENDING = re.compile(r" \([^()]+\)$")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")


def format_number(value: float) -> str:
    """Return a number with as many digits as a reader needs."""
    if float(value).is_integer() and abs(value) < 1e15:
        # Numbers of four digits have no separator, because they may be years.
        return f"{value:.0f}" if abs(value) < 10_000 else f"{value:,.0f}"
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.3g}"
    digits = max(1, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


def plain_text(value: object) -> str:
    """Return a value as text, 3 for 3.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def escape(text: str) -> str:
    """Return text that Plotly shows literally, without tags, entities or formulas."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def shorten(text: str, max_length: int) -> str:
    """Return text on one line, cut to `max_length` characters before an ending in parentheses."""
    flat = " ".join(text.split())
    if len(flat) <= max_length:
        return flat
    # The ending tells items with equal titles apart.
    ending = _ENDING.search(flat)
    tail = "" if ending is None or len(ending[0]) > max_length // 2 else ending[0]
    return flat[: max_length - 1 - len(tail)].rstrip() + "…" + tail


def finish_sentence(text: str) -> str:
    """Return text with a full stop, unless it ends with one or was cut."""
    return text if text.endswith((".", "…")) else f"{text}."


def is_word(text: str) -> bool:
    """Whether text contains a word, unlike a running number such as f0483."""
    return _TWO_LETTERS.search(text) is not None


def is_name(title: str, own_id: str) -> bool:
    """Whether a title names an item, unlike a file name, an id such as f0483, or row 17."""
    if _FILE.search(title) or title == f"row {own_id}":
        return False
    if title != own_id:
        return True
    return is_word(title) and (" " in title.strip() or not any(map(str.isdigit, title)))


def join_units(text: str) -> str:
    """Return text with numbers and units joined by no-break spaces."""
    return _UNIT.sub(_NO_BREAK, text)

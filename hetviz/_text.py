"""Small pieces of sentences: "a, b and c", "1 row" or "12 rows", "84 %", "2.4 s"."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence


def listed(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"; nothing for no parts."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def some(parts: Sequence[str], most: int = 5) -> str:
    """Return the first of many, "a, b, c and 12 more"; all of them where they are few."""
    if len(parts) <= most:
        return listed(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most:,} more"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return "1 row" or "1,273 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(share: float, digits: int = 3) -> str:
    """Return a share as "84.2 %", to so many significant digits."""
    return f"{100 * share:.{digits}g} %"


def rounded(share: float, decimals: int = 0) -> str:
    """Return a share as "84 %", to so many decimals."""
    return f"{100 * share:.{decimals}f} %"


def per_hundred(value: float) -> str:
    """Return a share as a number out of 100: "47", or "0.4" below one."""
    return f"{100 * value:.0f}" if value >= 0.0095 or value <= 0 else f"{100 * value:.1f}"


def in_seconds(seconds: float) -> str:
    """Return a time in words: "0.03 s", "2.4 s", "28 s", "3 min"."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    if seconds >= 9.95:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 0.095 else f"{max(seconds, 0.01):.2f} s"


# Text on plots: shown as it is, and not too long.


_FILE = re.compile(r"\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|npy|txt|wav|mp3)\s*$", re.IGNORECASE)
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")


def in_digits(value: float) -> str:
    """Return a number to be read: as many digits as tell it apart from others of its size."""
    if float(value).is_integer() and abs(value) < 1e15:
        # A year is written without a separator, and so is every other number of four digits.
        return f"{value:.0f}" if abs(value) < 10_000 else f"{value:,.0f}"
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.3g}"
    digits = max(1, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


def escape(text: str) -> str:
    """Return text that Plotly shows as it is: no tags, no entities, no formulas."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def short(text: str, most: int) -> str:
    """Return text on one line, cut to `most` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def is_word(text: str) -> bool:
    """Say whether text says something to a reader, as a running number such as f0483 does not."""
    return _TWO_LETTERS.search(text) is not None


def is_name(title: str, own_id: str) -> bool:
    """Say whether a title names an item: a file does not, nor an id such as f0483 or shop-07."""
    if _FILE.search(title):
        return False
    if title != own_id:
        return True
    return is_word(title) and (" " in title.strip() or not any(map(str.isdigit, title)))

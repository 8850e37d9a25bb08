"""Text on plots: shown as it is, and not too long."""

from __future__ import annotations

import html
import re

_TWO_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")


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

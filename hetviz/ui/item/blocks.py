"""Contents of the item panel as data: the page draws them, and the browser before the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetviz._text import join_units

Block = dict[str, Any]
"""A JSON-ready piece of the panel; its key "kind" names how it is drawn."""


def section(title: str, aside: str = "", evidence: str = "") -> Block:
    """Return the heading of a section; `aside` is grey and at the right."""
    texts = {"title": join_units(title), "aside": join_units(aside)}
    return {"kind": "section", **texts, "evidence": evidence}


def note(text: str, evidence: str = "") -> Block:
    """Return a grey line of text."""
    return {"kind": "note", "text": join_units(text), "evidence": evidence}


def pairs(rows: Sequence[tuple[str, str]]) -> Block:
    """Return names with their values at the right."""
    return {"kind": "pairs", "rows": [list(row) for row in rows]}


def like(row: int, title: str) -> Block:
    """Return a button that searches for items like one."""
    return {"kind": "like", "row": row, "title": title, "text": "Items like this one"}


def button(key: str, text: str, *, is_quiet: bool = False) -> Block:
    """Return a button of the page; the browser passes a click on to it when it arrives."""
    return {"kind": "button", "key": key, "text": text, "is_quiet": is_quiet}

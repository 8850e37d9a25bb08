"""List the methods, or say which suit."""

from __future__ import annotations

import argparse

import hetviz
from hetviz.cli.arguments import DATA_HELP, Add
from hetviz.cli.terminal import show


def register(add: Add) -> None:
    """Add the command."""
    methods = add("methods", _methods, "List the methods.", "methods --suggest emoji")
    methods.add_argument("--suggest", metavar="DATA", help=f"say which suit {DATA_HELP}")


def _methods(given: argparse.Namespace) -> int:
    if given.suggest is None:
        cards = [
            {"key": card.key, "title": card.title, "family": card.family, "summary": card.summary}
            for card in hetviz.methods()
        ]
        lines = [f"{card['key']:<20}{card['summary']}" for card in cards]
        show(given, cards, lines)
        return 0
    verdicts = [
        {"key": v.card.key, "suits": v.suits, "reasons": list(v.reasons)}
        for v in hetviz.suggest(hetviz.load(given.suggest))
    ]
    lines = [
        f"{v['key']!s:<20}{'suits' if v['suits'] else 'does not suit'}: "
        + " ".join(map(str, v["reasons"]))  # type: ignore[call-overload]
        for v in verdicts
    ]
    show(given, verdicts, lines)
    return 0

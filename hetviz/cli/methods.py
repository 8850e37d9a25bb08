"""List the methods, or say which suit."""

from __future__ import annotations

import argparse

import hetviz
from hetviz._text import in_seconds
from hetviz.algorithms.cost import measure_seconds
from hetviz.cli.arguments import DATA_HELP, Add
from hetviz.cli.terminal import show


def register(add: Add) -> None:
    """Add the command."""
    methods = add("methods", _methods, "List the methods.", "methods --suggest emoji")
    methods.add_argument("--suggest", metavar="DATA", help=f"say which suit {DATA_HELP}")
    methods.add_argument(
        "--time",
        action="store_true",
        help="with --suggest: estimate the seconds of a fit from fits to 200 and 400 items",
    )


def _methods(given: argparse.Namespace) -> int:
    if given.suggest is None:
        cards = [
            {"key": card.key, "title": card.title, "family": card.family, "summary": card.summary}
            for card in hetviz.methods()
        ]
        lines = [f"{card['key']:<20}{card['summary']}" for card in cards]
        show(given, cards, lines)
        return 0
    data = hetviz.load(given.suggest)
    if given.time:
        for verdict in hetviz.suggest(data):
            if verdict.suits:
                measure_seconds(hetviz.get_method(verdict.card.key), data)
    found = hetviz.suggest(data)
    verdicts = [
        {"key": v.card.key, "suits": v.suits, "reasons": list(v.reasons), "seconds": v.seconds}
        for v in found
    ]
    lines = [
        f"{v.card.key:<20}{'suits' if v.suits else 'does not suit'}: {' '.join(v.reasons)}"
        + ("" if v.seconds is None else f" About {in_seconds(v.seconds)} a fit.")
        for v in found
    ]
    show(given, verdicts, lines)
    return 0

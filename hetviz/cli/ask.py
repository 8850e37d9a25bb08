"""Print the questions whose answers would tell a map most."""

from __future__ import annotations

import argparse
from pathlib import Path

import hetviz
from hetviz.cli.arguments import Add, add_data
from hetviz.cli.terminal import show
from hetviz.runs.ask.questions import KINDS


def register(add: Add) -> None:
    """Add the command."""
    ask = add(
        "ask",
        _ask,
        "Print the questions whose answers would tell a map most.",
        "ask digits --coordinates result/coordinates.csv -n 10",
    )
    add_data(ask)
    ask.add_argument(
        "--coordinates", metavar="FILE", required=True, help="CSV with dataset, id and axes"
    )
    ask.add_argument("-n", type=int, default=10, help="how many questions (10)")
    ask.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        help="only questions of this kind; may be repeated",
    )
    ask.add_argument("--seed", type=int, default=0, help="seed of random numbers (0)")


def _ask(given: argparse.Namespace) -> int:
    from hetviz.io import gate, read_bundle, read_coordinates

    data = read_bundle(given.data).strict().data
    file = Path(given.coordinates)
    embedding = read_coordinates(file.name, gate.read_file(file), data)
    questions = hetviz.suggest_questions(
        data, embedding, given.n, random_state=given.seed, kinds=given.kind or KINDS
    )
    lines = [f"{question.text}  ({question.why})" for question in questions]
    show(given, [question.to_dict() for question in questions], lines or ["Nothing left to ask."])
    return 0

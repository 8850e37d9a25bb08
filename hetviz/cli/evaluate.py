"""Measure a map."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import hetviz
from hetviz.cli.arguments import Add, add_data, add_parameters, chosen_params
from hetviz.cli.terminal import progress, score_lines, show


def register(add: Add) -> None:
    """Add the command."""
    evaluate = add(
        "evaluate",
        _evaluate,
        "Measure a map; ± is the standard error of what was sampled.",
        "evaluate digits --coordinates result/coordinates.csv",
    )
    add_data(evaluate)
    which = evaluate.add_mutually_exclusive_group(required=True)
    which.add_argument("--coordinates", metavar="FILE", help="CSV with dataset, id and axes")
    which.add_argument("--method", metavar="KEY", help="see `methods`")
    add_parameters(evaluate)


def _evaluate(given: argparse.Namespace) -> int:
    from hetviz.io import gate, read_bundle, read_coordinates

    loaded = read_bundle(given.data).strict()
    if given.coordinates is not None:
        file = Path(given.coordinates)
        embedding = read_coordinates(file.name, gate.read_file(file), loaded.data)
    else:
        embedding = hetviz.embed(
            loaded.data,
            given.method,
            random_state=given.seed,
            progress=progress(),
            **chosen_params(given),
        )
    scores = hetviz.evaluate(loaded.data, embedding, loaded.held_out)
    lines = score_lines(scores.values, scores.standard_errors)
    sampled: dict[str, Any] = {"standard_errors": dict(scores.standard_errors)}
    record = {**scores.to_dict(), **(sampled if scores.standard_errors else {})}
    show(given, record, lines)
    return 0

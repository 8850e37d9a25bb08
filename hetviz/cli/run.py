"""Run a recipe again."""

from __future__ import annotations

import argparse
import json

import hetviz
from hetviz.cli.arguments import Add
from hetviz.cli.terminal import progress, score_lines, show


def register(add: Add) -> None:
    """Add the command."""
    run = add("run", _run, "Run a recipe again.", "run result/recipe.toml --out again")
    run.add_argument("recipe", help="a recipe.toml, or the folder that holds one")
    run.add_argument("--out", metavar="DIR", help="folder to write into (run/ beside the recipe)")


def _run(given: argparse.Namespace) -> int:
    folder = hetviz.run_recipe(given.recipe, given.out, progress=progress())
    record = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    lines = [*score_lines(record["scores"]), f"Written to {folder}"]
    show(given, record, lines)
    return 0

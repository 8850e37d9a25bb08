"""Run a recipe again."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

import hetviz
from hetviz.cli.arguments import Add
from hetviz.cli.terminal import progress, score_lines, show


def register(add: Add) -> None:
    """Add the command."""
    run = add("run", _run, "Run a recipe again.", "run result/recipe.toml --out again --figures")
    run.add_argument("recipe", help="a recipe.toml, or the folder that holds one")
    run.add_argument("--out", metavar="DIR", help="folder to write into (run/ beside the recipe)")
    run.add_argument(
        "--figures",
        nargs="*",
        choices=("png", "svg", "pdf"),
        metavar="FORM",
        help="draw the map and the curves as well: png svg pdf (png)",
    )


def _run(given: argparse.Namespace) -> int:
    folder = hetviz.run_recipe(given.recipe, given.out, progress=progress())
    record = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    lines = [*score_lines(record["scores"]), *_same(record)]
    if given.figures is not None:
        from hetviz.exports.result import read_result, write_figures

        files = write_figures(read_result(folder), folder, given.figures or ["png"])
        record["figures"] = [str(file) for file in files]
    lines.append(f"Written to {folder}")
    show(given, record, lines)
    return 0


def _same(record: Mapping[str, object]) -> list[str]:
    """Say whether the coordinates are those that the recipe was made with."""
    same = record.get("same_coordinates")
    if same is None:
        return []
    words = "the same, bit for bit, as" if same else "not the same, bit for bit, as"
    return [f"The coordinates are {words} those of the recipe."]

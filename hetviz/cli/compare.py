"""Compare methods on held-out links and comparisons."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import hetviz
from hetviz._text import in_seconds
from hetviz.cli.arguments import Add, add_data
from hetviz.cli.terminal import progress, show
from hetviz.io import gate
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES

_MOST_COLUMNS = 4


def register(add: Add) -> None:
    """Add the command."""
    compare = add(
        "compare",
        _compare,
        "Fit methods on the same splits and say which keeps best what it was not shown.",
        "compare digits --methods guided-projection,mr-sne,pca --seeds 3",
    )
    add_data(compare)
    compare.add_argument(
        "--methods", metavar="A,B", help="keys, see `methods`; all that suit the data when absent"
    )
    compare.add_argument("--seeds", type=int, default=3, metavar="N", help="splits (3)")
    compare.add_argument(
        "--hold-out",
        type=float,
        default=0.2,
        metavar="F",
        help="share of the links and comparisons that no method sees (0.2)",
    )
    compare.add_argument(
        "--new-items",
        type=float,
        default=0.0,
        metavar="F",
        help="share of the items to leave out altogether and place afterwards (0)",
    )
    compare.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    compare.add_argument("--out", metavar="DIR", help="write compare.json and compare.csv there")


def _compare(given: argparse.Namespace) -> int:
    keys = given.methods
    found = hetviz.compare(
        hetviz.load(given.data),
        None if keys is None else [key.strip() for key in keys.split(",") if key.strip()],
        seeds=given.seeds,
        hold_out=given.hold_out,
        new_items=given.new_items,
        progress=progress(),
        random_state=given.seed,
    )
    if given.out is not None:
        _write(found, Path(given.out))
    show(given, found.to_dict(), _lines(found))
    return 0


def _lines(found: Comparison) -> list[str]:
    """Return the table in hundredths, what failed, and the advice."""
    measures = [key for key in found.measures if key in MEASURES][:_MOST_COLUMNS]
    head = ["method", *(MEASURES[key].label for key in measures), "time"]
    rows: list[list[str]] = [
        [str(key), *(_cell(row[m], row[f"{m}_se"]) for m in measures), in_seconds(row["seconds"])]
        for key, row in found.table.to_dict("index").items()
        if row["n_fits"]
    ]
    table = [head, *rows]
    widths = [max(len(row[place]) for row in table) for place in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    lines += [f"{key}: {reason}" for key, reason in found.failures.items()]
    return [*lines, found.recommendation.sentence]


def _cell(value: float, error: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{100 * value:.1f}" + ("" if math.isnan(error) else f" ± {100 * error:.1f}")


def _write(found: Comparison, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
        (folder / "compare.json").write_text(text, encoding="utf-8")
        (folder / "compare.csv").write_text(found.table.to_csv(), encoding="utf-8")
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise gate.refusal("not-written", str(folder), what) from None

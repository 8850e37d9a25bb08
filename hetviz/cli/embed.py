"""Place all items of some data."""

from __future__ import annotations

import argparse
from pathlib import Path

import hetviz
from hetviz.cli.arguments import Add, add_data, add_parameters, chosen_params
from hetviz.cli.terminal import progress, score_lines, show
from hetviz.errors import ParameterError


def register(add: Add) -> None:
    """Add the command."""
    embed = add(
        "embed",
        _embed,
        "Place all items; write coordinates.csv, scores.json and recipe.toml.",
        "embed emoji --method guided-projection --set kernel=rbf --out result",
    )
    add_data(embed)
    embed.add_argument("--method", metavar="KEY", required=True, help="see `methods`")
    add_parameters(embed)
    embed.add_argument(
        "--weigh",
        action="append",
        default=[],
        metavar="KEY=F",
        type=_weight,
        help="weigh a kind of links by F, 0 to 1; KEY is 'source|target|kind'; may be repeated",
    )
    embed.add_argument("--only", metavar="FILE", help="CSV of the rows to place: dataset, id")
    embed.add_argument(
        "--hold-out",
        type=float,
        default=0.0,
        metavar="F",
        help="share of the links and comparisons to keep from the method and judge the map by (0)",
    )
    embed.add_argument(
        "--model", metavar="FILE", help="save the fitted method too, to place new items later (zip)"
    )
    embed.add_argument("--out", required=True, metavar="DIR", help="folder to write into")


def _embed(given: argparse.Namespace) -> int:
    from hetviz.io import read_bundle
    from hetviz.runs.embed.recipe import write_run
    from hetviz.runs.embed.rows import read_rows_file
    from hetviz.runs.embed.run import fit_run

    params = chosen_params(given)
    loaded = read_bundle(given.data).strict()
    weights = dict(given.weigh)
    if len(weights) < len(given.weigh):
        raise ParameterError("--weigh names one kind of links twice.")
    fitted = fit_run(
        loaded.data,
        given.method,
        params,
        given.seed,
        progress(),
        weights=weights,
        only=None if given.only is None else read_rows_file(Path(given.only), loaded.data),
        hold_out=given.hold_out,
    )
    source = given.data if given.data in hetviz.samples() else str(Path(given.data).resolve())
    record = write_run(given.out, source, loaded.data, fitted, loaded.held_out)
    if given.model is not None:
        hetviz.save_model(fitted.model, given.model)
    placed = fitted.embedding.n_rows - fitted.embedding.n_unplaced
    lines = [
        f"{given.method}: {placed:,} rows placed in {fitted.run.seconds:.2f} s",
        *score_lines(record["scores"]),
        f"Written to {given.out}",
    ]
    show(given, record, lines)
    return 0


def _weight(text: str) -> tuple[str, float]:
    # The name of a dataset may hold the sign as well, so the last one counts.
    key, _, factor = text.rpartition("=")
    try:
        return key, float(factor)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=number") from None

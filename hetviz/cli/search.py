"""Command that searches the settings of a method."""

from __future__ import annotations

import argparse
from typing import Any

import hetviz
from hetviz import params as parameters
from hetviz.cli.arguments import (
    add_data,
    add_number,
    add_parameters,
    make_progress,
    parse_params,
    print_line,
    print_result,
    write_output,
)
from hetviz.errors import ParameterError
from hetviz.runs.compare.search import MAX_SETTINGS, SettingsResult


def add_search(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    add_data(command)
    command.add_argument("--method", required=True, metavar="KEY", help="see `methods`")
    command.add_argument(
        "--try",
        dest="tries",
        action="append",
        default=[],
        metavar="NAME[=A,B]",
        help="a setting to search, optionally with first values (may be repeated, default: "
        "strengths, axes and scales of the method)",
    )
    add_number(command, "--seeds", 2, "number of splits", "N")
    add_number(
        command, "--hold-out", 0.2, "share of links and comparisons held out in each split", "F"
    )
    add_number(command, "--test", 0.2, "share hidden from the search, for the final test", "F")
    command.add_argument("--measure", metavar="NAME", help="measure to optimise, see `evaluate`")
    command.add_argument(
        "--most",
        type=int,
        default=MAX_SETTINGS,
        metavar="N",
        help=f"maximum number of settings ({MAX_SETTINGS})",
    )
    command.add_argument("--whole-grid", action="store_true", help="try all combinations")
    command.add_argument("--fixed-grid", action="store_true", help="only try the first values")
    command.add_argument("--cost", action="store_true", help="only estimate the cost")
    command.add_argument("--out", metavar="FILE", help="write all results as JSON")
    add_parameters(command)


def _search(args: argparse.Namespace) -> int:
    data = hetviz.load(args.data)
    settings = _settings(args)
    grows = not args.fixed_grid
    cost = hetviz.search_cost(
        data, args.method, settings, seeds=args.seeds, most=args.most, grows=grows
    )
    if args.cost:
        print_result(args, cost._asdict(), [cost.sentence])
        return 0
    if not args.json:
        print_line(cost.sentence)
    result = hetviz.search_settings(
        data,
        args.method,
        settings,
        seeds=args.seeds,
        hold_out=args.hold_out,
        test=args.test,
        measure=args.measure,
        whole_grid=args.whole_grid,
        most=args.most,
        grows=grows,
        params=parse_params(args),
        progress=make_progress(),
        random_state=args.seed,
    )
    if args.out is not None:
        write_output(args.out, result.to_dict(), make_folder=True)
    print_result(args, result.to_dict(), _lines(result))
    return 0


def _settings(args: argparse.Namespace) -> dict[str, list[object]] | None:
    """Return the typed values of --try."""
    from hetviz.runs.compare.search import search_values

    declared = hetviz.get_method(args.method).params
    values_of: dict[str, list[Any]] = {}
    for text in args.tries:
        name, marked, values = text.partition("=")
        if name not in declared:
            raise ParameterError(
                f"{args.method} has no parameter {name!r}. Available: {', '.join(declared)}."
            )
        words = [word.strip() for word in values.split(",") if word.strip()]
        values_of[name] = (
            [parameters.parse(declared[name], word) for word in words]
            if marked
            else list(search_values(declared[name]))
        )
    return values_of or None


def _lines(result: SettingsResult) -> list[str]:
    table = result.tried.table
    width = max(map(len, table.index), default=0)
    lines = []
    for key, row in table.iterrows():
        value, error = row[result.measure], row[f"{result.measure}_se"]
        text = "-" if value != value else f"{100 * value:.1f}"
        text += f" ± {100 * error:.1f}" if error == error else ""
        lines.append(f"{key!s:<{width}}  {text}")
    lines += [f"{key}: {why}" for key, why in result.tried.failures.items()]
    chosen = " ".join(
        f"--set {name}={_format_value(value)}" for name, value in result.params.items()
    )
    return [*lines, result.sentence, f"Use: {chosen}"]


def _format_value(value: object) -> str:
    return "none" if value is None else str(value)

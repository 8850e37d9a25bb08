"""Search the settings of a method."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import hetviz
from hetviz import params as parameters
from hetviz.cli.arguments import (
    Add,
    add_data,
    add_parameters,
    chosen_params,
    progress,
    say,
    show,
)
from hetviz.errors import ParameterError
from hetviz.io import gate
from hetviz.runs.compare.search import MAX_SETTINGS, SettingsFound


def add_search(add: Add) -> None:
    """Add the command `search`."""
    search = add(
        "search",
        _search,
        "Find the settings of a method that keep most of what it was not shown, by a grid that "
        "goes on past its ends while the best is at one.",
        "search digits --method guided-projection --try gamma=0.01,0.1,1 --try axis_scale",
    )
    add_data(search)
    search.add_argument("--method", required=True, metavar="KEY", help="see `methods`")
    search.add_argument(
        "--try",
        dest="tries",
        action="append",
        default=[],
        metavar="NAME[=A,B]",
        help="a setting to search, with the values to begin with or those that suit; more than "
        "once for several; what the method has of strengths, axes and their scale when absent",
    )
    search.add_argument("--seeds", type=int, default=2, metavar="N", help="splits for each (2)")
    search.add_argument(
        "--hold-out",
        type=float,
        default=0.2,
        metavar="F",
        help="share of links and comparisons held out in each split (0.2)",
    )
    search.add_argument(
        "--test",
        type=float,
        default=0.2,
        metavar="F",
        help="share that the search never sees, for the last figures (0.2)",
    )
    search.add_argument("--measure", metavar="NAME", help="what decides, see `evaluate`")
    search.add_argument(
        "--most",
        type=int,
        default=MAX_SETTINGS,
        metavar="N",
        help=f"settings at most ({MAX_SETTINGS})",
    )
    search.add_argument("--whole-grid", action="store_true", help="try all combinations")
    search.add_argument(
        "--fixed-grid", action="store_true", help="stay within the values to begin with"
    )
    search.add_argument("--cost", action="store_true", help="only say what it would take")
    search.add_argument("--out", metavar="FILE", help="write what was tried as JSON there")
    add_parameters(search)


def _search(given: argparse.Namespace) -> int:
    data = hetviz.load(given.data)
    settings = _settings(given)
    grows = not given.fixed_grid
    cost = hetviz.search_cost(
        data, given.method, settings, seeds=given.seeds, most=given.most, grows=grows
    )
    if given.cost:
        show(given, cost._asdict(), [cost.sentence])
        return 0
    if not given.json:
        say(cost.sentence)
    found = hetviz.search_settings(
        data,
        given.method,
        settings,
        seeds=given.seeds,
        hold_out=given.hold_out,
        test=given.test,
        measure=given.measure,
        whole_grid=given.whole_grid,
        most=given.most,
        grows=grows,
        params=chosen_params(given),
        progress=progress(),
        random_state=given.seed,
    )
    if given.out is not None:
        _write(found, Path(given.out))
    show(given, found.to_dict(), _lines(found))
    return 0


def _settings(given: argparse.Namespace) -> dict[str, list[object]] | None:
    """Return the values of --try, with their type."""
    from hetviz.runs.compare.search import search_values

    declared = hetviz.get_method(given.method).params
    found: dict[str, list[Any]] = {}
    for text in given.tries:
        name, marked, values = text.partition("=")
        if name not in declared:
            raise ParameterError(
                f"{given.method} has no parameter {name!r}. It has: {', '.join(declared)}."
            )
        words = [word.strip() for word in values.split(",") if word.strip()]
        found[name] = (
            [parameters.parse(declared[name], word) for word in words]
            if marked
            else list(search_values(declared[name]))
        )
    return found or None


def _lines(found: SettingsFound) -> list[str]:
    table = found.tried.table
    width = max(map(len, table.index), default=0)
    lines = []
    for key, row in table.iterrows():
        value, error = row[found.measure], row[f"{found.measure}_se"]
        told = "-" if value != value else f"{100 * value:.1f}"
        told += f" ± {100 * error:.1f}" if error == error else ""
        lines.append(f"{key!s:<{width}}  {told}")
    lines += [f"{key}: {why}" for key, why in found.tried.failures.items()]
    chosen = " ".join(f"--set {name}={_typed(value)}" for name, value in found.params.items())
    return [*lines, found.sentence, f"Use: {chosen}"]


def _typed(value: object) -> str:
    return "none" if value is None else str(value)


def _write(found: SettingsFound, file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise gate.refusal("not-written", str(file), what) from None

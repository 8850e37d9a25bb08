"""Command line of hetviz.

`COMMANDS` lists the commands in the order of the help: module, description and example. Results go
to standard output; notes, errors and progress go to standard error.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import hetviz
from hetviz.cli.arguments import DATA_HELP, print_error, print_line, print_warning
from hetviz.core.threads import limit_threads
from hetviz.errors import HetvizError

COMMANDS = {
    "app": ("projects", "Start the app in a browser.", "app --port 8501"),
    "samples": ("catalogue", "List the samples.", "samples"),
    "methods": ("catalogue", "List the methods.", "methods --suggest emoji"),
    "embed": (
        "maps",
        "Fit a map and write coordinates, scores and a recipe.",
        "embed emoji --method guided-projection --set kernel=rbf --out result",
    ),
    "periods": (
        "maps",
        "Make a map of each period, aligned with the ones before, and list what moved most.",
        "periods shop.zip --by date --unit quarter --out places.csv",
    ),
    "evaluate": (
        "maps",
        "Evaluate a map. Shows each measure with its standard error (±), its maximum on these data "
        "and the smallest difference between two maps that is not due to chance.",
        "evaluate digits --coordinates result/coordinates.csv",
    ),
    "guidance": (
        "guidance",
        "Check guidance for contradictions, or import and export it as CSV.",
        "guidance digits --export guidance.csv",
    ),
    "join": (
        "guidance",
        "Propose joins between datasets with score and evidence, and apply them.",
        "join tables/ --sure --out joined.zip",
    ),
    "propose": (
        "guidance",
        "Propose links between rows of two datasets with similar words or meaning.",
        "propose tables/ --source shop --target store --out links.csv",
    ),
    "compare": (
        "maps",
        "Compare methods on the same held-out links and recommend one.",
        "compare digits --methods guided-projection,mr-sne,pca --seeds 3",
    ),
    "search": (
        "search",
        "Search the settings of a method that are best on held-out links, by a grid that grows "
        "while the best value is at its edge.",
        "search digits --method guided-projection --try gamma=0.01,0.1,1 --try axis_scale",
    ),
    "clusters": (
        "clusters",
        "Find clusters on a map and describe each of them.",
        "clusters emoji --coordinates result/coordinates.csv --by hdbscan --out clusters.csv",
    ),
    "ask": (
        "guidance",
        "Suggest questions whose answers would improve a map most.",
        "ask digits --coordinates result/coordinates.csv -n 10",
    ),
    "predict": (
        "predict",
        "Predict missing links or labels.",
        "predict links emoji --source emoji --target keywords --top 20",
    ),
    "place": (
        "predict",
        "Place new items of a file on a fitted map, without moving existing items.",
        "place world result/recipe.toml new.csv --dataset countries --out placed.csv",
    ),
    "project": (
        "projects",
        "Show the content of a project file, after replaying its steps.",
        "project my-map.hetviz",
    ),
    "run": (
        "maps",
        "Run a recipe, also over Parquet or Arrow files larger than memory.",
        "run result/recipe.toml --out again --figures",
    ),
    "diagnostics": (
        "maps",
        "Show diagnostics of a run: weights, correlations and gaps, with explanations.",
        "diagnostics result",
    ),
    "why": (
        "maps",
        "Explain a map, the position of an item, or the distance of two. The map may come from "
        "elsewhere, as two columns or a CSV of coordinates.",
        "why towns.csv --columns longitude,latitude",
    ),
    "find": (
        "maps",
        "Find items by words of their names and columns or by meaning, and values of columns.",
        "find emoji fruit",
    ),
    "alike": (
        "maps",
        "List the items most alike to an item, by links and by features, and the nearest on a map.",
        "alike emoji emoji 1f408 --coordinates result/coordinates.csv",
    ),
    "linked": (
        "maps",
        "List what items of a dataset link to most, also through other datasets, next to all "
        "other items of it.",
        "linked emoji emoji --where group=food-drink",
    ),
    "spread": (
        "maps",
        "Measure how much the position of each item varies over refits with resampled links, and "
        "add it to scores.json. `export` and `report` use it.",
        "spread result --out spread.csv",
    ),
    "evidence": (
        "maps",
        "Show the rows, the rule and the chance level behind what a map states.",
        "evidence result links --out links.csv",
    ),
    "export": (
        "projects",
        "Export figures, tables or an interactive page from the result of a run.",
        "export result map.pdf map.html coordinates.parquet --colour group --width 174",
    ),
    "report": (
        "projects",
        "Write a report of a run: data, method, curves, measures, versions, text for a paper.",
        "report result --out report.html",
    ),
    "serve": (
        "operate",
        "Serve the app to other users, with settings from a file and the environment.",
        "serve --config server.toml",
    ),
    "mcp": (
        "operate",
        "Let an agent make and read maps of a folder (Model Context Protocol, standard input and "
        "output, no network).",
        "mcp tables/",
    ),
    "admin": (
        "operate",
        "Manage stored projects: list, back up, restore, migrate, prune, revoke, delete.",
        "admin list",
    ),
}

GROUPS = {
    "Begin": ("app", "samples", "methods"),
    "Make maps": ("embed", "run", "compare", "search", "periods"),
    "Look into a map": (
        "evaluate", "diagnostics", "why", "find", "alike", "linked", "spread", "evidence",
        "clusters",
    ),
    "Guidance and predictions": ("guidance", "join", "propose", "ask", "predict", "place"),
    "Results and projects": ("export", "report", "project"),
    "Server": ("serve", "mcp", "admin"),
}  # fmt: skip

OUTPUTS = {"embed": ("out", "model"), "export": ("file",), "guidance": ("out", "export")}
"""Arguments that name what a command writes, where there are others than ``--out``."""

EXIT_CODES = (
    "exit codes: 0 success; 1 error in the data or a setting; 2 wrong usage; "
    "130 stopped with Ctrl-C"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Ids may have characters outside the terminal's encoding.
            stream.reconfigure(errors="backslashreplace")
    if "_ARGCOMPLETE" in os.environ:
        _complete(os.environ.get("COMP_LINE", "").split()[1:])
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        print_line(overview())
        return 0 if words else 2
    if words[0] == "--version":
        print_line(f"hetviz {hetviz.__version__}")
        return 0
    if words[0] not in COMMANDS:
        near = difflib.get_close_matches(words[0], COMMANDS, n=1)
        remedy = f"Did you mean {near[0]}?" if near else "See: hetviz --help"
        print_line(f"Error: hetviz has no command {words[0]!r}. {remedy}", sys.stderr)
        return 2
    args = make_parser(words[0]).parse_args(words)
    if (hint := _hint_on_environment(words[0])) is not None:
        print_line(hint, sys.stderr)
    try:
        _check_output(args)
        with warnings.catch_warnings(), limit_threads(getattr(args, "jobs", None)):
            warnings.simplefilter("default")
            warnings.showwarning = print_warning
            return int(args.command(args))
    except HetvizError as error:
        print_error(error, args.json)
        return 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130


def _check_output(args: argparse.Namespace) -> None:
    """Refuse to write over a file, or into a folder with content, without ``--force``."""
    if getattr(args, "force", True):
        return
    for name in OUTPUTS.get(args.name, ("out",)):
        value = getattr(args, name, None) or ()
        for out in [value] if isinstance(value, str) else value:
            path = Path(out)
            if path.is_file() or (path.is_dir() and any(path.iterdir())):
                remedy = "Choose another name, or add --force to replace it."
                raise HetvizError(f"{out} exists. {remedy}")


def _hint_on_environment(command: str) -> str | None:
    if command in ("app", "serve", "admin") and "HETVIZ_DATA" in os.environ:
        return "Note: HETVIZ_DATA is not read. HETVIZ_HOME names the folder of the projects."
    return None


def overview() -> str:
    """Return the help on all commands. It imports none of them, to answer at once."""
    lines = [
        "usage: hetviz COMMAND [options]",
        "",
        "Joint maps of heterogeneous datasets, guided by links and comparisons.",
    ]
    for title, names in GROUPS.items():
        lines += ["", f"{title}:"]
        for name in names:
            first = COMMANDS[name][1].partition(". ")[0].rstrip(".")
            lines.append(fill(f"  {name:<13}{first}", 80, subsequent_indent=" " * 15))
    lines += [
        "",
        "`hetviz COMMAND --help` explains a command, with an example. DATA is",
        f"{DATA_HELP}.",
        "",
        fill(EXIT_CODES, 78),
    ]
    return "\n".join(lines)


def make_parser(name: str) -> argparse.ArgumentParser:
    """Return the argument parser of a command."""
    parser = argparse.ArgumentParser(prog="hetviz")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    topic, description, example = COMMANDS[name]
    command = commands.add_parser(
        name, description=description, epilog=f"Example: python -m hetviz {example}"
    )
    module = importlib.import_module(f"hetviz.cli.{topic}")
    # `predict` has a function for each of its tasks.
    command.set_defaults(command=getattr(module, f"_{name}", None), name=name)
    command.add_argument("--json", action="store_true", help="print JSON")
    getattr(module, f"add_{name}")(command)
    # `run` repeats a recipe, and replaces the result of an earlier run of it.
    for parsers in () if name == "run" else (command, *_parsers_of_tasks(command)):
        outputs = {*OUTPUTS.get(name, ("out",))} & {action.dest for action in parsers._actions}
        if outputs:
            parsers.add_argument("--force", action="store_true", help="replace existing output")
    return parser


def _complete(words: Sequence[str]) -> None:
    """Answer a shell that asks how a command goes on, with argcomplete if it is installed."""
    try:
        import argcomplete
    except ImportError:
        return
    if words and words[0] in COMMANDS:
        parser = make_parser(words[0])
    else:
        parser = argparse.ArgumentParser(prog="hetviz")
        parser.add_argument("command", choices=[*COMMANDS])
    argcomplete.autocomplete(parser)


def _parsers_of_tasks(command: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    tasks = [action.choices for action in command._actions if isinstance(action.choices, dict)]
    parsers = [parser for choices in tasks for parser in choices.values()]
    return [parser for parser in parsers if isinstance(parser, argparse.ArgumentParser)]

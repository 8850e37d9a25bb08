"""Command line of hetviz.

`COMMANDS` lists the commands in the order of the help, with the module of each. Results go to
standard output; notes, errors and progress go to standard error.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from textwrap import fill

import hetviz
from hetviz.cli.arguments import print_error, print_warning
from hetviz.errors import HetvizError

COMMANDS = {
    "app": "projects",
    "samples": "catalogue",
    "methods": "catalogue",
    "embed": "maps",
    "evaluate": "maps",
    "guidance": "guidance",
    "join": "guidance",
    "compare": "maps",
    "search": "search",
    "clusters": "clusters",
    "ask": "guidance",
    "predict": "predict",
    "place": "predict",
    "project": "projects",
    "run": "maps",
    "diagnostics": "maps",
    "why": "maps",
    "alike": "maps",
    "spread": "maps",
    "evidence": "maps",
    "export": "projects",
    "report": "projects",
    "serve": "operate",
    "admin": "operate",
}

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
    words = list(sys.argv[1:] if arguments is None else arguments)
    args = make_parser(words[0] if words else "").parse_args(words)
    try:
        with warnings.catch_warnings():
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


def make_parser(command_name: str = "") -> argparse.ArgumentParser:
    """Return the argument parser, restricted to one command if given."""
    parser = argparse.ArgumentParser(
        prog="hetviz",
        description="Joint maps of heterogeneous datasets, guided by links and comparisons.",
        epilog="Example: python -m hetviz embed digits --method guided-projection --out result\n\n"
        + fill(EXIT_CODES, 78),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hetviz {hetviz.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(
        name: str, run: Callable[[argparse.Namespace], int], description: str, example: str
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            help=description,
            description=description,
            epilog=f"Example: python -m hetviz {example}",
        )
        command.set_defaults(command=run)
        command.add_argument("--json", action="store_true", help="print JSON")
        return command

    if command_name == "--version":
        return parser
    for name, topic in COMMANDS.items():
        if command_name in COMMANDS and command_name != name:
            continue
        getattr(importlib.import_module(f"hetviz.cli.{topic}"), f"add_{name}")(add)
    return parser

"""The command line: the same engine as the app, without a browser.

One file a topic; `COMMANDS` names the commands in the order of the help, and the file of each;
`EXIT_CODES` is part of the help.
Results go to standard output, notes, errors and progress to the other stream.
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
    "export": "projects",
    "report": "projects",
    "serve": "operate",
    "admin": "operate",
}

EXIT_CODES = (
    "exit codes: 0 done; 1 the data or a setting will not do, and the message says what; "
    "2 the command itself is wrong; 130 stopped with Ctrl-C"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Ids may hold letters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    given = make_parser(words[0] if words else "").parse_args(words)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = print_warning
            return int(given.command(given))
    except HetvizError as error:
        print_error(error, given.json)
        return 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130


def make_parser(command_name: str = "") -> argparse.ArgumentParser:
    """Return what reads the command line; where it is of one command, others are not loaded."""
    parser = argparse.ArgumentParser(
        prog="hetviz",
        description="One joint map of several unlike datasets, moved by what is known of them.",
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

"""The command line: the same engine as the app, without a browser.

One file a command; `COMMANDS` names them in the order of the help. Exit codes: 0 done, 1 the data
or the parameters are wrong (the message says what), 2 the command itself is wrong.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections.abc import Callable, Sequence

import hetviz
from hetviz.cli.terminal import print_error, tell
from hetviz.errors import HetvizError

COMMANDS = (
    "app",
    "samples",
    "methods",
    "embed",
    "evaluate",
    "guidance",
    "join",
    "compare",
    "clusters",
    "ask",
    "predict",
    "run",
    "export",
    "report",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Ids may hold letters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    given = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = tell
            return int(given.command(given))
    except HetvizError as error:
        print_error(error, given.json)
        return 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hetviz",
        description="One joint map of several unlike datasets, moved by what is known of them.",
        epilog="example: python -m hetviz embed digits --method guided-projection --out result",
    )
    parser.add_argument("--version", action="version", version=f"hetviz {hetviz.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(
        name: str, run: Callable[[argparse.Namespace], int], words: str, example: str
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name, help=words, description=words, epilog=f"example: python -m hetviz {example}"
        )
        command.set_defaults(command=run)
        command.add_argument("--json", action="store_true", help="print JSON")
        return command

    for name in COMMANDS:
        importlib.import_module(f"hetviz.cli.{name}").register(add)
    return parser

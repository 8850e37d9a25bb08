"""Shared arguments and output of commands."""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import hetviz
from hetviz import params as parameters
from hetviz.errors import DataError, HetvizError, MissingExtraError, ParameterError, Problem
from hetviz.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from hetviz.data import Embedding, HeteroData
    from hetviz.data.model.diagnostics import Diagnostic

DATA_HELP = "a sample (see `samples`), a bundle (folder or zip), or a CSV file or folder of them"


def need_app(feature: str) -> None:
    """Raise an error if the packages of the app are missing, or on Windows."""
    if sys.platform == "win32":
        raise HetvizError(
            "The app and the server need Linux or macOS, where files are read in confined "
            "processes. On Windows use the library and the other commands, or Windows' "
            "subsystem for Linux."
        )
    if find_spec("streamlit") is None:
        raise MissingExtraError(feature, "app")


def app_command(options: Sequence[str]) -> list[str]:
    """Return the command that runs the app."""
    package = Path(hetviz.__file__).resolve().parent
    script = next(filter(Path.is_file, (package / "app.py", package.parent / "app.py")), None)
    if script is None:
        raise HetvizError("The app is missing from this installation. Install hetviz again.")
    return [sys.executable, "-m", "streamlit", "run", str(script), *options]


def run_app(options: Sequence[str], env: Mapping[str, str] | None = None) -> int:
    """Run the app until it ends, and return its exit code."""
    command = app_command(options)
    with subprocess.Popen(command, env=env) as server:  # noqa: S603 - our own interpreter and script
        is_stopped = False

        def stop(*_: object) -> None:
            nonlocal is_stopped
            is_stopped = True
            server.terminate()

        # Stop the server together with this process. Ending by that signal is no failure.
        signal.signal(signal.SIGTERM, stop)
        code = server.wait()
        return 0 if is_stopped and code in (0, -signal.SIGTERM) else code


def add_data(command: argparse.ArgumentParser) -> None:
    """Add the argument DATA."""
    command.add_argument("data", metavar="DATA", help=DATA_HELP)


def add_number(
    command: argparse.ArgumentParser,
    flag: str,
    default: float,
    meaning: str,
    metavar: str | None = None,
) -> None:
    """Add an option for a number of the type of its default, which the help shows."""
    command.add_argument(
        flag, type=type(default), default=default, metavar=metavar, help=f"{meaning} ({default:g})"
    )


def add_repeated(
    command: argparse.ArgumentParser,
    flag: str,
    metavar: str,
    meaning: str,
    type: Callable[[str], object] = str,
) -> None:
    """Add an option that may be repeated."""
    command.add_argument(
        flag,
        action="append",
        default=[],
        metavar=metavar,
        type=type,
        help=f"{meaning} (may be repeated)",
    )


def add_parameters(command: argparse.ArgumentParser) -> None:
    """Add the options for parameters, seed and threads."""
    add_repeated(command, "--set", "P=V", "a parameter of the method", _assignment)
    add_number(command, "--seed", 0, "random seed")
    command.add_argument(
        "--jobs",
        type=_n_jobs,
        metavar="N",
        help="threads of layouts, -1 for all cores; the map is the same for any number",
    )


def _n_jobs(text: str) -> int:
    if not re.fullmatch(r"-?[1-9]\d*", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of threads, such as 2, or -1 for all cores"
        )
    return int(text)


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    return name.strip(), value


def parse_params(args: argparse.Namespace) -> dict[str, Any]:
    """Return the typed parameters of --set."""
    declared = hetviz.get_method(args.method).params
    params: dict[str, Any] = {}
    for name, text in args.set:
        if name in params:
            raise ParameterError(f"--set {name} is set twice.")
        params[name] = parameters.parse(declared[name], text) if name in declared else text
    parameters.check(args.method, declared, params)
    return params


def score_lines(
    scores: Mapping[str, float], standard_errors: Mapping[str, float] | None = None
) -> list[str]:
    """Return a line for each measure, with its standard error if sampled."""
    errors = standard_errors or {}
    return [
        f"{name:<32}{value:.4f}" + (f"  ± {errors[name]:.4f}" if name in errors else "")
        for name, value in scores.items()
    ]


def diagnostic_lines(
    diagnostics: Mapping[str, Diagnostic], max_values: int | None = None
) -> list[str]:
    """Return title, text and values of each diagnostic; with `max_values`, no texts."""
    from hetviz.data.model.diagnostics import without_repeated_text

    lines = []
    for diagnostic, text in without_repeated_text(diagnostics.values()):
        lines.append(
            f"{diagnostic.title}:" if max_values or not text else f"{diagnostic.title}. {text}"
        )
        values = diagnostic.lines[:max_values]
        lines += [f"  {name:<32}{value}" for name, value in values]
        n_more = len(diagnostic.values) - len(values) + diagnostic.left_out
        lines += [f"  and {n_more:,} more"] if n_more else []
    return lines


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Write a line."""
    # Read at call time, because tests replace the stream.
    (stream or sys.stdout).write(text + "\n")


def print_result(args: argparse.Namespace, value: object, lines: Sequence[str]) -> None:
    """Print the result, as JSON or as lines."""
    print_line(_json_text(value) if args.json else "\n".join(lines))


def write_output(path: str | Path, content: object, make_folder: bool = False) -> None:
    """Write a text, or another value as JSON."""
    from hetviz.exports.writing import write_file

    text = content if isinstance(content, str) else _json_text(content) + "\n"
    write_file(path, text.encode(), make_folder)


def read_map(path: str, data: HeteroData) -> Embedding:
    """Read coordinates from a CSV file."""
    from hetviz.io import gate, read_coordinates

    file = Path(path)
    return read_coordinates(file.name, gate.read_file(file), data)


def _json_text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def print_error(error: HetvizError, as_json: bool) -> None:
    """Print an error to standard error."""
    if not as_json:
        print_line(f"Error: {error}", sys.stderr)
        return
    problems: tuple[Problem, ...] = error.problems if isinstance(error, DataError) else ()
    record = {
        "error": type(error).__name__,
        "message": str(error),
        "problems": [problem.to_dict() for problem in problems],
    }
    print_line(_json_text(record), sys.stderr)


def print_warning(message: Warning | str, *warning_args: object, **kwargs: object) -> None:
    """Print a warning as a note."""
    print_line(f"Note: {message}", sys.stderr)


def make_progress() -> Progress:
    """Return a progress line for terminals."""
    if not sys.stderr.isatty():
        return ignore_progress

    def follow(fraction: float, message: str = "", **figures: object) -> None:
        sys.stderr.write(f"\r\x1b[2K{fraction:4.0%} {message}" + "\n" * (fraction >= 1))
        sys.stderr.flush()

    return follow


def dataset_column(text: str) -> tuple[str, str]:
    """Parse DATASET:COLUMN."""
    dataset, sign, column = text.partition(":")
    if not (dataset and sign and column):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form dataset:column")
    return dataset, column

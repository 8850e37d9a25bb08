"""What commands write: lines or JSON, errors, notes and progress."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from hetviz.errors import DataError, HetvizError, Problem
from hetviz.progress import Progress, silent


def score_lines(
    scores: Mapping[str, float], standard_errors: Mapping[str, float] | None = None
) -> list[str]:
    """Return a line for each measure, with the standard error of those that were sampled."""
    errors = standard_errors or {}
    return [
        f"{name:<32}{value:.4f}" + (f"  ± {errors[name]:.4f}" if name in errors else "")
        for name, value in scores.items()
    ]


def say(text: str, stream: TextIO | None = None) -> None:
    """Write a line."""
    # Looked up late: tests and callers may have replaced it.
    (stream or sys.stdout).write(text + "\n")


def show(given: argparse.Namespace, value: object, lines: Sequence[str]) -> None:
    """Write the result: the value where JSON is asked for, else the lines."""
    say(json.dumps(value, indent=2, ensure_ascii=False) if given.json else "\n".join(lines))


def print_error(error: HetvizError, as_json: bool) -> None:
    """Write what is wrong to the stream of errors."""
    if not as_json:
        say(f"Error: {error}", sys.stderr)
        return
    problems: tuple[Problem, ...] = error.problems if isinstance(error, DataError) else ()
    record = {
        "error": type(error).__name__,
        "message": str(error),
        "problems": [problem.to_dict() for problem in problems],
    }
    say(json.dumps(record, indent=2, ensure_ascii=False), sys.stderr)


def tell(message: Warning | str, *details: object, **more: object) -> None:
    """Write a warning as a note."""
    say(f"Note: {message}", sys.stderr)


def progress() -> Progress:
    """Return a line that follows the work, where somebody is looking at it."""
    if not sys.stderr.isatty():
        return silent

    def follow(fraction: float, message: str = "", **figures: object) -> None:
        sys.stderr.write(f"\r\x1b[2K{fraction:4.0%} {message}" + "\n" * (fraction >= 1))
        sys.stderr.flush()

    return follow

"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Protocol

import hetviz
from hetviz import params as parameters
from hetviz.errors import ParameterError

DATA_HELP = "a sample (see `samples`), a bundle (folder or zip), or a CSV file or folder of them"


class Add(Protocol):
    """Add a command: its name, what runs it, one sentence, an example; return its parser."""

    def __call__(
        self, name: str, run: Callable[[argparse.Namespace], int], words: str, example: str
    ) -> argparse.ArgumentParser:
        """Add it."""
        ...


def add_data(command: argparse.ArgumentParser) -> None:
    """Add the data to work on."""
    command.add_argument("data", metavar="DATA", help=DATA_HELP)


def add_parameters(command: argparse.ArgumentParser) -> None:
    """Add a method's parameters and the seed."""
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="P=V",
        type=_assignment,
        help="a parameter of the method; may be repeated",
    )
    command.add_argument("--seed", type=int, default=0, help="seed of random numbers (0)")


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    return name.strip(), value


def chosen_params(given: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of --set, with their type."""
    declared = hetviz.get_method(given.method).params
    found: dict[str, Any] = {}
    for name, text in given.set:
        if name in found:
            raise ParameterError(f"--set {name} is given twice.")
        found[name] = parameters.parse(declared[name], text) if name in declared else text
    parameters.check(given.method, declared, found)
    return found

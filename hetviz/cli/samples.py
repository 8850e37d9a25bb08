"""List the samples."""

from __future__ import annotations

import argparse

import hetviz
from hetviz.cli.arguments import Add
from hetviz.cli.terminal import show


def register(add: Add) -> None:
    """Add the command."""
    add("samples", _samples, "List the samples.", "samples")


def _samples(given: argparse.Namespace) -> int:
    from hetviz.io import read_bundle

    found = {name: read_bundle(name).title for name in hetviz.samples()}
    show(given, found, [f"{name:<14}{title}" for name, title in found.items()])
    return 0

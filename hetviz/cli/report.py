"""Write a report on a run."""

from __future__ import annotations

import argparse

import hetviz
from hetviz.cli.arguments import Add
from hetviz.cli.terminal import show


def register(add: Add) -> None:
    """Add the command."""
    report = add(
        "report",
        _report,
        "Write a page on a run: data, method, curves, measures, versions, words for a paper.",
        "report result --out report.html",
    )
    report.add_argument("result", help="the folder that `embed` or `run` wrote")
    report.add_argument("--out", default="report.html", metavar="FILE", help="(report.html)")
    report.add_argument("--title", default="", help="heading of the page")


def _report(given: argparse.Namespace) -> int:
    file = hetviz.write_report(given.result, path=given.out, title=given.title)
    record = {"file": str(file), "bytes": file.stat().st_size}
    show(given, record, [f"Written to {file}"])
    return 0

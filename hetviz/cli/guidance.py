"""Look at what was said of items, take it out as a file, and bring files in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import hetviz
from hetviz.cli.arguments import Add, add_data
from hetviz.cli.terminal import say, show
from hetviz.data import HeteroData
from hetviz.errors import ParameterError


def register(add: Add) -> None:
    """Add the command."""
    guidance = add(
        "guidance",
        _guidance,
        "Say what contradicts and what is not reached, or move guidance in and out as CSV.",
        "guidance digits --export said.csv",
    )
    add_data(guidance)
    what = guidance.add_mutually_exclusive_group()
    what.add_argument("--report", action="store_true", help="contradictions, repeats, coverage")
    what.add_argument("--export", metavar="FILE", help="write all statements as CSV")
    what.add_argument("--import", dest="taken", metavar="FILE", help="add statements from CSV")
    what.add_argument(
        "--merge", nargs=2, metavar=("OURS", "THEIRS"), help="two people's files as one"
    )
    what.add_argument("--template", choices=("links", "comparisons"), help="CSV to fill in")
    guidance.add_argument("--out", metavar="PATH", help="bundle (--import) or CSV (--merge)")
    guidance.add_argument(
        "--leave-out", action="store_true", help="go on without rows that are wrong (--import)"
    )


def _guidance(given: argparse.Namespace) -> int:
    from hetviz.io import guidance_csv, guidance_template

    data = hetviz.load(given.data)
    if given.template is not None:
        say(guidance_template(data, given.template).rstrip("\n"))
        return 0
    if given.export is not None:
        _write(given.export, guidance_csv(data))
        n = len(hetviz.statements(data))
        record = {"file": given.export, "statements": n}
        show(given, record, [f"{n:,} statements written to {given.export}."])
        return 0
    if given.taken is not None:
        return _import(given, data)
    if given.merge is not None:
        return _merge(given, data)
    report = hetviz.guidance_report(data)
    show(given, report.to_dict(), [*str(report).splitlines(), *_coverage_lines(data)])
    return 0


def _coverage_lines(data: HeteroData) -> list[str]:
    from hetviz.metrics.conflicts.coverage import coverage

    return [
        f"{row['source']} - {row['target']}: {row['together'] + row['apart']:,} links reach "
        f"{row['source_linked']:,} of {row['source_items']:,} and "
        f"{row['target_linked']:,} of {row['target_items']:,} items."
        for row in coverage(data).to_dict("records")
    ]


def _import(given: argparse.Namespace, data: HeteroData) -> int:
    from hetviz.data.edits.adding import add_all
    from hetviz.io import gate, read_guidance
    from hetviz.metrics.conflicts.conflicts import would_contradict

    if given.out is None:
        raise ParameterError("--import needs --out BUNDLE: where to save the data with it.")
    path = Path(given.taken)
    read = read_guidance(path.name, gate.read_file(path), data)
    if not given.leave_out:
        read.strict()
    if not given.json:
        for problem in read.problems:
            say(str(problem), sys.stderr)
    against = would_contradict(data, read.parts)
    met = add_all(data, read.parts)
    hetviz.save(met.data, given.out)
    record = {
        "added": len(met.added),
        "updated": len(met.updated),
        "same": met.n_same,
        "left_out": read.n_rows - read.n_good,
        "problems": [problem.to_dict() for problem in read.problems],
        "conflicts": [conflict.to_dict() for conflict in against],
        "out": given.out,
    }
    words = (
        f"{len(met.added):,} added, {len(met.updated):,} changed, {met.n_same:,} were there, "
        f"{read.n_rows - read.n_good:,} left out. Saved to {given.out}."
    )
    show(given, record, [words, *(conflict.sentence for conflict in against)])
    return 0


def _merge(given: argparse.Namespace, data: HeteroData) -> int:
    if given.out is None:
        raise ParameterError("--merge needs --out FILE: where to write both as one.")
    merged = hetviz.merge_guidance(data, *map(Path, given.merge))
    _write(given.out, merged.csv())
    lines = [
        f"{merged.both:,} statements in both, {merged.only_ours:,} only in the first, "
        f"{merged.only_theirs:,} only in the second; written to {given.out}."
    ]
    for told in merged.differ:
        fields = ", ".join(
            f"{name} {ours} and {theirs}" for name, (ours, theirs) in told["fields"].items()
        )
        lines.append(f"Differs: {told['key']}: {fields}; the first counts.")
    lines += [conflict.sentence for conflict in merged.conflicts]
    show(given, {**merged.to_dict(), "out": given.out}, lines)
    return 0


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise ParameterError(f"{path} cannot be written: {error.strerror}.") from None

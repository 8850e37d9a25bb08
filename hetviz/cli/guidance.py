"""Commands for guidance, joins and questions."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import hetviz
from hetviz._text import count
from hetviz.cli.arguments import (
    add_data,
    add_number,
    add_repeated,
    dataset_column,
    print_line,
    print_result,
    read_map,
    write_output,
)
from hetviz.core.sentence_vectors import Model
from hetviz.data import HeteroData
from hetviz.data.joins.near_rows import By
from hetviz.data.queries.reach import drop_unlinked
from hetviz.errors import ParameterError
from hetviz.runs.ask.questions import KINDS

if TYPE_CHECKING:
    import pandas as pd


def add_guidance(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `guidance`."""
    add_data(command)
    tasks = command.add_mutually_exclusive_group()
    tasks.add_argument(
        "--report",
        action="store_true",
        help="report contradictions, repeats and coverage (default)",
    )
    tasks.add_argument(
        "--learned",
        action="store_true",
        help="what linked items have in common, and which items are similar to them",
    )
    tasks.add_argument(
        "--more-like",
        metavar="COLUMN",
        help="items similar to those of each label of a column, most similar first",
    )
    tasks.add_argument(
        "--did",
        nargs=2,
        metavar=("BEFORE", "AFTER"),
        help="effect of a set of statements, from map coordinates without and with it (CSV)",
    )
    tasks.add_argument(
        "--because",
        nargs=2,
        metavar=("DATASET:ID", "OTHER"),
        help="columns in which two items are similar",
    )
    tasks.add_argument(
        "--people",
        action="store_true",
        help="people with their numbers of statements, how far they agree (Krippendorff's alpha), "
        "and what they disagree about",
    )
    tasks.add_argument("--export", metavar="FILE", help="write all statements as CSV")
    tasks.add_argument("--import", dest="taken", metavar="FILE", help="add statements from CSV")
    tasks.add_argument(
        "--merge",
        nargs=2,
        metavar=("OURS", "THEIRS"),
        help="merge the guidance files of two people",
    )
    tasks.add_argument(
        "--template", choices=("links", "comparisons"), help="print an empty CSV table"
    )
    command.add_argument(
        "--set", metavar="NAME", help="set of statements for --did (default: the last)"
    )
    command.add_argument(
        "--out", metavar="PATH", help="output file: bundle (--import) or CSV (--merge)"
    )
    command.add_argument("--leave-out", action="store_true", help="skip invalid rows (--import)")
    command.add_argument(
        "--author",
        metavar="NAME",
        help="author of the statements if the file names none (--import), or write only the "
        "statements of this person (--export)",
    )


def _guidance(args: argparse.Namespace) -> int:
    from hetviz.data.model.statements import people_of
    from hetviz.io import guidance_csv, guidance_template

    data = hetviz.load(args.data)
    if args.template is not None:
        print_line(guidance_template(data, args.template).rstrip("\n"))
        return 0
    if args.learned or args.more_like is not None:
        groups = hetviz.learned_from(data, label=args.more_like)
        empty_message = "No three items of a dataset are linked together."
        if args.more_like is not None:
            empty_message = f"No three items of a dataset have the same {args.more_like}."
        print_result(
            args, [group.to_dict() for group in groups], list(map(str, groups)) or [empty_message]
        )
        return 0
    if args.did is not None:
        return _consequences(args, data)
    if args.because is not None:
        return _similar_columns(args, data)
    if args.people:
        people = hetviz.agreement(data)
        print_result(args, people.to_dict(), str(people).splitlines())
        return 0
    if args.export is not None:
        if args.author is not None and args.author not in (names := people_of(data)):
            raise ParameterError(
                f"--author {args.author}: no statement has this author. "
                f"Available: {', '.join(names) or 'none'}."
            )
        write_output(args.export, guidance_csv(data, author=args.author))
        authors = hetviz.statements(data)["who"]
        n = len(authors) if args.author is None else int((authors == args.author).sum())
        record = {"file": args.export, "statements": n}
        print_result(args, record, [f"{count(n, 'statement')} written to {args.export}."])
        return 0
    if args.taken is not None:
        return _import(args, data)
    if args.merge is not None:
        return _merge(args, data)
    report = hetviz.guidance_report(data)
    print_result(args, report.to_dict(), [*str(report).splitlines(), *_coverage_lines(data)])
    return 0


def _consequences(args: argparse.Namespace, data: HeteroData) -> int:
    statements = hetviz.statements(data)
    sets = list(dict.fromkeys(statements["set"]))
    if not sets:
        raise ParameterError("--did: these data have no guidance.")
    name = sets[-1] if args.set is None else args.set
    if name not in sets:
        raise ParameterError(f"--set {name}: unknown set. Available: {', '.join(sets)}.")
    before, after = (read_map(file, data) for file in args.did)
    changes = hetviz.consequences(
        data, before, after, statements.loc[statements["set"] == name, "key"]
    )
    lines = [f"{name}:", *changes.sentences()]
    if changes.has_more_false_neighbors:
        lines.append(
            "The map became less accurate: fewer neighbours of these items are similar in the data."
        )
    print_result(
        args, {"set": name, "falser": changes.has_more_false_neighbors, **changes.to_dict()}, lines
    )
    return 0


def _similar_columns(args: argparse.Namespace, data: HeteroData) -> int:
    from hetviz.data.edits.by_id import rows_by_id

    rows = []
    for item in args.because:
        name, _, id_ = item.partition(":")
        if name not in data.datasets:
            names = ", ".join(data.datasets)
            raise ParameterError(f"--because {item}: use DATASET:ID. Available datasets: {names}.")
        (row,) = rows_by_id(data, name, [id_], "--because")
        rows.append([int(row) + data.offsets[name].start])
    similarities = hetviz.alike_by(data, *rows)
    lines = [
        f"{similarity.column}: closer than {100 * similarity.nearer:.0f} % of "
        f"{similarity.dataset} (weight {similarity.weight:g})."
        for similarity in similarities
    ]
    print_result(
        args,
        [asdict(similarity) for similarity in similarities],
        lines or ["They are not similar in any column."],
    )
    return 0


def _coverage_lines(data: HeteroData) -> list[str]:
    from hetviz.metrics.conflicts.guidance_report import coverage

    return [
        f"{row['source']} - {row['target']}: {row['together'] + row['apart']:,} links reach "
        f"{row['source_linked']:,} of {row['source_items']:,} and "
        f"{row['target_linked']:,} of {row['target_items']:,} items."
        for row in coverage(data).to_dict("records")
    ]


def _import(args: argparse.Namespace, data: HeteroData) -> int:
    from hetviz.data.edits.adding import add_statements
    from hetviz.io import gate, read_guidance
    from hetviz.metrics.conflicts.conflicts import find_new_conflicts

    if args.out is None:
        raise ParameterError("--import needs --out BUNDLE for the result.")
    path = Path(args.taken)
    guidance = read_guidance(*gate.unpack_gzip(path.name, gate.read_file(path)), data)
    if not args.leave_out:
        guidance.strict()
    if not args.json:
        for problem in guidance.problems:
            print_line(str(problem), sys.stderr)
    author = args.author or ""
    parts = guidance.noted(who=author)
    conflicts = find_new_conflicts(data, parts)
    added = add_statements(data, parts)
    hetviz.save(guidance.labelled(added.data, author), args.out)
    record = {
        "added": len(added.added),
        "updated": len(added.updated),
        "same": added.n_same,
        "labels": sum(map(len, guidance.labels.values())),
        "left_out": guidance.n_rows - guidance.n_good,
        "problems": [problem.to_dict() for problem in guidance.problems],
        "conflicts": [conflict.to_dict() for conflict in conflicts],
        "out": args.out,
    }
    summary = (
        f"{len(added.added):,} added, {len(added.updated):,} changed, {added.n_same:,} unchanged, "
        f"{guidance.n_rows - guidance.n_good:,} left out. Saved to {args.out}."
    )
    print_result(args, record, [summary, *(conflict.sentence for conflict in conflicts)])
    return 0


def _merge(args: argparse.Namespace, data: HeteroData) -> int:
    if args.out is None:
        raise ParameterError("--merge needs --out FILE for the result.")
    merged = hetviz.merge_guidance(data, *map(Path, args.merge))
    write_output(args.out, merged.csv())
    lines = [
        f"{merged.both:,} statements in both, {merged.only_ours:,} only in the first, "
        f"{merged.only_theirs:,} only in the second. Written to {args.out}."
    ]
    for difference in merged.differ:
        fields = ", ".join(
            f"{name} {ours} and {theirs}" for name, (ours, theirs) in difference["fields"].items()
        )
        lines.append(f"{difference['key']} differs: {fields}. The first is used.")
    lines += [conflict.sentence for conflict in merged.conflicts]
    print_result(args, {**merged.to_dict(), "out": args.out}, lines)
    return 0


_CHANGE_OPTIONS = ("--accept", "--sure", "--unlink", "--leave-unlinked")


def add_join(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `join`."""
    add_data(command)
    add_repeated(command, "--accept", "N", "apply proposal N of the list", type=int)
    command.add_argument(
        "--sure", action="store_true", help="apply all reliable proposals, marked * in the list"
    )
    add_repeated(
        command,
        "--rows",
        "DATASET=HOW",
        "use rows that refer to other datasets as links, summary or both instead of items",
    )
    add_repeated(
        command,
        "--include",
        "DATASET=COLUMN",
        "use a column that the summary of a dataset leaves out, such as a clock time",
    )
    add_repeated(command, "--unlink", "DATASET:ID", "remove the links of an item that has too many")
    add_repeated(
        command, "--leave-unlinked", "DATASET", "remove the items of a dataset that have no link"
    )
    command.add_argument("--out", metavar="PATH", help="bundle for the joined data")


def _join(args: argparse.Namespace) -> int:
    data = hetviz.load(args.data)
    proposals = hetviz.propose_joins(data)
    changes = [name for name in _CHANGE_OPTIONS if getattr(args, name.strip("-").replace("-", "_"))]
    if changes and args.out is None:
        raise ParameterError(f"{changes[0]} needs --out PATH for the joined data.")
    if args.out is not None and not changes:
        raise ParameterError(
            "--out needs --accept N or --sure (proposals to apply), or --unlink or "
            "--leave-unlinked (what to remove)."
        )
    for number in args.accept:
        if not 1 <= number <= len(proposals):
            raise ParameterError(
                f"--accept {number}: the list has {count(len(proposals), 'proposal')}."
            )
    lines = []
    for number, proposal in enumerate(proposals, start=1):
        mark = "*" if proposal.sure else " "
        lines.append(f"{number:>2}.{mark}{proposal.score:.2f}  {proposal.title}")
        lines += [f"      {words}" for words in proposal.evidence]
        pairs = "; ".join(f"{a} - {b}" for a, b in proposal.examples(data))
        lines.append(f"      {len(proposal.match.i):,} pairs, for example {pairs}")
        lines += [f"      Note: {words}" for words in proposal.reach.warnings]
    record = {"proposals": [proposal.to_dict(data) for proposal in proposals]}
    sure = [number for number, item in enumerate(proposals, start=1) if args.sure and item.sure]
    if args.sure and not (sure or args.accept):
        raise ParameterError(
            "--sure: no proposal is reliable enough. Select proposals with --accept N."
        )
    if changes:
        chosen = list(dict.fromkeys([*args.accept, *sure]))
        rows = dict(item.rpartition("=")[::2] for item in args.rows)
        joined = data
        if chosen:
            include: dict[str, list[str]] = {}
            for item in args.include:
                name, _, column = item.partition("=")
                include.setdefault(name, []).append(column)
            accepted = [proposals[number - 1] for number in chosen]
            joined = hetviz.join_tables(data, accepted, rows, include=include)
        for text in args.unlink:
            joined = joined.edit().unlink(*text.partition(":")[::2])
        for name in args.leave_unlinked:
            joined = drop_unlinked(joined, name)
        hetviz.save(joined, args.out)
        record |= {"accepted": chosen, "out": args.out}
        lines = [
            *(f"Joined: {proposals[number - 1].title}" for number in chosen),
            *(f"Removed: the links of {text}" for text in args.unlink),
            *(f"Removed: {name} without links" for name in args.leave_unlinked),
            f"Saved to {args.out}.",
        ]
    print_result(args, record, lines or ["No joins found: no ids, columns or locations match."])
    return 0


def add_propose(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `propose`."""
    add_data(command)
    command.add_argument("--source", required=True, metavar="DATASET")
    command.add_argument("--target", required=True, metavar="DATASET")
    add_repeated(
        command,
        "--column",
        "DATASET:COLUMN",
        "compare this column instead of all with text",
        type=dataset_column,
    )
    command.add_argument(
        "--by",
        choices=get_args(By),
        default="words",
        help="similar words, also similar meaning by the sentence model, or each other's nearest "
        "by pictures, place or date (default: %(default)s)",
    )
    add_number(
        command, "--per-row", 3, "by meaning: most proposals of a row of the larger dataset", "N"
    )
    command.add_argument(
        "--model",
        choices=get_args(Model),
        default="english",
        help="by meaning: the sentence model (default: %(default)s)",
    )
    command.add_argument(
        "--km", type=float, help="largest distance of a pair in kilometres; by place it is needed"
    )
    command.add_argument(
        "--days", type=float, help="largest distance of a pair in days (by date: the same day)"
    )
    add_number(command, "--max-chance", 0.2, "leave out pairs with a higher share by chance", "P")
    command.add_argument(
        "--answers",
        metavar="FILE",
        help="CSV of judged pairs with the columns source_id, target_id and right (yes or no)",
    )
    add_number(command, "--seed", 0, "seed of the scrambled rows")
    command.add_argument("--out", metavar="FILE", help="write the links to FILE, as CSV")


def _propose(args: argparse.Namespace) -> int:
    data = hetviz.load(args.data)
    columns: dict[str, list[str]] = {}
    for dataset, column in args.column:
        columns.setdefault(dataset, []).append(column)
    frame = hetviz.propose_links(
        data,
        args.source,
        args.target,
        by=args.by,
        columns=columns,
        per_row=args.per_row,
        model=args.model,
        km=args.km,
        days=args.days,
        max_chance=args.max_chance,
        answers=None if args.answers is None else _answers(Path(args.answers)),
        random_state=args.seed,
    )
    source, target = (
        dict(zip(data[name].ids, data[name].display_names, strict=True))
        for name in (args.source, args.target)
    )
    records = json.loads(frame.to_json(orient="records"))
    lines = [
        f"{row['similarity']:.2f}  {source[row['source_id']]} - {target[row['target_id']]}"
        + f"  ({row['reason']})"
        + ("" if row["probability"] is None else f"  (right: {row['probability']:.0%})")
        for row in records
    ]
    if not lines:
        lines = ["No proposals: hardly more rows are similar than by chance."]
    if args.out is not None:
        write_output(args.out, frame.to_csv(index=False))
        lines = [f"{count(len(frame), 'link')} written to {args.out}."]
    print_result(args, records, lines)
    return 0


def _answers(path: Path) -> pd.DataFrame:
    from hetviz.io import gate, read_table

    return read_table(path.name, gate.read_file(path)).frame


def add_ask(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `ask`."""
    add_data(command)
    command.add_argument(
        "--coordinates", metavar="FILE", required=True, help="CSV with dataset, id and axes"
    )
    add_number(command, "-n", 10, "number of questions")
    command.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        help="only questions of this kind (may be repeated)",
    )
    command.add_argument(
        "--label",
        action="append",
        metavar="DATASET:COLUMN",
        type=dataset_column,
        help="ask for missing labels of this column "
        '(may be repeated, default: own label columns, such as "my label 1")',
    )
    add_number(command, "--seed", 0, "random seed")


def _ask(args: argparse.Namespace) -> int:
    from hetviz.io import read_bundle

    data = read_bundle(args.data).strict().data
    embedding = read_map(args.coordinates, data)
    learned = hetviz.learned_from(data, random_state=args.seed)
    questions = hetviz.suggest_questions(
        data,
        embedding,
        args.n,
        random_state=args.seed,
        kinds=args.kind or KINDS,
        learned=learned,
        labels=args.label,
    )
    lines = [f"{question.text}  ({question.why})" for question in questions]
    lines = lines or ["No questions left."]
    gains = hetviz.gains_ahead(data, learned)
    if not any(gain.worth for gain in gains):
        lines_on_gain = [
            "Enough questions answered: more answers would make no measurable difference."
        ]
        print_line("\n".join([*lines_on_gain, *map(str, gains)]), sys.stderr)
    print_result(args, [question.to_dict() for question in questions], lines)
    return 0

"""Commands that predict links and labels, and place new items."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import hetviz
from hetviz._json import records
from hetviz._types import Scalar
from hetviz.cli.arguments import (
    add_data,
    add_number,
    add_parameters,
    dataset_column,
    diagnostic_lines,
    make_progress,
    parse_params,
    print_result,
    print_warning,
    write_output,
)
from hetviz.errors import ParameterError

_LINKS_EXAMPLE = "predict links emoji --source emoji --target keywords --top 20"
_LABELS_EXAMPLE = "predict labels world --label countries:life_expectancy --out labels.csv"


def add_predict(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `predict`."""
    kinds = command.add_subparsers(title="tasks", required=True, metavar="links|labels")
    links = _kind(kinds, "links", _links, "Rank unlinked pairs by predicted score.", _LINKS_EXAMPLE)
    links.add_argument("--source", required=True, metavar="DATASET")
    links.add_argument("--target", required=True, metavar="DATASET", help="may be the same")
    links.add_argument(
        "--method",
        default="stack",
        metavar="KEY",
        help="stack (default): links and similarity, weighted on held-out links; profiles: links "
        "of the most similar items; or a method, see `methods`",
    )
    add_parameters(links)
    add_number(links, "--top", 20, "number of pairs")
    add_number(links, "--starts", 1, "number of fits and tests")
    links.add_argument(
        "--hold-out",
        type=float,
        default=0.0,
        metavar="F",
        help="share of links held out for a test (0: no test)",
    )
    words = "Predict missing labels."
    labels = _kind(kinds, "labels", _labels, words, _LABELS_EXAMPLE)
    labels.add_argument("--label", required=True, metavar="DATASET:COLUMN", type=dataset_column)
    labels.add_argument(
        "--method",
        choices=("blend", "gbc", "hemap"),
        help="method (default: blend, or gbc if its parameters are set)",
    )
    labels.add_argument(
        "--from",
        dest="source",
        metavar="DATASET:COLUMN",
        type=dataset_column,
        help="source label for hemap",
    )
    labels.add_argument(
        "--use",
        action="append",
        metavar="SOURCE",
        help="source to learn from (may be repeated, default: all)",
    )
    labels.add_argument(
        "--share",
        type=float,
        metavar="F",
        help="share of labels used for training in tests (default: 0.8, blend: cross-validation)",
    )
    add_number(labels, "--repeats", 3, "number of tests")
    add_parameters(labels)


def _kind(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: object,
    words: str,
    example: str,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = kinds.add_parser(
        name, help=words, description=words, epilog=f"Example: python -m hetviz {example}"
    )
    parser.set_defaults(command=run)
    # The option may come before or after the subcommand.
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")
    add_data(parser)
    parser.add_argument("--out", metavar="FILE", help="write to FILE: CSV, or JSON if named .json")
    return parser


def _links(args: argparse.Namespace) -> int:
    from hetviz.jobs.tasks.predict import find_links
    from hetviz.runs.predict.link_settings import STACK
    from hetviz.runs.predict.pair_scores import PROFILES

    if args.starts < 1:
        raise ParameterError(f"--starts {args.starts} must be 1 or more.")
    if not 0.0 <= args.hold_out < 1.0:
        raise ParameterError(f"--hold-out {args.hold_out:g} must be a share from 0 to below 1.")
    params = {} if args.method in (PROFILES, STACK) else parse_params(args)
    data = hetviz.load(args.data)
    result = find_links(
        data,
        args.source,
        args.target,
        args.method,
        params,
        range(args.seed, args.seed + args.starts),
        args.hold_out,
        make_progress(),
        args.top,
    ).content
    titles = {
        name: dict(zip(data[name].ids, data[name].display_names, strict=True))
        for name in (args.source, args.target)
    }
    head = ["source_id", "target_id", "score", "rank", "rank_best", "rank_worst", "known_links"]
    rows = [
        [_cell(candidate[key]) for key in head]
        + [titles[args.source][candidate["source_id"]], titles[args.target][candidate["target_id"]]]
        for candidate in result["candidates"]
    ]
    head += ["source_title", "target_title"]
    lines = [
        f"{candidate['rank']:>4}  {candidate['score']:.4f}  "
        f"{titles[args.source][candidate['source_id']]} - "
        f"{titles[args.target][candidate['target_id']]}"
        for candidate in result["candidates"]
    ]
    summary = []
    if result["test"] is not None:
        for name, (mean, error) in result["test"]["auc"].items():
            spread = "" if not error else f" +- {error:.3f}"
            summary.append(f"AUC on held-out links, {name}: {mean:.3f}{spread}")
        for row in result["test"]["by_known_links"]:
            mean, error = row["auc"]["method"]
            spread = "" if not error else f" +- {error:.3f}"
            links = "link" if row["known_links"] == "1" else "links"
            summary.append(
                f"AUC on held-out links, {row['known_links']} known {links}: {mean:.3f}{spread} "
                f"({row['n_links']} held out)"
            )
        unseen = result["test"]["unseen"]
        for name, (mean, error) in {} if unseen is None else unseen["auc"].items():
            spread = "" if not error else f" +- {error:.3f}"
            summary.append(f"AUC for items without links, {name}: {mean:.3f}{spread}")
    _print_or_write(args, result, head, rows, lines, summary)
    return 0


def _labels(args: argparse.Namespace) -> int:
    dataset, label = args.label
    if args.method is None and args.set:
        args.method = "gbc"
    params = {} if args.method in (None, "blend") and not args.set else parse_params(args)
    data = hetviz.load(args.data)
    prediction = hetviz.predict_labels(
        data,
        dataset,
        label,
        method=args.method,
        sources=args.use,
        source=args.source,
        training_share=args.share,
        repeats=args.repeats,
        random_state=args.seed,
        progress=make_progress(),
        **params,
    )
    columns = ["dataset", "id", "label", "known", "probability", "doubt", "decided", "low", "high"]
    table = prediction.table[[name for name in columns if name in prediction.table]].copy()
    titles = dict(zip(data[dataset].ids, data[dataset].titles, strict=True))
    table.insert(2, "title", [str(titles[id]) for id in table["id"]])
    rows = [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    lines = [
        f"{row.id}  {_cell(row.label)}"
        + (f"  doubt {_cell(row.doubt)}" if _cell(row.doubt) else "")
        + ("" if getattr(row, "decided", True) else "  (no better than guessing)")
        for row in table[~table["known"].astype(bool)].itertuples()
    ]
    summary = [
        f"error on held-out labels, {row.model}: {row.error:.4g}"
        for row in prediction.held_out.itertuples()
    ]
    summary += diagnostic_lines(prediction.diagnostics, 3)
    summary += [*([prediction.decision] if prediction.decision else []), *prediction.reasons]
    _print_or_write(args, prediction.to_dict(), list(table.columns), rows, lines, summary)
    return 0


def _print_or_write(
    args: argparse.Namespace,
    value: object,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    lines: Sequence[str],
    summary: Sequence[str],
) -> None:
    """Print the summary, and the lines or a file."""
    if args.out is None:
        print_result(args, value, [*lines, *summary])
        return
    from hetviz.io.infer import cells

    as_json = args.out.lower().endswith(".json")
    write_output(args.out, value if as_json else cells.csv_text(head, rows))
    print_result(args, value, [*summary, f"Written to {args.out}"])


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def add_place(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `place`."""
    add_data(command)
    command.add_argument(
        "fitted", help="folder or recipe.toml of `embed`, or a file written by its --model"
    )
    command.add_argument("items", help="file with a row for each new item")
    command.add_argument("--dataset", required=True, metavar="NAME", help="dataset of the items")
    command.add_argument("--id", metavar="COLUMN", help="column of ids (default: detected)")
    add_number(command, "--k", 5, "number of nearest items per dataset")
    command.add_argument(
        "--out", metavar="FILE", help="write positions, doubt and nearest items as CSV"
    )


def _place(args: argparse.Namespace) -> int:
    from hetviz.exports.writing import write_file
    from hetviz.io import escape_formula, gate
    from hetviz.io.intake.new_items import read_new_items

    data = hetviz.load(args.data)
    if args.dataset not in data.datasets:
        raise ParameterError(
            f"--dataset {args.dataset}: unknown dataset. Available: {', '.join(data.datasets)}."
        )
    file = Path(args.items)
    items = read_new_items(
        [gate.unpack_gzip(file.name, gate.read_file(file))], data[args.dataset], None, args.id
    )
    placed = hetviz.place_rows(
        data,
        _load_fitted(Path(args.fitted), data, args.data),
        items.table,
        args.dataset,
        media=items.media,
        k=args.k,
    )
    problems = [*items.problems, *placed.problems]
    for problem in () if args.json else problems:
        print_warning(str(problem))
    table = placed.frame()
    if args.out is not None:
        texts = table.select_dtypes(exclude="number")
        safe = {
            str(name): [_escape_cell(cell, escape_formula) for cell in texts[name]]
            for name in texts
        }
        write_file(args.out, table.assign(**safe).to_csv(index=False).encode())
    record = {
        "dataset": args.dataset,
        "items": [
            {str(k): _json_value(v) for k, v in row.items()} for row in table.to_dict("records")
        ],
        "neighbours": records(placed.neighbours),
        "problems": [problem.to_dict() for problem in problems],
        "out": args.out,
    }
    lines = [_item_line(row) for row in record["items"]]
    print_result(args, record, lines + ([f"Written to {args.out}"] if args.out else []))
    return 0


def _load_fitted(path: Path, data: hetviz.HeteroData, source: str) -> Any:
    """Return a saved model, or fit a recipe."""
    if path.is_dir() or path.suffix == ".toml":
        from hetviz.runs.embed.run import fit_again
        from hetviz.runs.recipe import read_recipe

        recipe = read_recipe(path)
        run = recipe.run
        if run.fingerprint and run.fingerprint != data.fingerprint():
            raise ParameterError(
                f"{path}: this run was made from other data than {source}. Use those data, or fit "
                "the map again with `hetviz embed`."
            )
        return fit_again(data, recipe.run_of(data), make_progress())
    model = hetviz.load_model(path)
    mismatched = [
        name
        for name, ids in model.embedding_.ids.items()
        if name not in data.datasets or (data[name].find(ids) < 0).any()
    ]
    if mismatched:
        raise ParameterError(
            f"{path}: the model was fitted to other data. {source} lacks items of "
            f"{', '.join(mismatched)}. Use the data that it was fitted to."
        )
    return model


def _escape_cell(cell: object, escaped: Callable[[str], str]) -> Any:
    return escaped(cell) if isinstance(cell, str) else cell


def _json_value(value: Scalar) -> Scalar:
    if isinstance(value, bool | str):
        return value
    return None if value is None or value != value else float(value)


def _item_line(row: Mapping[str, object]) -> str:
    doubt = "" if row["doubt"] is None else f"doubt {row['doubt']:.2f}"
    near = [f"{k.removeprefix('nearest_')} {v}" for k, v in row.items() if "nearest_" in k and v]
    return f"{row['id']:<20}{doubt:<12}nearest: {', '.join(near)}"

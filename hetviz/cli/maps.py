"""Commands that fit, evaluate and compare maps."""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import hetviz
from hetviz._json import records
from hetviz._text import format_seconds, round_percent
from hetviz.cli.arguments import (
    add_data,
    add_number,
    add_parameters,
    diagnostic_lines,
    make_progress,
    parse_params,
    print_result,
    read_map,
    score_lines,
    write_output,
)
from hetviz.errors import ParameterError
from hetviz.metrics.fit.summary import Scores
from hetviz.metrics.measure_names import measure_text
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES

if TYPE_CHECKING:
    from hetviz.data import HeteroData
    from hetviz.data.queries.filters import Filter
    from hetviz.runs.large.plan import LargeRecipe


def add_embed(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `embed`."""
    add_data(command)
    command.add_argument(
        "--method",
        metavar="KEY",
        help="see `methods` (default: the best of several methods on held-out links)",
    )
    add_parameters(command)
    command.add_argument(
        "--weigh",
        action="append",
        default=[],
        metavar="KEY=F",
        type=_weight,
        help="weight a kind of links by F, from 0 to 1, with 'source|target|kind' as KEY "
        "(may be repeated)",
    )
    command.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="PLACE=FILE",
        type=_pin,
        help="pin the rows of a CSV (dataset, id) to a place X,Y, such as 0.2,0.8, to 'left', "
        "'right', 'top' or 'bottom', or to a corner such as 'top left' (may be repeated)",
    )
    command.add_argument("--only", metavar="FILE", help="CSV of the rows to map: dataset, id")
    command.add_argument(
        "--start",
        metavar="FILE",
        help="CSV of coordinates to start from, such as those of an earlier run",
    )
    add_number(
        command,
        "--hold-out",
        0.0,
        "share of links and comparisons to hide from the method and evaluate the map with",
        "F",
    )
    command.add_argument(
        "--model", metavar="FILE", help="also save the fitted model, to place new items later"
    )
    command.add_argument(
        "--out", metavar="DIR", help="output folder (default: a new one, named after the data)"
    )


def _embed(args: argparse.Namespace) -> int:
    from hetviz.features.spaces.pins import make_pin
    from hetviz.io import read_bundle
    from hetviz.runs.embed.run import fit_run
    from hetviz.runs.embed.scope import read_rows_file
    from hetviz.runs.first_map import choose_method
    from hetviz.runs.recipe import write_run

    if args.method is None and args.set:
        raise ParameterError("--set needs --method.")
    if args.method is None and args.pin:
        raise ParameterError("--pin needs --method.")
    params = {} if args.method is None else parse_params(args)
    loaded = read_bundle(args.data).strict()
    if args.pin:
        rows = [read_rows_file(Path(file), loaded.data) for _, file in args.pin]
        params["pins"] = [
            make_pin(loaded.data, pinned, place)
            for pinned, (place, _) in zip(rows, args.pin, strict=True)
        ]
    weights = dict(args.weigh)
    if len(weights) < len(args.weigh):
        raise ParameterError("--weigh has the same kind of links twice.")
    method, notes = args.method, []
    if method is None:
        choice = choose_method(loaded.data, make_progress(), random_state=args.seed, likely=True)
        method, params = choice.method, {**choice.params, **params}
        notes = [choice.sentence]
    fitted = fit_run(
        loaded.data,
        method,
        params,
        args.seed,
        make_progress(),
        weights=weights,
        only=None if args.only is None else read_rows_file(Path(args.only), loaded.data),
        hold_out=args.hold_out,
        start=None if args.start is None else read_map(args.start, loaded.data),
    )
    source = args.data if args.data in hetviz.samples() else str(Path(args.data).resolve())
    out = args.out or _new_folder(args.data)
    record = write_run(out, source, loaded.data, fitted, loaded.held_out)
    if args.model is not None:
        hetviz.save_model(fitted.model, args.model)
    placed = fitted.result.embedding.n_rows - fitted.result.embedding.n_unplaced
    lines = [
        *notes,
        f"{method}: {placed:,} rows placed in {fitted.result.seconds:.2f} s",
        *score_lines(record["scores"]),
        f"Written to {out}. See `hetviz diagnostics {out}` for details of the method.",
    ]
    print_result(args, record, lines)
    return 0


def _new_folder(source: str) -> str:
    """Return the first free name of a folder for a map of these data: emoji-map, emoji-map-2."""
    name = f"{Path(source).stem}-map"
    numbered = (f"{name}-{number}" for number in itertools.count(2))
    return next(free for free in itertools.chain([name], numbered) if not Path(free).exists())


def _pin(text: str) -> tuple[str | list[float], str]:
    place, _, file = text.partition("=")
    try:
        at = [float(number) for number in place.split(",")]
    except ValueError:
        at = []
    if not file or not (at or place):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form place=file")
    return at or place, file


def _weight(text: str) -> tuple[str, float]:
    # The name of a dataset may contain "=" too.
    key, _, factor = text.rpartition("=")
    try:
        return key, float(factor)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=number") from None


def add_evaluate(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `evaluate`."""
    add_data(command)
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--coordinates", metavar="FILE", help="CSV with dataset, id and axes")
    which.add_argument("--method", metavar="KEY", help="see `methods`")
    add_parameters(command)


def _evaluate(args: argparse.Namespace) -> int:
    from hetviz.io import read_bundle

    loaded = read_bundle(args.data).strict()
    if args.coordinates is not None:
        embedding = read_map(args.coordinates, loaded.data)
    else:
        embedding = hetviz.embed(
            loaded.data,
            args.method,
            random_state=args.seed,
            progress=make_progress(),
            **parse_params(args),
        )
    scores = hetviz.evaluate(loaded.data, embedding, loaded.held_out)
    lines = [
        f"{line:<48}{limits_text(scores, name)}".rstrip()
        for name, line in zip(
            scores.values, score_lines(scores.values, scores.standard_errors), strict=True
        )
    ]
    sampled: dict[str, Any] = {"standard_errors": dict(scores.standard_errors)}
    record = {
        **scores.to_dict(),
        **(sampled if scores.standard_errors else {}),
        "ceilings": {k: v for k in scores.values if not math.isnan(v := scores.ceiling(k))},
        "resolutions": dict(scores.resolutions),
    }
    print_result(args, record, lines)
    return 0


def limits_text(scores: Scores, name: str) -> str:
    """Return the ceiling of a measure and its smallest detectable difference."""
    ceiling, resolution = scores.ceiling(name), scores.resolutions.get(name)
    parts = [] if math.isnan(ceiling) else [f"at most {ceiling:.4g}"]
    return ", ".join(
        parts + ([] if resolution is None else [f"smallest real difference {resolution:.4f}"])
    )


def add_run(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    command.add_argument("recipe", help="a recipe.toml, or its folder")
    command.add_argument(
        "--out", metavar="DIR", help="output folder (default: run/ in the folder of the recipe)"
    )
    command.add_argument(
        "--figures",
        nargs="*",
        choices=("png", "svg", "pdf"),
        metavar="FORM",
        help="also draw map and curves: png svg pdf (png)",
    )
    command.add_argument(
        "--scheduler",
        metavar="WHERE",
        help="for a recipe over files: sync, threads:N, local:N (local processes) or "
        "tls://host:port (a Dask scheduler). The result is the same (sync)",
    )
    command.add_argument("--tls-ca", metavar="FILE", help="CA certificate, PEM")
    command.add_argument("--tls-cert", metavar="FILE", help="client certificate, PEM")
    command.add_argument("--tls-key", metavar="FILE", help="private key of the client, PEM")
    command.add_argument(
        "--scratch", metavar="DIR", help="folder for temporary files of a recipe over files"
    )
    command.add_argument(
        "--check",
        action="store_true",
        help="only check a recipe over files and print the memory and disk it needs",
    )


def _run(args: argparse.Namespace) -> int:
    from hetviz.runs.recipe import large_recipe_at

    if (large := large_recipe_at(args.recipe)) is not None:
        return _run_large(args, large)
    if args.check:
        raise ParameterError("--check is for recipes over files, with [data.NAME] and path.")
    folder = hetviz.run_recipe(
        args.recipe, args.out, progress=make_progress(), scheduler=args.scheduler
    )
    record = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    lines = [*score_lines(record["scores"]), *_reproduction_lines(record)]
    if args.figures is not None:
        from hetviz.exports.result import read_result, write_figures

        files = write_figures(read_result(folder), folder, args.figures or ["png"])
        record["figures"] = [str(file) for file in files]
    lines.append(f"Written to {folder}")
    print_result(args, record, lines)
    return 0


def _run_large(args: argparse.Namespace, recipe: LargeRecipe) -> int:
    """Run a recipe over files, or print its requirements."""
    from hetviz.runs.large.plan import check_memory, forecast

    if args.figures is not None:
        raise ParameterError("--figures: maps of recipes over files cannot be drawn here.")
    if args.check:
        check_memory(recipe)
        requirements = forecast(recipe)
        plan = recipe.plan
        memory_estimate: dict[str, Any] = {
            "rows": {table.name: table.n for table in plan.tables},
            "links": {links.name: links.files.n_rows for links in plan.links},
            "blocks": len(plan.blocks),
            "process_mb": round(requirements["process"] / 1e6),
            "disk_mb": round(requirements["disk"] / 1e6),
            "max_memory_mb": None if recipe.max_memory is None else recipe.max_memory // 10**6,
        }
        lines = [
            *(f"{table.name}: {table.n:,} rows of {table.d:,} features" for table in plan.tables),
            *(f"{links.name}: {links.files.n_rows:,} links" for links in plan.links),
            f"{len(plan.blocks):,} blocks, with about {memory_estimate['process_mb']:,} MB of "
            "memory for each process",
            f"{memory_estimate['disk_mb']:,} MB of disk space during the run",
        ]
        print_result(args, memory_estimate, lines)
        return 0
    files = (args.tls_ca, args.tls_cert, args.tls_key)
    if any(files) and not all(files):
        raise ParameterError("Give all three of --tls-ca, --tls-cert and --tls-key.")
    folder = hetviz.run_recipe(
        args.recipe,
        args.out,
        progress=make_progress(),
        scheduler=args.scheduler,
        tls=files if all(files) else None,
        scratch=args.scratch,
    )
    record = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    rows = sum(record["rows"].values())
    lines = [
        f"{record['method']}: {rows - record['n_unplaced']:,} of {rows:,} rows placed in "
        f"{record['seconds']:.1f} s, {record['links']:,} links",
        *(
            f"links of {name} left out because of unknown ids: {count:,}"
            for name, count in record["left_out"].items()
        ),
        *score_lines(record["scores"], record["standard_errors"]),
        *_placement_lines(record),
        *(f"peak memory of {name}: {size:,.0f} MB" for name, size in record["peak_mb"].items()),
        f"Written to {folder}",
    ]
    print_result(args, record, lines)
    return 0


def _placement_lines(record: Mapping[str, Any]) -> list[str]:
    """Describe how rows were placed by landmarks."""
    if "landmarks" not in record:
        return []
    count = sum(record["landmarks"].values())
    error = record.get("placement_error", {}).get("median")
    placement_error = (
        ""
        if error is None
        else f", median placement error of landmarks: {round_percent(error, 1)} of the "
        "typical distance"
    )
    lines = [f"Fitted to {count:,} landmarks, other rows placed by them{placement_error}"]
    if "refinement" in record:
        refinement = record["refinement"]
        rows, all_rows = sum(refinement["rows"].values()), sum(record["rows"].values())
        other_rows = "" if rows == all_rows else ", other rows placed by them"
        landmark_error = refinement["placement_error"]["median"]
        landmark_text = (
            ""
            if landmark_error is None
            else f", median placement error {round_percent(landmark_error, 1)}"
        )
        lines.append(
            f"{refinement['iterations']:,} iterations of {rows:,} rows{other_rows}: median "
            f"movement {round_percent(refinement['moved'], 1)} of the typical "
            f"distance{landmark_text}"
        )
    return lines


def add_diagnostics(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `diagnostics`."""
    command.add_argument("result", help="the folder that `embed` or `run` wrote")


def _diagnostics(args: argparse.Namespace) -> int:
    from hetviz.data.model.diagnostics import to_json
    from hetviz.exports.result import read_result

    diagnostics = read_result(args.result).embedding.diagnostics
    lines = diagnostic_lines(diagnostics) or ["This run has no diagnostics except its measures."]
    print_result(args, to_json(diagnostics), lines)
    return 0


def add_spread(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `spread`."""
    command.add_argument("result", help="the folder that `embed` or `run` wrote")
    add_number(command, "--seed", 0, "random seed", "N")
    command.add_argument("--out", metavar="FILE", help="also write dataset, id and spread as CSV")


def _spread(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from hetviz.exports.result import read_result, save_spread
    from hetviz.exports.tables import table_bytes
    from hetviz.exports.writing import write_file

    result = read_result(args.result)
    measured = hetviz.spread(
        result.data,
        result.embedding,
        run=replace(result.recipe.run, only=result.recipe.rows(result.data)),
        random_state=args.seed,
        progress=make_progress(),
    )
    lines = [measured.sentence, f"Added to {save_spread(result, measured)}"]
    if args.out is not None:
        write_file(args.out, table_bytes(measured.frame()))
        lines.append(f"Written to {args.out}")
    print_result(args, measured.to_dict(), lines)
    return 0


def add_periods(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `periods`."""
    add_data(command)
    command.add_argument("--by", required=True, metavar="COLUMN", help="the column of the dates")
    command.add_argument(
        "--unit", default="year", help="year, quarter, month, or a number of equal parts (year)"
    )
    command.add_argument("--method", default="joint-map", metavar="KEY", help="(joint-map)")
    add_parameters(command)
    command.add_argument(
        "--between",
        nargs=2,
        metavar=("BEFORE", "AFTER"),
        help="the periods to compare (default: the last two)",
    )
    command.add_argument("--out", metavar="FILE", help="also write all places as CSV")


def _periods(args: argparse.Namespace) -> int:
    from hetviz.exports.tables import table_bytes
    from hetviz.exports.writing import write_file
    from hetviz.io import read_bundle

    data = read_bundle(args.data).strict().data
    unit = int(args.unit) if args.unit.isdigit() else args.unit
    found = hetviz.embed_periods(
        data,
        args.by,
        periods=unit,
        method=args.method,
        random_state=args.seed,
        progress=make_progress(),
        **parse_params(args),
    )
    lines = [f"  {name:<24}{part.n_rows:>8,} items" for name, part in found.parts.items()]
    lines += [f"{n:,} of {name} have no date." for name, n in found.n_undated.items() if n]
    names = args.between or list(found.maps)[-2:]
    table = None
    if len(names) == 2:
        table = found.moved_most(*names)
        lines += ["", f"Moved most from {names[0]} to {names[1]}"]
        lines += [table.to_string(index=False, float_format="{:.3f}".format)]
    if args.out is not None:
        write_file(args.out, table_bytes(found.frame()))
        lines.append(f"Written to {args.out}")
    moved = [] if table is None else records(table)
    sizes = {name: part.n_rows for name, part in found.parts.items()}
    print_result(args, {"periods": sizes, "undated": dict(found.n_undated), "moved": moved}, lines)
    return 0


def add_evidence(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `evidence`."""
    from hetviz.metrics.measure_names import MEASURES_WITH_ROWS
    from hetviz.runs.evidence.about import ABOUT

    command.add_argument("result", help="the folder that `embed` or `run` wrote")
    command.add_argument(
        "about", choices=(*ABOUT, *MEASURES_WITH_ROWS), help="the statement or measure"
    )
    command.add_argument(
        "--hidden", action="store_true", help="hidden links and comparisons instead of given ones"
    )
    command.add_argument("--region", metavar="NAME", help="the region, for `region`")
    command.add_argument(
        "--item", nargs=2, metavar=("DATASET", "ID"), help="the item, for statements about one"
    )
    command.add_argument("--dataset", metavar="NAME", help="the dataset of the other items")
    command.add_argument("--out", metavar="FILE", help="also write the rows as CSV")


_N_ROWS_PRINTED = 10


def _evidence(args: argparse.Namespace) -> int:
    from hetviz.exports.result import read_result
    from hetviz.exports.tables import table_bytes
    from hetviz.exports.writing import write_file

    result = read_result(args.result)
    scope = result.scope
    hidden = scope.held_out if scope.held_out is not None else result.judged
    if args.hidden and hidden is None:
        raise ParameterError("--hidden: no links of this result are hidden.")
    found = hetviz.evidence(
        scope.measured,
        result.embedding,
        args.about,
        held_out=hidden if args.hidden else None,
        region=args.region,
        item=None if args.item is None else (args.item[0], args.item[1]),
        dataset=args.dataset,
    )
    shown = found.table.head(_N_ROWS_PRINTED)
    lines = [found.statement, found.rule, found.sample, *filter(None, [found.chance])]
    lines += ["", *shown.to_string(index=False).split("\n")] if len(shown) else []
    if len(found.table) > len(shown):
        lines.append(f"... and {len(found.table) - len(shown):,} more rows.")
    if args.out is not None:
        write_file(args.out, table_bytes(found.table))
        lines.append(f"Written to {args.out}")
    print_result(args, found.to_dict(), lines)
    return 0


def _two_names(text: str) -> list[str]:
    names = text.split(",") if text else []
    if len(names) not in (0, 2):
        raise ParameterError(f"--columns {text!r} is not of the form X,Y.")
    return names


def add_why(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `why`."""
    command.add_argument(
        "result", help="the folder that `embed` or `run` wrote; with coordinates: DATA"
    )
    command.add_argument("dataset", nargs="?", help="the dataset of an item")
    command.add_argument("id", nargs="?", help="its id (default: explain the whole map)")
    command.add_argument("other", nargs="?", help="id of a second item: why they are close or far")
    command.add_argument(
        "--columns",
        metavar="X,Y",
        help="columns of DATA that are the map (default: x and y, umap_1 and umap_2, longitude and "
        "latitude and the like)",
    )
    command.add_argument("--coordinates", metavar="FILE", help="CSV of a map of DATA")
    add_number(command, "-n", 5, "number of reasons of each kind", "N")
    command.add_argument(
        "--quick", action="store_true", help="use the axes only, without fitting the method again"
    )


def _why(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from hetviz.exports.result import read_result
    from hetviz.io import read_bundle

    if args.n < 1:
        raise ParameterError(f"-n {args.n} must be 1 or more.")
    if args.dataset is not None and args.id is None:
        raise ParameterError("An item needs its dataset and its id.")
    run = None
    if args.columns is None and args.coordinates is None and Path(args.result).is_dir():
        result = read_result(args.result)
        data, embedding = result.data, result.embedding
        run = replace(result.recipe.run, only=result.recipe.rows(data))
    else:
        data = read_bundle(args.result).strict().data
        if args.coordinates is not None:
            embedding = read_map(args.coordinates, data)
        else:
            embedding = hetviz.map_from_columns(data, *_two_names(args.columns or ""))
    if args.id is None:
        found = hetviz.why(data, embedding)
        lines = [
            f"  {one.dataset:<16}{one.column:<24}{one.share_text:<11}{one.sentence}"
            for one in found.reasons
        ]
        lines += [found.how] if found.reasons else []
        print_result(args, found.to_dict(), [found.sentence, *lines])
        return 0
    if args.other is not None:
        pair = hetviz.why(data, embedding, args.dataset, args.id, other=args.other)
        lines = [
            f"  {value.column:<24}{value.first:<20}{value.second:<20}{value.verdict}"
            for value in pair.values
        ]
        print_result(args, pair.to_dict(), [pair.sentence, *lines])
        return 0
    explanation = hetviz.why(
        data, embedding, args.dataset, args.id, run=run, most=args.n, fit=not args.quick
    )
    lines = [f"{explanation.title}: {explanation.sentence}"]
    for head, reasons in (
        ("Reasons for its position", explanation.holds),
        ("Features with a similar value", explanation.features),
        ("Links and features that pull it elsewhere", explanation.elsewhere),
    ):
        lines += [f"{head}:"] if reasons else []
        lines += [
            f"  {reason.title:<32}{reason.kind:<12}"
            f"{round_percent(reason.share, 1):<8}{reason.by}".rstrip()
            for reason in reasons
        ]
    movers = [reason for reason in explanation.would_move if reason.moves > 0]
    lines += ["Movement without each of these, relative to the width of the map:"] if movers else []
    lines += [
        f"  {reason.title:<32}{reason.kind:<12}{round_percent(reason.moves, 1)}"
        for reason in movers
    ]
    print_result(
        args,
        explanation.to_dict(),
        [*lines, explanation.how, *([explanation.note] if explanation.note else [])],
    )
    return 0


def add_find(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `find`."""
    add_data(command)
    command.add_argument("query", help='words, or "COLUMN: WORDS" for one column')
    add_number(command, "-n", 12, "number of items of each list")


def _find(args: argparse.Namespace) -> int:
    data = hetviz.load(args.data)
    items, values = (
        hetviz.find_items(data, args.query, args.n),
        hetviz.find_values(data, args.query),
    )
    lines: list[str] = []
    for way, n_found in (("words", items.attrs["n_found"]), ("meaning", None)):
        listed = items[items["by"] == way]
        total = "" if n_found in (None, len(listed)) else f" of {n_found:,}"
        lines += [f"Items by {way}: {len(listed)}{total}"] if len(listed) else []
        for _, item in listed.iterrows():
            column = f", in {item['column']}" if item["column"] else ""
            lines.append(f"  {item['title']:<32}  {item['dataset']}{column}")
    shown = values.head(args.n)
    total = "" if len(shown) == len(values) else f" of {len(values):,}"
    lines += [f"Values: {len(shown)}{total}"] if len(shown) else []
    for _, value in shown.iterrows():
        text = f"{value['column']}: {value['value']}"
        lines.append(f"  {text:<32}  {value['n_items']:,} {value['dataset']}")
    result = {"items": records(items), "values": records(values)}
    print_result(args, result, lines or ["Nothing found in names and columns."])
    return 0


def add_alike(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `alike`."""
    add_data(command)
    command.add_argument("dataset", help="the dataset of the item")
    command.add_argument("id", help="its id")
    add_number(command, "-k", 8, "number of items of each list")
    command.add_argument(
        "--coordinates",
        metavar="FILE",
        help="CSV with dataset, id and axes: also list the nearest items on this map, and mark "
        "those that the data do not support",
    )


def _alike(args: argparse.Namespace) -> int:
    data = hetviz.load(args.data)
    embedding = None if args.coordinates is None else read_map(args.coordinates, data)
    headings = {"links": "Most alike by links", "features": "Most alike by features"}
    if embedding is not None:
        headings["map"] = "Nearest on the map"
    lines: list[str] = []
    record = {}
    for way, heading in headings.items():
        frame = hetviz.most_alike(data, args.id, way, args.k, args.dataset, embedding=embedding)
        record[way] = records(frame)
        lines.append(f"{heading}:" if len(frame) else f"{heading}: none")
        supported = frame["supported"] if way == "map" else [True] * len(frame)
        for title, score, is_supported in zip(
            frame["title"], frame["score"], supported, strict=True
        ):
            mark = "" if is_supported else "  not similar in the data"
            lines.append(f"  {title:<32}  {round_percent(score, 1)}{mark}")
    print_result(args, record, lines)
    return 0


def add_linked(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `linked`."""
    add_data(command)
    command.add_argument("dataset", help="the dataset of the items")
    command.add_argument("ids", nargs="*", help="their ids (default: all that --where leaves)")
    command.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="only items with this value, or a number or date in LOW..HIGH, of which one may be "
        "left out (may be repeated). Dates are 2020, 2020-03 or 2020-03-15; HIGH is included",
    )
    add_number(command, "-n", 4, "number of items of each linked dataset", "N")


def _linked(args: argparse.Namespace) -> int:
    from hetviz.data.queries.filters import passing

    data = hetviz.load(args.data)
    if not (args.ids or args.where):
        raise ParameterError("linked: give ids, or --where COLUMN=VALUE.")
    span = data.offsets[data[args.dataset].name]
    is_listed = np.zeros(data.n_rows, dtype=bool)
    is_listed[[data.position(args.dataset, id) for id in args.ids] if args.ids else span] = True
    filters = [_filter_of(data, args.dataset, text) for text in args.where]
    rows = np.flatnonzero(is_listed & passing(data, filters))
    frame = hetviz.most_linked(data, rows, args.n)
    lines = [f"{len(rows):,} of {len(data[args.dataset]):,} {args.dataset}"]
    for _, part in frame.groupby(["linked_dataset", "through"], sort=False):
        name, through = part["linked_dataset"].iloc[0], part["through"].iloc[0]
        lines.append(f"{name} through {through}:" if through else f"{name}:")
        for _, row in part.iterrows():
            elsewhere = row["share_elsewhere"]
            other = "" if math.isnan(elsewhere) else f", elsewhere {round_percent(elsewhere)}"
            lines.append(
                f"  {row['title']:<32}  {row['n_links']:>7,}  {round_percent(row['share'])}{other}"
            )
    if not len(frame):
        lines.append("No item of another dataset has two links with these items.")
    print_result(args, {"n_items": len(rows), "linked": records(frame)}, lines)
    return 0


def _filter_of(data: HeteroData, dataset: str, text: str) -> Filter:
    """Return the filter of "column=value" or "column=low..high"."""
    from hetviz.data.queries.filters import Filter, column_of, days_of, holds_dates

    column, equals, value = text.partition("=")
    if not (column and equals):
        raise ParameterError(f"--where {text}: write COLUMN=VALUE or COLUMN=LOW..HIGH.")
    low, dots, high = value.partition("..")
    if low + high and holds_dates(column_of(data, dataset, column)):
        first = days_of(low)[0] if low else None
        last = days_of(high if dots else low)[1] if high or not dots else None
        return Filter(dataset, column, "range", low=first, high=last)
    try:
        ends = [float(end) if end else None for end in (low, high)]
    except ValueError:
        dots, ends = "", []
    if not dots or ends == [None, None]:
        return Filter(dataset, column, values=(value,))
    return Filter(dataset, column, "range", low=ends[0], high=ends[1])


def _reproduction_lines(record: Mapping[str, object]) -> list[str]:
    """Report whether the coordinates equal those of the recipe."""
    is_same = record.get("same_coordinates")
    if is_same is None:
        return []
    text = "identical to" if is_same else "not identical to"
    return [f"The coordinates are {text} those of the recipe."]


_MAX_COLUMNS = 4


def add_compare(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    add_data(command)
    command.add_argument(
        "--methods",
        metavar="A,B",
        help="method keys, see `methods` (default: all that suit the data)",
    )
    add_number(command, "--seeds", 3, "number of splits", "N")
    add_number(
        command, "--hold-out", 0.2, "share of links and comparisons hidden from the methods", "F"
    )
    add_number(command, "--new-items", 0.0, "share of items to leave out and place afterwards", "F")
    add_number(command, "--seed", 0, "first seed")
    command.add_argument(
        "--out", metavar="DIR", help="write compare.json and compare.csv to this folder"
    )


def _compare(args: argparse.Namespace) -> int:
    keys = args.methods
    comparison = hetviz.compare(
        hetviz.load(args.data),
        None if keys is None else [key.strip() for key in keys.split(",") if key.strip()],
        seeds=args.seeds,
        hold_out=args.hold_out,
        new_items=args.new_items,
        progress=make_progress(),
        random_state=args.seed,
    )
    if args.out is not None:
        write_output(Path(args.out) / "compare.json", comparison.to_dict(), make_folder=True)
        table = comparison.table.rename(columns=_readable_name)
        write_output(Path(args.out) / "compare.csv", table.to_csv())
    print_result(args, comparison.to_dict(), _comparison_lines(comparison))
    return 0


def _readable_name(column: str) -> str:
    """Return the name of a measure in a table of methods, or the column itself."""
    key = column.removesuffix("_se")
    text = measure_text(key)
    name = MEASURES[key].label if key in MEASURES else key if text is None else text.name
    return column if name == key else f"{name}, standard error" if key != column else name


def _comparison_lines(comparison: Comparison) -> list[str]:
    """Return the table in percent, failures, and the recommendation."""
    measures = [key for key in comparison.measures if key in MEASURES][:_MAX_COLUMNS]
    head = ["method", *(MEASURES[key].label for key in measures), "time"]
    rows: list[list[str]] = [
        [
            str(key),
            *(_mean_and_error(row[m], row[f"{m}_se"]) for m in measures),
            format_seconds(row["seconds"]),
        ]
        for key, row in comparison.table.to_dict("index").items()
        if row["n_fits"]
    ]
    table = [head, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    lines += [f"{key} does not apply: {reason}" for key, reason in comparison.refusals.items()]
    lines += [f"{key} failed: {reason}" for key, reason in comparison.errors.items()]
    lines += [f"{MEASURES[key].label}: {comparison.limits(key)}" for key in measures]
    notes = [comparison.link_prediction_note] if comparison.link_prediction_note else []
    return [*lines, *notes, comparison.recommendation.sentence]


def _mean_and_error(value: float, error: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{100 * value:.1f}" + ("" if math.isnan(error) else f" ± {100 * error:.1f}")

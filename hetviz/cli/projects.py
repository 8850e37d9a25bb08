"""Commands for the app, projects, exports and reports."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import hetviz
from hetviz.cli.arguments import add_number, need_app, print_result, run_app
from hetviz.errors import ParameterError


def add_app(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `app`."""
    command.add_argument("--port", type=int, help="port of the app")
    command.add_argument("--headless", action="store_true", help="do not open a browser window")


def _app(args: argparse.Namespace) -> int:
    need_app("The app")
    port = [] if args.port is None else ["--server.port", str(args.port)]
    return run_app([*port, *(["--server.headless", "true"] if args.headless else [])])


def add_project(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `project`."""
    command.add_argument("file", metavar="FILE", help="project file, saved on the Export page")
    command.add_argument(
        "--open",
        action="store_true",
        help="store it with the projects of the app and print its address",
    )


def _project(args: argparse.Namespace) -> int:
    from hetviz.io import gate
    from hetviz.workspace import SESSIONS, Sessions, open_project, summarize

    path = Path(args.file)
    content = gate.read_file(path)
    with tempfile.TemporaryDirectory() as folder:
        sessions = SESSIONS if args.open else Sessions(Path(folder))
        try:
            session_id = open_project(content, path.name, sessions)
            workspace = sessions.get(session_id)
            summary, notes = summarize(workspace), workspace.pop_notes()
        finally:
            sessions.close()
    record = {**asdict(summary), "notes": notes}
    parts = [f"{n:,} {name}" for name, n in summary.datasets.items()]
    lines = [
        f"Project:      {summary.title}",
        f"Data:         {', '.join(parts) or 'none'}",
        f"Guidance:     {summary.links:,} links, {summary.comparisons:,} comparisons",
        f"Maps:         {summary.maps:,}",
        f"Clusters:     {summary.clusters:,}",
        f"Saved views:  {summary.views:,}",
        f"Steps:        {summary.steps:,}",
        f"Last changed: {summary.changed or 'never'}",
        *notes,
    ]
    if args.open:
        record["address"] = f"/?s={session_id}"
        lines.append(f"Address:      /?s={session_id} (append to the address of the app)")
    print_result(args, record, lines)
    return 0


_CONTENTS = (
    "map", "curves", "coordinates", "neighbors", "atlas", "guidance", "graph", "anndata",
    "projector", "project", "recipe",
)  # fmt: skip
_SIZES = ("slide", "one column", "two columns")
_NAMES = ("groups", "groups and items", "items", "none", "regions", "regions and items")


def add_export(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `export`."""
    command.add_argument("result", help="output folder of `embed` or `run`")
    command.add_argument(
        "file",
        nargs="+",
        help="output files. The extension sets the format: png svg pdf html csv parquet graphml "
        "gexf cyjs h5ad zip, or hetviz for a project",
    )
    command.add_argument("--what", choices=_CONTENTS, help="content (default: map or coordinates)")
    command.add_argument("--colour", default="", help="colour of the points, such as 'dataset'")
    command.add_argument(
        "--size", choices=_SIZES, help="size of figures by their use, 'slide' is 16:9 (one column)"
    )
    command.add_argument("--width", type=float, metavar="MM", help="width (85)")
    command.add_argument(
        "--height", type=float, metavar="MM", help="height (default: from the shape of the map)"
    )
    command.add_argument("--dpi", type=int, help="resolution of PNG (300, for slides 192)")
    command.add_argument(
        "--names", choices=_NAMES, default="groups", help="names on the map (groups)"
    )
    command.add_argument(
        "--hide", action="append", default=[], metavar="DATASET", help="do not draw this dataset"
    )
    command.add_argument("--caption", action="store_true", help="write a caption below the map")
    command.add_argument(
        "--no-terrain", action="store_true", help="do not draw densities below the items"
    )
    command.add_argument(
        "--rows",
        type=int,
        metavar="N",
        help="for a recipe over files: maximum number of random rows (all)",
    )
    command.add_argument(
        "--views",
        default=(),
        metavar="FILE",
        help="html and hetviz: views that are presented, from a project or a JSON file",
    )
    add_number(command, "--k", 10, "number of nearest items per dataset")
    command.add_argument(
        "--exact", action="store_true", help="CSV: do not escape cells that look like formulas"
    )


def _export(args: argparse.Namespace) -> int:
    from hetviz.exports.large_result import read_large
    from hetviz.exports.result import read_result
    from hetviz.runs.recipe import large_recipe_at

    result: Any
    if large_recipe_at(args.result) is not None:
        result = read_large(args.result, args.rows)
        held_out = spread = None
    else:
        if args.rows is not None:
            raise ParameterError("--rows is for results of recipes over files.")
        result = read_result(args.result)
        scope = result.scope
        held_out = scope.held_out if scope.held_out is not None else result.judged
        spread = result.spread
    files = [
        hetviz.export(
            result.data,
            result.embedding,
            file,
            args.what,
            colour=args.colour,
            size=args.size,
            width=args.width,
            height=args.height,
            dpi=args.dpi,
            names=args.names,
            hidden=args.hide,
            caption=args.caption,
            terrain=not args.no_terrain,
            title=result.title,
            held_out=held_out,
            k=args.k,
            exact=args.exact,
            spread=spread,
            views=args.views,
        )
        for file in args.file
    ]
    record = {"files": [{"file": str(file), "bytes": file.stat().st_size} for file in files]}
    print_result(args, record, [f"Written to {file}" for file in files])
    return 0


def add_report(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `report`."""
    command.add_argument("result", help="output folder of `embed` or `run`")
    command.add_argument(
        "--out", default="report.html", metavar="FILE", help="output file (report.html)"
    )
    command.add_argument("--title", default="", help="title of the report")


def _report(args: argparse.Namespace) -> int:
    file = hetviz.write_report(args.result, path=args.out, title=args.title)
    record = {"file": str(file), "bytes": file.stat().st_size}
    print_result(args, record, [f"Written to {file}"])
    return 0

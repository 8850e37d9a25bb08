"""Write figures, tables and pages of a run."""

from __future__ import annotations

import argparse

import hetviz
from hetviz.cli.arguments import Add
from hetviz.cli.terminal import show

_WHAT = ("map", "curves", "coordinates", "neighbors", "atlas", "guidance")
_NAMES = ("groups", "groups and items", "items", "none")


def register(add: Add) -> None:
    """Add the command."""
    export = add(
        "export",
        _export,
        "Write figures, tables or an interactive page of the map that a run left in its folder.",
        "export result map.pdf map.html coordinates.parquet --colour group --width 174",
    )
    export.add_argument("result", help="the folder that `embed` or `run` wrote")
    export.add_argument(
        "file",
        nargs="+",
        help="files to write; the ending says the form: png svg pdf html csv parquet",
    )
    export.add_argument("--what", choices=_WHAT, help="what is written (map or coordinates)")
    export.add_argument("--colour", default="", help="what colours the map, such as 'dataset'")
    export.add_argument("--width", type=float, default=85.0, metavar="MM", help="(85)")
    export.add_argument("--height", type=float, metavar="MM", help="that of the plot's own shape")
    export.add_argument("--dpi", type=int, default=300, help="of a PNG (300)")
    export.add_argument("--names", choices=_NAMES, default="groups", help="written onto the map")
    export.add_argument(
        "--hide", action="append", default=[], metavar="DATASET", help="leave out of pictures"
    )
    export.add_argument("--caption", action="store_true", help="write a caption below the map")
    export.add_argument("--k", type=int, default=10, help="nearest items of each dataset (10)")
    export.add_argument(
        "--exact", action="store_true", help="CSV: do not mark what looks like a formula"
    )


def _export(given: argparse.Namespace) -> int:
    from hetviz.exports.result import read_result

    result = read_result(given.result)
    scope = result.scope
    files = [
        hetviz.export(
            result.data,
            result.embedding,
            file,
            given.what,
            colour=given.colour,
            width=given.width,
            height=given.height,
            dpi=given.dpi,
            names=given.names,
            hidden=given.hide,
            caption=given.caption,
            title=result.title,
            held_out=scope.held_out if scope.held_out is not None else result.judged,
            k=given.k,
            exact=given.exact,
        )
        for file in given.file
    ]
    record = {"files": [{"file": str(file), "bytes": file.stat().st_size} for file in files]}
    show(given, record, [f"Written to {file}" for file in files])
    return 0

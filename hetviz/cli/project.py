"""Look into a project file, or open it so that the app has it."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict
from pathlib import Path

from hetviz.cli.arguments import Add
from hetviz.cli.terminal import show


def register(add: Add) -> None:
    """Add the command."""
    project = add(
        "project",
        _project,
        "Say what is in a project file, after every step of it was carried out again.",
        "project my-map.hetviz",
    )
    project.add_argument("file", metavar="FILE", help="a project, saved on the Export page")
    project.add_argument(
        "--open", action="store_true", help="keep it where the app keeps projects; say its address"
    )


def _project(given: argparse.Namespace) -> int:
    from hetviz.io import gate
    from hetviz.workspace import SESSIONS, Sessions, open_project, summary_of

    path = Path(given.file)
    content = gate.read_file(path)
    with tempfile.TemporaryDirectory() as folder:
        sessions = SESSIONS if given.open else Sessions(Path(folder))
        try:
            sid = open_project(content, path.name, sessions)
            workspace = sessions.get(sid)
            found, notes = summary_of(workspace), workspace.take_notes()
        finally:
            sessions.close()
    record = {**asdict(found), "notes": notes}
    parts = [f"{n:,} {name}" for name, n in found.datasets.items()]
    lines = [
        f"Project:      {found.title}",
        f"Data:         {', '.join(parts) or 'none'}",
        f"Said:         {found.links:,} links, {found.comparisons:,} comparisons",
        f"Maps:         {found.maps:,}",
        f"Clusters:     {found.clusters:,}",
        f"Steps:        {found.steps:,}",
        f"Last changed: {found.changed or 'never'}",
        *notes,
    ]
    if given.open:
        record["address"] = f"/?s={sid}"
        lines.append(f"Address:      /?s={sid} after that of the app; it is the key to the project")
    show(given, record, lines)
    return 0

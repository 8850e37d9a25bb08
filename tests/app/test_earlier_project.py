"""Every page shows a project of an earlier version, with all that was found out in it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from hetviz.workspace import SESSIONS, open_project
from tests.app.conftest import Visit

FIXTURE = Path(__file__).parents[1] / "fixtures" / "earlier" / "a320114.zip"
PAGES = ("map", "data", "guidance", "compare", "clusters", "predict", "export")


def test_every_page_shows_an_earlier_project(visit: Visit) -> None:
    with zipfile.ZipFile(FIXTURE) as archive:
        id = open_project(archive.read("project.hetviz"), "project.hetviz", SESSIONS)
    for page in PAGES:
        # It opens without an exception, or `visit` says so.
        visit(page, id)
    assert SESSIONS.get(id).notes == []

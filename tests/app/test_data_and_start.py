"""Tests of joins on the Data page, the project list, help and empty pages."""

from __future__ import annotations

import json
import re
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.jobs import Job
from hetviz.ui.jobs.jobs import JOBS, Kind
from hetviz.ui.shell import background, deleting, page_state, people, session
from hetviz.ui.shell.page_state import PageState
from hetviz.ui.shell.paths import CSS
from hetviz.workspace import SESSIONS, RenameDataset, SetTitle
from hetviz.workspace.sessions import new_session_id
from tests.app.conftest import Visit, go, html_of, page_of, sid_of, workspace_of
from tests.app.test_map_panel import press
from tests.app.test_pages import PLANTS, upload


def project_of(app: AppTest, key: str) -> dict[str, Any]:
    """Return what the browser's list of projects is told."""
    elements = [element.proto for element in app.get("bidi_component")]
    told: dict[str, Any] = json.loads(
        next(e.json for e in elements if e.component_name == "hetviz_recent" and key in e.id)
    )
    return told


def test_datasets_become_views_of_same_items(visit: Visit) -> None:
    app = go(press(visit(), "open-digit-views"), "data")
    assert "Shows the same items as fourier and shape." in html_of(app)
    app.selectbox(key="same-as-1-fourier-pixels").select_index(0).run()
    press(app, "do-same-1")
    data = workspace_of(app).state.opened()
    assert data.views("digit") == ("pixels", "shape")
    app.selectbox(key="same-as-1-fourier-None").set_value("shape").run()
    assert "700 fourier share an id with shape" in html_of(app)
    press(app, "do-same-1")
    assert len(workspace_of(app).state.opened().views("digit")) == 3
    press(app, "undo")
    assert workspace_of(app).state.opened().views("digit") == ("pixels", "shape")


def test_key_join_is_previewed_and_linked(visit: Visit) -> None:
    app = go(press(visit(), "open-world"), "data")
    assert app.button(key="do-link").disabled
    app.selectbox(key="key-source").set_value("films").run()
    app.selectbox(key="key-source-column-films").set_value("main_country").run()
    text = html_of(app)
    assert "Countries without a partner: " in text
    label = app.button(key="do-link").label
    before = len(workspace_of(app).state.opened().links)
    press(app, "do-link")
    links = workspace_of(app).state.opened().links
    assert len(links) == before + 1
    assert label == f"Add {len(links[-1]):,} links"
    assert (links[-1].source, links[-1].target, links[-1].kind) == (
        "films",
        "countries",
        "same main_country",
    )


def test_key_with_too_many_pairs_is_refused(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.data.joins.matching.MAX_PAIRS", 100)
    app = go(press(visit(), "open-digits"), "data")
    app.selectbox(key="key-source-column-pixels").set_value("digit").run()
    app.selectbox(key="key-target-column-fourier").set_value("digit").run()
    assert not app.exception
    assert "49,000 pairs" in app.warning[0].value
    assert app.button(key="do-link").disabled


def test_hostile_dataset_name_is_escaped(visit: Visit) -> None:
    app = visit("data")
    workspace_of(app).do(RenameDataset("emoji", "<img src=x> $a$ " + "n" * 180))
    for page in ("data", "map", "start"):
        go(app, page)
        assert not app.exception
        assert "<img src=x>" not in html_of(app)
        # The map draws dataset names in the browser.
        assert page == "map" or "&lt;img src=x&gt;" in html_of(app)


def test_project_is_listed_after_first_change(visit: Visit) -> None:
    app = visit()
    assert project_of(app, "recent")["record"] is False
    workspace_of(app).do(SetTitle("<b>Mine</b>"))
    app.run()
    project = project_of(app, "recent")
    assert (project["title"], project["record"], project["show"]) == ("<b>Mine</b>", True, True)
    assert project["id"] == sid_of(app)
    assert project["renames"] is True
    for page in ("map", "data"):
        assert project_of(go(app, page), "record_project")["record"] is True


def test_new_project_does_not_change_old_one(visit: Visit) -> None:
    app = go(press(visit(), "open-world"), "start")
    old = sid_of(app)
    press(app, "new-project")
    assert sid_of(app) != old
    assert app.query_params["s"] == sid_of(app)
    assert workspace_of(app).state.source == "sample:emoji"
    assert "countries" in html_of(visit("data", old))


def test_deleting_project_removes_files_and_jobs(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit()
    sid = sid_of(app)
    other = sid_of(visit())
    jobs = [Job(kind.value, sid, "Clusters", "running") for kind in Kind]
    stopped: list[str] = []
    opened = {kind.value: (kind, background.on_job_end) for kind in Kind}
    monkeypatch.setattr(JOBS, "_open", opened)
    monkeypatch.setattr(JOBS.runner, "jobs", lambda owner: jobs if owner == sid else [])
    monkeypatch.setattr(JOBS.runner, "cancel", lambda id, owner: stopped.append(id))
    before = PageState(sid)
    kept = {"page-state": before}
    seen = SimpleNamespace(session_state=kept, query_params={})
    for module in (page_state, session):
        monkeypatch.setattr(module, "st", seen)
    for nothing in (None, 7, "../..", new_session_id()):
        deleting.delete_project(nothing)
    assert SESSIONS.exists(sid) and not stopped
    deleting.delete_project(other)
    assert not SESSIONS.exists(other)
    # Deleting another project keeps the open one.
    assert kept == {"page-state": before}
    deleting.delete_project(sid)
    assert not SESSIONS.exists(sid)
    assert stopped == list(opened)
    assert kept["page-state"].sid not in (None, sid, other)
    assert seen.query_params == {"s": kept["page-state"].sid}


def test_project_of_another_owner_is_not_deleted(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    sid = sid_of(visit())
    kept = {"page-state": PageState(new_session_id())}
    monkeypatch.setattr(people, "get_role", lambda project: "edit")
    monkeypatch.setattr(page_state, "st", SimpleNamespace(session_state=kept))
    deleting.delete_project(sid)
    assert SESSIONS.exists(sid)
    (told,) = kept["page-state"].messages
    assert "Only the owner" in told[1]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("start", "Nothing is open yet"),
        ("data", "What do you want to map?"),
        ("map", "Nothing to map yet"),
    ],
)
def test_empty_pages_show_next_step(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, page: str, words: str
) -> None:
    monkeypatch.setattr(session, "FIRST_SAMPLE", "there is none")
    text = html_of(visit(page))
    assert f"<h1>{words}</h1>" in text
    assert "Start page" in text or "open a sample" in text


def test_help_shows_links_and_version(visit: Visit) -> None:
    text = html_of(visit("map"))
    assert "HETVIZ_HOME" in text
    assert "The address of this page is the key to the project" in text
    assert "hetviz 0." in text


def test_map_and_pages_share_no_css_class() -> None:
    """Both style sheets lie on the same page, so a rule of one would change the other."""
    folder = CSS.parent.parent
    sheets = [
        CSS,
        folder / "map" / "component" / "assets" / "map.css",
        folder / "shell" / "recent" / "recent.css",
    ]
    named = [set(re.findall(r"\.(hv-[a-z-]+)", sheet.read_text("utf-8"))) for sheet in sheets]
    assert all(named)
    for first, second in combinations(named, 2):
        assert first & second == set()


def hand_in(app: AppTest, name: str, text: str) -> AppTest:
    app.file_uploader(key=f"newer-upload-0-{page_of(app).n_uploads}").set_value(
        (name, text.encode(), "text/csv")
    ).run()
    assert not app.exception
    return app


def test_newer_version_is_reviewed_and_replaces_old(visit: Visit) -> None:
    app = go(press(upload(visit(), plants_csv=PLANTS), "go-on"), "data")
    lines = PLANTS.strip().splitlines()
    before = list(workspace_of(app).state.opened()["plants"].ids)
    new = "new" + lines[-1][lines[-1].index(",") :]
    app = hand_in(app, "plants-2.csv", "\n".join([*lines[:-1], new]) + "\n")
    text = html_of(app)
    assert "Items of plants: 1 new, 1 gone, 0 changed." in text
    assert list(workspace_of(app).state.opened()["plants"].ids) == before
    press(app, "leave-newer")
    app = hand_in(app, "plants-2.csv", "\n".join([*lines[:-1], new]) + "\n")
    press(app, "replace-dataset")
    assert list(workspace_of(app).state.opened()["plants"].ids) == [*before[:-1], "new"]
    press(app, "undo")
    assert list(workspace_of(app).state.opened()["plants"].ids) == before


def test_unsuitable_newer_version_is_refused(visit: Visit) -> None:
    app = go(press(upload(visit(), plants_csv=PLANTS), "go-on"), "data")
    before = workspace_of(app).state.opened().fingerprint()
    app = hand_in(app, "other.csv", "id,colour\nq,red\nr,blue\n")
    assert "cannot replace plants" in html_of(app)
    press(app, "leave-newer")
    assert workspace_of(app).state.opened().fingerprint() == before


def test_data_page_asks_and_leads_to_the_map(visit: Visit) -> None:
    app = visit("data")
    assert "<h1>What is in your data?</h1>" in html_of(app)
    assert "<p>1,273 emoji and 621 keywords, 4,130 links. " in html_of(app)
    primary = {button.label for button in app.button if button.proto.type == "primary"}
    # Forms are folded.
    assert primary == {"Open the map", "Make features again", "Add links"}


def test_start_page_asks_what_to_map(visit: Visit) -> None:
    app = visit()
    assert "<h2>What do you want to map?</h2>" in html_of(app)
    primary = [button.label for button in app.button if button.proto.type == "primary"]
    assert primary == ["Open this map"]

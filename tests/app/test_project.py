"""Tests of project files: saving, and opening on the Start page."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from hetviz.errors import DataError, Problem
from hetviz.jobs.registry import TASKS, restartable_task
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.shell import background, session
from hetviz.ui.shell.page_state import PageState
from hetviz.ui.widgets import downloads
from hetviz.workspace import (
    SESSIONS,
    EndJob,
    OpenSample,
    SetTitle,
    StartJob,
    open_project,
    project_file,
    save_project,
)
from hetviz.workspace.sessions import new_session_id
from tests.app.conftest import Visit, go, html_of, sid_of, workspace_of
from tests.app.test_data_and_start import project_of
from tests.app.test_pages import upload
from tests.workspace.helpers import run_random_steps

HOSTILE = "<img src=x onerror=alert(1)> ![](http://x.example/y)"


@pytest.fixture
def saved(visit: Visit) -> bytes:
    """A project with two maps and a hostile name."""
    workspace = SESSIONS.get(new_session_id())
    workspace.do(OpenSample("digit-views"))
    run_random_steps(workspace, "record")
    workspace.do(SetTitle(HOSTILE))
    return save_project(workspace)


def drop(app: AppTest, content: bytes, name: str = "mine.hetviz") -> AppTest:
    app.file_uploader[0].set_value([(name, content, "application/octet-stream")]).run()
    assert not app.exception
    return app


def test_dropped_project_opens_with_message(visit: Visit, saved: bytes) -> None:
    app = visit()
    workspace_of(app).do(SetTitle("What was open"))
    app.run()
    old = sid_of(app)
    # Recognised by content, not by name.
    drop(app, saved, "renamed.zip")
    new = sid_of(app)
    assert new != old
    assert app.query_params["s"] in (new, [new])
    (told,) = app.info
    plain = told.value.replace("\\", "")
    assert plain.startswith(f"Opened “{HOSTILE}”: 700 pixels, 700 fourier, 700 shape and 2 maps")
    assert ", last changed " in plain
    text = html_of(app)
    assert "1,000 digit in 3 views" in text
    assert "<img src=x" not in text
    assert project_of(app, "recent")["id"] == new
    # Both maps are present, and undo works.
    assert SESSIONS.get(old).state.title == "What was open"
    app.button(key="undo").click().run()
    assert workspace_of(app).state.title != HOSTILE
    assert not app.info, "it is said once"
    for page in ("data", "guidance", "map", "compare", "clusters", "predict", "export"):
        go(app, page)
        assert not app.exception
        assert "<img src=x" not in html_of(app)


def test_unreadable_project_changes_nothing(visit: Visit, saved: bytes) -> None:
    app = visit()
    old = sid_of(app)
    drop(app, saved[:-50])
    assert sid_of(app) == old
    text = html_of(app)
    assert "<h1>This project could not be opened</h1>" in text
    assert "cut short or damaged" in text
    assert "Copy it again" in text
    app.button(key="leave").click().run()
    assert "emoji" in html_of(app)
    assert workspace_of(app).state.source == "sample:emoji"


def test_data_of_broken_project_can_be_opened(
    visit: Visit, saved: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_file, "MAX_BYTES", 10)
    # The data count here; other tests make maps of what was dropped.
    monkeypatch.setattr(background, "make_first_map", lambda: None)
    app = drop(visit(), saved)
    assert "than the 0 MB that a project may have" in html_of(app)
    app.button(key="data-only").click().run()
    assert not app.exception
    assert "700 pixels" in html_of(app)
    app.button(key="go-on").click().run()
    assert workspace_of(app).state.source == "file:mine.hetviz"


def test_files_dropped_after_error_are_shown(visit: Visit, saved: bytes) -> None:
    app = drop(visit(), saved[:-50])
    upload(app, plants_csv="id,x\na,1\nb,2\n")
    assert "could not be opened" not in html_of(app)
    assert app.button(key="go-on").label == "Create map"


def test_project_with_other_files_is_refused(visit: Visit, saved: bytes) -> None:
    app = visit()
    app.file_uploader[0].set_value(
        [("mine.hetviz", saved, "x"), ("a.csv", b"id,x\na,1\n", "text/csv")]
    ).run()
    assert not app.exception
    assert "Open it by itself" in html_of(app)


def test_too_large_project_shows_message(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit()
    workspace_of(app).blobs.limit = 5
    upload(app, plants_csv="id,x\na,1\nb,2\n")
    assert not app.exception
    (told,) = app.error
    assert "are allowed" in told.value


def labels(app: AppTest) -> list[str]:
    return [one.proto.label for one in app.get("download_button")]


def test_export_offers_project_and_data(visit: Visit, saved: bytes) -> None:
    app = go(drop(visit(), saved), "export")
    assert not app.exception
    assert {"Project", "Data with guidance"} <= set(labels(app))
    assert "groups and every step" in html_of(app)


def test_project_without_map_can_be_saved(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit()
    workspace = workspace_of(app)
    monkeypatch.setattr(background, "make_first_map", lambda: None)
    upload(app, plants_csv="id,x\na,1\nb,2\nc,4\n")
    app.button(key="go-on").click().run()
    assert workspace.state.run is None
    go(app, "export")
    assert "No map to export yet" in html_of(app)
    assert "Project" in labels(app)


def _failing() -> bytes:
    raise DataError(Problem("too-large", "project", "its files hold 9 GB"))


def _page_with_a_button() -> None:
    import streamlit as st

    from hetviz.ui.shell import session
    from hetviz.ui.shell.page_state import page_state

    heard = session.take_late_messages()
    st.write(heard, page_state().messages)


def test_failed_download_shows_message(monkeypatch: pytest.MonkeyPatch) -> None:
    app = AppTest.from_function(_page_with_a_button)
    late: list[str] = []
    app.session_state["page-state"] = PageState(late=late)
    made: dict[str, Any] = {}
    monkeypatch.setattr(session, "late_messenger", lambda: late.append)
    monkeypatch.setattr(st, "download_button", lambda label, **given: made.update(given))
    downloads.download_button("Project", "x.hetviz", partial(_failing))
    app.run()
    assert "False" in app.markdown[0].value
    with pytest.raises(DataError):
        made["data"]()
    app.run()
    assert "its files hold 9 GB" in app.json[0].value
    assert late == []


def test_only_known_tasks_can_be_restarted(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A project file may come from anybody, and names what a job was to call."""
    ran: list[str] = []
    monkeypatch.setattr(JOBS.runner, "submit", lambda *given: ran.append(given[2].task))
    for task in (
        "os:system",
        "hetviz.cli:main",
        "subprocess:run",
        "hetviz.jobs.tasks.maps:os.system",
    ):
        workspace = SESSIONS.get(new_session_id())
        workspace.do(OpenSample("digit-views"))
        workspace.do(StartJob("j", "PCA", {"task": task, "arguments": {"command": "true"}}))
        sid = open_project(save_project(workspace), "a.hetviz", SESSIONS)
        app = visit(sid=sid)
        app.button(key="again").click().run()
        assert not app.exception
        assert "cannot be started again" in app.error[0].value
    assert ran == []
    workspace.do(EndJob("j"))
    note = {"task": "make-map", "arguments": {"method": "pca"}, "only": None}
    workspace.do(StartJob("k", "PCA", note))
    app = visit(sid=open_project(save_project(workspace), "a.hetviz", SESSIONS))
    app.button(key="again").click().run()
    assert ran == ["make-map"]


def test_task_registry_finds_ids_of_earlier_names() -> None:
    for id, spec in TASKS.items():
        restarted = id if spec.restartable else None
        assert restartable_task(id) == restartable_task(spec.function) == restarted
    assert restartable_task("hetviz.exports.model_task:fit_model") == "fit-model"
    assert restartable_task("hetviz.jobs.tasks:make_map") == "make-map"
    assert restartable_task("hetviz.jobs.tasks.labels:find_labels") == "find-labels"
    assert restartable_task("hetviz.jobs.compare_task:sweep_parameter") is None


@pytest.mark.parametrize(
    "task",
    ["fit-model", "hetviz.exports.model:fit_model", "hetviz.exports.model_task:fit_model"],
)
def test_stopped_model_fit_can_be_restarted(visit: Visit, task: str) -> None:
    workspace = SESSIONS.get(new_session_id())
    workspace.do(OpenSample("digit-views"))
    arguments = {"method": "pca", "params": {}, "seed": 0, "hold_out": 0.0, "weights": {}}
    note = {"task": task, "arguments": arguments, "only": None, "start": None, "fingerprint": ""}
    workspace.do(StartJob("j", "Fitted method", note))
    app = visit(sid=open_project(save_project(workspace), "a.hetviz", SESSIONS))
    app.button(key="again").click().run()
    assert not app.error
    state = workspace_of(app).state
    assert state.findings["model"].content["method"] == "pca"
    log = workspace_of(app).log
    assert [entry["note"]["task"] for entry in log if entry["op"] == "start-job"][-1] == "fit-model"

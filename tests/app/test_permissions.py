"""Tests that a click without permission ends in a message, not on an error page."""

from __future__ import annotations

import pytest
from streamlit.runtime.state import SessionState
from streamlit.testing.v1 import AppTest

from hetviz.ui.app import frame
from hetviz.ui.app.streamlit_patches import _run_with_message
from hetviz.ui.shell import people, session
from hetviz.workspace import SetTitle
from hetviz.workspace.workspace import READ_ONLY_MESSAGE
from tests.app.conftest import Visit, workspace_of

LOOKED_AT = ("start", "data", "guidance", "map", "compare", "clusters", "predict", "export")
# Buttons that lead elsewhere, or begin a project of the visitor's own.
_MAX_BUTTONS = 40


@pytest.fixture(autouse=True)
def messages_of_callbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionState, "_run_callback_and_record_rerun", _run_with_message)


@pytest.fixture
def role(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Give the role of the visitor, to be changed."""
    current: list[str | None] = ["own"]
    monkeypatch.setattr(people, "get_role", lambda project: current[0])
    return current


def shown_errors(app: AppTest) -> str:
    return " ".join(element.value for element in app.error)


@pytest.mark.parametrize("page", LOOKED_AT)
def test_no_button_ends_in_a_traceback_for_a_viewer(
    page: str, visit: Visit, role: list[str | None]
) -> None:
    app = visit(page)
    project, n_steps = workspace_of(app), workspace_of(app).version
    role[0] = "look"
    app.run()
    assert not app.exception
    keys = [button.key for button in app.button if button.key and not button.disabled]
    for key in keys[:_MAX_BUTTONS]:
        if key in [button.key for button in app.button]:
            app.button(key=key).click().run()
            assert not app.exception, (key, app.exception)
    assert project.version == n_steps


def test_click_after_the_link_was_taken_back(visit: Visit, role: list[str | None]) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    workspace.do(SetTitle("Mine"))
    app.run()
    role[0] = None
    app.button(key="undo").click().run()
    assert not app.exception
    assert "no longer have access" in shown_errors(app)
    assert workspace.state.title == "Mine"
    # Nothing of the project is on the page.
    assert not app.button
    role[0] = "own"
    app.run()
    assert not app.exception and app.button


def test_file_that_a_viewer_may_not_store_is_a_message(
    visit: Visit, role: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As "Keep as clusters" and a new version of a dataset do."""
    app = visit("map")
    role[0] = "look"
    app.run()
    monkeypatch.setattr(frame, "_rename_project", store_file)
    app.run()
    app.text_input(key=f"title-{workspace_of(app).state.title}").set_value("Other").run()
    assert not app.exception
    assert READ_ONLY_MESSAGE.split(".")[0] in shown_errors(app)


def store_file(key: str) -> None:
    session.workspace().blobs.put(b"codes")

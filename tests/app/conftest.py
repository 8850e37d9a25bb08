"""A running page in this process: a fresh session, and jobs that run at once."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from hetviz.data import HeteroData
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.shell.page_state import PageState
from hetviz.ui.shell.paths import PAGES, ROUTER
from hetviz.ui.statements import candidate_search, preview
from hetviz.workspace import SESSIONS, Workspace
from tests.inline_runner import InlineRunner
from tests.samples import measure_once, read_few_emoji, sample, try_once
from tests.waits import PATIENCE_S

Visit = Callable[..., AppTest]

# Streamlit 1.66 tests no tables that are edited.
if not hasattr(AppTest, "data_editor"):
    AppTest.data_editor = property(lambda app: pytest.skip("AppTest has no data_editor"))

# Each new AppTest looks through all installed packages for components; they stay the same.
_components = cache(manifest_scanner.scan_component_manifests)
# Each run compiles its pages,
_scripts = ScriptCache()
# and looks a thousand times a second whether it has ended.
_look_for_end = local_script_runner.require_widgets_deltas


def _wait_for_end(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    if thread.is_alive():
        _look_for_end(runner, 0.0)


@pytest.fixture(autouse=True)
def packages_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", _components)


@pytest.fixture(autouse=True)
def maps_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measure_once(monkeypatch)
    try_once(monkeypatch)


@pytest.fixture(autouse=True)
def no_outside_address_is_asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    asked: list[object] = []
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def is_outside(host: object) -> bool:
        if host in (None, "", "localhost", "127.0.0.1", "::1"):
            return False
        asked.append(host)
        return True

    def connect_here(one: socket.socket, address: Any) -> None:
        # Without a connection nothing is sent: Streamlit looks up its own address this way.
        sends = one.type == socket.SOCK_STREAM
        if sends and isinstance(address, tuple) and is_outside(address[0]):
            raise OSError("no outside address")
        connect(one, address)

    def resolve_here(host: Any, *about: Any, **more: Any) -> Any:
        if is_outside(host):
            raise socket.gaierror("no outside address")
        return resolve(host, *about, **more)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", resolve_here)
    yield
    assert asked == []


@pytest.fixture
def emoji() -> HeteroData:
    return sample("emoji")


@pytest.fixture
def whole_emoji() -> None:
    """Have `few_emoji` leave the sample as it is."""


@pytest.fixture
def few_emoji(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open less of the sample in tests for which its number of items does not matter."""
    if "whole_emoji" not in request.fixturenames:
        read_few_emoji(monkeypatch)


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, reader_here: None) -> Visit:
    """Give a function that opens a page as a new visitor, or as one with a given id."""
    monkeypatch.setattr(local_script_runner, "require_widgets_deltas", _wait_for_end)
    for module in (app_test, local_script_runner):
        monkeypatch.setattr(module, "ScriptCache", lambda: _scripts)
    monkeypatch.setattr(JOBS, "runner", InlineRunner(JOBS.on_end))
    # A job that runs at once would make a map for each draft of a statement,
    monkeypatch.setattr(preview, "MAX_ROWS", 0)
    # and search for links of all emoji after each statement.
    monkeypatch.setattr(candidate_search, "_MAX_ROWS", 500)

    def open_page(page: str = "start", sid: str | None = None) -> AppTest:
        app = AppTest.from_file(ROUTER, default_timeout=PATIENCE_S)
        if sid is not None:
            app.query_params["s"] = sid
        if page == "start":
            app.run()
        else:
            go(app, page)
        assert not app.exception
        assert "page-state" in app.session_state, [str(element) for element in app.main]
        return app

    return open_page


def unfold(app: AppTest, *keys: str) -> AppTest:
    """Open popovers and expanders whose content is drawn once they were opened."""
    for key in keys:
        app.session_state[key] = True
        app.run()
    return app


def go(app: AppTest, page: str) -> AppTest:
    return app.switch_page(str(PAGES / f"{page}.py")).run()


def page_of(app: AppTest) -> PageState:
    """Return the state of the visitor's pages."""
    state: PageState = app.session_state["page-state"]
    return state


def sid_of(app: AppTest) -> str:
    return str(page_of(app).sid)


def workspace_of(app: AppTest) -> Workspace:
    found = SESSIONS.find(sid_of(app))
    assert found is not None
    return found


def html_of(app: AppTest) -> str:
    """Return all HTML of the page, without the marks of statements that show their rows.

    What keeps a number with its unit is written as a space.
    """
    parts = re.split(r'(<span class="hv-show"[^>]*>|<span\b[^>]*>|</span>)', marked_html_of(app))
    is_mark: list[bool] = []
    for at, part in enumerate(parts):
        if part.startswith("<span"):
            is_mark.append(part.startswith('<span class="hv-show"'))
            parts[at] = "" if is_mark[-1] else part
        elif part == "</span>" and is_mark:
            parts[at] = "" if is_mark.pop() else part
    return "".join(parts)


def marked_html_of(app: AppTest) -> str:
    """Return all HTML of the page."""
    text = "\n".join(element.proto.body for element in app.get("html"))
    return text.replace("\N{NO-BREAK SPACE}", " ")

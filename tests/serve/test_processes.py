"""Tests of the projects of several server processes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from hetviz.serve.config import ServerSettings
from hetviz.serve.process_pages import ProcessPages, ProcessPath
from hetviz.serve.processes import own_base, process_of, split_number
from hetviz.workspace import SetTitle
from hetviz.workspace.sessions import InUse, Sessions, new_session_id
from tests.serve.asgi import Response, ask

PROJECT = "C5Zj6xXAvWcezbun-HpXIg"  # Of the first process of two, and the third of four.
PAGE = {"Accept": "text/html"}


async def echo_path(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    await PlainTextResponse(scope["path"])(scope, receive, send)


def get(path: str, settings: ServerSettings, kind: str = "http", page: bool = True) -> Response:
    app = ProcessPath(ProcessPages(echo_path, settings), settings.base)
    return ask(app, path, PAGE if page else {}, kind)


def test_processes_have_fixed_and_even_parts() -> None:
    # Addresses are kept by browsers and people, so the parts must not change.
    assert [process_of(PROJECT, n) for n in (1, 2, 3, 4)] == [1, 1, 1, 3]
    sizes = Counter(process_of(f"{k:022d}", 4) for k in range(4_000))
    assert set(sizes) == {1, 2, 3, 4} and min(sizes.values()) > 900


def test_new_projects_belong_to_their_process() -> None:
    sessions = Sessions()
    sessions.is_own = lambda project: process_of(project, 4) == 3
    assert {process_of(sessions.new_id(), 4) for _ in range(50)} == {3}


@pytest.mark.parametrize("base", ["", "tools/maps"])
def test_pages_are_redirected_to_the_process_of_their_project(base: str) -> None:
    settings = ServerSettings(processes=4, process=2, base_path=base)
    start = f"/{base}" if base else ""
    for before in ("/map", "/n2/map", "/n9/map"):
        answer = get(f"{start}{before}?s={PROJECT}&x=1", settings)
        assert answer.status == 307
        assert answer.headers["location"] == f"{start}/n3/map?s={PROJECT}&x=1"
    third = ServerSettings(processes=4, process=3, base_path=base)
    answer = get(f"{start}/n3/map?s={PROJECT}", third)
    assert (answer.status, answer.body) == (200, f"{start}/map".encode())
    assert own_base(third) == f"{start}/n3"


def test_pages_without_a_project_are_spread() -> None:
    settings = ServerSettings(processes=3, process=1)
    found = {get("/", settings).headers["location"] for _ in range(200)}
    assert found == {"/n1/", "/n2/", "/n3/"}
    assert get("/n2/", ServerSettings(processes=3, process=2)).status == 200


def test_other_requests_are_answered_by_their_process_only() -> None:
    settings = ServerSettings(processes=2, process=2)
    for path in ("/n2/hv/columns/x", "/hv/columns/x"):
        assert get(path, settings, page=False).body == b"/hv/columns/x"
    assert get("/n1/hv/columns/x", settings, page=False).status == 421
    assert get("/n2/_stcore/stream", settings, "websocket").status == 101


def test_addresses_of_several_processes_open_in_one() -> None:
    answer = get(f"/n7/map?s={PROJECT}", ServerSettings())
    assert (answer.status, answer.headers["location"]) == (307, f"/map?s={PROJECT}")
    assert get(f"/map?s={PROJECT}", ServerSettings()).body == b"/map"


@pytest.mark.parametrize("path", ["/n3//home", "/n3///", "/n3//"])
def test_redirects_stay_on_the_server(path: str) -> None:
    location = get(path, ServerSettings()).headers.get("location", "/")
    assert location.startswith("/") and not location.startswith("//")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/n12/map", (12, "/map")),
        ("/n1", (1, "/")),
        ("/n0/map", (0, "/n0/map")),
        ("/n100/map", (0, "/n100/map")),
        ("/names/map", (0, "/names/map")),
        ("/", (0, "/")),
    ],
)
def test_number_of_a_path(path: str, expected: tuple[int, str]) -> None:
    assert split_number(path) == expected


def test_project_of_another_process_is_not_opened(tmp_path: Path) -> None:
    first, second = Sessions(tmp_path), Sessions(tmp_path)
    first.is_own = lambda project: process_of(project, 2) == 1
    second.is_own = lambda project: process_of(project, 2) == 2
    first.get(PROJECT).do(SetTitle("Kept"))
    first.close()
    with pytest.raises(InUse, match="another process"):
        second.get(PROJECT)
    assert second.find(PROJECT) is None and second.exists(PROJECT)
    assert first.get(PROJECT).state.title == "Kept"
    first.close()


def test_ids_of_sessions_are_of_this_process_without_others() -> None:
    assert Sessions().is_own(new_session_id())

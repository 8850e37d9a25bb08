"""Tests of the limits of uploads."""

from __future__ import annotations

import asyncio
from unittest.mock import MagicMock

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from hetviz.io.limits import MB
from hetviz.ui.app import upload_limits
from hetviz.ui.app.upload_limits import MAX_TAB_BYTES, MAX_VISITOR_BYTES, UploadLimits


class Server:
    """Keeps the size of each upload, as Streamlit keeps its content."""

    def __init__(self, max_bytes: int = 10**10) -> None:
        self.files: dict[str, int] = {}
        self.closed: list[str] = []
        self.begun, self.goes_on = asyncio.Event(), asyncio.Event()
        self.goes_on.set()
        self.limits = UploadLimits(self.take, max_bytes, lambda: self.files, self.release)

    async def take(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.set()
        await self.goes_on.wait()
        size = int(dict(scope["headers"]).get(b"content-length", b"0"))
        tab = scope["path"].split("/")[-2]
        self.files[tab] = self.files.get(tab, 0) + size
        await send({"type": "http.response.start", "status": 204, "headers": []})

    def release(self) -> None:
        for tab in self.closed:
            self.files.pop(tab, None)

    async def put(
        self,
        tab: str,
        size: int | None,
        visitor: str = "ada",
        base: str = "",
        method: str = "PUT",
        in_pieces: bool = False,
    ) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": b"dropped", "more_body": False}

        # With another mask each time, as Streamlit sends it.
        token = generate_xsrf_token_string(visitor.encode(), timestamp=1)
        headers = [(b"cookie", f"_streamlit_xsrf={token}".encode())]
        headers += [] if size is None else [(b"content-length", str(size).encode())]
        headers += [(b"transfer-encoding", b"chunked")] if in_pieces else []
        path = f"{base}/_stcore/upload_file/{tab}/file"
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        await self.limits(scope, receive, send)
        return int(sent[0]["status"])


def test_tab_is_limited() -> None:
    async def upload() -> list[int]:
        server = Server()
        sizes = (MAX_TAB_BYTES - MB, 2 * MB, MB)
        return [await server.put("tab", size, base="/tools/hetviz") for size in sizes]

    assert asyncio.run(upload()) == [204, 413, 204]


def test_visitor_is_limited_over_all_tabs() -> None:
    async def upload() -> list[int]:
        server = Server()
        half = MAX_VISITOR_BYTES // 2
        return [
            await server.put("one", half),
            await server.put("two", half),
            await server.put("three", MB),
            await server.put("of another", MB, visitor="bob"),
        ]

    assert asyncio.run(upload()) == [204, 204, 413, 204]


def test_bytes_of_visitors_are_counted() -> None:
    async def upload() -> list[int]:
        server = Server()
        await server.put("one", 5)
        await server.put("two", 6)
        await server.put("of another", 7, visitor="bob")
        return sorted(upload_limits.visitor_bytes(server.files).values())

    assert asyncio.run(upload()) == [7, 11]


def test_server_is_limited_and_closed_tabs_make_room() -> None:
    async def upload() -> list[int]:
        server = Server(max_bytes=100 * MB)
        answers = [await server.put(f"tab{k}", 40 * MB, visitor=str(k)) for k in range(3)]
        server.closed.append("tab0")
        return [*answers, await server.put("tab2", 40 * MB, visitor="2")]

    assert asyncio.run(upload()) == [204, 204, 503, 204]


def test_uploads_that_arrive_at_once_are_counted() -> None:
    async def upload() -> list[int]:
        server = Server(max_bytes=100 * MB)
        server.goes_on.clear()
        first = asyncio.create_task(server.put("one", 60 * MB))
        await server.begun.wait()
        second = await server.put("two", 60 * MB, visitor="bob")
        server.goes_on.set()
        return [await first, second, await server.put("two", 30 * MB)]

    assert asyncio.run(upload()) == [204, 503, 204]


@pytest.mark.parametrize(("size", "in_pieces"), [(None, False), (None, True), (1, True)])
def test_size_must_be_known(size: int | None, in_pieces: bool) -> None:
    assert asyncio.run(Server().put("tab", size, in_pieces=in_pieces)) == 411


def test_other_requests_pass() -> None:
    assert asyncio.run(Server(max_bytes=0).put("tab", None, method="OPTIONS")) == 204


def test_files_of_closed_tabs_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MemoryUploadedFileManager("/upload")
    for tab in ("open", "closed"):
        manager.add_file(tab, UploadedFileRec("file", "a.csv", "text/csv", b"x" * 10))
    runtime = MagicMock()
    runtime.uploaded_file_mgr = manager
    runtime._session_mgr.get_session_info = {"open": MagicMock()}.get
    monkeypatch.setattr(upload_limits, "get_instance", lambda: runtime)
    assert upload_limits.release_closed_tabs() == 1
    assert upload_limits.stored_bytes() == {"open": 10}

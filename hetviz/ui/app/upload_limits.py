"""Limits of the memory that uploads take, for a tab, a visitor and the server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import get_instance

from hetviz.io.limits import MB
from hetviz.ui.shell.visitors import visitor_of

MAX_TAB_BYTES = 400 * MB
MAX_VISITOR_BYTES = 600 * MB

# The visitor of each tab with uploads.
_visitor_of_tab: dict[str, str] = {}
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)\Z")


class UploadLimits:
    """ASGI middleware that refuses an upload before its content is kept.

    A visitor is a browser. Who pretends to be many still meets the limit of the server.

    `max_bytes`: of the server. `stored`: returns the bytes of the files of each tab. `release`:
    frees the files of closed tabs.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int,
        stored: Callable[[], Mapping[str, int]] | None = None,
        release: Callable[[], object] | None = None,
    ) -> None:
        self._app, self._max_bytes = app, max_bytes
        self._stored = stored_bytes if stored is None else stored
        self._release = release_closed_tabs if release is None else release
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count an upload while it arrives, and pass other requests through."""
        match = _UPLOAD.search(scope.get("path", ""))
        if scope["type"] != "http" or scope["method"] != "PUT" or match is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        # In pieces a body may be longer than a length beside them says.
        if not (length.isascii() and length.isdecimal()) or "transfer-encoding" in headers:
            await PlainTextResponse("The size is missing.", 411)(scope, receive, send)
            return
        tab, size = match[1], int(length)
        visitor = visitor_of(HTTPConnection(scope).cookies)
        refusal = self._refusal(tab, visitor, size)
        if refusal is not None:
            # A browser that is cut off while it sends tells of a broken network instead.
            while (await receive()).get("more_body"):
                pass
            await PlainTextResponse(refusal[1], refusal[0])(scope, receive, send)
            return
        _visitor_of_tab[tab] = visitor
        self._arriving[tab] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._arriving[tab] -= size

    def _refusal(self, tab: str, visitor: str, size: int) -> tuple[int, str] | None:
        self._release()
        self._arriving = +self._arriving
        used = Counter(dict(self._stored())) + self._arriving
        for gone in _visitor_of_tab.keys() - used:
            del _visitor_of_tab[gone]
        of_visitor = visitor_bytes(used)[visitor]
        if used[tab] + size > MAX_TAB_BYTES or of_visitor + size > MAX_VISITOR_BYTES:
            return 413, "These files are too large together. Upload fewer at once."
        if used.total() + size > self._max_bytes:
            return 503, "The server is busy with other uploads. Try again in a minute."
        return None


def stored_bytes() -> dict[str, int]:
    """Return the bytes of the uploaded files of each tab."""
    storage = get_instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined]
    return {
        tab: sum(len(file.data) for file in list(files.values()))
        for tab, files in list(storage.items())
    }


def visitor_bytes(tabs: Mapping[str, int] | None = None) -> Counter[str]:
    """Return the bytes of the uploaded files of each visitor."""
    used: Counter[str] = Counter()
    for tab, n in (stored_bytes() if tabs is None else tabs).items():
        used[_visitor_of_tab.get(tab, "")] += n
    return used


def release_closed_tabs() -> int:
    """Free the files of tabs that were closed and do not come back; return the number of tabs."""
    runtime = get_instance()
    manager = runtime.uploaded_file_mgr
    # A tab that has just lost its connection may come back to its files.
    gone = [tab for tab in stored_bytes() if runtime._session_mgr.get_session_info(tab) is None]
    for tab in gone:
        manager.remove_session_files(tab)
    return len(gone)

"""Places, tabs and messages of visitors."""

from __future__ import annotations

import secrets

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_routes import _ensure_xsrf_cookie
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from hetviz.serve.guard import Access, asks_for_page
from hetviz.serve.visitors import Visitors
from hetviz.ui.shell.visitors import visitor_of

RETRY_S = 20
_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="{retry_s}">
<title>hetviz is full</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 32em; margin: 20vh auto; padding: 0 1em }}
h1 {{ font-size: 1.5em; font-weight: 600 }}
</style>
<h1>All places are taken</h1>
<p>{present} on this server, and it takes no more at once.</p>
<p>This page tries again every {retry_s} seconds. You can leave it open.</p>
<p>Your projects are stored and open as soon as there is a place.</p>
</html>
"""


class VisitorLimit:
    """ASGI middleware that counts visitors and shows those without a place a plain page.

    `access`: with a log-in, only visitors who have signed in take places, so that strangers cannot
    take them all.
    """

    def __init__(
        self, app: ASGIApp, visitors: Visitors, base: str = "", access: Access | None = None
    ) -> None:
        self._app, self._visitors, self._base, self._access = app, visitors, base, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a page or a web socket if there is a place, and pass other requests through."""
        answer: ASGIApp = self._app
        if scope["type"] == "websocket":
            answer = self._open_tab
        elif self._visitors.max_visitors and asks_for_page(scope, self._base):
            answer = self._open_page
        if answer is not self._app and not await self._takes_place(scope):
            answer = self._app
        await answer(scope, receive, send)

    async def _takes_place(self, scope: Scope) -> bool:
        if self._access is None:
            return True
        cookies = HTTPConnection(scope).cookies
        return await run_in_threadpool(self._access.may_request, cookies, None)

    async def _open_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        new_cookie = ""
        visitor = visitor_of(HTTPConnection(scope).cookies)
        if not visitor:
            # The web socket that follows must be known to belong to this page.
            cookie = f"{XSRF_COOKIE_NAME}={generate_xsrf_token_string()}".encode()
            scope = {**scope, "headers": [*scope["headers"], (b"cookie", cookie)]}
            answer = Response()
            _ensure_xsrf_cookie(Request(scope), answer)
            new_cookie = answer.headers.get("set-cookie", "")
            visitor = visitor_of(HTTPConnection(scope).cookies)
        if not self._visitors.admit(visitor):
            await _busy_page(self._visitors.n_present)(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if new_cookie and message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("set-cookie", new_cookie)
            await send(message)

        await self._app(scope, receive, send_with_cookie)

    async def _open_tab(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor = visitor_of(HTTPConnection(scope).cookies) or secrets.token_hex(5)
        if not self._visitors.enter(visitor):
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "All places are taken."})
            return

        async def receive_and_count() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                self._visitors.count_message(visitor)
            return message

        try:
            await self._app(scope, receive_and_count, send)
        finally:
            self._visitors.leave(visitor)


def _busy_page(n_present: int) -> Response:
    present = "1 visitor is" if n_present == 1 else f"{n_present} visitors are"
    page = _PAGE.format(present=present, retry_s=RETRY_S)
    headers = {"Retry-After": str(RETRY_S), "Cache-Control": "no-store"}
    return HTMLResponse(page, 503, headers)

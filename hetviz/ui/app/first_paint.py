"""Style sheet and scripts in the first response.

The layout does not jump when the app loads, and the scripts load at the same time.
"""

from __future__ import annotations

import functools
import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hetviz.ui.app.joined_scripts import join_scripts
from hetviz.ui.map.component import asset_response, asset_version
from hetviz.ui.shell import theme

_HEAD_END = b"</head>"
# Request headers that would make the response partial or compressed.
_DROPPED_HEADERS = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")


class FirstPaint:
    """ASGI middleware that adds the style sheet and the script to the head of every page.

    Otherwise the browser uses the layout of Streamlit until the first run of the script.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the style sheet to pages and pass other responses through."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        wanted = scope.get("method") == "GET" and "text/html" in headers.get("accept", "")
        if not wanted:
            await self._app(scope, receive, send)
            return
        begun: Message | None = None
        body = b""

        async def answer(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start":
                if not is_page(message):
                    await send(message)
                else:
                    begun = message
                return
            if begun is None or message["type"] != "http.response.body":
                await send(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            await _send_page(send, begun, body, "gzip" in headers.get("accept-encoding", ""))

        plain = [(name, value) for name, value in scope["headers"] if name not in _DROPPED_HEADERS]
        await self._app({**scope, "headers": plain}, receive, answer)


def is_page(message: Message) -> bool:
    """Return whether a response is a page."""
    headers = Headers(raw=message["headers"])
    return message["status"] == 200 and headers.get("content-type", "").startswith("text/html")


async def _send_page(send: Send, begun: Message, body: bytes, packed: bool) -> None:
    page = _gzip_page(body) if packed else add_to_head(body)
    headers = MutableHeaders(raw=begun["headers"])
    # These headers describe the page without the style sheet.
    for name in ("etag", "last-modified", "accept-ranges"):
        del headers[name]
    headers["content-length"] = str(len(page))
    headers["vary"] = "Accept-Encoding"
    if packed:
        headers["content-encoding"] = "gzip"
    await send(begun)
    await send({"type": "http.response.body", "body": page})


def add_to_head(page: bytes) -> bytes:
    """Return a page with style sheet and scripts at the end of its head."""
    version = asset_version()
    script = f'<link rel="modulepreload" href="./hv/asset/{version}/component.js">'
    added = f'{script}<style data-hv-version="{version}">{_style_sheet()}</style>'.encode()
    head, tag, body = join_scripts(page).partition(_HEAD_END)
    return head + added + tag + body if tag else page


@functools.lru_cache(maxsize=4)
def _gzip_page(page: bytes) -> bytes:
    return gzip.compress(add_to_head(page), 6, mtime=0)


@functools.cache
def _style_sheet() -> str:
    asset = asset_response("map.css")
    return theme.style_sheet() + ("" if asset is None else asset[0].decode())

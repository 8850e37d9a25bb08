"""Compression of the scripts and styles of Streamlit, which it serves as they are."""

from __future__ import annotations

import asyncio
import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hetviz.memo import Memo

_FOLDER, _ENDINGS = "/static/", (".js", ".css", ".json", ".svg")
# Names contain a hash of the content, so each is compressed once.
_PACKED = Memo(max_size=2.0**25, size_of=lambda packed: len(packed[0]))


class PackedStatic:
    """ASGI middleware that compresses static texts once and keeps the result.

    The scripts that every page loads are one file, see `joined_scripts`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with compressed text if it is wanted, and pass other requests through."""
        path = scope.get("path", "")
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        is_wanted = (
            scope.get("method") == "GET"
            and _FOLDER in path
            and path.endswith(_ENDINGS)
            and "gzip" in headers.get("accept-encoding", "")
            and "range" not in headers
        )
        if not is_wanted:
            await self._app(scope, receive, send)
            return
        cached = _PACKED.get(None, path)
        if cached is not None and "if-none-match" not in headers:
            await _send(send, *cached)
            return
        await self._app(scope, receive, _packing(path, send))


def _packing(path: str, send: Send) -> Send:
    """Return a receiver that sends a complete text compressed, and other responses as they are."""
    begun: Message | None = None
    body = b""

    async def answer(message: Message) -> None:
        nonlocal begun, body
        if message["type"] == "http.response.start":
            is_plain = "content-encoding" not in Headers(raw=message["headers"])
            if message["status"] == 200 and is_plain:
                begun = message
            else:
                await send(message)
        elif begun is None:
            await send(message)
        else:
            body += message.get("body", b"")
            if not message.get("more_body"):
                packed = await asyncio.to_thread(gzip.compress, body, 6, mtime=0)
                headers = MutableHeaders(raw=list(begun["headers"]))
                headers["content-length"] = str(len(packed))
                headers["content-encoding"] = "gzip"
                headers["vary"] = "Accept-Encoding"
                # The mark belongs to the text as it is.
                del headers["etag"]
                del headers["accept-ranges"]
                _PACKED.put(None, path, (packed, headers.raw))
                await _send(send, packed, headers.raw)

    return answer


async def _send(send: Send, packed: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": packed})

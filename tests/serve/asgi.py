"""Single requests to an ASGI application, without a server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes


def ask(
    app: ASGIApp,
    path: str,
    headers: dict[str, str] | None = None,
    kind: str = "http",
    method: str = "GET",
    body: bytes = b"",
) -> Response:
    """Make a request; a web socket that is taken has status 101, a refused one 403."""
    sent: list[Message] = []
    to_send: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    if kind == "websocket":
        to_send = [{"type": "websocket.connect"}]

    async def receive() -> Message:
        if not to_send:
            # The visitor stays.
            await asyncio.Event().wait()
        return to_send.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    plain, _, query = path.partition("?")
    scope: dict[str, Any] = {
        "type": kind,
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http" if kind == "http" else "ws",
        "path": plain,
        "raw_path": plain.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in ({"Host": "localhost:8501"} | (headers or {})).items()
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8501),
        "subprotocols": [],
    }
    if kind == "http":
        scope["method"] = method
    asyncio.run(app(scope, receive, send))
    start = sent[0]
    if kind == "websocket":
        status = {"websocket.accept": 101, "websocket.close": 403}[start["type"]]
        return Response(status, {}, b"")
    body = b"".join(entry.get("body", b"") for entry in sent[1:])
    answered = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Response(start["status"], answered, body)

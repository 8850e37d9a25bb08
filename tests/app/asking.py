"""Asking the app's routes without a server: one request through the same application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from starlette.applications import Starlette
from starlette.types import Message, Scope

from hetviz.ui.app.server import routes


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    address: str, *, method: str = "GET", body: bytes = b"", gzip: bool = False, parts: int = 1
) -> Answer:
    """Make one request; a fault of the app is raised here and never a status of 500."""
    return asyncio.run(asked(address, method, body, gzip, parts))


async def asked(address: str, method: str, body: bytes, gzip: bool, parts: int) -> Answer:
    url = urlsplit(address)
    size = -(-len(body) // parts)
    waiting = [body[k * size : (k + 1) * size] for k in range(parts)]
    sent: list[Message] = []

    async def receive() -> Message:
        if waiting:
            part = waiting.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(waiting)}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(url.path),
        "raw_path": quote(url.path).encode(),
        "query_string": url.query.encode(),
        "root_path": "",
        "headers": [(b"accept-encoding", b"gzip" if gzip else b"identity")],
        "server": ("testserver", 80),
        "client": ("testclient", 1),
    }
    await Starlette(routes=routes())(scope, receive, send)
    head = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], head, b"".join(m.get("body", b"") for m in sent[1:]))

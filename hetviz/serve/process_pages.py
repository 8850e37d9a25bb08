"""ASGI middleware of one of several server processes, see `hetviz.serve.processes`."""

from __future__ import annotations

import secrets
from urllib.parse import parse_qs, quote

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from hetviz.serve.config import ServerSettings
from hetviz.serve.guard import asks_for_page
from hetviz.serve.processes import process_of, split_number

_NUMBER = "hetviz.process"


class ProcessPath:
    """ASGI middleware that removes the number of a process from paths; for `ProcessPages`."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app, self._base = app, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        path = scope.get("path", "")
        if f"{path}/".startswith(f"{self._base}/"):
            number, rest = split_number(path[len(self._base) :] or "/")
            if number:
                inner = f"{self._base}{rest}"
                raw_path = inner.encode("utf-8", "surrogateescape")
                scope = {**scope, "path": inner, "raw_path": raw_path, _NUMBER: number}
        await self._app(scope, receive, send)


class ProcessPages:
    """ASGI middleware that redirects pages to their process.

    An address stays valid if the number of processes changes.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app, self._base = app, settings.base
        self._n, self._own = settings.processes, settings.process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        answer, number = self._app, scope.get(_NUMBER, 0)
        if asks_for_page(scope, self._base):
            wanted = self._number_of_page(scope, number)
            if wanted != number:
                answer = RedirectResponse(self._address(wanted, scope))
        elif self._n > 1 and number not in (0, self._own):
            answer = PlainTextResponse("This address belongs to another process.", 421)
        await answer(scope, receive, send)

    def _number_of_page(self, scope: Scope, number: int) -> int:
        """Return the number in the path of a page, 0 for none."""
        if self._n == 1:
            return 0
        project = parse_qs(scope["query_string"].decode("latin-1")).get("s")
        if project:
            return process_of(project[0], self._n)
        # Visitors who bring no project are spread over the processes.
        return number if 1 <= number <= self._n else secrets.randbelow(self._n) + 1

    def _address(self, number: int, scope: Scope) -> str:
        start = f"{self._base}/n{number}" if number else self._base
        # Two slashes at the start would name another host.
        page = scope["path"][len(self._base) :].lstrip("/")
        path, query = quote(f"{start}/{page}"), scope["query_string"].decode("latin-1")
        return f"{path}?{query}" if query else path

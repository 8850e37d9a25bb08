"""ASGI middleware that checks requests and adds security headers.

Other sites must not reach the app through a visitor's browser. Requests with an unknown Host (DNS
rebinding) or a foreign Origin are rejected. With a log-in every address is closed unless it is
listed as open: those with the key of a project to all who may not open it, others to all who have
not signed in.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Protocol
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hetviz.serve.config import ServerSettings

log = logging.getLogger("hetviz.access")

OWN_PREFIXES = ("/hv/", "/healthz", "/metrics")
"""Prefixes of the paths of hetviz, as opposed to Streamlit's."""
# Open without a log-in: none of them holds anything of a project or a person. The web socket shows
# the page to sign in.
OPEN_PAGES = (
    *("", "start", "home", "data", "map", "compare", "export"),
    *("guidance", "clusters", "predict"),
)
OPEN_PATHS = (
    *(f"/{page}" for page in OPEN_PAGES),
    "/index.html",
    "/favicon.png",
    "/manifest.json",
    "/healthz",
    "/metrics",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/stream",
    "/auth/login",
    "/auth/logout",
    "/oauth2callback",
)
OPEN_PREFIXES = ("/static/", "/hv/asset/", "/hv/script/", "/_stcore/bidi-components/")
LOG_OUT = "/auth/logout"
# Paths of Streamlit that pages do not need: process metrics, remote control.
BLOCKED_PATHS = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}\Z")
# The id of a project opens it, so it is removed from logs.
_KEY = re.compile(r"(?<=/)[A-Za-z0-9_-]{22}(?=/|\Z)")
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_MAX_PATH_LENGTH = 200


class RequestCounter(Protocol):
    """Counter of requests."""

    def count_request(self, kind: str, status: int, seconds: float) -> None: ...


class Access(Protocol):
    """Decides who may do what, by the cookies of a request."""

    def may_request(self, cookies: Mapping[str, str], project: str | None) -> bool:
        """Whether a project may be read, or without one, whether the visitor is signed in."""

    def sign_out(self, cookies: Mapping[str, str]) -> None:
        """End the log-in on the server."""


class RequestGuard:
    """ASGI middleware."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        figures: RequestCounter | None = None,
        access: Access | None = None,
    ) -> None:
        self._app, self._settings, self._figures = app, settings, figures
        self._access = access
        self._headers = answer_headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started_at, headers = time.monotonic(), Headers(scope=scope)
        id, status = self._request_id(headers), 0
        path = self._own_path(scope["path"])

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
                self._add_headers(MutableHeaders(scope=message), id)
            elif message["type"] == "websocket.accept":
                status = 101
            elif message["type"] == "websocket.close" and not status:
                status = 403
            await send(message)

        try:
            rejection = self._rejection(headers, path)
            if rejection is None and self._access is not None:
                rejection = await self._check_access(self._access, scope, path)
            if rejection is None:
                inner = {**scope, "path": path, "hetviz.request": id}
                if path != scope["path"]:
                    inner["raw_path"] = path.encode("utf-8", "surrogateescape")
                await self._app(inner, receive, answer)
            elif scope["type"] == "websocket":
                await receive()
                await answer({"type": "websocket.close", "code": 1008, "reason": rejection[1]})
            else:
                await _send_text(answer, *rejection)
        except Exception:
            # Starlette would answer without the headers, and the log without a status.
            if scope["type"] == "http" and not status:
                await _send_text(answer, 500, "The server failed. Try again.")
            raise
        finally:
            seconds = time.monotonic() - started_at
            kind = "own" if path.startswith(OWN_PREFIXES) else scope["type"]
            method = scope.get("method", "WEBSOCKET")
            _log_request(id, method, path, status, seconds)
            if self._figures is not None:
                self._figures.count_request(kind, status, seconds)

    def _inner_path(self, path: str) -> str:
        """Return the path without the base path."""
        base = self._settings.base
        inside = base and (path == base or path.startswith(f"{base}/"))
        return path.removeprefix(base) or "/" if inside else path

    def _own_path(self, path: str) -> str:
        """Return the path without the base path if it is a path of hetviz."""
        inner = self._inner_path(path)
        return inner if inner.startswith(OWN_PREFIXES) else path

    def _request_id(self, headers: Headers) -> str:
        request_id = headers.get("x-request-id", "") if self._settings.trust_proxy else ""
        return request_id if _REQUEST_ID.match(request_id) else secrets.token_hex(8)

    def _rejection(self, headers: Headers, path: str) -> tuple[int, str] | None:
        # Health checks may use any host name.
        asks_health = path == "/healthz"
        if not asks_health and not is_host_allowed(headers.get("host"), self._settings.hosts):
            return 421, "This host name is not allowed."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host"):
            return 403, "Requests from other sites are not allowed."
        if self._inner_path(path).startswith(BLOCKED_PATHS):
            return 404, "Not found."
        return None

    async def _check_access(
        self, access: Access, scope: Scope, path: str
    ) -> tuple[int, str] | None:
        inner, cookies = self._inner_path(path), HTTPConnection(scope).cookies
        if inner == LOG_OUT:
            await run_in_threadpool(access.sign_out, cookies)
        if is_open(inner):
            return None
        keys = _KEY.findall(inner)
        for key in keys or [None]:
            if not await run_in_threadpool(access.may_request, cookies, key):
                return 404, "Not found."
        return None

    def _add_headers(self, headers: MutableHeaders, id: str) -> None:
        for name, value in self._headers.items():
            headers.setdefault(name, value)
        headers["X-Request-ID"] = id


def is_open(path: str) -> bool:
    """Whether a path below the base path is open without a log-in."""
    return (path.rstrip("/") or "/") in OPEN_PATHS or path.startswith(OPEN_PREFIXES)


def asks_for_page(scope: Scope, base: str) -> bool:
    """Whether a browser asks for a page of the app."""
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and scope["path"].removeprefix(base).strip("/") in OPEN_PAGES
        and "text/html" in Headers(scope=scope).get("accept", "")
    )


def is_host_allowed(host: str | None, allowed: Iterable[str]) -> bool:
    """Whether a Host header matches one of the allowed hosts, with any port."""
    try:
        parts = urlsplit(f"//{host or ''}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not name or parts.netloc != host or parts.username is not None:
        return False
    name = name.lower().rstrip(".")
    return any(
        name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern
        for pattern in (pattern.lower().rstrip(".") for pattern in allowed)
    )


def answer_headers() -> dict[str, str]:
    """Return the default headers of all responses."""
    return {
        "Content-Security-Policy": content_policy(),
        "X-Content-Type-Options": "nosniff",
        # Addresses hold the keys of projects.
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


def content_policy() -> str:
    """Return the Content-Security-Policy of the app's pages."""
    # Streamlit adds styles at run time, so styles cannot have hashes. It loads scripts of
    # components as blobs, and its page has one inline script, which is allowed by hash. Only
    # scripts can create blob and data URLs.
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(["'self'", "blob:", *_inline_hashes()]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "media-src": "'self' blob:",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _inline_hashes() -> list[str]:
    page = resources.files("streamlit").joinpath("static", "index.html").read_bytes()
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
        for script in _INLINE.findall(page)
    ]


async def _send_text(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def _log_request(id: str, method: str, path: str, status: int, seconds: float) -> None:
    """Log a request, without project keys."""
    safe_path = _KEY.sub("-", path)[:_MAX_PATH_LENGTH]
    fields = {"request": id, "method": method, "path": safe_path, "status": status}
    log.info(json.dumps(safe_path), extra={"about": {**fields, "ms": round(1000 * seconds, 1)}})

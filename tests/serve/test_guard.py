"""Tests of request checks: hosts, origins, blocked paths, headers, log."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
from importlib import resources

import pytest
from starlette.types import Message, Receive, Scope, Send

from hetviz.serve.config import ServerSettings
from hetviz.serve.guard import RequestGuard, content_policy, is_host_allowed
from hetviz.serve.records import JsonFormatter, TextFormatter
from tests.serve.asgi import Response, ask

KEY = "AbCdEfGhIjKlMnOpQrStUv"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the path that was asked for."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    if scope["path"] == "/broken":
        raise RuntimeError("/a/path/of/the/server")
    headers = [(b"content-type", b"text/plain"), (b"x-frame-options", b"SAMEORIGIN")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def get(
    path: str = "/", kind: str = "http", settings: ServerSettings | None = None, **h: str
) -> Response:
    headers = {name.replace("_", "-"): value for name, value in h.items()}
    return ask(RequestGuard(app, settings or ServerSettings()), path, headers, kind)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "taken"),
    [
        ("localhost:8501", True),
        ("LOCALHOST.", True),
        ("127.0.0.1", True),
        ("[::1]:8501", True),
        # DNS rebinding.
        ("evil.example", False),
        ("127.0.0.1.evil.example:8501", False),
        ("localhost@evil.example", False),
        ("localhost/x", False),
        ("localhost:99999", False),
        ("", False),
    ],
)
def test_unknown_hosts_are_rejected(kind: str, host: str, taken: bool) -> None:
    assert get(kind=kind, Host=host).status == (
        {"http": 200, "websocket": 101}[kind] if taken else {"http": 421, "websocket": 403}[kind]
    )


def test_wildcard_hosts() -> None:
    assert is_host_allowed("a.lab.org:80", ["*.lab.org"])
    assert not is_host_allowed("lab.org", ["*.lab.org"])
    assert not is_host_allowed("xlab.org", ["*.lab.org"])
    assert not is_host_allowed(None, ["lab.org"])


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("origin", "taken"),
    [
        ("http://localhost:8501", True),
        # A second origin, a second port of the same host, a page without one.
        ("http://evil.example", False),
        ("http://localhost:9000", False),
        ("null", False),
    ],
)
def test_foreign_origins_are_rejected(kind: str, origin: str, taken: bool) -> None:
    good = {"http": 200, "websocket": 101}[kind]
    assert get(kind=kind, Origin=origin).status == (good if taken else 403)


@pytest.mark.parametrize("base", ["", "tools/hetviz"])
@pytest.mark.parametrize(
    "path",
    ["/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/script-health-check"],
)
def test_blocked_paths(base: str, path: str) -> None:
    settings = ServerSettings(base_path=base)
    assert get(settings.base + path, settings=settings).status == 404
    assert get(f"{settings.base}/_stcore/health", settings=settings).status == 200


def test_base_path_is_removed() -> None:
    settings = ServerSettings(base_path="tools/hetviz")
    assert get("/tools/hetviz/hv/array/x/y", settings=settings).body == b"/hv/array/x/y"
    assert get("/tools/hetviz/healthz", settings=settings).body == b"/healthz"
    # Streamlit knows its own.
    assert get("/tools/hetviz/map", settings=settings).body == b"/tools/hetviz/map"
    assert get("/tools/hetvizhv/x", settings=settings).body == b"/tools/hetvizhv/x"


def test_response_headers() -> None:
    result = get().headers
    assert result["x-content-type-options"] == "nosniff"
    assert result["referrer-policy"] == "no-referrer"
    # Responses keep their own headers.
    assert result["x-frame-options"] == "SAMEORIGIN"
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "connect-src 'self'"):
        assert rule in result["content-security-policy"]
    refused = get(Host="evil.example").headers
    assert refused["content-security-policy"] == result["content-security-policy"]


def test_failure_has_headers_and_no_details(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[Message] = []

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def keep(message: Message) -> None:
            sent.append(message)

        # The error goes on to the log of the server.
        with pytest.raises(RuntimeError):
            await RequestGuard(app, ServerSettings())(scope, receive, keep)
        for message in sent:
            await send(message)

    with caplog.at_level(logging.INFO, logger="hetviz.access"):
        result = ask(guarded, "/broken")
    assert (result.status, result.body) == (500, b"The server failed. Try again.")
    assert result.headers["content-security-policy"] == content_policy()
    assert caplog.records[0].about["status"] == 500  # type: ignore[attr-defined]


def test_policy_allows_inline_script_by_hash() -> None:
    policy = content_policy()
    scripts = policy.partition("script-src ")[2].partition(";")[0]
    page = resources.files("streamlit").joinpath("static", "index.html").read_text()
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(inline) == 1
    digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
    assert scripts.split() == ["'self'", "blob:", f"'sha256-{digest}'"]


def test_log_has_request_id_without_key(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="hetviz.access"):
        result = get(f"/hv/array/{KEY}/x?s={KEY}")
    (record,) = caplog.records
    about = record.about  # type: ignore[attr-defined]
    assert about["request"] == result.headers["x-request-id"]
    assert about["path"] == "/hv/array/-/x"
    assert KEY not in caplog.text and KEY not in str(about)


def test_proxy_request_id_needs_trust() -> None:
    trusting = ServerSettings(trust_proxy=True)
    assert get(settings=trusting, X_Request_ID="proxy-0001").headers["x-request-id"] == "proxy-0001"
    assert get(X_Request_ID="proxy-0001").headers["x-request-id"] != "proxy-0001"
    assert get(settings=trusting, X_Request_ID="a\tb").headers["x-request-id"] != "a\tb"


def test_log_has_one_line_for_each_request() -> None:
    path = "/a\nINFO forged\x1b[2J\u2028b"
    for words, about in (("x", {"path": path}), (path, None)):
        record = logging.LogRecord("hetviz", logging.INFO, "", 0, words, (), None)
        if about is not None:
            record.about = about
        for formatter in (JsonFormatter(), TextFormatter("%(message)s")):
            line = formatter.format(record)
            assert line.isprintable() and "forged" in line

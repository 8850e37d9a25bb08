"""Tests of compressed scripts and styles."""

from __future__ import annotations

import gzip

import pytest
from starlette.types import Receive, Scope, Send

from hetviz.ui.app.packed_static import PackedStatic
from tests.serve.asgi import ask

SCRIPT = b"const a = 1;\n" * 500
WISH = {"Accept-Encoding": "gzip, br"}


class Static:
    """Answers like Streamlit, in two pieces, and counts the requests."""

    def __init__(self) -> None:
        self.n_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.n_requests += 1
        headers = [
            (b"content-type", b"text/javascript"),
            (b"content-length", str(len(SCRIPT)).encode()),
            (b"cache-control", b"public, immutable, max-age=31536000"),
            (b"etag", b'"plain"'),
        ]
        is_known = b"if-none-match" in dict(scope["headers"])
        status = 304 if is_known else 404 if "missing" in scope["path"] else 200
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": SCRIPT[:99], "more_body": True})
        await send({"type": "http.response.body", "body": SCRIPT[99:]})


@pytest.mark.parametrize("prefix", ["", "/team/hetviz"])
def test_scripts_are_compressed_once(prefix: str) -> None:
    inner = Static()
    path = f"{prefix}/static/js/once.abc123.js"
    for _ in range(3):
        heard = ask(PackedStatic(inner), path, WISH)
        assert heard.status == 200
        assert gzip.decompress(heard.body) == SCRIPT
        assert heard.headers["content-encoding"] == "gzip"
        assert int(heard.headers["content-length"]) == len(heard.body) < len(SCRIPT) / 10
        assert heard.headers["cache-control"] == "public, immutable, max-age=31536000"
        assert heard.headers["vary"] == "Accept-Encoding"
        assert "etag" not in heard.headers
    assert inner.n_requests == 1


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/static/js/plain.abc123.js", {"Accept-Encoding": "identity"}),
        ("/static/js/part.abc123.js", {"Range": "bytes=0-9"}),
        ("/static/js/known.abc123.js", {"If-None-Match": '"plain"'}),
        ("/static/js/missing.abc123.js", {}),
        ("/static/media/font.abc123.woff2", {}),
        ("/media/file.js", {}),
    ],
)
def test_other_responses_are_unchanged(path: str, more: dict[str, str]) -> None:
    heard = ask(PackedStatic(Static()), path, WISH | more)
    assert (heard.body, heard.headers["etag"]) == (SCRIPT, '"plain"')
    assert "content-encoding" not in heard.headers

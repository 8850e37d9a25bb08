"""Tests of the style sheet in the first response."""

from __future__ import annotations

import gzip

import pytest
from starlette.types import Receive, Scope, Send

from hetviz.ui.app.first_paint import FirstPaint
from hetviz.ui.map.component import asset_version
from tests.serve.asgi import ask

PAGE = b"<html><head><title>x</title></head><body></body></html>"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer as Streamlit does: a page for every path but /data.json, in two pieces."""
    sent = dict(scope["headers"])
    kind = b"application/json" if scope["path"] == "/data.json" else b"text/html; charset=utf-8"
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(PAGE)).encode()),
        (b"etag", b'"old"'),
    ]
    status = 304 if b"if-none-match" in sent else 200
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": PAGE[:20], "more_body": True})
    await send({"type": "http.response.body", "body": PAGE[20:]})


@pytest.mark.parametrize("packed", [False, True])
def test_page_has_style_in_head(packed: bool) -> None:
    wish = {"Accept": "text/html", "If-None-Match": '"old"'}
    heard = ask(FirstPaint(app), "/map", wish | ({"Accept-Encoding": "gzip"} if packed else {}))
    body = gzip.decompress(heard.body) if packed else heard.body
    head, _, rest = body.partition(b"</style></head>")
    assert rest == b"<body></body></html>"
    assert b'<title>x</title><link rel="modulepreload" href="./hv/asset/' in head
    assert f'/component.js"><style data-hv-version="{asset_version()}">:root{{'.encode() in head
    assert b".st-key-top{" in head
    assert b".hv-map[data-stage]" in head
    # It is another page than the one that the mark and the length belong to.
    assert heard.status == 200
    assert "etag" not in heard.headers
    assert int(heard.headers["content-length"]) == len(heard.body)


@pytest.mark.parametrize(
    ("path", "accepted"), [("/data.json", "text/html"), ("/map", "application/json")]
)
def test_other_responses_are_unchanged(path: str, accepted: str) -> None:
    heard = ask(FirstPaint(app), path, {"Accept": accepted})
    assert (heard.body, heard.headers["etag"]) == (PAGE, '"old"')

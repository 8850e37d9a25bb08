"""Tests of the page that visitors see when all places are taken, through the app's routes."""

from __future__ import annotations

import pytest
import streamlit as st
from starlette.applications import Starlette
from streamlit.runtime import Runtime

from hetviz.serve.visitors import KEEP_PLACE_S, Visitors
from hetviz.ui.app import server
from tests.serve.asgi import Response, ask

PAGE = {"Accept": "text/html,*/*;q=.8"}


@pytest.fixture
def visitors() -> Visitors:
    return Visitors(2)


@pytest.fixture
def app(visitors: Visitors, monkeypatch: pytest.MonkeyPatch) -> Starlette:
    monkeypatch.setattr(server, "VISITORS", visitors)
    monkeypatch.setattr(Runtime, "_instance", None)
    return st.App(
        server.ROUTER, routes=server.routes(), middleware=server.middleware()
    )._build_starlette_app()


def cookie_of(answer: Response) -> dict[str, str]:
    """Return the headers of the next page of this browser."""
    return PAGE | {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_visitor_without_a_place_sees_a_plain_page(app: Starlette) -> None:
    first, second, third = (ask(app, "/map", PAGE) for _ in range(3))
    assert (first.status, second.status, third.status) == (200, 200, 503)
    assert third.headers["retry-after"] == "20" and third.headers["cache-control"] == "no-store"
    assert "set-cookie" not in third.headers
    # The guard is in front of this page, too.
    assert third.headers["x-frame-options"] == "DENY"
    page = third.body.decode()
    assert "2 visitors are on this server" in page
    assert '<meta http-equiv="refresh" content="20">' in page
    assert "script" not in page
    # Those who are in load any page again.
    for answer in (first, second):
        assert ask(app, "/", cookie_of(answer)).status == 200
    assert ask(app, "/", PAGE | {"Cookie": "_streamlit_xsrf=2|x"}).status == 503


def test_other_addresses_need_no_place(app: Starlette, visitors: Visitors) -> None:
    assert visitors.enter("ada") and visitors.enter("bob")
    assert ask(app, "/data", PAGE).status == 503
    for path in ("/healthz", "/_stcore/host-config", "/favicon.png"):
        assert ask(app, path, PAGE).status == 200
    # Programs that watch the server do not wait for a page.
    assert ask(app, "/", {"Accept": "*/*"}).status == 200
    assert ask(app, "/data", PAGE, method="HEAD").status == 200


def test_place_of_a_page_is_that_of_its_web_socket(app: Starlette, visitors: Visitors) -> None:
    answer = ask(app, "/map", PAGE)
    assert visitors.enter("ada")

    def opens_tab(headers: dict[str, str]) -> bool:
        try:
            return ask(app, "/_stcore/stream", headers, "websocket").status == 101
        except RuntimeError:
            # Accepted: only a running server has sessions.
            return True

    assert not opens_tab({})
    assert opens_tab(cookie_of(answer)) and opens_tab(cookie_of(answer))
    assert visitors.n_present == 2


def test_places_of_visitors_who_left_are_free(
    app: Starlette, visitors: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(visitors, "_clock", lambda: now)
    assert [ask(app, "/", PAGE).status for _ in range(3)] == [200, 200, 503]
    now += KEEP_PLACE_S
    assert [ask(app, "/", PAGE).status for _ in range(3)] == [200, 200, 503]

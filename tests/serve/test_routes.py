"""Tests of who may request what: every route of the server, by every kind of person."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import streamlit as st
from itsdangerous import TimestampSigner
from starlette.applications import Starlette
from streamlit import config as streamlit_config
from streamlit.runtime import Runtime
from streamlit.web.server.starlette.starlette_app_utils import (
    AUTH_COOKIE_MAX_AGE_SECONDS,
    create_signed_value,
    generate_xsrf_token_string,
)
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from hetviz.serve.config import settings
from hetviz.serve.guard import OPEN_PAGES
from hetviz.serve.people import login_of, person_of
from hetviz.ui.app import frame, server
from hetviz.ui.item import pictures
from hetviz.ui.map.component import asset_version
from hetviz.ui.shell import people
from hetviz.ui.shell.visitors import VISITORS
from hetviz.workspace import SESSIONS
from hetviz.workspace.sessions import Sessions
from hetviz.workspace.store.files import new_session_id
from tests.app.test_map_routes import example
from tests.serve.asgi import Response, ask

SECRET = "0123456789abcdef" * 4
ISSUER = "https://provider.example"
BASES = ("", "tools/hetviz")

MEMBERS = {"owner", "editor", "viewer"}
SIGNED_IN = MEMBERS | {"stranger", "revoked"}
OTHERS = {"anonymous", "signed out", "without role", "forged"}
EVERYONE = SIGNED_IN | OTHERS
NO_PERSON: set[str] = set()

# Route, as registered below the base path: who may request it.
EXPECTED = {
    "/hv/asset/{version}/{file}": EVERYONE,
    "/hv/script/{version}/{file}": EVERYONE,
    "/hv/array/{session}/{key}": MEMBERS,
    "/hv/frame/{session}/{job}": MEMBERS,
    "/hv/items/{session}": MEMBERS,
    "/hv/search/{session}": MEMBERS,
    "/hv/matches/{session}": MEMBERS,
    "/hv/thumbnails/{session}": MEMBERS,
    "/hv/trust/{session}": MEMBERS,
    "/hv/regions/{session}": MEMBERS,
    "/hv/clusters/{session}": MEMBERS,
    "/hv/item/{session}/{part}": MEMBERS,
    "/hv/panel/{session}/{row}": MEMBERS,
    "/hv/links/{session}": MEMBERS,
    "/hv/people/{session}": MEMBERS,
    "/hv/chart/{session}": MEMBERS,
    "/hv/columns/{session}": MEMBERS,
    "/hv/geography/{session}": MEMBERS,
    "/hv/rows/{session}": MEMBERS,
    "/hv/sorted/{session}": MEMBERS,
    "/hv/cells/{session}": MEMBERS,
    "/hv/picture/{session}/{row:int}/{dataset:path}": MEMBERS,
    "/hv/tab/{view}/{tab}": SIGNED_IN,
    "/healthz": EVERYONE,
    "/metrics": EVERYONE,
    "/_stcore/health": EVERYONE,
    "/_stcore/host-config": EVERYONE,
    "/_stcore/bidi-components/{path:path}": EVERYONE,
    # The page asks to sign in.
    "/_stcore/stream": EVERYONE,
    "/auth/login": EVERYONE,
    "/auth/logout": EVERYONE,
    "/oauth2callback": EVERYONE,
    "/media/{file_id:path}": SIGNED_IN,
    "/component/{path:path}": SIGNED_IN,
    "/_stcore/upload_file/{session_id}/{file_id}": SIGNED_IN,
    "/_stcore/metrics": NO_PERSON,
    "/_stcore/agent/interact": NO_PERSON,
    "/_stcore/agent/openapi.json": NO_PERSON,
    "/_stcore/agent/mcp": NO_PERSON,
    # The files of Streamlit, and its page for all other addresses.
    "/": EVERYONE,
}
# Addresses without a route of their own.
UNROUTED = {
    **{f"/{page}": EVERYONE for page in OPEN_PAGES},
    "/map/": EVERYONE,
    "/favicon.png": EVERYONE,
    "/static/none.js": EVERYONE,
    "/a-page-to-come": SIGNED_IN,
    "/picture/{session}/0/words": MEMBERS,
    "/to-come/{session}": MEMBERS,
    "/to-come/{session}/{other}": NO_PERSON,
    "/hv/to-come": SIGNED_IN,
}


@dataclass
class Site:
    """The app with a log-in, a project, and the cookie of each kind of person."""

    app: Starlette
    base: str
    project: str
    cookies: dict[str, str] = field(default_factory=dict)

    def routes(self) -> dict[str, set[str]]:
        """Return the methods of each registered route, without the base path."""
        found: dict[str, set[str]] = {}
        for route in self.app.routes:
            path = route.path.removeprefix(self.base) or "/"  # type: ignore[attr-defined]
            methods = getattr(route, "methods", None)
            kind = type(route).__name__
            methods = {"websocket"} if kind == "WebSocketRoute" else methods or {"GET"}
            found[path] = found.get(path, set()) | methods
        return found

    def request(self, address: str, person: str, method: str = "GET") -> Response:
        headers = {"Cookie": self.cookies[person]} if self.cookies[person] else {}
        kind = "websocket" if method == "websocket" else "http"
        return ask(self.app, self.base + address, headers, kind, method=method)

    def is_refused(self, address: str, person: str, method: str = "GET") -> bool:
        """Whether the guard refuses a request, as opposed to a route that finds nothing."""
        if method == "websocket":
            try:
                return self.request(address, person, method).status == 403
            except RuntimeError as error:
                # Accepted: only a running server has sessions.
                if "started" not in str(error):
                    raise
                return False
        answer = self.request(address, person, method)
        return answer.status == 404 and answer.body == b"Not found."


def claims(name: str, login: str = "one", role: str = "staff") -> dict[str, object]:
    about = {"iss": ISSUER, "sub": name, "name": name, "iat": int(time.time()), "nonce": login}
    return about | {"roles": [role], "is_logged_in": True, "origin": "http://localhost:8501"}


def cookie(about: dict[str, object], secret: str = SECRET) -> str:
    value = create_signed_value(secret, USER_COOKIE_NAME, json.dumps(about))
    return f"{USER_COOKIE_NAME}={value.decode()}"


def id_of(name: str) -> str:
    return f"{ISSUER}|{name}"


@pytest.fixture(params=BASES, ids=["root", "below"])
def site(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    base = str(request.param)
    oidc = {
        "METADATA_URL": f"{ISSUER}/.well-known/openid-configuration",
        "CLIENT_ID": "hetviz",
        "CLIENT_SECRET": "secret",
        "REDIRECT_URI": f"http://localhost:8501{'/' + base if base else ''}/oauth2callback",
        "COOKIE_SECRET": SECRET,
        "REQUIRED_ROLE": "staff",
    }
    for name, value in oidc.items():
        monkeypatch.setenv(f"HETVIZ_OIDC_{name}", value)
    monkeypatch.setenv("HETVIZ_AUTH", "oidc")
    monkeypatch.setenv("HETVIZ_BASE_PATH", base)
    monkeypatch.setenv("HETVIZ_METRICS", "true")
    own = Sessions(tmp_path / "sessions")
    for name in ("_folder", "_requested_folder", "_durable"):
        monkeypatch.setattr(SESSIONS, name, getattr(own, name))
    monkeypatch.setattr(SESSIONS, "_slots", {})
    monkeypatch.setattr(Runtime, "_instance", None)
    options = {"server.baseUrlPath": base, "server.cookieSecret": SECRET}
    before = {name: streamlit_config.get_option(name) for name in options}
    settings.cache_clear()
    try:
        for name, value in options.items():
            streamlit_config.set_option(name, value)
        app = st.App(
            server.ROUTER, routes=server.routes(), middleware=server.middleware()
        )._build_starlette_app()
        yield with_people(Site(app, settings().base, new_session_id()))
    finally:
        people.get_people().close()
        for name, value in before.items():
            streamlit_config.set_option(name, value)
        settings.cache_clear()


def with_people(site: Site) -> Site:
    SESSIONS.get(site.project).state = example()
    store = people.get_people()
    store.set_owner(id_of("ada"), site.project)
    for name, can in (("bob", "edit"), ("cleo", "look"), ("eve", "edit")):
        key = store.create_link(id_of("ada"), site.project, can)  # type: ignore[arg-type]
        store.accept_link(id_of(name), key)
    store.revoke_link(id_of("ada"), site.project, store.links(id_of("ada"), site.project)[-1].hash)
    earlier = claims("ada", login="earlier")
    person = person_of(earlier)
    assert person is not None
    store.record_visit(person, login_of(earlier))
    store.end_login(login_of(earlier), person.id)
    site.cookies = {
        "owner": cookie(claims("ada")),
        "editor": cookie(claims("bob")),
        "viewer": cookie(claims("cleo")),
        "stranger": cookie(claims("dan")),
        "revoked": cookie(claims("eve")),
        "anonymous": "",
        "signed out": cookie(earlier),
        "without role": cookie(claims("bob", login="guest", role="guest")),
        "forged": cookie(claims("ada"), secret="f" * 64),
    }
    return site


def address_of(route: str, project: str) -> str:
    """Return an address of a route, with the key of the project."""
    values = {
        "session": project,
        "other": new_session_id(),
        "version": asset_version(),
        "file": "map.js",
        "row": "0",
        "dataset": "food, cold",
    }
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda part: values.get(part[1], "x"), route)


def test_every_route_has_an_expectation(site: Site) -> None:
    assert set(site.routes()) == set(EXPECTED)


def test_every_route_by_every_person(site: Site) -> None:
    assert set(site.cookies) == EVERYONE
    wrong = []
    for route, methods in [*site.routes().items(), *((path, {"GET"}) for path in UNROUTED)]:
        expected = {**UNROUTED, **EXPECTED}[route]
        address = address_of(route, site.project)
        for person in sorted(EVERYONE):
            for method in sorted(methods):
                # Signing out ends the login, which others are still tested with.
                if route == "/auth/logout" and person in SIGNED_IN:
                    continue
                if site.is_refused(address, person, method) is (person in expected):
                    wrong.append(f"{method} {address}: {person}")
    assert not wrong


def test_members_get_content(site: Site) -> None:
    for path in ("items/{}?rows=0", "search/{}?q=clair", "thumbnails/{}?rows=0"):
        address = f"/hv/{path.format(site.project)}"
        assert site.request(address, "viewer").status == 200
        assert site.request(address, "revoked").status == 404


def test_pictures_are_served_below_the_base_path(site: Site) -> None:
    data = SESSIONS.get(site.project).state.opened()
    address = pictures.picture_address(site.project, data, "food, cold", 0)
    assert address is not None and address.startswith(f"{site.base}/hv/picture/")
    address = address.removeprefix(site.base).replace("%2C", ",").replace("%20", " ")
    for person in sorted(EVERYONE):
        answer = site.request(address, person)
        assert (answer.status == 200) is (person in MEMBERS), person
        assert answer.body.startswith(b"\x89PNG") is (person in MEMBERS), person


def test_pages_are_open(site: Site) -> None:
    assert set(OPEN_PAGES) == {*frame.PLACE_OF, "start"}


def test_only_who_signed_in_takes_a_place(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VISITORS, "max_visitors", 1)
    monkeypatch.setattr(VISITORS, "_visits", {})

    def page(person: str) -> int:
        token = f"_streamlit_xsrf={generate_xsrf_token_string(person.encode())}"
        headers = {"Accept": "text/html", "Cookie": f"{site.cookies[person]}; {token}"}
        return ask(site.app, f"{site.base}/map", headers).status

    people = ("anonymous", "forged", "signed out", "owner", "editor", "owner", "anonymous")
    assert [page(person) for person in people] == [200, 200, 200, 200, 503, 200, 200]


def test_sign_out_ends_login_for_all_copies_of_its_cookie(site: Site) -> None:
    address = f"/hv/search/{site.project}?q=a"
    again = cookie(claims("ada", login="two"))
    assert site.request(address, "owner").status == 200
    site.request("/auth/logout", "owner")
    assert site.request(address, "owner").status == 404
    # The next login is another one.
    site.cookies["owner"] = again
    assert site.request(address, "owner").status == 200
    # Others keep theirs.
    assert site.request(address, "editor").status == 200


def test_log_in_lasts_thirty_days(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    assert AUTH_COOKIE_MAX_AGE_SECONDS == 30 * 86_400
    now = int(time.time())
    address = f"/hv/search/{site.project}?q=a"
    # The browser drops the cookie; of a copy the server takes a day more.
    for days, status in ((29, 200), (32, 404)):
        then = now - days * 86_400
        monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _, then=then: then)
        site.cookies["owner"] = cookie(claims("ada"))
        monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now)
        assert site.request(address, "owner").status == status


def test_members_see_selections_of_others_under_their_own_names(site: Site) -> None:
    def exchange(person: str, rows: list[int] | None) -> object:
        fields = {"page": person, "name": "Someone else", "fingerprint": "f", "count": 1}
        headers = {"Cookie": site.cookies[person]}
        body = json.dumps({**fields, "rows": rows}).encode()
        address = f"{site.base}/hv/people/{site.project}"
        answer = ask(site.app, address, headers, method="POST", body=body)
        return json.loads(answer.body)["others"] if answer.status == 200 else answer.status

    assert exchange("owner", [0]) == []
    assert exchange("viewer", [1]) == [{"name": "ada", "rows": [0], "count": 1}]
    assert exchange("editor", None) == [
        {"name": name, "rows": [row], "count": 1} for row, name in enumerate(["ada", "cleo"])
    ]
    assert [exchange(person, None) for person in ("stranger", "revoked", "anonymous")] == [404] * 3
    # Who loses access is not seen any more.
    store = people.get_people()
    store.revoke(site.project)
    assert exchange("viewer", [1]) == 404
    assert exchange("owner", None) == []

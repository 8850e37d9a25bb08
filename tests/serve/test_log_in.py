"""Test of login with a real provider process, sharing and revoking."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

import pytest

from hetviz.workspace.store.files import new_session_id
from tests.browser.harness import ROOT, Server, free_port, free_ports, healthy, serve, serve_with
from tests.lasting.visitor import Visitor
from tests.waits import PATIENCE_S, wait_until

pytest.importorskip("authlib")

CLIENT, SECRET = "hetviz", "a-secret-of-the-client"
COOKIE_SECRET = "0123456789abcdef" * 4


def has_text(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def provider() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "tests.serve.provider", str(port), CLIENT, SECRET]
    process = subprocess.Popen(command, cwd=ROOT)
    url = f"http://127.0.0.1:{port}"
    try:
        assert wait_until(lambda: has_text(f"{url}/.well-known/openid-configuration"))
        yield url
    finally:
        process.terminate()
        process.wait()


def settings(home: Path, issuer: str, port: int) -> dict[str, str]:
    """Return the settings of a server that has people log in."""
    return {
        "HETVIZ_HOME": str(home),
        "HETVIZ_AUTH": "oidc",
        "HETVIZ_LOG": "json",
        "HETVIZ_OIDC_METADATA_URL": f"{issuer}/.well-known/openid-configuration",
        "HETVIZ_OIDC_CLIENT_ID": CLIENT,
        "HETVIZ_OIDC_CLIENT_SECRET": SECRET,
        "HETVIZ_OIDC_REDIRECT_URI": f"http://127.0.0.1:{port}/oauth2callback",
        "HETVIZ_OIDC_COOKIE_SECRET": COOKIE_SECRET,
        "HETVIZ_OIDC_REQUIRED_ROLE": "staff",
    }


@contextmanager
def oidc_server(home: Path, issuer: str) -> Iterator[Server]:
    port = free_port()
    env = {
        **settings(home, issuer, port),
        "STREAMLIT_SERVER_COOKIE_SECRET": COOKIE_SECRET,
    }
    with serve(ROOT / "app.py", home / "server.log", env=env, port=port) as server:
        yield server


def log_in(server: Server, issuer: str, name: str) -> Visitor:
    """Return somebody who has logged in."""
    visitor = Visitor(server.url, "data")
    visitor.come()
    assert visitor.has("Sign in") and not visitor.sid
    with visitor._http.open(f"{issuer}/as/{name}", timeout=PATIENCE_S):
        pass
    visitor.press("Sign in")
    assert visitor.sent_to.startswith("/auth/login")
    host = urljoin(server.url, "/")
    with visitor._http.open(server.url + visitor.sent_to, timeout=PATIENCE_S) as answer:
        assert answer.status == 200 and answer.url.startswith(host)
    visitor.leave()
    return visitor.come()


def link_of(visitor: Visitor) -> str:
    """Return the query of the share link that the page shows."""
    result = [re.search(r"share=[A-Za-z0-9_-]+", str(element)) for element in visitor.shown]
    return next(match.group(0) for match in result if match)


def status(visitor: Visitor, path: str) -> int:
    try:
        with visitor._http.open(visitor.url + path, timeout=PATIENCE_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_project_is_shared_and_revoked(tmp_path: Path) -> None:
    with provider() as issuer, oidc_server(tmp_path, issuer) as server:
        ada, bob = log_in(server, issuer, "ada"), log_in(server, issuer, "bob")
        assert ada.has("Ada") and bob.has("Bob") and ada.sid != bob.sid
        items = f"/hv/search/{ada.sid}?q=a"
        assert status(ada, items) == 200

        # A private project of another person is not accessible by its id.
        own_values, stranger = bob.sid, Visitor(server.url, "data")
        bob.sid = ada.sid
        bob.run()
        assert bob.sid == own_values
        assert status(bob, items) == 404 and status(stranger, items) == 404
        bob.query = "share=" + new_session_id()
        bob.run()
        assert bob.has("does not work") and bob.sid == own_values

        # A link to look: seen, not changed.
        ada.press("New view link")
        link = link_of(ada)
        bob.query = link
        bob.run()
        assert bob.sid == ada.sid and bob.has("View only") and status(bob, items) == 200
        title = "Taken over by Bob"
        bob.say("Project name", title)
        assert bob.has("You may look at this project")
        ada.run()
        assert not ada.has(title)
        bob.say("Comment", "Is this one right?")
        bob.press("Add")
        ada.run()
        assert ada.has("Is this one right?")

        # Taken back: at the next run it is closed, and its address answers no more.
        ada.press("Revoke")
        bob.run()
        assert bob.sid == own_values and status(bob, items) == 404
        bob.query = link
        bob.run()
        assert bob.has("does not work") and bob.sid == own_values

        # A link to edit lets edit.
        ada.press("New edit link")
        bob.query = link_of(ada)
        bob.run()
        bob.say("Project name", "By both of us")
        ada.run()
        assert ada.has("By both of us") and not bob.has("New edit link")

        # Known to the provider, but without the role.
        eve = log_in(server, issuer, "eve")
        assert eve.has("no role that may use hetviz") and not eve.sid

        # Signed out: other tabs and copies of the cookie are refused, before the browser drops it.
        tab = Visitor(server.url, "map", sid=ada.sid)
        for one in bob._cookies:
            tab._cookies.set_cookie(one)
        tab.come()
        assert tab.has("By both of us") and status(tab, items) == 200
        bob.press("Sign out")
        tab.run()
        assert tab.has("Sign in") and not tab.has("By both of us") and status(tab, items) == 404
        with bob._http.open(server.url + bob.sent_to, timeout=PATIENCE_S):
            pass
        assert status(bob, items) == 404
        assert log_in(server, issuer, "bob").has("Bob")
        for visitor in (ada, bob, tab, eve):
            visitor.leave()
        log = (tmp_path / "server.log").read_text()
        assert ada.sid not in log and own_values not in log and SECRET not in log
        assert ada.sid not in (tmp_path / "audit.jsonl").read_text()
        lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
        events = {line["event"] for line in lines}
        assert events >= {
            "come",
            "begin",
            "share",
            "link-used",
            "link-refused",
            "take-back",
            "leave",
        }


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_log_in_holds_in_all_processes(tmp_path: Path) -> None:
    port = free_ports(3)
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "hetviz", "serve", "--processes", "2"]
    with provider() as issuer:
        env = {**settings(tmp_path, issuer, port), "HETVIZ_PORT": str(port)}
        with serve_with(command, url, tmp_path / "server.log", env) as server:
            first, second = f"{url}/n1", f"{url}/n2"
            assert wait_until(lambda: healthy(first) and healthy(second))
            ada = log_in(replace(server, url=first), issuer, "ada")
            bob = log_in(replace(server, url=second), issuer, "bob")
            # The log-in holds in the other process, which leads to the one of the project.
            beside = Visitor(second, "data")
            for one in ada._cookies:
                beside._cookies.set_cookie(one)
            beside.come()
            assert beside.part("recent") == {"elsewhere": ada.sid}
            items = f"/hv/search/{ada.sid}?q=a"
            assert [status(visitor, items) for visitor in (ada, beside, bob)] == [200, 404, 404]
            beside.url = bob.url = first
            stranger = Visitor(first, "data")
            assert [status(one, items) for one in (beside, bob, stranger)] == [200, 404, 404]
            # Signing out in one process ends the log-in in both.
            ada.press("Sign out")
            beside.run()
            assert beside.has("Sign in")
            assert [status(visitor, items) for visitor in (ada, beside)] == [404, 404]
            for visitor in (ada, bob, beside):
                visitor.leave()

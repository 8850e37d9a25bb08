"""Tests of the harness: it detects problems and reports no false ones."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import (
    LOOKS,
    Look,
    Open,
    Picture,
    Server,
    Watch,
    serve,
    session_members,
    wait_in,
)

SCRIPT = """
import streamlit as st

def home():
    st.title("A small page")
    st.write(f"theme: {st.context.theme.type}")

st.navigation([
    st.Page(home, title="Home", default=True),
    st.Page(lambda: st.title("Another"), title="Other", url_path="other"),
]).run()
"""


@pytest.fixture(scope="module")
def small_app(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("small_app")
    script = folder / "small.py"
    script.write_text(SCRIPT)
    with serve(script, folder / "server.log") as running:
        yield running


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[-1]], indirect=True, ids=str)
def test_page_uses_requested_theme(
    small_app: Server,
    open_page: Open,
    picture: Picture,
    look: Look,
) -> None:
    page = open_page(small_app.url)
    page.goto("/")
    expect(page.get_by_text("A small page")).to_be_visible()
    expect(page.get_by_text(f"theme: {look.scheme}")).to_be_visible()
    assert page.viewport_size == {"width": look.width, "height": look.height}
    assert picture(page, "harness").stat().st_size > 0


def test_deep_link_has_no_problems(small_app: Server, open_page: Open) -> None:
    page = open_page(small_app.url)
    page.goto("/other")
    expect(page.get_by_role("heading", name="Another")).to_be_visible()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("console.error('oh dear')", "console: oh dear"),
        ("setTimeout(() => { throw new Error('lost') })", "page error: lost"),
        ("fetch('/media/nowhere.png')", "404"),
        ("fetch('http://127.0.0.1:1/').catch(() => 0)", "request to another place"),
    ],
)
def test_problems_are_detected(
    small_app: Server, browser: Browser, script: str, problem: str
) -> None:
    page = browser.new_page()
    page.goto(f"{small_app.url}/_stcore/health")
    watch = Watch(small_app.url)
    watch.follow(page)
    page.evaluate(f"() => {{ {script} }}")
    wait_in(page, lambda: problem in " ".join(watch.problems))
    page.close()


def test_webgl_is_available(small_app: Server, open_page: Open) -> None:
    page = open_page(small_app.url)
    page.goto("/")
    assert page.evaluate("!!document.createElement('canvas').getContext('webgl')")


def test_leftover_process_is_detected(tmp_path: Path) -> None:
    script = tmp_path / "leaves.py"
    script.write_text(
        "import subprocess, sys\nimport streamlit as st\n"
        "app = st.App(__file__.replace('leaves', 'empty'))\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
    )
    (tmp_path / "empty.py").write_text("")
    left = pytest.raises(AssertionError, match="left processes behind")
    with left, serve(script, tmp_path / "server.log", grace_s=2) as running:
        pass
    for pid in session_members(running.pid):
        os.kill(pid, signal.SIGKILL)


def test_broken_script_is_reported(tmp_path: Path) -> None:
    ended = pytest.raises(RuntimeError, match="ended at once")
    with ended, serve(tmp_path / "absent.py", tmp_path / "server.log"):
        pass

"""Browser tests of reloads, several tabs, killed workers and killed servers."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.browser.harness import (
    ARTIFACTS,
    ROOT,
    Open,
    Server,
    free_port,
    free_ports,
    new_context,
    serve,
    serve_with,
    session_members,
    wait_in,
)
from tests.browser.test_app import SELECTED, drag, make_map, scene_value, settled, stage
from tests.waits import wait_until

# A method that needs no time: what is tested are the workers.
QUICK = "Principal components"


def ready(page: Page) -> None:
    # Hidden while items are selected.
    expect(page.locator(".st-key-new-map")).to_be_attached()
    stage(page)
    settled(page)


def rename(page: Page, title: str) -> None:
    page.locator(".st-key-project button").first.click()
    box = page.get_by_label("Project name")
    box.fill(title)
    box.press("Enter")
    expect(page.locator(".st-key-project").get_by_text(title)).to_be_visible()
    page.keyboard.press("Escape")
    settled(page)


def test_edit_is_shown_in_other_tab(page: Page) -> None:
    page.goto("/map")
    ready(page)
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    rename(page, "Signs of feeling")
    expect(other.locator(".st-key-project").get_by_text("Signs of feeling")).to_be_visible()
    other.get_by_role("button", name="Undo project name").click()
    expect(page.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()
    settled(page)
    settled(other)


def test_visitors_are_isolated(open_page: Open, server: Server) -> None:
    one, two = open_page(server.url), open_page(server.url)
    one.goto("/map")
    ready(one)
    two.goto("/map")
    ready(two)
    rename(one, "Mine alone")
    two.reload()
    ready(two)
    expect(two.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()


def test_project_of_another_tab_does_not_take_over(page: Page) -> None:
    page.goto("/map")
    ready(page)
    address = page.url
    other = page.context.new_page()
    other.goto("/map")
    ready(other)
    rename(other, "Of the other tab")
    other.wait_for_function("() => localStorage.getItem('hetviz-projects')?.includes('other tab')")
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_role("heading", name="emoji")).to_be_visible()
    settled(page)
    rename(page, "Of this tab")
    assert page.url.split("=")[1] == address.split("=")[1]


def test_killed_server_loses_nothing(browser: Browser, open_page: Open, tmp_path: Path) -> None:
    port = free_port()
    env = {"HETVIZ_HOME": str(tmp_path)}
    with serve(ROOT / "app.py", ARTIFACTS / "killed.log", env=env, port=port) as first:
        # Not watched, since the browser reports the lost server.
        page = new_context(browser, base_url=first.url).new_page()
        page.goto("/map")
        ready(page)
        stage(page).focus()
        page.keyboard.press("r")
        drag(page, (0.35, 0.5), (0.6, 0.85))
        expect(page.locator(".st-key-panel").get_by_text(SELECTED)).to_be_visible()
        count = scene_value(page, "count")
        rename(page, "Kept")
        os.kill(first.pid, signal.SIGKILL)
        # The worker ends with its server.
        assert wait_until(lambda: not session_members(first.pid))
    # The browser retries until the server is back.
    heard: list[object] = []

    def listen(socket: WebSocket) -> None:
        def hear(frame: object) -> None:
            heard.append(frame)

        socket.on("framereceived", hear)

    page.on("websocket", listen)
    with serve(ROOT / "app.py", ARTIFACTS / "killed-2.log", env=env, port=port):
        # The open tab reconnects by its timer, and clicks work.
        wait_in(page, lambda: bool(heard))
        expect(page.get_by_text("Connection error")).to_have_count(0)
        expect(page.locator('[data-test-connection-state="CONNECTED"]')).to_be_visible()
        settled(page)
        page.get_by_role("button", name="Undo project name").click()
        expect(page.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()
        page.reload()
        ready(page)
        assert scene_value(page, "count") == count
        expect(page.get_by_role("button", name="Redo project name")).to_be_visible()
    page.context.close()


def test_lost_worker_is_replaced_or_reported(fresh: Server, open_page: Open) -> None:
    page = open_page(fresh.url)
    page.goto("/map")
    ready(page)
    make_map(page, QUICK)
    expect(page.get_by_role("button", name="Undo new map")).to_be_visible()
    settled(page)
    ended = make_and_kill(fresh, page)
    expect(page.locator(".hv-film-strip button")).to_have_count(3)
    expect(page.get_by_text("failed.", exact=False)).to_have_count(0)
    settled(page)
    ended |= make_and_kill(fresh, page)
    for _ in range(3):
        assert wait_until(lambda: set(workers_of(fresh)) - ended)
        for worker in set(workers_of(fresh)) - ended:
            os.kill(worker, signal.SIGKILL)
            ended.add(worker)
    expect(page.get_by_text("failed.", exact=False).first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Start again").click()
    expect(page.locator(".hv-film-strip button")).to_have_count(4)
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)


def make_and_kill(server: Server, page: Page) -> set[int]:
    """Start a map, kill the worker before it begins and return its process id."""
    (worker,) = workers_of(server)
    os.kill(worker, signal.SIGSTOP)
    make_map(page, QUICK)
    expect(page.locator(".hv-job").get_by_text("0 %")).to_be_visible()
    os.kill(worker, signal.SIGKILL)
    return {worker}


def workers_of(server: Server) -> list[int]:
    found = []
    for pid in session_members(server.pid):
        # A listed process may have ended.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if "hetviz.workers.worker" in Path(f"/proc/{pid}/cmdline").read_text():
                found.append(pid)
    return found


def test_projects_of_two_processes(browser: Browser, tmp_path: Path) -> None:
    port = free_ports(3)
    address = {"HETVIZ_PORT": str(port), "HETVIZ_HOSTS": "127.0.0.1"}
    command = [sys.executable, "-m", "hetviz", "serve", "--processes", "2"]
    log = ARTIFACTS / "two-processes.log"
    env = {"HETVIZ_HOME": str(tmp_path), **address}
    with serve_with(command, f"http://127.0.0.1:{port}", log, env) as server:
        # Not watched, since the browser reports the lost process.
        page = new_context(browser, base_url=server.url).new_page()
        projects: list[str] = []
        for number in (1, 2):
            page.goto(f"/n{number}/")
            page.get_by_role("link", name="Map", exact=True).click()
            ready(page)
            rename(page, f"Of process {number}")
            projects.append(page.url)
        # The list opens the project of the other process.
        page.goto(page.url.replace("/map", "/"))
        page.get_by_role("link", name="Of process 1", exact=True).click()
        page.wait_for_url("**/n1/**")
        expect(page.locator(".st-key-project").get_by_text("Of process 1")).to_be_visible()
        settled(page)
        # One process is killed and replaced, while the other one goes on.
        killed = next(pid for pid in session_members(server.pid) if f"={port + 1}" in words(pid))
        os.kill(killed, signal.SIGKILL)
        other = page.context.new_page()
        other.goto(projects[1])
        ready(other)
        rename(other, "Still here")
        page.goto(page.url)
        rename(page, "Again of process 1")
    assert log.read_text().count("is replaced") == 1


def words(pid: int) -> str:
    """Return the command of a process, empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""

"""Fixtures for the browser tests: the real app in a real Chromium.

One Chromium and one server serve all tests of a process. `page` is an open, empty page whose
default address is the app: `page.goto("/map")`. It fails the test when the page logs an error,
throws, or asks any other server for anything. It is light and 1400 x 900 unless the test is marked
`@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=str)`, and it asks for no motion, so
that nothing has to be waited for that only moves.

What a test needs to find is loaded, not clicked together: `projects` makes projects in the
server's folder, and `page.goto(f"/compare?s={id}")` opens one.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests.browser.harness import (
    ARTIFACTS,
    CHROMIUM_FLAGS,
    QUICK_FLAGS,
    ROOT,
    Look,
    Open,
    Picture,
    Server,
    Watch,
    new_context,
    serve,
)
from tests.browser.projects import Projects
from tests.waits import PATIENCE_MS
from tools.find_chromium import NoBrowserError, find_chromium

expect.set_options(timeout=PATIENCE_MS)

# Tests that are run again, up to twice, when they fail; each with what a slow machine does to it.
# `make test` ends with how many were. Anything else that fails has failed.
RERUN: dict[str, str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    found = {}
    for item in items:
        if item.path.is_relative_to(here):
            found[f"{item.path.name}::{item.originalname}"] = item  # type: ignore[attr-defined]
    for name, item in found.items():
        if name in RERUN:
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=3))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        path = find_chromium()
    except NoBrowserError as error:
        wanted = os.environ.get("HETVIZ_NO_SKIP") == "1"
        (pytest.fail if wanted else pytest.skip)(str(error))
    with sync_playwright() as playwright:
        flags = [*CHROMIUM_FLAGS, *QUICK_FLAGS]
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server(browser: Browser) -> Iterator[Server]:
    """Serve the app; asked for after the browser, so that nothing starts where there is none."""
    process = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    with serve(ROOT / "app.py", ARTIFACTS / f"server-{process}.log") as running:
        yield running


@pytest.fixture
def fresh(browser: Browser) -> Iterator[Server]:
    """Serve the app for a single test."""
    with serve(ROOT / "app.py", ARTIFACTS / "lasting.log") as server:
        yield server


@pytest.fixture(scope="session")
def projects(home: Path) -> Projects:
    """Give what makes projects in the folder that the server keeps them in."""
    return Projects(home)


# The next visitor would go on with the project of this one. Thus the first page of a visitor clears
# the storage, before the scripts of the app.
FORGET = """try {
  if (!sessionStorage.getItem("came"))
    for (const key of Object.keys(localStorage))
      if (key !== "hetviz-guided") localStorage.removeItem(key);
  sessionStorage.setItem("came", "before");
} catch {}"""


@dataclass
class Visitors:
    """Contexts of the browser, each another visitor.

    They are used by one test after the other, which keeps the scripts of the app in their caches,
    but what a visitor leaves behind in a browser is cleared away in between. A page of each stays
    open, since with the last one goes the process that has compiled the scripts.
    """

    browser: Browser
    free: dict[str, list[BrowserContext]] = field(default_factory=dict)
    kept: set[Page] = field(default_factory=set)

    @contextlib.contextmanager
    def visitor(self, url: str) -> Iterator[BrowserContext]:
        waiting = self.free.setdefault(url, [])
        context = waiting.pop() if waiting else self._new(url)
        try:
            yield context
        finally:
            for page in set(context.pages) - self.kept:
                # The scripts of a closed page run on for a moment, those of a page that was left
                # do not. The server may be gone.
                with contextlib.suppress(Error):
                    page.goto(f"{url}/_stcore/health")
                page.close()
            context.clear_cookies()
            waiting.append(context)

    def _new(self, url: str) -> BrowserContext:
        context = new_context(
            self.browser, base_url=url, accept_downloads=True, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(f"{url}/_stcore/health")
        self.kept.add(page)
        return context


@pytest.fixture(scope="session")
def visitors(browser: Browser) -> Visitors:
    return Visitors(browser)


@pytest.fixture
def look(request: pytest.FixtureRequest) -> Look:
    return getattr(request, "param", Look())


@pytest.fixture
def open_page(visitors: Visitors, look: Look, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Give a function that opens a watched page whose default address is the one it is given.

    Each call is another visitor, with cookies of its own.
    """
    opened: list[tuple[Page, Watch]] = []
    with contextlib.ExitStack() as stack:

        def open_at(url: str, *, motion: bool = False) -> Page:
            page = stack.enter_context(visitors.visitor(url)).new_page()
            page.add_init_script(FORGET)
            page.set_viewport_size({"width": look.width, "height": look.height})
            wanted = "no-preference" if motion else "reduce"
            page.emulate_media(color_scheme=look.scheme, reduced_motion=wanted)
            watch = Watch(url)
            watch.follow(page)
            opened.append((page, watch))
            return page

        yield open_at
        failed = getattr(request.node, "failed_in_call", False)
        problems = [problem for _, watch in opened for problem in watch.problems]
        for number, (page, _) in enumerate(opened):
            if failed or problems:
                save_picture(page, f"failed-{plain(request.node.name)}-{number}")
    assert problems == []


@pytest.fixture
def page(open_page: Open, server: Server) -> Page:
    return open_page(server.url)


@pytest.fixture
def picture(look: Look) -> Picture:
    """Give a function that saves a screenshot under test-artifacts, named with the look."""

    def picture(page: Page, name: str, seen: Look | None = None) -> Path:
        return save_picture(page, f"{name}-{seen or look}")

    return picture


def save_picture(page: Page, name: str) -> Path:
    path = ARTIFACTS / f"{name}.png"
    page.screenshot(path=path)
    return path


def plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.failed_in_call = report.failed
    return report

"""Fixtures for the browser tests: the real app in a real Chromium.

`page` is an open, empty page whose default address is the app: `page.goto("/map")`. It fails the
test when the page logs an error, throws, or asks any other server for anything. Its look is light
and 1400 x 900 unless the test is marked
`@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=str)`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.harness import ARTIFACTS, CHROMIUM_FLAGS, ROOT, Look, Server, Watch, serve
from tools.find_chromium import NoBrowserError, find_chromium

PATIENCE_MS = 45_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        path = find_chromium()
    except NoBrowserError as error:
        wanted = os.environ.get("HETVIZ_NO_SKIP") == "1"
        (pytest.fail if wanted else pytest.skip)(str(error))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server(browser: Browser) -> Iterator[Server]:
    """Serve the app; asked for after the browser, so that nothing starts where there is none."""
    with serve(ROOT / "app.py", ARTIFACTS / "server.log") as running:
        yield running


@pytest.fixture
def look(request: pytest.FixtureRequest) -> Look:
    return getattr(request, "param", Look())


@pytest.fixture
def open_page(
    browser: Browser, look: Look, request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Page]]:
    """Give a function that opens a watched page whose default address is the one it is given.

    Each call is another visitor, with cookies of its own.
    """
    opened: list[tuple[Page, Watch]] = []

    def open_at(url: str) -> Page:
        context = browser.new_context(
            base_url=url,
            viewport={"width": look.width, "height": look.height},
            color_scheme=look.scheme,
            accept_downloads=True,
        )
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
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
        page.context.close()
    assert problems == []


@pytest.fixture
def page(open_page: Callable[[str], Page], server: Server) -> Page:
    return open_page(server.url)


@pytest.fixture
def picture(look: Look) -> Callable[[Page, str], Path]:
    """Give a function that saves a screenshot under test-artifacts, named with the look."""
    return lambda page, name: save_picture(page, f"{name}-{look}")


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

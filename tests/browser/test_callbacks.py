"""Browser tests that each click is handled once, even with simultaneous events."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from hetviz.workspace import SetTitle
from tests.browser.harness import wait_in
from tests.browser.projects import Projects
from tests.browser.test_app import settled, stage
from tests.browser.test_shell import go, requested_runs

PROJECT = ".st-key-project button"
UNDO = "const undo = document.querySelector('.st-key-undo button');"
PLACE = "document.querySelector('.st-key-place-data a').click()"
# Long enough for the timer of the bar to fire before the click is sent.
BUSY = "const end = performance.now() + 4500; while (performance.now() < end);"


@pytest.fixture
def sent(page: Page) -> list[object]:
    """Return the messages that the page sends, from before it opens."""
    messages: list[object] = []

    def hear(payload: object) -> None:
        # Playwright does not accept bound methods of lists.
        messages.append(payload)

    page.on("websocket", lambda socket: socket.on("framesent", hear))
    return messages


@pytest.fixture
def renamed(page: Page, sent: list[object], projects: Projects) -> Page:
    """Return a page of a project that was renamed four times."""
    names = ("None", "One", "Two", "Three")
    page.goto(f"/map?s={projects.make(*map(SetTitle, names))}")
    stage(page)
    settled(page)
    expect(page.locator(PROJECT)).to_contain_text("Three")
    return page


def test_fast_clicks_are_all_handled(renamed: Page) -> None:
    for gap, left in ((0, "Two"), (5, "One"), (20, "None")):
        renamed.evaluate(f"() => {{ {UNDO} undo.click(); setTimeout(() => {PLACE}, {gap}); }}")
        expect(renamed.locator(".hv-at-data")).to_be_attached()
        expect(renamed.locator(PROJECT)).to_contain_text(left)
        settled(renamed)
        go(renamed, "map")


def test_timer_does_not_repeat_callbacks(renamed: Page, sent: list[object]) -> None:
    renamed.evaluate(f"() => {{ {UNDO} {BUSY} undo.click(); }}")
    expect(renamed.locator(PROJECT)).to_contain_text("Two")
    # The timer fires again and must not restore the removed field.
    before = sum(requested_runs(sent))
    wait_in(renamed, lambda: sum(requested_runs(sent)) > before)
    settled(renamed)
    expect(renamed.locator(PROJECT)).to_contain_text("Two")
    expect(renamed.get_by_role("button", name="Redo project name")).to_be_visible()

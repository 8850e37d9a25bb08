"""Two people in one project: one sees what the other selects, while the other shows it."""

from __future__ import annotations

import json

from playwright.sync_api import Browser, Page, expect

from tests.browser.harness import Picture, Server, new_context
from tests.browser.projects import Projects
from tests.browser.test_app import settled, stage, until

MAP = "document.querySelector('.st-key-map .hv-map').__hv.map"


def visit(browser: Browser, server: Server, name: str, id: str) -> Page:
    """Open a project in a browser that knows the visitor's name."""
    context = new_context(
        browser,
        base_url=server.url,
        viewport={"width": 1400, "height": 900},
        reduced_motion="reduce",
    )
    context.add_init_script(f"localStorage.setItem('hetviz-name', {json.dumps(name)})")
    page = context.new_page()
    page.goto(f"/map?s={id}")
    stage(page)
    settled(page)
    until(page, "map.sharedSelections.timer")
    return page


def test_selection_is_seen_by_others_while_it_is_shown(
    browser: Browser, server: Server, projects: Projects, picture: Picture
) -> None:
    id = projects.make()
    ada, bob = (visit(browser, server, name, id) for name in ("Ada", "Bob <b>Hall</b>"))
    try:
        switch = bob.get_by_role("button", name="Show my selection to others")
        tools = bob.get_by_role("button", name="Tools")

        def press_switch() -> None:
            tools.click()
            switch.click()

        bob.evaluate(f"{MAP}.selection.select([3, 4])")
        press_switch()
        until(ada, "map.sharedSelections.others.length === 1")
        seen = ada.evaluate(f"{MAP}.sharedSelections.others")
        assert seen == [{"name": "Bob <b>Hall</b>", "rows": [3, 4], "count": 2}]
        picture(ada, "selection-of-another")
        expect(ada.locator(".hv-live-region")).to_have_text("Bob <b>Hall</b> selected 2")
        # A new selection is seen too.
        bob.evaluate(f"{MAP}.selection.select([5])")
        until(ada, "map.sharedSelections.others[0]?.rows[0] === 5")
        press_switch()
        until(ada, "map.sharedSelections.others.length === 0")
        press_switch()
        until(ada, "map.sharedSelections.others.length === 1")
        bob.close()
        until(ada, "map.sharedSelections.others.length === 0")
    finally:
        for page in (ada, bob):
            page.context.close()

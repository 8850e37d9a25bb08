"""The Predict page in a browser: accept, reject, undo; and something new."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.test_app import settled


def test_found_links_are_accepted_rejected_and_taken_back(page: Page) -> None:
    page.goto("/predict")
    page.get_by_role("combobox", name="By").fill("Like links like")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_role("button", name="Find links").click()
    pairs = page.locator(".hv-pair")
    expect(pairs.first).to_be_visible()
    expect(page.locator(".hv-head h1")).to_contain_text("missing link")
    first = pairs.first.inner_text()
    boxes = page.locator("[data-testid=stCheckbox] label")
    boxes.first.click()
    page.get_by_role("button", name="Accept 1 as links").click()
    expect(page.get_by_role("button", name="Undo links")).to_be_visible()
    settled(page)
    second = pairs.first.inner_text()
    assert second != first
    boxes.first.click()
    page.get_by_role("button", name="Reject 1 as apart").click()
    expect(page.get_by_role("button", name="Reject as apart")).to_be_disabled()
    for _ in range(2):
        settled(page)
        page.get_by_role("button", name="Undo links").click()
    expect(page.get_by_role("button", name="Undo result")).to_be_visible()
    settled(page)
    assert pairs.first.inner_text() == first


def test_something_new_is_placed_without_being_added(page: Page) -> None:
    page.goto("/predict")
    page.get_by_text("Something new", exact=True).click()
    box = page.get_by_role("textbox", name="Words")
    box.fill("black cat")
    page.get_by_role("button", name="Find what is near").click()
    expect(page.locator(".hv-head h1")).to_contain_text("“black cat” lies nearest “black cat”")
    expect(page.locator(".st-key-new-item-map .js-plotly-plot")).to_be_visible()
    box.fill("xyzzy")
    page.get_by_role("button", name="Find what is near").click()
    expect(page.locator(".hv-head h1")).to_contain_text("could not be placed")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()

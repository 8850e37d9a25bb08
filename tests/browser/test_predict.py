"""Browser tests of the Predict page: accept, reject, undo and new items."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.test_app import settled


def test_candidates_are_answered_by_key_or_in_bulk(page: Page) -> None:
    page.goto("/predict")
    head = page.locator(".hv-head h1")
    # The worker may have to start first.
    expect(head).to_contain_text("be linked to")
    settled(page)
    first = head.inner_text()
    page.wait_for_function("() => window.hetvizProposed?.byTab.Predict?.pairs.length === 8")
    asked = page.locator(".st-key-ask-pair")
    expect(asked.locator("img").first).to_be_visible()
    page.keyboard.press("y")
    expect(page.get_by_role("button", name="Undo links")).to_be_visible()
    expect(head).not_to_have_text(first)
    settled(page)
    second = head.inner_text()
    page.keyboard.press("n")
    expect(head).not_to_have_text(second)
    expect(page.get_by_text("1 of 2 candidates were right.")).to_be_visible()
    for _ in range(2):
        settled(page)
        page.get_by_role("button", name="Undo links").click()
    expect(head).to_have_text(first)
    settled(page)
    accept_several(page)


def accept_several(page: Page) -> None:
    page.get_by_text("All 100 candidates").click()
    pairs = page.locator(".hv-pair")
    expect(pairs.first).to_be_visible()
    boxes = page.locator("[data-testid=stCheckbox] label")
    # The boxes need not appear in their order.
    expect(boxes).to_have_count(pairs.count())
    for number in range(2):
        boxes.nth(number).click()
        expect(page.get_by_role("button", name=f"Accept {number + 1} as links")).to_be_visible()
        settled(page)
    page.get_by_role("button", name="Accept 2 as links").click()
    expect(page.get_by_text("All 98 candidates")).to_be_visible()


def test_new_item_is_placed_without_adding_it(page: Page) -> None:
    page.goto("/predict")
    # The candidates have come: nothing moves under the pointer any more.
    expect(page.locator(".hv-head h1")).to_contain_text("be linked to")
    settled(page)
    page.get_by_text("New item", exact=True).click()
    box = page.get_by_role("textbox", name="Words")
    box.fill("black cat")
    page.get_by_role("button", name="Find nearest items").click()
    expect(page.locator(".hv-head h1")).to_contain_text("“black cat” is closest to “black cat”")
    expect(page.locator(".st-key-new-item-map .js-plotly-plot")).to_be_visible()
    box.fill("xyzzy")
    page.get_by_role("button", name="Find nearest items").click()
    expect(page.locator(".hv-head h1")).to_contain_text("could not be placed")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()

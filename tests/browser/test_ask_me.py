"""Browser test of Ask me with the keyboard."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.test_app import settled


def test_keys_answer_skip_and_undo(page: Page) -> None:
    page.goto("/guidance")
    card = page.locator(".st-key-ask")
    expect(card.get_by_text("Do these two belong together?")).to_be_visible()
    items = card.locator(".hv-question-items")
    first = items.inner_text()
    settled(page)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("1 answered, 0 of them yes")).to_be_visible()
    expect(items).not_to_have_text(first, use_inner_text=True)
    expect(card.get_by_role("button", name="Undo answer")).to_be_enabled()
    settled(page)
    page.keyboard.press("u")
    expect(page.get_by_text("1 answered")).to_have_count(0)
    expect(items).to_have_text(first, use_inner_text=True)
    settled(page)
    page.keyboard.press("s")
    expect(items).not_to_have_text(first, use_inner_text=True)
    expect(page.get_by_text("1 answered")).to_have_count(0)


def test_question_comes_first_and_the_rest_is_folded(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/map")
    settled(page)
    page.get_by_role("tab", name="Guidance").click()
    body = page.locator(".st-key-tab-guidance")
    expect(body.get_by_text("Do these two belong together?")).to_be_visible()
    settled(page)
    title = body.get_by_role("heading", name="Does the map follow your guidance?")
    answer, title_box = body.get_by_role("button", name="Yes").bounding_box(), title.bounding_box()
    assert answer is not None and title_box is not None
    assert answer["y"] < title_box["y"] < 900
    switch = body.get_by_text("Refit after each change")
    expect(switch).to_be_hidden()
    body.get_by_text("Sets of guidance").click()
    expect(switch).to_be_visible()
    settled(page)


def test_each_tab_opens_at_its_own_width(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/guidance")
    panel = page.locator("html")
    expect(panel).to_have_attribute("data-hv-panel", "wide")
    expect(page.get_by_role("tab", name="Predict")).to_be_visible()
    settled(page)
    page.get_by_role("tab", name="Predict").click()
    expect(panel).to_have_attribute("data-hv-panel", "open")
    expect(page.locator(".st-key-tab-predict h1")).to_contain_text("be linked to")
    settled(page)
    width = page.locator(".st-key-panel").bounding_box()
    assert width is not None and width["width"] < 400
    # No text is cut at the sides.
    assert page.locator(".st-key-panel-body").evaluate("(e) => e.scrollWidth <= e.clientWidth")
    page.get_by_role("tab", name="Guidance").click()
    expect(page.get_by_role("button", name="Open the table")).to_be_visible()
    expect(panel).to_have_attribute("data-hv-panel", "open")
    settled(page)

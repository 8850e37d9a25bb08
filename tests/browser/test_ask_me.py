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

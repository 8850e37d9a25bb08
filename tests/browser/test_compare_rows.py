"""Browser test of linking two tables by meaning while their files are reviewed."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from hetviz.core import sentence_vectors
from hetviz.data.joins.judged_links import MIN_ANSWERS
from tests.app.test_compare_rows import places_file
from tests.browser.test_app import drop, serious_barriers, settled
from tests.browser.test_guide import forget_projects
from tests.data.joins.test_similar_rows import SAME_MEANING

WORDS = pd.DataFrame({"word": list(SAME_MEANING)}).to_csv(index=False)
MEANT = pd.DataFrame({"meant": [*SAME_MEANING.values()][::-1]}).to_csv(index=False)


def go_on(page: Page, button: str) -> None:
    """Press a button of a step, once the step has moved the focus to its question."""
    head = page.locator(".st-key-staged-head")
    expect(head.get_by_role("heading").first).to_be_focused()
    settled(page)
    head.get_by_role("button", name=button).press("Enter")


@pytest.mark.skipif(not sentence_vectors.is_installed(), reason="The sentence model is an extra.")
def test_tables_are_linked_by_meaning_after_ten_answers(page: Page) -> None:
    forget_projects(page)
    drop(page, words_csv=WORDS, said_csv=MEANT)
    go_on(page, "Next")
    expect(page.get_by_text("A small language model reads 40 texts in about 2 s.")).to_be_visible()
    page.get_by_role("button", name="Compare by meaning").press("Enter")
    tick = page.get_by_role("checkbox", name="Rows of words and said have similar meanings")
    expect(tick).to_be_attached()
    expect(tick).not_to_be_checked()
    settled(page)
    assert serious_barriers(page) == set()
    page.get_by_role("button", name="Judge ten pairs").press("Enter")
    expect(page.get_by_text("Do these two belong together?")).to_be_visible()
    for number in range(1, MIN_ANSWERS + 1):
        expect(page.get_by_text(f"{number} of {MIN_ANSWERS}", exact=True)).to_be_visible()
        settled(page)
        word, meant = page.locator(".hv-question-items h2").all_inner_texts()
        page.keyboard.press("y" if SAME_MEANING[word] == meant else "n")
    expect(page.get_by_text("By your 10 answers, about")).to_be_visible()
    expect(tick).not_to_be_checked()
    tick.press("Space")
    expect(page.get_by_text("On the map: 20 words and 20 rows of said, with")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    go_on(page, "Create map")
    origin = page.locator(".hv-map-origin")
    expect(origin).to_have_text(
        re.compile(r"Made from \d+ links proposed by meaning, about \d+ % right")
    )
    expect(origin).to_be_visible()
    # Where the legend is folded, its button says so.
    page.set_viewport_size({"width": 390, "height": 844})
    expect(origin).to_be_hidden()
    short = page.get_by_role("button", name=re.compile(r"\d+ proposed links, about \d+ % right"))
    expect(short).to_be_visible()


@pytest.mark.skipif(not sentence_vectors.is_installed(), reason="The sentence model is an extra.")
def test_open_tables_are_linked_by_meaning_on_data(page: Page) -> None:
    forget_projects(page)
    # The server remembers the comparison of the tables of the other test.
    drop(page, words_csv=WORDS + "teacup\n", said_csv=MEANT)
    go_on(page, "Skip the steps")
    settled(page)
    page.get_by_role("button", name="Create map").press("Enter")
    expect(page.locator(".hv-at-map")).to_be_attached()
    settled(page)
    page.get_by_role("link", name="Data", exact=True).press("Enter")
    page.get_by_role("button", name="Compare by meaning").press("Enter")
    card = page.locator(".st-key-join-0")
    expect(card.get_by_role("heading", name="Rows of words and said have similar")).to_be_visible()
    settled(page)
    assert serious_barriers(page) == set()
    card.get_by_role("button", name="Judge ten pairs").press("Enter")
    for number in range(1, MIN_ANSWERS + 1):
        expect(page.get_by_text(f"{number} of {MIN_ANSWERS}", exact=True)).to_be_visible()
        settled(page)
        word, meant = page.locator(".hv-question-items h2").all_inner_texts()
        page.keyboard.press("y" if SAME_MEANING[word] == meant else "n")
    expect(card.get_by_text("By your 10 answers, about")).to_be_visible()
    card.get_by_role("button", name="Link them").press("Enter")
    expect(page.get_by_role("button", name="Compare by meaning")).to_be_hidden()
    expect(page.get_by_role("button", name="Undo join tables")).to_be_visible()


def test_tables_are_linked_by_place(page: Page) -> None:
    forget_projects(page)
    drop(page, Kiosk_csv=places_file("Kiosk", 0), Stall_csv=places_file("Stall", 0.01))
    go_on(page, "Next")
    place = page.get_by_role("radio", name="Place", exact=True)
    limit = page.get_by_label("At most this many kilometres apart")
    expect(place.or_(limit).first).to_be_visible()
    if place.count():
        place.click()
    expect(limit).to_have_value("1.00")
    limit.fill("2")
    # At once: the comparison uses the limit that was just typed.
    button = page.get_by_role("button", name="Compare by place").element_handle()
    limit.evaluate(
        """(field, button) => {
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
          button.click();
        }""",
        button,
    )
    tick = page.get_by_role("checkbox", name="Rows of Kiosk and Stall have close places")
    expect(tick).not_to_be_checked()
    page.get_by_role("button", name="Judge ten pairs").press("Enter")
    expect(page.get_by_text("1.1 km apart.")).to_be_visible()
    settled(page)
    assert serious_barriers(page) == set()
    tick.press("Space")
    expect(
        page.get_by_text("On the map: 12 rows of Kiosk and 12 rows of Stall, with 12 links.")
    ).to_be_visible()

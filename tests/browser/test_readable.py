"""Browser tests that texts can be read in both themes."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import themed
from tests.browser.test_app import serious_barriers, settled

ALL_IMPACTS = "minor moderate serious critical"
# Its tables and its lists of pages; none of them keeps anybody out.
OF_STREAMLIT = ("empty-table-header", "landmark-unique")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TEXTS = {
    "": "1,273 emoji and 621 keywords on one map",
    "data": "What is in your data?",
    "guidance": "Does the map follow your guidance?",
    "clusters": "Which areas does this map have?",
    "predict": "be linked to",
    "compare": "Is there a better map for these data?",
    "export": "ready for slides and print",
}


@pytest.mark.parametrize("path", TEXTS)
def test_pages_have_no_barriers_in_either_theme(page: Page, path: str) -> None:
    page.goto(f"/{path}")
    expect(page.locator(".hv-head h1", has_text=TEXTS[path])).to_be_visible()
    for scheme in SCHEMES:
        themed(page, scheme)
        settled(page)
        barriers = serious_barriers(page, impact=ALL_IMPACTS)
        assert {text for text in barriers if not text.startswith(OF_STREAMLIT)} == set(), scheme

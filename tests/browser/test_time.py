"""Dates below the map: a window over them filters the map, moves by steps, and plays."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_app import drop, settled, until

N, N_UNDATED = 120, 5
_RNG = np.random.default_rng(0)
_DAYS = pd.to_datetime("2019-01-01") + pd.to_timedelta(_RNG.integers(0, 1500, N), unit="D")
LETTERS = pd.DataFrame(
    {
        "letter": [f"Letter {k}" for k in range(N)],
        "sent": ["" if k < N_UNDATED else f"{day:%Y-%m-%d}" for k, day in enumerate(_DAYS)],
        "pages": _RNG.integers(1, 40, N),
        "miles": _RNG.integers(1, 900, N),
        "city": [["Graz", "Wien", "Linz"][k % 3] for k in range(N)],
    }
)


def window_of(page: Page) -> Locator:
    return page.locator('[data-column="sent"] .hv-chart-ends b')


def number_between(text: str) -> int:
    """Return how many letters were sent in a window such as "2019-01-01 to 2019-03-05"."""
    first, _, last = text.partition(" to ")
    return int(LETTERS["sent"].between(first, last or first).sum())


def expect_filter(page: Page) -> None:
    """Expect that the filter of the project is the window, with the letters of the file."""
    text = window_of(page).inner_text()
    chips = page.locator(".st-key-filters")
    expect(chips).to_contain_text(f"Shown {number_between(text)} of {N}")
    expect(chips).to_contain_text(text.partition(" to ")[0])


@pytest.fixture
def letters(page: Page) -> Page:
    page.goto("/")
    settled(page)
    drop(page, letters_csv=LETTERS.to_csv(index=False))
    page.get_by_role("button", name="Create map").click()
    expect(page.locator(".hv-player")).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)
    return page


def test_dates_filter_the_map_by_steps_play_and_keys(letters: Page) -> None:
    page = letters
    page.emulate_media(reduced_motion="no-preference")
    chart = page.locator('[data-column="sent"]')
    note = chart.locator(".hv-chart-note")
    expect(note).to_have_text(f"{N_UNDATED} without a date")
    later = page.get_by_role("button", name="Later", exact=True)
    place = later.bounding_box()
    later.click()
    expect(chart.get_by_role("button", name="Clear", exact=True)).to_be_visible()
    # The pointer is still on it.
    assert later.bounding_box() == place
    expect(window_of(page)).to_contain_text(LETTERS["sent"][N_UNDATED:].min())
    expect(note).to_have_text(f"{N_UNDATED} without a date, now hidden")
    expect_filter(page)
    until(page, f"map.scene.visible === {number_between(window_of(page).inner_text())}")
    first = window_of(page).inner_text()
    page.get_by_role("button", name="Play", exact=True).click()
    # Two steps, while the filter of the project stays.
    second = re.compile(f"^(?!{first})")
    expect(window_of(page)).to_have_text(second)
    shown = window_of(page).inner_text()
    expect(window_of(page)).not_to_have_text(shown)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect_filter(page)
    # The keyboard moves each end.
    settled(page)
    before = window_of(page).inner_text()
    chart.get_by_role("slider", name="Largest").focus()
    page.keyboard.press("ArrowRight")
    expect(window_of(page)).not_to_have_text(before)
    expect_filter(page)
    # A hidden page stops.
    settled(page)
    page.get_by_role("button", name="Play", exact=True).click()
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.evaluate("delete document.hidden")
    # The project keeps the window.
    expect_filter(page)
    settled(page)
    stored = window_of(page).inner_text()
    page.reload()
    expect(window_of(page)).to_have_text(stored)
    chart.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator(".st-key-filters")).to_have_count(0)
    # Where motion is reduced, steps are left.
    page.emulate_media(reduced_motion="reduce")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name="Earlier", exact=True)).to_be_visible()


def test_dates_can_be_closed_and_are_in_the_charts(letters: Page) -> None:
    page = letters
    page.get_by_role("button", name="Remove the chart of Sent").click()
    expect(page.locator(".hv-dock")).to_be_hidden()
    settled(page)
    page.reload()
    settled(page)
    until(page, "map.scene.n > 0")
    expect(page.locator(".hv-dock")).to_be_hidden()
    page.evaluate("document.querySelector('.st-key-map .hv-map').__hv.map.dock.toggle(true)")
    expect(page.locator('.hv-dock [data-column="sent"] .hv-player')).to_be_visible()

"""Browser test of the trust overlay."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.harness import Picture, painted
from tests.browser.test_app import settled, stage, until


def test_trust_overlay_is_shown_and_hidden(page: Page, picture: Picture) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    button = page.get_by_role("button", name="Mark unreliable areas")
    more = page.get_by_role("button", name="Tools")
    more.click()
    plain = page.locator(".st-key-map .hv-stage").screenshot()
    button.click()
    until(page, "map.scene.trust && map.points.drawer.trustOverlay && map.points.drawer.whole")
    painted(page)
    hazy = page.locator(".st-key-map .hv-stage").screenshot()
    picture(page, "haze")
    # The overlay covers only a part of the map.
    old, new = (np.asarray(Image.open(io.BytesIO(s)).convert("L"), float) for s in (plain, hazy))
    assert 0.02 < (np.abs(old - new) > 6).mean() < 0.9
    more.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    until(page, "!map.points.drawer.trustOverlay")


def test_unstable_positions_are_measured_and_faded(page: Page, picture: Picture) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    button = page.get_by_role("button", name="Fade unstable positions")
    more = page.get_by_role("button", name="Tools")
    more.click()
    button.click()
    until(page, "map.scene.unstable")
    painted(page)
    settled(page)
    picture(page, "faded")
    note = page.locator(".hv-legend-note")
    n = page.evaluate(
        "document.querySelector('.st-key-map .hv-map').__hv.map.scene.unstable"
        ".reduce((a, b) => a + b, 0)"
    )
    expect(note).to_contain_text(f"Faded: {n} items without a stable place")
    more.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    until(page, "!map.scene.unstable")
    expect(note).not_to_contain_text("Faded")

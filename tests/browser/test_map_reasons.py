"""Columns of a table as the map, and the panel that explains it."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import LOOKS, Look, Picture
from tests.browser.test_app import drop, open_map_form, serious_barriers, settled, until

N = 90
KIND = np.arange(N) % 3
PLACES = np.random.default_rng(0).normal(size=(N, 2)) + 9 * np.eye(3)[KIND][:, :2]
SHOPS = "name,sells,price,umap_1,umap_2\n" + "".join(
    f"Shop {k},{('tea', 'coffee', 'juice')[KIND[k]]},{k * 37 % 101},{x:.4f},{y:.4f}\n"
    for k, (x, y) in enumerate(PLACES)
)


@pytest.mark.parametrize("look", LOOKS[:1], indirect=True, ids=str)
def test_columns_become_the_map_and_the_panel_explains_it(
    page: Page, look: Look, picture: Picture
) -> None:
    page.goto("/")
    settled(page)
    drop(page, shops_csv=SHOPS)
    page.get_by_role("button", name="Create map").click()
    until(page, f"map.scene.visible === {N}")
    settled(page)
    expect(page.locator(".st-key-new-map button")).to_be_attached()
    open_map_form(page)
    page.get_by_text("Show umap_1 and umap_2 as the map").click()
    page.get_by_role("button", name="Show as map").click()
    panel = page.locator(".st-key-panel-body")
    expect(panel.get_by_text("What explains this map")).to_be_visible()
    first = panel.locator(".st-key-tab-item .hv-key-values, .st-key-tab-item .hv-findings").first
    expect(first).to_contain_text("Sells")
    expect(panel.get_by_text("of close items have the same value")).to_be_visible()
    settled(page)
    picture(page, "map-reasons", look)
    assert serious_barriers(page) == set()
    until(page, "map.selection.select([0, 1]) || true")
    expect(panel.get_by_text("Why they are close or far apart")).to_be_visible()
    expect(panel).to_contain_text("Different in Sells")
    expect(panel).to_contain_text("Tea and Coffee")

"""Where the map may be trusted: fog over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.test_app import settled, stage, until


def test_fog_lies_over_part_of_the_map_and_is_lifted(
    page: Page, picture: Callable[[Page, str], Path]
) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    button = page.get_by_role("button", name="Fog where the map is not to be trusted")
    button.click()
    until(page, "map.fog.scores && !map.fog.canvas.hidden")
    expect(button).to_have_attribute("aria-pressed", "true")
    # Some of the map is under fog, and some is not.
    share = page.evaluate(
        "() => { const { canvas } = document.querySelector('.st-key-map .hv-map').__hv.map.fog;"
        " const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        " let deep = 0; for (let k = 3; k < data.length; k += 4) deep += data[k] > 60;"
        " return (4 * deep) / data.length; }"
    )
    assert 0.02 < share < 0.9
    picture(page, "fog")
    # It follows the camera.
    before = page.evaluate("document.querySelector('.st-key-map .hv-fog').style.transform")
    page.get_by_role("button", name="Zoom in (+)").click()
    page.wait_for_function(
        "before => document.querySelector('.st-key-map .hv-fog').style.transform !== before",
        arg=before,
    )
    button.click()
    until(page, "map.fog.canvas.hidden")

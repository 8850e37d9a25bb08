"""Map and geography: two views of the same items, with one selection."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.projects import Projects
from tests.browser.test_app import settled, until

N_COUNTRIES = 194
AT_REST = "!map.scene.motion && !map.scene.flight"


def value(page: Page, body: str) -> Any:
    return page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        f" const {{ scene }} = map; {body} }}"
    )


def test_items_selected_in_the_geography_are_selected_on_the_map(
    page: Page, projects: Projects
) -> None:
    page.goto(f"/map?s={projects.make(sample='world')}")
    settled(page)
    view = page.get_by_role("group", name="View")
    geography, back = (view.get_by_role("button", name=name) for name in ("Geography", "Map"))
    expect(back).to_have_attribute("aria-pressed", "true")
    places = "return [scene.geometry.join(), scene.visible, scene.n, scene.view.s];"
    before = value(page, places)
    n_items = before[2]
    undo = page.locator(".st-key-undo button")
    could_undo = undo.is_enabled()

    geography.focus()
    page.keyboard.press("Enter")
    expect(geography).to_have_attribute("aria-pressed", "true")
    until(page, f"{AT_REST} && map.scene.isGeography && map.scene.visible === {N_COUNTRIES}")
    expect(page.locator(".hv-views-note")).to_have_text(
        f"{n_items - N_COUNTRIES:,} of {n_items:,} items have no coordinates"
    )
    # Names of areas of the map would be false here.
    assert value(page, "return [...map.regions.named, ...scene.data.names];") == []
    assert value(page, places)[0] != before[0] and undo.is_enabled() == could_undo

    # The southernmost country.
    row, x, y = value(
        page,
        """const rows = [...scene.isShown.keys()].filter((r) => scene.isShown[r]);
        const row = rows.reduce((a, b) => (scene.pos[2 * b + 1] < scene.pos[2 * a + 1] ? b : a));
        const { left, top } = map.stage.getBoundingClientRect();
        const [x, y] = scene.pixel(row);
        return [row, left + x, top + y];""",
    )
    page.mouse.click(x, y)
    is_selected = f"map.scene.count === 1 && map.scene.picked[{row}] === 1"
    until(page, is_selected)

    # A statement and the panel leave the switch free.
    expect(page.locator(".st-key-statement-bar")).to_be_visible()
    for width, height in ((390, 844), (900, 700), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        for button in (geography, back):
            button.click(trial=True)
    back.click()
    until(page, f"{AT_REST} && !map.scene.isGeography && {is_selected}")
    expect(page.locator(".hv-views-note")).to_be_hidden()
    assert value(page, places)[:3] == before[:3]


def test_data_without_coordinates_have_no_geography(page: Page, projects: Projects) -> None:
    with page.expect_response(lambda r: "/hv/geography/" in r.url and not r.json()["pending"]):
        page.goto(f"/map?s={projects.make()}")
    settled(page)
    expect(page.get_by_role("group", name="View")).to_be_hidden()

"""Maps of periods: steps by buttons, keys and play, trails of selected items, and the form."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.projects import Projects
from tests.browser.test_app import serious_barriers, settled, stage, until

INK = """(map) => {
  const { ctx, canvas } = map.overlay;
  const { data } = ctx.getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let k = 3; k < data.length; k += 4) n += data[k] > 200;
  return n;
}"""


def test_periods_are_stepped_through_and_selected_items_have_trails(
    page: Page, projects: Projects
) -> None:
    page.goto(f"/map?s={projects.with_periods()}")
    settled(page)
    periods = page.get_by_role("group", name="Maps of periods")
    name = periods.locator("b")
    expect(name).to_have_text("2010 to 2025")
    until(page, "map.periods.layouts.length === 3")
    later = periods.get_by_role("button", name="Later period")
    expect(later).to_be_disabled()
    # One frame for all maps, and one of them in the strip.
    frame = page.evaluate(
        "JSON.stringify(document.querySelector('.st-key-map .hv-map').__hv.map.scene.data.frame)"
    )
    n_shown = page.evaluate("document.querySelector('.st-key-map .hv-map').__hv.map.scene.visible")
    periods.get_by_role("button", name="Earlier period").click()
    expect(name).to_have_text("1990 to 2010")
    until(page, f"map.periods.shown === 1 && map.scene.visible !== {n_shown}")
    until(page, f"JSON.stringify(map.scene.data.frame) === {frame!r}")
    # Two keys in a row end at the first map.
    settled(page)
    periods.get_by_role("slider", name="Period").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    until(page, "map.periods.shown === 0 && map.periods.wanted === null")
    # It plays to the last map, and stops.
    settled(page)
    periods.get_by_role("button", name="Play the periods").click()
    expect(periods.get_by_role("button", name="Pause")).to_be_visible()
    until(page, "map.periods.shown === 2 && !map.periods.isPlaying")
    expect(name).to_have_text("2010 to 2025")
    # What moved most selects an item, which has a trail.
    moved = page.locator(".hv-moves button").first
    if not moved.is_visible():
        page.get_by_role("tab", name="Item").click()
    moved.click()
    until(page, "map.scene.count === 1 && map.periods.paths()[0].places.length >= 2")
    settled(page)
    until(page, "!map.scene.motion && !map.scene.flight && !map.media.pending.size")
    trails = periods.get_by_role("button", name="Trails")
    with_trails = ink(page)
    trails.click()
    expect(trails).to_have_attribute("aria-pressed", "false")
    until(page, "map.periods.paths().length === 0")
    assert ink(page) < with_trails
    assert serious_barriers(page) == set()
    # Steps between periods are undone together with the maps.
    page.get_by_role("button", name="Undo maps of periods").click()
    expect(periods).to_be_hidden()


def test_form_of_periods_opens_from_the_search_field(page: Page, projects: Projects) -> None:
    page.goto(f"/map?s={projects.make(sample='world')}")
    stage(page)
    settled(page)
    page.keyboard.press("/")
    page.keyboard.type("each period")
    page.get_by_role("option", name="Map each period").click()
    expect(page.get_by_role("button", name="Map each period", exact=True)).to_be_visible()
    expect(
        page.get_by_text("Choose longer ones.").or_(page.get_by_text("4 periods:"))
    ).to_be_visible()


def ink(page: Page) -> int:
    """Return the number of drawn pixels above the points."""
    page.evaluate("document.querySelector('.st-key-map .hv-map').__hv.map.overlay.draw()")
    return int(page.evaluate(f"({INK})(document.querySelector('.st-key-map .hv-map').__hv.map)"))

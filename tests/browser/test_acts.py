"""Browser tests of statements: groups, weights, refit, undo, redo and keys."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import ROOT, Picture
from tests.browser.test_app import drag, scene_value, settled, stage, until
from tests.waits import PATIENCE_S

SEEN = """row => document.querySelector('.st-key-map .hv-map').__hv.map.scene.pos
    .slice(2 * row, 2 * row + 2)"""

SPREAD = """(map) => {
  const { view, pos } = map.scene;
  const at = map.selection.rows().map((r) => [view.x(pos[2 * r]), view.y(pos[2 * r + 1])]);
  const inside = at.every(([x, y]) => x > 0 && y > 0 && x < view.W && y < view.H);
  const ends = (k) => at.map((p) => p[k]);
  const wide = [0, 1].map((k) => Math.max(...ends(k)) - Math.min(...ends(k)));
  return inside && Math.max(...wide) > 20;
}"""


@pytest.fixture
def opened(page: Page) -> Page:
    page.goto("/map")
    expect(page.locator(".st-key-new-map button")).to_be_attached()
    stage(page)
    settled(page)
    return page


def bar(page: Page) -> Locator:
    return page.locator(".st-key-statement-bar")


def lasso(page: Page, x0: float, y0: float, x1: float, y1: float) -> int:
    """Lasso a part of the map and return the number of selected items."""
    before = scene_value(page, "version")
    page.get_by_role("button", name="Tools").click()
    page.get_by_role("button", name="Lasso").click()
    drag(page, (x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0))
    until(page, f"map.scene.version > {before} && map.scene.count > 0")
    settled(page)
    return int(scene_value(page, "count"))


def group(page: Page, name: str) -> None:
    button = "begin-together" if name == "A" else f"set-{name}"
    page.locator(f".st-key-{button} button").first.click()
    until(page, f"map.statements.groups.has('{name}')")
    settled(page)


# A place on the map that no item or picture is near to.
EMPTY = """() => {
    const { map } = document.querySelector('.st-key-map .hv-map').__hv;
    const { W, H } = map.scene.view;
    const rows = [...Array(map.scene.n).keys()].map((r) => map.scene.pixel(r));
    for (let x = 0.65 * W; x > 0.3 * W; x -= 7) for (let y = 0.5 * H; y < 0.75 * H; y += 7) {
        if (map.overlay.rowAt(x, y) >= 0 || map.overlay.regionAt(x, y)) continue;
        if (rows.every(([a, b]) => Math.hypot(a - x, b - y) > 12)) return [x, y];
    }
    return null;
}"""

APART = """() => {
    const { map } = document.querySelector('.st-key-map .hv-map').__hv;
    const { pos } = map.scene;
    const middle = rows => [0, 1].map(
        k => rows.reduce((sum, r) => sum + pos[2 * r + k], 0) / rows.length);
    const [a, b] = [middle(window.groupA), middle(window.groupB)];
    const frame = map.scene.data.frame.x;
    return Math.hypot(a[0] - b[0], a[1] - b[1]) / (frame[1] - frame[0]);
}"""


def apart(page: Page) -> float:
    """Return the distance of the centres of two groups in widths of the map."""
    return float(page.evaluate(APART))


def until_apart(page: Page, low: float, high: float) -> None:
    page.wait_for_function(f"() => {{ const d = ({APART})(); return d > {low} && d < {high}; }}")


def moved(page: Page) -> None:
    """Wait for the refit and its transition."""
    told = page.locator(".st-key-panel").get_by_text(re.compile("What moved most|What changed"))
    expect(told.first).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)
    until(page, "!map.scene.motion")


def test_lasso_statement_refits_is_reproduced_and_can_be_undone(
    opened: Page, picture: Picture, tmp_path: Path
) -> None:
    page = opened
    lasso(page, 0.33, 0.25, 0.48, 0.55)
    group(page, "A")
    lasso(page, 0.72, 0.5, 0.88, 0.75)
    group(page, "B")
    # Groups and the draft survive a page change.
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_text("Add files")).to_be_visible()
    page.get_by_role("link", name="Map").click()
    stage(page)
    until(page, "map.statements.groups.size === 2 && map.statements.pairs.length > 0")
    settled(page)
    page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " const { groups } = map.statements;"
        " window.groupA = groups.get('A'); window.groupB = groups.get('B'); }"
    )
    # One step at a time: the slider is redrawn after each and ignores keys for a moment.
    bar(page).locator(".st-key-how-much button").first.click()
    for strength in (0.9, 0.8):
        page.get_by_role("slider").focus()
        page.keyboard.press("ArrowLeft")
        until(page, f"map.statements.pairs.every(pair => Math.abs(pair[2] - {strength}) < 1e-6)")
        settled(page)
    picture(page, "groups")
    before = apart(page)
    bar(page).locator(".st-key-add-statement button").first.click()
    moved(page)
    picture(page, "moved")
    until_apart(page, 0, 0.5 * before)
    undo = page.locator(".st-key-undo button").first
    expect(undo).to_contain_text("together")
    undo.click()
    expect(page.get_by_role("button", name="Redo ")).to_contain_text("together")
    settled(page)
    until_apart(page, 0.95 * before, 1.05 * before)
    page.get_by_role("button", name="Redo ").click()
    until_apart(page, 0, 0.5 * before)
    moved(page)
    reproduce(page, tmp_path)
    page.get_by_role("link", name="Map").click()
    stage(page)
    settled(page)
    # Without the set, the items return.
    page.get_by_role("tab", name="Guidance").click()
    page.get_by_text("Sets of guidance").click()
    page.locator(".st-key-sets").get_by_text("together").first.click()
    expect(page.get_by_role("button", name="Undo switch guidance")).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)
    until_apart(page, 0.2 * before, 2)


def reproduce(page: Page, folder: Path) -> None:
    """Run the script of the refitted map, and assert that its coordinates are the same."""
    page.get_by_role("link", name="Export").click()
    expect(page.locator(".st-key-export-preview img")).to_be_visible()
    page.get_by_role("button", name="All files").click()
    with page.expect_download() as made:
        page.get_by_role("button", name="Reproduce this").click()
    with zipfile.ZipFile(made.value.path()) as archive:
        archive.extractall(folder)
    assert (folder / "start.csv").exists()
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "reproduce.py"], cwd=folder, env=env, check=True, timeout=PATIENCE_S
    )
    scores = json.loads((folder / "run" / "scores.json").read_text(encoding="utf-8"))
    assert scores["same_coordinates"] is True
    settled(page)


def test_statement_by_keyboard(opened: Page) -> None:
    page = opened
    stage(page).focus()

    def key(name: str, then: str) -> None:
        page.keyboard.press(name)
        until(page, then)
        settled(page)

    key("n", "map.scene.cursor >= 0")
    key("Enter", "map.scene.count === 1")
    key("a", "map.statements.groups.has('A')")
    page.keyboard.press("/")
    page.keyboard.type("umbrella")
    # What an empty field lists is visible before: Enter would open none of it.
    expect(page.locator(".hv-search-results [aria-selected=true] b")).to_have_text("umbrella")
    key("Enter", "map.scene.count === 1 && map.scene.cursor !== map.selection.rows()[0]")
    key("b", "map.statements.pairs.length === 1")
    key("x", "map.statements.pairs[0]?.[2] === -1")
    page.keyboard.press("x")
    expect(page.locator(".st-key-undo button").first).to_contain_text("apart")
    moved(page)
    # The named items stay selected and visible.
    until(page, "map.statements.groups.size === 0 && map.scene.count === 2")
    until(page, "!map.camera.losesRows(map.selection.rows(), map.scene.geometry)")
    # The field finds the step that can be undone.
    page.keyboard.press("Control+k")
    page.keyboard.type("undo")
    step = page.get_by_role("option", name=re.compile("^Undo .*apart"))
    expect(step.locator("kbd")).to_have_text("Ctrl + Z")
    page.keyboard.press("Escape")


def test_contradiction_is_shown_before_adding(opened: Page) -> None:
    page = opened
    script = (
        "([name, row]) => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " map.selection.select([row]); map.statements.set(name); }"
    )

    def pick(name: str, row: int) -> None:
        page.evaluate(script, [name, row])
        until(page, f"map.scene.data.draft.groups.{name}")
        settled(page)

    pick("A", 3)
    pick("B", 900)
    bar(page).locator(".st-key-add-statement button").first.click()
    moved(page)
    pick("A", 3)
    pick("B", 900)
    verb = "is not like"
    bar(page).get_by_role("radio", name=verb).or_(
        bar(page).get_by_role("button", name=verb)
    ).first.click()
    expect(page.get_by_text("These have a link together")).to_be_visible()
    # The bar is still resizing, and a click on a moving button is lost.
    settled(page)
    bar(page).get_by_role("button", name=re.compile(" anyway$")).click()
    expect(page.locator(".st-key-undo button").first).to_contain_text("apart")
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)


def test_dragged_item_asks_what_it_belongs_with(opened: Page, picture: Picture) -> None:
    page = opened
    page.get_by_role("tab", name="Item").click()
    page.get_by_role("button", name="Tools").click()
    page.locator('.hv-bar [data-tool="drag"]').click()
    box = stage(page).bounding_box()
    assert box is not None
    at = page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " const r = map.selection.rows()[0] ?? map.scene.order[0];"
        " return map.scene.pixel(r); }"
    )
    page.mouse.move(box["x"] + at[0], box["y"] + at[1])
    page.mouse.down()
    x, y = page.evaluate(EMPTY)
    page.mouse.move(box["x"] + x, box["y"] + y, steps=5)
    page.mouse.up()
    expect(bar(page).get_by_text("belongs here with")).to_be_visible()
    until(page, "map.statements.groups.get('B')?.length === 4")
    settled(page)
    # The shortcut keys are next to the statement kinds.
    expect(bar(page).locator('[class*="st-key-near-"] button').first).to_be_visible()
    near = "document.querySelector('.st-key-statement-bar [class*=\"st-key-near-\"] button')"
    assert page.evaluate(f"getComputedStyle({near}, '::after').content") == "none"
    picture(page, "dragged")
    dragged, *near = page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " return ['A', 'B'].flatMap((name) => [...map.statements.groups.get(name)]); }"
    )
    bar(page).locator(".st-key-add-statement button").first.click()
    moved(page)
    picture(page, "dropped")
    # The named items, but for those that were linked with it before, are on the screen at more than
    # one point.
    until(
        page,
        f"map.selection.rows().includes({dragged}) && map.selection.rows().length > 2 && "
        f"map.selection.rows().every((r) => [{dragged}, ...{near}].includes(r)) && ({SPREAD})(map)",
    )


def test_selection_is_pinned_to_a_side_dragged_and_undone(opened: Page, picture: Picture) -> None:
    page = opened
    until(page, "map.scene.order.length > 0")
    row = page.evaluate(
        "() => { const { scene } = document.querySelector('.st-key-map .hv-map').__hv.map;"
        " return scene.order.toSorted((a, b) => scene.pos[2 * b] - scene.pos[2 * a])[0]; }"
    )
    page.evaluate(
        "(r) => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([r])", row
    )
    pin = page.locator(".st-key-panel").get_by_role("button", name="Pin")
    pin.scroll_into_view_if_needed()
    pin.click()
    left = page.locator(".st-key-pin-left button").first
    # The price is on the button before it is pressed.
    expect(left).to_have_text(re.compile(r"^Left · \d+$"))
    expect(page.get_by_text("Linked items may follow")).to_be_visible()
    picture(page, "pin-places")
    left.click()
    share = (
        "(() => { const { data, pos } = map.scene; const [low, high] = data.frame.x;"
        f" return (pos[2 * {row}] - low) / (high - low); }})()"
    )
    until(page, f"map.scene.data.pins.includes({row}) && !map.scene.motion && {share} < 0.4")
    settled(page)
    expect(page.locator(".st-key-pin-list")).to_contain_text("Left")
    picture(page, "pinned")
    page.keyboard.press("Control+z")
    until(page, f"!map.scene.data.pins.length && !map.scene.motion && {share} > 0.6")
    settled(page)
    # A dragged item is pinned where it is dropped.
    at = page.evaluate(
        "(r) => document.querySelector('.st-key-map .hv-map').__hv.map.scene.pixel(r)", row
    )
    box = stage(page).bounding_box()
    assert box is not None
    page.keyboard.down("Alt")
    page.mouse.move(box["x"] + at[0], box["y"] + at[1])
    page.mouse.down()
    x, y = page.evaluate(EMPTY)
    page.mouse.move(box["x"] + x, box["y"] + y, steps=5)
    page.mouse.up()
    page.keyboard.up("Alt")
    button = page.locator(".st-key-pin-dropped button").first
    expect(button).to_have_text(re.compile(r"Pin here, breaks \d+ links?$"))
    settled(page)
    picture(page, "pin-dropped")
    button.click()
    until(page, "map.scene.data.pins.length === 1 && !map.scene.motion")
    settled(page)
    there = page.evaluate(
        "() => { const { scene } = document.querySelector('.st-key-map .hv-map').__hv.map;"
        " return scene.pixel(scene.data.pins[0]); }"
    )
    assert abs(there[0] - x) + abs(there[1] - y) < 0.2 * box["width"]

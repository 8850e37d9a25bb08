"""Browser tests of the app on a phone, by touch."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.harness import Server, Watch, new_context
from tests.browser.test_app import PLANTS, make_map, scene_value, settled, stage, until

WIDE, HIGH = 390, 844
AT = """(row) => {
  const { map } = document.querySelector('.st-key-map .hv-map').__hv;
  const box = map.stage.getBoundingClientRect();
  const [x, y] = map.scene.pixel(row);
  return [box.left + x, box.top + y];
}"""
PIXEL = "document.querySelector('.st-key-map .hv-map').__hv.map.scene.pixel(row)"
# Rows whose points are covered by neither a card nor the sheet.
OPEN = f"""() => {{
  const {{ map }} = document.querySelector('.st-key-map .hv-map').__hv;
  return [...Array(map.scene.n).keys()].filter((row) => {{
    const hit = document.elementFromPoint(...({AT})(row));
    return hit && hit.closest('.hv-stage');
  }});
}}"""


@pytest.fixture
def phone(browser: Browser, server: Server) -> Iterator[Page]:
    context = new_context(
        browser,
        base_url=server.url,
        viewport={"width": WIDE, "height": HIGH},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    )
    page = context.new_page()
    watch = Watch(server.url)
    watch.follow(page)
    yield page
    context.close()
    assert watch.problems == []


# Numbers of lines with and without a name, and the number of links not drawn.
LINES = """() => {
  const { map } = document.querySelector('.st-key-map .hv-map').__hv;
  const pieces = map.overlay.pieces.filter((one) => one.kind === 'linked');
  const chosen = pieces.find((one) => one.chosen);
  const ends = pieces.filter((one) => !one.chosen);
  const named = ends.filter((one) => one.title && one.align !== null).length;
  const more = Number(/[0-9]+/.exec(chosen?.words)?.[0] ?? 0);
  return {
    name: chosen?.align === null ? '' : chosen?.title, named, nameless: ends.length - named,
    told: named + more, all: map.scene.linksTotal,
  };
}"""


def seen(page: Page, rows: list[int]) -> bool:
    """Return whether the points of these rows are uncovered."""
    return set(rows) <= set(page.evaluate(OPEN))


def choose(page: Page, row: int) -> None:
    page.touchscreen.tap(*page.evaluate(AT, row))
    until(page, f"map.scene.count === 1 && map.selection.rows()[0] === {row}")
    settled(page)


def test_file_is_mapped_and_statement_undone_by_touch(phone: Page) -> None:
    page = phone
    page.goto("/")
    upload = page.locator('[data-testid="stFileUploaderDropzone"] button').first
    with page.expect_file_chooser() as chooser:
        upload.tap()
    content = PLANTS.encode()
    chooser.value.set_files([{"name": "plants.csv", "mimeType": "text/csv", "buffer": content}])
    expect(page.get_by_role("heading", name="40 plants")).to_be_visible()
    page.get_by_role("button", name="Create map").tap()
    page.wait_for_function(
        "() => document.querySelector('.hv-at-map') && document.querySelector("
        "'.st-key-map .hv-map[data-drawn]')?.__hv?.map.scene.n === 40"
    )
    expect(page.locator(".hv-job")).to_contain_text("Map up to date")
    until(page, "!map.scene.data.live && !map.scene.motion && !map.scene.flight")
    settled(page)
    meant = scene_value(page, "data.colour.option")
    # Two distant items above the sheet.
    first = page.evaluate(OPEN)[0]
    choose(page, first)
    until(page, "!map.scene.flight")
    page.get_by_role("button", name="belongs with").tap()
    until(page, "map.scene.data.draft.groups.A")
    settled(page)
    second = next(row for row in reversed(page.evaluate(OPEN)) if row != first)
    choose(page, second)
    until(page, "map.statements.pairs.length === 1")
    settled(page)
    # The sheet is low, and shows the draft when it is pulled up.
    panel = page.locator(".st-key-panel")
    expect(panel.get_by_role("heading", name="1 new pair will be pulled together")).to_be_visible()
    page.get_by_role("button", name="Move the map").tap()
    expect(panel.get_by_text("What changed")).to_be_visible()
    settled(page)
    until(page, "!map.scene.motion && !map.scene.flight")
    # Both are visible above the bar and the sheet, and the colours are unchanged.
    assert scene_value(page, "count") == 2
    assert seen(page, [first, second])
    assert scene_value(page, "data.colour.option") == meant
    undo = page.locator(".st-key-undo button").first
    expect(undo).to_contain_text("together")
    undo.tap()
    expect(page.get_by_role("button", name="Redo ")).to_contain_text("together")
    settled(page)
    until(page, "!map.scene.motion && !map.scene.flight")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    # After undo the whole map is visible.
    until(page, "!map.scene.view.zoomed")


def test_selected_items_are_visible_and_lines_have_names(phone: Page) -> None:
    page = phone
    page.goto("/map")
    stage(page)
    settled(page)
    until(page, "map.overlay.pieces.length > 0")
    # The outermost visible items and two linked keywords.
    rows = page.evaluate(
        """() => {
          const { map } = document.querySelector('.st-key-map .hv-map').__hv;
          const { pos, view, data } = map.scene;
          const rows = [...Array(map.scene.n).keys()].filter((r) => {
            const [x, y] = [view.x(pos[2 * r]), view.y(pos[2 * r + 1])];
            return x > 0 && x < view.W && y > 0 && y < view.H - view.clear.bottom;
          });
          const outer = [[0, 1], [0, -1], [1, 1], [1, -1]].map(([axis, sign]) => rows.reduce(
            (a, b) => (sign * pos[2 * b + axis] > sign * pos[2 * a + axis] ? b : a)));
          return [...outer, data.datasets[1].start, data.datasets[1].start + 7];
        }"""
    )
    most = 0
    for row in rows:
        page.evaluate(
            "(row) => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
            " map.camera.fit(); map.selection.select([row]); }",
            row,
        )
        expect(page.get_by_role("button", name="belongs with").first).to_be_visible()
        settled(page)
        page.wait_for_function(
            f"() => {{ const lines = ({LINES})();"
            " return lines.name && lines.nameless === 0 && lines.told === lines.all; }"
        )
        most = max(most, page.evaluate(LINES)["named"])
        until(page, "!map.scene.flight")
        assert seen(page, [row])
    assert most >= 3


# Such rows that no other is near to.
FREE = f"""() => ({OPEN})().filter((row, _, rows) => {{
  const [x, y] = ({AT})(row);
  return rows.every((other) => other === row
    || Math.hypot(...({AT})(other).map((v, k) => v - [x, y][k])) > 4);
}})"""


class Fingers:
    """Touches the map as fingers do, at places in pixels of the map."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session = page.context.new_cdp_session(page)
        self.time = time.time()

    def touch(self, kind: str, *places: tuple[float, float], first: int = 0) -> None:
        box = self.page.locator(".hv-stage").bounding_box()
        assert box is not None
        points = [
            {"x": box["x"] + x, "y": box["y"] + y, "id": at}
            for at, (x, y) in enumerate(places, first)
        ]
        # The page sees the time of the events, however slow the machine is.
        self.time += 0.02
        self.session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": points, "timestamp": self.time},
        )

    def move(self, *paths: list[tuple[float, float]]) -> None:
        """Put one finger down at the begin of each path, move along, and lift all."""
        self.touch("touchStart", *(path[0] for path in paths))
        for places in zip(*(path[1:] for path in paths), strict=True):
            self.touch("touchMove", *places)
        self.touch("touchEnd")


# Scale of the camera and the place on the map of a pixel.
CAMERA = """(x, y) => {
  const { view } = document.querySelector('.st-key-map .hv-map').__hv.map.scene;
  return [view.s, view.dataX(x), view.dataY(y)];
}"""


def camera(page: Page, x: float, y: float) -> list[float]:
    return list(page.evaluate(f"([x, y]) => ({CAMERA})(x, y)", [x, y]))


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_fingers_move_zoom_and_select(
    phone: Page, motion: Literal["reduce", "no-preference"]
) -> None:
    page = phone
    page.emulate_media(reduced_motion=motion)
    page.goto("/map")
    stage(page)
    settled(page)
    until(page, "map.overlay.pieces.length > 0 && !map.scene.flight")
    fingers = Fingers(page)
    # The place between the fingers stays between them.
    before = camera(page, 150, 250)
    steps = [k * 10.0 for k in range(6)]
    fingers.move(
        [(120 - step, 250 + step) for step in steps], [(180 + step, 250 + step) for step in steps]
    )
    scale, *place = camera(page, 150, 300)
    assert scale == pytest.approx(before[0] * 160 / 60, rel=0.02)
    assert place == pytest.approx(before[1:], abs=3 / scale)
    # One finger pans, also the one that stays after a pinch.
    before = camera(page, 200, 200)
    fingers.move([(200, 200), (230, 230), (260, 260)])
    assert camera(page, 260, 260) == pytest.approx(before)
    fingers.touch("touchStart", (100, 200), (200, 200))
    fingers.touch("touchEnd", (200, 200), first=1)
    fingers.touch("touchMove", (150, 220))
    fingers.touch("touchEnd")
    assert camera(page, 310, 280) == pytest.approx(before)
    # A double tap zooms in around the finger.
    page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " map.camera.fly(map.camera.home, 0, false); }"
    )
    until(page, "!map.scene.flight")
    empty = (370.0, 120.0)
    before = camera(page, *empty)
    fingers.move([empty])
    fingers.move([empty])
    until(page, "!map.scene.flight && map.scene.view.zoomed")
    assert camera(page, *empty) == pytest.approx([2 * before[0], *before[1:]])
    # A finger that rests on an item adds it, and removes it the next time. It clicks nothing of the
    # sheet that opens below it.
    page.evaluate(
        "() => document.addEventListener('click', () => document.body.dataset.clicked = '', true)"
    )
    other = page.evaluate(FREE)[0]
    for count in (1, 0):
        place = tuple(page.evaluate(f"(row) => {PIXEL}", other))
        fingers.touch("touchStart", place)
        until(page, "map.pointer.drag?.isHeld && map.scene.held")
        fingers.touch("touchEnd")
        until(page, f"map.scene.count === {count} && !map.scene.held")
        settled(page)
        until(page, "!map.scene.flight")
    expect(page.locator("body[data-clicked]")).to_have_count(0)
    page.touchscreen.tap(*page.evaluate(AT, other))
    until(page, "map.scene.count === 1")
    # A single tap beside all items selects nothing.
    fingers.move([empty])
    until(page, "map.scene.count === 0")
    assert page.evaluate("[scrollX, scrollY, visualViewport.scale]") == [0, 0, 1]


def tap_item(page: Page) -> Locator:
    """Open the map and tap an item, which opens the sheet; give the element that has its state."""
    page.goto("/map")
    stage(page)
    settled(page)
    page.touchscreen.tap(*page.evaluate(AT, page.evaluate(OPEN)[0]))
    return page.locator("html")


def test_sheet_is_low_while_statement_is_drafted(phone: Page) -> None:
    page, sheet = phone, tap_item(phone)
    expect(sheet).to_have_attribute("data-hv-sheet", "half")
    page.get_by_role("button", name="belongs with").tap()
    expect(sheet).to_have_attribute("data-hv-sheet", "low")
    settled(page)
    # The whole sentence is between the map and the sheet.
    bar = page.locator(".st-key-statement-bar").bounding_box()
    panel = page.locator(".st-key-panel").bounding_box()
    assert bar is not None and panel is not None
    assert panel["y"] > 0.7 * HIGH
    assert 0.55 * HIGH < bar["y"] < bar["y"] + bar["height"] <= panel["y"]
    verbs = page.locator('.st-key-statement-bar [data-testid="stButtonGroup"] button')
    for at in range(verbs.count()):
        box = verbs.nth(at).bounding_box()
        assert box is not None and box["x"] + box["width"] <= bar["x"] + bar["width"]
    page.locator(".st-key-drop-A").get_by_role("button", name="×").tap()
    expect(sheet).to_have_attribute("data-hv-sheet", "half")


def test_sheet_is_lowered_off_the_charts_and_can_be_raised(phone: Page) -> None:
    page, sheet = phone, tap_item(phone)
    expect(sheet).to_have_attribute("data-hv-panel", "open")
    expect(sheet).to_have_attribute("data-hv-sheet", "half")
    page.get_by_role("button", name="Tools", exact=True).tap()
    page.get_by_role("button", name="Charts", exact=True).tap()
    expect(sheet).to_have_attribute("data-hv-sheet", "low")
    value = page.locator(".hv-chart .hv-value").first
    value.tap()
    expect(value).to_have_attribute("aria-pressed", "true")
    # A sheet that is raised meanwhile stays.
    height = page.get_by_role("button", name="Height of the panel")
    height.press("Enter")
    expect(sheet).to_have_attribute("data-hv-sheet", "half")
    settled(page)
    expect(sheet).to_have_attribute("data-hv-sheet", "half")
    # A window that becomes narrow again shows the charts, too.
    page.set_viewport_size({"width": 1000, "height": HIGH})
    expect(page.locator(".st-key-panel")).to_have_css("width", "300px")
    page.set_viewport_size({"width": WIDE, "height": HIGH})
    expect(sheet).to_have_attribute("data-hv-sheet", "low")
    height.press("Enter")
    page.get_by_role("button", name="Show table").press("Enter")
    expect(sheet).to_have_attribute("data-hv-sheet", "low")
    page.get_by_role("grid", name="Items").get_by_role("row").nth(1).tap()
    until(page, "map.scene.count === 1")
    settled(page)


def test_sheet_head_resizes_sheet(phone: Page) -> None:
    page = phone
    page.goto("/map")
    stage(page)
    settled(page)
    # A single map needs no list, and a tab opens the sheet.
    expect(page.locator("[data-tab=Maps]")).to_be_hidden()
    grip = page.get_by_role("button", name="Height of the panel")
    expect(grip).to_have_count(0)
    best = re.compile(r"\n([\d.]+) % of links are close .*\nBest map so far: \1 %\.$")
    expect(page.locator(".hv-film-strip button")).to_have_attribute("title", best)
    make_map(page, "Principal")
    until(page, "map.filmStrip.maps().length === 2")
    settled(page)
    page.locator("[data-tab=Guidance]").tap()
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()
    settled(page)
    head = grip.bounding_box()
    last = page.locator("[data-tab=Maps]").bounding_box()
    assert head is not None and last is not None
    right = last["x"] + last["width"]
    # There is space for a finger next to the tabs, even at 320 pixels.
    assert min(head["height"], head["x"] + head["width"] - right - (WIDE - 320)) >= 44
    sheet = page.locator("html")
    before = sheet.get_attribute("data-hv-sheet")
    page.touchscreen.tap(right + 30, head["y"] + head["height"] / 2)
    expect(sheet).not_to_have_attribute("data-hv-sheet", str(before))
    # The maps are a list in the sheet and need no request.
    page.locator("[data-tab=Maps]").tap()
    maps = page.get_by_role("tabpanel", name="Maps").get_by_role("button")
    expect(maps).to_have_count(2)
    expect(maps.last).to_have_attribute("aria-pressed", "true")
    for at in range(2):
        expect(maps.nth(at)).to_contain_text(
            re.compile(r"[\d.]+ % of links are close \(chance: [\d.]+ %\)")
        )
    assert page.evaluate(
        "() => { const box = document.querySelector('.hv-maps button').getBoundingClientRect();"
        " const hit = document.elementFromPoint(box.left + 20, box.top + 20);"
        " return Boolean(hit && hit.closest('.hv-maps')); }"
    )
    page.locator("[data-tab=Clusters]").tap()
    expect(page.locator("[data-tab=Clusters]")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel", name="Maps")).to_have_count(0)


def test_start_begins_with_own_files_and_samples(phone: Page) -> None:
    page = phone
    page.goto("/")
    opens = page.get_by_role("button", name="Open this map")
    expect(opens).to_be_visible()
    settled(page)
    tops = [
        part.bounding_box()
        for part in (page.get_by_test_id("stFileUploaderDropzone"), page.locator(".st-key-gallery"))
    ]
    ends = [box["y"] + box["height"] for box in tops if box]
    assert len(ends) == 2
    assert max(ends) < HIGH - 84
    below = opens.bounding_box()
    assert below is not None
    assert below["y"] > max(ends)


def test_dots_are_small_on_a_phone_and_grow_with_the_zoom(phone: Page) -> None:
    page = phone
    page.goto("/map")
    stage(page)
    settled(page)
    # 1,894 dots; as large as on a wide screen they would cover each other.
    until(page, "map.points.drawer.size > 3.4 && map.points.drawer.size < 3.8")
    page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " const { cx, cy, s, k } = map.camera.home;"
        " map.camera.fly({ cx, cy, s: 4 * s, k }, 0, true); }"
    )
    until(page, "map.points.drawer.size > 4.5")


def test_whole_map_has_the_four_largest_names(phone: Page) -> None:
    page = phone
    page.goto("/map")
    stage(page)
    settled(page)
    names = "map.overlay.pieces.filter((p) => p.kind === 'name' || p.kind === 'word')"
    until(page, f"map.regions.levels.length && {names}.length > 0")
    until(page, f"{names}.length <= 4 && {names}.every((p) => p.level === 0)")


def test_sentence_on_several_items_fits_the_window(phone: Page) -> None:
    page = phone
    page.goto("/map")
    stage(page)
    settled(page)
    page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " map.selection.select([3, 4, 5, 6]); }"
    )
    page.get_by_role("button", name="belong together").tap()
    settled(page)
    bar = page.locator(".st-key-statement-bar").bounding_box()
    verbs = page.locator('.st-key-statement-bar [data-testid="stButtonGroup"] button')
    expect(verbs).to_have_count(4)
    for at in range(verbs.count()):
        box = verbs.nth(at).bounding_box()
        assert bar is not None
        assert box is not None
        assert box["x"] + box["width"] <= bar["x"] + bar["width"]
    # Pictures that make room for each other stay in the window.
    until(page, "map.overlay.pieces.filter((p) => p.kind === 'linked' && p.chosen).length === 4")
    lefts = page.evaluate("""() => {
      const { map } = document.querySelector('.st-key-map .hv-map').__hv;
      return map.overlay.pieces.filter((p) => p.kind === 'linked').map(
        ({ row, off, disc }) => map.scene.pixel(row)[0] + off[0] - disc);
    }""")
    assert min(lefts) >= 0

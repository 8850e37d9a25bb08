"""Browser tests of the app on a phone, by touch."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.harness import Server, Watch, new_context
from tests.browser.test_app import PLANTS, settled, stage, told, until

WIDE, HIGH = 390, 844
AT = """(row) => {
  const { map } = document.querySelector('.st-key-map .hv-map').__hv;
  const box = map.stage.getBoundingClientRect();
  const [x, y] = map.scene.pixel(row);
  return [box.left + x, box.top + y];
}"""
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
    meant = told(page, "data.colour.option")
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
    # The sheet shows the draft.
    panel = page.locator(".st-key-panel")
    expect(panel.get_by_role("heading", name="1 new pair will be pulled together")).to_be_visible()
    page.get_by_role("button", name="Move the map").tap()
    expect(panel.get_by_text("What changed")).to_be_visible()
    settled(page)
    until(page, "!map.scene.motion && !map.scene.flight")
    # Both are visible above the bar and the sheet, and the colours are unchanged.
    assert told(page, "count") == 2
    assert seen(page, [first, second])
    assert told(page, "data.colour.option") == meant
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


def test_sheet_head_resizes_sheet(phone: Page) -> None:
    page = phone
    page.goto("/map")
    stage(page)
    settled(page)
    page.locator("[data-tab=Guidance]").tap()
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()
    settled(page)
    grip = page.get_by_role("button", name="Height of the panel")
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
    expect(maps).to_have_count(1)
    expect(maps).to_have_attribute("aria-pressed", "true")
    expect(maps).to_contain_text(re.compile(r"[\d.]+ % of links are close \(chance: [\d.]+ %\)"))
    (share,) = re.findall(r"([\d.]+) % of links", maps.inner_text())
    title = maps.get_attribute("title") or ""
    assert title.endswith(f"Best map so far: {share} %.")
    assert page.evaluate(
        "() => { const box = document.querySelector('.hv-maps button').getBoundingClientRect();"
        " const hit = document.elementFromPoint(box.left + 20, box.top + 20);"
        " return Boolean(hit && hit.closest('.hv-maps')); }"
    )
    page.locator("[data-tab=Clusters]").tap()
    expect(page.locator("[data-tab=Clusters]")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel", name="Maps")).to_have_count(0)

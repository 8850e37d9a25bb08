"""Browser tests of the Compare page."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.harness import LOOKS, Picture, each_look
from tests.browser.projects import Projects
from tests.browser.test_app import serious_barriers, settled
from tests.waits import wait_until

PICKED = (
    "Guided projection",
    "Cross-domain matching correlation analysis (CDMCA)",
    "Principal components",
)
EACH = "[...document.querySelectorAll('.hv-map[data-together]')].map((e) => e.__hv.map)"


def compare(page: Page) -> None:
    """Tick three quick methods, and compare them on one split."""
    page.goto("/compare")
    expect(page.get_by_role("heading", name="Is there a better map")).to_be_visible()
    settled(page)
    page.wait_for_function(f"() => {EACH}[0]?.stats.written?.names > 0")
    page.get_by_text("Choose methods and splits").click()
    boxes = page.locator(".st-key-compare-methods").get_by_test_id("stCheckbox")
    # The methods come, and change their order, when what is known of them has been read.
    expect(boxes.filter(has_text="Principal components")).to_be_visible()
    ticked = page.locator(
        '.st-key-compare-methods [data-testid="stCheckbox"]:has(label[data-selected="true"])'
    )
    while (others := ticked.filter(has_not_text=_exactly(*PICKED))).count():
        name = _exactly(others.first.inner_text())
        ticked.filter(has_text=name).locator("label").click()
        expect(ticked.filter(has_text=name)).to_have_count(0)
        settled(page)
    for name in map(_exactly, PICKED):
        if not ticked.filter(has_text=name).count():
            boxes.filter(has_text=name).locator("label").click()
            expect(ticked.filter(has_text=name)).to_have_count(1)
            settled(page)
    expect(ticked).to_have_text(PICKED)
    page.get_by_role("radio", name="1", exact=True).click()
    settled(page)
    page.get_by_role("button", name="Compare 3 methods").click()
    expect(page.locator(".hv-ranks")).to_be_visible()


OTHER_FRAME = """
  const [first, second, third] = maps;
  const { data, view } = second.scene;
  const before = view.cx;
  second.scene.data = { ...data, frame: { ...data.frame, x: [-100, 100] } };
  first.scene.view.cx += 0.01;
  first.linkedMaps.onMove();
  const isKept = view.cx === before;
  second.linkedMaps.leave();
  second.linkedMaps.joinGroup("compare");
  const found = [isKept && view.cx === before, third.scene.view.cx === first.scene.view.cx];
  second.scene.data = data;
  return found;
"""


def _exactly(*titles: str) -> re.Pattern[str]:
    return re.compile(f"^({'|'.join(map(re.escape, titles))})$")


def each(page: Page, what: str) -> list[Any]:
    """Return a figure of each of the maps side by side."""
    found: list[Any] = page.evaluate(f"{EACH}.map((map) => map.{what})")
    return found


def until(page: Page, condition: str) -> None:
    """Wait until a condition on all maps side by side, each called ``map``, holds."""
    page.wait_for_function(
        f"() => {{ const maps = {EACH}; return maps.length === 3"
        f" && maps.every((map) => {condition}); }}"
    )


def test_methods_are_compared_and_their_maps_share_selection_and_camera(page: Page) -> None:
    compare(page)
    rows = page.locator(".hv-rank:not(.hv-rank-head)")
    expect(rows).to_have_count(3)
    # The heading names the method of the first row, whichever wins by what was hidden.
    heading = page.get_by_role("heading", name=re.compile("is best at showing .*neighbours"))
    expect(heading).to_contain_text(rows.first.locator("[role=rowheader] b").inner_text())
    until(page, "map.stats.paints > 0")
    # The map that stood here alone had names of regions, and small maps have none.
    assert wait_until(lambda: each(page, "stats.written.names") == [0, 0, 0])
    # Points of one item lie at one place of the page on no two maps, but the camera is the same.
    assert wait_until(lambda: len({(*at.values(),) for at in each(page, "scene.view.at()")}) == 1)
    page.locator(".st-key-compare-map-0 .hv-stage").scroll_into_view_if_needed()
    box = page.locator(".st-key-compare-map-0 .hv-stage").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.keyboard.down("Shift")
    page.mouse.move(x - 25, y - 25)
    page.mouse.down()
    for dx, dy in ((25, -25), (25, 25), (-25, 25)):
        page.mouse.move(x + dx, y + dy, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    until(page, "map.scene.count > 0")
    settled(page)
    assert len(set(each(page, "scene.count"))) == 1

    # A click in the list replaces it, on all maps. One on a button that is drawn again is lost.
    def choose_first() -> bool:
        page.locator(".st-key-compare-moved button").first.click()
        page.wait_for_timeout(500)
        return set(each(page, "scene.count")) == {1}

    assert wait_until(choose_first)
    page.locator(".st-key-compare-map-1 .hv-stage").focus()
    page.keyboard.press("+")
    until(page, "map.scene.view.s > map.scene.view.fitted * 1.4")
    # A map with other coordinates, such as one that is not drawn yet, neither gives nor gets it.
    assert page.evaluate(f"() => {{ const maps = {EACH}; {OTHER_FRAME} }}") == [True, True]
    page.get_by_role("button", name="Use this map").first.click()
    expect(page.get_by_role("button", name="Working map").first).to_be_disabled()


def test_small_maps_name_what_they_ring(page: Page, projects: Projects, picture: Picture) -> None:
    page.goto(f"/compare?s={projects.compared()}")
    until(page, "map.stats.paints > 0")
    words = "overlay.boxes().filter((p) => p.kind === 'word')"
    state = (
        f"{EACH}.map((map) => ({{words: map.{words}.map((p) => [p.row, ...p.at]),"
        " rings: map.selection.rows().map((r) => map.scene.pixel(r)),"
        " size: [map.scene.view.W, map.scene.view.H]}))"
    )
    for look in each_look(page):
        # The second selection has more items than some places have space for.
        for rows in ([100], [100, 300, 1300], list(range(0, 1200, 100))):
            page.evaluate(f"(rows) => {EACH}[0].selection.select(rows)", rows)
            until(page, f"map.scene.count === {len(rows)} && map.{words}.length >= {len(rows)} / 3")
            settled(page)
            for small_map in page.evaluate(state):
                assert {row for row, *_ in small_map["words"]} <= set(rows)
                rings = [[x - 7, y - 7, x + 7, y + 7] for x, y in small_map["rings"]]
                (W, H), names = small_map["size"], [box for _, *box in small_map["words"]]
                for k, (left, top, right, bottom) in enumerate(names):
                    assert left > 0
                    assert top > 0
                    assert right < W
                    assert bottom < H
                    for a, b, c, d in [*rings, *names[:k]]:
                        assert not (left < c and a < right and top < d and b < bottom)
            picture(page, f"compare-{len(rows)}", look)


# Each text within some elements, with its contrast to the page.
CONTRASTS = """(places) => {
  const luminance = (colour) => colour.match(/[0-9.]+/g).slice(0, 3)
    .map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, k) => sum + part * [0.2126, 0.7152, 0.0722][k], 0);
  const paper = luminance(getComputedStyle(document.querySelector('.stApp')).backgroundColor);
  const out = [];
  for (const place of document.querySelectorAll(places)) {
    const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (!textContent.trim() || !parentElement.checkVisibility()) continue;
      const ink = luminance(getComputedStyle(parentElement).color);
      const [low, high] = [ink, paper].sort((a, b) => a - b);
      out.push([textContent, (high + 0.05) / (low + 0.05)]);
    }
  }
  return out;
}"""


def test_page_fits_every_size(page: Page, projects: Projects, picture: Picture) -> None:
    page.goto(f"/compare?s={projects.compared()}")
    expect(page.locator(".hv-ranks")).to_be_visible()
    until(page, "map.stats.paints > 0")
    for look in each_look(page):
        settled(page)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0
        # No word of the table is cut off.
        cut = page.evaluate(
            "[...document.querySelectorAll('.hv-rank > span:not([role=rowheader])')]"
            ".filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length"
        )
        assert cut == 0
        # No row is wider than the table, into the maps next to it.
        wide_rows = page.evaluate(
            "[...document.querySelectorAll('.hv-rank')]"
            ".filter((row) => row.scrollWidth > row.clientWidth + 1).length"
        )
        assert wide_rows == 0
        frames = page.evaluate(
            "[...document.querySelectorAll('[class*=st-key-compare-cell]')].map((cell) => {"
            " const [a, b] = [cell, cell.querySelector('.hv-stage')]"
            ".map((e) => e.getBoundingClientRect());"
            " return b.left >= a.left && b.right <= a.right && b.bottom <= a.bottom; })"
        )
        assert all(frames)
        assert len(frames) > 1
        texts = page.evaluate(CONTRASTS, ".st-key-compare-moved-head, .st-key-compare-moved")
        assert len(texts) > 12
        assert {text: contrast for text, contrast in texts if contrast < 4.5} == {}
        picture(page, "compare", look)
        # Both themes and both sizes, but not each with each.
        if look in (LOOKS[0], LOOKS[-1]):
            assert serious_barriers(page) == set()

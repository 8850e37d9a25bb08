"""Browser tests of the margins of the map: title, legend, and what appears only when needed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from hetviz.data import Filter
from hetviz.workspace import SetFilters, SetView
from tests.browser.harness import Open, Server, wait_in
from tests.browser.projects import Projects
from tests.browser.test_app import make_map, open_map_form, settled, stage, until

# The items in the window of which something else than the map is seen.
_COVERED = """() => {
  const { scene, root } = document.querySelector(".st-key-map .hv-map").__hv.map;
  const { left, top } = root.querySelector(".hv-stage").getBoundingClientRect();
  let count = 0;
  for (let r = 0; r < scene.n; r++) {
    if (!scene.isShown[r] || Number.isNaN(scene.pos[2 * r])) continue;
    const [x, y] = scene.pixel(r);
    if (x < 0 || y < 0 || x > scene.view.W || y > scene.view.H) continue;
    count += !document.elementFromPoint(x + left, y + top)?.closest(".hv-stage");
  }
  return count;
}"""
_SIZES = [(1440, 900), (1920, 1080), (900, 700), (390, 844)]
# Moves 40 items to a ring around the others, and shows all of the map.
_SCATTER = """() => {
  const { map } = document.querySelector(".st-key-map .hv-map").__hv;
  const { scene, camera } = map;
  const { x, y } = scene.data.frame;
  scene.geometry = scene.geometry.slice();
  for (let r = 0; r < 40; r++) {
    const [angle, far] = [(r / 40) * 2 * Math.PI, 0.56 + 0.02 * (r % 10)];
    scene.geometry[2 * r] = (x[0] + x[1]) / 2 + Math.cos(angle) * far * (x[1] - x[0]);
    scene.geometry[2 * r + 1] = (y[0] + y[1]) / 2 + Math.sin(angle) * far * (y[1] - y[0]);
  }
  scene.pos = scene.geometry.slice();
  map.layers.update();
  camera.fit();
}"""


def check_with_an_item_selected(page: Page) -> None:
    """Check at the width of a phone that no item is covered while one is selected."""
    page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([10])"
    )
    expect(page.locator("html[data-hv-panel=open]")).to_be_attached()
    expect(page.get_by_role("button", name="Show only linked items")).to_be_visible()
    settled(page)
    until(page, "!map.scene.flight")
    assert page.evaluate(_COVERED) == 0
    page.locator(".hv-stage").focus()
    page.keyboard.press("Escape")
    until(page, "map.scene.count === 0 && !map.scene.flight")


@pytest.mark.parametrize("sample", ["emoji", "world", "debian"])
def test_no_item_lies_under_a_card(page: Page, projects: Projects, sample: str) -> None:
    page.goto(f"/map?s={projects.make(sample=sample)}")
    for step in ("", _SCATTER):
        for width, height in _SIZES:
            stage(page)
            page.set_viewport_size({"width": width, "height": height})
            settled(page)
            until(page, f"map.scene.view.W === {width} && !map.scene.flight")
            if step:
                page.evaluate(step)
                until(page, "!map.scene.flight")
            assert page.evaluate(_COVERED) == 0, (step, width)
        if not step:
            check_with_an_item_selected(page)
    said = page.locator(".hv-status").get_by_text(re.compile("off screen$"))
    outside = page.evaluate("document.querySelector('.hv-map').__hv.map.camera.nOffScreen")
    expect(said).to_have_count(1 if outside else 0)


def test_idle_map_says_what_it_shows_and_covers_no_item(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/map")
    settled(page)
    expect(page.locator(".hv-map-title")).to_have_text("1,273 emoji and 621 keywords")
    sentence = page.locator(".hv-map-sentence")
    expect(sentence).to_have_text(re.compile(r"^\d+ % of links are close \(chance: \d+ %\)$"))
    assert page.evaluate(_COVERED) == 0
    # A single map, all in view, needs neither a strip of maps nor an overview.
    expect(page.locator(".hv-film-strip")).to_be_hidden()
    expect(page.locator(".hv-overview")).to_be_hidden()
    page.locator(".hv-stage").focus()
    page.keyboard.press("+")
    expect(page.locator(".hv-overview")).to_be_visible()
    page.keyboard.press("0")
    expect(page.locator(".hv-overview")).to_be_hidden()
    sentence.click()
    expect(page.get_by_role("dialog")).to_contain_text("close")


_SHOWN_SIZES = [(1440, 900), (900, 700), (390, 844)]


def _n_controls(page: Page) -> int:
    """Return the number of controls without lists and the link that the Tab key shows."""
    controls = page.locator(":is(button, input, summary):visible:enabled, a[href]:visible")
    lists = ":is(.hv-row, .hv-film-strip button):visible"
    return controls.count() - page.locator(f"{lists}, a[href^='#']:visible").count()


@pytest.mark.parametrize("size", _SHOWN_SIZES)
def test_idle_map_has_at_most_14_controls(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/map")
    settled(page)
    expect(page.locator(".st-key-new-map button")).to_be_attached()
    # Until its first names are there, the page hides what it shows.
    stage(page)
    expect(page.get_by_role("button", name="Tools", exact=True)).to_be_visible()
    settled(page)
    assert 0 < _n_controls(page) <= 14


def test_idle_map_has_at_most_14_controls_after_a_statement(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/map")
    stage(page)
    settled(page)
    select = (
        "(row) => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([row])"
    )
    page.evaluate(select, 10)
    page.get_by_role("button", name="belongs with").click()
    until(page, "map.scene.data.draft.groups.A")
    page.evaluate(select, 1400)
    page.get_by_role("button", name="Move the map").click()
    page.get_by_role("button", name="Keep", exact=True).click()
    settled(page)
    page.get_by_role("button", name="Close the panel").click()
    page.locator(".hv-stage").focus()
    page.keyboard.press("Escape")
    until(page, "map.scene.count === 0 && !map.scene.flight && !map.scene.motion")
    settled(page)
    for width, height in _SHOWN_SIZES:
        page.set_viewport_size({"width": width, "height": height})
        until(page, f"map.scene.view.W === {width} && !map.scene.flight")
        expect(page.get_by_role("button", name=re.compile("Undo "))).to_be_enabled()
        wait_in(page, lambda: 0 < _n_controls(page) <= 14)


@pytest.mark.parametrize("size", _SHOWN_SIZES)
def test_one_button_of_the_legend_opens_colours_and_filter(
    page: Page, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/map")
    settled(page)
    if size[0] <= 1100:
        page.locator(".hv-pill").click()
    change = page.get_by_role("button", name=re.compile("^Colour:"))
    change.press("Enter")
    form = page.locator(".st-key-filter-form")
    expect(form).to_be_focused()
    expect(change).to_have_attribute("aria-expanded", "true")
    expect(form.get_by_role("button", name="Subgroup of emoji")).to_be_visible()
    # The column of the colours.
    expect(form.get_by_role("combobox", name="Column")).to_be_in_viewport()
    expect(form.locator(".hv-bars")).to_contain_text("Objects")
    box, above = page.get_by_test_id("stPopoverBody").bounding_box(), change.bounding_box()
    assert box is not None
    assert above is not None
    assert above["y"] <= box["y"] <= above["y"] + 60
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size[0]
    assert box["y"] + box["height"] <= size[1]
    page.keyboard.press("Escape")
    expect(form).to_be_hidden()
    expect(change).to_be_focused()
    change.click()
    expect(form).to_be_visible()
    change.click()
    expect(form).to_be_hidden()


def test_histogram_marks_the_range_that_the_filter_keeps(page: Page, projects: Projects) -> None:
    colour = SetView(colour='["emoji", "n_keywords"]')
    page.goto(f"/map?s={projects.make(colour)}")
    settled(page)
    page.get_by_role("button", name=re.compile("^Colour:")).click()
    form = page.locator(".st-key-filter-form")
    chart = form.get_by_role("img", name="1,273 values from 0 to 14")
    expect(chart).to_be_visible()
    low = form.get_by_role("slider").first
    low.focus()
    page.keyboard.press("ArrowRight")
    mark = chart.locator("u")
    expect(mark).to_be_visible()
    box, whole = mark.bounding_box(), chart.bounding_box()
    assert box is not None
    assert whole is not None
    assert box["x"] == pytest.approx(whole["x"] + whole["width"] / 15, abs=1)
    assert box["x"] + box["width"] == pytest.approx(whole["x"] + whole["width"], abs=1)
    settled(page)


@pytest.mark.parametrize("size", [(1440, 900), (900, 700), (390, 844)])
def test_active_filters_stay_in_sight_and_are_cleared_with_one_click(
    page: Page, projects: Projects, size: tuple[int, int]
) -> None:
    only_food = Filter("emoji", "group", values=("food-drink",))
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"/map?s={projects.make(SetFilters([only_food]))}")
    settled(page)
    expect(page.get_by_text(re.compile(r"^Shown 7\d\d of 1,894$"))).to_be_visible()
    page.locator(".st-key-filters").get_by_role("button").click()
    expect(page.locator(".st-key-filters")).to_have_count(0)
    until(page, "map.scene.visible === 1894")
    settled(page)


def test_new_map_opens_from_the_tools_and_leaves_the_focus_there(page: Page) -> None:
    page.goto("/map")
    settled(page)
    open_map_form(page)
    form = page.locator(".st-key-maker")
    expect(form).to_be_focused()
    page.keyboard.press("Escape")
    expect(form).to_be_hidden()
    expect(page.get_by_role("button", name="Tools")).to_be_focused()


_SECOND = "document.querySelectorAll('.hv-colours .hv-swatch')[1]"
_PICK = """(colour) => {
  const picker = document.querySelector(".hv-picker");
  picker.value = colour;
  for (const kind of ["input", "change"]) picker.dispatchEvent(new Event(kind, { bubbles: true }));
}"""
_DRAWN = "(c) => document.querySelector('.hv-map').__hv.map.scene.palette[2] === c"
_CHOICES = "document.querySelector('.hv-map').__hv.map.scene.data.colour.choices.light"


def test_swatch_offers_the_palette_and_other_colours(page: Page) -> None:
    page.goto("/map")
    settled(page)
    row = page.locator(".hv-colours .hv-row").nth(1)
    expect(row).to_be_visible()
    usual = page.evaluate(f"{_SECOND}.style.background")
    row.locator(".hv-swatch").click()
    chooser = page.get_by_role("dialog", name="Colour of Travel places")
    expect(chooser.get_by_role("button", name="Colour")).to_have_count(12 + 1)
    expect(row).to_have_attribute("aria-pressed", "false")
    tenth = page.evaluate(f"{_CHOICES}[9]")
    chooser.get_by_role("button", name="Colour 10").click()
    expect(chooser).to_be_hidden()
    page.wait_for_function(_DRAWN, arg=tenth)
    reset = page.get_by_role("button", name="Reset colours")
    expect(reset).to_be_visible()
    # A step, which undo reverts, and redo repeats.
    page.get_by_role("button", name="Undo", exact=False).first.click()
    expect(reset).to_have_count(0)
    assert page.evaluate(f"{_SECOND}.style.background") == usual
    row.locator(".hv-swatch").click()
    page.evaluate(_PICK, "#f4f2e0")
    warning = page.locator(".hv-status").get_by_text("Travel places is hard to see on this")
    expect(warning).to_be_visible()
    settled(page)
    page.reload()
    expect(reset).to_be_visible()
    page.wait_for_function(_DRAWN, arg="#f4f2e0")
    page.emulate_media(color_scheme="dark")
    expect(warning).to_have_count(0)
    page.emulate_media(color_scheme="light")
    settled(page)
    reset.click()
    expect(reset).to_have_count(0)
    assert page.evaluate(f"{_SECOND}.style.background") == usual
    settled(page)


def test_colour_that_is_not_kept_is_drawn_as_before(page: Page) -> None:
    """A step that is undone at once changes nothing that the server says about colours."""
    page.goto("/map")
    stage(page)
    settled(page)
    usual = page.evaluate("document.querySelector('.hv-map').__hv.map.scene.palette[2]")
    page.evaluate(
        "document.querySelector('.st-key-map .hv-map').__hv.map.legend.preview(1, '#123456')"
    )
    page.wait_for_function(_DRAWN, arg="#123456")
    page.locator(".st-key-project button").first.click()
    page.get_by_label("Project name").fill("Signs")
    page.keyboard.press("Enter")
    page.wait_for_function(_DRAWN, arg=usual)


def test_menu_of_the_project_closes_when_another_page_opens(page: Page) -> None:
    page.goto("/map")
    settled(page)
    page.locator(".st-key-project button").first.click()
    page.get_by_role("link", name="Start: all projects, or a new one").click()
    expect(page.locator(".hv-at-start")).to_have_count(1)
    expect(page.get_by_label("Project name")).to_have_count(0)


def test_colours_are_chosen_by_keys(page: Page) -> None:
    page.goto("/map")
    settled(page)
    row = page.locator(".hv-colours .hv-row").nth(1)
    row.focus()
    page.keyboard.press("e")
    chooser = page.get_by_role("dialog", name="Colour of Travel places")
    # The colour that it has is the first stop.
    expect(chooser.get_by_role("button", name="Colour 2, the colour of Travel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(chooser).to_be_hidden()
    expect(row).to_be_focused()
    page.keyboard.press("e")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    ninth = page.evaluate(f"{_CHOICES}[8]")
    page.keyboard.press("Enter")
    page.wait_for_function(_DRAWN, arg=ninth)
    expect(row).to_be_focused()
    settled(page)
    row.press("e")
    chooser.get_by_role("button", name="Usual colour").press("Enter")
    expect(page.get_by_role("button", name="Reset colours")).to_have_count(0)
    settled(page)


_MANY_COLOURS = """() => {
  const { map } = document.querySelector(".st-key-map .hv-map").__hv;
  const title = "Share of the yearly budget that the council spent on places of kind";
  map.scene.data.colours = Array.from({ length: 50 }, (_, k) => (
    { group: k < 25 ? "customers" : "products", key: String(k), title: `${title} ${k}` }));
  map.legend.update();
}"""
_OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".hv-colours-menu > :is(button, p):not([hidden])")]
    .map((entry) => entry.getBoundingClientRect());
  return boxes.slice(1).filter((box, k) => box.top < boxes[k].bottom - 0.5).length;
}"""


def test_colour_menu_of_many_columns_is_searched_and_overlaps_nowhere(page: Page) -> None:
    page.goto("/map")
    settled(page)
    button = page.get_by_role("button", name=re.compile("^Colour:"))
    expect(button).to_be_visible()
    page.evaluate(_MANY_COLOURS)
    button.click()
    menu = page.locator(".st-key-filter-form .hv-colours-menu")
    colours = menu.locator("button:visible")
    expect(colours).to_have_count(50)
    expect(menu.get_by_text("products", exact=True)).to_be_visible()
    assert page.evaluate(_OVERLAPS) == 0
    box = menu.bounding_box()
    assert box is not None and box["y"] + box["height"] <= page.evaluate("innerHeight")
    menu.get_by_label("Find a colour").fill("kind 37")
    expect(colours).to_have_count(1)
    # A heading without entries says nothing.
    expect(menu.get_by_text("customers", exact=True)).to_be_hidden()


_DEMO = "document.querySelector('.st-key-map .hv-map')?.__hv?.map?.demo"


def test_start_page_shows_that_the_map_can_be_moved(open_page: Open, server: Server) -> None:
    page = open_page(server.url, motion=True)
    page.goto("/")
    caption = page.locator(".hv-demo")
    expect(caption).to_contain_text("Example: coconut belongs with cherries.")
    # It starts by itself, moves the map, and moves it back.
    page.wait_for_function(f"() => {_DEMO}?.phase === 'moved' && !{_DEMO}.map.scene.motion")
    assert page.evaluate(f"{_DEMO}.map.scene.pos[0] !== {_DEMO}.map.scene.geometry[0]")
    page.wait_for_function(f"() => {_DEMO}.phase === null && !{_DEMO}.map.scene.motion")
    assert page.evaluate(
        f"{_DEMO}.map.scene.pos.every((x, k) => x === {_DEMO}.map.scene.geometry[k])"
    )
    again = page.get_by_role("button", name="Play again")
    again.click()
    page.get_by_role("button", name="Stop").click()
    expect(again).to_be_visible()
    settled(page)


def test_start_page_shows_a_still_under_reduced_motion(page: Page) -> None:
    page.goto("/")
    page.wait_for_function(f"() => {_DEMO}?.phase === 'still'")
    page.get_by_role("button", name="Hide", exact=True).click()
    expect(page.get_by_role("button", name="Show", exact=True)).to_be_visible()
    assert page.evaluate(f"!{_DEMO}.map.scene.motion")
    settled(page)


@pytest.mark.parametrize("size", [(1400, 900), (900, 700), (390, 844)])
def test_help_leaves_panel_in_view(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/map")
    stage(page)
    page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([10])"
    )
    panel, help_ = page.locator(".st-key-panel"), page.locator(".st-key-help-body")
    expect(panel.get_by_text("Linked with", exact=True)).to_be_visible()
    settled(page)

    def open_help() -> None:
        # On a phone it has no button of its own.
        if size[0] == 390:
            page.get_by_role("button", name="Tools").click()
            page.get_by_role("button", name="Help and keys").click()
        else:
            page.locator(".st-key-help button").click()

    open_help()
    expect(help_).to_be_visible()
    boxes = [
        one.bounding_box()
        for one in (page.get_by_test_id("stPopoverBody").filter(has=help_), panel)
    ]
    (left, top, right, bottom), beside = [
        (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
        for box in boxes
        if box is not None
    ]
    assert right <= beside[0] or bottom <= beside[1]
    assert left >= 0
    assert top >= 44
    page.keyboard.press("Escape")
    expect(help_).to_be_hidden()
    open_help()
    expect(help_).to_be_visible()
    # A click on the panel uses the panel.
    page.mouse.click(beside[0] + 60, beside[3] - 20)
    expect(help_).to_be_hidden()


def test_help_icons_are_large_enough_to_click(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    sizes = page.evaluate(
        "() => [...document.querySelectorAll('[data-testid=stTooltipIcon]'), "
        "document.querySelector('.st-key-help button')]"
        ".map((one) => one.querySelector('[data-testid=stTooltipHoverTarget]') ?? one)"
        ".map((one) => one.getBoundingClientRect()).filter((box) => box.width)"
        ".map((box) => Math.min(box.width, box.height))"
    )
    assert sizes
    assert min(sizes) >= 24


# Sizes of all visible texts, with an example; icons of Streamlit are letters of a font.
_TEXT_SIZES = """() => {
  const sizes = {};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    const isIcon = element.closest("script, style, [data-testid=stIconMaterial]");
    if (!text.data.trim() || isIcon) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const box = range.getBoundingClientRect();
    if (!isShown || box.width < 2 || box.height < 2) continue;
    sizes[getComputedStyle(element).fontSize] ??= text.data.trim().slice(0, 40);
  }
  for (const field of document.querySelectorAll("input, textarea")) {
    if (field.checkVisibility()) sizes[getComputedStyle(field).fontSize] ??= field.placeholder;
  }
  return sizes;
}"""
_FIVE = {"12.5px", "14px", "15px", "19px", "25px"}


@pytest.mark.parametrize("size", [(1440, 900), (900, 700), (390, 844)])
def test_map_page_uses_five_text_sizes(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/map")
    stage(page)
    settled(page)
    sizes = page.evaluate(_TEXT_SIZES)
    assert sizes
    assert {size: text for size, text in sizes.items() if size not in _FIVE} == {}
    page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([10])"
    )
    panel = page.locator(".st-key-panel")
    expect(panel.get_by_text("Linked with", exact=True)).to_be_visible()
    expect(page.locator(".st-key-statement-bar")).to_be_visible()
    settled(page)
    sizes = page.evaluate(_TEXT_SIZES)
    assert {size: text for size, text in sizes.items() if size not in _FIVE} == {}


_OVERLAPPING = """() => {
  const names = [".hv-map-strip > :not([hidden])", ".st-key-new-map button",
    ".st-key-statement-bar", ".hv-bar", ".st-key-panel"];
  const cards = names.flatMap((name) => [...document.querySelectorAll(name)])
    .filter((card) => card.checkVisibility({ visibilityProperty: true }))
    .map((card) => [card.className, card.getBoundingClientRect()])
    .filter(([, box]) => box.width && box.height);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return cards.flatMap(([name, a], k) => cards.slice(k + 1)
    .filter(([, b]) => meet(a, b)).map(([other]) => [name, other]));
}"""


def test_sentence_and_strip_of_maps_share_the_foot(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/map")
    stage(page)
    settled(page)
    make_map(page, "Principal")
    expect(page.locator(".hv-film-strip button")).to_have_count(2)
    page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([10])"
    )
    expect(page.locator(".st-key-statement-bar")).to_be_visible()
    settled(page)
    for width, height in [(1440, 900), (900, 700), (390, 844)]:
        page.set_viewport_size({"width": width, "height": height})
        until(page, f"map.scene.view.W === {width} && !map.scene.flight && !map.scene.motion")
        assert page.evaluate(_OVERLAPPING) == [], width
        if width > 390:
            assert page.evaluate(_COVERED) == 0, width


_RECORD = """() => {
  window.names = [];
  const text = (selector) => document.querySelector(selector)?.textContent;
  new MutationObserver((changes) => {
    if (changes.some(({ addedNodes }) => [...addedNodes].some((node) => node.matches?.(".hv-item-preview")))) {
      window.names.push([text(".hv-item-preview h2"), text(".st-key-statement-bar .hv-group-chip b")]);
    }
  }).observe(document.querySelector(".stApp"), { childList: true });
}"""  # noqa: E501


def test_sentence_names_the_new_item_with_its_panel(page: Page) -> None:
    select = (
        "(rows) => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select(rows)"
    )
    page.set_viewport_size({"width": 900, "height": 700})
    page.goto("/map")
    stage(page)
    settled(page)
    page.evaluate(select, [10])
    chip = page.locator(".st-key-statement-bar .hv-group-chip b")
    expect(chip).to_have_text("melting face")
    settled(page)
    page.evaluate(_RECORD)
    page.evaluate(select, [1300])
    page.wait_for_function("() => window.names.length")
    [[title, named]] = page.evaluate("window.names")
    assert title != "melting face"
    assert named == title
    settled(page)
    expect(chip).to_have_text(title)


# Counts frames in which the map of other data stands under the title of a project of 2,260 items.
_WATCH_OTHER_MAP = """() => {
  window.hvOther = 0;
  const look = () => {
    const root = document.querySelector('.st-key-map .hv-map[data-mode=work][data-known]');
    const n = root?.__hv?.map.scene.n ?? 2260;
    window.hvOther += n !== 2260;
    requestAnimationFrame(look);
  };
  look();
}"""


# Delays the arrays of maps.
_LATE_ARRAYS = """
  const plain = window.fetch;
  const isArray = (of) => String(of?.url ?? of).includes('hv/');
  window.fetch = (...all) => isArray(all[0])
    ? new Promise((go) => setTimeout(() => go(plain(...all)), 300)) : plain(...all);
"""


def test_map_of_another_project_is_hidden_while_arrays_load(page: Page) -> None:
    page.add_init_script(_LATE_ARRAYS)
    page.goto("/")
    expect(page.get_by_role("button", name="Open this map")).to_be_visible()
    page.evaluate(_WATCH_OTHER_MAP)
    page.get_by_role("button", name=re.compile("Open: Countries")).click()
    until(page, "map.scene.n === 2260")
    settled(page)
    expect(page.locator(".st-key-map .hv-map[data-known]")).to_be_visible()
    assert page.evaluate("window.hvOther") == 0


def test_large_numbers_of_the_legend_are_short(page: Page, projects: Projects) -> None:
    page.goto(f"/map?s={projects.make(sample='world')}")
    settled(page)
    page.get_by_role("button", name=re.compile("^Colour:")).click()
    page.get_by_text("Population of countries", exact=True).first.click()
    ends = page.locator(".hv-ends > span")
    expect(ends).to_have_count(2)
    for end in ends.all():
        expect(end).to_have_text(re.compile(r"^[≤≥] \d+(\.\d+)? (M|bn)$"))

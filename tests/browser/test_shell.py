"""Browser tests of the shell: shared map, navigation, keys, help and accessibility."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser.harness import Look, Open, Server, themed
from tests.browser.test_app import (
    drop,
    make_map,
    scene_value,
    serious_barriers,
    settled,
    stage,
    until,
)
from tests.browser.test_recovery import rename

PLACES = ("data", "compare", "export", "map")
# Layout shifts since the page was asked for, whatever the time between them.
SHIFTS = """
window.hvShift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  window.hvShift += entry.value;
})).observe({ type: 'layout-shift', buffered: true });
"""
# Where the parts of the top bar are.
BAR = """() => ['.st-key-top', '.st-key-places', '.st-key-project', '.st-key-help']
  .map((part) => { const b = document.querySelector(part).getBoundingClientRect();
    return [b.x, b.y, b.width, b.height]; }).flat()"""


def go(page: Page, place: str) -> None:
    page.locator(f".st-key-place-{place} a").click()
    page.wait_for_selector(f".hv-at-{place}", state="attached")
    settled(page)


def test_map_element_stays_on_all_pages(page: Page) -> None:
    page.add_init_script(SHIFTS)
    page.goto("/map")
    stage(page)
    settled(page)
    # Nothing has moved while the page appeared. A shift below 0.1 counts as none.
    assert page.evaluate("window.hvShift") < 0.1
    bar = page.evaluate(BAR)
    page.evaluate(
        "() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " window.hvMap = map; map.selection.select([1400]); map.camera.zoomBy(2); }"
    )
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()
    expect(page.locator(".st-key-panel .hv-item-head")).to_be_visible()
    settled(page)
    until(page, "map.scene.count === 1 && map.scene.view.zoomed && !map.scene.flight")
    range_ = scene_value(page, "view.range.x")
    frame = stage(page).bounding_box()
    steps = page.evaluate("history.length")
    for place in PLACES:
        go(page, place)
        # The name of the current page is bold.
        assert page.evaluate(BAR) == pytest.approx(bar, abs=2), place
    # The project is in each address from the start, without an extra history step.
    assert page.evaluate("history.length") == steps + len(PLACES)
    page.go_back()
    page.wait_for_selector(".hv-at-export", state="attached")
    page.go_forward()
    page.wait_for_selector(".hv-at-map", state="attached")
    settled(page)
    assert page.evaluate("window.hvMap === document.querySelector('.st-key-map .hv-map').__hv.map")
    assert scene_value(page, "count") == 1
    assert scene_value(page, "view.range.x") == pytest.approx(range_)
    assert stage(page).bounding_box() == frame
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector('.hv-map[data-theme="dark"]', state="attached")
    assert stage(page).bounding_box() == frame


def test_page_link_works_during_map_messages(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    # Each once during a run and once when idle.
    for number, (place, before) in enumerate(
        [*((place, True) for place in PLACES), *((place, False) for place in PLACES)]
    ):
        page.evaluate(
            "([place, item, before]) => {"
            " const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
            " const link = document.querySelector(`.st-key-place-${place} a`);"
            " if (before) map.selection.select([item]);"
            " setTimeout(() => link.click());"
            " setTimeout(() => map.selection.select([item + 1])); }",
            [place, 1400 + 10 * number, before],
        )
        page.wait_for_selector(f".hv-at-{place}", state="attached")
        settled(page)
    # The click is not repeated after another page was opened.
    page.go_back()
    page.wait_for_selector(".hv-at-export", state="attached")
    settled(page)
    expect(page.locator(".hv-at-export")).to_be_attached()
    # A lost click is repeated.
    page.evaluate(
        "() => document.querySelector('.st-key-place-data a').addEventListener('click',"
        " (event) => { event.preventDefault(); event.stopPropagation(); }, { once: true })"
    )
    go(page, "data")


def test_lists_are_one_tab_stop_and_help_is_searchable(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    stops = page.evaluate(
        "() => [...document.querySelectorAll('.hv-map button')]"
        ".filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0)"
        ".map((e) => e.closest('.hv-bar, .hv-legend, .hv-film-strip').className.split(' ')[0])"
    )
    assert sorted(stops) == ["hv-bar", "hv-legend"]
    # A row that its click redraws keeps the focus.
    row = page.locator(".hv-legend .hv-row").first
    row.focus()
    page.keyboard.press("Enter")
    expect(page.locator('.hv-legend .hv-row[aria-pressed="true"]')).to_be_focused()
    page.keyboard.press("Enter")
    stage(page).focus()
    page.keyboard.press("?")
    help_ = page.locator(".st-key-help-body")
    help_.get_by_label("Search help").fill("lasso")
    expect(help_.get_by_text("lasso, from any tool")).to_be_visible()
    expect(help_.get_by_text("HETVIZ_HOME")).to_be_hidden()
    page.keyboard.press("Escape")
    # The search finds pages too.
    stage(page).focus()
    page.keyboard.press("/")
    page.keyboard.type("compare")
    page.get_by_role("option", name="Compare").click()
    expect(page.get_by_role("heading", name="Is there a better map")).to_be_visible()
    settled(page)
    go(page, "map")
    keys_lead_from_part_to_part(page)


def keys_lead_from_part_to_part(page: Page) -> None:
    """Move the focus over panel, tabs, map and tools."""
    stage(page).focus()
    settled(page)
    page.keyboard.press("3")
    expect(page.get_by_role("tab", name="Clusters")).to_have_attribute("aria-selected", "true")
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()
    # Opening the panel never takes the focus.
    expect(stage(page)).to_be_focused()
    settled(page)
    page.keyboard.press("i")
    expect(page.locator('html[data-hv-panel="closed"]')).to_be_attached()
    page.keyboard.press("F6")
    expect(page.get_by_role("tab", name="Clusters")).to_be_focused()
    page.keyboard.press("Shift+F6")
    expect(stage(page)).to_be_focused()
    page.keyboard.press("Shift+F6")
    # The toolbar keeps its focused tool.
    expect(page.get_by_role("button", name="Tools")).to_be_focused()
    # The keys of search and help work on all pages.
    go(page, "data")
    page.keyboard.press("?")
    expect(page.locator(".st-key-help-body").get_by_label("Search help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-help-body")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Find items, values, commands")).to_be_focused()


def test_bar_shows_working_during_runs(page: Page) -> None:
    page.goto("/")
    settled(page)
    bar = page.locator(".st-key-state")
    expect(bar.get_by_text("Map up to date")).to_be_visible()
    expect(bar.get_by_text("Working …")).to_be_hidden()
    # The text of a slow page is tested without a slow page.
    app = page.locator('[data-testid="stApp"]')
    app.evaluate("(app) => app.setAttribute('data-test-script-state', 'running')")
    expect(bar.get_by_text("Working …")).to_be_visible()
    expect(bar.get_by_text("Map up to date")).to_be_hidden()


@pytest.mark.parametrize("look", [Look("light", 390, 844)], indirect=True, ids=str)
def test_phone_shows_progress_and_cancel(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    make_map(page)
    bar = page.locator(".st-key-state .hv-job .bar")
    expect(bar).to_be_in_viewport()
    page.get_by_role("button", name="Cancel").click()
    expect(bar).to_have_count(0)


def signs_of_tabs(page: Page) -> dict[str, Locator]:
    """Return an element of each tab that shows that it is drawn."""
    panel = page.locator(".st-key-panel")
    return {
        "Item": panel.get_by_text("Click an item to see"),
        "Guidance": panel.get_by_text("Do these two belong together?"),
        "Clusters": panel.get_by_role("button", name="Keep as clusters"),
        "Predict": panel.get_by_role("button", name="Accept"),
    }


def test_pages_and_tabs_open_at_once(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    found = {}

    def look(place: str) -> None:
        settled(page)
        found[place] = serious_barriers(page)
        if place in ("Guidance", "data", "compare", "start"):
            # Tests of these pages have the dark theme.
            return
        # The theme changes only the colours.
        themed(page, "dark")
        found[f"{place}, dark"] = serious_barriers(page, only="color-contrast")
        themed(page, "light")

    for tab, sign in signs_of_tabs(page).items():
        page.get_by_role("tab", name=tab).click()
        expect(sign).to_be_visible()
        look(tab)
    page.locator(".hv-colour").click()
    expect(page.locator(".st-key-filter-form .hv-bars")).to_be_visible()
    look("colours and filter")
    page.keyboard.press("Escape")
    for place in PLACES[:-1]:
        go(page, place)
        if place == "export":
            expect(page.locator(".st-key-export-preview img")).to_be_visible()
        look(place)
    page.locator(".st-key-project button").first.click()
    page.get_by_role("link", name="Start").click()
    expect(page.get_by_role("button", name="Open this map")).to_be_visible()
    look("start")
    assert {place: barriers for place, barriers in found.items() if barriers} == {}


def test_drawn_tab_opens_without_rerun(page: Page) -> None:
    sent: list[object] = []

    def heard(payload: object) -> None:
        # Playwright does not accept bound methods of lists.
        sent.append(payload)

    page.on("websocket", lambda socket: socket.on("framesent", heard))
    page.goto("/map")
    stage(page)
    settled(page)
    panel = page.locator(".st-key-panel")
    shown = signs_of_tabs(page)
    del shown["Item"]
    for tab, sign in shown.items():
        page.get_by_role("tab", name=tab).click()
        expect(sign).to_be_visible()
    settled(page)
    before = runs(sent)
    for tab, sign in [*shown.items(), *shown.items()]:
        page.get_by_role("tab", name=tab).click()
        expect(sign).to_be_visible()
        assert sum(other.is_visible() for other in shown.values()) == 1
    assert runs(sent) == before
    # A key of a hidden tab does nothing.
    page.get_by_role("tab", name="Clusters").click()
    panel.get_by_text("links stay inside").first.click()
    for key in ("y", "n", "ArrowLeft", "s"):
        page.keyboard.press(key)
    page.get_by_role("tab", name="Predict").click()
    expect(shown["Predict"]).to_be_visible()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()
    assert runs(sent) == before
    # The next run keeps the tab, and its keys work.
    panel.get_by_text("Answers are saved right away").click()
    page.keyboard.press("y")
    expect(panel.get_by_text("1 of 1 candidates were right.")).to_be_visible()
    expect(shown["Predict"]).to_be_visible()
    # A tab drawn before the last statement is not reused.
    page.get_by_role("tab", name="Guidance").click()
    panel.get_by_text("Details", exact=True).click()
    expect(panel.get_by_text(re.compile("4,131 links"))).to_be_visible()


def runs(sent: list[object]) -> int:
    """Return the number of runs without those of the timer."""
    return sum(not by_timer for by_timer in requested_runs(sent))


def requested_runs(sent: list[object]) -> list[bool]:
    """Return for each requested run whether a timer requested it."""
    found = []
    for payload in sent:
        message = BackMsg()
        message.ParseFromString(payload if isinstance(payload, bytes) else b"")
        if message.WhichOneof("type") == "rerun_script":
            found.append(message.rerun_script.is_auto_rerun)
    return found


_LINES = """(root) => ['.hv-item-head h2', '.hv-item-head p', '.hv-item-head img',
  '.hv-section-head', '.hv-quiet', '.hv-link-list li', '.hv-names li', '.hv-strip li', 'button']
  .flatMap((part) => [...document.querySelectorAll(`${root} ${part}`)])
  .map((e) => { const b = e.getBoundingClientRect();
  return [e.textContent, e.src ?? '', ...[b.x, b.y, b.width, b.height].map(Math.round)]; })"""
_FREE = """() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;
  const at = (r) => { const b = map.stage.getBoundingClientRect();
    const [x, y] = map.scene.pixel(r);
    return [b.left + x, b.top + y]; };
  const row = [...Array(map.scene.n).keys()].findLast((r) => map.scene.isShown[r]
    && document.elementFromPoint(...at(r))?.closest('.hv-stage'));
  return at(row); }"""


def test_item_panel_is_drawn_before_page_runs_and_does_not_move(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    page.mouse.move(*page.evaluate(_FREE))
    until(page, "map.scene.hovered >= 0 && map.media.cards.has(map.scene.hovered)")
    # The preview in the last frame before the panel arrives.
    page.evaluate(
        f"""() => {{ const lines = {_LINES}; const look = () => {{
          const preview = '.hv-item-preview';
          if (document.querySelector(preview)) window.hvEarly = lines(preview);
          requestAnimationFrame(look); }}; look(); }}"""
    )
    page.mouse.down()
    page.mouse.up()
    until(page, "map.scene.count === 1")
    row = page.evaluate(
        "document.querySelector('.st-key-map .hv-map').__hv.map.selection.rows()[0]"
    )
    expect(page.locator(f'.st-key-tab-item .hv-shown-item[data-of="{row}"]')).to_be_attached()
    expect(page.locator(".hv-item-preview")).to_have_count(0)
    settled(page)
    early = page.evaluate("window.hvEarly")
    for start in ("Linked with", "Nearest", "Most alike"):
        assert any(line[0].startswith(start) for line in early)
    now = page.evaluate(f"({_LINES})('.st-key-tab-item')")
    moved = [line for line in early if line not in now]
    assert not moved, [line for line in now if line[0] in [early[0] for early in moved]]
    # Several items have no head.
    page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([3, 4, 5])"
    )
    settled(page)
    expect(page.locator(".hv-item-preview")).to_have_count(0)


def test_panel_is_prepared_before_any_click(page: Page) -> None:
    with page.expect_response(lambda answer: "/hv/panel/" in answer.url) as prepared:
        page.goto("/map")
    assert prepared.value.ok
    others = [row for row in (0, 1, 2) if f"/{row}?" not in prepared.value.url]
    address = re.sub(r"/\d+\?.*", f"/{others[0]}", prepared.value.url)
    blocks = page.request.get(address).json()["blocks"]
    assert "Why it is here" in [block.get("title") for block in blocks]
    assert page.evaluate("document.querySelector('.st-key-map .hv-map').__hv.map.scene.count") == 0


def test_item_preview_works_with_keyboard_and_leaves_focus_to_panel(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    # The page gets no selection, so the preview stays.
    page.evaluate(
        """() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;
        window.hvSend = map.component.setStateValue; map.component.setStateValue = () => {};
        map.selection.select([120]); }"""
    )
    preview = page.locator(".hv-item-preview")
    expect(preview.get_by_text("Most alike by links")).to_be_attached()
    assert not serious_barriers(page)
    assert page.evaluate("document.querySelector('.st-key-panel-body').inert")
    chip = preview.locator(".hv-strip [data-hv-row], .hv-names [data-hv-row]").first
    row = chip.get_attribute("data-hv-row")
    chip.focus()
    page.evaluate(
        """() => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;
        map.component.setStateValue = window.hvSend;
        map.selection.reported = -1; map.selection.report(); }"""
    )
    expect(preview).to_have_count(0)
    assert not page.evaluate("document.querySelector('.st-key-panel-body').inert")
    page.wait_for_function(
        "(row) => document.activeElement?.matches(`.st-key-tab-item [data-hv-row='${row}']`)",
        arg=row,
    )


def test_click_on_item_in_panel_selects_it(page: Page) -> None:
    page.goto("/map")
    expect(page.locator(".st-key-map .hv-map canvas").first).to_be_visible()
    selected = "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.rows()"
    page.wait_for_function(
        "() => document.querySelector('.st-key-map .hv-map')?.__hv.map.component"
    )
    page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([100])"
    )
    items = page.locator(".st-key-tab-item .hv-strip [data-hv-row]")
    expect(items.first).to_be_visible()
    row = items.first.get_attribute("data-hv-row")
    items.first.press("Enter")
    expect(page.locator(f'.hv-shown-item[data-of="{row}"]')).to_be_attached()
    assert page.evaluate(selected) == [int(row or -1)]
    # Shift adds an item.
    other = page.locator(".st-key-tab-item .hv-strip [data-hv-row]").first
    added = int(other.get_attribute("data-hv-row") or -1)
    other.click(modifiers=["Shift"])
    page.wait_for_function(f"n => ({selected})().length === n", arg=2)
    assert page.evaluate(selected) == sorted([int(row or -1), added])


@pytest.mark.parametrize("look", [Look("dark")], indirect=True, ids=str)
def test_popovers_have_theme_of_app(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    page.keyboard.press("?")
    expect(page.locator(".hv-help").first).to_be_visible()
    expect(page.get_by_label("Search help")).to_be_visible()
    assert not serious_barriers(page)
    # A chart that the server does not redraw.
    page.evaluate(
        "() => { const { dark, light } = document.querySelector('.st-key-map .hv-map').__hv.map"
        ".scene.data.tokens; document.body.insertAdjacentHTML('beforeend',"
        " '<div class=js-plotly-plot><svg><path id=hv-line></path></svg></div>"
        "<i id=hv-wanted></i>');"
        " document.getElementById('hv-line').style.stroke = dark.accent;"
        " document.getElementById('hv-wanted').style.color = light.accent; }"
    )
    page.emulate_media(color_scheme="light")
    page.wait_for_selector('.hv-map[data-theme="light"]', state="attached")
    page.wait_for_function(
        "() => document.getElementById('hv-line').style.stroke"
        " === document.getElementById('hv-wanted').style.color"
    )
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_escape_goes_back_one_step(page: Page) -> None:
    page.goto("/map")
    stage(page).focus()
    settled(page)
    for row, name in ((4, "A"), (1400, "B")):
        page.evaluate(
            "(row) => document.querySelector('.st-key-map .hv-map').__hv.map"
            ".selection.select([row])",
            row,
        )
        settled(page)
        stage(page).focus()
        page.keyboard.press(name.lower())
        until(page, f"map.scene.data.draft.groups.{name}")
        settled(page)
    page.locator(".hv-colours .hv-row").first.click()
    for left, count, partial in (("A", 1, True), ("", 1, True), ("", 0, True), ("", 0, False)):
        stage(page).focus()
        page.keyboard.press("Escape")
        until(
            page,
            f"Object.keys(map.scene.data.draft.groups).join('') === '{left}'"
            f" && [...map.statements.groups.keys()].join('') === '{left}'"
            f" && map.scene.count === {count} && map.legend.partial === {str(partial).lower()}",
        )
        settled(page)


def test_fast_undo_presses_undo_one_step_each(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    for title in ("First", "Second", "Third"):
        rename(page, title)
        expect(page.get_by_label("Project name")).to_be_hidden()
    stage(page).focus()
    expect(stage(page)).to_be_focused()
    project = page.locator(".st-key-project")
    for _ in range(2):
        page.keyboard.press("Control+z")
    expect(project.get_by_text("First", exact=True)).to_be_visible()
    settled(page)
    undo = page.get_by_role("button", name="Undo project name")
    # Fast clicks are all handled, and each undoes only the named step.
    undo.evaluate("(button) => { for (let k = 0; k < 4; k += 1) button.click(); }")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()
    settled(page)
    expect(project.get_by_text("Emoji and the words")).to_be_visible()
    stage(page).focus()
    for _ in range(3):
        page.keyboard.press("Control+Shift+z")
    expect(project.get_by_text("Third", exact=True)).to_be_visible()
    settled(page)


FIRST_LOOK = """
new MutationObserver((_, watch) => {
  if (!document.querySelector('.st-key-map .hv-map[data-drawn]')) return;
  const { map } = document.querySelector('.st-key-map .hv-map').__hv;
  const { right } = map.scene.view.clear;
  window.hvFirst = [document.documentElement.dataset.hvPanel ?? 'closed', right];
  watch.disconnect();
}).observe(document, { subtree: true, childList: true, attributes: true });
"""


def test_returning_map_leaves_space_for_panel(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([1400])"
    )
    expect(page.locator(".st-key-panel .hv-item-head")).to_be_visible()
    settled(page)
    page.add_init_script(FIRST_LOOK)
    page.reload()
    stage(page)
    settled(page)
    until(page, "map.scene.count === 1")
    assert page.evaluate("window.hvFirst") == ["open", scene_value(page, "view.clear.right")]
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()


TRAVELS = """() => {
  window.hvTravels = [];
  const own = '.hv-map, .st-key-panel, .st-key-new-map, .st-key-statement-bar';
  const moving = ['transform', 'translate', 'left', 'right', 'top', 'width', 'height', 'opacity'];
  addEventListener('transitionrun', (event) => {
    if (event.target.closest?.(own) && moving.includes(event.propertyName)) {
      window.hvTravels.push(event.propertyName);
    }
  }, { capture: true });
  const { map } = document.querySelector('.st-key-map .hv-map').__hv;
  const look = () => {
    if (map.scene.flight || map.scene.motion) window.hvTravels.push('map');
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.parametrize("motion", [True, False])
def test_reduced_motion_disables_transitions(open_page: Open, server: Server, motion: bool) -> None:
    page = open_page(server.url, motion=motion)
    page.goto("/map")
    stage(page)
    settled(page)
    page.evaluate(TRAVELS)
    page.get_by_role("tab", name="Item").click()
    page.wait_for_selector('html[data-hv-panel="open"]', state="attached")
    stage(page).focus()
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.keyboard.press("i")
    page.wait_for_selector('html[data-hv-panel="closed"]', state="attached")
    settled(page)
    until(page, "!map.scene.flight && !map.scene.motion")
    assert set(page.evaluate("window.hvTravels")) == ({"map", "transform"} if motion else set())


def test_find_finds_by_meaning_after_words(page: Page) -> None:
    pytest.importorskip("onnxruntime")
    page.goto("/map")
    stage(page)
    settled(page)
    field, results = page.locator(".hv-search input"), page.locator(".hv-search-results")
    field.fill("something to drink")
    expect(results.get_by_role("option", name=re.compile("by meaning")).first).to_be_visible(
        timeout=60_000
    )
    for name in ("beverage", "drinks"):
        expect(results.get_by_role("option", name=f"{name}, keywords, by meaning")).to_be_visible()
    expect(results.get_by_role("group")).to_have_count(1)
    # Words come first, and the arrow keys pass the heading.
    field.fill("drink")
    expect(results.get_by_role("option", name="drink keywords")).to_be_visible()
    expect(results.get_by_role("option", name="beverage, keywords, by meaning")).to_be_visible()
    n_others = results.get_by_role("group").last.evaluate(
        "(e) => [...e.parentElement.querySelectorAll('[role=option]')]"
        ".indexOf(e.querySelector('[role=option]'))"
    )
    for _ in range(n_others):
        page.keyboard.press("ArrowDown")
    chosen = results.locator('[role="option"][aria-selected="true"]')
    expect(chosen).to_have_attribute("aria-label", re.compile("by meaning"))
    page.keyboard.press("Enter")
    until(page, "map.scene.count === 1")


def test_find_lists_items_values_places_colours_and_commands(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    page.keyboard.press("Control+k")
    field, results = page.locator(".hv-search input"), page.locator(".hv-search-results")
    expect(field).to_be_focused()
    # The empty field offers queries that find something.
    expect(results.get_by_role("group", name="Try")).to_be_visible()
    field.fill("cat")
    items = results.get_by_role("group", name="Items")
    expect(items.locator(".hv-search-note")).to_have_text("Items8 of 18")
    expect(items.locator("img").first).to_have_js_property("naturalWidth", 48)
    assert serious_barriers(page) == set()
    # Shift + Enter selects all matches.
    page.keyboard.press("Shift+Enter")
    until(page, "map.scene.count === 18")
    field.fill("subgroup: cat face")
    results.get_by_role("option", name="Subgroup: Cat face 9 emoji").click()
    until(page, "map.scene.count === 9")
    # The right arrow lists what is like the current item.
    field.fill("grinning cat")
    expect(results.get_by_role("option", name="grinning cat with smiling eyes")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(field).to_have_value("like grinning cat")
    like = results.get_by_role("group", name="Like grinning cat, by all features of emoji")
    expect(like.get_by_role("option", name="cat with wry smile 100 %")).to_be_visible()
    field.fill("colour by version")
    expect(results.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".hv-colour b")).to_have_text("Version of emoji")
    field.fill("all items in view")
    command = results.get_by_role("option", name="Select all items in view")
    expect(command.locator("kbd")).to_have_text("Ctrl + A")
    field.fill("xqvwz")
    expect(results).to_contain_text("Nothing found")
    expect(results.get_by_role("option", name="group: objects")).to_be_visible()
    assert serious_barriers(page) == set()
    # From another page, a place leads to the map.
    go(page, "data")
    field.fill("smileys emotion")
    results.get_by_role("group", name="Places on this map").get_by_role("option").first.click()
    until(page, "map.scene.view.zoomed && !map.scene.flight")


def test_find_fills_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/map")
    stage(page)
    settled(page)
    page.locator(".hv-find-host input").click()
    page.keyboard.type("cat")
    results = page.locator(".hv-search-results")
    expect(results.get_by_role("option", name="black cat")).to_be_visible()
    box = results.bounding_box()
    assert box is not None and (box["x"], box["width"]) == (0, 390)
    page.get_by_role("button", name="Close the search").click()
    expect(results).to_be_hidden()


def covers_map(page: Page, card: Locator) -> None:
    """Assert that nothing of the map shines through a card in either theme."""
    for scheme in ("dark", "light"):
        themed(page, scheme)
        assert card.evaluate(
            "(e) => [getComputedStyle(e).opacity, getComputedStyle(e).backgroundColor]"
        ) == ["1", card.evaluate(TOKEN, "card")]


# The colour of a token of the page in the present theme.
TOKEN = """(e, name) => {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(--hv-${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}"""


def test_controls_have_one_style(page: Page) -> None:
    page.goto("/")
    settled(page)
    drop(
        page,
        plants_csv="plant,ground,height\n"
        + "".join(f"p{k},{'wet' if k % 2 else 'dry'},{k % 7}\n" for k in range(20)),
    )
    page.get_by_text("Reading options").click()
    lists = page.locator(".react-aria-ComboBox > div")
    expect(lists.first).to_be_visible()
    fields = [lists, page.locator(".hv-sheets select"), page.locator(".hv-find-field input")]
    leave = page.get_by_role("button", name="Cancel", exact=True)
    for scheme in ("light", "dark"):
        themed(page, scheme)
        settled(page)
        looks = [
            look
            for some in fields
            for look in some.evaluate_all(
                "(all) => all.map((e) => { const s = getComputedStyle(e);"
                " return [s.backgroundColor, s.borderTopColor, s.borderTopWidth, s.borderRadius,"
                " e.matches('select') ? s.appearance : 'none']; })"
            )
        ]
        expected = [leave.evaluate(TOKEN, name) for name in ("soft", "line")]
        assert len(looks) > 4
        assert [look for look in looks if look != [*expected, "1px", "10px", "none"]] == []
        # Under the hand, all buttons are of one colour.
        leave.hover()
        expect(leave).to_have_css("background-color", leave.evaluate(TOKEN, "wash"))
        page.locator(".hv-head h1").first.hover()
    project = page.locator(".st-key-project button").first
    project.click()
    expect(project).to_have_attribute("aria-expanded", "true")
    expect(project).to_have_css("background-color", project.evaluate(TOKEN, "wash"))
    body = page.get_by_test_id("stPopoverBody")
    expect(body).to_have_css("background-color", body.evaluate(TOKEN, "card"))


def test_results_of_find_and_menu_of_colours_cover_the_map(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    page.locator(".hv-search input").fill("birth")
    results = page.locator(".hv-search-results")
    expect(results.get_by_role("option").first).to_be_visible()
    covers_map(page, results)
    page.keyboard.press("Escape")
    page.locator(".hv-colour").click()
    covers_map(page, page.locator(".hv-colours-menu"))
    options = page.locator(".hv-colours-menu > button")
    heights = options.evaluate_all("(all) => all.map((e) => [e.scrollHeight, e.clientHeight])")
    assert len(heights) > 10
    assert all(content <= box for content, box in heights)
    headings = page.locator(".hv-menu-group")
    expect(headings).to_have_text(["emoji", "keywords", "Whole map", "By links"])
    page.get_by_placeholder("Find a colour").fill("version")
    expect(headings.filter(visible=True)).to_have_count(0)
    expect(options.filter(visible=True)).to_have_text(["Version of emoji"])
    page.keyboard.press("Enter")
    expect(page.locator(".hv-colour b")).to_have_text("Version of emoji")


def test_only_the_widened_tab_of_the_panel_is_wide(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    page.get_by_role("tab", name="Guidance").click()
    page.get_by_role("button", name="Widen the panel").click()
    expect(page.locator('html[data-hv-panel="wide"]')).to_be_attached()
    settled(page)
    page.get_by_role("tab", name="Predict").click()
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()
    settled(page)
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()


# The place of the map in each frame in which the map of the app is shown.
PLACES_OF_MAP = """() => {
  window.hvPlaces = [];
  const look = () => {
    const map = document.querySelector('.st-key-map .hv-map')?.__hv?.map;
    if (map?.scene.data?.mode === 'work') window.hvPlaces.push(Math.round(map.scene.view.x(0)));
    requestAnimationFrame(look);
  };
  look();
}"""


def test_opened_sample_stands_at_its_place_before_the_panel_is_here(page: Page) -> None:
    page.goto("/")
    settled(page)
    page.evaluate(PLACES_OF_MAP)
    page.get_by_role("button", name="Open: Programs").click()
    expect(page.get_by_role("tab", name="Item")).to_be_visible()
    settled(page)
    assert len(set(page.evaluate("window.hvPlaces"))) == 1

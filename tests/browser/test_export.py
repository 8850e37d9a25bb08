"""Browser tests of the Export page and of its standalone page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

import hetviz
from hetviz.exports.interactive import interactive_map
from hetviz.plots import colouring
from hetviz.ui.map import linked_charts
from hetviz.workspace import State
from tests.browser.harness import new_context
from tests.browser.test_linked_charts import begin_brush
from tests.samples import sample

ROOT = Path(hetviz.__file__).parents[1]


def open_files(page: Page) -> None:
    """Open the menu of all that can be taken along."""
    expect(page.locator(".st-key-export-preview img")).to_be_visible()
    page.get_by_role("button", name="All files").click()


def caption_below(page: Page) -> None:
    """Assert that the words about the figure stand below it, however high it is."""
    figure = page.locator(".st-key-export-preview img")
    expect(figure).to_be_visible()
    page.wait_for_function(
        "(one) => one.complete && one.naturalHeight > 0", arg=figure.element_handle()
    )
    above, below = figure.bounding_box(), page.locator(".st-key-export-said").bounding_box()
    assert above is not None
    assert below is not None
    # As wide as there is room.
    assert above["width"] >= 0.95 * below["width"] >= 300
    assert below["y"] >= above["y"] + above["height"] - 1


def test_slide_is_one_press_away(page: Page) -> None:
    page.goto("/export")
    expect(page.locator(".st-key-export-preview img")).to_be_visible()
    with page.expect_download() as figure:
        page.get_by_role("button", name="PNG for a slide").click()
    with Image.open(figure.value.path()) as picture:
        assert picture.size == (1920, 1080)


def test_tall_figure_has_caption_below(page: Page) -> None:
    page.goto("/export")
    page.get_by_role("combobox", name="Size").click()
    page.get_by_role("option", name="One column").click()
    expect(page.get_by_role("button", name="PDF for a paper")).to_be_visible()
    caption_below(page)
    page.get_by_text("Caption below").click()
    # The caption in the figure makes it higher than there is room for.
    page.wait_for_function(
        "() => { const one = document.querySelector('.st-key-export-preview img');"
        " return one?.complete && one.naturalHeight > 1.05 * one.naturalWidth / 1.23; }"
    )
    caption_below(page)


def test_figure_and_standalone_page(page: Page, browser: Browser, tmp_path: Path) -> None:
    page.goto("/export")
    expect(page.locator(".st-key-export-preview img")).to_be_visible()
    open_files(page)
    with page.expect_download() as figure:
        page.get_by_role("button", name="PDF of the map").click()
    assert figure.value.path().read_bytes().startswith(b"%PDF")
    with page.expect_download() as made:
        page.get_by_role("button", name="Interactive page").click()
    file = tmp_path / "map.html"
    made.value.save_as(file)

    offline = new_context(browser, offline=True)
    alone = offline.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    alone.on("pageerror", lambda error: wrong.append(str(error)))
    alone.goto(file.as_uri())
    expect(alone.locator("#points")).to_have_attribute("data-drawn", re.compile("^1[0-9]{3}$"))
    alone.get_by_label("Search", exact=True).fill("black cat")
    expect(alone.get_by_text("1 found")).to_be_visible()
    alone.get_by_role("button", name="black cat").first.click()
    expect(alone.locator("#item h2").first).to_have_text("black cat")
    expect(alone.locator("#item > img")).to_be_visible()
    expect(alone.locator("#item ol button")).to_have_count(10)
    heading = alone.locator("#item h2").nth(1)
    expect(heading).to_have_text(re.compile(r"^Linked to \d+ items"))
    expect(alone.locator("#item ul")).to_contain_text("cat")
    # The charts of the app filter the page.
    group = alone.locator('.hv-chart[data-column="group"]')
    group.get_by_role("button", name=re.compile("^Food drink")).click()
    expect(alone.locator("#shown")).to_have_text("751 of 1,894 items")
    expect(alone.get_by_text("Nothing found in names")).to_be_visible()
    alone.get_by_role("button", name="Show all", exact=True).click()
    expect(alone.locator("#shown")).to_have_text("1,894 of 1,894 items")
    expect(alone.get_by_text("1 found")).to_be_visible()
    layer = alone.get_by_role("button", name="keywords")
    layer.first.click()
    expect(layer.first).to_have_attribute("aria-pressed", "false")
    # Names stay where items are left.
    alone.get_by_role("button", name="Show the whole map").click()
    picture = alone.locator("#map")
    expect(picture).to_have_attribute(
        "aria-label", re.compile("Food drink.*Travel places|Travel.*Food drink")
    )
    group.get_by_role("button", name=re.compile("^Food drink")).click()
    expect(picture).not_to_have_attribute("aria-label", re.compile("Travel places|Smileys"))
    expect(picture).to_have_attribute("aria-label", re.compile("Food drink"))
    alone.get_by_role("button", name="Show all", exact=True).click()
    alone.get_by_role("button", name="Dark").click()
    alone.locator("#map").focus()
    alone.keyboard.press("Escape")
    expect(alone.get_by_text("Nothing selected")).to_be_visible()
    alone.screenshot(path=str(tmp_path / "map.png"))
    assert [url for url in asked if not url.startswith(("data:", file.as_uri()))] == []
    assert wrong == []
    # The same without WebGL2.
    alone.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
        " return kind === 'webgl2' ? null : get.call(this, kind, ...more); };"
    )
    alone.reload()
    expect(alone.locator("#points")).to_have_attribute("data-drawn", re.compile("^1[0-9]{3}$"))
    assert wrong == []
    offline.close()


def opened_page(browser: Browser, folder: Path, state: State) -> tuple[BrowserContext, Page]:
    """Export the page of a map, and open it without a network."""
    data, file = state.opened(), folder / "map.html"
    content = interactive_map(
        data, hetviz.embed(data, "pca"), colouring(data), charts=linked_charts.page_charts(state)
    )
    file.write_text(content, encoding="utf-8")
    context = new_context(browser, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    return context, page


def test_table_of_the_page_lists_what_is_shown(browser: Browser, tmp_path: Path) -> None:
    context, page = opened_page(browser, tmp_path, State(data=sample("emoji")))
    charts, grid = page.locator("#chart-row"), page.get_by_role("grid", name="Items")
    expect(charts).to_be_visible()
    page.get_by_role("button", name="Show table").click()
    expect(charts).not_to_be_visible()
    expect(grid).to_have_attribute("aria-rowcount", "1274")
    # By title, then by a number in both directions.
    first = grid.locator('[aria-rowindex="2"]')
    expect(first.get_by_role("gridcell").first).to_have_text("1st place medal")
    head = grid.get_by_role("columnheader", name="Number of keywords")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    place = head.evaluate("(one) => [...one.parentNode.children].indexOf(one)")
    number = first.get_by_role("gridcell").nth(place)
    expect(number).to_have_text("0")
    head.get_by_role("button").click()
    expect(number).to_have_text(re.compile("^[0-9]{2}$"))
    # A click goes to the item, and the arrow keys to the next row.
    first.click()
    name = first.get_by_role("gridcell").first.inner_text()
    expect(page.locator("#item h2").first).to_have_text(name)
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(grid.locator('[aria-rowindex="3"]')).to_be_focused()
    # What the legend hides and the search does not find is not listed.
    page.get_by_role("group", name="Table of").get_by_role("button", name="keywords").click()
    expect(grid).to_have_attribute("aria-rowcount", "622")
    page.get_by_label("Search", exact=True).fill("cat")
    expect(page.get_by_text("Found items")).to_be_visible()
    page.get_by_role("group", name="Table of").get_by_role("button", name="emoji").click()
    expect(grid.get_by_text("black cat", exact=True)).to_be_visible()
    # Words of columns are found, too, with a picture and the column.
    page.get_by_label("Search", exact=True).fill("face CAT")
    first, last = page.locator("#matches li").first, page.locator("#matches li").last
    expect(first).to_contain_text("cat face")
    expect(first.locator("img")).to_be_visible()
    expect(last).to_contain_text("Subgroup: cat-face")
    page.get_by_label("Search", exact=True).fill("cat")
    expect(first).to_contain_text(re.compile("^cat "))
    page.get_by_label("Search", exact=True).fill("group: food")
    expect(page.locator("#count")).to_have_text(re.compile("^([0-9]+) found, \\1 by their columns"))
    # Matches are listed by dataset, that of the best match first.
    page.get_by_label("Search", exact=True).fill("cat")
    expect(page.locator("#matches > b")).to_contain_text(["emoji", "keywords"])
    expect(page.get_by_role("list", name="emoji", exact=True)).to_contain_text("black cat")
    # The listed rows are saved with all columns of the page.
    with page.expect_download() as made:
        page.get_by_role("button", name="Download CSV").click()
    assert made.value.suggested_filename == "emoji.csv"
    saved = pd.read_csv(made.value.path(), dtype=str)
    assert str(1 + len(saved)) == grid.get_attribute("aria-rowcount")
    assert "black cat" in saved["Name"].tolist()
    assert {"id", "group"} <= {name.lower() for name in saved}
    page.get_by_role("button", name="Copy", exact=True).click()
    said = page.locator(".hv-itemgrid-note")
    expect(said).to_have_text(re.compile("rows are copied|refused to copy"))
    page.get_by_label("Search", exact=True).fill("xqvwz")
    expect(page.locator("#count")).to_contain_text("Nothing found in names and columns.")
    page.get_by_label("Search", exact=True).fill("")
    page.locator("#legend").get_by_role("button", name="Food drink").click()
    expect(grid).to_have_attribute("aria-rowcount", "1144")
    page.get_by_role("button", name="Hide table").click()
    expect(charts).to_be_visible()
    context.close()


def test_page_has_geography_and_counts_in_its_legend(browser: Browser, tmp_path: Path) -> None:
    context, page = opened_page(browser, tmp_path, State(data=sample("world")))
    legend = page.locator("#legend")
    expect(legend.get_by_role("button", name="countries")).to_contain_text("194")
    points, views = page.locator("#points"), page.get_by_role("group", name="View")
    expect(points).to_have_attribute("data-drawn", "2260")
    views.get_by_role("button", name="Geography").click()
    expect(points).to_have_attribute("data-drawn", "194")
    expect(views).to_contain_text("2,066 of 2,260 items have no coordinates")
    page.get_by_label("Search", exact=True).fill("austria")
    page.locator("#matches").get_by_role("button", name="Austria").first.click()
    expect(page.locator("#item h2").last).to_have_text("Closest items on the earth")
    expect(page.locator("#item ol")).to_contain_text("Slovenia")
    views.get_by_role("button", name="Map", exact=True).click()
    expect(points).to_have_attribute("data-drawn", "2260")
    expect(page.locator("#item h2").first).to_have_text("Austria")
    context.close()


def test_scatter_of_the_page_is_brushed(browser: Browser, tmp_path: Path) -> None:
    state = State(data=sample("emoji"))
    charts = (("emoji", "n_keywords", "", "version"), ("keywords", "main_group", "emoji"))
    state = replace(state, view=replace(state.view, charts=charts))
    context, page = opened_page(browser, tmp_path, state)
    expect(page.locator("#shown")).to_have_text(re.compile("^(.+) of \\1 items$"))
    linked = page.locator(".hv-chart-count").nth(1)
    all_links = linked.inner_text()
    begin_brush(page, page.locator(".hv-scatter .hv-plot"))
    titles = ["Version: 0.6 to 4", "Number of keywords: 2 to 5"]
    expect(page.locator(".hv-scatter [data-range]")).to_have_text(titles)
    expect(linked).not_to_have_text(all_links)
    page.mouse.up()
    count = page.locator(".hv-scatter .hv-chart-count")
    brushed = count.inner_text()
    assert int(brushed.partition(" of ")[0].replace(",", "")) < 1273
    # The legend hides a dataset; the brush stays.
    page.locator("#legend").get_by_role("button", name="keywords").click()
    expect(linked).to_have_text(re.compile("^0 of "))
    expect(count).to_have_text(brushed)
    page.locator(".hv-scatter").get_by_role("button", name="Clear").click()
    expect(count).to_have_text("1,273 of 1,273 items of emoji")
    context.close()

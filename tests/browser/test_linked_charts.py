"""Charts below the map: a brush filters the map and the other charts, and becomes a filter."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from hetviz.data import Filter, passing
from hetviz.workspace import SetFilters, SetView
from tests.browser.projects import Projects
from tests.browser.test_app import settled, until
from tests.samples import sample

CHARTS = SetView(charts=[["emoji", "n_keywords", ""], ["emoji", "group", ""]], has_charts=True)


def chart_of(page: Page, column: str) -> Locator:
    return page.locator(f'.hv-chart[data-column="{column}"]')


def begin_brush(page: Page, plot: Locator) -> FloatRect:
    """Draw a rectangle over 2 to 5 keywords and the oldest versions, and keep the button down.

    Returns the bounds of the plot.
    """
    box = plot.bounding_box()
    assert box is not None
    width, height = box["width"], box["height"]
    page.mouse.move(box["x"] + 2.5 / 15 * width, box["y"] + 0.98 * height)
    page.mouse.down()
    page.mouse.move(box["x"] + 5.5 / 15 * width, box["y"] + 0.76 * height, steps=4)
    return box


# Texts of the dock in place of charts.
RECORD_NOTES = """() => {
  const dock = document.querySelector('.hv-dock');
  window.notes = [];
  const observer = new MutationObserver(() => {
    const note = dock.querySelector('.hv-dock-row .hv-dock-note');
    if (note) window.notes.push(note.textContent);
  });
  observer.observe(dock, { childList: true, subtree: true });
}"""


def total_of(page: Page) -> Locator:
    return page.locator(".hv-dock").get_by_role("status")


def counts_of(page: Page) -> list[str]:
    """Return the counts of the groups, in an order that no filter changes."""
    counts: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('[data-column="group"] .hv-value')]
        .sort((a, b) => a.dataset.code - b.dataset.code)
        .map((row) => row.querySelector('.hv-count').textContent)"""
    )
    return counts


def test_brush_filters_the_map_and_the_other_charts_while_it_is_dragged(
    page: Page, projects: Projects
) -> None:
    page.goto(f"/map?s={projects.make(CHARTS)}")
    settled(page)
    expect(total_of(page)).to_have_text("1,894 of 1,894 items")
    chart = chart_of(page, "n_keywords")
    all_counts = counts_of(page)
    box = chart.locator(".hv-plot").bounding_box()
    assert box is not None
    bin_width, middle = box["width"] / 15, box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 3.5 * bin_width, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 5.5 * bin_width, middle, steps=4)
    expect(chart.locator(".hv-chart-ends b")).to_have_text("3 to 5")
    expect(total_of(page)).not_to_have_text("1,894 of 1,894 items")
    # The button is still down.
    until(page, "map.scene.visible < 1894 && map.scene.visible === map.dock.crossfilter.visible")
    until(
        page, "map.points.drawer.bytes.state.filter((s) => !(s & 4)).length === map.scene.visible"
    )
    total, counts = total_of(page).inner_text(), counts_of(page)
    assert counts != all_counts
    expect(page.locator(".st-key-filters")).to_have_count(0)
    page.mouse.up()
    expect(page.locator(".st-key-filters")).to_contain_text("number of keywords from 3 to 5")
    shown = total.partition(" of ")[0]
    expect(page.locator(".st-key-filters")).to_contain_text(f"Shown {shown} of 1,894")
    # Once below the legend, with and without charts.
    legend = page.locator(".hv-legend")
    expect(legend).not_to_contain_text("shown")
    # Python counts the same, and the project keeps charts and filter.
    page.reload()
    settled(page)
    expect(total_of(page)).to_have_text(total)
    expect(chart.locator(".hv-chart-ends b")).to_have_text("3 to 5")
    assert counts_of(page) == counts
    page.get_by_role("button", name="Undo filter").click()
    expect(total_of(page)).to_have_text("1,894 of 1,894 items")
    expect(chart.locator(".hv-window")).to_be_hidden()
    settled(page)


def test_charts_are_filtered_by_clicks_and_keys(page: Page, projects: Projects) -> None:
    page.goto(f"/map?s={projects.make(CHARTS)}")
    settled(page)
    group = chart_of(page, "group")
    food = group.get_by_role("button", name=re.compile("^Food drink"))
    food.click()
    expect(group.locator(".hv-chart-count")).to_have_text("130 of 1,273 items of emoji")
    expect(page.locator(".st-key-filters")).to_contain_text("group is Food drink")
    # The items that are left become a selection.
    page.get_by_role("button", name="Select them").click()
    until(page, "map.scene.count === 130")
    expect(page.locator(".st-key-panel").get_by_text("130 selected")).to_be_visible()
    # A second value is added. Other charts count both.
    group.get_by_role("button", name=re.compile("^Activities")).click(modifiers=["Shift"])
    expect(chart_of(page, "n_keywords").locator(".hv-chart-count")).to_have_text(
        "215 of 1,273 items of emoji"
    )
    expect(page.locator(".st-key-filters")).to_contain_text("Shown 836 of 1,894")
    slider = chart_of(page, "n_keywords").get_by_role("slider", name="Smallest")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(chart_of(page, "n_keywords").get_by_role("button", name="Clear")).to_be_visible()
    expect(page.locator(".st-key-filters")).to_contain_text("number of keywords")
    group.get_by_role("button", name="Clear").click()
    expect(page.locator(".st-key-filters")).not_to_contain_text("group is")
    settled(page)


def test_items_left_by_a_chart_become_a_label_and_a_cluster(page: Page, projects: Projects) -> None:
    page.goto(f"/map?s={projects.make(CHARTS)}")
    settled(page)
    chart_of(page, "group").get_by_role("button", name=re.compile("^Food drink")).click()
    expect(page.locator(".st-key-filters")).to_contain_text("group is Food drink")
    page.get_by_role("button", name="Select them").click()
    panel, bar = page.locator(".st-key-panel"), page.locator(".st-key-statement-bar")
    panel.get_by_role("button", name="Keep as cluster", exact=True).click()
    picture = page.locator(".st-key-map [role=application]")
    expect(picture).to_have_attribute("aria-label", re.compile("coloured by Cluster.*Food drink"))
    settled(page)
    panel.get_by_role("button", name="Label", exact=True).click()
    expect(bar).to_contain_text("are called …")
    name = bar.get_by_label("Their name")
    name.fill("treats")
    name.press("Enter")
    bar.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("^Undo .*label"))).to_be_enabled()
    settled(page)


def test_scatter_is_added_and_its_brush_filters_by_both_columns(
    page: Page, projects: Projects
) -> None:
    charts = SetView(charts=[["emoji", "n_keywords", ""]], has_charts=True)
    page.goto(f"/map?s={projects.make(charts)}")
    settled(page)
    dock = page.get_by_role("region", name="Charts", exact=True)
    dock.get_by_role("button", name="Add chart").click()
    dock.get_by_role("button", name="Version against another column").click()
    dock.get_by_role("button", name="Number of keywords", exact=True).click()
    scatter = page.locator(".hv-scatter")
    expect(scatter.get_by_role("heading")).to_have_text("Version against number of keywords")
    expect(scatter.locator(".hv-chart-count")).to_have_text("1,273 of 1,273 items of emoji")
    settled(page)
    box = begin_brush(page, scatter.locator(".hv-plot"))
    width, height = box["width"], box["height"]
    titles = scatter.locator("[data-range]")
    expect(titles).to_have_text(["Version: 0.6 to 4", "Number of keywords: 2 to 5"])
    # The other chart of the column shows the same range, while the button is down.
    histogram = page.locator('.hv-chart[data-column="n_keywords"]:not(.hv-scatter)')
    expect(histogram.locator(".hv-chart-ends b")).to_have_text("2 to 5")
    table = sample("emoji")["emoji"].table
    assert table is not None
    inside = table["n_keywords"].between(2, 5) & table["version"].between(0, 4.4)
    count = f"{inside.sum():,} of 1,273 items of emoji"
    expect(scatter.locator(".hv-chart-count")).to_have_text(count)
    until(page, f"map.scene.visible === {inside.sum() + 621}")
    expect(page.locator(".st-key-filters")).to_have_count(0)
    page.mouse.up()
    chips = page.locator(".st-key-filters")
    expect(chips).to_contain_text("number of keywords from 2 to 5")
    expect(chips).to_contain_text("version from 0.6 to 4")
    # A drag inside moves the rectangle, an end moves by keys.
    middle = box["x"] + 4 / 15 * width, box["y"] + 0.85 * height
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 2 / 15 * width, middle[1], steps=3)
    page.mouse.up()
    expect(histogram.locator(".hv-chart-ends b")).to_have_text("4 to 7")
    expect(chips).to_contain_text("number of keywords from 4 to 7")
    scatter.get_by_role("slider", name="Largest value of Number of keywords").focus()
    page.keyboard.press("ArrowLeft")
    expect(titles).to_have_text(["Version: 0.6 to 4", "Number of keywords: 4 to 6"])
    expect(chips).to_contain_text("number of keywords from 4 to 6")
    # The project keeps the chart, and Clear removes both filters in one step.
    settled(page)
    page.reload()
    settled(page)
    expect(titles).to_have_text(["Version: 0.6 to 4", "Number of keywords: 4 to 6"])
    scatter.get_by_role("button", name="Clear").click()
    expect(chips).to_have_count(0)
    page.get_by_role("button", name="Undo filter").click()
    expect(titles).to_have_count(2)
    settled(page)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_charts_open_from_the_tools_and_columns_are_added(
    page: Page, projects: Projects, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"/map?s={projects.make()}")
    settled(page)
    dock = page.get_by_role("region", name="Charts", exact=True)
    expect(dock).to_be_hidden()
    page.get_by_role("button", name="Tools", exact=True).click()
    # Python chooses the first charts when the page runs again.
    page.evaluate(RECORD_NOTES)
    page.get_by_role("button", name="Charts", exact=True).click()
    expect(dock).to_be_visible()
    expect(page.locator(".hv-chart")).to_have_count(4)
    expect(page.locator(".hv-chart").first).to_have_attribute("data-column", "group")
    assert set(page.evaluate("window.notes")) == {"Loading charts"}
    add = dock.get_by_role("button", name="Add chart")
    add.click()
    dock.get_by_role("button", name="Purity", exact=True).click()
    expect(page.locator(".hv-chart")).to_have_count(5)
    expect(add).to_be_focused()
    for _ in range(5):
        page.locator(".hv-chart").last.get_by_role("button", name="Remove").click()
    expect(dock).to_contain_text("Add a chart of a column to begin.")
    settled(page)
    dock.get_by_role("button", name="Close the charts").click()
    expect(dock).to_be_hidden()
    settled(page)


def test_chart_counts_links_of_the_items_that_another_chart_shows(
    page: Page, projects: Projects
) -> None:
    charts = [["emoji", "group", ""], ["keywords", "main_group", "emoji"]]
    page.goto(f"/map?s={projects.make(SetView(charts=charts, has_charts=True))}")
    settled(page)
    linked = chart_of(page, "main_group")
    expect(linked.get_by_role("heading")).to_have_text("Main group of linked keywords")
    count = linked.locator(".hv-chart-count")
    expect(count).to_have_text("3,938 of 3,938 links of emoji")
    chart_of(page, "group").get_by_role("button", name=re.compile("^Food drink")).click()
    data = sample("emoji")
    food = passing(data, [Filter("emoji", "group", values=("food-drink",))])
    tags = data.links[0]
    n_links = int(food[tags.i].sum())
    expect(count).to_have_text(f"{n_links:,} of 3,938 links of emoji")
    # A value of the linked chart filters the linked items, which its other bars do not follow.
    linked.get_by_role("button", name=re.compile("^Animals nature")).click()
    nature = passing(data, [Filter("keywords", "main_group", values=("animals-nature",))])
    both = food[tags.i] & nature[data.offsets["keywords"].start + tags.j]
    expect(count).to_have_text(f"{int(both.sum()):,} of 3,938 links of emoji")
    bars = linked.locator(".hv-value .hv-count")
    assert sum(int(text.replace(",", "")) for text in bars.all_inner_texts()) == n_links
    expect(page.locator(".st-key-filters")).to_contain_text("main group is Animals nature")
    # Python counts the same.
    page.reload()
    settled(page)
    expect(count).to_have_text(f"{int(both.sum()):,} of 3,938 links of emoji")
    assert sum(int(text.replace(",", "")) for text in bars.all_inner_texts()) == n_links


def test_table_lists_sorts_and_visits_the_items_that_are_left(
    page: Page, projects: Projects
) -> None:
    food = SetFilters([Filter("emoji", "group", values=("food-drink",))])
    page.goto(f"/map?s={projects.make(CHARTS, food)}")
    settled(page)
    page.get_by_role("button", name="Show table").click()
    grid = page.get_by_role("grid", name="Items")
    expect(grid).to_have_attribute("aria-rowcount", "131")
    table = sample("emoji")["emoji"].table
    assert table is not None
    most = table[table["group"] == "food-drink"]["n_keywords"].max()
    name = grid.get_by_role("button", name="Number of keywords")
    name.click()
    expect(grid.get_by_role("columnheader", name="Number of keywords")).to_have_attribute(
        "aria-sort", "ascending"
    )
    grid.get_by_role("button", name="Number of keywords").click()
    first = grid.get_by_role("row").nth(1)
    expect(first.get_by_role("gridcell", name=str(most), exact=True).first).to_be_visible()
    first.click()
    until(page, "map.scene.count === 1")
    expect(first).to_have_attribute("aria-selected", "true")
    expect(grid).to_have_attribute("aria-rowcount", "131")
    first.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(grid.get_by_role("row").nth(2)).to_have_attribute("aria-selected", "true")
    # A selection of several items is listed instead.
    select = (
        "(rows) => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select(rows)"
    )
    page.evaluate(select, [3, 5, 1500])
    expect(grid).to_have_attribute("aria-rowcount", "3")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("id,")
    settled(page)
    # The project keeps the table open.
    page.reload()
    settled(page)
    expect(grid).to_be_visible()
    expect(page.get_by_role("button", name="Show charts")).to_be_visible()


def test_rows_beyond_the_largest_height_are_reached_and_copying_is_limited(
    page: Page, projects: Projects
) -> None:
    page.goto(f"/map?s={projects.make(CHARTS, SetView(has_table=True))}")
    settled(page)
    grid = page.get_by_role("grid", name="Items")
    expect(grid).to_have_attribute("aria-rowcount", "1274")
    table = "document.querySelector('.st-key-map .hv-map').__hv.map.dock.table"
    page.evaluate(
        f"""() => {{
          {table}.grid.maxHeight = 2800;
          Object.assign({table}, {{ maxCopied: 1000 }}).update();
        }}"""
    )
    expect(page.get_by_role("button", name="Copy the first 1,000")).to_be_visible()
    # A scroll to the middle shows the rows of the middle, and one to the end the last row.
    # The middle depends on the height of the table, which changes while the page is drawn.
    page.wait_for_function(
        f"""() => {{
          const {{ element: grid, body }} = {table}.grid;
          const to = (grid.scrollHeight - grid.clientHeight) / 2;
          const isThere = body.style.height === '2800px' && Math.abs(grid.scrollTop - to) < 1;
          if (!isThere) grid.scrollTop = to;
          return isThere && body.querySelector('[aria-rowindex="637"]');
        }}"""
    )
    expect(grid.locator('[aria-rowindex="637"]')).to_be_in_viewport()
    page.evaluate(f"() => {table}.grid.element.scrollTop = 1e6")
    last = grid.locator('[aria-rowindex="1274"]')
    expect(last).to_be_in_viewport(ratio=1)
    # Rows are drawn again while the page settles.
    page.wait_for_function(
        f"""() => {{
          const {{ element: grid, body }} = {table}.grid;
          const last = body.querySelector('[aria-rowindex="1274"]');
          const bottom = (part) => part.getBoundingClientRect().bottom;
          return last && bottom(grid) >= bottom(last) && bottom(grid) < bottom(last) + 20;
        }}"""
    )
    last.click()
    page.keyboard.press("Home")
    expect(grid.locator('[aria-rowindex="2"]')).to_be_focused()
    for _ in range(3, 60):
        page.keyboard.press("ArrowDown")
    expect(grid.locator('[aria-rowindex="59"]')).to_be_focused()
    expect(grid.locator('[aria-rowindex="59"]')).to_be_in_viewport()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 1274
    settled(page)

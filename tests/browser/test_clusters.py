"""Browser tests of the Clusters page: find, rename, merge, undo and export."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.projects import Projects
from tests.browser.test_app import settled, stage, until
from tests.browser.test_export import open_files


def written(page: Page) -> list[str]:
    """Return the names that stand on a map."""
    found: list[str] = page.evaluate(
        "() => document.querySelector('.st-key-map .hv-map').__hv.map.overlay.pieces"
        ".filter(p => p.kind === 'name').map(p => p.text)"
    )
    return found


def wait_for_name(page: Page, name: str) -> None:
    page.wait_for_function(
        "name => document.querySelector('.st-key-map .hv-map')?.__hv?.map.overlay"
        "?.pieces.some(p => p.kind === 'name' && p.text === name)",
        arg=name,
    )


CARDS = ".st-key-clusters-cards [class*='st-key-cluster-']"


def box(page: Page, number: int) -> Locator:
    """Return the box of a card. The boxes of a page need not appear in their order."""
    return page.locator(f".st-key-clusters-cards .st-key-cluster-{number} [data-testid=stCheckbox]")


def test_clusters_are_found(page: Page) -> None:
    page.goto("/clusters")
    stage(page)
    page.get_by_text("Find clusters in more detail").click()
    page.get_by_role("button", name="Find clusters", exact=True).click()
    expect(box(page, 1)).to_be_visible()
    settled(page)


def test_clusters_are_renamed_merged_and_exported(page: Page, projects: Projects) -> None:
    page.goto(f"/clusters?s={projects.clustered()}")
    stage(page)
    expect(box(page, 1)).to_be_visible()
    settled(page)
    cards = page.locator(CARDS)
    n = cards.count()
    assert n > 2

    box(page, 1).locator("label").click()
    # The run that this asks for may begin after the click has returned.
    expect(page.get_by_text("Pick one card to see details")).to_be_hidden()
    settled(page)
    page.get_by_role("button", name="Rename").click()
    name = page.get_by_role("textbox", name="Name of the cluster")
    name.fill("My own words")
    expect(name).to_have_value("My own words")
    page.keyboard.press("Enter")
    settled(page)
    page.locator(".st-key-rename-cluster button").click()
    # Those of before stay for a moment beside those that take their places.
    expect(box(page, 1).filter(has_text="My own words")).to_be_visible()
    expect(box(page, 1)).to_have_count(1)
    settled(page)

    for number in (2, 3):
        box(page, number).locator("label").click()
        settled(page)
    page.locator(".st-key-merge button").click()
    expect(cards).to_have_count(n - 1)
    settled(page)
    page.get_by_role("button", name="Undo merge clusters").click()
    expect(cards).to_have_count(n)
    settled(page)

    page.get_by_role("button", name="Colour by cluster").click()
    stage(page)
    wait_for_name(page, "My own words")
    # Nearer by, a cluster has its name or those of its parts, never both.
    far = written(page)
    stage(page).hover()
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "far => { const map = document.querySelector('.st-key-map .hv-map').__hv.map;"
        " return map.overlay.pieces.some(p => p.kind === 'name' && !far.includes(p.text)); }",
        arg=far,
    )
    # No cluster is named in two sizes of letters.
    page.wait_for_function(
        "() => { const { pieces } = document.querySelector('.st-key-map .hv-map').__hv.map.overlay;"
        " const names = pieces.filter((p) => p.kind === 'name');"
        " const fonts = new Set(names.map((p) => `${p.code} ${p.font}`));"
        " return fonts.size === new Set(names.map((p) => p.code)).size; }"
    )

    page.get_by_role("link", name="Export").click()
    expect(page.locator(".st-key-export-preview img")).to_be_visible()
    settled(page)
    open_files(page)
    row = page.locator("[data-testid=stHorizontalBlock]", has_text="Coordinates").last
    with page.expect_download() as made:
        row.get_by_role("button", name="CSV").click()
    header, *rows = made.value.path().read_text(encoding="utf-8").splitlines()
    assert "cluster" in header.split(",")
    assert any("My own words" in line for line in rows)


def test_hovered_cluster_is_outlined_on_map(page: Page) -> None:
    page.goto("/clusters")
    stage(page)
    row = page.locator(".st-key-quick-0")
    expect(row).to_be_visible()
    settled(page)
    facts = row.locator("h2 > span:not(.hv-show)").text_content() or ""
    members = int(facts.split(" ")[0].replace(",", ""))
    outlined = "document.querySelector('.st-key-map .hv-map').__hv.map.outline.rows"
    # The button that selects the members lies over the row.
    row.get_by_role("button", name="Select").hover()
    page.wait_for_function(f"n => {outlined}?.length === n", arg=members)
    # All others fade.
    lit = "map.points.drawer.bytes.state.filter((s) => s & 1).length"
    until(page, f"{lit} === {members}")
    stage(page).hover()
    page.wait_for_function(f"() => {outlined} === null")
    until(page, f"{lit} === 0")

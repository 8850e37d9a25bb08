"""The app in a browser: what a visitor sees and does, in both themes and both sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.harness import ARTIFACTS, LOOKS, ROOT, Look, serve

Picture = Callable[[Page, str], Path]

PLANTS = "id,name,kind,size,weight\n" + "".join(
    f"{k:03d},Plant {k},{['tree', 'herb', 'moss'][k % 3]},{k * 37 % 11},{k * 17 % 7}\n"
    for k in range(40)
)
INSECTS = "id,title,length,mass\n" + "".join(
    f"i{k},Insect {k},{k * 13 % 9},{k * 29 % 13}\n" for k in range(30)
)
LINKS = "source_dataset,source_id,target_dataset,target_id,weight\n" + "".join(
    f"plants,{k:03d},insects,i{k * 7 % 30},1\n" for k in range(40)
)


def chart(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key} .js-plotly-plot")


def settled(page: Page) -> None:
    """Wait until no script of the page is running."""
    expect(
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    ).to_be_visible()


def drop(page: Page, **files: str | bytes) -> None:
    page.locator("input[type=file]").first.set_input_files(
        [
            {
                "name": name.replace("_", "."),
                "mimeType": "application/octet-stream",
                "buffer": text if isinstance(text, bytes) else text.encode(),
            }
            for name, text in files.items()
        ]
    )


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=str)
def test_first_map_without_a_click(page: Page, look: Look, picture: Picture) -> None:
    page.goto("/")
    expect(
        page.get_by_role("heading", name="1,273 emoji and 621 keywords on one map")
    ).to_be_visible()
    expect(chart(page, "live")).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    expect(page.locator(".hv-still")).to_have_count(5)
    settled(page)
    frame = chart(page, "live").bounding_box()
    assert frame is not None
    assert frame["y"] + frame["height"] <= look.height
    picture(page, "start")


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=str)
def test_map_page_fits_the_window(page: Page, look: Look, picture: Picture) -> None:
    page.goto("/map")
    expect(page.get_by_role("button", name="Make map")).to_be_visible()
    expect(chart(page, "map")).to_be_visible()
    settled(page)
    frame = chart(page, "map").bounding_box()
    assert frame is not None
    assert frame["height"] >= 360
    assert frame["y"] + frame["height"] <= look.height
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= look.width
    picture(page, "map")


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=str)
def test_data_page(page: Page, look: Look, picture: Picture) -> None:
    page.goto("/data")
    expect(page.get_by_text("1,273 rows, 48 features")).to_be_visible()
    expect(page.get_by_text("What is known of how items relate")).to_be_visible()
    settled(page)
    picture(page, "data")


@pytest.mark.parametrize("path", ["/map", "/data", "/"])
def test_a_deep_link_as_first_request_opens_its_page_in_its_frame(
    path: str, browser: Browser, open_page: Callable[[str], Page]
) -> None:
    with serve(ROOT / "app.py", ARTIFACTS / "cold.log") as fresh:
        page = open_page(fresh.url)
        page.goto(path)
        texts = {"/map": "Make map", "/data": "Add files", "/": "Open this map"}
        expect(page.get_by_text(texts[path], exact=True)).to_be_visible()
        expect(page.get_by_text("Map up to date")).to_be_visible()
        expect(page.get_by_role("link", name="Data")).to_be_visible()
        settled(page)


def test_a_reload_keeps_what_was_done(page: Page) -> None:
    page.goto("/")
    settled(page)
    page.locator(".st-key-open-digits button").click()
    expect(page.get_by_role("heading", name="pixels")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="pixels")).to_be_visible()
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_text("700 rows").first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Undo open sample").click()
    expect(page.get_by_role("heading", name="1,273 emoji")).to_be_visible()
    settled(page)


def test_own_files_with_a_wrong_row_are_told_and_mapped(page: Page, picture: Picture) -> None:
    page.goto("/")
    settled(page)
    drop(
        page,
        plants_csv=PLANTS,
        insects_csv=INSECTS,
        links_csv=LINKS + "plants,nobody,insects,i1,1\n",
    )
    expect(
        page.get_by_role("heading", name="40 plants and 30 insects, joined by 40 links")
    ).to_be_visible()
    expect(page.get_by_text("1 problem", exact=True)).to_be_visible()
    settled(page)
    picture(page, "account")
    page.get_by_role("button", name="Leave these rows out and go on").click()
    expect(chart(page, "map")).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    expect(page.get_by_text("plants 40")).to_be_visible()
    settled(page)
    picture(page, "own-files")


def test_a_broken_file_is_told_and_the_app_goes_on(page: Page) -> None:
    page.goto("/")
    settled(page)
    drop(page, broken_zip=b"PK\x03\x04 this is no zip")
    expect(page.get_by_role("heading", name="These files could not be read")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="1,273 emoji")).to_be_visible()
    settled(page)


def test_a_method_runs_and_its_map_replaces_the_first(page: Page, picture: Picture) -> None:
    page.goto("/map")
    button = page.get_by_role("button", name="Make map")
    expect(button).to_be_enabled()
    settled(page)
    page.get_by_text("Hold out 20 % of the links").click()
    settled(page)
    button.click()
    expect(page.get_by_role("button", name="Undo new map")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("held out", exact=True).first).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)
    picture(page, "after-run")


def test_another_colour_and_a_hidden_dataset(page: Page, picture: Picture) -> None:
    page.goto("/map")
    expect(page.get_by_role("button", name="Make map")).to_be_visible()
    settled(page)
    page.get_by_role("combobox", name="Colour").click()
    page.get_by_role("option", name="Colour: N keywords of emoji").click()
    expect(page.get_by_text("Colour: N keywords of emoji;")).to_be_visible()
    expect(chart(page, "map").locator(".colorbar")).to_be_visible()
    settled(page)
    picture(page, "numbers")
    page.get_by_role("button", name="keywords 621").click()
    settled(page)
    page.wait_for_function(
        "document.querySelector('.st-key-map .js-plotly-plot').data.length === 1"
    )


def test_a_box_shows_what_it_selects(page: Page, picture: Picture) -> None:
    page.goto("/map")
    expect(page.get_by_role("button", name="Make map")).to_be_visible()
    settled(page)
    plot = chart(page, "map")
    plot.hover()
    page.locator('[data-title="Box Select"]').first.click()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.4 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.9 * box["height"], steps=5)
    page.mouse.up()
    expect(page.get_by_text("selected", exact=False).first).to_be_visible()
    expect(page.locator(".hv-items div").first).to_be_visible()
    settled(page)
    picture(page, "selection")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".hv-items")).to_have_count(0)
    settled(page)


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[-1]], indirect=True, ids=str)
def test_no_text_of_the_map_lies_on_another(page: Page, look: Look) -> None:
    page.goto("/map")
    expect(chart(page, "map").locator(".annotation").first).to_be_visible()
    settled(page)
    boxes = page.evaluate(
        """[...document.querySelectorAll('.st-key-map .annotation text')]
        .map(text => text.getBoundingClientRect())
        .filter(box => box.width > 0)
        .map(box => [box.left, box.top + 2, box.right, box.bottom - 2])"""
    )
    assert len(boxes) >= 15
    for k, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:k]:
            apart = other[2] <= left or right <= other[0] or other[3] <= top or bottom <= other[1]
            assert apart, (boxes[k], other)


def test_cancel_stops_a_run_and_says_so(page: Page, picture: Picture) -> None:
    # As many rows as the first map takes a kernel of, so that there is time to cancel.
    n = 3800
    angles = [k * 0.01 for k in range(n)]
    places = "\n".join(f"p{k},{math.cos(a)},{math.sin(3 * a)}" for k, a in enumerate(angles))
    tags = "\n".join(f"t{k},{k % 7},{k % 3}" for k in range(100))
    ends = "\n".join(f"places,p{k},tags,t{k % 100}" for k in range(n))
    page.goto("/")
    settled(page)
    drop(
        page,
        places_csv=f"id,x,y\n{places}\n",
        tags_csv=f"id,u,v\n{tags}\n",
        links_csv=f"source_dataset,source_id,target_dataset,target_id\n{ends}\n",
    )
    page.get_by_role("button", name="Map them").click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("stopped. Nothing was changed.")).to_be_visible()
    expect(page.get_by_role("heading", name="No map yet")).to_be_visible()
    expect(page.get_by_role("button", name="Undo new map")).to_have_count(0)
    settled(page)
    picture(page, "cancelled")


@pytest.mark.parametrize("path", ["/", "/data", "/map"])
def test_no_serious_barrier_on_any_page(path: str, page: Page) -> None:
    page.goto(path)
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = {
        f"{rule['id']}: {node['target']}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    }
    assert serious == set()

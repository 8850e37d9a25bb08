"""Browser tests of the app in both themes and both sizes."""

from __future__ import annotations

import gzip
import math
import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import ARTIFACTS, ROOT, Look, Open, Picture, each_look, serve

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

# More of the same: `make soak` has it.
SOAK = pytest.mark.soak

# The head of the panel, not a line of the keys that stand there before.
SELECTED = re.compile(r"^[\d,]+ selected$")


def stage(page: Page) -> Locator:
    """Return the map, once its points are drawn."""
    page.wait_for_function(
        "() => document.querySelector('.st-key-map .hv-map[data-drawn]')?.__hv?.paints > 0"
    )
    return page.locator(".st-key-map .hv-stage")


def scene_value(page: Page, what: str) -> Any:
    """Return a figure of the map in the page, such as ``count`` of selected items."""
    return page.evaluate(f"document.querySelector('.st-key-map .hv-map').__hv.map.scene.{what}")


def open_map_form(page: Page) -> None:
    """Open the form of a new map from the tools."""
    page.get_by_role("button", name="Tools").click()
    page.locator(".hv-menu").get_by_role("button", name="New map").click()


def make_map(page: Page, method: str = "") -> None:
    """Start making another map, by the method suggested or by one whose title begins so."""
    open_map_form(page)
    if method:
        page.get_by_role("combobox", name="Method").fill(method)
        page.keyboard.press("Enter")
        settled(page)
    expect(page.get_by_role("button", name="Make map")).to_be_attached()
    # It gets space, although it is drawn after it was opened.
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stPopoverBody]')?.clientHeight > 300"
    )
    page.get_by_role("button", name="Make map").click()


def until(page: Page, condition: str) -> None:
    """Wait until a condition on the map, called ``map``, holds."""
    page.wait_for_function(
        "() => { const map = document.querySelector('.st-key-map .hv-map')?.__hv?.map;"
        f" return map?.scene.data && ({condition}); }}"
    )


def drag(page: Page, *corners: tuple[float, float]) -> None:
    """Draw over the map from corner to corner, as shares of the part that the map is fitted to."""
    box = stage(page).bounding_box()
    assert box is not None
    until(page, "!map.scene.flight")
    clear = scene_value(page, "view.clear")
    left, top = box["x"] + clear["left"], box["y"] + clear["top"]
    width = box["width"] - clear["left"] - clear["right"]
    height = box["height"] - clear["top"] - clear["bottom"]
    at = [(left + x * width, top + y * height) for x, y in corners]
    page.mouse.move(*at[0])
    page.mouse.down()
    for x, y in at[1:]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()


def settled(page: Page) -> None:
    """Wait until no script of the page is running and nothing is on its way to another look."""
    expect(
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    ).to_be_visible()
    page.wait_for_function(
        "() => document.getAnimations().every((one) => one.playState !== 'running'"
        " || one.effect.getComputedTiming().endTime === Infinity)"
    )


def serious_barriers(page: Page, only: str = "", impact: str = "serious critical") -> set[str]:
    """Return what axe finds, by all its rules or one, that would keep somebody out."""
    options = {
        "resultTypes": ["violations"],
        **({"runOnly": {"type": "rule", "values": [only]}} if only else {}),
    }
    found = Axe().run(page, options=options).response["violations"]
    return {
        f"{rule['id']}: {node['target']}"
        for rule in found
        if rule["impact"] in impact
        for node in rule["nodes"]
    }


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


def test_first_map_without_a_click(page: Page, picture: Picture) -> None:
    page.goto("/")
    expect(
        page.get_by_role("heading", name="1,273 emoji and 621 keywords on one map")
    ).to_be_visible()
    stage(page)
    expect(page.get_by_text("Map up to date")).to_be_visible()
    expect(page.locator(".hv-thumbnail")).to_have_count(5)
    settled(page)
    for look in each_look(page):
        fits(page, look, least=0)
        picture(page, "start", look)
    assert serious_barriers(page) == set()


def test_map_page_fits_the_window(page: Page, picture: Picture) -> None:
    page.goto("/map")
    expect(page.locator(".st-key-new-map button")).to_be_attached()
    stage(page)
    settled(page)
    for look in each_look(page):
        fits(page, look, least=360)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= look.width
        picture(page, "map", look)
    assert serious_barriers(page) == set()


def fits(page: Page, look: Look, least: float) -> None:
    """Wait until the map ends above the lower edge of the window, and is as high as it should."""
    settled(page)
    page.wait_for_function(
        """([low, high]) => {
          const box = document.querySelector('.st-key-map .hv-stage').getBoundingClientRect();
          return box.height >= low && box.bottom <= high;
        }""",
        arg=[least, look.height],
    )
    until(page, "!map.scene.flight && !map.frameLoop.frame")


def test_data_page(page: Page, picture: Picture) -> None:
    page.goto("/data")
    expect(page.get_by_text("1,273 rows, 48 features")).to_be_visible()
    expect(page.get_by_text("Links, comparisons and labels")).to_be_visible()
    for look in each_look(page):
        settled(page)
        picture(page, "data", look)
    assert serious_barriers(page) == set()


# Other tests have the map (test_recovery.py) and the data (test_server.py) as first request.
@pytest.mark.soak
@pytest.mark.parametrize("path", ["/", "/data", "/map"])
def test_deep_link_opens_its_page(path: str, open_page: Open) -> None:
    with serve(ROOT / "app.py", ARTIFACTS / "cold.log") as fresh:
        page = open_page(fresh.url)
        page.goto(path)
        texts = {"/map": "1,273 emoji and 621 keywords", "/data": "Add files", "/": "Open this map"}
        expect(page.get_by_text(texts[path], exact=True)).to_be_visible()
        expect(page.get_by_text("Map up to date")).to_be_visible()
        expect(page.get_by_role("link", name="Data")).to_be_visible()
        settled(page)


def test_reload_keeps_state(page: Page) -> None:
    page.goto("/")
    settled(page)
    page.locator(".st-key-open-digits button").click()
    title = page.locator(".hv-map-title")
    expect(title).to_contain_text("pixels")
    page.reload()
    expect(title).to_contain_text("pixels")
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_text("700 rows").first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Undo open sample").click()
    expect(page.get_by_text("1,273 emoji and 621 keywords, 4,130 links")).to_be_visible()
    settled(page)


def test_own_files_with_invalid_row_are_mapped(page: Page, picture: Picture) -> None:
    page.goto("/")
    settled(page)
    drop(
        page,
        plants_csv=PLANTS,
        insects_csv=INSECTS,
        links_csv=LINKS + "plants,nobody,insects,i1,1\n",
    )
    expect(
        page.get_by_role("heading", name="40 plants and 30 insects with 40 links")
    ).to_be_visible()
    expect(page.get_by_text("1 problem", exact=True)).to_be_visible()
    settled(page)
    picture(page, "account")
    page.get_by_role("button", name="Continue without this row").click()
    stage(page)
    expect(page.get_by_text("Map up to date")).to_be_visible()
    page.get_by_role("button", name="Open this map").or_(
        page.get_by_role("link", name="Map")
    ).first.click()
    # While a map is made items are coloured by their dataset: "Plants" is in the legend too.
    expect(page.get_by_role("button", name="plants 40", exact=True)).to_be_visible()
    settled(page)
    picture(page, "own-files")


def test_files_can_be_dropped_onto_the_page(page: Page) -> None:
    page.goto("/")
    settled(page)
    dropped = page.evaluate_handle(
        """texts => {
            const data = new DataTransfer();
            for (const [name, text] of Object.entries(texts))
                data.items.add(new File([text], name, {type: "text/csv"}));
            return data;
        }""",
        {"plants.csv": PLANTS, "insects.csv": INSECTS, "links.csv": LINKS},
    )
    zone = page.get_by_test_id("stFileUploaderDropzone").first
    for event in ("dragenter", "dragover", "drop"):
        zone.dispatch_event(event, {"dataTransfer": dropped})
    expect(
        page.get_by_role("heading", name="40 plants and 30 insects with 40 links")
    ).to_be_visible()
    settled(page)


def test_broken_file_shows_message(page: Page) -> None:
    page.goto("/")
    settled(page)
    drop(page, broken_zip=b"PK\x03\x04 this is no zip")
    expect(page.get_by_role("heading", name="These files could not be read")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="1,273 emoji")).to_be_visible()
    settled(page)


def test_file_of_any_extension_is_read_or_refused(page: Page) -> None:
    page.goto("/")
    settled(page)
    packed = gzip.compress(PLANTS.encode())
    drop(page, photo_docx=b"\xd0\xcf\x11\xe0" + bytes(4000), sizes_dat_gz=packed)
    expect(page.get_by_role("heading", name="40 sizes")).to_be_visible()
    expect(page.get_by_role("cell", name="photo.docx")).to_be_visible()
    expect(page.get_by_role("cell", name="this is not a text file")).to_be_visible()
    settled(page)


def test_method_run_replaces_first_map(page: Page, picture: Picture) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    open_map_form(page)
    page.get_by_text("Hide 20 % of the links").click()
    settled(page)
    page.get_by_role("button", name="Make map").click()
    expect(page.get_by_role("button", name="Undo new map")).to_be_visible()
    page.get_by_role("tab", name="Item").click()
    expect(page.get_by_text("hidden", exact=True).first).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)
    picture(page, "after-run")


def test_recolouring_keeps_selection_and_zoom(page: Page, picture: Picture) -> None:
    page.goto("/map")
    expect(page.locator(".st-key-new-map button")).to_be_attached()
    stage(page)
    settled(page)
    page.get_by_role("button", name="Tools").click()
    page.get_by_role("button", name="Lasso").click()
    drag(page, (0.3, 0.4), (0.7, 0.4), (0.7, 0.8), (0.3, 0.8), (0.3, 0.4))
    expect(page.locator(".st-key-panel").get_by_text(SELECTED)).to_be_visible()
    count = scene_value(page, "count")
    assert count > 100
    box = stage(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -400)
    until(page, "map.scene.view.zoomed && !map.scene.flight && !map.frameLoop.frame")
    range_ = scene_value(page, "view.range.x")
    page.get_by_role("button", name="Colour: Group of emoji").click()
    page.locator(".hv-colours-menu").get_by_text("Number of keywords of emoji").click()
    expect(page.get_by_role("button", name="Colour: Number of keywords of emoji")).to_be_visible()
    settled(page)
    assert scene_value(page, "count") == count
    assert scene_value(page, "view.range.x") == pytest.approx(range_)
    page.get_by_role("button", name="keywords 621").dblclick()
    settled(page)
    picture(page, "numbers")
    # Python hears of the camera once nothing has moved for a while.
    until(page, "map.camera.sentKey?.includes('x')")
    settled(page)
    page.reload()
    stage(page)
    settled(page)
    assert scene_value(page, "count") == count
    # The map makes room for the panel, which opens for what is selected.
    expect(page.locator('html[data-hv-panel="open"]')).to_be_attached()
    until(page, "map.scene.view.zoomed && map.scene.view.clear.right > 300 && !map.scene.flight")
    assert scene_value(page, "view.range.x") == pytest.approx(range_, abs=1e-3)
    assert scene_value(page, "hidden") == ["keywords"]


def test_selection_is_shown_filtered_and_cleared(page: Page, picture: Picture) -> None:
    page.goto("/map")
    expect(page.locator(".st-key-new-map button")).to_be_attached()
    stage(page)
    settled(page)
    stage(page).focus()
    page.keyboard.press("r")
    drag(page, (0.35, 0.5), (0.6, 0.85))
    panel = page.locator(".st-key-panel")
    expect(panel.get_by_text(SELECTED)).to_be_visible()
    count = scene_value(page, "count")
    settled(page)
    picture(page, "selection")
    page.get_by_role("button", name="Only these", exact=True).click()
    expect(page.get_by_role("button", name="Undo filter")).to_be_visible()
    until(page, f"map.scene.visible === {count}")
    page.get_by_role("button", name="Undo filter").click()
    until(page, f"map.scene.visible > {count}")
    settled(page)
    panel.get_by_role("button", name="Clear").click()
    expect(panel.get_by_text(SELECTED)).to_have_count(0)
    until(page, "map.scene.count === 0")
    settled(page)


def test_running_job_moves_the_map_and_survives_reload(page: Page, picture: Picture) -> None:
    page.goto("/map")
    expect(page.locator(".st-key-new-map button")).to_be_attached()
    stage(page)
    settled(page)
    # A map that is mounted again has none for a moment.
    frames = "(document.querySelector('.st-key-map .hv-map')?.__hv?.frames ?? 0)"
    before = page.evaluate(frames)
    make_map(page, "Multimodal relational SNE")
    page.wait_for_function(
        f"before => {frames} > before + 1",
        arg=before,
    )
    picture(page, "live")
    expect(page.locator(".st-key-state").get_by_text(re.compile(r"\d\s%"))).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Undo new map")).to_be_visible()
    expect(page.locator(".hv-film-strip button")).to_have_count(2)
    settled(page)
    until(page, "!map.scene.motion")
    settled(page)


def test_cancel_stops_run_with_message(page: Page, picture: Picture) -> None:
    # So many rows that there is time to cancel before there is a layout to keep.
    n = 12_000
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
    page.get_by_role("button", name="Create map").click()
    state = page.locator(".st-key-state")
    state.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("Nothing was changed.")).to_be_visible()
    expect(page.get_by_role("heading", name="No map yet")).to_be_visible()
    expect(page.get_by_role("button", name="Undo new map")).to_have_count(0)
    settled(page)
    picture(page, "cancelled")

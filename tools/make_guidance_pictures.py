"""Pictures of the tutorial "Ten minutes of guidance".

``python tools/make_guidance_pictures.py`` starts the app in a home of its own, drives a Chromium
through what the tutorial tells, and writes ``docs/tutorial/guidance-*.png``.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Page, expect, sync_playwright  # noqa: E402

import hetviz  # noqa: E402
from tests.browser.harness import CHROMIUM_FLAGS, serve  # noqa: E402
from tests.browser.test_app import settled, stage, until  # noqa: E402
from tools.find_chromium import find_chromium  # noqa: E402

OUT = ROOT / "docs" / "tutorial"
INSTRUMENTS = ("guitar", "trumpet", "violin", "drum", "saxophone", "accordion")
KINDS = (
    ("red apple", "grapes", "banana", "cherries", "peach", "pear", "lemon"),
    ("bus", "taxi", "ambulance", "tractor", "bicycle", "automobile", "delivery truck"),
    ("cat face", "dog face", "cow face", "tiger face", "lion", "bear", "hamster", "panda"),
    ("rose", "tulip", "sunflower", "cherry blossom", "hibiscus", "bouquet"),
)
UNLIKE = ("pizza", "umbrella", "kite", "snail", "toilet", "rocket")
PATIENCE = 120_000
WHILE = 3_000
YES = re.compile("^Yes")


def main() -> None:
    """Make them all."""
    expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        env = {"HETVIZ_HOME": home}
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        with serve(ROOT / "app.py", Path(home) / "server.log", env=env) as server:
            size = {"width": 1440, "height": 900}
            page = browser.new_context(viewport=size, reduced_motion="reduce").new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(f"{server.url}/map")
            stage(page)
            settled(page)
            tell(page)
        browser.close()


def tell(page: Page) -> None:
    """Go through the ten minutes, with a picture after each step."""
    keep(page, "before")
    name_group(page, rows_of(INSTRUMENTS))
    keep(page, "draft")
    say(page)
    keep(page, "after")
    for kind in KINDS:
        clear(page)
        name_group(page, rows_of(kind))
        say(page)
    keep(page, "followed")
    clear(page)
    name_group(page, rows_of(UNLIKE))
    say(page)
    keep(page, "refused")
    panel = page.locator(".st-key-panel")
    panel.get_by_role("button", name="Undo", exact=True).click()
    page.wait_for_timeout(WHILE)
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)
    clear(page)
    page.get_by_role("tab", name="Guidance").click()
    panel.get_by_role("button", name="Keep").click()
    yes = panel.get_by_role("button", name=YES)
    expect(yes).to_be_visible()
    settled(page)
    panel.get_by_text("Rings on the map").scroll_into_view_if_needed()
    page.mouse.move(620, 20)
    keep(page, "asked")


def rows_of(titles: tuple[str, ...]) -> list[int]:
    """Return the rows of items by their titles."""
    data = hetviz.load("emoji")
    every = [str(title).lower() for dataset in data.datasets.values() for title in dataset.titles]
    return [every.index(title) for title in titles]


def name_group(page: Page, rows: list[int]) -> None:
    """Select items and call them A, as the key A does."""
    page.evaluate(
        "rows => { const { map } = document.querySelector('.st-key-map .hv-map').__hv;"
        " map.selection.select(rows); map.statements.set('A'); }",
        rows,
    )
    until(page, "map.scene.data.draft.groups.A")
    panel = page.locator(".st-key-panel")
    expect(panel.get_by_text("Preview", exact=True)).to_be_visible()
    settled(page)
    page.wait_for_timeout(WHILE)


def say(page: Page) -> None:
    """Say the draft, and wait until the map has followed."""
    page.locator(".st-key-statement-bar").locator(".st-key-add-statement button").first.click()
    page.wait_for_timeout(WHILE)
    panel = page.locator(".st-key-panel")
    expect(panel.get_by_text(re.compile("What moved most|What changed")).first).to_be_visible()
    expect(page.get_by_text("Map up to date")).to_be_visible()
    settled(page)


def clear(page: Page) -> None:
    """Select nothing, and show the whole map."""
    stage(page).focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    settled(page)


def keep(page: Page, name: str) -> None:
    """Write what is on the screen, in slightly fewer colours: the file is a fifth smaller."""
    page.wait_for_timeout(WHILE)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    small = picture.point(lambda level: min(3 * round(level / 3), 255))
    small.save(OUT / f"guidance-{name}.png", optimize=True)


if __name__ == "__main__":
    main()

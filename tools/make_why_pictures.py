"""Pictures of "Why is it here?" for three items of samples.

``python tools/make_why_pictures.py`` starts the app in a home of its own, selects each item on its
sample's map, and writes ``docs/explanation/why-*.png``.
"""

from __future__ import annotations

import io
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

OUT = ROOT / "docs" / "explanation"
ITEMS = {
    "pizza": ("emoji", "emoji", "Emoji and the words"),
    "Brazil": ("world", "countries", "Countries, their languages"),
    "gnuchess": (
        "debian",
        "programs",
        "Programs of a Linux",
    ),
}
PATIENCE = 120_000
WHILE = 3_000


def main() -> None:
    """Make them all, light."""
    expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        env = {"HETVIZ_HOME": home}
        with serve(ROOT / "app.py", Path(home) / "server.log", env=env) as server:
            for title, (sample, dataset, begins) in ITEMS.items():
                size = {"width": 1440, "height": 900}
                page = browser.new_context(viewport=size, reduced_motion="reduce").new_page()
                page.set_default_timeout(PATIENCE)
                show(page, server.url, sample, dataset, title, begins)
                page.wait_for_timeout(WHILE)
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                small = picture.quantize(256, dither=Image.Dither.NONE)
                small.save(OUT / f"why-{sample}.png", optimize=True)
                page.context.close()
        browser.close()


def show(page: Page, url: str, sample: str, dataset: str, title: str, begins: str) -> None:
    """Select an item on the map of a sample, and scroll its panel to why it is there."""
    page.goto(url)
    settled(page)
    if sample != "emoji":
        page.get_by_role("button", name=f"Open: {begins}").click()
    else:
        page.get_by_role("button", name="Open this map").click()
    stage(page)
    settled(page)
    data = hetviz.load(sample)
    row = data.offsets[dataset].start + [*map(str, data[dataset].titles)].index(title)
    page.evaluate(
        "row => document.querySelector('.st-key-map .hv-map').__hv.map.selection.select([row])", row
    )
    until(page, "map.scene.count === 1")
    why = page.get_by_text("Why it is here", exact=True)
    expect(why).to_be_visible()
    settled(page)
    why.evaluate("one => one.scrollIntoView({block: 'start'})")
    settled(page)


if __name__ == "__main__":
    main()

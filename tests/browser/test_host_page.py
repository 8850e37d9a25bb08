"""The map as an ES module on a plain page, in Chromium."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import hetviz
from tests.browser.harness import ARTIFACTS, new_context


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    hetviz.save_map_component(tmp_path)
    files = functools.partial(Files, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/example.html"
        server.shutdown()


@pytest.mark.browser
def test_example_page_shows_selects_and_reports(browser: Browser, address: str) -> None:
    page = new_context(browser).new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    expect(page.locator(".hv-map[data-known]")).to_be_visible()
    of = "document.querySelector('.hv-map').__hv.map"
    assert page.evaluate(f"{of}.scene.n") == 14
    # A selection of the page.
    page.get_by_role("button", name="Select the cheeses").click()
    expect(page.locator("#selected")).to_have_text(
        "Brie, Camembert, Comté, Gouda, Feta, Halloumi, Roquefort, Stilton"
    )
    page.wait_for_function(f"() => {of}.scene.links.length === 5")
    # A selection of the visitor, by the mouse.
    x, y = page.evaluate(f"{of}.scene.pixel(0)")
    stage = page.locator(".hv-stage").bounding_box()
    assert stage is not None
    page.mouse.click(stage["x"] + x, stage["y"] + y)
    expect(page.locator("#selected")).to_have_text("Brie")
    # The colours, and an Arrow table in place of the points.
    page.get_by_role("button", name="Change").click()
    page.get_by_role("button", name="dataset").or_(
        page.get_by_role("menuitemradio", name="dataset")
    ).first.click()
    page.wait_for_function(f"() => {of}.scene.data.colour.option === 'dataset'")
    page.evaluate(
        """() => {
          const columns = { id: [1n, 2n, 3n], x: [0, 1, null], y: [0, 2, null], size: [1, 2, 3] };
          const points = { schema: { fields: Object.keys(columns).map((name) => ({ name })) },
            getChild: (name) => columns[name] };
          map.update({ points, links: null, statements: null, colour: "size" });
        }"""
    )
    page.wait_for_function(f"() => {of}.scene.n === 3 && {of}.scene.data.unplaced === 1")
    wrong = page.evaluate(
        """() => ["{ points: { x: [1], y: [1, 2] } }", "{ points: [{ x: 'a', y: 1 }] }",
          "{ links: [{ source: 1, target: 9 }] }", "{ colour: 'none' }"].map((text) => {
          try { map.update(Function(`return ${text}`)()); } catch (error) { return error.message; }
        })"""
    )
    assert wrong == [
        "hetviz map: points.y has 2 values, but points.x has 1. Give one value for each.",
        'hetviz map: points.x of 0 is "a". Give a number, or null for an item without a place.',
        'hetviz map: links name "9", which is no id of the points.',
        'hetviz map: colour "none" is no column of the points. There is: dataset, size.',
    ]
    page.screenshot(path=ARTIFACTS / "host-page.png")
    assert errors == []

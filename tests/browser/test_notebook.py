"""Browser tests of the widget in JupyterLab: hover, selection, colours, statements, themes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from tests.browser.harness import ARTIFACTS, ROOT, new_context
from tests.waits import PATIENCE_S, wait_until

CELLS = (
    "import hetviz\ndata = hetviz.load('emoji')\n"
    "m = hetviz.embed(data, 'mr-sne', start=hetviz.embed(data, 'joint-spectral'))\nm",
    "w = m.widget()\nprint('selected:', sum(map(len, w.selection.values())))",
    "w.selection = {'keywords': list(data['keywords'].ids[:7])}",
    "w.colour = 'dataset'",
    "print('said:', w.say(together={'emoji': list(data['emoji'].ids[[0, 600, 1200]])}).n_said)",
)

# An emoji without a neighbour within 8 pixels, in view, right of the legend and below no name.
FREE = """() => {
  const map = document.querySelector('.hv-map').__hv.map;
  const at = (r) => map.scene.pixel(r);
  const all = Array.from({ length: map.scene.n }, (_, r) => at(r));
  const { W, H } = map.scene.view;
  const inside = ([x, y]) => x > 420 && x < W - 260 && y > 90 && y < H - 60;
  const box = map.stage.getBoundingClientRect();
  const seen = ([x, y]) => map.stage.contains(document.elementFromPoint(box.x + x, box.y + y))
    && !map.overlay.regionAt(x, y);
  const far = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]) > 8;
  const apart = (r) => all.every((xy, q) => q === r || far(xy, all[r]));
  return all.findIndex((xy, r) => r < 1273 && inside(xy) && seen(xy) && apart(r));
}"""


class Lab:
    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder

    def look(self, theme: str) -> None:
        for name, raw in (
            ("themes", {"theme": theme}),
            ("notification", {"fetchNews": "false", "checkForUpdates": False}),
        ):
            request = Request(
                f"{self.address}/lab/api/settings/@jupyterlab/apputils-extension:{name}",
                json.dumps({"raw": json.dumps(raw)}).encode(),
                {"Content-Type": "application/json"},
                method="PUT",
            )
            urlopen(request, timeout=PATIENCE_S).read()

    def notebook(self, name: str) -> str:
        """Write a notebook of the cells, and return its address."""
        cells = [
            {
                "cell_type": "code",
                "id": f"cell-{k}",
                "metadata": {},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
            for k, source in enumerate(CELLS)
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
        (self.folder / name).write_text(json.dumps({**book, "nbformat_minor": 5}))
        return f"{self.address}/lab/tree/{name}?reset"


def _answers(address: str) -> bool:
    try:
        urlopen(f"{address}/api", timeout=PATIENCE_S).read()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("jupyter")
    folder = home / "notebooks"
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {name: str(home / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    settings = {"IPYTHONDIR": str(home / "ipython"), "JUPYTERLAB_SETTINGS_DIR": str(home / "lab")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    command += ["--LabApp.expose_app_in_browser=True"]
    command += ["--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"]
    command += [f"--ServerApp.root_dir={folder}", f"--LabApp.workspaces_dir={home / 'spaces'}"]
    ARTIFACTS.mkdir(exist_ok=True)
    with (ARTIFACTS / "jupyterlab.log").open("w") as log:
        env = {**os.environ, **own, **settings, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT)
        try:
            address = f"http://127.0.0.1:{port}"
            assert wait_until(lambda: process.poll() is not None or _answers(address))
            assert process.poll() is None, "JupyterLab ended; see its log"
            yield Lab(address, folder)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


@pytest.fixture
def opened(browser: Browser, lab: Lab) -> Iterator[Page]:
    lab.look("JupyterLab Light")
    # The system's look is the other one: what counts is the notebook's own.
    context = new_context(browser, viewport={"width": 1440, "height": 1000}, color_scheme="dark")
    page = context.new_page()
    faults: list[str] = []

    def note_fault(error: Error) -> None:
        # With this error JupyterLab drops requests of its own when it leaves a kernel.
        if not str(error).startswith("Error: Canceled future for create_subshell_request"):
            faults.append(str(error))

    page.on("pageerror", note_fault)
    # JupyterLab asks things of its own accord, such as which kernel to take.
    asked = page.locator(".jp-Dialog")

    def accept() -> None:
        asked.locator(".jp-mod-accept").first.click()

    page.add_locator_handler(asked, accept)
    page.goto(lab.notebook("map.ipynb"))
    page.locator(".jp-CodeCell").first.wait_for()
    expect(page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute("data-status", "idle")
    # What is run before the kernel has answered is dropped, though it is called idle by then.
    cell = page.locator(".jp-CodeCell").first
    while cell.locator(".jp-InputPrompt").text_content() == "[ ]:":
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1_000)
    page.locator(".hv-map .hv-legend").wait_for()
    expect(page.locator(".hv-map .hv-note")).to_be_hidden()
    yield page
    context.close()
    assert faults == []


def run(page: Page, cell: int) -> None:
    page.locator(".jp-CodeCell .cm-content").nth(cell).click()
    page.keyboard.press("Shift+Enter")


def in_map(page: Page, expression: str) -> object:
    return page.evaluate(
        f"() => {{ const map = document.querySelector('.hv-map').__hv.map; return {expression}; }}"
    )


def until(page: Page, expression: str) -> None:
    page.wait_for_function(
        f"() => {{ const map = document.querySelector('.hv-map').__hv.map; return {expression}; }}"
    )


def where(page: Page, row: int) -> tuple[float, float]:
    """Return where a row lies in the window."""
    x, y = page.evaluate(
        """(row) => {
          const map = document.querySelector('.hv-map').__hv.map;
          const box = map.stage.getBoundingClientRect();
          const [x, y] = map.scene.pixel(row);
          return [box.x + x, box.y + y];
        }""",
        row,
    )
    return x, y


def test_hover_selection_statement_and_theme(opened: Page) -> None:
    page = opened
    assert page.locator(".hv-map").get_attribute("data-theme") == "light"
    until(page, "!map.scene.moving && !map.scene.flight")

    # Point at an emoji in the free middle of the map: its card has a picture.
    card = page.locator(".hv-tooltip:not([hidden])")

    def point_at_emoji() -> bool:
        # The notebook moves the map while it finds room for it.
        page.locator(".hv-map").scroll_into_view_if_needed()
        row = page.evaluate(FREE)
        if row >= 0:
            x, y = where(page, row)
            page.mouse.move(x - 6, y)
            page.mouse.move(x, y)
        page.wait_for_timeout(500)
        return card.locator("img").count() > 0

    assert wait_until(point_at_emoji)
    expect(card).to_contain_text("emoji")
    expect(card.locator("img")).to_have_js_property("complete", True)
    assert card.locator("img").evaluate("image => image.naturalWidth") > 10

    # Find it by name: it is selected, with its links.
    page.get_by_placeholder("Find items and values").fill(card.locator("strong").inner_text())
    results = page.locator(".hv-search-results")
    expect(results.get_by_role("option").first).to_be_visible()
    # The map cuts off what does not fit into it.
    inner, outer = results.bounding_box(), page.locator(".hv-map").bounding_box()
    assert inner is not None and outer is not None
    assert inner["x"] >= outer["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]
    page.screenshot(path=ARTIFACTS / "notebook-search.png")
    results.get_by_role("option").first.click()
    until(page, "map.scene.count === 1 && !map.scene.moving && !map.scene.flight")
    until(page, "map.scene.links.length > 0")
    # The tools do not cover the legend.
    legend, tools = (page.locator(name).bounding_box() for name in (".hv-legend", ".hv-bar"))
    assert legend is not None
    assert tools is not None
    assert legend["y"] + legend["height"] <= tools["y"]
    page.screenshot(path=ARTIFACTS / "notebook-light.png")

    # Python hears of it; the letters of the map are no commands of the notebook.
    run(page, 1)
    expect(page.locator(".jp-OutputArea-output").last).to_contain_text("selected: 1")
    cells = page.locator(".jp-CodeCell").count()
    page.locator(".hv-stage").focus()
    page.keyboard.press("l")
    page.keyboard.press("b")
    assert page.locator(".jp-CodeCell").count() == cells
    assert in_map(page, "map.scene.tool") == "lasso"

    # A lasso around all of the map.
    page.keyboard.press("0")
    until(page, "!map.scene.flight")
    box = page.locator(".hv-stage").bounding_box()
    assert box is not None
    left, top = box["x"] + 330, box["y"] + 60
    right, low = box["x"] + box["width"] - 20, box["y"] + box["height"] - 10
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, low), (left, low), (left, top)):
        page.mouse.move(x, y, steps=6)
    page.mouse.up()
    until(page, "map.scene.count > 20")
    count = in_map(page, "map.scene.count")
    run(page, 1)
    expect(page.locator(".jp-OutputArea-output").last).to_contain_text(f"selected: {count}")

    # Python selects, colours, and says; the map follows.
    run(page, 2)
    until(page, "map.scene.count === 7")
    run(page, 3)
    until(page, "map.scene.data.colour.option === 'dataset'")
    before = in_map(page, "[...map.scene.geometry.slice(0, 200)]")
    run(page, 4)
    expect(page.locator(".jp-OutputArea-output").last).to_contain_text("said: 3")
    # The map requests the new places from the kernel after the output is there.
    until(page, f"{json.dumps(before)}.some((x, k) => x !== map.scene.geometry[k])")
    until(page, "!map.scene.moving && !map.scene.motion")

    # The map follows the theme.
    page.evaluate(
        "jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })"
    )
    expect(page.locator(".hv-map")).to_have_attribute("data-theme", "dark")
    until(page, "!map.scene.moving && !map.scene.flight")
    page.screenshot(path=ARTIFACTS / "notebook-dark.png")
    paper = page.locator(".hv-map").evaluate("root => getComputedStyle(root).backgroundColor")
    assert sum(map(int, paper.removeprefix("rgb(").removesuffix(")").split(","))) < 120

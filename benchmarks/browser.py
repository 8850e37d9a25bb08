"""Response times of the app in Chromium.

Needs a Chromium (HETVIZ_CHROMIUM names it). Without a graphics card it draws in software, which is
several times slower than what a visitor has; every figure is wall clock and says so of the machine.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import Page, TimeoutError, sync_playwright

import hetviz
from benchmarks.harness import report
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.workspace import MapResult, OpenBundle, RecordMap, Sessions
from hetviz.workspace.sessions import new_session_id
from hetviz.workspace.store.maps import pack_map
from tests.browser.harness import CHROMIUM_FLAGS, ROOT, serve
from tests.browser.test_app import SELECTED, open_map_form
from tools.find_chromium import find_chromium

REPEATS = 5
_HALF_MINUTE = 30_000
_MAP = "document.querySelector('.st-key-map .hv-map').__hv"
# Notes when a point has first left its place, and when the map's job is over and all points rest.
_WATCH = f"""() => {{
  const {{ map }} = {_MAP};
  const was = Float32Array.from(map.scene.pos);
  const watch = window.hvWatch = {{ first: 0, end: 0, live: false }};
  let start = 0;
  const begin = () => {{ start ||= performance.now(); }};
  for (const name of ["pointerdown", "keydown"]) {{
    document.addEventListener(name, begin, {{ capture: true, once: true }});
  }}
  const look = () => {{
    const now = performance.now();
    watch.live ||= Boolean(map.scene.data.live);
    if (start && !watch.first && map.scene.pos.some((v, k) => Math.abs(v - was[k]) > 1e-6)) {{
      watch.first = now - start;
    }}
    const {{ data, motion }} = map.scene;
    if (watch.first && watch.live && !data.live && !motion) watch.end = now - start;
    else requestAnimationFrame(look);
  }};
  look();
}}"""
# Range of the map, as shares of width and height, that holds about three quarters of the points.
_MOST = ((0.02, 0.2), (0.98, 0.98))


def run(out: Path, quick: bool) -> None:
    """Measure and write ``browser.json``."""
    rows: list[dict[str, Any]] = []
    sizes = (2_000, 20_000) if quick else (2_000, 20_000, 100_000)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        ids = {n: prepared(n, Path(home)) for n in sizes}
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        rows += cold_starts(browser, 1 if quick else 3)
        env = {"HETVIZ_HOME": home}
        with serve(ROOT / "app.py", Path(home) / "server.log", env=env) as server:
            for n, sid in ids.items():
                page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
                page.set_default_timeout(4 * _HALF_MINUTE)
                page.goto(f"{server.url}/map?s={sid}")
                settled(page)
                rows += interactions(page, n)
                if n <= 20_000:
                    rows.append(live(page, n))
                page.context.close()
            page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
            page.goto(f"{server.url}/map")
            settled(page)
            rows.append(hover(page))
            rows += answers(page, 3 if quick else REPEATS)
        browser.close()
    note = f"wall clock on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians"
    report("browser", rows, out, note)


def prepared(n: int, home: Path, seed: int = 0) -> str:
    """Save a project of n rows in two datasets with a map; return its session id."""
    rng = np.random.default_rng(seed)
    half = n // 2
    group = rng.integers(0, 8, n)
    centre = rng.normal(size=(8, 6)) * 3
    X = centre[group] + rng.normal(size=(n, 6))
    parts = []
    for place, name in enumerate(("left", "right")):
        mine = slice(place * half, (place + 1) * half)
        table = pd.DataFrame({"group": [f"group {k}" for k in group[mine]]})
        table["size"] = rng.normal(size=half).round(3)
        parts.append(Dataset(name, [f"{name}{k}" for k in range(half)], X[mine], table=table))
    partner = rng.permutation(half)
    links = Links("left", "right", np.arange(half), partner, np.ones(half))
    data = HeteroData(parts, [links])
    bundle = home / f"{n}.zip"
    hetviz.save(data, bundle)
    sid = new_session_id()
    sessions = Sessions(home / "sessions")
    workspace = sessions.get(sid)
    workspace.do(OpenBundle(workspace.blobs.put(bundle.read_bytes()), bundle.name, leave_out=True))
    opened = workspace.state.opened()
    places = {name: X[rows, :2] for name, rows in data.offsets.items()}
    embedding = Embedding(places, {name: part.ids for name, part in opened.datasets.items()})
    result = MapResult(
        opened.fingerprint(),
        "pca",
        {},
        0,
        title="Two columns",
        embedding=embedding,
        figures={"scores": {}, "curves": {}},
    )
    workspace.do(RecordMap(workspace.blobs.put(pack_map(result))))
    sessions.close()
    return sid


def cold_starts(browser: Any, repeats: int) -> list[dict[str, Any]]:
    """Time a fresh server's first page until its map is drawn."""
    taken = []
    for _ in range(repeats):
        with (
            tempfile.TemporaryDirectory() as home,
            serve(ROOT / "app.py", Path(home) / "server.log", env={"HETVIZ_HOME": home}) as server,
        ):
            page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
            start = time.monotonic()
            page.goto(server.url)
            page.wait_for_function(
                "() => document.querySelector('.st-key-map .hv-map')?.__hv?.paints > 0",
                timeout=4 * _HALF_MINUTE,
            )
            taken.append(time.monotonic() - start)
            page.context.close()
    return [row("first map of a fresh server", 1_894, taken)]


def interactions(page: Page, n: int) -> list[dict[str, Any]]:
    """Time a lasso around most points, recolouring with them selected, and hiding a layer."""
    result = []
    page.get_by_role("button", name="Tools").click()
    page.get_by_role("button", name="Lasso").click()
    # The cards lie over the map, where a drag could not begin.
    style = page.add_style_tag(content=".hv-map-card, .hv-search { pointer-events: none }")
    box = page.locator(".st-key-map .hv-stage").bounding_box()
    assert box is not None
    (x0, y0), (x1, y1) = (
        (box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in _MOST
    )
    taken, counts = [], []
    for _ in range(REPEATS):
        page.keyboard.press("Escape")
        settled(page)
        page.mouse.move(x0, y0)
        page.mouse.down()
        for place in ((x1, y0), (x1, y1), (x0, y1), (x0, y0)):
            page.mouse.move(*place, steps=6)
        start = time.monotonic()
        page.mouse.up()
        page.locator(".st-key-panel").get_by_text(SELECTED).wait_for()
        taken.append(time.monotonic() - start)
        counts.append(page.evaluate(f"{_MAP}.map.scene.count"))
        settled(page)
        page.locator(".st-key-panel").get_by_role("button", name="Clear").click()
        page.locator(".st-key-panel").get_by_text(SELECTED).wait_for(state="detached")
        settled(page)
    result.append(row(f"lasso of {int(statistics.median(counts)):,} to the panel", n, taken))
    style.evaluate("node => node.remove()")
    taken = []
    for title in ("Size of left", "Group of left") * 2:
        page.get_by_role("button", name="Colour: ").click()
        option = page.locator(".hv-colours-menu").get_by_text(title)
        option.wait_for()
        start = time.monotonic()
        option.click()
        page.get_by_role("button", name=f"Colour: {title}").wait_for()
        taken.append(time.monotonic() - start)
        settled(page)
    result.append(row("recolour", n, taken))
    return result


def prepare_map(page: Page) -> None:
    """Fill the form of a new neighbour map."""
    open_map_form(page)
    settled(page)
    page.get_by_role("combobox", name="Method").fill("Multimodal relational SNE")
    page.get_by_role("option", name="Multimodal relational SNE").click()
    settled(page)


def live(page: Page, n: int) -> dict[str, Any]:
    """Count the layouts that the browser draws a second while a neighbour map is made."""
    prepare_map(page)
    page.get_by_role("button", name="Make map").click()
    start = time.monotonic()
    before = page.evaluate(f"{_MAP}.frames")
    page.wait_for_function(f"() => {_MAP}.frames > {before}", timeout=4 * _HALF_MINUTE)
    first = time.monotonic() - start
    begun, drawn = time.monotonic(), page.evaluate(f"[{_MAP}.frames, {_MAP}.draws]")
    page.wait_for_function(f"() => !{_MAP}.map.scene.data.live", timeout=20 * _HALF_MINUTE)
    frames, draws = page.evaluate(f"[{_MAP}.frames, {_MAP}.draws]")
    lasted = time.monotonic() - begun
    return {
        "what": "live layouts: first one",
        "rows": n,
        "seconds": first,
        "worst": first,
        "layouts/s": (frames - drawn[0]) / lasted,
        "pictures/s": (draws - drawn[1]) / lasted,
    }


def hover(page: Page) -> dict[str, Any]:
    """Time the card of an item with its picture, from the pointer's arrival."""
    box = page.locator(".st-key-map .hv-stage").bounding_box()
    assert box is not None
    places = page.evaluate(
        f"(() => {{ const map = {_MAP}.map; const rows = [];"
        " for (let r = 0; r < 1273 && rows.length < 12; r += 97) {"
        " const [x, y] = map.scene.pixel(r), { W, H } = map.scene.view;"
        " if (x > 20 && y > 20 && x < W - 20 && y < H - 20) rows.push([x, y]);"
        " } return rows; })()"
    )
    taken = []
    for x, y in places:
        page.mouse.move(box["x"] + 2, box["y"] + 2)
        page.wait_for_timeout(300)
        start = time.monotonic()
        page.mouse.move(box["x"] + x, box["y"] + y)
        try:
            page.wait_for_function(
                "() => {"
                " const image = document.querySelector("
                "   '.st-key-map .hv-tooltip:not([hidden]) img');"
                " return image && image.complete && image.naturalWidth; }",
                timeout=3_000,
            )
        except TimeoutError:
            # Another item, without a picture, is nearer there.
            continue
        taken.append(time.monotonic() - start)
    return row("hover to the card with its picture", 1_894, taken)


def answers(page: Page, repeats: int) -> list[dict[str, Any]]:
    """Time the map's answers on emoji: to a new map, and to links of ten items to one.

    Measured in the page, from the click or key to the first picture with a point elsewhere, and
    until the map is measured and nothing moves.
    """
    result: dict[str, list[float]] = {"first": [], "end": []}
    for _ in range(repeats):
        prepare_map(page)
        page.evaluate(_WATCH)
        page.get_by_role("button", name="Make map").click()
        for name, seconds in watched(page).items():
            result[name].append(seconds)
    rows = [
        row("emoji, new map: first layout", 1_894, result["first"]),
        row("emoji, new map: settled", 1_894, result["end"]),
    ]
    result = {"first": [], "end": []}
    for turn in range(repeats):
        for name, start, count in (("A", 40 * turn, 10), ("B", 640 + 40 * turn, 1)):
            members = list(range(start, start + count))
            page.evaluate(f"{_MAP}.map.selection.select({members})")
            page.evaluate(f"{_MAP}.map.statements.set('{name}')")
            page.wait_for_function(
                f"() => {_MAP}.map.scene.data.draft.groups.{name}", timeout=_HALF_MINUTE
            )
            settled(page)
        page.wait_for_function(
            f"() => {_MAP}.map.statements.pairs.length === 10", timeout=_HALF_MINUTE
        )
        settled(page)
        page.locator(".st-key-map .hv-stage").focus()
        page.evaluate(_WATCH)
        page.keyboard.press("t")
        for name, seconds in watched(page).items():
            result[name].append(seconds)
    rows.append(row("emoji, ten links: first moved picture", 1_894, result["first"]))
    rows.append(row("emoji, ten links: settled", 1_894, result["end"]))
    return rows


def watched(page: Page) -> dict[str, float]:
    """Return the seconds from the watch's start to the first move, and to the end of it all."""
    page.wait_for_function("() => window.hvWatch.end", timeout=10 * _HALF_MINUTE)
    settled(page)
    page.wait_for_timeout(1_000)
    watch: dict[str, float] = page.evaluate("window.hvWatch")
    return {name: watch[name] / 1_000 for name in ("first", "end")}


def row(message: str, n: int, taken: list[float]) -> dict[str, Any]:
    """Return a line of the table."""
    return {
        "what": message,
        "rows": n,
        "seconds": statistics.median(taken),
        "worst": max(taken),
        "layouts/s": "",
        "pictures/s": "",
    }


def settled(page: Page) -> None:
    """Wait until the map is drawn and no script of the page runs."""
    shown = f"() => {_MAP.replace(').', ')?.')}?.paints > 0"
    page.wait_for_function(shown, timeout=4 * _HALF_MINUTE)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()

"""The screen as a reader has it: how much of it is map, what covers it, and whether all is reached.

Needs a Chromium (HETVIZ_CHROMIUM names it). No figure is a time: they are the same on any
machine.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from benchmarks.harness import report
from tests.browser.harness import CHROMIUM_FLAGS, ROOT, serve
from tools.find_chromium import find_chromium

SIZES = ((1440, 900), (1920, 1080), (900, 700), (768, 1024), (390, 844))
PLACES = ("data", "map", "compare", "export")
_HALF_MINUTE = 30_000
_STEP = 6
_MAP = "document.querySelector('.st-key-map .hv-map').__hv"
# Share of a grid of points where the map lies, and where nothing lies over it.
_COVER = f"""() => {{
  const root = document.querySelector('.st-key-map .hv-map');
  const box = root.getBoundingClientRect();
  let all = 0, free = 0;
  for (let x = 3; x < innerWidth; x += {_STEP}) for (let y = 3; y < innerHeight; y += {_STEP}) {{
    all += 1;
    const hit = document.elementFromPoint(x, y);
    if (hit && hit.closest('.hv-stage')) free += 1;
  }}
  return {{ canvas: box.width * box.height / innerWidth / innerHeight, free: free / all }};
}}"""
_CONTROLS = """() => {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true })
    && e.getBoundingClientRect().width > 0;
  const all = [...document.querySelectorAll(
    'button, a[href], input, select, [role=tab], [tabindex]')]
    .filter(seen);
  const acts = all.filter((e) => e.matches('button, a[href], input, select'));
  const small = acts.filter((e) => { const b = e.getBoundingClientRect();
    return Math.min(b.width, b.height) < (innerWidth < 860 ? 44 : 24); });
  return { controls: acts.length, stops: all.filter((e) => e.tabIndex >= 0 && !e.disabled).length,
    small: small.length };
}"""
# Pairs of written things that meet, and drawn lines of a selection that end in no name.
_WRITTEN = f"""() => {{
  const boxes = {_MAP}.map.overlay.boxes().filter((p) => p.kind !== 'picture').map((p) => p.at);
  let met = 0;
  boxes.forEach((a, k) => boxes.slice(0, k).forEach((b) => {{
    if (a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1]) met += 1;
  }}));
  const ends = {_MAP}.map.overlay.pieces.filter((p) => p.kind === 'linked' && !p.chosen);
  return {{ written: boxes.length, met, lines: ends.length,
    nameless: ends.filter((p) => p.align === null).length }};
}}"""


def run(out: Path, quick: bool) -> None:
    """Measure and write ``canvas.json``."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        with serve(ROOT / "app.py", Path(home) / "server.log", env={"HETVIZ_HOME": home}) as server:
            for width, height in SIZES[:1] if quick else SIZES:
                for scheme in ("light",) if quick else ("light", "dark"):
                    context = browser.new_context(
                        viewport={"width": width, "height": height},
                        color_scheme=scheme,
                        reduced_motion="reduce",
                    )
                    page = context.new_page()
                    page.set_default_timeout(4 * _HALF_MINUTE)
                    page.goto(f"{server.url}/map")
                    rows += [
                        {"window": f"{width} x {height}", "scheme": scheme} | one
                        for one in states(page)
                    ]
                    context.close()
        browser.close()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    rows = [{name: row.get(name, "") for name in columns} for row in rows]
    report("canvas", rows, out, "shares of the window; counts; axe: serious and critical findings")


def states(page: Page) -> list[dict[str, Any]]:
    """Return the figures of the idle map, of one selected item, and of the round through places."""
    _settled(page)
    page.evaluate(
        "() => { window.hvShift = 0; new PerformanceObserver((l) => l.getEntries()"
        ".forEach((e) => { window.hvShift += e.value; }))"
        ".observe({ type: 'layout-shift', buffered: true }); }"
    )
    idle = {"state": "idle", **_figures(page), **page.evaluate(_CONTROLS)}
    page.evaluate(f"() => {{ window.hvMap = {_MAP}.map; }}")
    page.evaluate(f"() => {_MAP}.map.select([1400])")
    page.wait_for_function(
        f"() => {_MAP}.map.overlay.pieces.some((p) => p.kind === 'linked' && !p.chosen)"
    )
    page.wait_for_timeout(2000)
    chosen = {"state": "selected", **_figures(page)}
    for place in (*PLACES, "map"):
        page.locator(f".st-key-place-{place} a").click()
        page.wait_for_selector(f".hv-at-{place}", state="attached")
    _settled(page)
    kept = page.evaluate(f"() => window.hvMap === {_MAP}.map && window.hvMap.count === 1")
    shift = page.evaluate("() => window.hvShift")
    return [idle, chosen, {"state": "round", "kept": kept, "shift": round(shift, 3)}]


def _figures(page: Page) -> dict[str, Any]:
    cover = page.evaluate(_COVER)
    wide = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = sum(len(rule["nodes"]) for rule in found if rule["impact"] in ("serious", "critical"))
    return {
        "canvas": round(cover["canvas"], 3),
        "uncovered": round(cover["free"], 3),
        "scrolls sideways": wide,
        "axe": serious,
        **page.evaluate(_WRITTEN),
    }


def _settled(page: Page) -> None:
    """Wait until the map is drawn and its names are placed."""
    page.wait_for_function(
        "() => document.querySelector('.st-key-map .hv-map[data-drawn]')?.__hv?.map"
        ".overlay.pieces.some((p) => p.kind === 'name')"
    )
    page.wait_for_timeout(1500)

"""Screen layout: share of the map, overlaps, and reachable controls.

Needs a Chromium (HETVIZ_CHROMIUM names it). No figure is a time, but for the last three of the
state "asked": how long a ring, the first line of the panel and another theme take to be seen.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, WebSocket, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.harness import report
from tests.browser.harness import CHROMIUM_FLAGS, ROOT, serve
from tools.find_chromium import find_chromium

SIZES = ((1440, 900), (1920, 1080), (900, 700), (768, 1024), (390, 844))
PLACES = ("data", "map", "compare", "export")
_HALF_MINUTE = 30_000
_STEP = 6
_MAP = "document.querySelector('.st-key-map .hv-map').__hv"
# Share of a grid of points covered by the map, and not covered by anything else.
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
# What is counted apart, as the lists of a page are: rows of the legend, maps of the film, tabs.
_CONTROLS = """() => {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true })
    && Math.max(e.getBoundingClientRect().width, e.getBoundingClientRect().height) > 1;
  const all = [...document.querySelectorAll(
    'button, a[href], input, select, [role=tab], [tabindex]')]
    .filter(seen);
  const acts = all.filter((e) => e.matches('button, a[href], input, select') && !e.disabled);
  const small = acts.filter((e) => { const b = e.getBoundingClientRect();
    return Math.min(b.width, b.height) < (innerWidth < 860 ? 44 : 24); });
  const rows = acts.filter((e) => e.matches('.hv-row, .hv-film-strip button')).length;
  const tabs = acts.filter((e) => e.matches('[role=tab]')).length;
  return { controls: acts.length - rows - tabs, tabs, rows,
    stops: all.filter((e) => e.tabIndex >= 0 && !e.disabled).length,
    small: small.map((e) => (e.ariaLabel || e.innerText || e.type).slice(0, 20)).join('; ') };
}"""
# Shifts from the first paint on, but for those within half a second of what the visitor did.
_SHIFTS = """
window.hvShift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  if (!entry.hadRecentInput) window.hvShift += entry.value;
})).observe({ type: 'layout-shift', buffered: true });
"""
_PLACE = f"""(row) => {{
  const {{ map }} = {_MAP};
  const box = map.stage.getBoundingClientRect();
  const [x, y] = map.scene.pixel(row);
  return [box.left + x, box.top + y];
}}"""
# A linked row with an uncovered point.
_ROW = f"""() => {{
  const {{ map }} = {_MAP};
  const at = {_PLACE};
  const rows = [...Array(map.scene.n).keys()].reverse().filter((r) => {{
    const hit = document.elementFromPoint(...at(r));
    return map.scene.isShown[r] && hit && hit.closest('.hv-stage');
  }});
  return rows[Math.floor(rows.length / 3)];
}}"""
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
                    context.add_init_script(_SHIFTS)
                    page = context.new_page()
                    sent: list[object] = []
                    page.on("websocket", partial(_listen, sent))
                    page.set_default_timeout(10 * _HALF_MINUTE)
                    page.goto(f"{server.url}/map")
                    rows += [
                        {"window": f"{width} x {height}", "scheme": scheme} | entry
                        for entry in states(page, sent)
                    ]
                    for row in rows[-4:]:
                        print(row, flush=True)
                    context.close()
        browser.close()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    rows = [{name: row.get(name, "") for name in columns} for row in rows]
    report("canvas", rows, out, "shares of the window; counts; axe: serious and critical findings")


def _listen(sent: list[object], socket: WebSocket) -> None:
    def keep(payload: object) -> None:
        sent.append(payload)

    socket.on("framesent", keep)


def _messages(sent: Sequence[object]) -> tuple[int, int]:
    """Return how many runs of the whole page were asked for, and how many of a part of it."""
    whole = part = 0
    for payload in sent:
        message = BackMsg()
        message.ParseFromString(payload if isinstance(payload, bytes) else b"")
        if message.WhichOneof("type") == "rerun_script":
            of_part = bool(message.rerun_script.fragment_id)
            # The strip above all places asks by itself what is being worked on.
            own_values = message.rerun_script.is_auto_rerun
            whole += not of_part and not own_values
            part += of_part and not own_values
    return whole, part


def states(page: Page, sent: list[object]) -> list[dict[str, Any]]:
    """Return the figures of the idle map, of one selected item, of wishes, and of the round."""
    _settled(page)
    idle = {"state": "idle", **_figures(page), **page.evaluate(_CONTROLS)}
    page.evaluate(f"() => {{ window.hvMap = {_MAP}.map; }}")
    row = page.evaluate(_ROW)
    asked = {"state": "asked", **_asked(page, row, sent)}
    page.mouse.click(*page.evaluate(_PLACE, row))
    page.wait_for_function(f"() => {_MAP}.map.scene.count === 1")
    page.wait_for_timeout(4000)
    chosen = {"state": "selected", **_figures(page)}
    for place in (*PLACES, "map"):
        page.locator(f".st-key-place-{place} a").click()
        page.wait_for_selector(f".hv-at-{place}", state="attached")
        page.wait_for_timeout(1500)
    _settled(page)
    scores = page.evaluate(f"() => window.hvMap === {_MAP}.map && window.hvMap.scene.count === 1")
    shift = page.evaluate("() => window.hvShift")
    return [idle, asked, chosen, {"state": "round", "kept": scores, "shift": round(shift, 3)}]


def _asked(page: Page, row: int, sent: list[object]) -> dict[str, Any]:
    """Return what hover, theme, legend, film and tabs ask of the server, and their times."""
    scheme = page.evaluate(f"() => {_MAP}.map.scene.scheme")
    other = "dark" if scheme == "light" else "light"
    before = len(sent)
    x, y = page.evaluate(_PLACE, row)
    ring = page.evaluate(
        f"""([x, y]) => new Promise((done) => {{
          const {{ map }} = {_MAP};
          const begun = performance.now();
          map.stage.dispatchEvent(new PointerEvent('pointermove',
            {{ clientX: x, clientY: y, bubbles: true, pointerType: 'mouse' }}));
          const look = () => (map.scene.hovered >= 0 ? done(performance.now() - begun)
            : performance.now() - begun > 5000 ? done(null) : requestAnimationFrame(look));
          look();
        }})""",
        [x, y],
    )
    page.mouse.move(x, y)
    page.evaluate(
        f"() => {{ window.hvTheme = null; const begun = performance.now(); const look = () => "
        f"({_MAP}.map.scene.scheme === '{other}' ? requestAnimationFrame(() => "
        "{ window.hvTheme = performance.now() - window.hvSwitched; })"
        " : requestAnimationFrame(look)); look();"
        " matchMedia('(prefers-color-scheme: dark)').addEventListener('change',"
        " () => { window.hvSwitched ??= performance.now(); }, { once: true }); }"
    )
    page.emulate_media(color_scheme=other)
    page.wait_for_function("() => window.hvTheme !== null")
    theme = page.evaluate("() => window.hvTheme")
    page.emulate_media(color_scheme=scheme)
    page.evaluate(
        "() => { const rows = document.querySelectorAll('.hv-legend .hv-row');"
        " rows[rows.length - 1].click(); rows[0].dispatchEvent(new PointerEvent('pointerenter'));"
        " const film = document.querySelector('.hv-film-strip button');"
        " film?.dispatchEvent(new PointerEvent('pointerenter')); }"
    )
    page.wait_for_timeout(1500)
    runs, _ = _messages(sent[before:])
    page.evaluate(
        "() => { const rows = document.querySelectorAll('.hv-legend .hv-row');"
        " rows[rows.length - 1].click(); }"
    )
    before = len(sent)
    for tab in ("Clusters", "Item"):
        # Pressed as a visitor does: what comes of that is no shift.
        page.locator(f"[data-tab={tab}]").click()
        page.wait_for_timeout(2500)
    whole, part = _messages(sent[before:])
    # From a click of the visitor, as what comes of that is no shift.
    page.evaluate(
        """() => { window.hvPanel = undefined; addEventListener('pointerup', () => {
          const begun = performance.now();
          const look = () => {
            const late = performance.now() - begun;
            const seen = document.querySelector(
              '.hv-item-preview .hv-item-head, .st-key-panel .hv-item-head');
            if (seen) window.hvPanel = late;
            else if (late > 60000) window.hvPanel = null;
            else requestAnimationFrame(look);
          };
          look();
        }, { once: true, capture: true }); }"""
    )
    page.mouse.click(*page.evaluate(_PLACE, row))
    page.wait_for_function("() => window.hvPanel !== undefined")
    panel = page.evaluate("() => window.hvPanel")
    page.wait_for_timeout(500)
    page.locator(".st-key-map .hv-stage").focus()
    page.keyboard.press("Escape")
    page.wait_for_timeout(2000)
    rounded = {"ring ms": ring, "theme ms": theme, "panel ms": panel}
    return {
        "runs": runs + whole,
        "runs of the panel": part,
        **{name: "" if value is None else round(value) for name, value in rounded.items()},
    }


def _figures(page: Page) -> dict[str, Any]:
    cover = page.evaluate(_COVER)
    wide = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    result = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    barriers = [
        f"{rule['id']} {node['target']}"
        for rule in result
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]
    return {
        "canvas": round(cover["canvas"], 3),
        "uncovered": round(cover["free"], 3),
        "scrolls sideways": wide,
        "axe": len(barriers),
        "found": "; ".join(barriers),
        **page.evaluate(_WRITTEN),
    }


def _settled(page: Page) -> None:
    """Wait until the map is drawn and what is written on it is placed."""
    page.wait_for_function(
        "() => document.querySelector('.st-key-map .hv-map[data-drawn]')?.__hv?.map"
        ".overlay.pieces.length > 0"
    )
    # The panel is the last of the page.
    page.wait_for_selector("[data-tab=Clusters]", state="attached")
    page.wait_for_timeout(1500)

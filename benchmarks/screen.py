"""Drawing of 20,000 to 5 million points.

The app's own map component in Chromium over made-up points, 1,280 x 800 pixels. Without a graphics
card the processor draws, many times slower than what a visitor has: the table says what drew. One
run of each size; what is timed several times is a median. On a machine that is shared, CPU seconds
of the browser's processes say more than frames a second.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.harness import report
from tests.browser.harness import CHROMIUM_FLAGS, ROOT, Server, serve
from tools.find_chromium import find_chromium

SIZES = (20_000, 100_000, 1_000_000, 5_000_000)
_WINDOW = {"width": 1280, "height": 800}
_LONG = 400_000
_MAP = "document.querySelector('.hv-map').__hv"
# When the map is first seen, and when all of its points are.
_FIRST = """
const seen = window.hvSeen = { first: 0, all: 0 };
const look = () => {
  const map = document.querySelector('.hv-map')?.__hv?.map;
  const drawer = map?.points.drawer;
  const drawn = map?.root.hasAttribute('data-drawn') && drawer.drawn > 0;
  if (drawn) seen.first ||= performance.now();
  if (drawn && drawer.whole !== false && drawer.drawn >= map.scene.n) {
    seen.all = performance.now();
  } else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
# One picture to each frame of the browser; the card may still be busy, which is no picture.
_MOVE = f"""async ([how, ms]) => {{
  const {{ map }} = {_MAP};
  const {{ drawer }} = map.points;
  const begun = performance.now();
  const home = map.scene.view.at();
  let pictures = 0, points = 0, step = 0;
  while (performance.now() - begun < ms) {{
    step += 1;
    if (how === 'pan') map.scene.view.pan(6 * Math.cos(step / 9), 4 * Math.sin(step / 7));
    else map.scene.view.zoom(step % 40 < 20 ? 1.05 : 1 / 1.05);
    map.requestDraw({{ view: true }});
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    if (!drawer.isLate) {{ pictures += 1; points += drawer.drawn; }}
  }}
  const took = performance.now() - begun;
  map.scene.view.go(home);
  map.requestDraw({{ view: true, place: true }});
  points /= Math.max(pictures, 1);
  return {{ pictures, rate: pictures / took * 1000, points }};
}}"""
# From the last move until all points are drawn.
_REST = f"""() => new Promise((done) => {{
  const {{ drawer }} = {_MAP}.map.points;
  const begun = performance.now();
  const look = () => (drawer.whole === false
    ? requestAnimationFrame(look) : done((performance.now() - begun) / 1000));
  requestAnimationFrame(() => requestAnimationFrame(look));
}})"""
# Until the picture with the change has been handed to the browser, whole.
_DONE = """const finished = () => new Promise((done) => {
    const look = () => (drawer.whole === false || drawer.isLate
      ? requestAnimationFrame(look) : done());
    requestAnimationFrame(() => requestAnimationFrame(look));
  });"""
_ASK = f"""async () => {{
  const {{ map }} = {_MAP};
  const {{ drawer }} = map.points;
  {_DONE}
  const {{ W, H }} = map.scene.view;
  const taken = [];
  for (let k = 0; k < 40; k++) {{
    const begun = performance.now();
    const [x, y] = [.2 + .6 * ((k * .618) % 1), .2 + .6 * ((k * .414) % 1)];
    await new Promise((done) => map.points.pick(W * x, H * y, 12, done));
    taken.push(performance.now() - begun);
  }}
  taken.sort((a, b) => a - b);
  const turn = [...Array(80).keys()].map((k) => {{
    const a = k / 80 * 2 * Math.PI;
    const [x, y] = [W * (.5 + .28 * Math.cos(a)), H * (.5 + .28 * Math.sin(a))];
    return [map.scene.view.dataX(x), map.scene.view.dataY(y)];
  }});
  let begun = performance.now();
  const rows = await new Promise((done) => map.points.inside(turn, done));
  const found = performance.now() - begun;
  map.selection.select(rows);
  const told = performance.now() - begun;
  await new Promise((done) => setTimeout(done, 40));
  await finished();
  const lasso = performance.now() - begun;
  const count = map.scene.count;
  map.selection.select([]);
  await new Promise((done) => setTimeout(done, 40));
  await finished();
  begun = performance.now();
  const slot = map.scene.slot;
  map.scene.slot = map.scene.slot.map((code) => (code ? (code % 7) + 1 : 0));
  map.requestDraw({{ paint: true }});
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const sent = performance.now() - begun;
  await finished();
  const recolour = performance.now() - begun;
  map.scene.slot = slot;
  map.requestDraw({{ paint: true }});
  await finished();
  return {{ pick: taken[20], worst: taken[38], count, found, told, lasso, sent, recolour }};
}}"""


def run(out: Path, quick: bool) -> None:
    """Measure and write ``screen.json``; a size that was measured before is not measured again."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "screen_parts.json"
    parts = json.loads(path.read_text()) if path.exists() else {}
    sizes = SIZES[:2] if quick else SIZES
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        for n in sizes:
            name = str(n)
            if name in parts:
                continue
            log = Path(home) / "server.log"
            browser = playwright.chromium.launch(
                executable_path=find_chromium(),
                args=[*CHROMIUM_FLAGS, "--enable-precise-memory-info"],
            )
            with serve(ROOT / "tests" / "browser" / "demo_map.py", log) as server:
                parts[name] = measured(browser, server, n, out)
            browser.close()
            path.write_text(json.dumps(parts, indent=1))
            print(name, parts[name], flush=True)
    rows = [parts[str(n)] for n in sizes]
    note = f"one run of each; wall clock on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    report("screen", rows, out, note)


def measured(browser: Browser, server: Server, n: int, out: Path) -> dict[str, Any]:
    """Return the figures of one size, and leave its pictures, light and dark."""
    context = browser.new_context(viewport=_WINDOW, color_scheme="light")
    context.set_default_timeout(_LONG)
    # The server makes the points up at the first visit: that is not waited for.
    address = f"{server.url}/?n={n}&bare=1&media=0&height=100vh"
    warm = context.new_page()
    warm.goto(address)
    warm.wait_for_function(f"() => {_MAP.replace(').__hv', ')?.__hv')}?.draws >= 0")
    warm.close()
    page = context.new_page()
    cdp = context.new_cdp_session(page)
    sent = _count_bytes(cdp)
    before = _cpu_seconds(browser)
    page.add_init_script(_FIRST)
    page.goto(address)
    page.wait_for_function("() => window.hvSeen.all > 0")
    seen = page.evaluate("() => window.hvSeen")
    arrived = sum(sent.values())
    first_cpu = _cpu_seconds(browser) - before
    page.wait_for_timeout(1500)
    moved = {}
    for method in ("pan", "zoom"):
        begun = _cpu_seconds(browser)
        moved[method] = page.evaluate(_MOVE, [method, 2500])
        moved[method]["cpu"] = (_cpu_seconds(browser) - begun) / max(moved[method]["pictures"], 1)
        begun = _cpu_seconds(browser)
        moved[method]["whole"] = page.evaluate(_REST)
        moved[method]["whole cpu"] = _cpu_seconds(browser) - begun
    pan, zoom = moved["pan"], moved["zoom"]
    asked = page.evaluate(_ASK)
    heap = page.evaluate("() => performance.memory.usedJSHeapSize") / 1e6
    memory = _resident(browser)
    shot(page, out / f"screen-{n}-light.png")
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(1000)
    page.wait_for_function(
        f"() => {{ const {{ drawer }} = {_MAP}.map.points; return drawer.whole !== false; }}"
    )
    shot(page, out / f"screen-{n}-dark.png")
    card = page.evaluate(
        "() => { const gl = document.createElement('canvas').getContext('webgl2');"
        " const info = gl.getExtension('WEBGL_debug_renderer_info');"
        " return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : ''; }"
    )
    context.close()
    return {
        "points": n,
        "first s": seen["first"] / 1000,
        "all s": seen["all"] / 1000,
        "first CPU s": first_cpu,
        "pan CPU ms": 1000 * pan["cpu"],
        "zoom CPU ms": 1000 * zoom["cpu"],
        "pan /s": pan["rate"],
        "zoom /s": zoom["rate"],
        "drawn moving": round(pan["points"]),
        "whole at rest s": pan["whole"],
        "whole CPU s": pan["whole cpu"],
        "pick ms": asked["pick"],
        "pick p95": asked["worst"],
        "lasso rows": asked["count"],
        "lasso found ms": asked["found"],
        "lasso told ms": asked["told"],
        "lasso drawn ms": asked["lasso"],
        "recolour sent ms": asked["sent"],
        "recolour drawn ms": asked["recolour"],
        "heap MB": heap,
        "page MB": memory.get("renderer", 0.0),
        "card MB": memory.get("GPU", 0.0),
        "sent MB": arrived / 1e6,
        "load": os.getloadavg()[0],
        "card": card,
    }


def shot(page: Page, path: Path) -> None:
    """Save what is seen."""
    page.screenshot(path=path, timeout=_LONG)


def _count_bytes(cdp: CDPSession) -> dict[str, float]:
    sent: dict[str, float] = {}
    cdp.send("Network.enable")
    arrays: dict[str, str] = {}

    def asked(event: dict[str, Any]) -> None:
        if "/hv/array/" in event["request"]["url"]:
            arrays[event["requestId"]] = event["request"]["url"]

    def done(event: dict[str, Any]) -> None:
        if event["requestId"] in arrays:
            sent[event["requestId"]] = event["encodedDataLength"]

    cdp.on("Network.requestWillBeSent", asked)
    cdp.on("Network.loadingFinished", done)
    return sent


def _cpu_seconds(browser: Browser) -> float:
    """Return the processor seconds that all processes of the browser have taken so far."""
    result = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return float(sum(process["cpuTime"] for process in result))


def _resident(browser: Browser) -> dict[str, float]:
    """Return the megabytes that the largest process of each kind holds."""
    held: dict[str, float] = {}
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    for process in found:
        status = Path(f"/proc/{process['id']}/status")
        if status.exists():
            line = next(one for one in status.read_text().splitlines() if one.startswith("VmRSS"))
            held[process["type"]] = max(held.get(process["type"], 0.0), int(line.split()[1]) / 1000)
    return held

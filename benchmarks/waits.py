"""Waiting times after *Create map* in Chromium: to the preview and to the final map.

The data are those of `benchmarks.first_maps`, as two CSV files that are dropped. Seconds by the
clock, and CPU seconds of the page's process, of those that it started (reading and the worker) and
of Chromium, which draws without a graphics card here. Cancel is pressed once in a second visit.
Needs a Chromium (HETVIZ_CHROMIUM names it).
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.first_maps import SIZES, things_and_shops
from benchmarks.harness import report
from tests.browser.harness import CHROMIUM_FLAGS, ROOT, Server, serve, session_members
from tools.find_chromium import find_chromium

LONG = 900_000
_MAP = "document.querySelector('.st-key-map .hv-map')?.__hv"
_TICK = os.sysconf("SC_CLK_TCK")
# When what is there after the click is first seen: a job that tells of itself, every item of these
# data with a place, and nothing under way any more.
_WATCH = """(n) => {
  const seen = window.hvSeen = {};
  const begin = () => {
    const start = performance.now();
    const note = (what, there) => {
      if (there && !(what in seen)) seen[what] = (performance.now() - start) / 1000;
    };
    const look = () => {
      const map = document.querySelector(".st-key-map .hv-map")?.__hv?.map;
      const job = document.querySelector(".hv-job:not(.hv-job-state)");
      const count = map?.pos ? map.scene.pos.length / 2 : 0;
      const drawn = document.querySelector(".st-key-map .hv-map")?.__hv?.paints > 0;
      note("progress", job || [...document.querySelectorAll(".at-work")].some(
        (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true })));
      note("preview", count === n && drawn && map.scene.pos.some(Number.isFinite));
      note("settled", seen.preview && document.querySelector(".at-rest")?.checkVisibility()
        && document.querySelector(".at-rest").textContent === "Map up to date");
      if (!seen.settled) requestAnimationFrame(look);
    };
    look();
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest("button")?.textContent.includes("Create map")) begin();
  }, { capture: true });
}"""


def tables(n: int) -> dict[str, bytes]:
    """Return n things and their shops as two CSV files."""
    data = things_and_shops(n)
    group = data.links[0]
    to = np.empty(n, dtype=np.int64)
    to[group.i] = group.j
    files = {}
    for name in data.datasets:
        X = np.asarray(data[name].X)
        head = ["id", "name", *(f"{name}_{k}" for k in range(X.shape[1]))]
        text = io.StringIO()
        text.write(",".join(head + ["shop"] * (name == "things")) + "\n")
        for k, (id, row) in enumerate(zip(data[name].ids, X, strict=True)):
            cells = [str(id), f"{name[:-1].title()} {k}", *(f"{value:.4f}" for value in row)]
            text.write(",".join(cells + [f"s{to[k]}"] * (name == "things")) + "\n")
        files[f"{name}.csv"] = text.getvalue().encode()
    return files


def cpu(pids: set[int]) -> float:
    """Return the CPU seconds that processes have taken, with those of children that ended."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICK


def below(pid: int) -> set[int]:
    """Return a process and all that it started."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    result, new = {pid}, [pid]
    while new:
        new = [child for entry in new for child in parents.get(entry, ()) if child not in result]
        result.update(new)
    return result


def spent(server: Server) -> dict[str, float]:
    """Return CPU seconds so far by who took them."""
    chromium = below(os.getpid()) - {os.getpid()} - below(server.pid)
    return {
        "page": cpu({server.pid}),
        "workers": cpu(set(session_members(server.pid)) - {server.pid}),
        "Chromium": cpu(chromium),
    }


def dropped(page: Page, files: Mapping[str, bytes]) -> None:
    """Drop files at the door, and wait until they are read."""
    page.goto("/")
    page.wait_for_function(f"() => {_MAP}?.paints > 0", timeout=LONG)
    page.wait_for_timeout(3_000)
    inputs: list[Any] = [
        {"name": name, "mimeType": "text/csv", "buffer": content} for name, content in files.items()
    ]
    page.locator("input[type=file]").first.set_input_files(inputs)
    page.get_by_role("button", name="Create map").wait_for(timeout=LONG)
    page.locator("[class*=st-key-belongs-door] input").first.wait_for(
        state="attached", timeout=LONG
    )
    page.wait_for_timeout(3_000)


def waited(browser: Browser, n: int) -> dict[str, Any]:
    """Map tables of n things once to the end, and once until Cancel is pressed."""
    files = tables(n)
    rows = n + max(30, n // 50)
    with tempfile.TemporaryDirectory() as home:
        env = {"HETVIZ_HOME": home}
        with serve(ROOT / "app.py", Path(home) / "server.log", env=env) as server:
            page = browser.new_page(base_url=server.url, viewport={"width": 1440, "height": 900})
            page.set_default_timeout(LONG)
            dropped(page, files)
            page.evaluate(_WATCH, rows)
            before = spent(server)
            page.get_by_role("button", name="Create map").click()
            page.wait_for_function("() => window.hvSeen.preview", polling=50, timeout=LONG)
            seen = spent(server)
            page.wait_for_function("() => window.hvSeen.settled", polling=500, timeout=LONG)
            after, when = spent(server), page.evaluate("window.hvSeen")
            page.close()
            page = browser.new_page(base_url=server.url, viewport={"width": 1440, "height": 900})
            dropped(page, files)
            page.evaluate(_WATCH, rows)
            page.get_by_role("button", name="Create map").click()
            page.wait_for_function("() => window.hvSeen.preview", polling=50, timeout=LONG)
            page.evaluate("""() => {
              const begun = performance.now();
              const look = () => {
                const job = document.querySelector(".hv-job:not(.hv-job-state)");
                if (job) requestAnimationFrame(look);
                else window.hvSeen.cancelled = (performance.now() - begun) / 1000;
              };
              look();
            }""")
            page.get_by_role("button", name="Cancel", exact=True).click()
            page.wait_for_function("() => window.hvSeen.cancelled", polling=50, timeout=LONG)
            stopped = page.evaluate("window.hvSeen.cancelled")
            page.close()

    def by(late: Mapping[str, float]) -> str:
        return " / ".join(f"{late[person] - before[person]:.1f}" for person in before)

    return {
        "items": rows,
        "progress, s": f"{when['progress']:.1f}",
        "preview, s": f"{when['preview']:.1f}",
        "CPU till then": by(seen),
        "settled, s": f"{when['settled']:.0f}",
        "CPU till settled": by(after),
        "cancelled, s": f"{stopped:.1f}",
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def run(out: Path, quick: bool) -> None:
    """Wait for three sizes, one after another."""
    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        for n in SIZES[:1] if quick else SIZES:
            rows.append(waited(browser, n))
            report("waits", rows, out, "CPU: page / reading and worker / Chromium; one run each")
        browser.close()

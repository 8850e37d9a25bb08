"""Brushing five linked charts: the index of hetviz and Mosaic with DuckDB in WebAssembly.

Both count in Chromium over the same made-up rows, without drawing: two numbers of 24 bins, dates of
30, bars of 8 and 20 values. A window over a fifth of the first number moves in 100 steps, and a
step ends when all other charts have their counts. Mosaic makes its aggregates beforehand, as when
the pointer enters a chart. "with points" also finds which rows are shown, as the map needs; Mosaic
cannot aggregate those. Each size has a browser of its own.

``--data`` is a folder with ``npm install @uwdata/mosaic-core@0.12.2 esbuild``.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.harness import report
from tests.browser.harness import ROOT
from tools.find_chromium import find_chromium

DATA = "needs"
SIZES = (10_000, 100_000, 1_000_000)
_DUCKDB = "node_modules/@duckdb/duckdb-wasm/dist"
_ENTRY = """
export * from "@uwdata/mosaic-core";
export { Query, count } from "@uwdata/mosaic-sql";
export * as duckdb from "@duckdb/duckdb-wasm";
"""
_PAGE = """<!doctype html><meta charset="utf-8"><script type="module">
import { Crossfilter, codedColumn } from "./crossfilter.js";
const BINS = [24, 24, 30, 8, 20], STEPS = 100, WIDTH = 0.2;
const windows = [...Array(STEPS).keys()].map((k) => {
  const low = (1 - WIDTH) * (0.5 - 0.5 * Math.cos(2 * Math.PI * k / STEPS));
  return [low, low + WIDTH];
});
function values(n) {
  let seed = 1;
  const next = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const first = Float64Array.from({ length: n }, next);
  // Columns that depend on the first, so that a brush changes their counts.
  return [first, ...BINS.slice(1).map(() => first.map((x) => 0.5 * x + 0.5 * next()))];
}
window.index = (n) => {
  // The server sends the codes.
  const codes = values(n).map((column, k) =>
    Uint8Array.from(column, (x) => Math.floor(x * BINS[k])));
  const begun = performance.now();
  const coded = codes.map((column, k) => codedColumn(String(k), 0, column, BINS[k]));
  const crossfilter = new Crossfilter();
  crossfilter.reset(null, new Uint8Array(n).fill(1), coded);
  const prepared = performance.now() - begun;
  const steps = windows.map(([low, high]) => {
    const allowed = Uint8Array.from({ length: BINS[0] + 1 }, (_, code) =>
      +(code < BINS[0] && (code + 0.5) / BINS[0] >= low && (code + 0.5) / BINS[0] <= high));
    const start = performance.now();
    crossfilter.brush(coded[0], allowed);
    return performance.now() - start;
  });
  return { prepared, steps, shown: crossfilter.visible };
};
window.mosaic = async (n, hasPoints) => {
  const {
    Coordinator, MosaicClient, Query, Selection, clauseInterval, count, duckdb, wasmConnector,
  } = await import("./mosaic.js");
  const columns = values(n);
  let begun = performance.now();
  const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), new Worker("./worker.js"));
  await db.instantiate(new URL("./duckdb.wasm", location.href).href);
  const connection = await db.connect();
  const lines = ["c0,c1,c2,c3,c4"];
  for (let r = 0; r < n; r++) lines.push(columns.map((column) => column[r]).join(","));
  await db.registerFileText("rows.csv", lines.join("\\n"));
  const bin = (k) => `least(${BINS[k] - 1}, floor(c${k} * ${BINS[k]}))::INTEGER`;
  await connection.query(`CREATE TABLE items AS SELECT c0, c1, c2, ${bin(3)} AS b3, ${bin(4)} AS b4,
    ${bin(1)} AS b1, ${bin(2)} AS b2, row_number() OVER () AS r FROM read_csv('rows.csv')`);
  const loaded = performance.now() - begun;
  begun = performance.now();
  const coordinator = new Coordinator(wasmConnector({ duckdb: db, connection }), { cache: true });
  const selection = Selection.crossfilter();
  let waits = 0, done = () => {};
  class Chart extends MosaicClient {
    constructor(column) { super(selection); this.column = column; }
    query(filter) {
      const query = Query.from("items").where(filter ?? []);
      return this.column === "r" ? query.select("r")
        : query.select({ key: this.column, n: count() }).groupby(this.column);
    }
    queryResult(rows) {
      this.rows = this.column === "r" ? rows.getChild("r").toArray() : rows.toArray();
      if (!--waits) done();
      return this;
    }
  }
  const shownBy = ["b1", "b2", "b3", "b4", ...(hasPoints ? ["r"] : [])];
  const charts = shownBy.map((column) => new Chart(column));
  const ended = new Promise((resolve) => { done = resolve; });
  waits = charts.length;
  for (const chart of charts) coordinator.connect(chart);
  await ended;
  const source = {};
  const clause = (range) => clauseInterval("c0", range, {
    source, clients: new Set(), pixelSize: 10,
    scale: { type: "linear", domain: [0, 1], range: [0, 240] },
  });
  selection.activate(clause(windows[0]));
  await new Promise((resolve) => setTimeout(resolve));
  const prepared = performance.now() - begun;
  const steps = [];
  for (const range of windows) {
    const stepDone = new Promise((resolve) => { done = resolve; });
    waits = charts.length;
    const start = performance.now();
    selection.update(clause(range));
    await stepDone;
    steps.push(performance.now() - start);
  }
  const shown = charts[0].rows.reduce((sum, { n: m }) => sum + Number(m), 0);
  return { loaded, prepared, steps, shown };
};
window.isReady = true;
</script>"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def run(out: Path, quick: bool, data: Path) -> None:
    """Measure and write ``brushes.json``."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _fill(folder, data)
        with _serve(folder) as url, sync_playwright() as playwright:
            for n in SIZES[:2] if quick else SIZES:
                for call in (f"index({n})", f"mosaic({n}, false)", f"mosaic({n}, true)"):
                    browser = playwright.chromium.launch(
                        executable_path=find_chromium(), args=["--no-sandbox"]
                    )
                    page = browser.new_page()
                    rows.append(_measured(page, url, call))
                    print(rows[-1], flush=True)
                    browser.close()
    report("brushes", rows, out, f"one run; load {os.getloadavg()[0]:.1f} at the end")


def _fill(folder: Path, data: Path) -> None:
    (data / "entry.js").write_text(_ENTRY)
    bundle = ["--bundle", "--format=esm", "--platform=browser", f"--outfile={folder}/mosaic.js"]
    subprocess.run([data / "node_modules/.bin/esbuild", data / "entry.js", *bundle], check=True)
    shutil.copy(data / _DUCKDB / "duckdb-eh.wasm", folder / "duckdb.wasm")
    shutil.copy(data / _DUCKDB / "duckdb-browser-eh.worker.js", folder / "worker.js")
    shutil.copy(ROOT / "hetviz/plots/points/crossfilter.js", folder)
    (folder / "index.html").write_text(_PAGE)


@contextmanager
def _serve(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def _measured(page: Page, url: str, call: str) -> dict[str, Any]:
    page.goto(url)
    page.wait_for_function("() => window.isReady")
    before = _size_mb(page)
    found = page.evaluate(f"() => {call}")
    steps = sorted(found["steps"])
    return {
        "what": call,
        "load s": found.get("loaded", 0) / 1000,
        "prepare s": found["prepared"] / 1000,
        "first ms": found["steps"][0],
        "median ms": steps[50],
        "p95 ms": steps[95],
        "worst ms": steps[-1],
        "MB more": _size_mb(page) - before,
        "rows shown": found["shown"],
    }


def _size_mb(page: Page) -> float:
    """Return the memory of all pages of the browser, shared parts by halves."""
    session = page.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    pages = [one["id"] for one in processes if one["type"] == "renderer"]
    return sum(_pss_kb(pid) for pid in pages) / 1024


def _pss_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0

"""Seconds from the start of a first map to what can be looked at, and to the map that stays.

Made data: things in thirty heaps with twelve numbers each, and a fiftieth as many shops with six,
four in five of which sell their own heap; each thing is linked with the shop that sells it. The map
is asked for as the app asks for it: a task for a pool of one worker that is warm.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import report
from hetviz.data import Dataset, HeteroData, Links
from hetviz.jobs import MadeMap, Pool, Task

FIRST_MAP = "hetviz.jobs.tasks.maps:make_first_map"
SIZES = (2_000, 30_000, 100_000)
HEAPS = 30
_OWNER = "benchmark"


def things_and_shops(n: int, seed: int = 0) -> HeteroData:
    """Return n things and n / 50 shops."""
    rng = np.random.default_rng(seed)
    m = max(HEAPS, n // 50)
    heap, sells = rng.integers(HEAPS, size=n), np.arange(m) % HEAPS
    X = 2.0 * rng.normal(size=(HEAPS, 12))[heap] + rng.normal(size=(n, 12))
    S = 2.0 * rng.normal(size=(HEAPS, 6))[sells] + rng.normal(size=(m, 6))
    own = heap + HEAPS * rng.integers(m // HEAPS, size=n)
    to = np.where(rng.random(n) < 0.8, own, rng.integers(m, size=n))
    things = Dataset("things", [f"t{k}" for k in range(n)], X)
    shops = Dataset("shops", [f"s{k}" for k in range(m)], S)
    return HeteroData([things, shops], [Links("things", "shops", np.arange(n), to)])


def timed(pool: Pool, data: HeteroData) -> dict[str, Any]:
    """Make the first map of data and return when what was there."""
    began = time.perf_counter()
    job = pool.submit(_OWNER, "First map", Task(FIRST_MAP, {"data": data}))
    seen, when = 0, dict.fromkeys(("something", "landmarks", "all by landmarks"), np.nan)
    while True:
        now = time.perf_counter() - began
        frame = pool.frame(job, _OWNER, seen)
        if frame is not None:
            first, seen = not seen, frame.seq
            Y = np.frombuffer(frame.layout, dtype="<f4").reshape(-1, 2)
            whole = bool(np.isfinite(Y).all())
            if first:
                when["something"] = now
            elif not whole and np.isnan(when["landmarks"]):
                when["landmarks"] = now
            elif whole and np.isnan(when["all by landmarks"]):
                # Without landmarks there is nothing that they could be told by.
                when["all by landmarks"] = now if when["landmarks"] > 0 else np.nan
        found = pool.get(job, _OWNER)
        if found is None or not found.live:
            break
        time.sleep(0.02)
    settled = time.perf_counter() - began
    if found is None or not isinstance(found.result, MadeMap):
        raise RuntimeError(f"No map was made: {found}")
    figures = found.result.figures or {}
    scores = figures["scores"]
    return {
        "items": data.n_rows,
        **{f"{what}, s": second for what, second in when.items()},
        "settled and measured, s": settled,
        "processor, s": found.processor_s,
        "method": found.result.method,
        "link AUC": scores["link_auc"],
        "trust": scores["trustworthiness"],
        "load": os.getloadavg()[0],
    }


def run(out: Path, quick: bool) -> None:
    """Time the first maps of three sizes, one after another in one worker."""
    with tempfile.TemporaryDirectory() as home:
        # What was chosen before for the same data must not be known.
        os.environ["HETVIZ_HOME"] = home
        pool = Pool(workers=1)
        try:
            timed(pool, things_and_shops(300))
            sizes = SIZES[:1] if quick else SIZES
            rows = [timed(pool, things_and_shops(n)) for n in sizes]
        finally:
            pool.close()
    report("first_maps", rows, out, "one run each; what a click waits for besides is not counted")

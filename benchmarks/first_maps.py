"""Time from the start of a first map to the first sketch and to the final map.

Made data: things in thirty heaps with twelve numbers each, and a fiftieth as many shops with six,
four in five of which sell their own heap; each thing is linked with the shop that sells it. The map
is made by the task that the app gives to its worker, in this process, so that CPU seconds, which
other work on the machine changes little, can be told beside those of the clock.
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
from hetviz.jobs import Task

SIZES = (2_000, 30_000, 100_000)
HEAPS = 30
MILESTONES = (
    "something",
    "landmarks move",
    "all by landmarks",
    "all move",
    "settled and measured",
)


def things_and_shops(n: int, seed: int = 0) -> HeteroData:
    """Return n things and n / 50 shops."""
    rng = np.random.default_rng(seed)
    m = max(HEAPS, n // 50)
    heap, sells = rng.integers(HEAPS, size=n), np.arange(m) % HEAPS
    X = 2.0 * rng.normal(size=(HEAPS, 12))[heap] + rng.normal(size=(n, 12))
    S = 2.0 * rng.normal(size=(HEAPS, 6))[sells] + rng.normal(size=(m, 6))
    own_values = heap + HEAPS * rng.integers(m // HEAPS, size=n)
    to = np.where(rng.random(n) < 0.8, own_values, rng.integers(m, size=n))
    things = Dataset("things", [f"t{k}" for k in range(n)], X)
    shops = Dataset("shops", [f"s{k}" for k in range(m)], S)
    return HeteroData([things, shops], [Links("things", "shops", np.arange(n), to)])


def timed(data: HeteroData) -> dict[str, Any]:
    """Make the first map of data and return when what was there, by CPU and by the clock."""
    when: dict[str, tuple[float, float]] = {}
    began = time.process_time(), time.perf_counter()

    def note(message_list: str) -> None:
        if message_list not in when:
            when[message_list] = time.process_time() - began[0], time.perf_counter() - began[1]

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        layout = figures.get("layout")
        if layout is None:
            return
        Y = np.asarray(layout() if callable(layout) else layout)
        note("something")
        whole = bool(np.isfinite(Y).all())
        if message.startswith("Iteration") or not whole:
            note("landmarks move" if not whole else "all move")
        elif message.startswith("All items"):
            note("all by landmarks")

    created: Any = Task("make-first-map", {"data": data}).run(progress)
    note("settled and measured")
    scores = (created.figures or {})["scores"]
    return {
        "items": data.n_rows,
        **{f"{message_list}, s": _seconds(when.get(message_list)) for message_list in MILESTONES},
        "method": created.method,
        "link AUC": scores["link_auc"],
        "trust": scores["trustworthiness"],
        "load": os.getloadavg()[0],
    }


def _seconds(pair: tuple[float, float] | None) -> str:
    return "" if pair is None else f"{pair[0]:.1f} / {pair[1]:.1f}"


def run(out: Path, quick: bool) -> None:
    """Time the first maps of three sizes, one after another."""
    with tempfile.TemporaryDirectory() as home:
        # What was chosen before for the same data must not be known.
        os.environ["HETVIZ_HOME"] = home
        # What is loaded and compiled once is not counted.
        timed(things_and_shops(300))
        rows = []
        for n in SIZES[:1] if quick else SIZES:
            rows.append(timed(things_and_shops(n)))
            report("first_maps", rows, out, "CPU / clock, one run each")

"""Time and memory of operations on a map at four sizes."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.harness import report
from hetviz import Dataset, HeteroData, Links

SIZES = (2_000, 20_000, 100_000, 1_000_000)
MOST_SECONDS = 60.0
"""What took longer, by n log n from the size before, is not tried at the next size."""


def run(out: Path, quick: bool) -> None:
    """Each call once, one thread; each result is written at once."""
    warnings.simplefilter("ignore")
    warm = made(500)
    for work in tasks(warm, mapped(warm)).values():
        work()
    rows: list[dict[str, Any]] = []
    last: dict[str, float] = {}
    for n in SIZES[: 2 if quick else len(SIZES)]:
        data = made(n)
        embedding = mapped(data)
        for name, work in tasks(data, embedding).items():
            before = max((row["items"] for row in rows if row["call"] == name), default=0)
            if before and last[name] * (n / before) > MOST_SECONDS:
                continue
            base = forget_peak()
            cpu = time.process_time()
            work()
            last[name] = time.process_time() - cpu
            rows.append(
                {
                    "call": name,
                    "items": n,
                    "links": len(data.links[0]),
                    "CPU s": last[name],
                    "us an item": 1e6 * last[name] / n,
                    "more MB": peak() - base,
                }
            )
            report("growth", rows, out, "guided projection of two tables, three links an item")


def tasks(data: HeteroData, embedding: hetviz.Embedding) -> dict[str, Callable[[], Any]]:
    """Return what is measured."""
    return {
        "evaluate": lambda: hetviz.evaluate(data, embedding),
        "trust": lambda: hetviz.trust(data, embedding),
        "predict_links": lambda: hetviz.predict_links(data, "a", "b", 20, by=embedding),
        "clusters": lambda: hetviz.clusters(data, embedding),
        "compare": lambda: hetviz.compare(data, ["guided-projection", "pca"], seeds=1),
    }


def mapped(data: HeteroData) -> hetviz.Embedding:
    """Return a map that costs little."""
    return hetviz.embed(data, "guided-projection")


def made(n: int, seed: int = 0) -> HeteroData:
    """Two tables of n / 2 rows in groups, three links of each row of the first within its group."""
    rng = np.random.default_rng(seed)
    half, groups = n // 2, 40
    group = [rng.integers(0, groups, half) for _ in range(2)]
    parts = []
    for name, of, d in zip("ab", group, (10, 8), strict=True):
        X = 3.0 * rng.normal(size=(groups, d))[of] + rng.normal(size=(half, d))
        parts.append(Dataset(name, [f"{name}{k}" for k in range(half)], X))
    order = np.argsort(group[1], kind="stable")
    starts = np.searchsorted(group[1][order], np.arange(groups + 1))
    i = np.repeat(np.arange(half), 3)
    width = starts[group[0][i] + 1] - starts[group[0][i]]
    j = order[starts[group[0][i]] + (rng.random(len(i)) * width).astype(np.int64)]
    return HeteroData(parts, [Links("a", "b", i, j)])


def forget_peak() -> float:
    """Let the system count the largest size anew, and return the size now, in MB."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak()


def peak() -> float:
    """Return the largest size since, in MB."""
    result = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return 0.0 if result is None else int(result[1]) / 1000

"""Guided projection by size, against its floor: one pass of X'X per dataset."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.harness import cpu_seconds, peak_memory_mb, report
from hetviz import Dataset, HeteroData, Links

SIZES = ((2_000, 10_000), (20_000, 100_000), (200_000, 1_000_000))


def run(out: Path, quick: bool) -> None:
    """Fit n rows in all, half with 128 and half with 64 features, and random links."""
    rows: list[dict[str, Any]] = []
    method = hetviz.get_method("guided-projection")
    for n, m in SIZES[: 2 if quick else 3]:
        data = made(n, m)
        seconds, _ = cpu_seconds(partial(method().fit, data))
        floor, _ = cpu_seconds(partial(grams, data))
        rows.append(
            {
                "rows": n,
                "links": m,
                "CPU s": seconds,
                "floor CPU s": floor,
                "ratio": seconds / floor,
                "peak MB": peak_memory_mb(),
            }
        )
    report("guided_projection", rows, out, "linear, 128 + 64 features, one thread")


def made(n: int, m: int, seed: int = 0) -> HeteroData:
    """Two datasets that share a hidden plane, with links between rows near on it."""
    rng = np.random.default_rng(seed)
    half = n // 2
    hidden = rng.normal(size=(half, 2))
    parts = [
        Dataset(
            name,
            [f"{name}{k}" for k in range(half)],
            hidden @ rng.normal(size=(2, width)) + rng.normal(size=(half, width)),
        )
        for name, width in (("a", 128), ("b", 64))
    ]
    order = np.argsort(hidden[:, 0])
    start = rng.integers(0, half, m)
    near = np.clip(start + rng.integers(-half // 100, half // 100 + 1, m), 0, half - 1)
    return HeteroData(parts, [Links("a", "b", order[start], order[near])])


def grams(data: HeteroData) -> list[Any]:
    """Return X'X of each dataset."""
    return [np.asarray(part.X).T @ np.asarray(part.X) for part in data.datasets.values()]

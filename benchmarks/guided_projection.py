"""Time of guided projection by size, against the cost of one pass of X'X and of the links."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

import hetviz
from benchmarks.harness import cpu_seconds, peak_memory_mb, report
from hetviz import Dataset, HeteroData, Links
from hetviz.core.spectral.guided import guided_projection

SIZES = ((2_000, 10_000), (20_000, 100_000), (200_000, 1_000_000))


def run(out: Path, quick: bool) -> None:
    """Fit n rows in all, half with 128 and half with 64 features, and random links."""
    rows: list[dict[str, Any]] = []
    method = hetviz.get_method("guided-projection")
    for n, m in SIZES[: 2 if quick else 3]:
        data = made(n, m)
        seconds, _ = cpu_seconds(partial(method().fit, data))
        floor, _ = cpu_seconds(partial(grams, data))
        W = data.adjacency()
        linked, _ = cpu_seconds(partial(products, data, W))
        rows.append(
            {
                "rows": n,
                "links": m,
                "CPU s": seconds,
                "X'X CPU s": floor,
                "ratio": seconds / floor,
                "X'X and links CPU s": floor + linked,
                "its ratio": seconds / (floor + linked),
                "peak MB": peak_memory_mb(),
            }
        )
    report("guided_projection", rows, out, "linear, 128 + 64 features, one thread")
    if not quick:
        from_file(out)


def from_file(out: Path) -> None:
    """Fit 1,000,000 rows of 64 features in single precision, mapped from a file."""
    n, rng = 1_000_000, np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, 64))
        for start in range(0, n, 50_000):
            X[start : start + 50_000] = rng.normal(size=(50_000, 64))
        X.flush()
        del X
        i, j = rng.integers(0, n, (2, 1_000_000))
        W = sp.csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
        before = peak_memory_mb()
        X = np.load(path, mmap_mode="r")
        seconds, _ = cpu_seconds(lambda: guided_projection([X], W + W.T), repeats=1)
    row = {"rows": n, "features": 64, "CPU s": seconds, "peak MB": peak_memory_mb()}
    report("guided_from_file", [row], out, f"one thread; peak before the fit {before:.0f} MB")


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


def products(data: HeteroData, W: Any) -> Any:
    """Return X_a' W X_b of the two datasets."""
    (a, b), (left, right) = (list(data.offsets.values()), list(data.datasets.values()))
    return np.asarray(left.X).T @ (W[a][:, b] @ np.asarray(right.X))


def grams(data: HeteroData) -> list[Any]:
    """Return X'X of each dataset."""
    return [np.asarray(part.X).T @ np.asarray(part.X) for part in data.datasets.values()]

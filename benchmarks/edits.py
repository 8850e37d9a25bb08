"""Ten successive statements on a joint map, each refit starting from the last map.

Eight times two items that lie far apart are said to belong together, twice two that are neighbours
to be apart, in the largest dataset. CPU seconds on one thread pass from the statement to the first
places to draw and to the map at rest. Told besides: where the two lie before and after, and how far
all others move, in shares of the map's extent, see `hetviz.metrics.fit.displacement`. Kernels are
compiled and the map before lies in memory, as in the app's worker.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.first_maps import things_and_shops
from benchmarks.harness import report
from hetviz import Embedding, HeteroData, Links
from hetviz.core.threads import one_thread
from hetviz.metrics.fit.displacement import displacements

SAMPLES = ("emoji", "world", "digits")
TOGETHER, APART = 8, 2
METHOD = "joint-map"
MOVES = 0.05
"""Of the extent: who moves farther is counted."""
SEEDS = (0, 1, 2)


def run(out: Path, quick: bool) -> None:
    """Make the statements on three samples and on made data of 2,040 items."""
    rows = []
    for name in (*SAMPLES, "things and shops"):
        data = hetviz.load(name) if name in SAMPLES else things_and_shops(2_000)
        for seed in SEEDS[:1] if quick else SEEDS:
            rows.append(stated(name, data, seed))
            report("edits", rows, out, "CPU seconds, one thread; shares of the map's extent")


@one_thread()
def stated(name: str, data: HeteroData, seed: int) -> dict[str, Any]:
    """Say ten things of some data and return what became of them."""
    rng = np.random.default_rng(seed)
    dataset = max(data.datasets.values(), key=len)
    span = data.offsets[dataset.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = hetviz.embed(data, METHOD)
        figures: dict[str, list[float]] = {}
        for number in range(TOGETHER + APART):
            together = number < TOGETHER
            i, j = _pair(before.coordinates[dataset.name], together, rng)
            link = Links(
                dataset.name, dataset.name, [i], [j], 1.0 if together else -1.0, kind="said"
            )
            data = data.edit().add(link)
            after, first, others_list = _again(data, before)
            way = displacements(before, after)
            others = np.delete(way, [span.start + i, span.start + j])
            kind = "together" if together else "apart"
            for key, value in {
                "first frame, s": first,
                "rest, s": others_list,
                f"{kind}, before": _apart(before, dataset.name, i, j),
                f"{kind}, after": _apart(after, dataset.name, i, j),
                "others, median": float(np.nanmedian(others)),
                "others, 95 %": float(np.nanquantile(others, 0.95)),
                f"others beyond {MOVES:g}": float(np.nanmean(others > MOVES)),
            }.items():
                figures.setdefault(key, []).append(value)
            before = after
    row: dict[str, Any] = {"data": name, "items": data.n_rows, "seed": seed}
    for key, values in figures.items():
        row[key] = float(np.median(values))
        if key.endswith(", s"):
            row[f"{key}, longest"] = max(values)
    return row


def _pair(Y: np.ndarray, together: bool, rng: np.random.Generator) -> tuple[int, int]:
    """Return two placed items: far apart, or one and a near neighbour of it."""
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    i = int(rng.choice(placed))
    order = placed[np.argsort(np.linalg.norm(Y[placed] - Y[i], axis=1), kind="stable")]
    among = order[len(order) // 2 :] if together else order[1:6]
    return i, int(rng.choice(among))


def _again(data: HeteroData, start: Embedding) -> tuple[Embedding, float, float]:
    """Return the map made again, and CPU seconds to the first places and to the last."""
    first = None
    began = time.process_time()

    def progress(fraction: float, message: str = "", **messages: Any) -> None:
        nonlocal first
        layout = messages.get("layout")
        if layout is not None and first is None:
            layout()
            first = time.process_time() - began

    result = hetviz.embed(data, METHOD, start=start, progress=progress)
    others = time.process_time() - began
    return result, others if first is None else first, others


def _apart(embedding: Embedding, dataset: str, i: int, j: int) -> float:
    Y = embedding.coordinates[dataset]
    everywhere = embedding.stacked()
    extent = float((np.nanmax(everywhere, axis=0) - np.nanmin(everywhere, axis=0)).max())
    return float(np.linalg.norm(Y[i] - Y[j]) / extent)

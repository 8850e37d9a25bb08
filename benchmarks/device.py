"""Neighbours and layout on a GPU against the CPU: equality, quality, speed.

PyTorch on the processor takes part where PyTorch is installed, to 20,000 items: its figures tell
whether a card would find the same, and nothing of how fast.
"""

from __future__ import annotations

import importlib
import json
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import report
from benchmarks.peers import made
from hetviz.core.device import ComputeDevice, TorchDevice, available_cards, compute_on
from hetviz.core.graph.affinities import (
    conditional_affinities,
    neighbors_needed,
    symmetric_affinities,
)
from hetviz.core.graph.distances import FeatureSpace
from hetviz.core.graph.neighbors import feature_neighbors, measure_recall, nearest_neighbors
from hetviz.core.layout.sne import QUICK_SCHEDULE, SneLayout
from hetviz.core.layout.sne_device import make_layout
from hetviz.core.spectral.start import spectral_start

SIZES = (2_000, 7_000, 20_000, 100_000, 300_000, 1_000_000)
SEEDS = (0, 1, 2)
MOST_WITHOUT_CARD, MOST_EXACT = 20_000, 100_000
NOTE = "made data of 16 features, perplexity 30, 400 iterations, three starts"


def run(out: Path, quick: bool) -> None:
    """Write each row as it comes; an interrupted run goes on."""
    warnings.simplefilter("ignore")
    written = out / "device.json"
    rows: list[dict[str, Any]] = []
    if written.exists() and not quick:
        rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    expected = {(row["items"], row["way"], row["seed"]) for row in rows}
    ways = _ways()
    real = any(device is not None and device.kind != "cpu" for device in ways.values())
    for n in SIZES[: 1 if quick else len(SIZES)]:
        present = {
            way: device
            for way, device in ways.items()
            if n <= MOST_WITHOUT_CARD or (real and (device is None or device.kind != "cpu"))
        }
        todo = [seed for seed in SEEDS if any((n, way, seed) not in expected for way in present)]
        if todo:
            _compare(n, present, todo, expected, rows, out)


def _ways() -> dict[str, ComputeDevice | None]:
    """Return the processor, PyTorch on it, and every card that is there."""
    result: dict[str, ComputeDevice | None] = {"processor": None}
    if find_spec("torch") is not None:
        importlib.import_module("torch").set_num_threads(1)
        devices = [TorchDevice(kind) for kind in ("cpu", *available_cards())]
        result |= {device.title: device for device in devices}
    return result


def _compare(
    n: int,
    ways: dict[str, ComputeDevice | None],
    seeds: list[int],
    expected: set[Any],
    rows: list[dict[str, Any]],
    out: Path,
) -> None:
    X = made(n)
    k, perplexity = neighbors_needed(n, 30.0)
    # What is compiled or loaded on first use is no part of the figures.
    _warm(ways)
    searched = {
        way: _timed(device, lambda: feature_neighbors(X, k)) for way, device in ways.items()
    }
    best = searched[list(ways)[-1]][0]
    exact = nearest_neighbors(FeatureSpace(X), k) if n <= MOST_WITHOUT_CARD else best
    P = symmetric_affinities(conditional_affinities(best, perplexity))
    for seed in seeds:
        start = spectral_start(P, 2, np.random.default_rng(seed))
        rested: Any = None
        for way, device in ways.items():
            result, cpu, wall = searched[way]
            layout, layout_cpu, layout_wall = _timed(device, lambda: _laid_out(P, start))  # noqa: B023
            Y = layout.positions
            rested = Y if rested is None else rested
            with compute_on(device):
                gradient = make_layout(P, rested).gradient()
            plain = SneLayout(P, rested).gradient()
            same = (np.sort(result.index, axis=1) == np.sort(exact.index, axis=1)).all(axis=1)
            row = {
                "items": n,
                "way": way,
                "seed": seed,
                "rows with the same neighbours": float(same.mean()),
                "recall": measure_recall(X, result),
                "neighbours CPU s": cpu,
                "neighbours wall s": wall,
                "gradient off": float(np.abs(gradient - plain).max() / np.abs(plain).max()),
                "KL": SneLayout(P, Y).kl(exact=n <= MOST_EXACT) if n <= MOST_EXACT else layout.kl(),
                "layout CPU s": layout_cpu,
                "layout wall s": layout_wall,
            }
            if (n, way, seed) not in expected:
                rows.append(row)
                report("device", rows, out, NOTE)


def _laid_out(P: Any, start: Any) -> SneLayout:
    layout = make_layout(P, start)
    layout.run(QUICK_SCHEDULE)
    return layout


def _warm(ways: dict[str, ComputeDevice | None]) -> None:
    X = made(400)
    for device in ways.values():
        with compute_on(device):
            P = symmetric_affinities(conditional_affinities(feature_neighbors(X, 90), 30.0))
            _laid_out(P, X[:, :2])


def _timed(device: ComputeDevice | None, work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what `work` finds on a device, and its seconds of the processor and of the clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    with compute_on(device):
        result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall

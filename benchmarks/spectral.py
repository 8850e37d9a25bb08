"""Spectral methods on the samples by held-out links, and time by size."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.guided_projection import made
from benchmarks.harness import cpu_seconds, peak_memory_mb, report
from hetviz.errors import DataWarning

METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("cca", {"gamma": 0.0}),
    ("cca", {}),
    ("cdmca", {}),
    ("guided-projection", {}),
    ("guided-projection", {"n_components": 10}),
    ("cca", {"n_components": 10}),
    ("multiview-lpp", {}),
    ("hemap", {}),
    ("kernel-cdmca", {}),
    ("guided-projection", {"kernel": "rbf"}),
)
SIZES = ((2_000, 10_000), (20_000, 100_000), (200_000, 1_000_000))
# At the largest size, neighbours of every row and pairs one by one take minutes.
TIMED = (("cca", 3), ("cdmca", 3), ("guided-projection", 3), ("hemap", 2), ("multiview-lpp", 2))


def run(out: Path, quick: bool) -> None:
    """Write `spectral` and `spectral_time`."""
    quality(out, 2 if quick else 5)
    times(out, 1 if quick else 3)


def quality(out: Path, seeds: int) -> None:
    """Hold out a fifth of the links, fit on the rest."""
    rows: list[dict[str, Any]] = []
    for sample in ("emoji", "digits", "world", "debian"):
        data = hetviz.load(sample)
        for key, parameters in METHODS:
            areas: dict[str, list[float]] = {"guidance_area": [], "guidance_area_held_out": []}
            for seed in range(seeds):
                train, content = data.holdout(links=0.2, random_state=seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DataWarning)
                    embedding = hetviz.embed(train, key, **parameters)
                scores = hetviz.evaluate(train, embedding, content).to_dict()
                for name, values in areas.items():
                    values.append(scores.get(name, np.nan))
            held_out = np.array(areas["guidance_area_held_out"])
            rows.append(
                {
                    "sample": sample,
                    "method": key,
                    "parameters": " ".join(f"{k}={v}" for k, v in parameters.items()) or "-",
                    "area": float(np.mean(areas["guidance_area"])),
                    "held-out area": float(held_out.mean()),
                    "s.e.": float(held_out.std(ddof=1) / np.sqrt(seeds)),
                }
            )
    report("spectral", rows, out, f"area under the curve of links, a fifth held out, {seeds} seeds")


def times(out: Path, sizes: int) -> None:
    """Fit made-up data of two datasets with 128 and 64 features."""
    rows: list[dict[str, Any]] = []
    for place, (n, m) in enumerate(SIZES[:sizes]):
        data = made(n, m)
        for key, largest in TIMED:
            if place >= largest:
                continue
            method = hetviz.get_method(key)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                seconds, _ = cpu_seconds(partial(fitted, method, data), repeats=1)
            rows.append(
                {
                    "rows": n,
                    "links": m,
                    "method": key,
                    "CPU s": seconds,
                    "peak MB so far": peak_memory_mb(),
                }
            )
    report("spectral_time", rows, out, "128 + 64 features, one thread")


def fitted(method: Any, data: hetviz.HeteroData) -> Any:
    """Fit with the default parameters."""
    return method().fit(data)

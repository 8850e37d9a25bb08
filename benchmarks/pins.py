"""Pins of an item, a group and a side: distance to the target, links lost and trust.

A map without pins is the start of a refit without pins and of one with a pin. A new map with the
pin starts from nothing. The item, and the centre of the group (the 20 items of the first dataset
around an item), go to the place mirrored at the centre of the map. The side is the left, for 20
items drawn from the whole map.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.harness import report
from hetviz.core.threads import one_thread

SAMPLES = ("emoji", "world", "debian")
METHODS = ("joint-map", "mr-sne", "umap")
SEEDS = (0, 1, 2)
N_GROUP = 20


def run(out: Path, quick: bool) -> None:
    """Pin items of three samples with three methods."""
    rows: list[dict[str, Any]] = []
    for name in SAMPLES[:1] if quick else SAMPLES:
        for method in METHODS:
            rows += pinned(hetviz.load(name), name, method, SEEDS[:1] if quick else SEEDS)
            report("pins", rows, out, "distance as a share of the map's width, means over seeds")


@one_thread()
def pinned(data: Any, name: str, method: str, seeds: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return the figures of the three pins on one sample."""
    first = next(iter(data.datasets))
    figures: dict[str, list[list[float]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = hetviz.embed(data, method)
        plain = hetviz.embed(data, method, start=before)
        Y = before.coordinates[first]
        placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
        low, high = np.nanmin(before.stacked(), axis=0), np.nanmax(before.stacked(), axis=0)
        for seed in seeds:
            rng = np.random.default_rng(seed)
            item = int(rng.choice(placed))
            near = placed[np.argsort(((Y[placed] - Y[item]) ** 2).sum(axis=1))[:N_GROUP]]
            for kind, rows in (
                ("item", [item]),
                ("group", near.tolist()),
                ("side", rng.choice(placed, N_GROUP, replace=False).tolist()),
            ):
                mirrored = 1.0 - (Y[rows].mean(axis=0) - low) / (high - low)
                place = "left" if kind == "side" else np.clip(mirrored, 0.05, 0.95).tolist()
                pins = [{"place": place, "items": {first: data[first].ids[rows].tolist()}}]
                price = hetviz.price_pins(data, before, pins).iloc[0]
                begun = time.process_time()
                refit = hetviz.embed(data, method, start=before, pins=pins)
                seconds = time.process_time() - begun
                new = hetviz.embed(data, method, pins=pins)
                after = [hetviz.price_pins(data, made, pins).iloc[0] for made in (refit, new)]
                figures.setdefault(kind, []).append(
                    [
                        price["distance"],
                        after[0]["distance"],
                        after[1]["distance"],
                        price["links"],
                        price["broken"],
                        price["links"] - after[0]["links"],
                        100
                        * (_score(data, refit, "links_kept") - _score(data, plain, "links_kept")),
                        100
                        * (_score(data, new, "links_kept") - _score(data, before, "links_kept")),
                        100 * (_score(data, refit) - _score(data, plain)),
                        100 * (_score(data, new) - _score(data, before)),
                        seconds,
                    ]
                )
    names = (
        "before", "refit", "new map", "links", "price", "lost", "kept, refit", "kept, new",
        "trust, refit", "trust, new", "CPU s",
    )  # fmt: skip
    return [
        {"data": name, "method": method, "pin": kind}
        | {
            key: round(float(value), 3)
            for key, value in zip(names, np.mean(rows, axis=0), strict=True)
        }
        for kind, rows in figures.items()
    ]


def _score(data: Any, embedding: Any, key: str = "trustworthiness") -> float:
    return float(hetviz.evaluate(data, embedding).to_dict().get(key, np.nan))

"""Joint maps against each other: every method and baseline on the same splits of twelve data sets.

A fifth of the links is held out; every measure is one of `hetviz.compare`. The defaults of
joint-map are chosen on `CHOSEN_ON` by `CHOSEN_BY` alone. `REPORTED_ON` was named before the first
run and no setting was changed by it. Needs ``--data DIR``, see `benchmarks.joint_data`.

Each figure is written as soon as it is there, to ``joint_maps.jsonl``: a run goes on where the
last one ended. ``python -m benchmarks.joint_maps`` prints the tables of what is there.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.joint_data import LOADERS
from hetviz import HeteroData
from hetviz.errors import Cancelled

DATA = "needs"
CHOSEN_ON = ("emoji", "digits", "world", "debian", "citeseer", "yamanishi_nr")
REPORTED_ON = ("terror_attack", "mfeat", "baseball", "zones", "imports", "estimators")
CHOSEN_BY = (
    "link_auc_held_out",
    "degree_auc_held_out",
    "links_kept_held_out",
    "links_kept",
    "label_knn_accuracy",
    "label_across_accuracy",
    "trustworthiness",
)
"""Their mean, over the sets where each can be taken."""
GRID = {
    "link_strength": (0.15, 0.3),
    "perplexity": (30.0, 50.0),
    "own_share": (0.0, 0.3),
}
SEEDS = 3
SLOW = ("code", "gbc", "kbmf2k", "mkpe", "mkpoe", "pmvge", "partial-order", "gnmds")
"""Measured last, on one split."""
CPU_LIMIT = 30.0
"""A fit and its measures that take longer are left out, and the table says so."""
OURS = "joint-map"
BASELINES = ("joint-map", "pca", "joint-spectral", "graph-axes", "mr-sne", "umap")
"""Ours, and what a reader would try; then what else there is."""
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "guided-projection, Gaussian": ("guided-projection", {"kernel": "rbf"}),
    "mr-sne, room for hubs": ("mr-sne", {"degree_weight": 1.0}),
}


def run(out: Path, quick: bool, folder: Path) -> None:
    """Choose settings, then measure everything; `quick` takes one split and no slow method."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "joint_maps.jsonl"
    seeds = 1 if quick else SEEDS
    loaded: dict[str, HeteroData] = {}
    for name in CHOSEN_ON:
        data = loaded[name] = LOADERS[name](folder=folder)
        for values in itertools.product(*GRID.values()):
            params = dict(zip(GRID, values, strict=True))
            label = OURS + ", " + ", ".join(f"{k} {v:g}" for k, v in params.items())
            measure(file, name, data, label, OURS, params, [0])
    for name in (*REPORTED_ON, *CHOSEN_ON):
        data = loaded.get(name) or loaded.setdefault(name, LOADERS[name](folder=folder))
        keys = [key for key in suited(data) if key not in SLOW]
        for key in [*BASELINES, *(key for key in keys if key not in BASELINES)]:
            measure(file, name, data, key, key, {}, range(seeds if name in REPORTED_ON else 1))
        for label, (key, params) in VARIANTS.items():
            if key in keys:
                measure(file, name, data, label, key, params, range(seeds))
    for name in () if quick else REPORTED_ON:
        for key in suited(loaded[name]):
            if key in SLOW:
                measure(file, name, loaded[name], key, key, {}, [0])
    show(file)


def suited(data: HeteroData) -> list[str]:
    """Return the methods that suit some data."""
    return [verdict.card.key for verdict in hetviz.suggest(data) if verdict.suits]


def measure(
    file: Path,
    name: str,
    data: HeteroData,
    label: str,
    method: str,
    params: dict[str, Any],
    seeds: Iterable[int],
) -> None:
    """Measure a method on some splits of a data set and write the figures down."""
    known = {(row["data"], row["label"], row["seed"]) for row in rows_of(file)}
    for seed in seeds:
        if (name, label, seed) in known:
            continue
        row: dict[str, Any] = {"data": name, "label": label, "seed": seed}
        started = time.process_time()

        def limited(*_: Any, start: float = started, **__: Any) -> None:
            if time.process_time() - start > CPU_LIMIT:
                raise Cancelled

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = hetviz.compare(
                    data,
                    [method],
                    seeds=1,
                    params={method: params},
                    random_state=seed,
                    progress=limited,
                )
            row["scores"] = dict(found.fits[0].scores) if found.fits else {}
            row["failed"] = found.failures.get(method, "")
        except Cancelled:
            row |= {"scores": {}, "failed": f"not within {CPU_LIMIT:g} CPU seconds"}
        row["cpu"] = round(time.process_time() - started, 3)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        print(f"{name}: {label}, split {seed}, {row['cpu']:.1f} s", flush=True)
        if row["failed"]:
            break


def rows_of(file: Path) -> list[dict[str, Any]]:
    """Return what was written down."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def values(rows: Sequence[dict[str, Any]], name: str, label: str, measure: str) -> dict[int, float]:
    """Return a measure by split."""
    return {
        row["seed"]: row["scores"][measure]
        for row in rows
        if row["data"] == name and row["label"] == label and measure in row["scores"]
    }


def show(file: Path) -> None:
    """Print which settings were best, means over sets, and each set."""
    rows = rows_of(file)
    labels = list(dict.fromkeys(row["label"] for row in rows))
    grid = [label for label in labels if label.startswith(OURS + ", ")]
    print("\nSettings, mean over", ", ".join(CHOSEN_ON))
    scored = {label: _mean_of(rows, CHOSEN_ON, label) for label in grid}
    for label, (score, each) in sorted(scored.items(), key=lambda item: -item[1][0]):
        print(f"{score:.4f}", label, " ".join(f"{v:.3f}" for v in each))
    for title, sets in (("reported on", REPORTED_ON), ("chosen on", CHOSEN_ON)):
        print(f"\nMeans, {title}", ", ".join(sets))
        means = {label: _mean_of(rows, sets, label) for label in labels if label not in grid}
        for label, (score, each) in sorted(
            means.items(), key=lambda item: -np.nan_to_num(item[1][0])
        ):
            print(f"{score:.4f}", f"{label:30}", " ".join(f"{v:.3f}" for v in each))
    for name in (*REPORTED_ON, *CHOSEN_ON):
        print(f"\n| {name} | " + " | ".join(CHOSEN_BY) + " |")
        for label in labels:
            if label in grid:
                continue
            cells = [_cell(values(rows, name, label, m)) for m in CHOSEN_BY]
            failed = next(
                (
                    r["failed"]
                    for r in rows
                    if (r["data"], r["label"]) == (name, label) and r["failed"]
                ),
                "",
            )
            if any(cells) or failed:
                print(f"| {label} | " + " | ".join(cells) + f" | {failed[:60]}")


def _mean_of(
    rows: Sequence[dict[str, Any]], sets: Sequence[str], label: str
) -> tuple[float, list[float]]:
    """Return the mean of all measures, and each: means over sets, of means over splits."""
    each = []
    for measure in CHOSEN_BY:
        found = [values(rows, name, label, measure) for name in sets]
        means = [np.mean(list(one.values())) for one in found if one]
        each.append(float(np.mean(means)) if means else float("nan"))
    return float(np.nanmean(each)) if np.isfinite(each).any() else float("nan"), each


def _cell(found: dict[int, float]) -> str:
    if not found:
        return ""
    each = np.array(list(found.values()))
    text = f"{each.mean():.3f}"
    return text if len(each) < 2 else f"{text} ± {each.std(ddof=1) / np.sqrt(len(each)):.3f}"


if __name__ == "__main__":
    show(Path(sys.argv[1] if len(sys.argv) > 1 else "out/benchmarks/joint_maps.jsonl"))

"""Joint maps of all methods and baselines on the same splits of twelve datasets.

A fifth of the links is held out; every measure is one of `hetviz.compare`. The defaults of
joint-map are chosen on `CHOSEN_ON` by `CHOSEN_BY` alone. `REPORTED_ON` was named before the first
run and no setting was changed by it. `DEFAULT` is what ``hetviz.embed(data)`` takes: the choice is
made on what the split shows, without a look at what it hides. Needs ``--data DIR``, see
`benchmarks.joint_data`.

Each figure is written as soon as it is there, to ``joint_maps.jsonl``: a run goes on where the
last one ended. ``python -m benchmarks.joint_maps FILE`` prints the tables of what is there, and
``python -m benchmarks.joint_maps FILE --write`` makes anew what `hetviz.suggest` ranks by where
there is no time to try methods: how they did on the sets of `CHOSEN_ON` as they are, on one dataset
of each without its links, and on their comparisons without links.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.joint_data import LOADERS
from hetviz import HeteroData
from hetviz.algorithms.ranking import shape_of
from hetviz.errors import Cancelled
from hetviz.runs.embed.run import versions
from hetviz.runs.first_map import choose_method

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
OURS, DEFAULT = "joint-map", "default"
BASELINES = ("graph-axes", "joint-spectral", "mr-sne", "umap", "guided-projection", "pca")
"""What a reader would try: measured on every split, as ours are; of other methods one split."""
NEIGHBOUR_MAPS = ("mr-sne", "umap")
"""Those whose trustworthiness the default is held against."""
MARGIN = 0.03
"""How far below theirs it may be."""
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
        for part, bare in parts_of(name, data).items():
            for key in suited(bare):
                measure(file, part, bare, key, key, {}, [0])
        for values in itertools.product(*GRID.values()):
            params = dict(zip(GRID, values, strict=True))
            label = OURS + ", " + ", ".join(f"{k} {v:g}" for k, v in params.items())
            measure(file, name, data, label, OURS, params, [0])
    for name in (*REPORTED_ON, *CHOSEN_ON):
        data = loaded.get(name) or loaded.setdefault(name, LOADERS[name](folder=folder))
        keys = [key for key in suited(data) if key not in SLOW]
        first = [key for key in (OURS, *BASELINES) if key in keys]
        for seed in range(seeds):
            for key in first:
                measure(file, name, data, key, key, {}, [seed])
            measure_default(file, name, data, seed)
        for key in keys:
            if key not in first:
                measure(file, name, data, key, key, {}, [0])
        for label, (key, params) in VARIANTS.items():
            if key in keys:
                measure(file, name, data, label, key, params, [0])
    for name in () if quick else (*REPORTED_ON, *CHOSEN_ON):
        for key in suited(loaded[name]):
            if key in SLOW:
                measure(file, name, loaded[name], key, key, {}, [0])
    show(file)


def parts_of(name: str, data: HeteroData) -> dict[str, HeteroData]:
    """Return a dataset of some data without links, and their comparisons without links."""
    result: dict[str, HeteroData] = {}
    described = [value for value in data.datasets.values() if not value.is_featureless]
    largest = max(described, key=len)
    labels = [column for column in data.labels if column.dataset == largest.name]
    result[f"{name}, {largest.name} alone"] = HeteroData([largest], (), None, labels)
    if data.comparisons is not None and len(data.comparisons):
        bare = HeteroData(data.datasets.values(), (), data.comparisons, data.labels)
        result[f"{name}, comparisons alone"] = bare
    return result


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
    expected = {(row["data"], row["label"], row["seed"]) for row in rows_of(file)}
    for seed in seeds:
        if (name, label, seed) in expected:
            continue
        row: dict[str, Any] = {
            "data": name,
            "shape": shape_of(data),
            "rows": data.n_rows,
            "label": label,
            "method": method,
            "params": params,
            "seed": seed,
        }
        started = time.process_time()

        def limited(*_: Any, start: float = started, **__: Any) -> None:
            if time.process_time() - start > CPU_LIMIT:
                raise Cancelled

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                comparison = hetviz.compare(
                    data,
                    [method],
                    seeds=1,
                    params={method: params},
                    random_state=seed,
                    progress=limited,
                )
            row["scores"] = dict(comparison.fits[0].scores) if comparison.fits else {}
            row["failed"] = comparison.failures.get(method, "")
        except Cancelled:
            row |= {"scores": {}, "failed": f"not within {CPU_LIMIT:g} CPU seconds"}
        row["cpu"] = round(time.process_time() - started, 3)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        print(f"{name}: {label}, split {seed}, {row['cpu']:.1f} s", flush=True)
        if row["failed"]:
            break


def measure_default(file: Path, name: str, data: HeteroData, seed: int) -> None:
    """Measure what `hetviz.embed` takes where no method is named, and write the figures down."""
    rows = [row for row in rows_of(file) if (row["data"], row["seed"]) == (name, seed)]
    if any(row["label"] == DEFAULT for row in rows):
        return
    compared = data.comparisons is not None and len(data.comparisons) > 0
    train, _ = data.holdout(links=0.2, comparisons=0.2 if compared else 0.0, random_state=seed)
    started = time.process_time()
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The cache would return an earlier order.
        os.environ["HETVIZ_HOME"] = home
        choice = choose_method(train, random_state=seed)
    seconds = time.process_time() - started
    label = choice.method
    if choice.params:
        label += ", as chosen"
        measure(file, name, data, label, choice.method, dict(choice.params), [seed])
    elif not any(row["label"] == label for row in rows):
        measure(file, name, data, label, choice.method, {}, [seed])
    result = next(
        row
        for row in rows_of(file)
        if (row["data"], row["seed"], row["label"]) == (name, seed, label)
    )
    row = result | {"label": DEFAULT, "cpu": round(result["cpu"] + seconds, 3)}
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(row) + "\n")
    print(f"{name}: {DEFAULT} is {label}, split {seed}, {row['cpu']:.1f} s", flush=True)


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
    for ours in (DEFAULT, OURS):
        verdicts(rows, ours)
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


def against(
    rows: Sequence[dict[str, Any]], name: str, measure: str, ours: str = DEFAULT
) -> tuple[str, float, float] | None:
    """Return the baseline that is best on the splits that both have, and how far it is ahead.

    The last is the standard error of that difference; 0 after a single split. Trustworthiness is
    held against neighbour maps alone.
    """
    mine = values(rows, name, ours, measure)
    result = []
    for key in NEIGHBOUR_MAPS if measure == "trustworthiness" else BASELINES:
        theirs = values(rows, name, key, measure)
        ahead = np.array([theirs[seed] - mine[seed] for seed in mine if seed in theirs])
        if len(ahead):
            error = ahead.std(ddof=1) / np.sqrt(len(ahead)) if len(ahead) > 1 else 0.0
            result.append((key, float(ahead.mean()), float(error)))
    return max(result, key=lambda entry: entry[1], default=None)


def is_behind(measure: str, ahead: float, error: float) -> bool:
    """Return whether a baseline is so far ahead that the default is not as good."""
    return ahead > (MARGIN if measure == "trustworthiness" else error + 1e-9)


def verdicts(rows: Sequence[dict[str, Any]], ours: str = DEFAULT) -> None:
    """Print by set how the default did, and how far the best baseline is ahead of it.

    Bold is what is behind: by more than a standard error of the difference, see `is_behind`.
    """
    print(f"\n| set | {ours} is | " + " | ".join(CHOSEN_BY) + " |\n|" + " --- |" * 9)
    retained: dict[str, list[str]] = {measure: [] for measure in CHOSEN_BY}
    lost: dict[str, list[str]] = {measure: [] for measure in CHOSEN_BY}
    for name in (*REPORTED_ON, *CHOSEN_ON):
        methods = [row["method"] for row in rows if (row["data"], row["label"]) == (name, ours)]
        cells = []
        for measure in CHOSEN_BY:
            best = against(rows, name, measure, ours)
            if best is None:
                cells.append("")
                continue
            key, ahead, error = best
            behind = is_behind(measure, ahead, error)
            (lost if behind else retained)[measure].append(name)
            mean = np.mean(list(values(rows, name, ours, measure).values()))
            mark = "**" if behind else ""
            cells.append(f"{mark}{_short(mean)}{mark} ({ahead:+.3f} ± {_short(error)} {key})")
        print(f"| {name} | {', '.join(dict.fromkeys(methods))} | " + " | ".join(cells) + " |")
    for measure in CHOSEN_BY:
        n = len(retained[measure]) + len(lost[measure])
        print(f"{measure}: {len(retained[measure])} of {n}; behind on {', '.join(lost[measure])}")
    either = [
        name
        for name in (*REPORTED_ON, *CHOSEN_ON)
        if name in retained["link_auc_held_out"] or name in retained["degree_auc_held_out"]
    ]
    print(f"held-out AUC or degree-AUC: {len(either)} of {len(REPORTED_ON) + len(CHOSEN_ON)}")


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def _mean_of(
    rows: Sequence[dict[str, Any]], sets: Sequence[str], label: str
) -> tuple[float, list[float]]:
    """Return the mean of all measures, and each: means over sets, of means over splits."""
    each = []
    for measure in CHOSEN_BY:
        result = [values(rows, name, label, measure) for name in sets]
        means = [np.mean(list(entry.values())) for entry in result if entry]
        each.append(float(np.mean(means)) if means else float("nan"))
    return float(np.nanmean(each)) if np.isfinite(each).any() else float("nan"), each


def _cell(result: dict[int, float]) -> str:
    if not result:
        return ""
    each = np.array(list(result.values()))
    text = f"{each.mean():.3f}"
    return text if len(each) < 2 else f"{text} ± {each.std(ddof=1) / np.sqrt(len(each)):.3f}"


def standings(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how methods did by shape of the data, and how long fits took by number of rows."""
    chosen = [row for row in rows if row["data"].split(",")[0] in CHOSEN_ON]
    chosen = [
        row
        for row in chosen
        if not row["label"].startswith((OURS + ", ", DEFAULT)) and "as chosen" not in row["label"]
    ]
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for row in chosen:
        if row["seed"] == 0 and "overall" in row["scores"]:
            scores.setdefault((row["shape"], row["data"]), {})[row["label"]] = row["scores"][
                "overall"
            ]
    shapes: dict[str, list[dict[str, Any]]] = {}
    whose = {row["label"]: (row["method"], row["params"]) for row in chosen}
    for shape in dict.fromkeys(shape for shape, _ in scores):
        sets = [result for (of, _), result in scores.items() if of == shape]
        entries = []
        for label, (method, params) in whose.items():
            behind = [max(result.values()) - result[label] for result in sets if label in result]
            if behind:
                entry = {"method": method, "behind": round(float(np.mean(behind)), 3)}
                entry["n_sets"] = len(behind)
                entries.append(entry | ({"params": params} if params else {}))
        shapes[shape] = sorted(entries, key=lambda entry: entry["behind"])
    # The quickest fit takes next to nothing, so the rest of its time was for measuring the map;
    # processor time, since a machine shared with other work says nothing by the clock.
    sound = [row for row in chosen if row["scores"] and row["seed"] == 0]
    least: dict[str, float] = {}
    for row in sound:
        least[row["data"]] = min(row["cpu"], least.get(row["data"], row["cpu"]))
    seconds: dict[str, list[float]] = {}
    for method in sorted({method for method, _ in whose.values()}):
        expected = [row for row in sound if row["label"] == method]
        if expected:
            fits = [(row["rows"], max(row["cpu"] - least[row["data"]], 0.01)) for row in expected]
            seconds[method] = _law(fits)
    return {
        "versions": dict(versions()),
        "sets": sorted({row["data"] for row in chosen}),
        "shapes": shapes,
        "seconds": seconds,
        "measuring": _law([(row["rows"], least[row["data"]]) for row in sound]),
    }


def _law(pairs: Sequence[tuple[int, float]]) -> list[float]:
    """Return seconds at 1,000 rows and the exponent of a power law through the medians by size."""
    sizes = sorted({n for n, _ in pairs})
    x = np.log([n / 1000 for n in sizes])
    y = np.log([np.median([s for n, s in pairs if n == size]) for size in sizes])
    slope = float(np.clip(np.polyfit(x, y, 1)[0], 0.5, 2.5)) if len(sizes) > 2 else 1.0
    return [round(float(np.exp(np.mean(y - slope * x))), 4), round(slope, 2)]


if __name__ == "__main__":
    given = Path(sys.argv[1] if len(sys.argv) > 1 else "out/benchmarks/joint_maps.jsonl")
    show(given)
    if "--write" in sys.argv:
        text = json.dumps(standings(rows_of(given)), indent=1) + "\n"
        Path(str(resources.files("hetviz.algorithms") / "measured.json")).write_text(text)

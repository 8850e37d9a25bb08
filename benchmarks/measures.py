"""Measures and trust: time by number of items, sampling error, predictive value of trust.

On digits the truth is known: the sample's held-out links join the same handwritten digit in two
datasets, and its labels say which digit it is. An item is *far from its partner* where the true
partner is not among the nearest 5 % of its dataset, and *among others* where most of its 10
nearest show another digit. Trust sees neither; AUC is how often a misplaced item has less of it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import hetviz
from benchmarks.harness import cpu_seconds, peak_memory_mb, report
from hetviz import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
from hetviz.core.graph.neighbors import nearest_places
from hetviz.core.measures.satisfaction import distance_percentiles, satisfaction_curve
from hetviz.io import read_bundle
from hetviz.metrics.fit.curves import curves
from hetviz.metrics.fit.summary import evaluate
from hetviz.metrics.trust.trust import trust

COUNTED = 10_000
"""Up to so many items a dataset all pairs are counted too, to compare with."""
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("guided-projection", {}),
    ("guided-projection", {"kernel": "rbf"}),
    ("cdmca", {}),
    ("mr-sne", {}),
    ("umap", {}),
    ("pca", {}),
)


def run(out: Path, quick: bool) -> None:
    """Run all parts."""
    curve_error(out, quick)
    at_scale(out, quick)
    misplaced(out, quick)


def made(n: int, seed: int = 0) -> tuple[HeteroData, Embedding]:
    """Return two datasets of n items each with ten groups, 5 n links, and a map with noise."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 10, n)
    Z = rng.normal(size=(n, 3)) + 3 * rng.normal(size=(10, 3))[group]
    sides = []
    for name, width in (("a", 64), ("b", 32)):
        X = Z @ rng.normal(size=(3, width)) + 0.5 * rng.normal(size=(n, width))
        sides.append(Dataset(name, [f"{name}{row}" for row in range(n)], X))
    i = rng.integers(0, n, 5 * n)
    rows = np.array([rng.choice(2 * n, 3, replace=False) for _ in range(2_000)])
    data = HeteroData(
        sides,
        Links("a", "b", i, (i + rng.integers(0, 2, 5 * n)) % n),
        Comparisons(rows),
        Labels("a", "group", [f"g{value}" for value in group]),
    )
    places = {"a": Z[:, :2], "b": Z[:, :2] + 0.3 * rng.normal(size=(n, 2))}
    return data, Embedding(places, {name: data[name].ids for name in places})


def curve_error(out: Path, quick: bool) -> None:
    """Curves by sampled pairs against all pairs: largest error anywhere, over five seeds."""
    rows = []
    for n in (2_000, 10_000) if quick else (2_000, 10_000, 50_000):
        data, embedding = made(n)
        row: dict[str, Any] = {"items": 2 * n, "links": len(data.links[0])}
        row["curves CPU s"], _ = cpu_seconds(partial(curves, data, embedding))
        ranked = partial(ranks, embedding, data.links[0])
        if n <= COUNTED:
            row["all pairs CPU s"], truth = cpu_seconds(partial(ranked, 0, 10**12), repeats=1)
            drawn = [ranked(seed, 0) for seed in range(5)]
            row["error across"] = max(float(np.abs(F - truth).max()) for F in drawn)
            curve = satisfaction_curve(truth)[1]
            row["error up"] = max(
                float(np.abs(satisfaction_curve(F)[1] - curve).max()) for F in drawn
            )
        else:
            row |= dict.fromkeys(("all pairs CPU s", "error across", "error up"), "-")
        rows.append(row)
    note = "largest errors of 1,000,000 sampled pairs, across and up, over five seeds; one thread"
    report("measures_curve", rows, out, note)


def ranks(embedding: Embedding, links: Links, seed: int, max_pairs: int) -> Any:
    """Return where links stand among all pairs, all counted up to `max_pairs`."""
    A, B = embedding.coordinates["a"], embedding.coordinates["b"]
    result = distance_percentiles(A, links.i, links.j, B, max_pairs=max_pairs, random_state=seed)
    return result.values


def at_scale(out: Path, quick: bool) -> None:
    """All measures, given and held out, and the trust of all items."""
    rows = []
    for n in (1_000, 10_000) if quick else (1_000, 10_000, 50_000):
        data, embedding = made(n)
        train, content = data.holdout(0.2)
        row: dict[str, Any] = {"items": 2 * n}
        row["all measures CPU s"], scores = cpu_seconds(
            partial(evaluate, train, embedding, content), 1
        )
        row["measures"] = len(scores.to_dict())
        row["trust CPU s"], _ = cpu_seconds(partial(trust, train, embedding), 1)
        row["trust of one CPU s"], _ = cpu_seconds(partial(trust, train, embedding, rows=[5]))
        row["peak MB"] = peak_memory_mb()
        rows.append(row)
    report("measures_at_scale", rows, out, "two datasets, 64 and 32 features, 5 links an item")


def misplaced(out: Path, quick: bool) -> None:
    """Whether trust predicts which digits a map misplaces."""
    bundle = read_bundle("digits").strict()
    data, content = bundle.data, bundle.held_out
    if content is None:
        return
    digits = np.full(data.n_rows, None, dtype=object)
    for label in data.labels:
        digits[data.offsets[label.dataset]] = label.values
    rows = []
    for key, params in METHODS:
        result = []
        for seed in range(2 if quick else 5):
            embedding = hetviz.embed(data, key, random_state=seed, **params)
            result.append(_aucs(data, content, digits, embedding))
        table = np.array(result)
        error = table.std(axis=0, ddof=1) / np.sqrt(len(table))
        mean = table.mean(axis=0)
        rows.append(
            {
                "method": " ".join([key, *map(str, params.values())]),
                "far from partner": float(mean[0]),
                "AUC": f"{mean[1]:.3f} ({error[1]:.3f})",
                "AUC across only": f"{mean[2]:.3f} ({error[2]:.3f})",
                "among others": float(mean[3]),
                "AUC ": f"{mean[4]:.3f} ({error[4]:.3f})",
            }
        )
    report("measures_misplaced", rows, out, "digits; mean and standard error over seeds")


def _aucs(data: HeteroData, content: HeteroData, digits: Any, embedding: Embedding) -> list[float]:
    result = trust(data, embedding)
    Y = embedding.coordinates
    far, partners = np.zeros(data.n_rows), np.zeros(data.n_rows)
    for links in content.links:
        ends = ((links.source, links.i, links.target, links.j),)
        ends += ((links.target, links.j, links.source, links.i),)
        for source, i, target, j in ends:
            D = ((Y[source][i][:, None] - Y[target]) ** 2).sum(axis=2)
            rank = (D[np.arange(len(i)), j][:, None] > D).mean(axis=1)
            np.add.at(far, i + data.offsets[source].start, rank > 0.05)
            np.add.at(partners, i + data.offsets[source].start, 1.0)
    judged = partners > 0
    lost = far[judged] / partners[judged] > 0.5
    across = result.false_across + result.missing_across
    expected = judged & np.isfinite(across)
    alone = far[expected] / partners[expected] > 0.5
    stacked = embedding.stacked()
    near = nearest_places(stacked, stacked, 10, same=True)
    others = (digits[near] != digits[:, None]).mean(axis=1) > 0.5
    return [
        float(lost.mean()),
        float(roc_auc_score(lost, -result.score[judged])),
        float(roc_auc_score(alone, across[expected])),
        float(others.mean()),
        float(roc_auc_score(others, -result.score)),
    ]

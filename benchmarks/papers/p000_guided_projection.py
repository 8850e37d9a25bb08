"""Paper 000: guided projection of objects, tags and places, beside CCA of duplicated pairs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.papers import projecting_figures, projecting_verdicts
from benchmarks.papers.data import sample
from benchmarks.papers.out import Out
from benchmarks.papers.projecting import (
    AXES,
    METHODS,
    gains,
    guessed,
    rand_index,
    satisfied,
    solve_all,
    validated,
)
from benchmarks.papers.settings import settled
from benchmarks.papers.tagged import Tagged, pictures, programs

TITLE = "Paper 000: a flexible framework for projecting heterogeneous data"
NEEDS = (
    sample("debian", "703 programs, 220 tags, 227 libraries, in the place of the photographs"),
    sample("emoji", "1,273 emoji, 621 keywords, 90 subgroups"),
)

SETTLED = settled("p000")
TEST_SHARE: float = SETTLED["test_share"]
SHARES = tuple(SETTLED["train_shares"])
SPLITS: dict[str, int] = SETTLED["splits"]
QUICK_SPLITS = 3
CLUSTERS = tuple(SETTLED["clusters"])
EXEMPLARS = 4
QUICK_OBJECTS = 350
SOURCES: tuple[Callable[[], Tagged], ...] = (programs, pictures)


def run(out: Out, quick: bool, data: Path | None) -> None:
    """Measure every split, cluster all items once, and report."""
    shares = SHARES[-1:] if quick else SHARES
    sources = [make() for make in SOURCES]
    if quick:
        rng = np.random.default_rng(0)
        sources = [
            tagged.take(np.sort(rng.permutation(len(tagged.objects))[:QUICK_OBJECTS]))
            for tagged in sources
        ]
    splits = {one.name: QUICK_SPLITS if quick else SPLITS[one.name] for one in sources}
    out.plan(sum(len(shares) * n + 1 for n in splits.values()))
    results, clusters = [], []
    for tagged in sources:
        for share in shares:
            for split in range(splits[tagged.name]):
                key = f"{tagged.name}, {share:.0%} for training, split {split}"
                results.append(out.step(key, partial(measured, tagged, share, split)))
        clusters.append(out.step(f"{tagged.name}, clusters", partial(clustered, tagged)))
    projecting_figures.draw(out, results)
    projecting_figures.list_clusters(out, clusters)
    projecting_verdicts.judge(out, results, clusters)


def measured(tagged: Tagged, share: float, split: int) -> dict[str, Any]:
    """Hold a fifth of the objects out, learn from some of the others, and measure on those held.

    Ridge, number of axes and exponent of their scale are the best by NDCG on thirds of the
    training objects in turn.

    Parameters
    ----------
    tagged : Tagged
    share : float
        For training, of all objects.
    split : int
        Seeds the split, the folds and k-means.
    """
    rng = np.random.default_rng(split)
    n = len(tagged.objects)
    order = rng.permutation(n)
    n_test = round(TEST_SHARE * n)
    test = tagged.take(order[:n_test])
    train = tagged.take(order[n_test : n_test + round(share * n)])
    keys = list(METHODS)
    choices = validated(train, keys, rng)
    solved = solve_all(train, test.objects, keys)
    found: dict[str, Any] = {}
    for key in keys:
        by_cap = []
        for most in AXES:
            chosen = choices[key].best(most)
            places = solved[key].at(chosen.gamma, chosen.axes, chosen.exponent)
            by_cap.append(float(gains(test.W, places.new, places.tags).mean()))
        chosen = choices[key].best()
        places = solved[key].at(chosen.gamma, chosen.axes, chosen.exponent)
        given, held = (
            satisfied(W, objects, places.tags)
            for W, objects in ((train.W, places.fitted), (test.W, places.new))
        )
        rand = [rand_index(test.W, places.new, places.tags, c, split) for c in CLUSTERS]
        found[key] = {
            "gamma": chosen.gamma,
            "axes": chosen.axes,
            "exponent": chosen.exponent,
            "open": float(chosen.open),
            "ndcg": by_cap,
            "given": given[0],
            "held_out": held[0],
            "area": [given[1], held[1]],
            "rand": [index for index, _ in rand],
            "rand_chance": [chance for _, chance in rand],
        }
    return {
        "source": tagged.name,
        "share": share,
        "split": split,
        "train": len(train.objects),
        "guess": guessed(train.W, test.W),
        "methods": found,
    }


def clustered(tagged: Tagged) -> dict[str, Any]:
    """Cluster all items of three datasets, and list those nearest each centre."""
    rng = np.random.default_rng(0)
    key = "paper 3"
    chosen = validated(tagged, [key], rng)[key].best()
    places = solve_all(tagged, tagged.objects, [key])[key].at(chosen.gamma, chosen.axes)
    assert places.third is not None
    parts = (places.fitted, places.tags, places.third)
    titles = (tagged.objects.titles, np.array(tagged.tags), tagged.places.titles)
    linked = [np.isfinite(Y).all(axis=1) & (np.abs(Y).sum(axis=1) > 0) for Y in parts]
    Y = np.vstack([part[there] for part, there in zip(parts, linked, strict=True)])
    model = KMeans(n_clusters=max(CLUSTERS), n_init=10, random_state=0).fit(Y)
    rows = []
    for cluster, centre in enumerate(model.cluster_centers_):
        row: dict[str, Any] = {"source": tagged.name, "cluster": cluster + 1}
        start = 0
        for word, part, names, there in zip(tagged.words, parts, titles, linked, strict=True):
            stop = start + int(there.sum())
            mine = np.flatnonzero(there)[model.labels_[start:stop] == cluster]
            near = mine[np.argsort(((part[mine] - centre) ** 2).sum(axis=1))[:EXEMPLARS]]
            row |= {f"n {word}": len(mine), word: ", ".join(str(names[i]) for i in near)}
            start = stop
        rows.append(row)
    code = model.labels_[: int(linked[0].sum())]
    shuffled = rng.permutation(code)
    group = tagged.group[linked[0]].astype(str)
    return {
        "source": tagged.name,
        "gamma": chosen.gamma,
        "axes": chosen.axes,
        "table": pd.DataFrame(rows),
        "mixed": int(sum(all(row[f"n {word}"] for word in tagged.words) for row in rows)),
        "nmi": float(normalized_mutual_info_score(group, code)),
        "nmi_chance": float(normalized_mutual_info_score(group, shuffled)),
    }

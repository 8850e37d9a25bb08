"""Maps of two periods: how far unchanged and planted items move, and what alignment costs.

All links are in both periods, except a tenth that is only in the first and another tenth that is
only in the second one. Ten items of the first dataset (movers) have the links of ten others in the
second period. Unchanged items have the same links in both. Three ways of two maps: independent
fits with different seeds, the same after Procrustes alignment (by the four fifths with the best
fit), and `hetviz.embed_periods` with several ties. "Links only" has no features, so that movers
have nothing that holds them. At last, how often `moved_most` calls a move clear.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hetviz
from benchmarks.harness import report
from hetviz._types import Bools, Floats, Ints
from hetviz.core.layout.spread import aligned_distances, extent
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData, Links
from hetviz.data.model.links import kind_key
from hetviz.metrics.fit.rows import coordinates_of

SAMPLES = ("emoji", "world", "debian")
METHODS = ("joint-map", "mr-sne", "umap")
SEEDS = (0, 1, 2)
TIES = (0.0, 0.01, 0.05, 0.2)
N_MOVERS = 10
GONE = 0.1


def run(out: Path, quick: bool) -> None:
    """Map two periods of three samples with three methods."""
    rows: list[dict[str, Any]] = []
    for name in SAMPLES[:1] if quick else SAMPLES:
        for bare in (False, True):
            for method in METHODS[:1] if quick else METHODS:
                rows += compared(name, bare, method, SEEDS[:1] if quick else SEEDS)
                report("periods", rows, out, "shares of the longer side, means over seeds")
    marked = [
        called_clear(name, method, SEEDS[:1] if quick else SEEDS)
        for name in (SAMPLES[:1] if quick else SAMPLES)
        for method in METHODS[: 1 if quick else 2]
    ]
    report("periods-clear", marked, out, "shares of the items that moved_most calls clear")


@one_thread()
def called_clear(name: str, method: str, seeds: tuple[int, ...]) -> dict[str, Any]:
    """Return the share of unchanged items and of movers that are called clear, over all seeds."""
    data = hetviz.load(name)
    names = np.repeat(list(data.datasets), [len(part) for part in data.datasets.values()])
    ids = np.concatenate([part.ids for part in data.datasets.values()])
    row_of = {key: row for row, key in enumerate(zip(names, ids, strict=True))}
    clear: dict[str, list[bool]] = {"unchanged": [], "movers": []}
    for seed in seeds:
        dated, unchanged, movers = two_periods(data, seed)
        by = {kind_key(links): "period" for links in dated.links}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            maps = hetviz.embed_periods(dated, by, method=method, random_state=seed)
            table = maps.moved_most("2019", "2020", n=data.n_rows)
        keys = zip(table["dataset"], table["id"], table["clear"], strict=True)
        for dataset, id, is_clear in keys:
            row = row_of[dataset, id]
            if unchanged[row]:
                clear["unchanged"].append(bool(is_clear))
            elif row in movers:
                clear["movers"].append(bool(is_clear))
    return {"data": name, "method": method} | {
        key: f"{sum(flags)} of {len(flags)}" for key, flags in clear.items()
    }


def two_periods(data: HeteroData, seed: int) -> tuple[HeteroData, Bools, Ints]:
    """Return the dated data, which items are unchanged, and the movers, as global rows."""
    rng = np.random.default_rng(seed)
    first = next(iter(data.datasets))
    table = data.link_table()
    n_links = np.bincount(table[["p", "q"]].to_numpy(np.int64).ravel(), minlength=data.n_rows)
    able = np.flatnonzero(n_links[data.offsets[first]] > 1)
    movers, models = rng.choice(able, (2, N_MOVERS), replace=False)
    unchanged = np.ones(data.n_rows, dtype=bool)
    unchanged[data.offsets[first].start + movers] = False
    groups = []
    for links in data.links:
        u = rng.random(len(links))
        parts = []
        for year, is_in in ((2019, u >= GONE), (2020, u < 1.0 - GONE)):
            i, j, weight = links.i[is_in], links.j[is_in], links.weight[is_in]
            if year == 2020 and links.source == first:
                rest = ~np.isin(i, movers) & ~(links.within & np.isin(j, movers))
                i, j, weight = i[rest], j[rest], weight[rest]
                for mover, model in zip(movers, models, strict=True):
                    its = (links.i == model) & (links.j != mover)
                    i = np.r_[i, np.full(its.sum(), mover)]
                    j, weight = np.r_[j, links.j[its]], np.r_[weight, links.weight[its]]
            parts.append((i, j, weight, np.full(len(i), year)))
        i, j, weight, years = (np.concatenate(both) for both in zip(*parts, strict=True))
        meta = pd.DataFrame({"period": years})
        groups.append(
            Links(
                links.source,
                links.target,
                i,
                j,
                weight,
                kind=links.kind,
                role=links.role,
                meta=meta,
            )
        )
        lost = (u < GONE) | (u >= 1.0 - GONE)
        for name, rows in ((links.source, links.i), (links.target, links.j)):
            unchanged[data.offsets[name].start + rows[lost]] = False
    return (
        HeteroData(list(data.datasets.values()), groups),
        unchanged,
        data.offsets[first].start + movers,
    )


@one_thread()
def compared(name: str, bare: bool, method: str, seeds: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return the figures of all ways for one sample and method."""
    data = hetviz.load(name)
    if bare:
        featureless = [
            replace(part, X=None, feature_names=None, kernel=None, distance=None)
            for part in data.datasets.values()
        ]
        data = HeteroData(featureless, [links for links in data.links if not links.within])
    figures: dict[str, list[list[float]]] = {}
    for seed in seeds:
        dated, unchanged, movers = two_periods(data, seed)
        by = {kind_key(links): "period" for links in dated.links}

        def add(way: str, distances: Floats, part: HeteroData, after: Embedding) -> None:
            scores = hetviz.evaluate(part, after).to_dict()
            still, moved = distances[unchanged], distances[movers]  # noqa: B023
            figures.setdefault(way, []).append(
                [
                    float(np.nanmedian(still)),
                    float(np.nanquantile(still, 0.9)),
                    float(np.nanmedian(moved)),
                    float(np.nanmean(np.nanquantile(still, 0.9) < moved)),
                    scores.get("links_kept", np.nan),
                    scores.get("trustworthiness", np.nan),
                ]
            )

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for tie in TIES:
                maps = hetviz.embed_periods(dated, by, method=method, tie=tie, random_state=seed)
                parts = maps.parts
                Y, Z = (stacked(dated, maps[period]) for period in ("2019", "2020"))
                add(
                    f"tie {tie:g}",
                    np.linalg.norm(Z - Y, axis=1) / extent(Z),
                    parts["2020"],
                    maps["2020"],
                )
            alone = [
                hetviz.embed(parts[period], method, random_state=seed + shift)
                for shift, period in ((0, "2019"), (50, "2020"))
            ]
            Y, Z = (stacked(dated, made) for made in alone)
            add("independent", np.linalg.norm(Z - Y, axis=1) / extent(Z), parts["2020"], alone[1])
            add("Procrustes", aligned_distances(Y, Z) / extent(Z), parts["2020"], alone[1])
    names = ("unchanged", "90 %", "movers", "beyond 90 %", "links kept", "trust")
    ways = ("independent", "Procrustes", *(f"tie {tie:g}" for tie in TIES))
    return [
        {"data": name + (", links only" if bare else ""), "method": method, "maps": way}
        | {
            key: round(float(value), 4)
            for key, value in zip(names, np.mean(figures[way], axis=0), strict=True)
        }
        for way in ways
    ]


def stacked(data: HeteroData, embedding: Embedding) -> Floats:
    """Return the coordinates of all rows of `data`, NaN without a place."""
    return np.vstack(list(coordinates_of(data, embedding).values()))

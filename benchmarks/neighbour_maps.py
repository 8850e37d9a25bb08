"""Neighbour maps: optimiser against openTSNE on the same matrix, and quality on samples."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import hetviz
from benchmarks.coca import mfeat
from benchmarks.harness import peak_memory_mb, report
from hetviz import Dataset, HeteroData, Links
from hetviz.core.graph.joint import Balance, JointGraph, joint_affinities
from hetviz.core.layout.sne import QUICK_SCHEDULE, STANDARD_SCHEDULE, Phase, SneLayout
from hetviz.core.spectral.start import spectral_start
from hetviz.errors import DataWarning
from hetviz.features.spaces.affinities import own_affinities

DATA = "may"
SAMPLES = ("emoji", "debian")
SIZES = (2_585, 5_000, 20_000, 100_000)
SEEDS = 3
MEASURES = ("link_auc", "link_auc_held_out", "graph_auc", "trustworthiness", "variance ratio")
# openTSNE's exact trees are the faster of its two ways up to about here
TREES_TO = 20_000


def run(out: Path, quick: bool, data: Path | None) -> None:
    """Measure speed, going on from an earlier map, and quality."""
    warm_up()
    speed(out, quick, data)
    refits(out)
    quality(out, quick)


def speed(out: Path, quick: bool, folder: Path | None) -> None:
    """One thread each, in turn, whole schedules: CPU seconds and the exact KL at the end."""
    rows: list[dict[str, Any]] = []
    cases: list[tuple[str, Any]] = [(name, hetviz.load(name)) for name in SAMPLES]
    if folder is not None:
        cases.append(("mfeat", two_views(folder)))
    cases += [(f"{n:,} made", made(n)) for n in (SIZES[:2] if quick else SIZES)]
    for name, data in cases:
        P = joint(data)
        seeds = 1 if quick else SEEDS
        taken: dict[str, list[tuple[float, float]]] = {}
        for seed in range(seeds):
            Y = spectral_start(P, 2, np.random.default_rng(seed))
            for way, work in ways(P, Y).items():
                started = time.process_time()
                positions = work()
                seconds = time.process_time() - started
                kl = SneLayout(P, positions, exact=True, threads=1).kl(exact=True)
                taken.setdefault(way, []).append((seconds, kl))
        median = {way: np.median(values, axis=0) for way, values in taken.items()}
        row: dict[str, Any] = {"data": name, "points": P.shape[0], "per row": P.nnz / P.shape[0]}
        peer = median["openTSNE"]
        for way, (seconds, kl) in median.items():
            row[f"{way} CPU s"] = float(seconds)
            row[f"{way} KL"] = float(kl)
            if way != "openTSNE":
                row[f"{way} ratio"] = float(peer[0] / seconds)
        row["peak MB"] = peak_memory_mb()
        rows.append(row)
        # After each, since all of them take long.
        report(
            "neighbour_maps_speed", rows, out, "one thread; same: openTSNE's schedule; own: ours"
        )


def ways(P: Any, Y: Any) -> dict[str, Callable[[], Any]]:
    """Return what is compared, each a function that makes a layout."""
    import openTSNE

    def theirs() -> Any:
        affinities = openTSNE.affinity.PrecomputedAffinities(P.copy(), normalize=False)
        method = "bh" if P.shape[0] <= TREES_TO else "fft"
        layout = openTSNE.TSNEEmbedding(
            Y.copy(), affinities, negative_gradient_method=method, n_jobs=1
        )
        for phase in STANDARD_SCHEDULE:
            layout = layout.optimize(
                phase.n_iter, exaggeration=phase.exaggeration, momentum=phase.momentum
            )
        return np.asarray(layout)

    def ours(schedule: tuple[Phase, ...]) -> Any:
        layout = SneLayout(P, Y, threads=1)
        layout.run(schedule)
        return layout.positions

    return {
        "openTSNE": theirs,
        "same": lambda: ours(STANDARD_SCHEDULE),
        "own": lambda: ours(QUICK_SCHEDULE),
    }


def refits(out: Path) -> None:
    """Ten new links: time to the first changed layout, to the last, and how far items move."""
    rows = []
    for name in SAMPLES:
        data = hetviz.load(name)
        first = data.links[0]
        rng = np.random.default_rng(0)
        i = rng.integers(0, len(data[first.source]), 10)
        j = rng.integers(0, len(data[first.target]), 10)
        more = data.edit().add(Links(first.source, first.target, i, j))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            for method in ("mr-sne", "umap"):
                cold = hetviz.get_method(method)().fit(data)
                received: list[float] = []
                started = time.perf_counter()

                def listen(
                    fraction: float,
                    message: str = "",
                    received: list[float] = received,
                    started: float = started,
                    **figures: Any,
                ) -> None:
                    if "layout" in figures:
                        received.append(time.perf_counter() - started)

                warm = hetviz.get_method(method)().fit(more, listen, start=cold.embedding_)
                seconds = time.perf_counter() - started
                before, after = cold.embedding_.stacked(), warm.embedding_.stacked()
                moved = np.linalg.norm(after - before, axis=1)
                rows.append(
                    {
                        "sample": name,
                        "method": method,
                        "first layout s": received[0],
                        "whole s": seconds,
                        "median move / extent": float(
                            np.nanmedian(moved) / np.nanmax(np.ptp(before, axis=0))
                        ),
                    }
                )
    report("neighbour_maps_refit", rows, out, "ten links at random, wall seconds")


def quality(out: Path, quick: bool) -> None:
    """Link area, neighbours and extents of MR-SNE's variants, and of other methods."""
    variants: list[tuple[str, dict[str, Any]]] = [
        ("mr-sne", {"normalization": method, "balance": t})
        for method in ("unnorm", "norm", "pmi")
        for t in (0.0, 1.0)
    ]
    variants += [("mr-sne", {}), ("mr-sne", {"link_strength": 3.0}), ("umap", {})]
    variants += [("cdmca", {}), ("kernel-cdmca", {})]
    variants += [("guided-projection", {}), ("guided-projection", {"kernel": "rbf"})]
    rows = []
    for name in SAMPLES:
        data = hetviz.load(name)
        for key, parameters in variants:
            scores = []
            for seed in range(1 if quick else 5):
                train, content = data.holdout(links=0.2, random_state=seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DataWarning)
                    embedding = hetviz.embed(train, key, random_state=seed, **parameters)
                result = hetviz.evaluate(train, embedding, content).to_dict()
                extents = [np.nanvar(Y, axis=0).sum() for Y in embedding.coordinates.values()]
                result["variance ratio"] = float(extents[0] / extents[1])
                scores.append(result)
            words = ", ".join(f"{word} {value}" for word, value in parameters.items())
            row: dict[str, Any] = {"sample": name, "method": key, "settings": words or "default"}
            for measure in MEASURES:
                row[measure] = float(np.mean([score[measure] for score in scores]))
            rows.append(row)
    report("neighbour_maps_quality", rows, out, "a fifth of the links held out; mean over seeds")


def made(n: int, seed: int = 0) -> HeteroData:
    """Items in groups of groups, a twentieth as many tags, three links of each item."""
    rng = np.random.default_rng(seed)
    tags = n // 20
    items, groups = n - tags, min(100, tags)
    top = 6.0 * rng.normal(size=(10, 16))
    centres = top[rng.integers(0, 10, groups)] + 2.0 * rng.normal(size=(groups, 16))
    group, mine = rng.integers(0, groups, items), np.arange(tags) % groups
    parts = [
        Dataset(
            name,
            [f"{name}{k}" for k in range(len(of))],
            centres[of] + rng.normal(size=(len(of), 16)),
        )
        for name, of in (("items", group), ("tags", mine))
    ]
    order = np.argsort(mine, kind="stable")
    starts = np.searchsorted(mine[order], np.arange(groups + 1))
    i = np.repeat(np.arange(items), 3)
    width = starts[group[i] + 1] - starts[group[i]]
    j = order[starts[group[i]] + (rng.random(i.size) * width).astype(np.int64)]
    return HeteroData(parts, [Links("items", "tags", i, j)])


def two_views(folder: Path) -> HeteroData:
    """Two views of the numerals of mfeat, joined item by item."""
    views = mfeat(folder)
    parts = [replace(views["fou"], entity="fou"), replace(views["pix"], entity="pix")]
    rows = np.arange(len(parts[0]))
    return HeteroData(parts, [Links("fou", "pix", rows, rows)])


def joint(data: HeteroData) -> Any:
    """Return the joint affinities of the default method, items without any left out."""
    sizes = [len(dataset) for dataset in data.datasets.values()]
    parts = [own_affinities(dataset, 30.0) for dataset in data.datasets.values()]
    balance = Balance(1.0 if max(sizes) > 5 * min(sizes) else 0.5)
    none = sp.csr_array((data.n_rows, data.n_rows))
    result = joint_affinities(JointGraph(sizes, parts, data.adjacency(1), none), balance)
    if result is None:
        raise SystemExit("these data have no affinities")
    rows = np.flatnonzero(np.asarray(result.P.sum(axis=1)).ravel() > 0)
    return result.P[rows][:, rows]


def warm_up() -> None:
    """Load compiled code, ours and theirs, before anything is timed."""
    for key in ("mr-sne", "umap"):
        hetviz.get_method(key).warm_up()  # type: ignore[attr-defined]
    P = joint(made(400))
    for work in ways(P, spectral_start(P, 2, np.random.default_rng(0))).values():
        work()

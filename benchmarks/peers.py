"""Neighbour maps of one table, against openTSNE and umap-learn at default settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from benchmarks.harness import peak_memory_mb, report

SIZES = (2_000, 10_000, 20_000, 50_000, 100_000, 200_000)
WAYS = ("openTSNE", "mr-sne", "umap-learn", "umap", "joint-map")
# Ours draw on one thread whatever they are given; a table alone is drawn by umap-learn itself.
THREADED = ("openTSNE", "umap-learn")
QUERIES, NEAREST = 500, 10
PERPLEXITY, SIZED_BY = 30, 300
MOST_JUDGED = 50_000
"""Of more items all pairs take longer than the maps."""


def run(out: Path, quick: bool) -> None:
    """One process for each map, so that none is helped by another; each is written at once.

    What an earlier run has written is not made again, so an interrupted run goes on.
    """
    written = out / "peers.json"
    rows: list[dict[str, Any]] = []
    if written.exists() and not quick:
        rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    expected = {(row["items"], row["threads"], row["way"]) for row in rows}
    for n in SIZES[: 1 if quick else len(SIZES)]:
        for threads, ways in ((1, WAYS), (2, THREADED)):
            for way in ways:
                if (n, threads, way) in expected:
                    continue
                call = f"one({way!r}, {n}, {threads}, {str(out)!r})"
                words = ["-c", f"from benchmarks.peers import one; {call}"]
                env = os.environ | {
                    "OMP_NUM_THREADS": str(threads),
                    "OPENBLAS_NUM_THREADS": str(threads),
                    "NUMBA_NUM_THREADS": str(threads),
                }
                done = subprocess.run(
                    [sys.executable, *words], check=True, capture_output=True, text=True, env=env
                )
                rows.append(json.loads(done.stdout.splitlines()[-1]))
                report("peers", rows, out, "made data of 16 features, default settings")


def one(way: str, n: int, threads: int, out: str) -> None:
    """Make one map, and print what it took and what it keeps."""
    warnings.simplefilter("ignore")
    X = made(n)
    work = ways(threads)[way]
    # What is compiled or loaded on first use is no part of the figure.
    work(made(300))
    started, cpu = time.perf_counter(), time.process_time()
    Y = work(X)
    row = {
        "items": n,
        "threads": threads,
        "way": way,
        "CPU s": time.process_time() - cpu,
        "wall s": time.perf_counter() - started,
        "peak MB": peak_memory_mb(),
        "neighbours kept": recall(X, Y),
    }
    row["KL"] = row["KL at best size"] = None
    if n <= MOST_JUDGED:
        result = divergences(affinities(X, Path(out)), np.asarray(Y))
        row["KL"], row["KL at best size"] = result
    print(json.dumps(row))


def made(n: int, seed: int = 0) -> Any:
    """Items in a hundred groups, which lie in ten."""
    rng = np.random.default_rng(seed)
    top = 6.0 * rng.normal(size=(10, 16))
    centres = top[rng.integers(0, 10, 100)] + 2.0 * rng.normal(size=(100, 16))
    return centres[rng.integers(0, 100, n)] + rng.normal(size=(n, 16))


def ways(threads: int = 1) -> dict[str, Callable[[Any], Any]]:
    """Return what is compared, each a function of features."""

    def open_tsne(X: Any) -> Any:
        import openTSNE

        return np.asarray(openTSNE.TSNE(n_jobs=threads, random_state=0).fit(X))

    def umap_learn(X: Any) -> Any:
        import umap

        # With a seed it uses one thread, whatever it is given.
        return umap.UMAP(random_state=0 if threads == 1 else None).fit_transform(X)

    def ours(key: str) -> Callable[[Any], Any]:
        def work(X: Any) -> Any:
            import hetviz

            data = hetviz.HeteroData([hetviz.Dataset("items", list(map(str, range(len(X)))), X)])
            return hetviz.embed(data, key).coordinates["items"]

        return work

    own_values = {key: ours(key) for key in ("mr-sne", "umap", "joint-map")}
    return {"openTSNE": open_tsne, "umap-learn": umap_learn, **own_values}


def affinities(X: Any, out: Path) -> Any:
    """Return what every map of X is judged by, whoever made it: openTSNE's default affinities.

    Its neighbours are found approximately above 1,000 items. They are kept in `out`.
    """
    path = out / f"peers_affinities_{len(X)}.npz"
    if not path.exists():
        from openTSNE.affinity import PerplexityBasedNN

        P = sp.csr_array(PerplexityBasedNN(X, perplexity=PERPLEXITY, random_state=0).P)
        out.mkdir(parents=True, exist_ok=True)
        sp.save_npz(path, P, compressed=False)
    return sp.csr_array(sp.load_npz(path))


def divergences(P: Any, Y: Any) -> tuple[float, float]:
    """Return KL(P || Q) of a map over all pairs, as it lies and enlarged to its least.

    Only t-SNE fixes the size of a map by this measure; the second figure leaves it open. The size
    is sought with the pairs of 300 items, the figure then found with all.
    """
    from hetviz.core.layout.sne import SneLayout

    Y = Y.astype(np.float64)
    subset = np.random.default_rng(2).choice(len(Y), min(SIZED_BY, len(Y)), replace=False)
    D = (Y[subset] ** 2).sum(axis=1)[:, None] - 2 * Y[subset] @ Y.T + (Y**2).sum(axis=1)
    D[np.arange(len(subset)), subset] = np.inf
    edges = sp.coo_array(P)
    near = ((Y[edges.coords[0]] - Y[edges.coords[1]]) ** 2).sum(axis=1)

    def rough(log_size: float) -> float:
        size = np.exp(2 * log_size)
        total = (1 / (1 + size * np.maximum(D, 0))).sum() * len(Y) / len(subset)
        return float(edges.data @ np.log1p(size * near) + np.log(total))

    best = minimize_scalar(rough, bounds=(-5, 5), method="bounded", options={"xatol": 0.01})
    return tuple(
        SneLayout(P, Y * size, exact=True, double=True).kl(exact=True)
        for size in (1.0, float(np.exp(best.x)))
    )


def recall(X: Any, Y: Any) -> float:
    """Return the share of the ten nearest that are among the ten nearest on the map."""
    queries = np.random.default_rng(1).choice(len(X), min(QUERIES, len(X)), replace=False)

    def nearest(Z: Any) -> Any:
        D = ((Z[queries] ** 2).sum(axis=1)[:, None] - 2 * Z[queries] @ Z.T) + (Z**2).sum(axis=1)
        D[np.arange(len(queries)), queries] = np.inf
        return np.argpartition(D, NEAREST, axis=1)[:, :NEAREST]

    pairs = zip(nearest(X), nearest(np.asarray(Y, dtype=np.float64)), strict=True)
    return float(np.mean([len(set(a) & set(b)) / NEAREST for a, b in pairs]))

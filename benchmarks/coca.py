"""Collective component analysis against PCA, by k-means accuracy.

Needs ``--data DIR`` with `mfeat/mfeat.npz` (six feature sets `fou fac kar pix zer mor` and classes
`y`: UCI Multiple Features) and `terror_attack/` (`nodes.tsv`, `edges_same_location.tsv`,
`edges_same_location_and_org.tsv`: the LINQS TerrorAttack graph).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

import hetviz
from benchmarks.harness import report
from hetviz import Dataset, HeteroData, Labels, Links
from hetviz.errors import DataWarning

DATA = "needs"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "PCA, as is": ("pca-raw", {}),
    "PCA, block scaled": ("pca", {"standardize": True}),
    "CoCA equal": ("coca", {}),
    "CoCA learned": ("coca", {"weights": "learned", "learn_from": "labels"}),
    "CoCA learned, thesis": (
        "coca",
        {
            "weights": "learned",
            "learn_from": "labels",
            "weights_in": "diagonal",
            "alpha": 60.0,
            "scale": "none",
            "graph_scale": "none",
        },
    ),
}
ENTITY = "item"


def run(out: Path, quick: bool, data: Path) -> None:
    """Score every method on both collections, with and without views of noise."""
    rows: list[dict[str, Any]] = []
    seeds = 2 if quick else 5
    for name, created in (("mfeat", mfeat(data)), ("terror_attack", terror(data))):
        for noise in (0, 2):
            noisy = with_noise(created, noise)
            for k in (2, 8) if quick else (2, 4, 8, 15):
                row: dict[str, Any] = {"data": name, "noise views": noise, "axes": k}
                for title, (method, parameters) in METHODS.items():
                    Y = placed(noisy, method, parameters, k)
                    row[title] = nmi(Y, created, seeds)
                rows.append(row)
    note = f"NMI of k-means with the true number of classes, mean of {seeds} seeds"
    report("coca", rows, out, note)


def placed(data: HeteroData, method: str, parameters: dict[str, Any], k: int) -> np.ndarray:
    """Return the map of the first view's rows."""
    first = next(iter(data.datasets))
    if method == "pca-raw":
        X = np.hstack([np.asarray(part.X) for part in data.datasets.values()])
        U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        return np.asarray(U[:, :k] * s[:k])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        embedding = hetviz.embed(data, method, n_components=k, **parameters)
    return embedding.coordinates[first]


def nmi(Y: np.ndarray, data: HeteroData, seeds: int) -> float:
    """Return the mean agreement of k-means with the labels."""
    labels = data.labels[0]
    scores = [
        normalized_mutual_info_score(
            labels.values.astype(str),
            KMeans(len(labels.classes), n_init=5, random_state=seed).fit_predict(Y),
        )
        for seed in range(seeds)
    ]
    return float(np.mean(scores))


def with_noise(data: HeteroData, count: int) -> HeteroData:
    """Add views of noise."""
    rng = np.random.default_rng(0)
    ids = next(iter(data.datasets.values())).ids
    views = [
        Dataset(f"noise{number}", ids, rng.normal(size=(len(ids), 50)), entity=ENTITY)
        for number in range(count)
    ]
    return data.edit().add(*views) if views else data


def mfeat(folder: Path) -> HeteroData:
    """Six views of 2,000 numerals."""
    with np.load(folder / "mfeat" / "mfeat.npz") as file:
        views = {name: np.asarray(file[name], np.float64) for name in file.files if name != "y"}
        classes = file["y"].astype(str)
    ids = [str(row) for row in range(len(classes))]
    parts = [Dataset(name, ids, X, entity=ENTITY) for name, X in views.items()]
    return HeteroData(parts, (), None, [Labels(parts[0].name, "class", classes)])


def terror(folder: Path) -> HeteroData:
    """Five views of 1,293 attacks, a fifth of the features each, and three relations."""
    base = folder / "terror_attack"
    nodes = pd.read_csv(base / "nodes.tsv", sep="\t", header=None, skiprows=1)
    X = nodes.iloc[:, 1:-1].to_numpy(np.float64)
    ids = [str(row) for row in range(len(nodes))]
    order = np.random.default_rng(0).permutation(X.shape[1])
    parts = [
        Dataset(f"part{number}", ids, X[:, np.sort(columns)], entity=ENTITY)
        for number, columns in enumerate(np.array_split(order, 5))
    ]
    links = []
    for kind in ("same_location", "same_location_and_org"):
        edges = pd.read_csv(base / f"edges_{kind}.tsv", sep="\t").to_numpy()
        edges = edges[edges[:, 0] != edges[:, 1]]
        links.append(Links("part0", "part0", edges[:, 0], edges[:, 1], kind=kind, role="relation"))
    group = nodes[0].str.rpartition("_")[0].to_numpy()
    i, j = np.nonzero(np.triu(group[:, None] == group[None], 1) & (group != "Unknown")[:, None])
    links.append(Links("part0", "part0", i, j, kind="same organisation", role="relation"))
    labels = Labels("part0", "class", nodes.iloc[:, -1].astype(str))
    return HeteroData(parts, links, None, [labels])

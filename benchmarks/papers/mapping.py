"""Paper 003's methods, each giving places in two dimensions, and its measures of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import hetviz
from benchmarks.papers.related import Related
from hetviz import Dataset, HeteroData
from hetviz.core.graph.neighbors import nearest_places
from hetviz.core.measures.ranking import rank_partners
from hetviz.errors import DataWarning

Floats = NDArray[np.float64]

NEAREST = (1, 2, 5, 10, 20, 50)
CALLED = np.unique(np.rint(np.geomspace(1, 20_000, 90)).astype(np.int64)) - 1


@dataclass(frozen=True)
class Way:
    """A method with its settings.

    Attributes
    ----------
    title, family, key : str
        `key` is hetviz's name of the method.
    settings : dict
    """

    title: str
    family: str
    key: str
    settings: dict[str, Any] = field(default_factory=dict)


def _ways() -> dict[str, Way]:
    found = {}
    for k in (2, 16, 32):
        settings = {"n_components": k, "axis_scale": 0.0}
        found[f"cdmca {k}"] = Way(f"CDMCA (K = {k})", "CDMCA", "cdmca", settings)
    for k in (2, 32, 200):
        settings = {"n_components": k, "axis_scale": 0.0}
        title = f"kernel CDMCA (K = {k})"
        found[f"kernel {k}"] = Way(title, "kernel CDMCA", "kernel-cdmca", settings)
    for within, word in (
        ("ignored", "ignored"),
        ("second_order", "2nd order"),
        ("sn_graph", "SN graph"),
    ):
        for k in (2, 20):
            settings = {"n_components": k, "within": within, "bias": False}
            title = f"PMvGE, {word} (K = {k})"
            found[f"pmvge {within} {k}"] = Way(title, "PMvGE", "pmvge", settings)
    found["pmvge own"] = Way("PMvGE, hetviz's default", "PMvGE", "pmvge")
    for balance, weights in ((0.0, "equal"), (1.0, "adaptive")):
        for how in ("unnorm", "norm", "pmi"):
            word = how.upper() if how == "pmi" else how
            title = f"MR-SNE, {weights} weights, {word}"
            settings = {"balance": balance, "normalization": how}
            found[f"mr-sne {weights} {how}"] = Way(title, "MR-SNE", "mr-sne", settings)
    settings = {"balance": 1.0, "normalization": "unnorm", "paper": True}
    found["mr-sne printed"] = Way(
        "MR-SNE, adaptive, unnorm, the paper's steps", "MR-SNE", "mr-sne", settings
    )
    found["mr-sne own"] = Way("MR-SNE, hetviz's default", "MR-SNE", "mr-sne")
    return found


WAYS: Mapping[str, Way] = _ways()


def warm_up() -> None:
    """Load compiled code before anything is timed."""
    hetviz.get_method("mr-sne").warm_up()  # type: ignore[attr-defined]


def placed(related: Related, way: Way, seed: int) -> tuple[Floats, float]:
    """Return two-dimensional places of items and words, stacked, and CPU seconds.

    From more dimensions by t-SNE of all rows, as in the paper.
    """
    started = time.process_time()
    with warnings.catch_warnings():
        # fewer axes come back where fewer hold any agreement
        warnings.simplefilter("ignore", DataWarning)
        Y = hetviz.embed(related.data, way.key, random_state=seed, **way.settings).stacked()
        if Y.shape[1] > 2:
            rows = Dataset("all", [str(row) for row in range(len(Y))], Y)
            Y = hetviz.embed(HeteroData([rows]), "mr-sne", random_state=seed).stacked()
    return Y, time.process_time() - started


def measures(related: Related, Y: Floats) -> dict[str, Any]:
    """Return the paper's measures of places.

    Returns
    -------
    dict
        graph_auc : area of telling items' words and items that share a word from all others, by
        nearness; graph_auc_across : of words only; roc : false and true positive rates when the
        first `CALLED` of each are called; variance_ratio : spread of items over that of words; and
        by number of neighbours in `NEAREST` hit_across, hit_within (metric I), count_across and
        count_within (metric II), NaN for more words than there are.
    """
    n, m = related.W.shape
    items, words = Y[:n], Y[n:]
    ranked = rank_partners(Y, related.wanted())
    at = np.unique(np.minimum(CALLED, n + m - 1))
    across = sp.csr_array(
        sp.vstack([sp.hstack([sp.csr_array((n, n)), related.W]), sp.csr_array((m, n + m))])
    )
    across.sort_indices()
    found: dict[str, Any] = {
        "graph_auc": ranked.auc,
        "graph_auc_across": rank_partners(Y, across).auc,
        "roc": np.array(ranked.curve(at)),
        "variance_ratio": float(items.var(axis=0).sum() / words.var(axis=0).sum()),
    }
    shared = related.wanted()[:n, :n]
    for name, others, W in (("across", words, related.W), ("within", items, shared)):
        same = name == "within"
        k = min(max(NEAREST), len(others) - same)
        near = nearest_places(items, others, k, same=same)
        hits = W.toarray()[np.arange(n)[:, None], near] > 0
        found[f"hit_{name}"] = [
            float(hits[:, :k].any(axis=1).mean()) if k <= hits.shape[1] else float("nan")
            for k in NEAREST
        ]
        found[f"count_{name}"] = [
            float(hits[:, :k].sum(axis=1).mean()) if k <= hits.shape[1] else float("nan")
            for k in NEAREST
        ]
    return found

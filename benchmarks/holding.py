"""Accuracy of explanations: movement of items when one pull is removed from a joint map.

Of 12 items of the first dataset (drawn once) the pairs with the four largest shares of the pull,
and with the four largest shares of the graph, are taken out one by one; the layout makes 100 more
iterations from its rest, as it does with the pair in. Told is whether the pair with the largest
share (of the pull, of the graph, or by how far the balance of all pulls would go) is the one
without which the item goes farthest, and the rank correlation of each with that, within items.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr

import hetviz
from benchmarks.harness import report
from hetviz.core.layout.attraction import attraction_of
from hetviz.core.layout.sne import Phase
from hetviz.core.layout.sne_device import make_layout
from hetviz.core.threads import one_thread

SAMPLES = ("emoji", "world", "debian")
ITEMS, PAIRS, REST, MORE = 12, 4, 300, 100
BY = ("share of the pull", "share of the graph", "shift of the balance")


def run(out: Path, quick: bool) -> None:
    """Take pulls out on three samples."""
    rows = [removed(name) for name in (SAMPLES[:1] if quick else SAMPLES)]
    report("holding", rows, out, "what an item does without one pull, joint map")


@one_thread()
def removed(name: str) -> dict[str, Any]:
    """Return how well each figure foretells what an item does without a pull."""
    data = hetviz.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = hetviz.get_method("joint-map")().fit(data)
    pulls = model.pulls(data)
    whole = sp.csr_array(sum(pulls.parts.values()))
    P = sp.csr_array(whole / whole.sum())
    present = np.isfinite(model.embedding_.stacked()).all(axis=1)
    assert present.all(), "samples place every item"
    rested = make_layout(P, model.embedding_.stacked())
    rested.run([Phase(REST)])
    start = np.array(rested.positions)

    def gone_on(graph: Any) -> Any:
        layout = make_layout(graph, start.copy())
        layout.run([Phase(MORE)])
        return np.array(layout.positions)

    Y = gone_on(P)
    extent = float(np.ptp(Y, axis=0).max())
    first = next(iter(data.datasets.values()))
    correlations, hits, n = [], [], 0
    for row in np.random.default_rng(0).choice(len(first), ITEMS, replace=False):
        result_list = attraction_of(int(row), Y, pulls)
        assert result_list is not None
        tried = np.unique(np.r_[:PAIRS, np.argsort(-result_list.wanted, kind="stable")[:PAIRS]])
        tried = tried[tried < len(result_list.to)]
        gone = []
        for other in result_list.to[tried]:
            without = P.tolil()
            without[row, other] = without[other, row] = 0.0
            gone.append(np.linalg.norm(gone_on(sp.csr_array(without))[row] - Y[row]) / extent)
        messages = [
            values[tried] for values in (result_list.share, result_list.wanted, result_list.moves)
        ]
        n += len(tried)
        if len(tried) > 2:
            correlations.append([spearmanr(values, gone).statistic for values in messages])
            hits.append([np.argmax(values) == np.argmax(gone) for values in messages])
    result: dict[str, Any] = {"data": name, "pairs": n}
    for k, words in enumerate(BY):
        result[f"first by {words}"] = float(np.mean([hit[k] for hit in hits]))
        result[f"correlation, {words}"] = float(np.mean([hit[k] for hit in correlations]))
    return result

"""Ranking of methods on held-out links against known true pairs.

The digits have 453 links to learn from. The leaderboard sees nothing else: it holds a fifth of
them out, three times. The truth is 1,047 further pairs of views of one digit, among them all pairs
of two datasets that no link joins; maps made from all 453 links are judged by those.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import hetviz
from benchmarks.harness import report
from hetviz.errors import HetvizError
from hetviz.io import read_bundle
from hetviz.runs.compare.compare import measure_map
from hetviz.runs.embed.run import fit_run

SEEDS = 3
SLOW = ("code", "kbmf2k", "mkpe", "mkpoe", "pmvge", "gbc")
LEFT_OUT = {"partial-order", "gnmds"}


def run(out: Path, quick: bool) -> None:
    """Compare all methods that make use of links or features; `quick` leaves out the slow ones."""
    loaded = read_bundle("digits").strict()
    data, truth = loaded.data, loaded.held_out
    if truth is None:
        raise HetvizError("The digits came without the pairs to judge by.")
    # Methods that see comparisons only cannot keep links; they would make the order look better.
    keys = [v.card.key for v in hetviz.suggest(data) if v.suits and v.card.key not in LEFT_OUT]
    if quick:
        keys = [key for key in keys if key not in SLOW]
    comparison = hetviz.compare(data, keys, seeds=SEEDS, progress=_tell)
    rows = []
    for key in comparison.table.index:
        if key in comparison.failures:
            print(f"{key}: {comparison.failures[key]}")
            continue
        retained, auc = _truth(data, truth, str(key))
        rows.append(
            {
                "method": str(key),
                "unseen links kept": comparison.mean(str(key), "links_kept_held_out"),
                "standard error": float(comparison.table["links_kept_held_out_se"][key]),
                "unseen link AUC": comparison.mean(str(key), "link_auc_held_out"),
                "true pairs kept": retained,
                "true pairs AUC": auc,
                "seconds": comparison.seconds(str(key)),
            }
        )
    order = {
        (ours, true): spearmanr([r[ours] for r in rows], [r[true] for r in rows])
        for ours, true in (
            ("unseen links kept", "true pairs kept"),
            ("unseen link AUC", "true pairs AUC"),
        )
    }
    messages = "; ".join(
        f"{ours} against {true}: Spearman {result.statistic:.3f} (p {result.pvalue:.2g})"
        for (ours, true), result in order.items()
    )
    report("ranking", rows, out, f"digits, {len(rows)} methods, {SEEDS} splits. {messages}. "
           + comparison.recommendation.sentence)  # fmt: skip


def _truth(data: hetviz.HeteroData, truth: hetviz.HeteroData, key: str) -> tuple[float, float]:
    """Return the share of true pairs kept, and their AUC, by maps made from all links."""
    scores = []
    for seed in range(SEEDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores.append(
                measure_map(data, fit_run(data, key, {}, seed).result.embedding, truth)[0]
            )
    return (
        float(np.mean([score["links_kept_held_out"] for score in scores])),
        float(np.mean([score["link_auc_held_out"] for score in scores])),
    )


def _tell(fraction: float, message: str = "", **figures: object) -> None:
    print(f"\r{fraction:4.0%} {message:<70}", end="", flush=True)

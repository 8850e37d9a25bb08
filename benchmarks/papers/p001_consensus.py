"""Paper 001, chapter 3: labels from many sources by GBC, beside joined features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.coca import mfeat, terror, with_noise
from benchmarks.labels import (
    BASE,
    fit,
    made,
    one_split,
    with_neighbours,
    without_rows,
    wrong,
)
from benchmarks.papers.data import MFEAT, TERROR_ATTACK
from benchmarks.papers.drawing import curve, legend_below, panels
from benchmarks.papers.judging import judged, seen, told_by
from benchmarks.papers.out import Out
from benchmarks.papers.settings import settled
from benchmarks.papers.stats import mean_and_error, told
from hetviz import HeteroData, Labels
from hetviz.core.prediction.gbc import GbcSettings
from hetviz.runs.predict.label_scores import baselines

TITLE = "Paper 001: heterogeneous learning, gradient boosting consensus"
NEEDS = (MFEAT, TERROR_ATTACK)

SETTLED = settled("p001_consensus")
ITEMS, QUICK_ITEMS = SETTLED["items"], 400
ROUNDS, QUICK_ROUNDS = SETTLED["rounds"], 20
SEEDS, QUICK_SEEDS = SETTLED["splits"], 2
SHARES, QUICK_SHARES = tuple(SETTLED["label_shares"]), (0.1, 0.5)
GAPS = {"complete": 0.0, "30 % of the rows missing": 0.3}
FEW = 0.3
NOISE = 2
MODELS = {
    "gbc": "GBC",
    "vote": "vote of independent boosters",
    "joined features": "boosting of joined features",
    "best alone": "best source alone",
    "svm": "SVM of joined features",
    "self-trained svm": "self-trained SVM",
}
THEIRS = ("joined features", "svm", "self-trained svm")
TERMS = {
    "neither": (0.0, 0.0),
    "consensus": (BASE.lam0, 0.0),
    "links": (0.0, BASE.lam1),
    "both": (BASE.lam0, BASE.lam1),
}
COUNTS = (1, 2, 4, 6)
WEIGHTS = {
    "holdout": "by labels held out (hetviz)",
    "training": "by training labels (the thesis)",
    "equal": "equal",
}
HOW = (
    "Strengths of the two terms are hetviz's defaults, which were once chosen on mfeat with 10 % "
    "of the labels and other random splits (seeds 100 to 102) of the same items; not tuned here. "
    "The thesis chose them by cross-validation."
)

Runs = list[dict[str, float]]


def run(out: Out, quick: bool, data: Path | None) -> None:
    """Measure by share of labels, term, number of sources and weights."""
    if data is None:
        return
    seeds = QUICK_SEEDS if quick else SEEDS
    shares = QUICK_SHARES if quick else SHARES
    base = replace(BASE, n_rounds=QUICK_ROUNDS if quick else ROUNDS)
    few = shares[:1]
    numerals = some(mfeat(data), QUICK_ITEMS if quick else ITEMS) if MFEAT.there(data) else None
    attacks = terror(data) if TERROR_ATTACK.there(data) else None
    noise = (NOISE,)
    steps = len(GAPS) * len(shares) + len(GAPS) * len(few) + len(COUNTS)
    out.plan(seeds * (steps * (numerals is not None) + len(noise) * (attacks is not None)))

    def repeated(key: str, work: Callable[[int], Any]) -> Runs:
        return [
            out.step(f"{key}, split {seed}", partial(quietly, work, seed)) for seed in range(seeds)
        ]

    if numerals is not None:
        made_of = f"{len(numerals['fou']):,} numerals of mfeat, {base.n_rounds} rounds"
        by_share = {
            (gap, share): repeated(
                f"{gap}, {share:g} labels",
                partial(split, numerals, GAPS[gap], share, base),
            )
            for gap in GAPS
            for share in shares
        }
        report_shares(out, by_share, shares, made_of)
        by_term = {
            (gap, share): repeated(
                f"terms, {gap}, {share:g} labels", partial(terms, numerals, GAPS[gap], share, base)
            )
            for gap in GAPS
            for share in few
        }
        report_terms(out, by_term, made_of)
        by_count = {
            count: repeated(f"{count} sources", partial(some_sources, numerals, count, base))
            for count in COUNTS
        }
        report_counts(out, by_count, made_of)
    if attacks is not None:
        by_noise = {
            count: repeated(
                f"terror_attack, {count} of noise", partial(noisy, attacks, count, base)
            )
            for count in noise
        }
        report_noise(out, by_noise, base.n_rounds)
    missing = [
        {
            "of the paper": "movies (Figs 4, 5, 6, Table IV): ten sources crawled from IMDB",
            "not run here": "not to be had; Table IV's question is asked of mfeat's six views",
        },
        {
            "of the paper": "demographics (Fig. 7): 500,000 users of a telephone company",
            "not run here": "not public",
        },
    ]
    out.table("not-run", pd.DataFrame(missing), "What was not run, and why.")


def quietly(work: Callable[[int], Any], seed: int) -> Any:
    """Work without warnings about what the experiment does on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(seed)


def some(data: HeteroData, count: int) -> HeteroData:
    """Take some items, the same in all views, drawn once."""
    label = data.labels[0]
    rows = np.sort(np.random.default_rng(0).permutation(len(label.values))[:count])
    views = [part.subset(rows) for part in data.datasets.values()]
    return HeteroData(views, (), None, [Labels(label.dataset, label.name, label.values[rows])])


def split(
    data: HeteroData, gap: float, share: float, base: GbcSettings, seed: int
) -> dict[str, float]:
    """Return errors by model of one split."""
    errors, ratio = one_split(data, gap, share, seed, base)
    return {name: errors[name] for name in (*MODELS, "guess")} | {"time ratio": ratio}


def terms(
    data: HeteroData, gap: float, share: float, base: GbcSettings, seed: int
) -> dict[str, float]:
    """Return errors with and without each term; links are neighbours in view mor, left out."""
    problem, seen, hidden = made(with_neighbours(without_rows(data, gap, seed)), share, seed)
    return {
        term: wrong(problem, fit(problem, seen, replace(base, lam0=lam0, lam1=lam1)).joint, hidden)
        for term, (lam0, lam1) in TERMS.items()
    }


def some_sources(data: HeteroData, count: int, base: GbcSettings, seed: int) -> dict[str, float]:
    """Return errors with some of the sources, drawn anew for each split."""
    views = np.random.default_rng(seed).permutation(list(data.datasets))[:count].tolist()
    problem, seen, hidden = made(without_rows(data, 0.3, seed), FEW, seed, views)
    settings = replace(base, lam1=0.0)
    found = {"gbc": wrong(problem, fit(problem, seen, settings).joint, hidden)}
    for title, margin, _ in baselines(problem, seen, base):
        if title in ("vote", "joined features"):
            found[title] = wrong(problem, margin, hidden)
    return found


def noisy(data: HeteroData, count: int, base: GbcSettings, seed: int) -> dict[str, float]:
    """Return errors, and the weight of noise, by how weights are learned."""
    problem, seen, hidden = made(with_noise(data, count), FEW, seed)
    found = {}
    for how in WEIGHTS:
        fitted = fit(problem, seen, replace(base, weights=how, lam1=0.0))
        found[how] = wrong(problem, fitted.joint, hidden)
        found[f"{how}, noise"] = sum(
            float(weight)
            for weight, name in zip(fitted.weights[-1], problem.names, strict=True)
            if name.startswith("noise")
        )
    return found


def values(runs: Runs, key: str) -> list[float]:
    """Return a figure of all runs, NaN where it was not measured."""
    return [float(one.get(key, np.nan)) for one in runs]


def report_shares(
    out: Out,
    found: dict[tuple[str, float], Runs],
    shares: Sequence[float],
    made_of: str,
) -> None:
    """Draw and judge errors by share of labels."""
    figure, axes = panels(len(GAPS), sharey=True)
    rows = []
    for ax, gap in zip(axes, GAPS, strict=True):
        for place, (key, name) in enumerate(MODELS.items()):
            means, errors = zip(
                *(mean_and_error(100.0 * np.array(values(found[gap, s], key))) for s in shares),
                strict=True,
            )
            curve(ax, [100.0 * s for s in shares], means, errors, name, place)
        for share in shares:
            runs = found[gap, share]
            rows.append(
                {
                    "rows": gap,
                    "labels": f"{100 * share:g} %",
                    **{name: told(values(runs, key)) for key, name in MODELS.items()},
                    "CPU of GBC by vote": f"{np.median(values(runs, 'time ratio')):.1f}",
                }
            )
        ax.set_title(f"rows: {gap}")
        ax.set_xlabel("items with a label (%)")
    axes[0].set_ylim(bottom=0)
    axes[0].set_ylabel("wrong of the other items (%)")
    legend_below(figure, axes[0], 3)
    n = len(next(iter(found.values())))
    what = (
        f"Errors by share of labels, {made_of}, six views; mean and standard error over {n} "
        "random splits. Rows missing: each view lacks 30 % of the items, drawn for each view. The "
        "best source alone is judged on the items that it records."
    )
    out.figure("labels-share", figure, what)
    out.table("labels-share", pd.DataFrame(rows), what)
    for gap in GAPS:
        wins = [
            seen(values(found[gap, share], key), values(found[gap, share], "gbc"))
            for share in shares
            for key in THEIRS
        ]
        first = found[gap, shares[0]]
        out.verdict(
            "GBC errs less than models of joined features"
            + (" with complete rows" if gap == "complete" else " where rows are missing"),
            paper="less at all shares of labels, by up to 80 % on movies (Fig. 4)"
            if gap == "complete"
            else "less by more than with complete rows, as drawn in Fig. 5",
            ours=told_by(
                "GBC",
                [(f"{100 * s:g} % labels", values(found[gap, s], "gbc")) for s in shares],
            )
            + "; "
            + "; ".join(
                told_by(
                    MODELS[key],
                    [(f"{100 * s:g} %", values(found[gap, s], key)) for s in shares],
                )
                for key in ("joined features", "svm", "vote")
            )
            + f"; {n} splits",
            verdict=judged(wins),
            how_chosen=HOW + f" The vote, which the thesis calls GBDT in Fig. 8, stands beside: "
            f"with {100 * shares[0]:g} % of the labels {told(values(first, 'vote'))}.",
        )


def report_terms(out: Out, found: dict[tuple[str, float], Runs], made_of: str) -> None:
    """List and judge the ablation."""
    rows = [
        {
            "rows": gap,
            "labels": f"{100 * share:g} %",
            **{term: told(values(runs, term)) for term in TERMS},
        }
        for (gap, share), runs in found.items()
    ]
    n = len(next(iter(found.values())))
    out.table(
        "terms",
        pd.DataFrame(rows),
        f"Errors with and without each term, {made_of}; five views, the sixth (mor) made two "
        "graphs of five neighbours each, one with noise; mean ± standard error over "
        f"{n} splits.",
    )
    for title, with_it, paper in (
        (
            "Consensus between sources lowers",
            "consensus",
            "about .13 at 10 % of the labels, below GBDT",
        ),
        ("Links between items lower", "links", "below GBDT, most with few labels"),
    ):
        out.verdict(
            f"{title} the error of boosted sources",
            paper=f"{paper} (Fig. 8)",
            ours="; ".join(
                f"rows {gap}, {100 * share:g} % labels: with {told(values(runs, with_it))}, "
                f"without {told(values(runs, 'neither'))}"
                for (gap, share), runs in found.items()
            ),
            verdict=judged(
                [seen(values(runs, "neither"), values(runs, with_it)) for runs in found.values()]
            ),
            how_chosen=HOW,
        )


def report_counts(out: Out, found: dict[int, Runs], made_of: str) -> None:
    """Draw and judge errors by number of sources."""
    figure, (ax,) = panels(1, width=4.2)
    for place, key in enumerate(("gbc", "vote", "joined features")):
        means, errors = zip(
            *(mean_and_error(100.0 * np.array(values(runs, key))) for runs in found.values()),
            strict=True,
        )
        there = [at for at, mean in enumerate(means) if np.isfinite(mean)]
        curve(
            ax,
            [list(found)[at] for at in there],
            [means[at] for at in there],
            [errors[at] for at in there],
            MODELS[key],
            place,
        )
    ax.set_xlabel("sources")
    ax.set_ylabel("wrong of the other items (%)")
    ax.set_xticks(list(found))
    ax.set_ylim(bottom=0)
    legend_below(figure, ax, 2)
    n = len(next(iter(found.values())))
    what = (
        f"Errors by number of sources, {made_of}; {100 * FEW:g} % of the labels, 30 % of the rows "
        f"missing; mean and standard error over {n} splits, each with sources drawn anew."
    )
    out.figure("sources", figure, what)
    gbc = {count: values(runs, "gbc") for count, runs in found.items()}
    counts = list(found)
    out.verdict(
        "More sources, fewer errors",
        paper="RMSE with 30 % of the labels 1.223, 1.247, .914, .945 with 1, 2, 4 and all ten "
        "sources (Table IV, movies)",
        ours=told_by("error", [(f"{count} sources", gbc[count]) for count in counts])
        + f"; {n} splits",
        verdict=judged([seen(gbc[a], gbc[b]) for a, b in pairwise(counts)]),
        how_chosen=HOW,
    )


def report_noise(out: Out, found: dict[int, Runs], rounds: int) -> None:
    """List and judge the weights of sources of noise."""
    rows = [
        {
            "sources of noise": count,
            "weights": name,
            "error": told(values(runs, how)),
            "weight of the noise": told(values(runs, f"{how}, noise"), 2) if count else "",
        }
        for count, runs in found.items()
        for how, name in WEIGHTS.items()
    ]
    n = len(next(iter(found.values())))
    out.table(
        "weights",
        pd.DataFrame(rows),
        f"terror_attack in five parts and sources of noise, {100 * FEW:g} % of the labels, "
        f"{rounds} rounds, without links; mean ± standard error over {n} splits.",
    )
    runs = found[max(found)]
    out.verdict(
        "Learned weights keep sources of noise from doing harm",
        paper="error lower by up to 70 % than with equal weights (Fig. 9)",
        ours=f"{max(found)} of {5 + max(found)} sources noise: held-out weights "
        f"{told(values(runs, 'holdout'))}, the thesis's training weights "
        f"{told(values(runs, 'training'))}, equal {told(values(runs, 'equal'))}; weight of the "
        f"noise {told(values(runs, 'holdout, noise'), 2)}, "
        f"{told(values(runs, 'training, noise'), 2)}, {told(values(runs, 'equal, noise'), 2)}",
        verdict=judged(
            [
                seen(values(runs, "equal"), values(runs, "holdout")),
                seen(values(runs, "equal"), values(runs, "training")),
            ]
        ),
        how_chosen=HOW + " Of two parts of the claim one is of hetviz's weights and one of the "
        "thesis's.",
    )

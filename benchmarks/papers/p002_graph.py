"""Paper 002: what contradictions and circles cost, and what leaving them out gains."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.papers.data import ZAPPOS, sample
from benchmarks.papers.judging import judged, seen, smallest
from benchmarks.papers.ordering import BETAS, Compared, numerals, shoes
from benchmarks.papers.out import Out
from benchmarks.papers.settings import settled
from benchmarks.papers.stats import told

TITLE = "Paper 002: multi-modal similarity, processing the graph of comparisons"
NEEDS = (
    sample("digit-views", "numerals, compared by a tree of their classes"),
    ZAPPOS,
)

SETTLED = settled("p002_graph")
SPLITS, QUICK_SPLITS = SETTLED["splits"], 2
MOST_ANSWERS, QUICK_ANSWERS = SETTLED["answers_of_people"], 600
EFFECT = SETTLED["effect"]
STAGES = {
    "full": {"order": "none"},
    "length-2": {"order": "contradictions", "contradictions": "prune"},
    "processed": {"order": "process", "contradictions": "prune", "reduce": True},
    "majority": {"order": "process", "contradictions": "majority"},
}
VARIANTS = {"diagonal": True, "full matrix": False}
ANSWERERS = {
    "numerals": "Answers of made raters as in the paper's survey, who pick of ten the most alike,",
    "shoes": "People's own answers, few of which are about one pair,",
}
VIEWS = {"numerals": "fourier", "shoes": "cosine"}


def run(out: Out, quick: bool, data: Path | None) -> None:
    """Learn from answers of which many are wrong, after each stage of processing."""
    splits = QUICK_SPLITS if quick else SPLITS
    sets = [numerals()]
    if ZAPPOS.there(data) and data is not None:
        sets.append(shoes(data))
    out.plan(len(sets) * len(STAGES) * splits)
    for compared in sets:
        answers = QUICK_ANSWERS if quick else MOST_ANSWERS
        found = {
            stage: [
                out.step(
                    f"{compared.name}, {stage}, split {seed}",
                    partial(measured, compared, stage, answers, seed, quick),
                )
                for seed in range(splits)
            ]
            for stage in STAGES
        }
        report(out, compared, found)


def answered(compared: Compared, train: Any, answers: int, seed: int) -> Any:
    """Return answers of many raters, or people's own where there are such."""
    if compared.surveyed is None:
        return compared.messages(train, answers, seed)
    return compared.surveyed(train, seed)[:answers]


def measured(
    compared: Compared, stage: str, answers: int, seed: int, quick: bool
) -> dict[str, float]:
    """Return the share of unseen objects' comparisons kept, what remains, and the time."""
    train, test = compared.split(seed)
    said = answered(compared, train, answers, seed)
    names = [VIEWS[compared.name]]
    found: dict[str, float] = {}
    for variant, diagonal in VARIANTS.items():
        params = {"diagonal": diagonal, **STAGES[stage]}
        beta = compared.chosen_beta(names, train, said, seed, quick=quick, **params)
        model, seconds = compared.fitted(names, train, said, beta=beta, **params)
        found[variant] = compared.kept(
            compared.placed(model, names, train, test), train, test, seed
        )
        found[f"{variant} seconds"] = seconds
        order = next(iter(model.order_.values()))
        found["remain"] = float(len(order.pairs))
    return found


def report(out: Out, compared: Compared, found: dict[str, list[dict[str, float]]]) -> None:
    """Write the table and the verdicts."""

    def values(stage: str, key: str) -> list[float]:
        return [one[key] for one in found[stage]]

    rows = [
        {
            "comparisons": stage,
            "remain": told(values(stage, "remain"), 0),
            **{variant: told(values(stage, variant)) for variant in VARIANTS},
            **{
                f"CPU s, {variant}": f"{np.median(values(stage, f'{variant} seconds')):.2f}"
                for variant in VARIANTS
            },
        }
        for stage in STAGES
    ]
    splits = len(found["full"])
    out.table(
        f"graph-{compared.name}",
        pd.DataFrame(rows),
        f"{ANSWERERS[compared.name]} about four fifths of the {compared.size} {compared.name}; one "
        f"view ({VIEWS[compared.name]}). Share kept of true comparisons of the other objects, mean "
        f"± standard error over {splits} splits. Full: all answers, repeated ones merged; "
        "length-2: opposite ones left out; processed: circles and what follows from others left "
        "out too; majority: of opposite ones the more frequent, nothing that follows left out "
        "(ours).",
    )
    steps = (("full", "length-2"), ("length-2", "processed"))
    wins = [
        seen(values(better, variant), values(worse, variant), effect)
        for variant in VARIANTS
        for (worse, better), effect in zip(steps, EFFECT[variant], strict=True)
    ]
    could_see = "; ".join(
        f"{variant} "
        + ", ".join(f"{smallest(values(b, variant), values(w, variant)):.3f}" for w, b in steps)
        for variant in VARIANTS
    )
    out.verdict(
        "Each stage of processing keeps a little more of the unseen objects' comparisons "
        f"({compared.name})",
        paper="diagonal .604, .621, .629, full .754, .756, .760 of 7,915, 6,583 and 4,401 "
        "comparisons (Table 5)",
        ours="; ".join(
            f"{variant} " + ", ".join(told(values(stage, variant)) for stage in list(STAGES)[:3])
            for variant in VARIANTS
        )
        + " of "
        + ", ".join(told(values(stage, "remain"), 0) for stage in list(STAGES)[:3])
        + " comparisons that remain; majority "
        + ", ".join(told(values("majority", variant)) for variant in VARIANTS)
        + f"; the smallest step that these {splits} splits could see: {could_see}",
        verdict=judged(wins),
        how_chosen=f"The best of {', '.join(f'{beta:g}' for beta in BETAS)} times the critical "
        "strength, and on past these while the best is at an end, by true comparisons of a quarter "
        "of the training objects held out. How raters answer was settled by how many comparisons "
        "remain, before any map was made.",
    )

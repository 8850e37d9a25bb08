"""Paper 003: MR-SNE beside CDMCA, kernel CDMCA and PMvGE, by its own measures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers import mapping_figures, mapping_verdicts
from benchmarks.papers.data import sample
from benchmarks.papers.mapping import WAYS, measures, placed, warm_up
from benchmarks.papers.out import Out
from benchmarks.papers.related import SOURCES, Related
from benchmarks.papers.settings import settled

TITLE = "Paper 003: stochastic neighbor embedding of multimodal relational data (MR-SNE)"
NEEDS = (
    sample("emoji", "pictures with keywords as indicators (in the place of Flickr), and with the "
           "few words of their groups (in the place of AwA2)"),
    sample("debian", "programs and tags, both with features"),
)  # fmt: skip

DRAWS: int = settled("p003")["draws"]
ITEMS: int = settled("p003")["items"]
QUICK_DRAWS, QUICK_ITEMS = 2, 200


def run(out: Out, quick: bool, data: Path | None) -> None:
    """Map each draw of items by every method, measure, and report."""
    draws, n = (QUICK_DRAWS, QUICK_ITEMS) if quick else (DRAWS, ITEMS)
    warm_up()
    out.plan(draws * len(SOURCES) * len(WAYS))
    results: list[dict[str, Any]] = []
    for draw in range(draws):
        for name, make in SOURCES.items():
            related = make().drawn(n, np.random.default_rng(draw))
            for key in WAYS:
                work = partial(mapped, related, key, draw)
                results.append(out.step(f"{name}, draw {draw}, {key}", work))
    mapping_figures.draw(out, results)
    mapping_verdicts.judge(out, results)


def mapped(related: Related, key: str, draw: int) -> dict[str, Any]:
    """Map by one method and measure; the first draw's places are kept for the pictures."""
    Y, seconds = placed(related, WAYS[key], draw)
    found = measures(related, Y) | {
        "source": related.name,
        "way": key,
        "draw": draw,
        "n_items": len(related.items),
        "n_words": len(related.words),
        "seconds": seconds,
    }
    if draw == 0:
        found["places"] = np.round(Y, 4)
    return found

"""NAME: what it does, in one line.  Copy this file to add a method; nothing else needs editing.

This template is itself a working method, so that a test can follow the recipe to the letter: it
places items at random.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from hetviz.algorithms.base import BaseEmbedder, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.shared_params import DrawnBy, NComponents, RandomState
from hetviz.data import HeteroData
from hetviz.params import Real
from hetviz.progress import Progress


class Template(BaseEmbedder):
    """Random places, as a starting point for a method of your own.

    Notes
    -----
    State the objective, the cost in time and memory, and what happens in degenerate cases.

    References
    ----------
    Paper and equations.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="template",
        title="Template",
        family="Baseline",
        papers=(Reference("A. Author and B. Author", "Title", "Journal 1, 1-10", 2026),),
        equation=r"y_i \sim N(0, s^2 I)",
        needs=(),
        capabilities=frozenset({Capability.FEATURELESS}),
        summary="What it shows, in one or two plain sentences.",
        caveats=("When to be careful.",),
        cost="Time and memory, in words.",
    )
    n_components: NComponents = 2
    spread: Annotated[
        float,
        Real(
            "Spread",
            "How far from the middle items lie.",
            low=0.0,
            high=100.0,
            details="Standard deviation along each axis.",
        ),
    ] = 1.0
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        coordinates = {
            name: self.spread * rng.standard_normal((len(dataset), self.n_components))
            for name, dataset in data.datasets.items()
        }
        progress(0.9, "Placing items")
        return Fit(coordinates)

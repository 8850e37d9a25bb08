"""Template of a new method. Copy this file to add a method.

The template is a working method that places items at random, so that a test can run it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability, Fit, MethodCard, Reference
from hetviz.algorithms.shared_params import DrawnBy, NComponents, RandomState
from hetviz.data import HeteroData
from hetviz.params import Real
from hetviz.progress import Progress


class Template(BaseEmbedder):
    """Random places, as a starting point for your own method.

    Notes
    -----
    State the objective, the cost in time and memory, and the behaviour in degenerate cases.

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
        summary="What the method does, in one or two plain sentences.",
        caveats=("A limitation.",),
        cost="Time and memory, in words.",
    )
    n_components: NComponents = 2
    spread: Annotated[
        float,
        Real(
            "Spread",
            "How far items are from the centre.",
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

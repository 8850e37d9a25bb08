"""NAME: what it does, in one line.  Copy this file to add a method; nothing else needs editing.

This template is itself a working method, so that a test can follow the recipe to the letter: it
places items at random.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from hetviz.algorithms.base import BaseEmbedder, Capability, Fit, MethodCard
from hetviz.data import HeteroData
from hetviz.params import Integer, Param
from hetviz.progress import Progress


class Template(BaseEmbedder):
    """Random places, as a starting point for a method of your own.

    Parameters
    ----------
    n_components : int
        Number of axes.
    random_state : int
        Same seed, same map.

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
        paper="Authors, title, year",
        equation=r"y_i \sim N(0, I)",
        needs=(),
        capabilities=frozenset({Capability.FEATURELESS}),
        summary="What it shows, in one or two plain sentences.",
        caveats=("When to be careful.",),
        cost="Time and memory, in words.",
    )
    params: ClassVar[Mapping[str, Param]] = {
        "n_components": Integer(2, "Axes", "How many axes to compute.", low=1, high=500),
        "random_state": Integer(0, "Seed", "Same seed, same map.", low=0, advanced=True),
    }

    def __init__(self, n_components: int = 2, random_state: int = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        coordinates = {
            name: rng.standard_normal((len(dataset), self.n_components))
            for name, dataset in data.datasets.items()
        }
        progress(0.9, "Placing items")
        return Fit(coordinates)

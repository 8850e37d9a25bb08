"""Declarations of the parameters that mean the same in every method for comparisons."""

from __future__ import annotations

from collections.abc import Mapping

from hetviz.params import Choice, Integer, Param, Real

SHARED: Mapping[str, Param] = {
    "n_components": Integer(2, "Axes", "How many axes to compute.", low=1, high=500),
    "order": Choice(
        "process",
        "Comparisons that clash",
        "What to leave out of comparisons that cannot all be true.",
        options={
            "process": "opposite ones, and as few as possible of circles",
            "contradictions": "opposite ones only",
            "none": "nothing",
        },
        advanced=True,
    ),
    "contradictions": Choice(
        "prune",
        "Opposite comparisons",
        "What becomes of two that say the opposite.",
        options={
            "prune": "both are left out",
            "majority": "the one said more often stays",
            "keep": "both stay, unless they count as a circle",
        },
        advanced=True,
    ),
    "tol": Real(
        3e-3,
        "Precision",
        "Relative gap to the proven optimum at which to stop.",
        low=1e-8,
        high=0.5,
        log=True,
        advanced=True,
    ),
    "random_state": Integer(0, "Seed", "Same seed, same map.", low=0, advanced=True),
}

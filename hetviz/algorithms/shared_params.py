"""Parameters shared by several methods, as annotated field types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from hetviz.core.device import AUTO, CARDS, PROCESSOR
from hetviz.features.spaces.basis import KINDS
from hetviz.params import Choice, Flag, Integer, PerDataset, Real

NComponents = Annotated[int, Integer("Axes", "How many axes to compute.", low=1, high=500)]

DrawnBy = Annotated[
    str,
    Choice(
        "Drawn by",
        "How maps with more than two axes are drawn. All measures use all axes.",
        options={
            "axes": "the two directions along which items differ most",
            "neighbors": "neighbours on all axes (neighbour map)",
        },
        details=(
            "A neighbour map is t-SNE of the axes, see `hetviz.core.layout.axes_map`. It needs "
            "`n_components` of 3 or more, such as 10."
        ),
    ),
]

Device = Annotated[
    str,
    Choice(
        "Computed on",
        "The device that finds neighbours and computes the layout.",
        options={
            PROCESSOR: "the processor",
            AUTO: "a graphics card, if there is one",
            **CARDS,
        },
        advanced=True,
        details=(
            "A graphics card needs PyTorch (the extra `gpu`). It compares all pairs of items, and "
            "its map differs slightly but has about the same divergence."
        ),
    ),
]

RandomState = Annotated[
    int, Integer("Seed", "The same seed gives the same map.", low=0, advanced=True)
]

TieViews = Annotated[
    bool,
    Flag("Join views", "Place the rows of one object in different datasets together."),
]

LearnGroups = Annotated[
    bool,
    Flag(
        "Learn from groups",
        "Items similar to those that you linked follow them.",
        details=(
            "For groups of three or more items that are more similar to each other than items "
            "chosen at random."
        ),
    ),
]

# Parameters of projections onto shared axes.

DatasetWeights = Annotated[
    float | Mapping[str, float],
    PerDataset(
        "Weight of datasets",
        "How much the links of a dataset count compared with those of others. 0 leaves it out. Has "
        "no effect with two datasets that are linked only with each other.",
        details="Links of datasets u and v count sqrt(weight_u weight_v) times.",
        inner=Real(low=0.0, high=100.0),
        advanced=True,
    ),
]

FeatureKinds = Annotated[
    str | Mapping[str, str],
    PerDataset(
        "Features",
        "Which features of each dataset are used.",
        inner=Choice(options=KINDS),
        advanced=True,
    ),
]

KernelPenalty = Annotated[
    str,
    Choice(
        "Smoothing of",
        "The quantity that smoothing penalises for kernels.",
        options={"rkhs": "the curves", "paper": "their coefficients, as in the paper"},
        advanced=True,
        details=(
            "The curves, a'Ka, or their coefficients, a'a. Above 5,000 items of a dataset it is "
            "always the curves."
        ),
    ),
]

AxisScale = Annotated[
    float | str,
    Real(
        "Spread of axes",
        "0 gives all axes the same spread, 1 makes axes with better agreement wider.",
        details="Axis c is multiplied by agreement_c to this power. "
        '"auto" is 0 for up to three axes and 1 above.',
        low=0.0,
        high=4.0,
        also=("auto",),
        tries=(0.0, 0.5, 1.0, 2.0),
        advanced=True,
    ),
]

# Parameters of methods for comparisons.

Order = Annotated[
    str,
    Choice(
        "Contradicting comparisons",
        "Which comparisons to leave out if they contradict each other.",
        details="See `hetviz.core.ordinal.partial_order.partial_order`.",
        options={
            "process": "opposite ones, and as few as possible of each cycle",
            "contradictions": "opposite ones only",
            "none": "none",
        },
        advanced=True,
    ),
]

Contradictions = Annotated[
    str,
    Choice(
        "Opposite comparisons",
        "What happens to two opposite comparisons.",
        options={
            "prune": "both are left out",
            "majority": "the more frequent one stays",
            "keep": "both stay, unless they count as a cycle",
        },
        advanced=True,
    ),
]

MAX_POLISHED_AXES = 3
"""Maximum number of axes for the final step that moves points."""
QUICK_TOL = 1e-2
"""Relative gap for maps that are only compared with each other."""

Polish = Annotated[
    bool,
    Flag(
        "Final adjustment",
        "Move points after the fit, as far as hidden comparisons confirm.",
        details=(
            "For at most three axes, see `hetviz.core.ordinal.polish`. The pull to the start is "
            "chosen by three-fold cross-validation. New items move with their neighbours."
        ),
    ),
]

Tol = Annotated[
    float,
    Real(
        "Precision",
        "Relative gap to the optimum at which to stop.",
        low=1e-8,
        high=0.5,
        log=True,
        advanced=True,
    ),
]

"""Declarations of the parameters that mean the same in several methods, as types of fields."""

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
        "How more than two axes are shown; what is near or alike is measured on all of them.",
        options={
            "axes": "the two directions along which items differ most",
            "neighbors": "who is near whom on all axes (neighbour map)",
        },
        details=(
            "A neighbour map is t-SNE of the axes, see `hetviz.core.layout.axes_map`; it needs "
            "`n_components` of 3 or more, such as 10."
        ),
    ),
]

Device = Annotated[
    str,
    Choice(
        "Computed on",
        "What searches the neighbours and draws the map.",
        options={
            PROCESSOR: "the processor",
            AUTO: "a graphics card, if there is one",
            **CARDS,
        },
        advanced=True,
        details=(
            "A card needs PyTorch, the extra `gpu`. It compares all items with each other, however "
            "many there are, and its map is another one of about the same divergence."
        ),
    ),
]

RandomState = Annotated[int, Integer("Seed", "Same seed, same map.", low=0, advanced=True)]

TieViews = Annotated[
    bool,
    Flag("Join views", "Draw the rows that show one object in different datasets together."),
]

LearnGroups = Annotated[
    bool,
    Flag(
        "Learn from what you say",
        "Items like those that you said belong together follow them.",
        details=(
            "Of three or more, and only where those named resemble one another more than items "
            "chosen by chance would."
        ),
    ),
]

# Of the projections onto axes that all datasets share.

DatasetWeights = Annotated[
    float | Mapping[str, float],
    PerDataset(
        "Weight of datasets",
        "How much the links of a dataset count beside those of the others; 0 leaves it out. With "
        "two datasets, linked only with each other, it changes nothing.",
        details="Links of datasets u and v count sqrt(weight_u weight_v) times.",
        inner=Real(low=0.0, high=100.0),
        advanced=True,
    ),
]

Features = Annotated[
    str | Mapping[str, str],
    PerDataset(
        "Features", "What to use of each dataset.", inner=Choice(options=KINDS), advanced=True
    ),
]

KernelPenalty = Annotated[
    str,
    Choice(
        "Smoothing of",
        "What smoothing keeps small, where items are compared by a kernel.",
        options={"rkhs": "the curves", "paper": "their coefficients, as in the paper"},
        advanced=True,
        details=(
            "The curves themselves, a'Ka, or their coefficients, a'a; above 5,000 items of a "
            "dataset always the curves."
        ),
    ),
]

AxisScale = Annotated[
    float | str,
    Real(
        "Spread of axes",
        "0 gives all axes the same spread, 1 makes those that keep links better wider.",
        details="Axis c is multiplied by agreement_c to this power; "
        '"auto" is 0 for up to three axes and 1 above.',
        low=0.0,
        high=4.0,
        also=("auto",),
        tries=(0.0, 0.5, 1.0, 2.0),
        advanced=True,
    ),
]

# Of the methods for comparisons.

Order = Annotated[
    str,
    Choice(
        "Comparisons that clash",
        "What to leave out of comparisons that cannot all be true.",
        details="See `hetviz.core.ordinal.partial_order.partial_order`.",
        options={
            "process": "opposite ones, and as few as possible of circles",
            "contradictions": "opposite ones only",
            "none": "nothing",
        },
        advanced=True,
    ),
]

Contradictions = Annotated[
    str,
    Choice(
        "Opposite comparisons",
        "What becomes of two that say the opposite.",
        options={
            "prune": "both are left out",
            "majority": "the one said more often stays",
            "keep": "both stay, unless they count as a circle",
        },
        advanced=True,
    ),
]

MOST_POLISHED = 3
"""Axes up to which points are moved in the end."""
QUICK_TOL = 1e-2
"""Relative gap that is near enough for maps that are only compared with each other."""

Polish = Annotated[
    bool,
    Flag(
        "Move points in the end",
        "Move points from where the method put them, as far as comparisons held out confirm.",
        details=(
            "To three axes: `hetviz.core.ordinal.polish`, the strength of its pull to the start by "
            "three-fold cross-validation. New items move with those near them."
        ),
    ),
]

Tol = Annotated[
    float,
    Real(
        "Precision",
        "Relative gap to the proven optimum at which to stop.",
        low=1e-8,
        high=0.5,
        log=True,
        advanced=True,
    ),
]

"""Parameters shared by several methods, as annotated field types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from hetviz._types import RandomSeed
from hetviz.core.device import AUTO, CARDS, PROCESSOR
from hetviz.features.spaces import affinities, similarity
from hetviz.features.spaces.basis import KINDS
from hetviz.features.spaces.joint_graph import GRAPHS
from hetviz.params import Changed, Choice, Flag, Integer, PerDataset, PinList, Real, Seed

AXES = Integer("Axes", "How many axes to compute.", low=1, high=500)
NComponents = Annotated[int, AXES]
PlaneAxes = Annotated[NComponents, Changed(high=2)]

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
        options={PROCESSOR: "the processor", AUTO: "a graphics card, if there is one", **CARDS},
        advanced=True,
        details=(
            "A graphics card needs PyTorch (the extra `gpu`). It compares all pairs of items, and "
            "its map differs slightly but has about the same divergence."
        ),
    ),
]

RandomState = Annotated[
    RandomSeed, Seed("Seed", "The same seed gives the same map.", low=0, advanced=True)
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

STEPS = Integer("Iterations", "Maximum number of steps.", low=1, high=10_000, advanced=True)
NIter = Annotated[int, STEPS]

NInit = Annotated[
    int, Integer("Starts", "How many random starts. The best is used.", low=1, high=100)
]

# Parameters of methods for similarities and scores.

Within = Annotated[
    str | Mapping[str, str],
    PerDataset(
        "Similarity",
        "How items of one dataset are compared.",
        inner=Choice(options=similarity.KINDS),
    ),
]

WithinWeight = Annotated[
    float | Mapping[str, float],
    PerDataset(
        "Weight of similarities",
        "How much similarities within a dataset count compared with links.",
        inner=Real(low=0.0, high=1_000.0),
    ),
]

# Parameters of methods for graphs of neighbours.

NearestItems = Annotated[
    int,
    Integer("Neighbours", "How many nearest items stay close to each item.", low=1, high=1000),
]

NeighborGraph = Annotated[
    str,
    Choice("Neighbours are", "What makes two items of a dataset neighbours.", options=GRAPHS),
]

Heat = Annotated[
    bool,
    Flag(
        "Closer counts more",
        "Weight neighbours by their distance.",
        advanced=True,
        details="By a Gaussian of the distance.",
    ),
]

# Parameters of neighbour maps.

Perplexity = Annotated[
    float,
    Real(
        "Neighbours",
        "How many neighbours of each item count. Fewer show finer groups.",
        low=2.0,
        high=500.0,
        log=True,
    ),
]

LinkStrength = Annotated[
    float,
    Real(
        "Link strength",
        "How much links between datasets count compared with similarity within each.",
        low=0.0,
        high=100.0,
        log=True,
    ),
]

SimilarityWeights = Annotated[
    float | Mapping[str, float],
    PerDataset(
        "Weight of datasets",
        "How much the similarities and links of a dataset count.",
        inner=Real(low=0.0, high=100.0),
        advanced=True,
        details="Links between two datasets count by the geometric mean of both weights.",
    ),
]

SimilarityFeatures = Annotated[
    str | Mapping[str, str],
    PerDataset(
        "Features",
        "What makes items of a dataset similar.",
        inner=Choice(options=affinities.KINDS),
        advanced=True,
    ),
]

GuidanceBoost = Annotated[
    float,
    Real(
        "Strength of guidance",
        "How much your links count compared with all other data about an item.",
        low=0.0,
        high=100.0,
        log=True,
        details="1 is the same amount. See `hetviz.features.relations.user_links`.",
    ),
]

CannotLinkStrength = Annotated[
    float,
    Real(
        "Strength of apart links",
        "How hard apart links push.",
        low=0.0,
        high=1.0,
        details="Until the items are half a radius apart.",
    ),
]

Pins = Annotated[
    Sequence[Mapping[str, object]] | None,
    PinList(
        "Pins",
        "Items or groups that are pulled to a place on the map, or to a side.",
        also=(None,),
        advanced=True,
        details=(
            "x and y are shares of the width and height of the box around all items without a pin, "
            "from (0, 0) at the bottom left. The centre of the items is pulled there, so that a "
            "group keeps its shape. A side is the outer quarter, and pulls each item that is not "
            "there. Items that are not in the data are left out with a warning. See "
            "`hetviz.core.layout.pins`."
        ),
    ),
]

PinStrength = Annotated[
    float,
    Real(
        "Strength of pins",
        "How hard pins pull compared with links and similar items.",
        low=0.0,
        high=1.0,
        advanced=True,
        details=(
            "The factor s of the objective s / (2 n) sum ||y_i - target_i||^2 in units of the "
            "layout. 0 is the map without pins."
        ),
    ),
]

TieStrength = Annotated[
    float,
    Real(
        "Tie to the earlier map",
        "How hard items are pulled to their place on the map that the fit starts from.",
        low=0.0,
        high=1.0,
        advanced=True,
        details=(
            "The factor s of s / (2 n) sum ||y_i - earlier_i||^2, as in dynamic t-SNE (Rauber, "
            "Falcão and Telea 2016). It acts if the earlier map is by the same method, and not "
            "together with pins. Items most of whose neighbours are now elsewhere are not tied and "
            "start among these neighbours. 0 is no tie. See `hetviz.embed_periods`."
        ),
    ),
]

LayoutIterations = Annotated[
    NIter,
    Changed(
        help="Number of steps.",
        low=10,
        details="From the start. An eighth of them use exaggeration.",
    ),
]

Exaggeration = Annotated[
    float,
    Real(
        "Exaggeration",
        "How tightly groups form in the first steps.",
        low=1.0,
        high=100.0,
        advanced=True,
    ),
]

# Parameters of projections onto shared axes.

SMOOTHING = Real(
    "Smoothing",
    "Larger values trust single features less.",
    low=0.0,
    high=1e6,
    log=True,
    details="Ridge, relative to the mean variance of the features.",
)
LINKED_SMOOTHING = {
    "help": "Larger values trust single features less. Use more with few links.",
    "details": "Ridge, relative to the mean variance of the linked features.",
}
Smoothing = Annotated[float, SMOOTHING]
LinkedSmoothing = Annotated[Smoothing, Changed(**LINKED_SMOOTHING)]

COMPARED_BY = Choice(
    "Compare items by",
    "How items of one dataset are compared.",
    options={
        "rbf": "a Gaussian kernel (curved maps)",
        "linear": "the features themselves",
        "precomputed": "the kernel or distances given",
    },
    details='Applies to datasets with `features` "auto" that have the needed input.',
)

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

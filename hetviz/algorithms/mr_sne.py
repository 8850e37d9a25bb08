"""MR-SNE: one t-SNE of the neighbours of several datasets and the links between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from hetviz._types import Floats, Ints, Rng, Sparse
from hetviz.algorithms.contract import NEIGHBOR_MAP, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.neighbor_map import NO_GRAPH, NeighborMapEmbedder, sne_fit
from hetviz.algorithms.shared_params import (
    CannotLinkStrength,
    Device,
    Exaggeration,
    GuidanceBoost,
    LayoutIterations,
    LearnGroups,
    LinkStrength,
    NComponents,
    Perplexity,
    Pins,
    PinStrength,
    RandomState,
    SimilarityFeatures,
    SimilarityWeights,
    TieStrength,
    TieViews,
)
from hetviz.core.graph.joint import (
    Balance,
    JointDistribution,
    JointGraph,
    balance_exponent,
    joint_affinities,
    joint_link_part,
)
from hetviz.core.layout.attraction import AttractionGraph
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import NotApplicableError
from hetviz.features.spaces.affinities import own_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import GroupSummary, find_learned_groups
from hetviz.features.spaces.neighbor_map import place_new
from hetviz.features.spaces.sne_map import SneMap, sne_pulls
from hetviz.params import Changed, Choice, Flag, Real, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress

TITLE = "Multimodal relational SNE (MR-SNE)"
MAX_ROWS_ABOVE_TWO_AXES = 20_000
"""Maximum number of items for maps with more than two axes."""


class MRSNE(NeighborMapEmbedder):
    """Stochastic neighbour embedding of several datasets and the links between them.

    Attributes
    ----------
    beta_ : dict of (str, str) to float
        Weight of each block of pairs, of sum 1.

    Notes
    -----
    Minimises KL(P || Q), see `hetviz.core.graph.joint` and `hetviz.core.layout.sne`. Negative
    links never enter P, which must remain a distribution. They are a bounded force instead. Items
    without comparable features and without links have no place. From an earlier map of the same
    method it makes 100 iterations without exaggeration, so that only few items move. Of two newly
    linked items that are far from each other, the one with the weaker attraction first moves to
    the other. Time: O(n^2 d) for the neighbours. An iteration is O(n^2) up to 8,000 items and
    O(n + links) above, and always O(n^2) on more than two axes. Memory: O(n perplexity + links).

    References
    ----------
    M. Mizutani, A. Okuno, G. Kim and H. Shimodaira, Stochastic neighbor embedding of multimodal
    relational data for image-text simultaneous visualization, 2020,
    arXiv:2005.00670: equations 2 to 6 and algorithm 1. Links within datasets, negative links, more
    than two datasets and new items are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="mr-sne",
        title=TITLE,
        family="Neighbour map",
        papers=(
            Reference(
                "M. Mizutani, A. Okuno, G. Kim and H. Shimodaira",
                (
                    "Stochastic neighbor embedding of multimodal relational data for "
                    "image-text simultaneous visualization"
                ),
                "",
                2020,
                arxiv="2005.00670",
            ),
        ),
        equation=(
            r"\min_Y \mathrm{KL}(P \,\Vert\, Q),\quad P = \begin{pmatrix} \beta_1 P_1 &"
            r" \tfrac{\beta_{12}}{2} R \\ \tfrac{\beta_{12}}{2} R^\top & \beta_2 P_2"
            r" \end{pmatrix},\quad q_{ij} \propto (1 + \lVert y_i - y_j \rVert^2)^{-1}"
        ),
        needs=(Need.FEATURES_OR_LINKS,),
        capabilities=NEIGHBOR_MAP,
        summary=(
            "Puts each item close to similar items and to linked items, all datasets in one "
            "picture. Shows groups that linear axes cannot show."
        ),
        caveats=(
            "Close items are similar. Gaps between far groups and the size of a group mean "
            "nothing.",
            "Datasets without links between them share the picture but are not compared.",
            "A higher link strength keeps more links close, but shows fewer true neighbours.",
        ),
        cost="A second for 2,000 items, half a minute for 20,000.",
        former_titles=("Neighbour map with links (MR-SNE)",),
    )
    memory_estimate = MemoryEstimate(base=20e6, per_row=12e3)
    n_components: Annotated[
        NComponents,
        Changed(
            help="How many axes to compute. Two can be plotted.",
            high=50,
            details="More than two axes use exact repulsion of all pairs, for at most "
            f"{MAX_ROWS_ABOVE_TWO_AXES:,} "
            "items. Three axes find hidden links a little better than two (AUC .813 and .789 "
            "on "
            "debian, .750 and .717 on emoji, 3 splits each) and hardly more true neighbours "
            "(trustworthiness .904 and .880, .895 and .884).",
        ),
    ] = 2
    perplexity: Perplexity = 30.0
    link_strength: LinkStrength = 1.0
    balance: Annotated[
        float | str,
        Real(
            "Balance",
            "0 gives each dataset and each set of links the same weight, 1 gives large ones more.",
            low=0.0,
            high=1.0,
            also=("auto",),
            details=(
                "Exponent of the number of pairs of a block. 1 gives the adaptive weights of the "
                'paper. "auto" is 1 if one dataset is more than 5 times as large as another, else '
                "0.5."
            ),
        ),
    ] = "auto"
    normalization: Annotated[
        str,
        Choice(
            "Items with many links",
            "How links of items with many links count.",
            options={
                "unnorm": "all links count the same",
                "norm": "they count somewhat less",
                "pmi": "they count much less",
            },
            details="See `hetviz.core.graph.affinities.link_affinities`.",
        ),
    ] = "unnorm"
    weights: SimilarityWeights = 1.0
    features: SimilarityFeatures = "auto"
    degree_weight: Annotated[
        float,
        Real(
            "Room for hubs",
            "Let items with many links have many close items. 0 is the map of the paper.",
            low=0.0,
            high=1.0,
            advanced=True,
            details="Items repel by this power of their share of all affinities: q_ij is "
            "proportional to those of i and j.",
        ),
    ] = 0.0
    guidance_boost: Annotated[GuidanceBoost, Changed(formerly=("said_strength",))] = 1.0
    cannot_link_strength: CannotLinkStrength = 0.3
    learn_groups: LearnGroups = True
    tie_views: TieViews = True
    pins: Pins = None
    pin_strength: PinStrength = 0.5
    tie: TieStrength = 0.0
    n_iter: LayoutIterations = 400
    exaggeration: Exaggeration = 12.0
    paper: Annotated[
        bool,
        Flag(
            "As in the paper",
            "Steps and start of the paper. Converges more slowly.",
            advanced=True,
            details=(
                "Random start, 500 steps of momentum 0.5, no exaggeration, and links in full even "
                "if they are few."
            ),
        ),
    ] = False
    device: Device = "cpu"
    random_state: RandomState = 0

    def _reasons_against(self, data: HeteroData) -> list[str]:
        if self.n_components <= 2 or data.n_rows <= MAX_ROWS_ABOVE_TWO_AXES:
            return []
        return [
            f"More than two axes need at most {MAX_ROWS_ABOVE_TWO_AXES:,} items, but the data have "
            f"{data.n_rows:,}. Use two axes, or a part of the items."
        ]

    def _fit_from(
        self, data: HeteroData, rng: Rng, progress: Progress, start: Embedding | None
    ) -> Fit:
        if start is None and not self.paper:
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.1))
        part = ProgressPart(progress, 0.1, 0.4)
        graph = joint_graph(data, self._neighbor_affinities, part, self.tie_views, self.weights)
        graph, followers = self._with_learned_groups(data, graph)
        joint = self._joint(graph)
        sne_map = SneMap(
            joint.P, data, graph.negative, self.guidance_boost, self.cannot_link_strength
        )
        return self._run(
            sne_map,
            lambda: self._make_fit(joint, sne_map),
            data,
            rng,
            progress,
            start,
            n_iter=self.n_iter,
            exaggeration=self.exaggeration,
            paper=self.paper,
            degree_weight=self.degree_weight,
            followers=followers,
        )

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph:
        graph = joint_graph(
            data, self._neighbor_affinities, ignore_progress, self.tie_views, self.weights
        )
        graph, _ = self._with_learned_groups(data, graph)
        joint = self._joint(graph)
        return sne_pulls(joint.P, joint_link_part(graph, joint), data, self.guidance_boost)

    def _neighbor_affinities(self, dataset: Dataset, progress: Progress) -> Sparse | None:
        kind = value_for(self.features, dataset.name, "auto")
        return own_affinities(dataset, self.perplexity, kind, self._seed, progress)

    def _with_learned_groups(
        self, data: HeteroData, graph: JointGraph
    ) -> tuple[JointGraph, list[tuple[Ints, Ints]]]:
        """Return the graph with neighbours by learned groups, and the pairs of followers."""
        self._learned: list[GroupSummary] = []
        if not self.learn_groups or self.paper:
            return graph, []

        def linear_affinities(dataset: Dataset) -> Sparse | None:
            return own_affinities(dataset, self.perplexity, "linear", self._seed, ignore_progress)

        learned = find_learned_groups(data, graph, self.features, random_state=self._seed)
        learned = learned.drop_predicted_by_features(data, self.features, self._seed)
        if message := learned.account(data):
            warn_about_data(message)
        self._learned = learned.of_items(data)
        graph = learned.near(data, graph, linear_affinities, self.features, self._seed)
        return graph, learned.followers

    def _joint(self, graph: JointGraph) -> JointDistribution:
        exponent = balance_exponent(self.balance, graph.sizes)
        balance = Balance(exponent, self.link_strength, printed=self.paper)
        joint = joint_affinities(graph, balance, self.normalization)
        if joint is None:
            raise NotApplicableError(self.card.title, [NO_GRAPH])
        return joint

    def _make_fit(self, joint: JointDistribution, sne_map: SneMap) -> Fit:
        names = list(sne_map.placed.offsets)
        self.beta_ = {(names[d], names[e]): share for (d, e), share in joint.beta.items()}
        self._masses = {(names[d], names[e]): mass for (d, e), mass in joint.masses().items()}
        weights = {f"{a} - {b}": share for (a, b), share in self.beta_.items()}
        return sne_fit(
            sne_map,
            {
                "weights": weights,
                "learned": [group.to_dict() for group in self._learned],
            },
            [
                make_diagnostic(
                    "weights",
                    "Weight of datasets and links",
                    "Share of the attraction that comes from neighbours within each dataset, and "
                    "from the links between two datasets.",
                    {(a if a == b else f"links {a} - {b}"): w for (a, b), w in self.beta_.items()},
                    SHARE,
                ),
            ],
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {
            name: place_new(
                rows,
                self._fitted,
                self.embedding_.coordinates,
                value_for(self.features, name, "auto"),
                self._masses.get((name, name), 0.0),
                {other: self._masses.get((name, other), 0.0) for other in self._fitted},
            )
            for name, rows in new.items()
        }

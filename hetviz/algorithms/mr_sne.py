"""MR-SNE: neighbours of several datasets and the links between them, in one t-SNE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Ints, Sparse
from hetviz.algorithms.base import (
    BaseEmbedder,
    Capability,
    Fit,
    MethodCard,
    Need,
    Reference,
    warn_about_data,
)
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.shared_params import Device, LearnGroups, RandomState, TieViews
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
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.features.spaces.affinities import KINDS, own_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import GroupSummary, find_learned_groups
from hetviz.features.spaces.neighbor_map import place_new
from hetviz.features.spaces.sne_map import SneMap, sne_pulls, warm_up
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.params import Choice, Flag, Integer, PerDataset, Real, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress

TITLE = "Neighbour map with links (MR-SNE)"
MOST_WIDE = 20_000
"""Up to so many items more than two axes are drawn."""


class MRSNE(BaseEmbedder):
    """Stochastic neighbour embedding of several datasets and the links between them.

    Attributes
    ----------
    beta_ : dict of (str, str) to float
        Weight of each block of pairs, of sum 1.

    Notes
    -----
    Minimises KL(P || Q), see `hetviz.core.graph.joint` and `hetviz.core.layout.sne`. Links
    that say apart never enter P, which must remain a distribution; they are a bounded force
    besides. An item has no place when it has neither comparable features nor a link. Given an
    earlier map of its own to start from, it makes 100 iterations without exaggeration, so that only
    what must move does; of two that were said to be together and lie far apart, the one that is
    held less where it lies first goes to the other. Time O(n^2 d) for the neighbours; an iteration
    is O(n^2) to 8,000 items and O(n + links) above, on more than two axes always O(n^2). Memory
    O(n perplexity + links).

    References
    ----------
    M. Mizutani, A. Okuno, G. Kim and H. Shimodaira, Stochastic neighbor embedding of multimodal
    relational data for image-text simultaneous visualization, 2020,
    arXiv:2005.00670: equations 2 to 6 and algorithm 1. Links within datasets, links that say apart,
    more than two datasets and new items are additions.
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
        capabilities=frozenset(
            {
                Capability.LINKS,
                Capability.CANNOT_LINKS,
                Capability.WITHIN_LINKS,
                Capability.VIEWS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.FEATURELESS,
                Capability.SPARSE,
                Capability.OUT_OF_SAMPLE,
                Capability.ITERATIVE,
                Capability.WARM_START,
            }
        ),
        summary=(
            "Puts each item next to those most like it and next to those it is linked with, all "
            "datasets in one picture. Shows groups that no straight axes can show."
        ),
        caveats=(
            "Nearness means something, distance between far groups and the size of groups do not.",
            "Datasets that no link joins share the picture without being compared.",
            "More weight on links keeps more of them and fewer neighbours; see the strength of "
            "links.",
        ),
        cost="A second for 2,000 items, half a minute for 20,000.",
    )
    memory_estimate = MemoryEstimate(base=20e6, per_row=12e3)
    n_components: Annotated[
        int,
        Integer(
            "Axes",
            "How many axes to compute; two can be looked at.",
            low=1,
            high=50,
            details=(
                f"Above two all pairs repel each other exactly, to {MOST_WIDE:,} items. Three find "
                "held-out links a little better than two (area under the curve .813 and .789 on "
                "debian, .750 and .717 on emoji, 3 splits each) and neighbours hardly "
                "(trustworthiness .904 and .880, .895 and .884): too little for a picture that has "
                "to be turned, so maps stay flat."
            ),
        ),
    ] = 2
    perplexity: Annotated[
        float,
        Real(
            "Neighbours",
            "About how many neighbours of each item count; fewer show finer groups.",
            low=2.0,
            high=500.0,
            log=True,
        ),
    ] = 30.0
    link_strength: Annotated[
        float,
        Real(
            "Strength of links",
            "How much links between datasets count beside likeness within each.",
            low=0.0,
            high=100.0,
            log=True,
        ),
    ] = 1.0
    balance: Annotated[
        float | str,
        Real(
            "Balance",
            "0 gives each dataset and each set of links the same say, 1 gives large ones more.",
            low=0.0,
            high=1.0,
            also=("auto",),
            details=(
                "Of blocks of pairs; 1, their number of pairs, is the paper's adaptive weights. "
                '"auto" is 1 when one dataset is more than 5 times as large as another, else 0.5.'
            ),
        ),
    ] = "auto"
    normalization: Annotated[
        str,
        Choice(
            "Items with many links",
            "How links of items that have many of them count.",
            options={
                "unnorm": "every link the same",
                "norm": "links of such items somewhat less",
                "pmi": "links of such items much less",
            },
            details="See `hetviz.core.graph.affinities.link_affinities`.",
        ),
    ] = "unnorm"
    weights: Annotated[
        float | Mapping[str, float],
        PerDataset(
            "Weight of datasets",
            "How much the likeness of a dataset's items counts, and its links with it.",
            inner=Real(low=0.0, high=100.0),
            advanced=True,
            details="Links count by the geometric mean of two.",
        ),
    ] = 1.0
    features: Annotated[
        str | Mapping[str, str],
        PerDataset(
            "Features",
            "What makes items of a dataset alike.",
            inner=Choice(options=KINDS),
            advanced=True,
        ),
    ] = "auto"
    degree_weight: Annotated[
        float,
        Real(
            "Room for hubs",
            "Let items with many links have many items near them; 0 is the paper's map.",
            low=0.0,
            high=1.0,
            advanced=True,
            details="Items repel by this power of their share of all affinities: q_ij is in "
            "proportion to those of i and j.",
        ),
    ] = 0.0
    guidance_boost: Annotated[
        float,
        Real(
            "Strength of your word",
            "How much what you say of an item counts beside all else that is known of it.",
            low=0.0,
            high=100.0,
            log=True,
            formerly=("said_strength",),
            details="See `hetviz.features.relations.user_links`; 1 is as much.",
        ),
    ] = 1.0
    cannot_link_strength: Annotated[
        float,
        Real(
            "Strength of apart",
            "How hard links that say apart push.",
            low=0.0,
            high=1.0,
            details="Until they are half a radius apart.",
        ),
    ] = 0.3
    learn_groups: LearnGroups = True
    tie_views: TieViews = True
    n_iter: Annotated[
        int,
        Integer(
            "Iterations",
            "Steps taken.",
            low=10,
            high=10_000,
            advanced=True,
            details="From the start; an eighth of them with exaggeration.",
        ),
    ] = 400
    exaggeration: Annotated[
        float,
        Real(
            "Exaggeration",
            "How tightly groups form in the first steps.",
            low=1.0,
            high=100.0,
            advanced=True,
        ),
    ] = 12.0
    paper: Annotated[
        bool,
        Flag(
            "As in the paper",
            "The paper's own steps and start; slower to settle.",
            advanced=True,
            details=(
                "Random start, 500 steps of momentum 0.5, no exaggeration, and links that count in "
                "full however few they are."
            ),
        ),
    ] = False
    device: Device = "cpu"
    random_state: RandomState = 0

    @classmethod
    def warm_up(cls) -> None:
        """Load the compiled kernels, so that the next fit does not wait for them."""
        warm_up()

    def _reasons_against(self, data: HeteroData) -> list[str]:
        if self.n_components <= 2 or data.n_rows <= MOST_WIDE:
            return []
        return [
            f"More than two axes are drawn to {MOST_WIDE:,} items; there are {data.n_rows:,}. Ask "
            "for two, or take part of the items."
        ]

    def _fit_from(
        self,
        data: HeteroData,
        rng: np.random.Generator,
        progress: Progress,
        start: Embedding | None,
    ) -> Fit:
        if start is None and not self.paper:
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.1))
        part = ProgressPart(progress, 0.1, 0.4)
        whole = joint_graph(data, self._near, part, self.tie_views, self.weights)
        whole, followers = self._taught(data, whole)
        joint = self._joint(whole)
        drawn = SneMap(
            joint.P, data, whole.negative, self.guidance_boost, self.cannot_link_strength
        )
        try:
            drawn.run(
                self.n_components,
                rng,
                ProgressPart(progress, 0.4, 0.95),
                coordinates_of(data, start) if start else None,
                again=self._is_own_map(start),
                n_iter=self.n_iter,
                exaggeration=self.exaggeration,
                paper=self.paper,
                degree_weight=self.degree_weight,
                followers=followers,
            )
        except Cancelled as stopped:
            stopped.partial = self._make_fit(joint, drawn)
            raise
        return self._make_fit(joint, drawn)

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph:
        graph = joint_graph(data, self._near, ignore_progress, self.tie_views, self.weights)
        graph, _ = self._taught(data, graph)
        joint = self._joint(graph)
        return sne_pulls(joint.P, joint_link_part(graph, joint), data, self.guidance_boost)

    def _near(self, dataset: Dataset, progress: Progress) -> Sparse | None:
        kind = value_for(self.features, dataset.name, "auto")
        return own_affinities(dataset, self.perplexity, kind, self.random_state, progress)

    def _taught(
        self, data: HeteroData, graph: JointGraph
    ) -> tuple[JointGraph, list[tuple[Ints, Ints]]]:
        """Return the graph with neighbours by what was learned of named groups, and who follows."""
        self._learned: list[GroupSummary] = []
        if not self.learn_groups or self.paper:
            return graph, []

        def near(dataset: Dataset) -> Sparse | None:
            return own_affinities(
                dataset, self.perplexity, "linear", self.random_state, ignore_progress
            )

        taught = find_learned_groups(data, graph, self.features, random_state=self.random_state)
        taught = taught.unless_features_tell(data, self.features, self.random_state)
        if why := taught.account(data):
            warn_about_data(why)
        self._learned = taught.of_items(data)
        graph = taught.near(data, graph, near, self.features, self.random_state)
        return graph, taught.followers

    def _joint(self, graph: JointGraph) -> JointDistribution:
        exponent = balance_exponent(self.balance, graph.sizes)
        balance = Balance(exponent, self.link_strength, printed=self.paper)
        joint = joint_affinities(graph, balance, self.normalization)
        if joint is None:
            reason = "No item has features that tell items apart, and no link counts."
            raise NotApplicableError(self.card.title, [reason])
        return joint

    def _done(self, joint: JointDistribution, drawn: SneMap) -> Fit:
        names = list(drawn.placed.offsets)
        self.beta_ = {(names[d], names[e]): share for (d, e), share in joint.beta.items()}
        self._masses = {(names[d], names[e]): mass for (d, e), mass in joint.masses().items()}
        weights = {f"{a} - {b}": share for (a, b), share in self.beta_.items()}
        return Fit(
            drawn.placed.by_dataset(drawn.layout.positions),
            n_iter=drawn.layout.n_iter,
            loss_history=drawn.layout.history,
            stopping_reason=drawn.reason,
            diagnostics={
                **drawn.diagnostics,
                "weights": weights,
                "learned": [group.to_dict() for group in self._learned],
            },
            messages=[
                make_diagnostic(
                    "weights",
                    "Weight of datasets and links",
                    "How much of all that pulls items together comes from neighbours within each "
                    "dataset, and from the links of each two.",
                    {(a if a == b else f"links {a} - {b}"): w for (a, b), w in self.beta_.items()},
                    SHARE,
                ),
                drawn.message,
            ],
            components=drawn.placed.components,
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

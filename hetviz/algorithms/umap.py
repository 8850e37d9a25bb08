"""UMAP of several datasets: one graph of fuzzy neighbourhoods and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Sparse
from hetviz.algorithms.base import BaseEmbedder, Capability, Fit, MethodCard, Need, note
from hetviz.algorithms.shared_params import LearnGroups, RandomState, TieViews
from hetviz.core.graph.affinities import LEAST_ROWS
from hetviz.core.graph.joint import JointGraph
from hetviz.core.graph.neighbors import Neighbors
from hetviz.core.layout.guidance_boost import met, spoken_part
from hetviz.core.layout.umap import UmapLayout, fuzzy_graph, fuzzy_union, spread_out
from hetviz.core.spectral.start import carried_on, spectral_start
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.features.relations.user_links import spoken_weights
from hetviz.features.spaces.affinities import KINDS, dataset_neighbors
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.neighbor_map import Placed, place_new
from hetviz.features.spaces.taught import LearnedGroup, taught_by
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.params import Choice, Integer, PerDataset, Real, value_for
from hetviz.progress import Part, Progress, silent

MANY_ROWS = 10_000
"""Above this many items fewer epochs do."""


class UMAP(BaseEmbedder):
    """Uniform manifold approximation and projection of several datasets and their links.

    Notes
    -----
    Minimises the cross entropy of edges in the graph and in the layout, by drawing edges and
    random pairs. The graph is that of umap-learn in each dataset; links are further edges, and
    links that say apart none at all: they are a bounded push besides. It starts from the
    slowest modes of the graph. Given an earlier map of its own it goes on from there with short
    steps. O(n^2 d) time for the neighbours, O(edges) per epoch.

    References
    ----------
    McInnes, Healy and Melville, UMAP: uniform manifold approximation and projection for dimension
    reduction, 2018. Several datasets, links and apart are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="umap",
        title="Neighbour map (UMAP)",
        family="Neighbour map",
        paper="UMAP: uniform manifold approximation and projection for dimension reduction, 2018",
        equation=(
            r"\min_Y -\sum_{ij} w_{ij} \log q_{ij} + (1 - w_{ij}) \log(1 - q_{ij}),\quad"
            r" q_{ij} = (1 + a \lVert y_i - y_j \rVert^{2b})^{-1}"
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
            "Puts each item next to those most like it and next to those it is linked with, in "
            "dense groups with room between them. A well-known method to compare others with."
        ),
        caveats=(
            "Nearness means something, distance between far groups and the size of groups do not.",
            "Datasets that no link joins share the picture without being compared.",
        ),
        cost="A few seconds for 2,000 items, a minute for 20,000.",
    )
    n_components: Annotated[int, Integer("Axes", "How many axes to compute.", low=1, high=3)] = 2
    n_neighbors: Annotated[
        int,
        Integer(
            "Neighbours",
            "How many neighbours of each item count; fewer show finer groups.",
            low=2,
            high=500,
            details="Within its dataset, itself counted.",
        ),
    ] = 15
    min_dist: Annotated[
        float, Real("Least distance", "How near items may lie on the map.", low=0.0, high=2.0)
    ] = 0.1
    link_strength: Annotated[
        float,
        Real(
            "Strength of links",
            "How much a link counts beside a nearest neighbour.",
            low=0.0,
            high=100.0,
            log=True,
            details="The membership of a link of weight 1; a nearest neighbour's is 1.",
        ),
    ] = 1.0
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
    cannot_link_strength: Annotated[
        float,
        Real(
            "Strength of apart",
            "How hard links that say apart push.",
            low=0.0,
            high=1.0,
            details="How much each epoch moves such pairs towards being half a radius apart.",
        ),
    ] = 1.0
    learn_groups: LearnGroups = True
    tie_views: TieViews = True
    n_epochs: Annotated[
        int | None,
        Integer(
            "Epochs",
            "Rounds of drawing pairs.",
            low=10,
            high=10_000,
            also=(None,),
            advanced=True,
            details="None is 500, or 200 above 10,000 items.",
        ),
    ] = None
    random_state: RandomState = 0

    @classmethod
    def warm_up(cls) -> None:
        """Load the compiled kernels, so that the next fit does not wait for them."""
        rng = np.random.default_rng(0)
        index = np.add.outer(np.arange(8), np.array([1, 2])) % 8
        graph = fuzzy_graph(Neighbors(index.astype(np.int64), rng.random((8, 2))))
        UmapLayout(graph, rng.standard_normal((8, 2)), n_epochs=2).run()

    def _fit_from(
        self,
        data: HeteroData,
        rng: np.random.Generator,
        progress: Progress,
        start: Embedding | None,
    ) -> Fit:
        part = Part(progress, 0.0, 0.3)
        whole = joint_graph(data, self._near, part, self.tie_views, self.weights)
        whole = self._taught(data, whole)
        placed = Placed.by(self._graph(whole, data), data)
        if not placed.mask.any():
            reason = "No item has features that tell items apart, and no link counts."
            raise NotApplicableError(self.card.title, [reason])
        progress(0.3, "Finding a start")
        n_epochs = self.n_epochs or (500 if len(placed.mask) <= MANY_ROWS else 200)
        speed = 1.0
        earlier = placed.earlier(coordinates_of(data, start), self.n_components) if start else None
        if earlier is None:
            Y = spread_out(spectral_start(placed.graph, self.n_components, rng), rng)
        else:
            Y = carried_on(placed.graph, earlier, rng)
            if start is not None and start.note == self.card.title:
                n_epochs, speed = max(n_epochs // 10, 1), 0.05
                # At a distance the pull fades, so what was said to be together starts together.
                said = placed.among(spoken_weights(data))
                Y = met(spoken_part(placed.graph, said), Y)
            else:
                Y = spread_out(Y, rng)
        left, right, weight = placed.pairs(whole.negative)
        layout = UmapLayout(
            placed.graph,
            Y,
            n_epochs=n_epochs,
            min_dist=self.min_dist,
            speed=speed,
            apart=(left, right, self.cannot_link_strength * weight),
            random_state=self.random_state,
        )
        try:
            layout.run(Part(progress, 0.35, 0.95), placed.whole)
        except Cancelled as stopped:
            reason = f"stopped after {layout.n_iter:,} epochs"
            stopped.partial = self._done(layout, placed, reason)
            raise
        return self._done(layout, placed, "all epochs made")

    def _near(self, dataset: Dataset, progress: Progress, kind: str | None = None) -> Sparse | None:
        n = len(dataset)
        if n < LEAST_ROWS or value_for(self.weights, dataset.name, 1.0) <= 0:
            return None
        kind = kind or value_for(self.features, dataset.name, "auto")
        k = min(self.n_neighbors, n) - 1
        found = dataset_neighbors(dataset, k, kind, self.random_state, progress)
        return None if found is None else fuzzy_graph(found)

    def _taught(self, data: HeteroData, graph: JointGraph) -> JointGraph:
        """Return the graph with neighbours by what was learned of groups that a person named."""
        self._learned: list[LearnedGroup] = []
        if not self.learn_groups:
            return graph
        taught = taught_by(data, graph, self.features, random_state=self.random_state)
        if why := taught.account(data):
            note(why)
        self._learned = taught.of_items(data)

        def near(dataset: Dataset) -> Sparse | None:
            return self._near(dataset, silent, "linear")

        return taught.near(data, graph, near, self.features, self.random_state)

    def _graph(self, graph: JointGraph, data: HeteroData) -> Sparse:
        """Return the graph of all rows: fuzzy neighbourhoods, and links as further edges."""
        own = graph.near()
        self._alike = {
            name: float(own[rows].sum() / own[rows].shape[0]) for name, rows in data.offsets.items()
        }
        scale = sp.diags_array(np.repeat(np.sqrt(graph.weights), graph.sizes))
        links = (scale @ graph.positive @ scale) * self.link_strength
        both = fuzzy_union(own, links) if self.link_strength <= 1 else own + links
        both = sp.csr_array(both - both.multiply(abs(graph.negative) > 0))
        both.eliminate_zeros()
        return both

    def _done(self, layout: UmapLayout, placed: Placed, reason: str) -> Fit:
        return Fit(
            placed.by_dataset(layout.positions),
            n_iter=layout.n_iter,
            stopping_reason=reason,
            diagnostics={
                "apart far enough": layout.far_enough(),
                "learned": [group.to_dict() for group in self._learned],
            },
            components=placed.components,
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {
            name: place_new(
                rows,
                self._fitted,
                self.embedding_.coordinates,
                value_for(self.features, name, "auto"),
                self._alike[name],
                dict.fromkeys(self._fitted, self.link_strength),
            )
            for name, rows in new.items()
        }

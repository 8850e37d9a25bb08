"""Spectral axes of the joint graph and a t-SNE of them, as a baseline."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._types import Rng, Sparse
from hetviz.algorithms.contract import ANY_FEATURES, Capability, Fit, MethodCard
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.neighbor_map import NO_GRAPH, NeighborMapEmbedder, sne_fit
from hetviz.algorithms.papers import NG_2002, VAN_DER_MAATEN_2008
from hetviz.algorithms.shared_params import (
    Device,
    Perplexity,
    PlaneAxes,
    RandomState,
    SimilarityFeatures,
    TieViews,
)
from hetviz.core.graph.affinities import conditional_affinities, neighbors_needed
from hetviz.core.graph.neighbors import feature_neighbors
from hetviz.core.layout.attraction import AttractionGraph
from hetviz.core.spectral.joint_axes import link_graph, spectral_axes
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import NotApplicableError
from hetviz.features.spaces.joint_axes import symmetric_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.sne_map import SneMap, sne_pulls
from hetviz.params import Changed, Integer, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress


class GraphAxes(NeighborMapEmbedder):
    """Spectral embedding of one graph of neighbours and links, followed by t-SNE.

    Notes
    -----
    Uses the leading modes of the graph of `hetviz.core.spectral.joint_axes.link_graph`, as
    ``joint-spectral`` does, but more of them. Rows are scaled to unit length, and t-SNE draws the
    neighbours among all items. This is the obvious combination of a graph library and t-SNE.

    References
    ----------
    A. Y. Ng, M. I. Jordan and Y. Weiss, On spectral clustering, 2002; L. van der Maaten and
    G. Hinton, Visualizing data using t-SNE, 2008.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="graph-axes",
        title="Spectral axes + neighbour map",
        family="Baseline",
        papers=(NG_2002.with_part("for the axes"), VAN_DER_MAATEN_2008.with_part("for the map")),
        equation=r"Z = \mathrm{unit}(D_\tau^{-1/2} U_{32}),\quad \min_Y \mathrm{KL}(P_Z \Vert Q)",
        needs=(Need.FEATURES_OR_LINKS,),
        capabilities=ANY_FEATURES
        | {
            Capability.LINKS,
            Capability.CANNOT_LINKS,
            Capability.WITHIN_LINKS,
            Capability.FEATURELESS,
            Capability.ITERATIVE,
            Capability.WARM_START,
        },
        summary=(
            "Computes spectral axes of one graph of similar and linked items, and draws a "
            "neighbour map of them. A baseline for joint maps."
        ),
        caveats=(
            "Keeps links close, but shows fewer true neighbours than other neighbour maps.",
            "Close items are similar. Gaps between far groups and the size of a group mean "
            "nothing.",
        ),
        cost="A second for 2,000 items, half a minute for 20,000.",
        former_titles=("Graph axes, then a map",),
    )
    memory_estimate = MemoryEstimate(base=60e6, per_row=20e3)
    # Each needs the eigenvectors of its own graph.
    n_short_refits = 6
    n_components: PlaneAxes = 2
    n_axes: Annotated[
        int, Integer("Graph axes", "How many modes of the graph are used.", low=2, high=200)
    ] = 32
    perplexity: Annotated[
        Perplexity,
        Changed(help="How many neighbours of each item count, in the graph and on the map."),
    ] = 30.0
    features: SimilarityFeatures = "auto"
    tie_views: TieViews = True
    device: Device = "cpu"
    random_state: RandomState = 0

    def _fit_from(
        self, data: HeteroData, rng: Rng, progress: Progress, start: Embedding | None
    ) -> Fit:
        if start is None:
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.05))
        graph = joint_graph(
            data, self._neighbor_affinities, ProgressPart(progress, 0.05, 0.2), self.tie_views
        )
        progress(0.2, "Eigenvectors of the graph")
        links = link_graph(graph)
        Z, _ = spectral_axes(links, [data.n_rows], self.n_axes, self._seed, power=0.0)
        P = self._axes_affinities(Z, ProgressPart(progress, 0.25, 0.4))
        # Rows of unconnected datasets may be neighbours on the axes.
        sne_map = SneMap(P, data, graph.negative, connections=links)
        return self._run(sne_map, lambda: sne_fit(sne_map), data, rng, progress, start)

    def _neighbor_affinities(self, dataset: Dataset, progress: Progress) -> Sparse | None:
        kind = value_for(self.features, dataset.name, "auto")
        return symmetric_affinities(dataset, self.perplexity, kind, self._seed, progress)

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph:
        graph = joint_graph(data, self._neighbor_affinities, ignore_progress, self.tie_views)
        Z, _ = spectral_axes(link_graph(graph), [data.n_rows], self.n_axes, self._seed, power=0.0)
        # The axes contain the links, so the map draws neighbours only.
        P = self._axes_affinities(Z, ignore_progress)
        return sne_pulls(P, sp.csr_array(P.shape), data, joint=True)

    def _axes_affinities(self, Z: np.ndarray, progress: Progress) -> Sparse:
        rows = np.flatnonzero(Z.any(axis=1))
        if len(rows) < 2:
            raise NotApplicableError(self.card.title, [NO_GRAPH])
        k, perplexity = neighbors_needed(len(rows), self.perplexity)
        neighbors = feature_neighbors(Z[rows], k, self._seed, progress, "joint axes")
        affinities = conditional_affinities(neighbors, perplexity)
        P = sp.coo_array((affinities + affinities.T) / (2.0 * len(rows)))
        i, j = P.coords
        shape = (len(Z), len(Z))
        return sp.csr_array((P.data, (rows[i], rows[j])), shape=shape)

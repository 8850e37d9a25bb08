"""Graph axes, then a neighbour map: 32 modes of the joint graph and t-SNE of them; a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._types import Sparse
from hetviz.algorithms.base import BaseEmbedder, Capability, Fit, MethodCard, Need
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.papers import NG_2002, VAN_DER_MAATEN_2008
from hetviz.algorithms.shared_params import Device, RandomState, TieViews
from hetviz.core.graph.affinities import conditional_affinities, neighbors_needed
from hetviz.core.graph.neighbors import feature_neighbors
from hetviz.core.layout.attraction import AttractionGraph
from hetviz.core.spectral.joint_axes import link_graph, spectral_axes
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.features.spaces.affinities import KINDS
from hetviz.features.spaces.joint_axes import symmetric_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.sne_map import SneMap, sne_pulls, warm_up
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.params import Choice, Integer, PerDataset, Real, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress


class GraphAxes(BaseEmbedder):
    """Spectral embedding of one graph of near items and links, drawn by t-SNE.

    Notes
    -----
    The leading modes of the graph of `hetviz.core.spectral.joint_axes.link_graph`, as in
    ``joint-spectral`` but more of them; their rows are scaled to length 1, and t-SNE draws the
    neighbours among all items. What anybody would try first who has a graph library and t-SNE at
    hand.

    References
    ----------
    A. Y. Ng, M. I. Jordan and Y. Weiss, On spectral clustering, 2002; L. van der Maaten and
    G. Hinton, Visualizing data using t-SNE, 2008.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="graph-axes",
        title="Graph axes, then a map",
        family="Baseline",
        papers=(
            NG_2002.with_part("for the axes"),
            VAN_DER_MAATEN_2008.with_part("for the map"),
        ),
        equation=r"Z = \mathrm{unit}(D_\tau^{-1/2} U_{32}),\quad \min_Y \mathrm{KL}(P_Z \Vert Q)",
        needs=(Need.FEATURES_OR_LINKS,),
        capabilities=frozenset(
            {
                Capability.LINKS,
                Capability.WITHIN_LINKS,
                Capability.VIEWS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.FEATURELESS,
                Capability.SPARSE,
                Capability.ITERATIVE,
                Capability.WARM_START,
            }
        ),
        summary=(
            "Puts all items on the slow modes of one graph of near and linked items, and draws a "
            "neighbour map of that. What a joint map has to beat."
        ),
        caveats=(
            "Keeps links well, and neighbours by features less than other neighbour maps.",
            "Nearness means something, distance between far groups and the size of groups do not.",
        ),
        cost="A second for 2,000 items, half a minute for 20,000.",
    )
    memory_estimate = MemoryEstimate(base=60e6, per_row=20e3)
    n_components: Annotated[int, Integer("Axes", "How many axes to compute.", low=1, high=2)] = 2
    n_axes: Annotated[
        int, Integer("Graph axes", "How many modes of the graph are used.", low=2, high=200)
    ] = 32
    perplexity: Annotated[
        float,
        Real(
            "Neighbours",
            "About how many neighbours of each item count, in the graph and on the map.",
            low=2.0,
            high=500.0,
            log=True,
        ),
    ] = 30.0
    features: Annotated[
        str | Mapping[str, str],
        PerDataset(
            "Features",
            "What makes items of a dataset alike.",
            inner=Choice(options=KINDS),
            advanced=True,
        ),
    ] = "auto"
    tie_views: TieViews = True
    device: Device = "cpu"
    random_state: RandomState = 0

    @classmethod
    def warm_up(cls) -> None:
        """Load the compiled kernels, so that the next fit does not wait for them."""
        warm_up()

    def _fit_from(
        self,
        data: HeteroData,
        rng: np.random.Generator,
        progress: Progress,
        start: Embedding | None,
    ) -> Fit:
        if start is None:
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.05))
        graph = joint_graph(data, self._near, ProgressPart(progress, 0.05, 0.2), self.tie_views)
        progress(0.2, "Slow modes of the graph")
        Z, _ = spectral_axes(
            link_graph(graph), [data.n_rows], self.n_axes, self.random_state, power=0.0
        )
        P = self._neighbours(Z, ProgressPart(progress, 0.25, 0.4))
        drawn = SneMap(P, data, graph.negative)
        try:
            drawn.run(
                self.n_components,
                rng,
                ProgressPart(progress, 0.4, 0.95),
                coordinates_of(data, start) if start else None,
                again=self._is_own_map(start),
            )
        except Cancelled as stopped:
            stopped.partial = self._make_fit(drawn)
            raise
        return self._make_fit(drawn)

    def _near(self, dataset: Dataset, share: Progress) -> Sparse | None:
        kind = value_for(self.features, dataset.name, "auto")
        return symmetric_affinities(dataset, self.perplexity, kind, self.random_state, share)

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph:
        graph = joint_graph(data, self._near, ignore_progress, self.tie_views)
        Z, _ = spectral_axes(
            link_graph(graph), [data.n_rows], self.n_axes, self.random_state, power=0.0
        )
        # Links are in the axes: what is near on them is all that the map draws.
        P = self._neighbours(Z, ignore_progress)
        return sne_pulls(P, sp.csr_array(P.shape), data, joint=True)

    def _neighbours(self, Z: np.ndarray, progress: Progress) -> Sparse:
        known = np.flatnonzero(Z.any(axis=1))
        if len(known) < 2:
            reason = "No item has features that tell items apart, and no link counts."
            raise NotApplicableError(self.card.title, [reason])
        k, perplexity = neighbors_needed(len(known), self.perplexity)
        found = feature_neighbors(Z[known], k, self.random_state, progress, "joint axes")
        near = conditional_affinities(found, perplexity)
        P = sp.coo_array((near + near.T) / (2.0 * len(known)))
        i, j = P.coords
        shape = (len(Z), len(Z))
        return sp.csr_array((P.data, (known[i], known[j])), shape=shape)

    def _done(self, drawn: SneMap) -> Fit:
        return Fit(
            drawn.placed.by_dataset(drawn.layout.positions),
            n_iter=drawn.layout.n_iter,
            loss_history=drawn.layout.history,
            stopping_reason=drawn.reason,
            diagnostics=drawn.diagnostics,
            messages=[drawn.message],
            components=drawn.placed.components,
        )

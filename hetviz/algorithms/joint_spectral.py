"""Spectral embedding of the joint graph, as a baseline of joint maps."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Rng, Sparse
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import ANY_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import QIN_2013
from hetviz.algorithms.shared_params import (
    DrawnBy,
    NComponents,
    Perplexity,
    RandomState,
    SimilarityFeatures,
    TieViews,
)
from hetviz.core.spectral.joint_axes import degrees, link_graph, spectral_axes
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic, number_values
from hetviz.features.relations.pairing import connected_datasets
from hetviz.features.spaces.joint_axes import symmetric_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.params import Changed, value_for
from hetviz.progress import Progress, ProgressPart


class JointSpectral(BaseEmbedder):
    """Laplacian eigenmap of one graph of neighbours and links.

    Notes
    -----
    The leading eigenvectors of (D + tau)^-1/2 A (D + tau)^-1/2 without the constant one, divided
    by the root of the degree. A has (P + P') / 2 within each dataset and the weights of all links.
    tau is .3 of the median degree. Items without neighbours and links have no place. Time: O(n^2)
    for the neighbours, O(nnz) for each step of the eigensolver.

    References
    ----------
    M. Belkin and P. Niyogi, Laplacian eigenmaps for dimensionality reduction and data
    representation, 2003; the regularisation is that of Qin and Rohe, 2013.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="joint-spectral",
        title="Spectral embedding of the joint graph",
        family="Baseline",
        papers=(
            Reference(
                "M. Belkin and P. Niyogi",
                ("Laplacian eigenmaps for dimensionality reduction and data representation"),
                "Neural Computation 15, 1373-1396",
                2003,
                doi="10.1162/089976603321780317",
            ),
            QIN_2013.with_part("for the regularisation"),
        ),
        equation=r"\min_Y \sum_{ij} a_{ij} \lVert y_i - y_j \rVert^2\ \text{s.t.}\ Y^\top D Y = I",
        needs=(Need.FEATURES_OR_LINKS,),
        capabilities=ANY_FEATURES
        | {
            Capability.LINKS,
            Capability.CANNOT_LINKS,
            Capability.WITHIN_LINKS,
            Capability.FEATURELESS,
        },
        summary=(
            "Draws similar and linked items of all datasets as one graph, along the leading "
            "eigenvectors of the graph. A baseline for joint maps."
        ),
        caveats=(
            "Two axes show only the coarsest groups. Finer groups overlap.",
            "Items with many links have a strong influence.",
        ),
        cost="A second for 2,000 items, ten for 20,000.",
    )
    memory_estimate = MemoryEstimate(base=15e6, per_row=10e3)
    n_components: NComponents = 2
    perplexity: Annotated[
        Perplexity, Changed(help="How many neighbours of each item count within its dataset.")
    ] = 30.0
    features: SimilarityFeatures = "auto"
    tie_views: TieViews = True
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        def neighbor_affinities(dataset: Dataset, share: Progress) -> Sparse | None:
            kind = value_for(self.features, dataset.name, "auto")
            return symmetric_affinities(dataset, self.perplexity, kind, self._seed, share)

        graph = joint_graph(
            data, neighbor_affinities, ProgressPart(progress, 0.0, 0.6), self.tie_views
        )
        A = link_graph(graph)
        progress(0.6, "Eigenvectors of the graph")
        Y, values = spectral_axes(
            A, [data.n_rows], self.n_components, self._seed, power=0.0, unit_rows=False
        )
        Y = np.hstack([Y, np.zeros((len(Y), self.n_components - Y.shape[1]))])
        Y[degrees(A, 1) == 0] = np.nan
        return Fit(
            {name: Y[rows] for name, rows in data.offsets.items()},
            diagnostics={"eigenvalues": values.tolist()},
            messages=[
                make_diagnostic(
                    "eigenvalues",
                    "How well each axis keeps neighbours together",
                    "How similar neighbours and linked items are along each axis: 1 is equal, 0 as "
                    "different as random pairs (the eigenvalue of the axis).",
                    number_values(values.tolist(), "axis"),
                )
            ],
            components=connected_datasets(data, A),
        )

"""Locality preserving projection (LPP): linear maps that keep neighbours close."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hetviz._types import Rng
from hetviz.algorithms.base import ProjectionEmbedder
from hetviz.algorithms.contract import Capability, Fit, MethodCard, Reference
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    AxisScale,
    DrawnBy,
    FeatureKinds,
    Heat,
    NComponents,
    NearestItems,
    NeighborGraph,
    RandomState,
    Smoothing,
)
from hetviz.data import HeteroData
from hetviz.features.spaces.joint_graph import neighborhood_graph
from hetviz.features.spaces.projection import fit_bases
from hetviz.progress import Progress


class LPP(ProjectionEmbedder):
    """Locality preserving projection of each dataset separately.

    Attributes
    ----------
    smoothness_ : array of shape (n_datasets, n_components)
        mu = 1 - lambda of each axis, by dataset in order: 1 if neighbours coincide.
    coefficients_ : dict of str to DataFrame
        By dataset with plain features: how far one standard deviation of each feature moves an
        item along each axis.

    Notes
    -----
    min a'X'(D - A)X a subject to a'(X'D X + gamma)a = 1, with the graph A and its degrees D. The
    features are centred by D, which removes the constant solution. Without features the map is
    the Laplacian eigenmap of the links. Axes have unit variance, weighted by D.
    Cost: O(n^2 d) for the neighbours, and O(n d^2 + d^3).

    References
    ----------
    X. He and P. Niyogi, Locality preserving projections, NIPS 2003.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="lpp",
        title="Locality preserving projection",
        family="Projection",
        papers=(
            Reference(
                "X. He and P. Niyogi",
                "Locality preserving projections",
                "Advances in Neural Information Processing Systems 16",
                2003,
            ),
        ),
        equation=r"\min_a\ a^\top X^\top (D - A) X a\ \ \text{s.t.}\ \ a^\top X^\top D X a = 1",
        needs=(Need.DESCRIBED,),
        capabilities=frozenset(
            {
                Capability.WITHIN_LINKS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.FEATURELESS,
                Capability.SPARSE,
                Capability.OUT_OF_SAMPLE,
            }
        ),
        summary=(
            "Maps each dataset separately so that similar items, and items linked within the "
            "dataset, stay close. It shows the structure of each dataset before they are joined."
        ),
        caveats=(
            "Datasets share the picture, but their axes mean different things. Links between "
            "datasets are not used.",
            "Items without features and without links in their dataset are left off the map.",
        ),
        cost="Seconds to 20,000 items per dataset, minutes to 200,000.",
    )
    memory_estimate = MemoryEstimate(base=40e6, per_row=10e3)
    n_components: NComponents = 2
    n_neighbors: NearestItems = 10
    graph: NeighborGraph = "both"
    gamma: Smoothing = 0.01
    heat: Heat = True
    features: FeatureKinds = "auto"
    axis_scale: AxisScale = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        bases = fit_bases(data, progress, self.features, random_state=self._seed)
        A = neighborhood_graph(
            data, bases, self.graph, self.n_neighbors, self.heat, self._seed, progress
        )
        progress(0.8, "Solving for the axes")
        fitted = self._solve(bases, A)
        degrees = np.asarray(A.sum(axis=1)).ravel()
        # Each dataset is a separate problem, so its axes are scaled separately.
        self._projection = fitted.enlarged(
            {name: float(np.sqrt(degrees[rows].sum())) for name, rows in data.offsets.items()}
        )
        self.smoothness_ = self._projection.guided.mu
        self.coefficients_ = self._projection.coefficients(data)
        return self._projected(data, "no neighbours and no links")

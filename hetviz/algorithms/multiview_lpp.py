"""Multi-view locality preserving projection: maps that keep neighbours and pairs close."""

from __future__ import annotations

from typing import Annotated, ClassVar

from hetviz._types import Rng
from hetviz.algorithms.base import ProjectionEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Capability, Fit, MethodCard
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import GRESS_2014
from hetviz.algorithms.shared_params import (
    AxisScale,
    DatasetWeights,
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
from hetviz.features.spaces.projection import fit_bases, guidance_of, weighted
from hetviz.params import Real
from hetviz.progress import Progress


class MultiviewLPP(ProjectionEmbedder):
    """One map of several views that keeps neighbours within and pairs between views close.

    Attributes
    ----------
    agreement_ : array of shape (n_datasets, n_components)
        mu of each axis, by dataset in order: 1 if neighbours and pairs coincide.
    coefficients_ : dict of str to DataFrame
        By dataset with plain features: how far one standard deviation of each feature moves an
        item along each axis.

    Notes
    -----
    Maximises p'Z'S Z p subject to p'(Z'D Z + gamma)p = 1 with S = [[A_1, t P], [t P', A_2]],
    neighbours A_v in view v, pairs P (the identity for views of the same rows), their weight t and
    row sums D. Pairs are rows with the same id in views of an entity, and links between datasets.
    Cost: O(n^2 d) for the neighbours, and O(n d^2 + d^3) for d features in all.

    References
    ----------
    As a special case in: A. Gress and I. Davidson, A flexible framework for projecting
    heterogeneous data, CIKM 2014.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="multiview-lpp",
        title="Multi-view locality preserving projection",
        family="Projection",
        papers=(GRESS_2014.with_part("where it is a special case"),),
        equation=(
            r"\max_p\ p^\top Z^\top S Z p,\quad"
            r" S = \begin{pmatrix} A_1 & tI \\ tI & A_2 \end{pmatrix}"
        ),
        needs=(Need.LINKED_DATASETS, Need.SOME_FEATURES),
        capabilities=LINKED_FEATURES | {Capability.WITHIN_LINKS},
        summary=(
            "Maps several views of the same items, or linked datasets, onto shared axes. Paired "
            "items, and similar items of each dataset, are close."
        ),
        caveats=(
            "There are more neighbours within datasets than pairs between them. Raise the weight "
            "of pairs if linked items are too far from each other.",
            "Apart links are not used.",
        ),
        cost="Seconds to 20,000 items per dataset, minutes to 200,000.",
    )
    memory_estimate = MemoryEstimate(base=40e6, per_row=10e3)
    n_components: NComponents = 2
    n_neighbors: NearestItems = 10
    pairing: Annotated[
        float,
        Real(
            "Weight of pairs",
            "How much one pair counts compared with one pair of neighbours.",
            low=1e-6,
            high=1e6,
            log=True,
        ),
    ] = 1.0
    graph: NeighborGraph = "both"
    gamma: Smoothing = 0.01
    heat: Heat = True
    weights: DatasetWeights = 1.0
    features: FeatureKinds = "auto"
    axis_scale: AxisScale = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        bases = fit_bases(data, progress, self.features, random_state=self._seed)
        A = neighborhood_graph(
            data, bases, self.graph, self.n_neighbors, self.heat, self._seed, progress
        )
        pairs = guidance_of(data, sign=1, within=False)
        progress(0.8, "Solving for the shared axes")
        W = weighted(A + self.pairing * pairs, data, self.weights)
        self._projection = self._solve(bases, W)
        self.agreement_ = self._projection.guided.mu
        self.coefficients_ = self._projection.coefficients(data)
        return self._projected(data, "no neighbours and no links")

"""Canonical correlation analysis (CCA): directions in which linked rows agree most."""

from __future__ import annotations

from typing import Annotated, ClassVar

from hetviz._types import Rng
from hetviz.algorithms.base import ProjectionEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Fit, MethodCard, Reference
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    AxisScale,
    DatasetWeights,
    DrawnBy,
    FeatureKinds,
    NComponents,
    RandomState,
    Smoothing,
)
from hetviz.data import HeteroData
from hetviz.features.spaces.projection import fit_bases, guidance_of
from hetviz.params import Changed
from hetviz.progress import Progress


class CCA(ProjectionEmbedder):
    """Canonical correlation analysis of two or more datasets, rows paired by id or by links.

    Attributes
    ----------
    correlations_ : array of shape (n_datasets, n_components)
        Canonical correlations, by dataset in order. With more than two datasets, the
        agreement mu of the joint problem.
    coefficients_ : dict of str to DataFrame
        By dataset with plain features: how far one standard deviation of each feature moves an
        item along each axis.

    Notes
    -----
    Two datasets: max corr(X a, Y b) over the pairs. Any number of datasets, and many-to-many pairs
    of weight w: maximises sum_uv a_u'X_u'W_uv X_v a_v subject to
    sum_v a_v'(X_v'D_v X_v + gamma)a_v = 1. For two datasets this equals the analysis of rows
    repeated pair by pair.
    Cost: O(n d^2 + d^3) for d features in all, and O(d) per link.

    References
    ----------
    H. Hotelling, Relations between two sets of variates, Biometrika 1936.
    doi:10.1093/biomet/28.3-4.321
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="cca",
        title="Canonical correlations",
        family="Projection",
        papers=(
            Reference(
                "H. Hotelling",
                "Relations between two sets of variates",
                "Biometrika 28, 321-377",
                1936,
                doi="10.1093/biomet/28.3-4.321",
            ),
        ),
        equation=r"\max_{a,b}\ \mathrm{corr}(X a,\, Y b)",
        needs=(Need.LINKED_DATASETS, Need.SOME_FEATURES),
        capabilities=LINKED_FEATURES,
        summary=(
            "Finds the directions in which paired items of different datasets rise and fall "
            "together. Pairs are items with the same id in several views, or linked items."
        ),
        caveats=(
            "If all links are between datasets, it finds the same directions as CDMCA and guided "
            "projection. Only the smoothing differs.",
            "It does not use links within a dataset or apart links.",
            "With more features than pairs, everything can agree by chance. Raise the smoothing.",
        ),
        cost="A second to 100,000 items of 100 features.",
    )
    n_components: NComponents = 2
    gamma: Annotated[
        Smoothing,
        Changed(
            help="0 is the textbook form. Larger values trust single features less.",
            details="Ridge, relative to the mean variance of the paired features.",
        ),
    ] = 0.01
    weights: DatasetWeights = 1.0
    features: FeatureKinds = "auto"
    axis_scale: AxisScale = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        W = guidance_of(data, sign=1, within=False, weights=self.weights)
        bases = fit_bases(data, progress, self.features, random_state=self._seed)
        progress(0.6, "Solving for the shared axes")
        self._projection = self._solve(bases, W)
        self.correlations_ = self._projection.guided.mu
        self.coefficients_ = self._projection.coefficients(data)
        return self._projected(data, "no pairs with another dataset")

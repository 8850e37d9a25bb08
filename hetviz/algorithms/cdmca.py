"""CDMCA: linear maps that bring linked rows of any number of datasets close."""

from __future__ import annotations

from typing import ClassVar

from hetviz._types import Rng
from hetviz.algorithms.base import ProjectionEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Capability, Fit, MethodCard
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import SHIMODAIRA_2016
from hetviz.algorithms.shared_params import (
    AxisScale,
    DatasetWeights,
    DrawnBy,
    FeatureKinds,
    LinkedSmoothing,
    NComponents,
    RandomState,
    TieViews,
)
from hetviz.data import HeteroData
from hetviz.features.spaces.projection import fit_bases, guidance_of
from hetviz.progress import Progress


class CDMCA(ProjectionEmbedder):
    """Cross-domain matching correlation analysis: one linear map per dataset.

    Attributes
    ----------
    agreement_ : array of shape (n_datasets, n_components)
        mu of each axis, by dataset in order: 1 if linked rows coincide, 0 without agreement.
    coefficients_ : dict of str to DataFrame
        By dataset with plain features: how far one standard deviation of each feature moves an
        item along each axis.

    Notes
    -----
    Maximises sum_uv a_u'X_u'W_uv X_v a_v subject to sum_v a_v'(X_v'D_v X_v + gamma)a_v = 1, W >= 0
    within and between datasets. With two datasets and links between them it gives canonical
    correlations of the linked pairs. Without features it is correspondence analysis of the links.
    Cost: O(n d^2 + d^3) for d features in all, and O(d) per link.

    References
    ----------
    H. Shimodaira, Cross-validation of matching correlation analysis by resampling matching
    weights, Neural Networks 2016. doi:10.1016/j.neunet.2015.12.007
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="cdmca",
        title="Cross-domain matching correlation analysis (CDMCA)",
        family="Projection",
        papers=(SHIMODAIRA_2016,),
        equation=(
            r"\max_{A_1..A_m} \sum_{u,v} \mathrm{tr}\, A_u^\top X_u^\top W_{uv} X_v A_v"
            r"\ \text{s.t.}\ \sum_v A_v^\top X_v^\top D_v X_v A_v = I"
        ),
        needs=(Need.POSITIVE_LINKS, Need.SOME_FEATURES),
        capabilities=LINKED_FEATURES | {Capability.WITHIN_LINKS},
        summary=(
            "Turns the features of any number of datasets into shared axes on which linked items "
            "are as close as possible."
        ),
        caveats=(
            "Without apart links it finds the same directions as guided projection. Only the "
            "smoothing differs.",
            "Apart links are not used.",
            "Datasets without links are left off the map.",
        ),
        cost="A second to 100,000 items of 100 features.",
        former_titles=("Cross-domain matching",),
    )
    n_components: NComponents = 2
    gamma: LinkedSmoothing = 0.01
    tie_views: TieViews = True
    weights: DatasetWeights = 1.0
    features: FeatureKinds = "auto"
    axis_scale: AxisScale = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        W = guidance_of(data, sign=1, tie_views=self.tie_views, weights=self.weights)
        bases = fit_bases(data, progress, self.features, random_state=self._seed)
        progress(0.6, "Solving for the shared axes")
        self._projection = self._solve(bases, W)
        self.agreement_ = self._projection.guided.mu
        self.coefficients_ = self._projection.coefficients(data)
        return self._projected(data, "no links")

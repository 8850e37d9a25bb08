"""Exact embedding of a consistent partial order, on as many axes as it needs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hetviz._types import Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.comparison_order import ordered_objects
from hetviz.algorithms.contract import Capability, Fit, MethodCard
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import MCFEE_2011
from hetviz.algorithms.shared_params import Contradictions, DrawnBy, NComponents, RandomState
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.constant_shift import embed_by_constant_shift
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.features.problems.comparison_problems import compared_objects, rows_from_objects
from hetviz.progress import Progress

MAX_OBJECTS = 4_000


class PartialOrderEmbedding(BaseEmbedder):
    """Constant-shift embedding of a consistent partial order.

    Attributes
    ----------
    order_ : PartialOrder
        The comparisons after removing contradictions.
    shift_ : float
        lambda: squared distances are the levels of the order minus twice this value.

    Notes
    -----
    See `hetviz.core.ordinal.constant_shift`. If the shift is large, distances are nearly equal and
    few axes show little of them. `diagnostics_` gives the share of comparisons that hold on the
    shown axes. O(n^3) time and O(n^2) memory for n compared items, at most 4,000.

    References
    ----------
    B. McFee and G. Lanckriet, Learning multi-modal similarity, JMLR 12, 2011, appendix A; V. Roth
    et al., Optimal cluster preserving embedding of nonmetric proximity data, 2003.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="partial-order",
        title="Partial order embedding",
        family="Comparisons",
        papers=(MCFEE_2011.with_part("appendix A"),),
        equation=(
            r"\lVert x_i - x_j \rVert^2 = \Delta_{ij} - 2 \lambda_{\min},\quad \Delta_{ij} ="
            r" 1 + \max_{(k,l) \prec (i,j)} \Delta_{kl}"
        ),
        needs=(Need.COMPARISONS,),
        capabilities=frozenset({Capability.COMPARISONS, Capability.FEATURELESS}),
        summary=(
            "Finds a map on which all comparisons hold that do not contradict each other, with as "
            "many axes as needed. Needs no features."
        ),
        caveats=(
            "The picture shows two of many axes, on which fewer comparisons hold. Other "
            "methods for comparisons give better pictures.",
            "Items without comparisons are left off the map, and new items cannot be added.",
            "Pairs that were never compared count as close.",
        ),
        cost="A second for 1,000 compared items, at most 4,000.",
        former_titles=("Exact map of an order",),
    )
    memory_estimate = MemoryEstimate(per_compared_pair=38.0)
    n_components: NComponents = 2
    contradictions: Contradictions = "prune"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _reasons_against(self, data: HeteroData) -> list[str]:
        objects, _, _ = compared_objects(data)
        if len(objects) <= MAX_OBJECTS:
            return []
        return [f"It places at most {MAX_OBJECTS:,} items, but {len(objects):,} are compared."]

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        progress(0.05, "Ordering pairs")
        self.order_, objects, retained = ordered_objects(
            data,
            self.card.title,
            contradictions=self.contradictions,
            random_state=self._seed,
        )
        progress(0.2, "Solving for the axes")
        solution = embed_by_constant_shift(len(objects), retained)
        self.shift_ = solution.shift
        Y = np.zeros((len(objects), self.n_components))
        k = min(self.n_components, solution.positions.shape[1])
        Y[:, :k] = solution.positions[:, :k]
        variances = (solution.positions**2).sum(axis=0)
        return Fit(
            rows_from_objects(data, objects, Y),
            diagnostics={
                "comparisons": self.order_.counts,
                "levels": solution.levels,
                "shift": solution.shift,
                "axes_of_the_whole": solution.positions.shape[1],
                "variance_on_these_axes": float(variances[:k].sum() / (variances.sum() or 1.0)),
                "kept_by_the_whole": comparison_accuracy(solution.positions, retained),
                "kept_on_these_axes": comparison_accuracy(Y, retained),
            },
            messages=[
                make_diagnostic(
                    "kept",
                    "Comparisons that hold",
                    "Share of the comparisons that hold on all axes and on the shown axes, and the "
                    "share of the variance on the shown axes. If much is lost, use more axes.",
                    {
                        "comparisons, on all axes": comparison_accuracy(
                            solution.positions, retained
                        ),
                        "comparisons, on these axes": comparison_accuracy(Y, retained),
                        "variance on these axes": float(
                            variances[:k].sum() / (variances.sum() or 1.0)
                        ),
                    },
                    SHARE,
                )
            ],
        )

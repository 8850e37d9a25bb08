"""Exact map of a consistent order: every comparison kept, on as many axes as that takes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hetviz.algorithms.base import BaseEmbedder, Capability, Fit, MethodCard, Need, warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.papers import MCFEE_2011
from hetviz.algorithms.shared_params import Contradictions, DrawnBy, NComponents, RandomState
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.constant_shift import constant_shift
from hetviz.core.ordinal.partial_order import partial_order
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.errors import NotApplicableError
from hetviz.features.relations.comparison_problems import compared_objects, rows_from_objects
from hetviz.progress import Progress

MOST_OBJECTS = 4_000


class PartialOrderEmbedding(BaseEmbedder):
    """Constant-shift embedding of a consistent partial order.

    Attributes
    ----------
    order_ : PartialOrder
        What became of the comparisons.
    shift_ : float
        lambda: squared distances are the levels of the order less twice this.

    Notes
    -----
    See `hetviz.core.ordinal.constant_shift`. Distances are nearly equal when the shift is large,
    and few axes then show little of them; `diagnostics_` says how many comparisons remain true on
    the axes shown. O(n^3) time and O(n^2) memory for n items compared, at most 4,000.

    References
    ----------
    B. McFee and G. Lanckriet, Learning multi-modal similarity, JMLR 12, 2011, appendix A; V. Roth
    et al., Optimal cluster preserving embedding of nonmetric proximity data, 2003.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="partial-order",
        title="Exact map of an order",
        family="Comparisons",
        papers=(MCFEE_2011.with_part("appendix A"),),
        equation=(
            r"\lVert x_i - x_j \rVert^2 = \Delta_{ij} - 2 \lambda_{\min},\quad \Delta_{ij} ="
            r" 1 + \max_{(k,l) \prec (i,j)} \Delta_{kl}"
        ),
        needs=(Need.COMPARISONS,),
        capabilities=frozenset({Capability.COMPARISONS, Capability.FEATURELESS}),
        summary=(
            "Shows that comparisons can all be true at once: on as many axes as it takes, every "
            "one that contradicts no other is kept exactly. Needs no features."
        ),
        caveats=(
            "The picture has two of many axes and keeps fewer comparisons than the whole; to "
            "look at, the other methods for comparisons are better.",
            "Items in no comparison are left off the map, and new items cannot be added.",
            "Pairs that were never compared count as near.",
        ),
        cost="A second for 1,000 items compared; at most 4,000.",
    )
    memory_estimate = MemoryEstimate(per_compared_pair=38.0)
    n_components: NComponents = 2
    contradictions: Contradictions = "prune"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _reasons_against(self, data: HeteroData) -> list[str]:
        objects, _, _ = compared_objects(data)
        if len(objects) <= MOST_OBJECTS:
            return []
        return [f"It places {MOST_OBJECTS:,} items at most; {len(objects):,} are compared."]

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        objects, pairs, weight = compared_objects(data)
        progress(0.05, "Ordering pairs")
        self.order_ = partial_order(
            pairs,
            weight,
            contradictions=self.contradictions,
            reduce=False,
            random_state=self.random_state,
        )
        if not len(self.order_.pairs):
            reason = "No comparison remains after those that contradict each other."
            raise NotApplicableError(self.card.title, [reason])
        used, local = np.unique(self.order_.pairs, return_inverse=True)
        objects, kept = objects[used], local.reshape(-1, 4)
        left = data.n_objects - len(objects)
        if left:
            warn_about_data(f"{left:,} items are in no comparison that counts: left off the map.")
        progress(0.2, "Solving for the axes")
        found = constant_shift(len(objects), kept)
        self.shift_ = found.shift
        Y = np.zeros((len(objects), self.n_components))
        k = min(self.n_components, found.positions.shape[1])
        Y[:, :k] = found.positions[:, :k]
        size = (found.positions**2).sum(axis=0)
        return Fit(
            rows_from_objects(data, objects, Y),
            diagnostics={
                "comparisons": self.order_.counts,
                "levels": found.levels,
                "shift": found.shift,
                "axes_of_the_whole": found.positions.shape[1],
                "variance_on_these_axes": float(size[:k].sum() / (size.sum() or 1.0)),
                "kept_by_the_whole": comparison_accuracy(found.positions, kept),
                "kept_on_these_axes": comparison_accuracy(Y, kept),
            },
            messages=[
                make_diagnostic(
                    "kept",
                    "What the order keeps",
                    "Share of the comparisons that hold on all axes that the order needs, and on "
                    "the axes shown; and how much of the spread of the items the axes shown have. "
                    "Where much is lost, take more axes.",
                    {
                        "comparisons, on all axes": comparison_accuracy(found.positions, kept),
                        "comparisons, on these axes": comparison_accuracy(Y, kept),
                        "variance on these axes": float(size[:k].sum() / (size.sum() or 1.0)),
                    },
                    SHARE,
                )
            ],
        )

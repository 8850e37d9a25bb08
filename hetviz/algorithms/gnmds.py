"""GNMDS: a map from comparisons alone, without features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Ints, Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.comparison_order import ordered_objects
from hetviz.algorithms.contract import Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    MAX_POLISHED_AXES,
    QUICK_TOL,
    Contradictions,
    DrawnBy,
    NComponents,
    Order,
    Polish,
    RandomState,
    Tol,
)
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.embedding import Hinge
from hetviz.core.ordinal.fixed_rank import FixedRankEmbedding, critical_beta_for, embed_fixed_rank
from hetviz.core.ordinal.polish import choose_pull, polish_map
from hetviz.core.ordinal.soft_ordinal import N_STARTS, embed_soft_ordinal
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import optimum_diagnostics
from hetviz.errors import Cancelled, ConvergenceWarning, NotApplicableError
from hetviz.features.problems.comparison_problems import rows_from_objects
from hetviz.params import Choice, Real
from hetviz.progress import Progress, ProgressPart

_REFIT_PASSES = 10
"""Passes of the fit that tests how far points may move; more do not change what is held out."""


class GNMDS(BaseEmbedder):
    """Generalized non-metric multidimensional scaling.

    Attributes
    ----------
    gap_ : float
        (objective - bound) / objective of the convex problem; NaN with `loss="soft"`.
    critical_beta_ : float
        NaN with `loss="soft"`.
    order_ : PartialOrder
        The comparisons after removing contradictions.

    Notes
    -----
    Minimises tr(M) + beta / |C| sum_c [1 + d_ij - d_kl]_+ over M >= 0 with
    d_ij = M_ii + M_jj - 2 M_ij: partial order embedding with the identity as features, so the map
    is centred. A final step moves points as far as held-out comparisons confirm, see
    `hetviz.core.ordinal.polish`. Items of all datasets are used, and rows of one object are one
    item. Items without comparisons have no place. `loss="soft"` minimises
    sum_c [1 + d_ij - d_kl]_+^2 / |C| with d not squared, from ten starts; with three draws of each
    of twelve planted sets it kept as many other comparisons as the default within two standard
    errors. Cost: see `hetviz.core.ordinal.embedding`, with n and r the number of compared items.
    The final step costs up to three times as much again.

    References
    ----------
    S. Agarwal et al., Generalized non-metric multidimensional scaling, AISTATS 2007.
    Y. Terada and U. von Luxburg, Local ordinal embedding, ICML 2014: `loss="soft"`.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="gnmds",
        title="Generalised non-metric MDS (GNMDS)",
        family="Comparisons",
        papers=(
            Reference(
                ("S. Agarwal, J. Wills, L. Cayton, G. Lanckriet, D. Kriegman and S. Belongie"),
                "Generalized non-metric multidimensional scaling",
                ("International Conference on Artificial Intelligence and Statistics (AISTATS)"),
                2007,
            ),
        ),
        equation=(
            r"\min_{M \succeq 0} \mathrm{tr}(M) + \frac{\beta}{|C|} \sum_{(i,j,k,l) \in C}"
            r"[1 + d_{ij} - d_{kl}]_+"
        ),
        needs=(Need.COMPARISONS,),
        capabilities=frozenset(
            {Capability.COMPARISONS, Capability.FEATURELESS, Capability.ITERATIVE}
        ),
        summary=(
            'Makes a map from comparisons alone, "a is closer to b than to c". Needs no features, '
            "and items of different kinds may be compared."
        ),
        caveats=(
            "Items without comparisons are left off the map, and new items cannot be added.",
            "An item in one or two comparisons can be almost anywhere. Use several for each item.",
            "Distances between groups without a common comparison mean nothing.",
        ),
        cost="Two seconds for 5,000 comparisons of 100 items, about 50 for 16,000 of 6,000.",
        former_titles=("Places from comparisons alone",),
    )
    memory_estimate = MemoryEstimate(per_row=5e3)
    n_components: NComponents = 2
    beta: Annotated[
        float,
        Real(
            "Strength of comparisons",
            "How much comparisons count, in multiples of the smallest value with an effect.",
            low=1e-6,
            high=1e6,
            log=True,
            details="Below that critical value all items are at one point.",
        ),
    ] = 30.0
    loss: Annotated[
        str,
        Choice(
            "Loss",
            "How comparisons that do not hold count.",
            options={
                "convex": "squared distances: one optimum, proven",
                "soft": "distances: the best of ten starts (soft ordinal embedding)",
            },
            details=(
                "'soft' minimises the squared hinge of Terada and von Luxburg (2014) on the axes "
                "shown. Strength, precision and final adjustment do not apply. In benchmarks both "
                "losses kept as many other comparisons within the error."
            ),
        ),
    ] = "convex"
    order: Order = "process"
    contradictions: Contradictions = "prune"
    tol: Tol = 3e-3
    polish: Polish = True
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        self.order_, objects, retained = ordered_objects(
            data,
            self.card.title,
            contradictions=self.contradictions,
            steps=self.order,
            random_state=self._seed,
        )
        if self.loss == "soft":
            return self._fit_soft(data, objects, retained, rng, progress)
        share = self.order_.weight / self.order_.weight.sum()
        critical_beta = critical_beta_for([None], Hinge(len(objects), retained, share))
        if not np.isfinite(critical_beta):
            raise NotApplicableError(self.card.title, ["The comparisons cancel each other out."])
        hinge = Hinge(len(objects), retained, self.beta * critical_beta * share)
        latest: list[Floats] = []
        has_polish = self.polish and self.n_components <= MAX_POLISHED_AXES
        pull: float | None = None
        tried: dict[str, float] = {}
        done, share_of_fit = 0.1, 0.3 if has_polish else 0.8

        def report(step: int, gap: float, parts: list[Floats]) -> None:
            nonlocal done
            latest[:] = parts
            done = 0.1 + share_of_fit * step / (step + 4)
            progress(
                done,
                "Fitting comparisons",
                layout=lambda: np.vstack(list(rows_from_objects(data, objects, parts[0]).values())),
                gap=gap,
            )

        try:
            flat = embed_fixed_rank(
                [None],
                hinge,
                self.n_components,
                tol=self.tol,
                report=report,
                beat=lambda: progress(done, "Fitting comparisons"),
            )
            if has_polish:
                latest[:] = flat.parts
                part = ProgressPart(progress, 0.4, 0.9)
                pull, tried = self._pull(len(objects), retained, critical_beta, rng, part)
        except Cancelled as stopped:
            if latest:
                places = rows_from_objects(data, objects, latest[0])
                stopped.partial = Fit(places, stopping_reason="stopped early")
            raise
        Y = flat.parts[0]
        if pull is not None:
            Y = polish_map(Y, retained, self.order_.weight, pull)
        return self._make_fit(data, objects, retained, flat, Y, tried)

    def _fit_soft(
        self, data: HeteroData, objects: Ints, retained: Ints, rng: Rng, progress: Progress
    ) -> Fit:
        latest: list[Floats] = []
        self.gap_ = self.critical_beta_ = float("nan")

        def report(done: int, Y: Floats) -> None:
            latest[:] = [Y]
            progress(
                0.1 + 0.9 * done / N_STARTS,
                f"Fitting comparisons, start {done} of {N_STARTS}",
                layout=lambda: np.vstack(list(rows_from_objects(data, objects, Y).values())),
            )

        try:
            Y, history = embed_soft_ordinal(
                len(objects),
                retained,
                self.order_.weight,
                self.n_components,
                rng,
                report=report,
                beat=lambda done: progress(0.1 + 0.9 * done / N_STARTS, "Fitting comparisons"),
            )
        except Cancelled as stopped:
            if latest:
                places = rows_from_objects(data, objects, latest[0])
                stopped.partial = Fit(places, stopping_reason="stopped early")
            raise
        satisfied = comparison_accuracy(Y, retained, self.order_.weight)
        figures: dict[str, object] = {"kept_on_these_axes": satisfied}
        return Fit(
            rows_from_objects(data, objects, Y),
            n_iter=N_STARTS,
            loss_history=history,
            stopping_reason=f"the best of {N_STARTS} starts",
            diagnostics={**figures, "comparisons": self.order_.counts},
            messages=optimum_diagnostics({"comparisons": figures}),
        )

    def _pull(
        self, n: int, retained: Ints, critical_beta: float, rng: Rng, progress: Progress
    ) -> tuple[float | None, dict[str, float]]:
        """Return how hard to pull points to their start, chosen by held-out comparisons."""
        done = 0.0

        def tick(share: float) -> None:
            nonlocal done
            done = share
            progress(done, "Testing how far points may move")

        def refit(rows: Ints) -> Floats:
            weight = self.order_.weight[rows]
            flat = embed_fixed_rank(
                [None],
                Hinge(n, retained[rows], self.beta * critical_beta * weight / weight.sum()),
                self.n_components,
                tol=max(self.tol, QUICK_TOL),
                max_passes=_REFIT_PASSES,
                beat=lambda: tick(done),
            )
            return np.asarray(flat.parts[0])

        return choose_pull(refit, retained, self.order_.weight, rng, tick)

    def _make_fit(
        self,
        data: HeteroData,
        objects: Ints,
        retained: Ints,
        flat: FixedRankEmbedding,
        Y: Floats,
        tried: Mapping[str, float],
    ) -> Fit:
        if self.beta <= 1.0:
            warn_about_data(
                "The strength of comparisons is too low: all items are at one point. "
                "Use a higher strength."
            )
        if not flat.converged:
            warnings.warn(
                f"Stopped at a relative gap of {flat.gap:.2g}, above {self.tol:g}. A lower "
                "strength of comparisons converges faster.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.gap_, self.critical_beta_ = flat.gap, flat.critical_beta
        weight = self.order_.weight
        figures: dict[str, object] = {
            **flat.figures(lambda parts: comparison_accuracy(parts[0], retained, weight)),
            "kept_on_these_axes": comparison_accuracy(Y, retained, weight),
        }
        if tried:
            figures["held_out_by_pull"] = dict(tried)
        return Fit(
            rows_from_objects(data, objects, Y),
            n_iter=flat.n_passes,
            loss_history=flat.history,
            stopping_reason=(
                "proven close enough to the optimum"
                if flat.converged
                else "the limit of passes reached"
            ),
            diagnostics={**figures, "comparisons": self.order_.counts},
            messages=optimum_diagnostics({"comparisons": figures}),
        )

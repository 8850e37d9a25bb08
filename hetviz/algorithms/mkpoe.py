"""Map by comparisons: "a is nearer to b than to c", kept by weights on what is known of items."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.algorithms.base import BaseEmbedder, Capability, Fit, MethodCard, Need, warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.papers import MCFEE_2011
from hetviz.algorithms.shared_params import (
    MOST_POLISHED,
    QUICK_TOL,
    Contradictions,
    DrawnBy,
    NComponents,
    Order,
    Polish,
    RandomState,
    Tol,
)
from hetviz.core.ordinal.embedding import Hinge
from hetviz.core.ordinal.fixed_rank import choose_beta, critical, flat_embedding
from hetviz.core.ordinal.polish import choose_pull
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, make_diagnostic, optimum_diagnostics
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import Cancelled, ConvergenceWarning, NotApplicableError
from hetviz.features.relations.comparison_problems import (
    VIEW_KINDS,
    ComparisonProblem,
    ComparisonSolution,
    entity_rows,
    joint_problem,
    largest_weights,
    problems_by_entity,
)
from hetviz.params import Choice, Flag, Multiple, PerDataset, Real, parse_multiple
from hetviz.progress import Progress, ProgressPart


class MKPOE(BaseEmbedder):
    """Multiple-kernel partial order embedding.

    Attributes
    ----------
    gap_ : dict of str to float
        (objective - bound) / objective of the convex problem, by entity.
    critical_beta_ : dict of str to float
    view_weights_ : dict of str to float
        Share of each view in the optimum, of sum 1 within an entity.
    column_weights_ : dict of str to dict of str to float
        By view: how much each feature counts, or each landmark of a kernel.
    order_ : dict of str to PartialOrder
        What became of the comparisons, by entity.

    Notes
    -----
    Views are centred and scaled to a mean squared length of 1. An item that a view lacks has the
    mean of that view. Items in no comparison are placed by the same map, as new ones are. The
    certificate holds for the convex problem, not for its continuation on few axes, nor for points
    that were moved in the end. Each entity
    has a problem of its own; comparisons across entities need `join`, which replaces the views by
    30 axes of a guided projection of all datasets. Cost: see `hetviz.core.ordinal.embedding` and
    `hetviz.core.ordinal.fixed_rank`; n below is the number of items compared, which alone are in
    the problem.

    References
    ----------
    B. McFee and G. Lanckriet, Learning multi-modal similarity, JMLR 12, 2011: algorithms 1 to 4
    and section 4.4. The solver, the certificate and the continuation on few axes are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="mkpoe",
        title="Map by comparisons",
        family="Comparisons",
        papers=(MCFEE_2011,),
        equation=(
            r"\min_{W_p \succeq 0} \sum_p \mathrm{tr}(W_p K_p) + \frac{\beta}{|C|}"
            r"\sum_{(i,j,k,l) \in C} [1 + d_{ij} - d_{kl}]_+,\quad"
            r" d_{ij} = \sum_p (K_{pi} - K_{pj})^\top W_p (K_{pi} - K_{pj})"
        ),
        needs=(Need.COMPARISONS, Need.SOME_FEATURES),
        capabilities=frozenset(
            {
                Capability.COMPARISONS,
                Capability.VIEWS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.SPARSE,
                Capability.OUT_OF_SAMPLE,
                Capability.ITERATIVE,
            }
        ),
        summary=(
            'Learns from comparisons, "a is nearer to b than to c", which features matter, and '
            "places all items accordingly, also those in no comparison. Says how much each view "
            "of the items counts."
        ),
        caveats=(
            "A comparison must be among items of one kind, such as two emoji against two emoji; "
            "one across kinds is set aside, unless links join the datasets and Join datasets is "
            "on.",
            "Kinds of items without comparisons are left off the map, unless datasets are joined.",
            "Links are used only to join datasets.",
            "Few comparisons fit many maps: judge by comparisons held out.",
            "The proof of the optimum is for as many axes as needed, not for the picture's two.",
        ),
        cost="A second for 16,000 comparisons of 400 items in 5 views.",
    )
    memory_estimate = MemoryEstimate(per_compared_pair=12.0)
    n_components: NComponents = 2
    beta: Annotated[
        float | str,
        Multiple(
            "Strength of comparisons",
            "How much comparisons count beside a simple map, in multiples of the least that has "
            "any effect; 'cv' tries a few on comparisons held out.",
            low=1e-6,
            high=1e6,
            log=True,
            also=("cv",),
            details="Below that critical value all items fall into one point.",
        ),
    ] = 30.0
    diagonal: Annotated[
        bool,
        Flag(
            "Weigh features only",
            "One weight for each feature, instead of new directions; easier to read.",
            details="A weight per feature (or landmark of a kernel) instead of a matrix per view.",
        ),
    ] = False
    polish: Polish = True
    join: Annotated[
        bool,
        Flag(
            "Join datasets",
            "Compare items of different kinds, by what links say they share.",
        ),
    ] = False
    combine: Annotated[
        str,
        Choice(
            "Views",
            "How several views of the same items are used.",
            options={
                "product": "a map of each view",
                "sum": "one map of all views put together first",
            },
            advanced=True,
            details="The sum is one of the views' kernels.",
        ),
    ] = "product"
    features: Annotated[
        str | Mapping[str, str],
        PerDataset(
            "Features",
            "What to use of each dataset.",
            inner=Choice(options=VIEW_KINDS),
            advanced=True,
        ),
    ] = "auto"
    weights: Annotated[
        float | Mapping[str, float],
        PerDataset(
            "Weight of datasets",
            "Size of a view before anything is learned; 0 leaves it out.",
            inner=Real(low=0.0, high=100.0),
            advanced=True,
            details=(
                "Factor of the kernel of each view; all but one at 0 gives the method of a single "
                "kernel."
            ),
        ),
    ] = 1.0
    order: Order = "process"
    contradictions: Contradictions = "prune"
    reduce: Annotated[
        bool,
        Flag(
            "Leave out what follows",
            "Leave out comparisons that follow from others.",
            advanced=True,
            details="Where those weigh at least as much, so that no weight is lost.",
        ),
    ] = False
    absolute_beta: Annotated[
        bool,
        Flag(
            "Strength as it stands",
            "Take the strength itself, not as a multiple.",
            advanced=True,
        ),
    ] = False
    margin: Annotated[
        float,
        Real(
            "Margin",
            "Wanted difference of squared distances; sets the scale.",
            low=1e-6,
            high=1e6,
            log=True,
            advanced=True,
            details=(
                "By how much the squared distance of a far pair should exceed that of a near one."
            ),
        ),
    ] = 1.0
    tol: Tol = 3e-3
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _reasons_against(self, data: HeteroData) -> list[str]:
        if self.join or data.comparisons is None or not len(data.comparisons):
            return []
        if any(len(rows) for rows in entity_rows(data).values()):
            return []
        return [
            "Every comparison is across different kinds of items; join the datasets by links and "
            "switch on Join datasets."
        ]

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        progress(0.02, "Preparing features")
        if self.join:
            problems = [joint_problem(data, self.random_state)]
        else:
            problems = problems_by_entity(data, self.features, self.weights, self.random_state)
        self._tell(data, problems)
        self._solved = [ComparisonSolution(problem) for problem in problems if len(problem.pairs)]
        if not self._solved:
            reason = "No comparison is among items that have features and count."
            raise NotApplicableError(self.card.title, [reason])
        for number, solved in enumerate(self._solved):
            share = ProgressPart(
                progress,
                0.1 + 0.85 * number / len(self._solved),
                0.1 + 0.85 * (number + 1) / len(self._solved),
            )
            try:
                self._solve(data, solved, rng, share)
            except Cancelled as stopped:
                if any(done.maps for done in self._solved):
                    stopped.partial = self._make_fit(data, "stopped early")
                raise
        every = all(solved.flat is None or solved.flat.converged for solved in self._solved)
        reason = "proven close enough to the optimum" if every else "the limit of passes reached"
        return self._make_fit(data, reason)

    def _tell(self, data: HeteroData, problems: list[ComparisonProblem]) -> None:
        used = sum(len(problem.rows) for problem in problems)
        given = 0 if data.comparisons is None else len(data.comparisons)
        if used < given:
            warn_about_data(
                f"{given - used:,} of {given:,} comparisons are across different kinds of items "
                "or name an item without features, and are set aside."
            )
        there = {name for problem in problems for name in problem.numbers}
        absent = [name for name in data.datasets if name not in there]
        if absent:
            warn_about_data(f"No comparison is about {', '.join(absent)}: left off the map.")

    def _solve(
        self,
        data: HeteroData,
        solved: ComparisonSolution,
        rng: np.random.Generator,
        progress: Progress,
    ) -> None:
        problem = solved.problem
        progress(0.0, f"Comparisons of {problem.name}")
        order = problem.ordered(
            contradictions=self.contradictions,
            steps=self.order,
            reduce=self.reduce,
            random_state=self.random_state,
        )
        pairs, weight = solved.begin(order, self.diagonal), order.weight
        if not len(pairs):
            warn_about_data(
                f"Nothing remains of the comparisons of {problem.name}: all in one point."
            )
            solved.maps = [
                np.zeros((view.raw.shape[1], self.n_components)) for view in problem.views
            ]
            return
        views = [part.features for part in solved.parts]
        if self.combine == "sum" and not self.diagonal:
            views = [np.hstack(views)]
        hinge = Hinge(len(solved.objects), pairs, weight / weight.sum(), self.margin)
        least = critical(views, hinge, diagonal=self.diagonal)
        factor = parse_multiple(self.beta)
        if isinstance(factor, str):
            chosen = choose_beta(
                views,
                pairs,
                weight,
                least,
                self.n_components,
                diagonal=self.diagonal,
                rng=rng,
                margin=self.margin,
                tick=lambda share: progress(0.6 * share, "Trying on comparisons held out"),
            )
            solved.tried, factor = chosen.accuracy, chosen.factor
        if not np.isfinite(least):
            warn_about_data(
                f"{problem.name}: no feature tells near pairs from far ones: all in one point."
            )
            least = 1.0
        given = self.absolute_beta and not isinstance(self.beta, str)
        beta = float(factor) if given else float(factor) * least
        if beta <= least:
            warn_about_data(
                f"{problem.name}: the strength of comparisons is {beta:.3g}, not above the "
                f"critical {least:.3g}, so that all items fall into one point; use more."
            )

        done, message = 0.6, f"Keeping comparisons of {problem.name}"

        def report(step: int, gap: float, parts: list[Floats]) -> None:
            nonlocal done
            done = 0.6 + 0.2 * step / (step + 4)
            solved.keep(parts)
            progress(
                done,
                message,
                layout=lambda: self._stacked(data),
                gap=gap,
            )

        hinge = Hinge(len(solved.objects), pairs, beta * weight / weight.sum(), self.margin)
        solved.flat = flat_embedding(
            views,
            hinge,
            self.n_components,
            diagonal=self.diagonal,
            tol=self.tol,
            report=report,
            beat=lambda: progress(done, message),
        )
        solved.keep(solved.flat.parts)
        if self.polish and self.n_components <= MOST_POLISHED:
            self._polish(solved, views, pairs, weight, beta, rng, ProgressPart(progress, 0.8, 1.0))
        if not solved.flat.converged:
            warnings.warn(
                f"{problem.name}: stopped at a relative gap of {solved.flat.gap:.2g}, more than "
                f"{self.tol:g}; less strength of comparisons is solved faster.",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _polish(
        self,
        solved: ComparisonSolution,
        views: list[Floats],
        pairs: Ints,
        weight: Floats,
        beta: float,
        rng: np.random.Generator,
        progress: Progress,
    ) -> None:
        n = len(solved.objects)
        share = 0.0
        message = "Trying how far points may move"

        def refit(rows: Ints) -> Floats:
            some = beta * weight[rows] / weight[rows].sum()
            flat = flat_embedding(
                views,
                Hinge(n, pairs[rows], some, self.margin),
                self.n_components,
                diagonal=self.diagonal,
                tol=max(self.tol, QUICK_TOL),
                beat=lambda: progress(share, message),
            )
            Y = sum(Phi @ A for Phi, A in zip(views, flat.parts, strict=True))
            return np.asarray(Y)

        def tick(done: float) -> None:
            nonlocal share
            share = done
            progress(share, message)

        pull, solved.pulls = choose_pull(refit, pairs, weight, rng, tick)
        if pull is not None:
            solved.move(pull)

    def _stacked(self, data: HeteroData) -> Floats:
        places = self._places(data)
        return np.vstack([places[name] for name in data.datasets])

    def _places(self, data: HeteroData) -> dict[str, Floats]:
        shape = self.n_components
        out = {name: np.full((len(part), shape), np.nan) for name, part in data.datasets.items()}
        for solved in self._solved:
            if solved.maps:
                out |= solved.places(shape)
        return out

    def _make_fit(self, data: HeteroData, reason: str) -> Fit:
        places = self._places(data)
        solved = [one for one in self._solved if one.flat is not None]
        self.order_ = {one.problem.name: one.order for one in self._solved if one.order is not None}
        self.gap_ = {one.problem.name: one.flat.gap for one in solved if one.flat}
        self.critical_beta_ = {
            one.problem.name: one.flat.critical_beta for one in solved if one.flat
        }
        self.view_weights_: dict[str, float] = {}
        self.column_weights_: dict[str, dict[str, float]] = {}
        for one in solved:
            shares, columns = one.weights()
            self.view_weights_ |= shares
            self.column_weights_ |= columns
        components = {name: len(self._solved) + v for v, name in enumerate(data.datasets)}
        for number, one in enumerate(self._solved):
            components |= dict.fromkeys(one.problem.numbers, number)
        return Fit(
            places,
            n_iter=sum(one.flat.n_passes for one in solved if one.flat),
            loss_history=[value for one in solved if one.flat for value in one.flat.history],
            stopping_reason=reason,
            diagnostics=self._diagnostics(solved),
            messages=self._told(solved),
            components=components,
        )

    def _told(self, solved: list[ComparisonSolution]) -> list[Diagnostic]:
        weights = make_diagnostic(
            "view weights",
            "Weight of views",
            "Share of each view in the distances on the map.",
            self.view_weights_,
            SHARE,
        )
        columns = [
            make_diagnostic(
                f"weights within {name}",
                f"What counts within {name}",
                "How much each feature of this view counts in the distances on the map or, where "
                "the view is a kernel, each item that others are compared with.",
                largest_weights(found),
            )
            for name, found in self.column_weights_.items()
        ]
        known = {one.problem.name: one.figures() for one in solved}
        return [weights, *columns, *optimum_diagnostics(known)]

    def _diagnostics(self, solved: list[ComparisonSolution]) -> dict[str, object]:
        return {
            "view_weights": self.view_weights_,
            "column_weights": {
                name: largest_weights(weights) for name, weights in self.column_weights_.items()
            },
            "comparisons": {name: order.counts for name, order in self.order_.items()},
            "problems": {one.problem.name: one.figures() for one in solved},
        }

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        out = {
            name: np.full((len(rows.dataset), self.n_components), np.nan)
            for name, rows in new.items()
        }
        for solved in self._solved:
            here = {name: rows for name, rows in new.items() if name in solved.problem.numbers}
            out |= solved.of_new(here, self.n_components, self._fitted)
        return out

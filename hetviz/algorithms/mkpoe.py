"""MKPOE: a map by comparisons, "a is closer to b than to c", from weighted features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Ints, Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import ANY_FEATURES, Capability, Fit, MethodCard
from hetviz.algorithms.diagnostics import left_off_message, warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import MCFEE_2011
from hetviz.algorithms.shared_params import (
    MAX_POLISHED_AXES,
    QUICK_TOL,
    Contradictions,
    DatasetWeights,
    DrawnBy,
    FeatureKinds,
    NComponents,
    Order,
    Polish,
    RandomState,
    Tol,
)
from hetviz.core.ordinal.embedding import Hinge
from hetviz.core.ordinal.fixed_rank import choose_beta, critical_beta_for, embed_fixed_rank
from hetviz.core.ordinal.polish import choose_pull
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, make_diagnostic, optimum_diagnostics
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import Cancelled, ConvergenceWarning, NotApplicableError
from hetviz.features.problems.comparison_problems import (
    VIEW_KINDS,
    ComparisonProblem,
    ComparisonSolution,
    entity_rows,
    joint_problem,
    largest_weights,
    problems_by_entity,
)
from hetviz.params import Changed, Choice, Flag, Multiple, Real, parse_multiple
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
        By view: weight of each feature, or of each landmark of a kernel.
    order_ : dict of str to PartialOrder
        The comparisons after removing contradictions, by entity.

    Notes
    -----
    Views are centred and scaled to a mean squared length of 1. An item missing in a view gets the
    mean of that view. Items without comparisons are placed by the same map, like new items. The
    certificate holds for the convex problem, not for its continuation on few axes, nor for points
    moved in the final step. Each entity is a separate problem. Comparisons across entities need
    `join`, which replaces the views by 30 axes of a guided projection of all datasets. Cost: see
    `hetviz.core.ordinal.embedding` and `hetviz.core.ordinal.fixed_rank`, with n compared items.

    References
    ----------
    B. McFee and G. Lanckriet, Learning multi-modal similarity, JMLR 12, 2011: algorithms 1 to 4
    and section 4.4. The solver, the certificate and the continuation on few axes are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="mkpoe",
        title="Multiple-kernel partial order embedding (MKPOE)",
        family="Comparisons",
        papers=(MCFEE_2011,),
        equation=(
            r"\min_{W_p \succeq 0} \sum_p \mathrm{tr}(W_p K_p) + \frac{\beta}{|C|}"
            r"\sum_{(i,j,k,l) \in C} [1 + d_{ij} - d_{kl}]_+,\quad"
            r" d_{ij} = \sum_p (K_{pi} - K_{pj})^\top W_p (K_{pi} - K_{pj})"
        ),
        needs=(Need.COMPARISONS, Need.SOME_FEATURES),
        capabilities=ANY_FEATURES
        | {Capability.COMPARISONS, Capability.OUT_OF_SAMPLE, Capability.ITERATIVE},
        summary=(
            'Weights features so that comparisons hold, "a is closer to b than to c", and places '
            "all items by them, also items without comparisons. Reports how much each view counts."
        ),
        caveats=(
            "A comparison must be among items of one kind, such as two emoji against two emoji. "
            "Others are ignored, unless links connect the datasets and Join datasets is on.",
            "Kinds of items without comparisons are left off the map, unless datasets are joined.",
            "Links are used only to join datasets.",
            "Few comparisons fit many maps. Check with hidden comparisons.",
            "The optimum is proven for as many axes as needed, not for the two in the picture.",
        ),
        cost="A second for 16,000 comparisons of 400 items in 5 views.",
        former_titles=("Map by comparisons",),
    )
    memory_estimate = MemoryEstimate(per_compared_pair=12.0)
    n_components: NComponents = 2
    beta: Annotated[
        float | str,
        Multiple(
            "Strength of comparisons",
            "How much comparisons count, in multiples of the smallest value with an effect. 'cv' "
            "chooses by hidden comparisons.",
            low=1e-6,
            high=1e6,
            log=True,
            also=("cv",),
            details="Below that critical value all items are at one point.",
        ),
    ] = 30.0
    diagonal: Annotated[
        bool,
        Flag(
            "Weigh features only",
            "One weight for each feature instead of new directions. Easier to read.",
            details="A weight per feature (or landmark of a kernel) instead of a matrix per view.",
        ),
    ] = False
    polish: Polish = True
    join: Annotated[
        bool, Flag("Join datasets", "Compare items of different kinds through their links.")
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
            details="The sum is the sum of the kernels of the views.",
        ),
    ] = "product"
    features: Annotated[FeatureKinds, Changed(inner=Choice(options=VIEW_KINDS))] = "auto"
    weights: Annotated[
        DatasetWeights,
        Changed(
            help="Initial weight of a view. 0 leaves it out.",
            details=(
                "Factor of the kernel of each view. With one weight above 0 it is the "
                "method with a single kernel."
            ),
        ),
    ] = 1.0
    order: Order = "process"
    contradictions: Contradictions = "prune"
    reduce: Annotated[
        bool,
        Flag(
            "Skip implied comparisons",
            "Leave out comparisons that follow from others.",
            advanced=True,
            details="If those have at least the same weight, so that no weight is lost.",
        ),
    ] = False
    absolute_beta: Annotated[
        bool, Flag("Absolute strength", "Use the strength itself, not a multiple.", advanced=True)
    ] = False
    margin: Annotated[
        float,
        Real(
            "Margin",
            "Target difference of squared distances. Sets the scale.",
            low=1e-6,
            high=1e6,
            log=True,
            advanced=True,
            details=(
                "By how much the squared distance of a far pair should exceed that of a close one."
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
            "All comparisons are across different kinds of items. Link the datasets and switch on "
            "Join datasets."
        ]

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        progress(0.02, "Preparing features")
        if self.join:
            problems = [joint_problem(data, self._seed)]
        else:
            problems = problems_by_entity(data, self.features, self.weights, self._seed)
        self._warn_about_ignored(data, problems)
        self._solved = [ComparisonSolution(problem) for problem in problems if len(problem.pairs)]
        if not self._solved:
            reason = "No comparison that counts is among items with features."
            raise NotApplicableError(self.card.title, [reason])
        for number, solved in enumerate(self._solved):
            part = ProgressPart(
                progress,
                0.1 + 0.85 * number / len(self._solved),
                0.1 + 0.85 * (number + 1) / len(self._solved),
            )
            try:
                self._solve(data, solved, rng, part)
            except Cancelled as stopped:
                if any(solution.maps for solution in self._solved):
                    stopped.partial = self._make_fit(data, "stopped early")
                raise
        all_converged = all(solved.flat is None or solved.flat.converged for solved in self._solved)
        reason = (
            "proven close enough to the optimum" if all_converged else "the limit of passes reached"
        )
        return self._make_fit(data, reason)

    def _warn_about_ignored(self, data: HeteroData, problems: list[ComparisonProblem]) -> None:
        n_used = sum(len(problem.rows) for problem in problems)
        n_given = 0 if data.comparisons is None else len(data.comparisons)
        if n_used < n_given:
            warn_about_data(
                f"Ignored comparisons: {n_given - n_used:,} of {n_given:,}. They are across "
                "different kinds of items or have an item without features."
            )
        used_datasets = {name for problem in problems for name in problem.numbers}
        absent = [name for name in data.datasets if name not in used_datasets]
        if absent:
            warn_about_data(left_off_message(absent, "no comparisons"))

    def _solve(
        self, data: HeteroData, solved: ComparisonSolution, rng: Rng, progress: Progress
    ) -> None:
        problem = solved.problem
        progress(0.0, f"Comparisons of {problem.name}")
        order = problem.ordered(
            contradictions=self.contradictions,
            steps=self.order,
            reduce=self.reduce,
            random_state=self._seed,
        )
        pairs, weight = solved.begin(order, self.diagonal), order.weight
        if not len(pairs):
            warn_about_data(
                f"No comparison of {problem.name} is left after removing contradictions. "
                "All its items are at one point."
            )
            solved.maps = [
                np.zeros((view.raw.shape[1], self.n_components)) for view in problem.views
            ]
            return
        views = [part.features for part in solved.parts]
        if self.combine == "sum" and not self.diagonal:
            views = [np.hstack(views)]
        hinge = Hinge(len(solved.objects), pairs, weight / weight.sum(), self.margin)
        critical_beta = critical_beta_for(views, hinge, diagonal=self.diagonal)
        factor = parse_multiple(self.beta)
        if isinstance(factor, str):
            chosen = choose_beta(
                views,
                pairs,
                weight,
                critical_beta,
                self.n_components,
                diagonal=self.diagonal,
                rng=rng,
                margin=self.margin,
                tick=lambda share: progress(0.6 * share, "Testing on hidden comparisons"),
            )
            solved.tried, factor = chosen.accuracy, chosen.factor
        if not np.isfinite(critical_beta):
            warn_about_data(
                f"{problem.name}: no feature separates close pairs from far pairs. "
                "All items are at one point."
            )
            critical_beta = 1.0
        is_absolute = self.absolute_beta and not isinstance(self.beta, str)
        beta = float(factor) if is_absolute else float(factor) * critical_beta
        if beta <= critical_beta:
            warn_about_data(
                f"{problem.name}: the strength of comparisons is {beta:.3g}, but it must be above "
                f"{critical_beta:.3g}. All items are at one point. Use a higher strength."
            )

        done, message = 0.6, f"Fitting comparisons of {problem.name}"

        def report(step: int, gap: float, parts: list[Floats]) -> None:
            nonlocal done
            done = 0.6 + 0.2 * step / (step + 4)
            solved.keep(parts)
            progress(done, message, layout=lambda: self._stacked(data), gap=gap)

        hinge = Hinge(len(solved.objects), pairs, beta * weight / weight.sum(), self.margin)
        solved.flat = embed_fixed_rank(
            views,
            hinge,
            self.n_components,
            diagonal=self.diagonal,
            tol=self.tol,
            report=report,
            beat=lambda: progress(done, message),
        )
        solved.keep(solved.flat.parts)
        if self.polish and self.n_components <= MAX_POLISHED_AXES:
            self._polish(solved, views, pairs, weight, beta, rng, ProgressPart(progress, 0.8, 1.0))
        if not solved.flat.converged:
            warnings.warn(
                f"{problem.name}: stopped at a relative gap of {solved.flat.gap:.2g}, above "
                f"{self.tol:g}. A lower strength of comparisons converges faster.",
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
        rng: Rng,
        progress: Progress,
    ) -> None:
        n = len(solved.objects)
        share = 0.0
        message = "Testing how far points may move"

        def refit(rows: Ints) -> Floats:
            scaled_weight = beta * weight[rows] / weight[rows].sum()
            flat = embed_fixed_rank(
                views,
                Hinge(n, pairs[rows], scaled_weight, self.margin),
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
        out = self._no_places(data.datasets)
        for solved in self._solved:
            if solved.maps:
                out |= solved.places(self.n_components)
        return out

    def _make_fit(self, data: HeteroData, reason: str) -> Fit:
        places = self._places(data)
        solved = [solution for solution in self._solved if solution.flat is not None]
        self.order_ = {
            solution.problem.name: solution.order
            for solution in self._solved
            if solution.order is not None
        }
        self.gap_ = {
            solution.problem.name: solution.flat.gap for solution in solved if solution.flat
        }
        self.critical_beta_ = {
            solution.problem.name: solution.flat.critical_beta
            for solution in solved
            if solution.flat
        }
        self.view_weights_: dict[str, float] = {}
        self.column_weights_: dict[str, dict[str, float]] = {}
        for solution in solved:
            shares, columns = solution.weights()
            self.view_weights_ |= shares
            self.column_weights_ |= columns
        components = {name: len(self._solved) + v for v, name in enumerate(data.datasets)}
        for number, solution in enumerate(self._solved):
            components |= dict.fromkeys(solution.problem.numbers, number)
        return Fit(
            places,
            n_iter=sum(solution.flat.n_passes for solution in solved if solution.flat),
            loss_history=[
                value for solution in solved if solution.flat for value in solution.flat.history
            ],
            stopping_reason=reason,
            diagnostics=self._diagnostics(solved),
            messages=self._messages(solved),
            components=components,
        )

    def _messages(self, solved: list[ComparisonSolution]) -> list[Diagnostic]:
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
                f"Weights within {name}",
                "How much each feature of this view counts in the distances on the map. For a "
                "kernel: how much each item counts that others are compared with.",
                largest_weights(column_weights),
            )
            for name, column_weights in self.column_weights_.items()
        ]
        figures = {solution.problem.name: solution.figures() for solution in solved}
        return [weights, *columns, *optimum_diagnostics(figures)]

    def _diagnostics(self, solved: list[ComparisonSolution]) -> dict[str, object]:
        return {
            "view_weights": self.view_weights_,
            "column_weights": {
                name: largest_weights(weights) for name, weights in self.column_weights_.items()
            },
            "comparisons": {name: order.counts for name, order in self.order_.items()},
            "problems": {solution.problem.name: solution.figures() for solution in solved},
        }

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        out = self._no_places({name: rows.dataset for name, rows in new.items()})
        for solved in self._solved:
            new_rows = {name: rows for name, rows in new.items() if name in solved.problem.numbers}
            out |= solved.of_new(new_rows, self.n_components, self._fitted)
        return out

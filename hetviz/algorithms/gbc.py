"""Gradient boosting consensus (GBC): a label learned from several sources that must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Ints, Rng, is_sparse
from hetviz.algorithms.contract import ANY_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import SHI_2013
from hetviz.algorithms.predictor import BasePredictor, LabelPredictions
from hetviz.algorithms.shared_params import DrawnBy, FeatureKinds, NComponents, RandomState
from hetviz.core.prediction.boosting import TreeSettings
from hetviz.core.prediction.gbc import (
    CLASSES,
    LAM0,
    LAM1,
    MAX_ROUNDS,
    GbcModel,
    GbcSettings,
    MarginAxes,
    choose_settings,
    fit_gbc,
    probabilities,
    source_disagreement,
)
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import NotApplicableError
from hetviz.features.problems.label_problems import LabelProblem, first_learnable_problem
from hetviz.params import Choice, Flag, Integer, LabelName, Real
from hetviz.progress import Progress, ProgressPart

# Approximate speed of LightGBM and the coupling on one core: cells per class and round.
_CELLS_PER_SECOND = 5e7
_MAX_HOURS = 2.0


class GBC(BasePredictor):
    """Boosted trees for each source of features that agree on items without a label.

    Attributes
    ----------
    problem_ : LabelProblem
    model_ : Gbc
    settings_ : GbcSettings
        Settings after the choice by cross-validation.

    Notes
    -----
    For the objective see `hetviz.core.prediction.gbc`. A source may lack some items. Items that
    all sources lack get the prior. Cost: O(sum n_i d_i K) for each round, about a second for 50
    million cells.

    References
    ----------
    X. Shi, Heterogeneous learning and its applications, PhD thesis, University of Illinois at
    Chicago, 2013, chapter 3 (gradient boosting consensus): equations 3.1 to 3.11.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="gbc",
        title="Gradient boosting consensus (GBC)",
        family="Prediction",
        papers=(
            SHI_2013.with_part("chapter 3"),
            Reference(
                "X. Shi, J.-F. Paiement, D. Grangier and P. S. Yu",
                "Learning from heterogeneous sources via gradient boosting consensus",
                "SIAM International Conference on Data Mining (SDM)",
                2012,
            ),
        ),
        equation=(
            r"\min \sum_i w_i \Big[ \sum_{T} \ell(f_i, y) + \lambda_0 \sum_{U} \ell(f_i, E)"
            r" + \lambda_1 \sum_{U} \ell(f_i, \tilde{E}_i) \Big]"
        ),
        needs=(Need.SOME_FEATURES, Need.LABELS),
        capabilities=ANY_FEATURES
        | {Capability.WITHIN_LINKS, Capability.LABELS, Capability.OUT_OF_SAMPLE},
        summary=(
            "Predicts a label from several descriptions of the same items. Each has its own trees, "
            "which must agree where the label is unknown. The map shows the predictions."
        ),
        caveats=(
            "If sources lack items, it is far better than trees on joined features, and better "
            "than a plain vote. With one source it equals trees on its features.",
            "Linked items are pulled to the same label. This hurts if links do not follow the "
            "label.",
            "Distances on the map are differences of predictions, not of features.",
        ),
        cost="About a second for 50 million numbers times classes times rounds.",
        former_titles=("Boosting consensus",),
    )
    n_components: NComponents = 2
    label: Annotated[
        str | None,
        LabelName(
            "Label",
            "The label to predict.",
            also=(None,),
            details=(
                '``"dataset:column"`` is a label or a column of the table. A dataset name is its '
                "first label. By default it is the first label that can be learned."
            ),
        ),
    ] = None
    task: Annotated[
        str,
        Choice(
            "Kind of label",
            "Whether the label is a class or a number.",
            options={"auto": "automatic", "classes": "classes", "number": "numbers"},
            advanced=True,
        ),
    ] = "auto"
    n_rounds: Annotated[
        int | str,
        Integer(
            "Rounds",
            "How many trees each source grows for each class.",
            low=1,
            high=5000,
            also=("cv", "early"),
            details='"cv" chooses by cross-validation, "early" by a fifth of the labels.',
        ),
    ] = 100
    lam0: Annotated[
        float | str,
        Real(
            "Agreement of sources",
            "How much sources must agree on items without a label.",
            low=0.0,
            high=1e3,
            log=True,
            also=("cv",),
            details='lambda_0 of the thesis. "cv" chooses by cross-validation.',
        ),
    ] = "cv"
    lam1: Annotated[
        float | str,
        Real(
            "Agreement of linked items",
            "How much linked items must have the same label.",
            low=0.0,
            high=1e3,
            log=True,
            also=("cv",),
            details='lambda_1 of the thesis. "cv" chooses by cross-validation.',
        ),
    ] = "cv"
    weights: Annotated[
        str,
        Choice(
            "Weight of sources",
            "How much each source counts.",
            options={
                "holdout": "by its accuracy on hidden labels",
                "training": "by its accuracy on training labels, as in the thesis",
                "equal": "all the same",
            },
            details="See `hetviz.core.prediction.gbc.GbcSettings`.",
        ),
    ] = "holdout"
    consensus: Annotated[
        str,
        Choice(
            "Agreement by",
            "What sources agree on, for classes.",
            options={
                "soft": "probabilities",
                "paper": "the mean used as a label, as in the thesis",
            },
            advanced=True,
            details="See `hetviz.core.prediction.gbc.TargetLoss`.",
        ),
    ] = "soft"
    sharpness: Annotated[
        float,
        Real(
            "Sharpness of agreement",
            "How much more certain sources get than their mean, for classes. 1 is equal.",
            low=1.0,
            high=10.0,
            advanced=True,
            details="See `hetviz.core.prediction.gbc.GbcSettings`.",
        ),
    ] = 2.0
    connectivity: Annotated[
        str,
        Choice(
            "Links pull",
            "Whether a link pulls one end to the other, or both ends.",
            options={"paper": "towards fixed neighbours, as in the thesis", "exact": "both ends"},
            advanced=True,
            details="See `hetviz.core.prediction.gbc.connectivity`.",
        ),
    ] = "paper"
    normalize: Annotated[
        bool,
        Flag(
            "Normalise by labels",
            "Prevent unlabelled items from outweighing the labels.",
            advanced=True,
            details="Makes both lambdas independent of the number of missing labels.",
        ),
    ] = True
    learner: Annotated[
        str,
        Choice(
            "Each step",
            "The model of a source in each round.",
            options={
                "auto": "the best on hidden labels",
                "trees": "trees of the best splits",
                "forest": "trees of random splits, each on some of the items",
                "linear": "ridge regressions",
            },
            advanced=True,
            details="See `hetviz.core.prediction.boosting.TreeSettings`. The thesis uses trees.",
        ),
    ] = "auto"
    learning_rate: Annotated[
        float,
        Real(
            "Learning rate", "How far each step goes.", low=1e-3, high=1.0, log=True, advanced=True
        ),
    ] = 0.1
    line_search: Annotated[
        bool,
        Flag(
            "Line search",
            "Choose the step length that lowers the objective most, then apply the learning rate.",
            advanced=True,
            details="As in the thesis. Otherwise each step is a Newton step.",
        ),
    ] = False
    n_leaves: Annotated[
        int, Integer("Leaves", "Size of a tree.", low=2, high=1000, advanced=True)
    ] = 15
    min_leaf: Annotated[
        int,
        Integer(
            "Items in a leaf",
            "Minimum number of items in a leaf.",
            low=1,
            high=100_000,
            advanced=True,
        ),
    ] = 5
    features: FeatureKinds = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        self.problem_ = problem = first_learnable_problem(
            data,
            self.label,
            key=self.card.key,
            title=self.card.title,
            task=self.task,
            features=self.features,
            random_state=self._seed,
        )
        self._check_size(problem)
        self.settings_, self.model_ = self.train(problem, problem.y, progress)
        rows = [part.rows for part in problem.parts]
        model = self.model_
        self._axes = MarginAxes.fit(model.joint, model.margins, rows, self.n_components)
        places = self._places(model.joint, model.margins, rows)
        predictions = self._make_predictions(model.joint, model.margins, rows)
        self._keep_predictions(
            problem.column.classes,
            {name: predictions.take(rows) for name, rows in problem.entity.object_of.items()},
        )
        coordinates = self._no_places(data.datasets)
        coordinates |= {name: places[rows] for name, rows in problem.entity.object_of.items()}
        left_out = [name for name in data.datasets if name not in problem.entity.object_of]
        if left_out:
            verb = (
                "is left off the map: it has"
                if len(left_out) == 1
                else "are left off the map: they have"
            )
            warn_about_data(f"{', '.join(left_out)} {verb} other items than the label.")
        return self._result(problem, coordinates, left_out)

    def train(
        self, problem: LabelProblem, y: Floats, progress: Progress
    ) -> tuple[GbcSettings, GbcModel]:
        """Fit the consensus to the labels of a problem. NaN labels are unknown.

        Notes
        -----
        Does not change the fitted model, and does not check the data.
        """
        to_choose = [key for key in ("lam0", "lam1", "n_rounds") if getattr(self, key) == "cv"]
        to_choose += ["early"] if self.n_rounds == "early" else []
        to_choose += ["learner"] if self.learner == "auto" else []
        settings = GbcSettings(
            100 if isinstance(self.n_rounds, str) else self.n_rounds,
            GbcSettings.lam0 if isinstance(self.lam0, str) else self.lam0,
            GbcSettings.lam1 if isinstance(self.lam1, str) else self.lam1,
            self.consensus,
            self.connectivity,
            self.weights,
            self.normalize,
            self.sharpness,
            trees=TreeSettings(
                self.learning_rate, self.n_leaves, self.min_leaf, random_state=self._seed
            ),
            learner=self.learner,
            line_search=self.line_search,
        )
        graphs = list(problem.graphs.values())
        Y, task = problem.targets(y), problem.column.task
        if to_choose:
            part = ProgressPart(progress, 0.0, 0.8)
            settings = choose_settings(problem.parts, graphs, Y, task, settings, to_choose, part)
            progress = ProgressPart(progress, 0.8, 1.0)
        return settings, fit_gbc(problem.parts, graphs, Y, task, settings, progress)

    def weight_table(self) -> list[tuple[int, str, float]]:
        """Return (round from 1, source, weight) for each round, source and kind of link."""
        names = self.problem_.names
        rows = [
            (number + 1, name, float(weight))
            for number, weights in enumerate(self.model_.weights)
            for name, weight in zip(names, weights, strict=True)
        ]
        kinds = self.problem_.graphs
        return rows + [
            (number + 1, f"links: {kind}", float(weight))
            for number, weights in enumerate(self.model_.graph_weights)
            for kind, weight in zip(kinds, weights, strict=True)
        ]

    def _check_size(self, problem: LabelProblem) -> None:
        cells = sum(
            part.X.nnz if is_sparse(part.X) else part.X.shape[0] * part.X.shape[1]
            for part in problem.parts
        )
        rounds = MAX_ROUNDS if isinstance(self.n_rounds, str) else self.n_rounds
        grids = [g for g, lam in ((LAM0, self.lam0), (LAM1, self.lam1)) if lam == "cv"]
        # Couplings tried in a fold share the first half of the rounds.
        n_candidates = sum(map(len, grids)) + (self.n_rounds == "cv")
        fits = 1 + 3 * (0.5 + 0.5 * n_candidates if n_candidates else 0.0)
        hours = cells * problem.targets().shape[1] * rounds * fits / _CELLS_PER_SECOND / 3600
        if hours > _MAX_HOURS:
            raise NotApplicableError(
                self.card.title,
                [
                    f"It would take about {hours:,.0f} hours for {cells:,} numbers in "
                    f"{len(problem.parts)} sources, {rounds} rounds and "
                    f"{max(len(problem.column.classes), 1)} classes. The limit is {_MAX_HOURS:g} "
                    "hours. Use fewer rounds, sources, features or items"
                    + (", or set the agreement of sources and of linked items." if grids else ".")
                ],
            )

    def _places(self, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
        """Return the places of items, NaN for items that all sources lack."""
        places = self._axes(joint, margins, rows)
        unrecorded = np.ones(len(places), dtype=bool)
        for source_rows in rows:
            unrecorded[source_rows] = False
        places[unrecorded] = np.nan
        return places

    def _make_predictions(
        self, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]
    ) -> LabelPredictions:
        column = self.problem_.column
        source_spread = source_disagreement(
            column.task, joint, margins, rows, self.model_.weights[-1]
        )
        if column.task != CLASSES:
            numbers = joint[:, 0].astype(object)
            return LabelPredictions(numbers, np.full(len(joint), np.nan), source_spread, None)
        p = probabilities(joint)
        label = np.array(column.classes, dtype=object)[p.argmax(axis=1)]
        return LabelPredictions(label, p.max(axis=1), source_spread, p)

    def _result(
        self, problem: LabelProblem, coordinates: Mapping[str, Floats], left_out: Sequence[str]
    ) -> Fit:
        model, column = self.model_, problem.column
        component = {name: place + 1 for place, name in enumerate(left_out)}
        graph_weights = model.graph_weights[-1].tolist() if problem.graphs else []
        return Fit(
            coordinates,
            n_iter=len(model.history),
            loss_history=model.history,
            stopping_reason="all rounds finished",
            diagnostics={
                "label": f"{column.dataset}:{column.name}",
                "task": column.task,
                "labelled": int(np.isfinite(problem.y).sum()),
                "weights": dict(zip(problem.names, model.weights[-1].tolist(), strict=True)),
                "graph_weights": dict(zip(problem.graphs, graph_weights, strict=True)),
                "n_rounds": self.settings_.n_rounds,
                "lam0": self.settings_.lam0,
                "lam1": self.settings_.lam1,
                "learners": dict(zip(problem.names, model.learners, strict=True)),
            },
            messages=[
                make_diagnostic(
                    "weights",
                    "Weight of sources",
                    f"Share of each source (the features of a dataset, or a kind of links) in the "
                    f"prediction of {column.name}, after the last round.",
                    dict(zip(problem.names, model.weights[-1].tolist(), strict=True)),
                    SHARE,
                ),
                make_diagnostic(
                    "graph weights",
                    "Weight of kinds of links",
                    "Share of each kind of links in the agreement of linked items.",
                    dict(zip(problem.graphs, graph_weights, strict=True)),
                    SHARE,
                ),
            ],
            components={name: component.get(name, 0) for name in coordinates},
            note=f"places show predictions of {column.name}",
        )

    def _new_margins(
        self, new: Mapping[str, NewRows]
    ) -> tuple[dict[str, Ints], Floats, list[Floats], list[Ints]]:
        """Return the indices of new items by dataset, their consensus, and margins and rows."""
        problem, model = self.problem_, self.model_
        index_of: dict[str, int] = {}
        index_by_dataset = {
            name: np.array([index_of.setdefault(text, len(index_of)) for text in rows.dataset.ids])
            for name, rows in new.items()
        }
        ids = list(index_of)
        margins, places = [], []
        for i, name in enumerate(problem.names):
            # An item that is new in one view may be fitted in another.
            fitted_rows = self._fitted[name].find(ids)
            is_fitted = np.flatnonzero(fitted_rows >= 0)
            parts, positions = [model.margins[i][fitted_rows[is_fitted]]], [is_fitted]
            if name in new:
                X = problem.new_features(name, new[name].dataset)
                parts.append(model.margin(i, X))
                positions.append(index_by_dataset[name])
            margins.append(np.vstack(parts))
            places.append(np.concatenate(positions).astype(np.int64))
        return index_by_dataset, model.fuse(margins, places, len(ids)), margins, places

    def _predict(self, new: Mapping[str, NewRows]) -> Mapping[str, LabelPredictions]:
        if not new:
            return {}
        index_by_dataset, joint, margins, rows = self._new_margins(new)
        predictions = self._make_predictions(joint, margins, rows)
        return {name: predictions.take(numbers) for name, numbers in index_by_dataset.items()}

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        relevant = {name: rows for name, rows in new.items() if name in self.predictions_}
        out = self._no_places({name: rows.dataset for name, rows in new.items()})
        if relevant:
            index_by_dataset, joint, margins, rows = self._new_margins(relevant)
            places = self._places(joint, margins, rows)
            out.update({name: places[numbers] for name, numbers in index_by_dataset.items()})
        return out

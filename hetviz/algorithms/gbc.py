"""Gradient boosting consensus: a label learned from several sources that must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Ints, is_sparse
from hetviz.algorithms.base import Capability, Fit, MethodCard, Need, Reference, warn_about_data
from hetviz.algorithms.papers import SHI_2013
from hetviz.algorithms.predictor import BasePredictor, Predicted
from hetviz.algorithms.shared_params import DrawnBy, Features, NComponents, RandomState
from hetviz.core.prediction.boosting import TreeSettings
from hetviz.core.prediction.gbc import (
    CLASSES,
    LAM0,
    LAM1,
    MOST_ROUNDS,
    Gbc,
    GbcSettings,
    MarginAxes,
    chosen,
    fit_gbc,
    probabilities,
    spread,
)
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import NotApplicableError
from hetviz.features.relations.label_problems import LabelProblem, first_learnable_problem
from hetviz.params import Choice, Flag, Integer, LabelName, Real
from hetviz.progress import Progress, ProgressPart

# About what LightGBM and the coupling do on one core, in cells of a source by class and round.
_CELLS_A_SECOND = 5e7
_MOST_HOURS = 2.0


class GradientBoostingConsensus(BasePredictor):
    """Boosted trees for each source of features, drawn together on items without a label.

    Attributes
    ----------
    problem_ : LabelProblem
    model_ : Gbc
    settings_ : GbcSettings
        With what was chosen.

    Notes
    -----
    The objective stands in `hetviz.core.prediction.gbc`. A source may record some of the items
    only; an item that no source records gets the prior. Cost: O(sum n_i d_i K) for each round,
    about a second for 50 million cells.

    References
    ----------
    X. Shi, Heterogeneous learning and its applications, PhD thesis, University of Illinois at
    Chicago, 2013, chapter 3 (gradient boosting consensus): equations 3.1 to 3.11.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="gbc",
        title="Boosting consensus",
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
        capabilities=frozenset(
            {
                Capability.VIEWS,
                Capability.WITHIN_LINKS,
                Capability.LABELS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.SPARSE,
                Capability.OUT_OF_SAMPLE,
            }
        ),
        summary=(
            "Learns a label from several descriptions of the same items, each with trees of its "
            "own that must agree where the label is unknown, and draws how sure they are."
        ),
        caveats=(
            "Where sources lack items it was far better than trees on joined features, and better "
            "than a plain vote of the sources; with one source it is trees on its features.",
            "Linked items are pulled to the same label, which hurts where links say little of it.",
            "Distances on its map are differences in what is predicted, not in the features.",
        ),
        cost="About a second for 50 million numbers times classes times rounds.",
    )
    n_components: NComponents = 2
    label: Annotated[
        str | None,
        LabelName(
            "Label",
            "What to learn: the label of which dataset.",
            also=(None,),
            details=(
                '``"dataset:column"``, a label or a column of the table; a dataset for its first '
                "label; the first label that can be learned where left out."
            ),
        ),
    ] = None
    task: Annotated[
        str,
        Choice(
            "Kind of label",
            "Whether the label is a class or an amount.",
            options={
                "auto": "as it looks",
                "classes": "classes",
                "number": "numbers",
            },
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
            details='"cv" chooses by cross-validation, "early" by one fifth of the labels.',
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
            details='The thesis\' lambda_0; "cv" chooses by cross-validation.',
        ),
    ] = "cv"
    lam1: Annotated[
        float | str,
        Real(
            "Likeness of linked items",
            "How much linked items must have the same label.",
            low=0.0,
            high=1e3,
            log=True,
            also=("cv",),
            details='The thesis\' lambda_1; "cv" chooses by cross-validation.',
        ),
    ] = "cv"
    weights: Annotated[
        str,
        Choice(
            "Weight of sources",
            "How far each source is trusted.",
            options={
                "holdout": "by labels held out from it",
                "training": "by the labels that it learned from, as in the thesis",
                "equal": "all alike",
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
                "paper": "the mean taken for a label, as in the thesis",
            },
            advanced=True,
            details="See `hetviz.core.prediction.gbc.Pull`.",
        ),
    ] = "soft"
    sharpness: Annotated[
        float,
        Real(
            "Sharpness of agreement",
            "How much surer than their mean sources are made, for classes; 1: as sure as it.",
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
            "Whether the neighbours of an item count as fixed when it is pulled to them.",
            options={"paper": "towards fixed neighbours, as in the thesis", "exact": "both ends"},
            advanced=True,
            details="See `hetviz.core.prediction.gbc.connectivity`.",
        ),
    ] = "paper"
    normalize: Annotated[
        bool,
        Flag(
            "Whatever the share of labels",
            "Keep items without a label from outvoting the labels.",
            advanced=True,
            details="Makes both lambdas independent of how many labels are missing.",
        ),
    ] = True
    learner: Annotated[
        str,
        Choice(
            "Each step",
            "What a source learns with, round by round.",
            options={
                "auto": "whatever predicts held-out labels best",
                "trees": "trees of the best splits",
                "forest": "trees of random splits, each on some of the items",
                "linear": "ridge regressions",
            },
            advanced=True,
            details="See `hetviz.core.prediction.boosting.TreeSettings`; the thesis has trees.",
        ),
    ] = "auto"
    learning_rate: Annotated[
        float,
        Real(
            "Learning rate",
            "How far each step goes.",
            low=1e-3,
            high=1.0,
            log=True,
            advanced=True,
        ),
    ] = 0.1
    line_search: Annotated[
        bool,
        Flag(
            "Length of each step by search",
            "Go as far as lowers the objective most, then by the learning rate.",
            advanced=True,
            details="As in the thesis; without, each step is one of Newton's method.",
        ),
    ] = False
    n_leaves: Annotated[
        int,
        Integer(
            "Leaves",
            "Size of a tree.",
            low=2,
            high=1000,
            advanced=True,
        ),
    ] = 15
    min_leaf: Annotated[
        int,
        Integer(
            "Items in a leaf",
            "At least this many.",
            low=1,
            high=100_000,
            advanced=True,
        ),
    ] = 5
    features: Features = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        self.problem_ = problem = first_learnable_problem(
            data,
            self.label,
            key=self.card.key,
            title=self.card.title,
            task=self.task,
            features=self.features,
            random_state=self.random_state,
        )
        self._check_size(problem)
        self.settings_, self.model_ = self.train(problem, problem.y, progress)
        rows = [part.rows for part in problem.parts]
        model = self.model_
        self._axes = MarginAxes.fit(model.joint, model.margins, rows, self.n_components)
        places = self._places(model.joint, model.margins, rows)
        found = self._predicted(model.joint, model.margins, rows)
        self._keep_predictions(
            problem.column.classes,
            {name: found.take(rows) for name, rows in problem.entity.object_of.items()},
        )
        coordinates = {
            name: places[problem.entity.object_of[name]]
            if name in problem.entity.object_of
            else np.full((len(dataset), self.n_components), np.nan)
            for name, dataset in data.datasets.items()
        }
        left = [name for name in data.datasets if name not in problem.entity.object_of]
        if left:
            which = "is left off: it shows" if len(left) == 1 else "are left off: they show"
            warn_about_data(f"{', '.join(left)} {which} other items than the label is of.")
        return self._result(problem, coordinates, left)

    def train(
        self, problem: LabelProblem, y: Floats, progress: Progress
    ) -> tuple[GbcSettings, Gbc]:
        """Fit the consensus to labels of a problem, NaN where they are to be learned.

        Notes
        -----
        A training run of its own: nothing of a fit is changed, and the data are not checked.
        """
        open_ = [key for key in ("lam0", "lam1", "n_rounds") if getattr(self, key) == "cv"]
        open_ += ["early"] if self.n_rounds == "early" else []
        open_ += ["learner"] if self.learner == "auto" else []
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
                self.learning_rate, self.n_leaves, self.min_leaf, random_state=self.random_state
            ),
            learner=self.learner,
            line_search=self.line_search,
        )
        graphs = list(problem.graphs.values())
        Y, task = problem.targets(y), problem.column.task
        if open_:
            part = ProgressPart(progress, 0.0, 0.8)
            settings = chosen(problem.parts, graphs, Y, task, settings, open_, part)
            progress = ProgressPart(progress, 0.8, 1.0)
        return settings, fit_gbc(problem.parts, graphs, Y, task, settings, progress)

    def weight_table(self) -> list[tuple[int, str, float]]:
        """Return round (from 1), source and weight, for every round, source and kind of link."""
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
        rounds = MOST_ROUNDS if isinstance(self.n_rounds, str) else self.n_rounds
        grids = [g for g, lam in ((LAM0, self.lam0), (LAM1, self.lam1)) if lam == "cv"]
        # couplings that are tried in a fold have the first half of the rounds in common
        tried = sum(map(len, grids)) + (self.n_rounds == "cv")
        fits = 1 + 3 * (0.5 + 0.5 * tried if tried else 0.0)
        hours = cells * problem.targets().shape[1] * rounds * fits / _CELLS_A_SECOND / 3600
        if hours > _MOST_HOURS:
            raise NotApplicableError(
                self.card.title,
                [
                    f"It would take about {hours:,.0f} hours for {cells:,} numbers in "
                    f"{len(problem.parts)} sources, {rounds} rounds and "
                    f"{max(len(problem.column.classes), 1)} classes; at most {_MOST_HOURS:g} are "
                    "allowed. Use fewer rounds, sources or features, or fewer items"
                    + (", or say how much sources and linked items agree." if grids else ".")
                ],
            )

    def _places(self, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
        """Return the places of items, NaN for those that no source records."""
        places = self._axes(joint, margins, rows)
        unseen = np.ones(len(places), dtype=bool)
        for here in rows:
            unseen[here] = False
        places[unseen] = np.nan
        return places

    def _predicted(
        self, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]
    ) -> Predicted:
        column = self.problem_.column
        apart = spread(column.task, joint, margins, rows, self.model_.weights[-1])
        if column.task != CLASSES:
            numbers = joint[:, 0].astype(object)
            return Predicted(numbers, np.full(len(joint), np.nan), apart, None)
        p = probabilities(joint)
        label = np.array(column.classes, dtype=object)[p.argmax(axis=1)]
        return Predicted(label, p.max(axis=1), apart, p)

    def _result(
        self, problem: LabelProblem, coordinates: Mapping[str, Floats], left: Sequence[str]
    ) -> Fit:
        model, column = self.model_, problem.column
        number = {name: place + 1 for place, name in enumerate(left)}
        last = model.graph_weights[-1].tolist() if problem.graphs else []
        return Fit(
            coordinates,
            n_iter=len(model.history),
            loss_history=model.history,
            stopping_reason="all rounds were made",
            diagnostics={
                "label": f"{column.dataset}:{column.name}",
                "task": column.task,
                "labelled": int(np.isfinite(problem.y).sum()),
                "weights": dict(zip(problem.names, model.weights[-1].tolist(), strict=True)),
                "graph_weights": dict(zip(problem.graphs, last, strict=True)),
                "n_rounds": self.settings_.n_rounds,
                "lam0": self.settings_.lam0,
                "lam1": self.settings_.lam1,
                "learners": dict(zip(problem.names, model.learners, strict=True)),
            },
            messages=[
                make_diagnostic(
                    "weights",
                    "Weight of sources",
                    f"Share of each source (the features of a dataset, or a kind of links) in what "
                    f"is predicted of {column.name}, after the last round.",
                    dict(zip(problem.names, model.weights[-1].tolist(), strict=True)),
                    SHARE,
                ),
                make_diagnostic(
                    "graph weights",
                    "Weight of kinds of links",
                    "Share of each kind of links in making what is predicted of linked items "
                    "alike.",
                    dict(zip(problem.graphs, last, strict=True)),
                    SHARE,
                ),
            ],
            components={name: number.get(name, 0) for name in coordinates},
            note=f"places show what is predicted of {column.name}",
        )

    def _new_margins(
        self, new: Mapping[str, NewRows]
    ) -> tuple[dict[str, Ints], Floats, list[Floats], list[Ints]]:
        """Return the new items' numbers by dataset, consensus, margins and rows by source."""
        problem, model = self.problem_, self.model_
        number: dict[str, int] = {}
        of = {
            name: np.array([number.setdefault(text, len(number)) for text in rows.dataset.ids])
            for name, rows in new.items()
        }
        ids = list(number)
        margins, places = [], []
        for i, name in enumerate(problem.names):
            # an item that is new in one view may be fitted in another
            known = self._fitted[name].find(ids)
            old = np.flatnonzero(known >= 0)
            parts, where = [model.margins[i][known[old]]], [old]
            if name in new:
                X = problem.new_features(name, new[name].dataset)
                parts.append(model.margin(i, X))
                where.append(of[name])
            margins.append(np.vstack(parts))
            places.append(np.concatenate(where).astype(np.int64))
        return of, model.fuse(margins, places, len(ids)), margins, places

    def _predict(self, new: Mapping[str, NewRows]) -> Mapping[str, Predicted]:
        if not new:
            return {}
        of, joint, margins, rows = self._new_margins(new)
        found = self._predicted(joint, margins, rows)
        return {name: found.take(numbers) for name, numbers in of.items()}

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        mine = {name: rows for name, rows in new.items() if name in self.predictions_}
        out = {
            name: np.full((len(rows.dataset), self.n_components), np.nan)
            for name, rows in new.items()
        }
        if mine:
            of, joint, margins, rows = self._new_margins(mine)
            places = self._places(joint, margins, rows)
            out.update({name: places[numbers] for name, numbers in of.items()})
        return out

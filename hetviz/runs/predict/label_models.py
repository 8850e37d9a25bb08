"""Simple models for label prediction, with their inputs and outputs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge

from hetviz._types import Floats, Ints, Matrix, Sparse, is_sparse
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.core.arrays import as_dense
from hetviz.core.prediction.blend import link_axes, propagate, row_shares, walk_features
from hetviz.core.prediction.gbc import CLASSES, GbcSettings, fit_gbc, probabilities
from hetviz.core.prediction.link_ridge import thin_factor, unit_rows
from hetviz.data import HeteroData
from hetviz.features.problems.label_problems import LabelColumn, LabelProblem
from hetviz.features.spaces.basis import chosen_kind, fit_basis

OWN_FEATURES, LINKED_FEATURES, WALKED_FEATURES, ALL_FEATURES = (
    "own features",
    "own and linked features",
    "features along links",
    "all features",
)
LINK_AXES = "own features and link axes"
FOREST, OTHER_FOREST, LINKED_FOREST = "forest", "random forest", "forest, linked features too"
PROPAGATED, CONSENSUS, GUESS = "labels along links", "boosting consensus", "guess"
# Logistic or ridge regression on own features, or on link axes without these, and propagation of
# its outputs.
PLAIN = "regression, then links"

_STRENGTHS, _PLAIN_STRENGTH = (10.0, 1_000.0), 100.0
_RIDGES, _PLAIN_RIDGE = (0.1, 0.01), 0.1
_SMOOTHED = (OWN_FEATURES, LINKED_FEATURES, LINK_AXES)
_WIDTH, _LINKED_WIDTH, _AXES = 200, 50, 32
_LANDMARKS, _LANDMARKS_OF_MANY_ITEMS, _MANY_ITEMS = 600, 100, 20_000
_RANK = 300
_MAX_TRAINING_ITEMS = 5_000
_TREES = 100
_MAX_CONSENSUS_CELLS = 1_000_000
_TINY = 1e-8
# Memory: bytes of a number and of a tree node, copies during walks, and output columns by class
# including folds and tests.
_NUMBER, _NODE, _WALKED_COPIES, _OUTPUT_COPIES, _BASE_BYTES = 8, 64, 5, 80, 60e6


@dataclass(frozen=True, eq=False)
class LabelInputs:
    """Features and links of the items of a label."""

    own: list[Matrix]  # Shape (n, p). Own features, one matrix for each view; 0 is the mean.
    # Shape (n, q), rows of length 1 or 0. For each kind of links and each other dataset: mean
    # features of linked items, and the links.
    linked: list[Matrix]
    # Graphs for label propagation; see `hetviz.core.prediction.blend.propagate`.
    steps: list[tuple[Sparse, Sparse | None]]
    problem: LabelProblem


def bytes_for(data: HeteroData, column: LabelColumn) -> float:
    """Return an upper estimate of the memory of a blend in bytes.

    Measured by ``python -m benchmarks memory``. In addition to copies of all features there are
    float columns for each item (walks to landmarks, coordinates and outputs of linear models) and
    the trees of one forest, which are large with many classes.
    """
    views = data.views(data[column.dataset].entity)
    n = len(np.unique(np.concatenate([data.object_of[data.offsets[name]] for name in views])))
    n_labelled = int(np.isfinite(column.y).sum())
    n_classes = max(len(column.classes), 1)
    linked = any({links.source, links.target} & set(views) for links in data.links)
    columns = (len(views) + 1) * _RANK
    if linked:
        landmarks = _LANDMARKS if n <= _MANY_ITEMS else _LANDMARKS_OF_MANY_ITEMS
        columns += _WALKED_COPIES * (landmarks + len(views) * _WIDTH) + 4 * _RANK
    columns += _OUTPUT_COPIES * n_classes
    leaves = n_labelled if column.classes else n_labelled / 2
    trees = _TREES * 2 * leaves * (_NODE + _NUMBER * n_classes)
    return (
        MemoryEstimate(base=_BASE_BYTES, per_row=0.0).total_bytes(data)
        + _NUMBER * columns * n
        + trees
    )


def inputs_of(data: HeteroData, problem: LabelProblem, random_state: int) -> LabelInputs:
    """Collect own features, features of items linked as together, and graphs."""
    n = problem.entity.n_objects
    own = [_scatter_rows(_standardise(part.X), part.rows, n) for part in problem.parts]
    steps: list[tuple[Sparse, Sparse | None]] = []
    linked: list[Matrix] = []
    for A in problem.graphs.values():
        T = row_shares(A)
        steps.append((T, None))
        linked += [T, *(T @ X for X in own)]
    views = set(problem.entity.object_of)
    for name, other in data.datasets.items():
        if name in views:
            continue
        B = _links_to(data, problem, name)
        if not B.nnz:
            continue
        T = row_shares(B)
        steps.append((T, row_shares(sp.csr_array(B.T))))
        linked.append(T)
        kind = chosen_kind(other)
        if kind != "featureless" and not other.is_featureless:
            linked.append(T @ _standardise(fit_basis(other, kind, random_state).matrix))
    # Links with many or few items count the same.
    return LabelInputs(own, [unit_rows(X) for X in linked], steps, problem)


def _links_to(data: HeteroData, problem: LabelProblem, name: str) -> Sparse:
    n, m = problem.entity.n_objects, len(data[name])
    B = sp.csr_array((n, m))
    for links in data.links:
        together = links.weight > 0
        for view, i, other, j in (
            (links.source, links.i, links.target, links.j),
            (links.target, links.j, links.source, links.i),
        ):
            if other == name and view in problem.entity.object_of:
                rows = problem.entity.object_of[view][i[together]]
                B = B + sp.csr_array((links.weight[together], (rows, j[together])), shape=(n, m))
    return sp.csr_array(B)


def _standardise(X: Matrix) -> Matrix:
    """Return standardised columns with gaps at 0, or rows of length 1 for a sparse matrix."""
    if is_sparse(X):
        return unit_rows(X)
    dense = np.array(X, dtype=np.float64)
    gaps = ~np.isfinite(dense)
    if gaps.any():
        count = np.maximum((~gaps).sum(axis=0), 1)
        mean = np.where(gaps, 0.0, dense).sum(axis=0) / count
        dense = np.where(gaps, mean, dense)
    spread = dense.std(axis=0)
    return np.asarray((dense - dense.mean(axis=0)) / np.where(spread > 0, spread, np.inf))


def _scatter_rows(X: Matrix, rows: Ints, n: int) -> Matrix:
    selector = sp.csr_array(
        (np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n, len(rows))
    )
    scattered = selector @ X
    return sp.csr_array(scattered) if is_sparse(X) else np.asarray(scattered)


def _leading_columns(X: Matrix, width: int, random_state: int) -> Floats:
    """Return the leading principal directions of features as columns."""
    if is_sparse(X):
        return thin_factor(sp.csr_array(X), width, random_state)
    if X.shape[1] <= width:
        return np.asarray(X)
    if X.shape[1] > X.shape[0]:
        return thin_factor(sp.csr_array(X), width, random_state)
    _, V = np.linalg.eigh(X.T @ X)
    return np.asarray(X @ V[:, -width:])


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """Inputs of linear models and forests."""

    # Shape (n, at most 300). Coordinates for penalised linear models on all features of some
    # kinds, with equal weight for each kind.
    linear: dict[str, Floats]
    trees: dict[str, Floats]  # Shape (n, p).
    inputs: LabelInputs

    @classmethod
    def of(cls, inputs: LabelInputs, labelled: Ints, random_state: int) -> ModelInputs:
        """Return the model inputs for labelled items `labelled`.

        By the representer theorem a penalised linear model only uses the span of labelled items;
        at most 600 of them are sampled. Costs O(landmarks features n) without an n x n matrix.
        """
        rng = np.random.default_rng((random_state, 31))
        n = inputs.problem.entity.n_objects
        max_landmarks = _LANDMARKS if n <= _MANY_ITEMS else _LANDMARKS_OF_MANY_ITEMS
        training_base = (
            labelled
            if len(labelled) <= _LANDMARKS
            else np.sort(rng.permutation(labelled)[:_LANDMARKS])
        )
        others = rng.permutation(np.setdiff1d(np.arange(n), training_base))
        ends = np.concatenate([training_base, others])[:max_landmarks]
        own, linked = inputs.own, inputs.linked
        walked: list[list[Matrix]] = []
        if inputs.steps:
            start = np.zeros((n, len(ends)))
            start[ends, np.arange(len(ends))] = 1.0
            reached = walk_features(inputs.steps, start)
            walked.append([unit_rows(reached / np.sqrt(reached.sum(axis=0) + 1e-9))])
            if own:
                reduced = [_leading_columns(X, _WIDTH, random_state) for X in own]
                walked.append([unit_rows(walk_features(inputs.steps, X)) for X in reduced])
        kinds: dict[str, list[list[Matrix]]] = {}
        if own:
            kinds[OWN_FEATURES] = [own]
        if linked:
            kinds[LINKED_FEATURES] = [*([own] if own else []), linked]
            kinds[WALKED_FEATURES] = walked
            kinds[ALL_FEATURES] = [*kinds[LINKED_FEATURES], *walked]
            axes = link_axes(inputs.steps, _AXES, random_state)
            kinds[LINK_AXES] = [*([own] if own else []), [axes]]
        if len(own) > 1:
            names = inputs.problem.names
            kinds |= {f"{OWN_FEATURES}, {name}": [[X]] for name, X in zip(names, own, strict=True)}
        linear = {name: _coordinates(groups, training_base) for name, groups in kinds.items()}
        trees = {}
        if own:
            trees[OWN_FEATURES] = np.hstack(
                [_leading_columns(X, _WIDTH, random_state) for X in own]
            )
        if linked:
            reduced_linked = [
                _leading_columns(X, _LINKED_WIDTH if is_sparse(X) else _WIDTH, random_state)
                for X in linked
            ]
            trees[LINKED_FEATURES] = np.hstack(
                [*([trees[OWN_FEATURES]] if own else []), *reduced_linked]
            )
        return cls(linear, trees, inputs)


def _coordinates(groups: Sequence[Sequence[Matrix]], base: Ints) -> Floats:
    """Return coordinates of the mean kernel over groups and their matrices, and a column of ones.

    Each kernel is a product of rows, divided by its mean diagonal. The last column is for a
    penalised intercept. A free one would give items that share nothing with labelled items all to
    one class.
    """
    parts: list[tuple[float, Matrix]] = []
    for group in groups:
        for X in group:
            size = float((X * X).sum()) / X.shape[0]
            if size > 0:
                parts.append((1.0 / (size * len(group) * len(groups)), X))
    n = groups[0][0].shape[0]
    if not parts or not len(base):
        return np.ones((n, 1))
    K = np.zeros((len(base), len(base)))
    for share, X in parts:
        K += share * as_dense(X[base] @ X[base].T)
    values, V = np.linalg.eigh(K)
    is_positive = values > _TINY * max(float(values[-1]), 1e-300)
    is_positive[: max(0, len(values) - _RANK)] = False
    V = V[:, is_positive] / np.sqrt(values[is_positive])
    out = np.zeros((n, V.shape[1] + 1))
    for share, X in parts:
        out[:, :-1] += share * np.asarray(X @ np.asarray(X[base].T @ V))
    out[:, -1] = 1.0
    return out


def outputs_of(
    described: ModelInputs, y: Floats, task: str, n_classes: int, random_state: int
) -> dict[str, Floats]:
    """Return the outputs of each model but the forests for all items.

    Outputs are probabilities, or one column of numbers. The labels y, shape (n,), are class codes
    or numbers, with NaN where unknown.
    """
    is_known = np.isfinite(y)
    trainer = _Trainer(y, task, n_classes, random_state)
    outputs = {GUESS: trainer.guess}
    for name, X in described.linear.items():
        strengths = trainer.strengths
        for strength in strengths[:1] if name == LINK_AXES or "," in name else strengths:
            outputs[f"{name} {strength:g}"] = trainer.linear(X, strength)
    plain_kind = OWN_FEATURES if OWN_FEATURES in described.linear else LINK_AXES
    plain_strength = _PLAIN_STRENGTH if task == CLASSES else _PLAIN_RIDGE
    outputs[PLAIN] = trainer.linear(described.linear[plain_kind], plain_strength)
    inputs = described.inputs
    if inputs.steps:
        start = np.where(is_known[:, None], trainer.Y, trainer.guess)
        outputs[PROPAGATED] = propagate(inputs.steps, start, is_known)
        start = np.where(is_known[:, None], trainer.Y, outputs[PLAIN])
        outputs[PLAIN] = propagate(inputs.steps, start, is_known)
        for key in list(outputs):
            if key.startswith(tuple(f"{name} " for name in _SMOOTHED)):
                start = np.where(is_known[:, None], trainer.Y, outputs[key])
                outputs[f"{key}, then links"] = propagate(inputs.steps, start, is_known, 0.6, 8)
    if inputs.problem.graphs and inputs.problem.parts:
        consensus = _consensus(inputs.problem, y, trainer)
        if consensus is not None:
            outputs[CONSENSUS] = consensus
    return outputs


def forests_of(
    described: ModelInputs, y: Floats, task: str, n_classes: int, random_state: int
) -> dict[str, tuple[Floats, Floats]]:
    """Return the outputs of each forest for all items, and out of bag for labelled items.

    Each tree learns from a random sample of the labelled items. Out of bag, an item has the mean
    of the trees that did not learn from it, so that no forest has to be fitted again for
    cross-validation.
    """
    trainer = _Trainer(y, task, n_classes, random_state)
    names = {FOREST: OWN_FEATURES, OTHER_FOREST: OWN_FEATURES, LINKED_FOREST: LINKED_FEATURES}
    return {
        name: trainer.forest(described.trees[kind], best_splits=name == OTHER_FOREST)
        for name, kind in names.items()
        if kind in described.trees
    }


def linear_key(name: str, task: str) -> str:
    """Return the key in `outputs_of` of the linear model on features of a kind."""
    return f"{name} {(_STRENGTHS if task == CLASSES else _RIDGES)[0]:g}"


class _Trainer:
    """Models of one set of known labels."""

    def __init__(self, y: Floats, task: str, n_classes: int, random_state: int) -> None:
        self.labelled_rows = np.flatnonzero(np.isfinite(y))
        self.y, self.task, self.n_classes = y, task, n_classes
        self.random_state = random_state
        self.is_classes = task == CLASSES
        self.strengths = _STRENGTHS if self.is_classes else _RIDGES
        n = len(y)
        self.Y = y[:, None]
        if self.is_classes:
            self.Y = np.zeros((n, n_classes))
            self.Y[self.labelled_rows, y[self.labelled_rows].astype(np.int64)] = 1.0
        guess = self.Y[self.labelled_rows].mean(axis=0)
        if self.is_classes:
            # Add one pseudo item, spread evenly over the classes.
            count = len(self.labelled_rows)
            guess = (guess * count + 1.0 / n_classes) / (count + 1.0)
        self.guess = np.tile(guess, (n, 1))

    def _by_class(self, classes: Floats, P: Floats, doubt: float) -> Floats:
        out = np.zeros((len(P), self.n_classes))
        out[:, classes.astype(np.int64)] = P
        return np.asarray((1.0 - doubt) * out + doubt * self.guess[0])

    def linear(self, X: Floats, strength: float) -> Floats:
        """Logistic or ridge regression, on a limited number of items."""
        rows, y = self.labelled_rows, self.y
        if len(rows) > _MAX_TRAINING_ITEMS:
            rng = np.random.default_rng(self.random_state)
            rows = np.sort(rng.permutation(rows)[:_MAX_TRAINING_ITEMS])
        if not self.is_classes:
            centred = X - X[rows].mean(axis=0)
            model = Ridge(alpha=strength * len(rows) / 100.0).fit(centred[rows], y[rows])
            return np.asarray(model.predict(centred)).reshape(-1, 1)
        if len(np.unique(y[rows])) < 2:
            return self.guess
        logistic = LogisticRegression(C=strength, max_iter=200, tol=1e-3, fit_intercept=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            logistic.fit(X[rows], y[rows])
        return self._by_class(logistic.classes_, logistic.predict_proba(X), 0.01)

    def forest(self, X: Floats, best_splits: bool) -> tuple[Floats, Floats]:
        """Trees with the best or with random splits: outputs of all items, and out of bag."""
        rows, y = self.labelled_rows, self.y[self.labelled_rows]
        settings = {"bootstrap": True, "oob_score": True, "random_state": self.random_state}
        # For each tree, checks of the parameters would take a third of the time.
        with config_context(skip_parameter_validation=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not self.is_classes:
                kind = RandomForestRegressor if best_splits else ExtraTreesRegressor
                trees = kind(_TREES, min_samples_leaf=2, **settings).fit(X[rows], y)
                return trees.predict(X).reshape(-1, 1), trees.oob_prediction_.reshape(-1, 1)
            classifier = RandomForestClassifier if best_splits else ExtraTreesClassifier
            model = classifier(_TREES, **settings).fit(X[rows], y)
            # An item in the sample of every tree has no output out of bag.
            seen = np.nan_to_num(model.oob_decision_function_, nan=1.0 / len(model.classes_))
            return (
                self._by_class(model.classes_, model.predict_proba(X), 0.05),
                self._by_class(model.classes_, seen, 0.05),
            )


def _consensus(problem: LabelProblem, y: Floats, trainer: _Trainer) -> Floats | None:
    """Return the outputs of boosting under consensus if it is fast enough, else None."""
    Y = problem.targets(y)
    cells = sum(part.X.shape[0] * part.X.shape[1] for part in problem.parts) * Y.shape[1]
    is_known = np.isfinite(y)
    if cells > _MAX_CONSENSUS_CELLS or not any(is_known[part.rows].any() for part in problem.parts):
        return None
    settings = GbcSettings()
    model = fit_gbc(problem.parts, list(problem.graphs.values()), Y, trainer.task, settings)
    if not trainer.is_classes:
        return model.joint
    P = probabilities(model.joint)
    return np.asarray(0.95 * P + 0.05 * trainer.guess)

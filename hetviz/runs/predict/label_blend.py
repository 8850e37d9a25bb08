"""A label from all that is known: own features, those of linked items, and labels along links."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold

from hetviz._types import Floats, Ints, Matrix, Sparse, is_sparse
from hetviz.algorithms.predictor import Predicted
from hetviz.core.prediction.blend import (
    best_power,
    mean_weights,
    mixture_weights,
    propagate,
    reliability,
    row_shares,
    sharpened,
)
from hetviz.core.prediction.gbc import CLASSES
from hetviz.core.prediction.link_ridge import thin_factor, unit_rows
from hetviz.data import HeteroData
from hetviz.features.relations.labelled import LabelProblem, given_values, label_problem
from hetviz.features.spaces.basis import chosen_kind, fit_basis
from hetviz.progress import Progress
from hetviz.runs.predict.label_result import LabelPrediction, labelled_table
from hetviz.runs.predict.label_scores import error_table, split_labels

BLEND = "blend"
TITLE = "All that is known, weighed"
OWN, NEIGHBOURS, FOREST = "own features", "own and linked features", "forest"
PROPAGATED, SMOOTHED, GUESS = "labels along links", "linked features, then links", "guess"
_STRENGTHS = (1.0, 30.0, 1_000.0)
_RIDGES = (1.0, 0.1, 0.01)
_WIDTH = 200
_TREES = 100
_FOLDS = 4
_LEAST_BY_FOLD = 2
_INTERVAL = 0.9
_BETTER_THAN_GUESS = 0.05


@dataclass(frozen=True, eq=False)
class Inputs:
    """What describes the items of a label, item by item.

    Attributes
    ----------
    own : ndarray of shape (n, p) or None
        Their features, scaled so that rows have a mean squared length of 1.
    linked : ndarray of shape (n, q) or None
        Means of the features of linked items and which items these are, scaled alike.
    steps : list of (A, B)
        Graphs to spread labels over; see `hetviz.core.prediction.blend.propagate`.
    """

    own: Floats | None
    linked: Floats | None
    steps: list[tuple[Sparse, Sparse | None]]

    @property
    def both(self) -> Floats | None:
        """Own and linked features side by side."""
        parts = [part for part in (self.own, self.linked) if part is not None]
        return np.hstack(parts) if parts else None


def inputs_of(data: HeteroData, problem: LabelProblem, random_state: int) -> Inputs:
    """Gather own features, features of linked items of any dataset, and graphs.

    Linked are items joined by links that say together, within their datasets or to others;
    without `problem.graphs` of a kind, its links are left out.
    """
    n = problem.entity.n_objects
    own = [_spread_out(_narrow(part.X, random_state), part.rows, n) for part in problem.parts]
    X = np.hstack(own) if own else None
    steps: list[tuple[Sparse, Sparse | None]] = []
    linked: list[Floats] = []
    for A in problem.graphs.values():
        T = row_shares(A)
        steps.append((T, None))
        if X is not None:
            near = np.asarray(T @ X)
            linked += [near, np.asarray(T @ near)]
        linked.append(thin_factor(T, _WIDTH // 4, random_state))
    views = set(problem.entity.object_of)
    for name, other in data.datasets.items():
        if name in views:
            continue
        B = _links_to(data, problem, name)
        if not B.nnz:
            continue
        T, back = row_shares(B), row_shares(sp.csr_array(B.T))
        steps.append((T, back))
        kind = chosen_kind(other)
        if kind != "featureless" and not other.is_featureless:
            Z = _narrow(fit_basis(other, kind, random_state).matrix, random_state)
            linked.append(np.asarray(T @ Z))
        linked.append(thin_factor(T, _WIDTH // 4, random_state))
    return Inputs(
        None if X is None else _scaled(X),
        _scaled(np.hstack(linked)) if linked else None,
        steps,
    )


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


def _narrow(X: Matrix, random_state: int) -> Floats:
    """Return features as at most 200 columns; gaps are filled with the mean."""
    if is_sparse(X):
        return thin_factor(sp.csr_array(unit_rows(X)), _WIDTH, random_state)
    dense = np.array(X, dtype=np.float64)
    gaps = ~np.isfinite(dense)
    if gaps.any():
        count = np.maximum((~gaps).sum(axis=0), 1)
        mean = np.where(gaps, 0.0, dense).sum(axis=0) / count
        dense = np.where(gaps, mean, dense)
    spread = dense.std(axis=0)
    Z = (dense - dense.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    if Z.shape[1] <= _WIDTH:
        return np.asarray(Z)
    values, V = np.linalg.eigh(Z.T @ Z) if Z.shape[1] <= 2_000 else (None, None)
    if values is None or V is None:
        return thin_factor(sp.csr_array(Z), _WIDTH, random_state)
    return np.asarray(Z @ V[:, -_WIDTH:])


def _spread_out(X: Floats, rows: Ints, n: int) -> Floats:
    out = np.zeros((n, X.shape[1]))
    out[rows] = X
    return out


def _scaled(X: Floats) -> Floats:
    size = float(np.sqrt((X**2).sum(axis=1).mean()))
    return np.asarray(X / size) if size > 0 else X


def outputs_of(
    inputs: Inputs, y: Floats, task: str, n_classes: int, random_state: int
) -> dict[str, Floats]:
    """Return what each kind of model says of all items, learned from those with a label.

    Parameters
    ----------
    inputs : Inputs
    y : ndarray of shape (n,)
        Classes by number, or numbers; NaN where unknown.
    task, n_classes
    random_state : int

    Returns
    -------
    dict of str to ndarray of shape (n, K)
        Probabilities, or one column of numbers.
    """
    known = np.isfinite(y)
    Y = _wanted(y, task, n_classes)
    guess = np.tile(Y[known].mean(axis=0), (len(y), 1))
    if task == CLASSES:
        # one item of each class more than there are
        guess = (guess * known.sum() + 1.0 / n_classes) / (known.sum() + 1.0)
    out = {GUESS: guess}
    both = inputs.both
    for name, X in ((OWN, inputs.own), (NEIGHBOURS, both if inputs.linked is not None else None)):
        if X is None:
            continue
        for strength in _STRENGTHS if task == CLASSES else _RIDGES:
            out[f"{name} {strength:g}"] = _linear(X, y, task, n_classes, strength, guess)
    if inputs.own is not None:
        out[FOREST] = _forest(inputs.own, y, task, n_classes, guess, random_state)
    if inputs.steps:
        start = np.where(known[:, None], Y, guess)
        out[PROPAGATED] = propagate(inputs.steps, start, known)
        best = f"{NEIGHBOURS} {(_STRENGTHS if task == CLASSES else _RIDGES)[1]:g}"
        if best in out:
            start = np.where(known[:, None], Y, out[best])
            out[SMOOTHED] = propagate(inputs.steps, start, known, 0.5, 5)
    return out


def _wanted(y: Floats, task: str, n_classes: int) -> Floats:
    known = np.isfinite(y)
    if task != CLASSES:
        return np.asarray(y[:, None])
    Y = np.zeros((len(y), n_classes))
    Y[known, y[known].astype(np.int64)] = 1.0
    return Y


def _linear(
    X: Floats, y: Floats, task: str, n_classes: int, strength: float, guess: Floats
) -> Floats:
    known = np.isfinite(y)
    if task != CLASSES:
        model = Ridge(alpha=strength * known.sum() / 100.0).fit(X[known], y[known])
        return np.asarray(model.predict(X)).reshape(-1, 1)
    if len(np.unique(y[known])) < 2:
        return guess
    model = LogisticRegression(C=strength, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[known], y[known])
    out = np.zeros((len(X), n_classes))
    out[:, model.classes_.astype(np.int64)] = model.predict_proba(X)
    return 0.99 * out + 0.01 * guess


def _forest(
    X: Floats, y: Floats, task: str, n_classes: int, guess: Floats, random_state: int
) -> Floats:
    known = np.isfinite(y)
    if task != CLASSES:
        trees = ExtraTreesRegressor(_TREES, min_samples_leaf=2, random_state=random_state)
        return np.asarray(trees.fit(X[known], y[known]).predict(X)).reshape(-1, 1)
    model = ExtraTreesClassifier(_TREES, random_state=random_state).fit(X[known], y[known])
    out = np.zeros((len(X), n_classes))
    out[:, model.classes_.astype(np.int64)] = model.predict_proba(X)
    return 0.95 * out + 0.05 * guess


@dataclass(frozen=True, eq=False)
class Blend:
    """Outputs of several models as one.

    Attributes
    ----------
    outputs : ndarray of shape (n, K)
        Probabilities, or numbers.
    spread : ndarray of shape (n,)
        How far the models differ: standard deviation of their numbers, or of what they say of the
        likeliest class.
    weights : dict of str to float
    seen : ndarray of shape (p, K)
        Outputs of the items with a label by fits that did not see it, and
    rows : ndarray of int, shape (p,)
        which items these are.
    each : dict of str to ndarray
        Outputs of each model.
    """

    outputs: Floats
    spread: Floats
    weights: dict[str, float]
    seen: Floats
    rows: Ints
    each: dict[str, Floats]


def blend(
    inputs: Inputs,
    y: Floats,
    task: str,
    n_classes: int,
    random_state: int,
    told: Callable[[float], None] = lambda share: None,
) -> Blend:
    """Fit all kinds of models, and weigh them by four-fold cross-validation on the known labels."""
    known = np.flatnonzero(np.isfinite(y))
    each = outputs_of(inputs, y, task, n_classes, random_state)
    # a guess is what the others shrink to already
    names = [name for name in each if name != GUESS] or [GUESS]
    folds = _folds(y[known], task, random_state)
    unseen = {name: np.zeros((len(known), max(n_classes, 1))) for name in names}
    for number, hidden in enumerate(folds):
        told((number + 1) / (len(folds) + 1))
        part = y.copy()
        part[known[hidden]] = np.nan
        found = outputs_of(inputs, part, task, n_classes, random_state)
        for name in names:
            unseen[name][hidden] = found[name][known[hidden]]
    if task == CLASSES:
        codes = y[known].astype(np.int64)
        w = mixture_weights([unseen[name] for name in names], codes)
        seen = _summed(unseen, names, w)
        power = best_power(seen, codes)
        seen, outputs = sharpened(seen, power), sharpened(_summed(each, names, w), power)
        at = outputs.argmax(axis=1)
        said = np.column_stack([each[name][np.arange(len(y)), at] for name in names])
    else:
        w = mean_weights([unseen[name][:, 0] for name in names], y[known])
        seen, outputs = _summed(unseen, names, w), _summed(each, names, w)
        said = np.column_stack([each[name][:, 0] for name in names])
    middle = said @ w
    spread = np.sqrt(np.maximum(((said - middle[:, None]) ** 2) @ w, 0.0))
    weights = dict(zip(names, w.tolist(), strict=True))
    return Blend(outputs, spread, weights, seen, known, each)


def _summed(parts: Mapping[str, Floats], names: list[str], w: Floats) -> Floats:
    out = np.zeros_like(parts[names[0]])
    for name, weight in zip(names, w, strict=True):
        out += weight * parts[name]
    return out


def _folds(y: Floats, task: str, random_state: int) -> list[Ints]:
    count = min(_FOLDS, len(y) // 2)
    if count < _LEAST_BY_FOLD:
        return []
    if task == CLASSES:
        with warnings.catch_warnings():
            # a class of one item cannot be in every fold
            warnings.simplefilter("ignore")
            split = StratifiedKFold(count, shuffle=True, random_state=random_state)
            try:
                return [hidden for _, hidden in split.split(y, y)]
            except ValueError:
                pass
    split_any = KFold(count, shuffle=True, random_state=random_state)
    return [hidden for _, hidden in split_any.split(y)]


def by_blend(
    data: HeteroData,
    dataset: str,
    label: str,
    share: float,
    repeats: int,
    random_state: int,
    progress: Progress,
) -> LabelPrediction:
    """Predict a label by the blend; see `hetviz.predict_labels`."""
    problem = label_problem(data, dataset, label, random_state=random_state, featureless=True)
    column, y, task = problem.column, problem.y, problem.column.task
    n_classes = len(column.classes)
    progress(0.0, "Gathering what is known")
    inputs = inputs_of(data, problem, random_state)
    whole = blend(
        inputs,
        y,
        task,
        n_classes,
        random_state,
        lambda done: progress(done / (repeats + 1), "Weighed by labels held out"),
    )
    errors: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    usable = np.flatnonzero(np.isfinite(y))
    for repeat in range(repeats):
        shown, hidden = split_labels(y, usable, share, task, random_state + repeat)
        part = np.full(len(y), np.nan)
        part[shown] = y[shown]
        found = blend(inputs, part, task, n_classes, random_state + repeat)
        ways = {BLEND: found.outputs, **_plain_ways(found.each, task)}
        for name, outputs in ways.items():
            errors.setdefault(name, []).append(_error(task, outputs[hidden], y[hidden]))
            counts[name] = len(hidden)
        progress((repeat + 2) / (repeats + 1), "Judged by held-out labels")
    held = error_table(errors, counts)
    rows = problem.entity.object_of[dataset]
    table = _table(data, problem, whole, rows)
    progress(1.0, "Done")
    figures: dict[str, object] = {
        "weights": {name: weight for name, weight in whole.weights.items() if weight > 0.005}
    }
    if task == CLASSES:
        codes = y[whole.rows].astype(np.int64)
        figures["reliability"] = reliability(whole.seen, codes)
    else:
        away = np.abs(whole.seen[:, 0] - y[whole.rows])
        figures["interval"] = float(np.quantile(away, _INTERVAL))
    return LabelPrediction(
        dataset,
        label,
        BLEND,
        task,
        column.classes,
        table,
        held,
        pd.DataFrame({"round": [], "source": [], "weight": []}),
        None,
        reasons=_sentences(held, table, task),
        figures=figures,
    )


def _plain_ways(each: Mapping[str, Floats], task: str) -> dict[str, Floats]:
    """Return the models to compare with, under plain names: the middle strength of each."""
    middle = (_STRENGTHS if task == CLASSES else _RIDGES)[1]
    names = {
        OWN: f"{OWN} {middle:g}",
        NEIGHBOURS: f"{NEIGHBOURS} {middle:g}",
        PROPAGATED: PROPAGATED,
        FOREST: FOREST,
        GUESS: GUESS,
    }
    return {plain: each[name] for plain, name in names.items() if name in each}


def _error(task: str, outputs: Floats, y: Floats) -> float:
    if task == CLASSES:
        return float((outputs.argmax(axis=1) != y).mean())
    return float(np.sqrt(((outputs[:, 0] - y) ** 2).mean()))


def _table(data: HeteroData, problem: LabelProblem, found: Blend, rows: Ints) -> pd.DataFrame:
    """Return the table of a prediction, with `decided` and, of numbers, an interval."""
    column = problem.column
    outputs, nothing = found.outputs[rows], np.full(len(rows), np.nan)
    ids = data[column.dataset].ids
    if column.task == CLASSES:
        names = np.array(column.classes, dtype=object)
        predicted = Predicted(
            names[outputs.argmax(axis=1)], outputs.max(axis=1), found.spread[rows], outputs
        )
        share = np.bincount(column.y[np.isfinite(column.y)].astype(np.int64)).max()
        usual = share / max(np.isfinite(column.y).sum(), 1)
        decided = outputs.max(axis=1) > usual + _BETTER_THAN_GUESS
    else:
        predicted = Predicted(outputs[:, 0].astype(object), nothing, found.spread[rows], None)
        away = np.abs(found.seen[:, 0] - problem.y[found.rows])
        guess = np.abs(problem.y[found.rows] - np.mean(problem.y[found.rows]))
        useful = float(np.mean(away**2)) < float(np.mean(guess**2))
        decided = np.full(len(rows), useful)
    frame = predicted.frame(column.dataset, ids, column.classes)
    table = labelled_table(frame, column, given_values(data, column))
    known = table["known"].to_numpy()
    table["decided"] = decided | known
    if column.task != CLASSES:
        half = float(np.quantile(away, _INTERVAL))
        table["low"] = np.where(known, column.y, outputs[:, 0] - half)
        table["high"] = np.where(known, column.y, outputs[:, 0] + half)
        table.loc[known, "doubt"] = 0.0
    return table


def _sentences(held: pd.DataFrame, table: pd.DataFrame, task: str) -> list[str]:
    out = []
    unknown = ~table["known"].to_numpy()
    unsure = int((unknown & ~table["decided"].to_numpy()).sum())
    if unsure:
        out.append(
            f"Of {unsure:,} of the {int(unknown.sum()):,} items without the label it does not "
            "know better than a guess."
        )
    if task != CLASSES and unknown.any():
        half = float((table["high"] - table["low"])[unknown].iloc[0]) / 2
        out.append(f"Nine of ten hidden numbers lay within {half:.3g} of what was predicted.")
    if len(held):
        errors = dict(zip(held["model"], held["error"], strict=True))
        best = min(errors, key=lambda name: errors[name])
        if best not in (BLEND, GUESS):
            out.append(f"On labels held out, {best} alone did as well or better.")
        elif best == GUESS:
            out.append("To guess is as good: what is known of the items does not tell this label.")
    return out

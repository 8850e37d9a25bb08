"""Label prediction by a blend of models of own features, linked features and linked labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

from hetviz._types import Floats, Ints
from hetviz.algorithms.memory import memory_refusal
from hetviz.algorithms.predictor import LabelPredictions
from hetviz.core.prediction.blend import mean_weights, pool_probabilities, pool_weights, reliability
from hetviz.core.prediction.gbc import CLASSES
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, by_key, make_diagnostic
from hetviz.errors import NotApplicableError
from hetviz.features.problems.label_problems import (
    LabelProblem,
    label_column,
    label_problem,
    values_by_class,
)
from hetviz.progress import Progress
from hetviz.runs.predict.label_models import (
    CONSENSUS,
    FOREST,
    GUESS,
    LINKED_FEATURES,
    LINKED_FOREST,
    OWN_FEATURES,
    PROPAGATED,
    LabelInputs,
    ModelInputs,
    bytes_for,
    inputs_of,
    linear_key,
    outputs_of,
)
from hetviz.runs.predict.label_result import LabelPrediction, labelled_table
from hetviz.runs.predict.label_scores import error_table, split_labels

BLEND = "blend"
TITLE = "Blend of all models"
_FOLDS, _FEWER_FOLDS, _MAX_LABELS_FOR_FOLDS = 5, 3, 2_000
_MIN_FOLDS = 2
_INTERVAL = 0.9
_MIN_GAIN_OVER_GUESS = 0.05


@dataclass(frozen=True, eq=False)
class BlendedOutputs:
    """Blended outputs of several models."""

    outputs: Floats  # Shape (n, K). Probabilities, or numbers.
    # Shape (n,). Disagreement of the models: standard deviation of their numbers, or of their
    # probabilities of the likeliest class.
    spread: Floats
    weights: dict[str, float]  # Shares with sum 1.
    seen: Floats  # Shape (p, K). Cross-validated outputs of items with a label.
    rows: Ints  # Shape (p,). These items.
    each: dict[str, Floats]  # Outputs of each model.


def blend(
    inputs: LabelInputs,
    y: Floats,
    task: str,
    n_classes: int,
    random_state: int,
    on_progress: Callable[[float], None] = lambda share: None,
) -> BlendedOutputs:
    """Fit all models, with weights from cross-validation on the known labels.

    Probabilities are multiplied, each to the power of a weight that is learned on left-out folds
    (`hetviz.core.prediction.blend.pool_weights`). Numbers are averaged. The only item of a class
    does not count for the weights, since without it no model knows the class.
    """
    labelled = np.flatnonzero(np.isfinite(y))
    described = ModelInputs.of(inputs, labelled, random_state)
    outputs_by_model = outputs_of(described, y, task, n_classes, random_state)
    # The other models already shrink to the guess.
    names = [name for name in outputs_by_model if name != GUESS] or [GUESS]
    folds = _folds(y[labelled], task, random_state)
    cross_validated = {name: np.zeros((len(labelled), max(n_classes, 1))) for name in names}
    for number, hidden in enumerate(folds):
        on_progress((number + 1) / (len(folds) + 1))
        training_y = y.copy()
        training_y[labelled[hidden]] = np.nan
        fold_outputs = outputs_of(described, training_y, task, n_classes, random_state)
        for name in names:
            # A model that cannot learn from fewer labels uses the guess.
            cross_validated[name][hidden] = fold_outputs.get(name, fold_outputs[GUESS])[
                labelled[hidden]
            ]
    usable = np.arange(len(labelled)) if folds else np.empty(0, np.int64)
    if task == CLASSES:
        codes = y[labelled].astype(np.int64)
        usable = usable[np.bincount(codes)[codes][usable] > 1]
        w = pool_weights([cross_validated[name][usable] for name in names], codes[usable])
        blended = pool_probabilities([cross_validated[name][usable] for name in names], w)
        outputs = pool_probabilities([outputs_by_model[name] for name in names], w)
        at = outputs.argmax(axis=1)
        opinions = np.column_stack(
            [outputs_by_model[name][np.arange(len(y)), at] for name in names]
        )
    else:
        w = np.full(len(names), 1.0 / len(names))
        if len(usable):
            w = mean_weights(
                [cross_validated[name][usable, 0] for name in names], y[labelled[usable]]
            )
        blended, outputs = (
            _weighted_sum(cross_validated, names, w)[usable],
            _weighted_sum(outputs_by_model, names, w),
        )
        opinions = np.column_stack([outputs_by_model[name][:, 0] for name in names])
    shares = w / max(float(w.sum()), 1e-12)
    centre = opinions @ shares
    spread = np.sqrt(np.maximum(((opinions - centre[:, None]) ** 2) @ shares, 0.0))
    weights = dict(zip(names, shares.tolist(), strict=True))
    return BlendedOutputs(outputs, spread, weights, blended, labelled[usable], outputs_by_model)


def _weighted_sum(parts: Mapping[str, Floats], names: list[str], w: Floats) -> Floats:
    out = np.zeros_like(parts[names[0]])
    for name, weight in zip(names, w, strict=True):
        out += weight * parts[name]
    return out


def _folds(y: Floats, task: str, random_state: int) -> list[Ints]:
    count = min(_FOLDS if len(y) <= _MAX_LABELS_FOR_FOLDS else _FEWER_FOLDS, len(y) // 2)
    if count < _MIN_FOLDS:
        return []
    if task == CLASSES:
        with warnings.catch_warnings():
            # A class of one item cannot be in every fold.
            warnings.simplefilter("ignore")
            split = StratifiedKFold(count, shuffle=True, random_state=random_state)
            try:
                return [hidden for _, hidden in split.split(y, y)]
            except ValueError:
                pass
    split_any = KFold(count, shuffle=True, random_state=random_state)
    return [hidden for _, hidden in split_any.split(y)]


def predict_by_blend(
    data: HeteroData,
    dataset: str,
    label: str,
    share: float,
    repeats: int,
    random_state: int,
    progress: Progress,
) -> LabelPrediction:
    """Predict a label by the blend; see `hetviz.predict_labels`."""
    needed_bytes = bytes_for(data, label_column(data, dataset, label))
    if (too_much := memory_refusal(needed_bytes, data.n_rows)) is not None:
        raise NotApplicableError(TITLE, [too_much])
    problem = label_problem(data, dataset, label, random_state=random_state, featureless=True)
    column, y, task = problem.column, problem.y, problem.column.task
    n_classes = len(column.classes)
    progress(0.0, "Collecting features and links")
    inputs = inputs_of(data, problem, random_state)
    final = blend(
        inputs,
        y,
        task,
        n_classes,
        random_state,
        lambda done: progress(done / (repeats + 1), "Weighting models on hidden labels"),
    )
    errors: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    usable = np.flatnonzero(np.isfinite(y))
    for repeat in range(repeats):
        training, hidden = split_labels(y, usable, share, task, random_state + repeat)
        training_y = np.full(len(y), np.nan)
        training_y[training] = y[training]
        fitted = blend(inputs, training_y, task, n_classes, random_state + repeat)
        by_model = {BLEND: fitted.outputs, **_simple_models(fitted.each, task)}
        for name, outputs in by_model.items():
            errors.setdefault(name, []).append(_error(task, outputs[hidden], y[hidden]))
            counts[name] = len(hidden)
        progress((repeat + 2) / (repeats + 1), "Judging on hidden labels")
    held_out = error_table(errors, counts)
    rows = problem.entity.object_of[dataset]
    table = _table(data, problem, final, rows)
    progress(1.0, "Done")
    figures: dict[str, object] = {
        "weights": {name: weight for name, weight in final.weights.items() if weight > 0.005}
    }
    if task == CLASSES:
        codes = y[final.rows].astype(np.int64)
        figures["reliability"] = reliability(final.seen, codes)
    else:
        deviations = np.abs(final.seen[:, 0] - y[final.rows])
        figures["interval"] = float(np.quantile(deviations, _INTERVAL))
    return LabelPrediction(
        dataset,
        label,
        BLEND,
        task,
        column.classes,
        table,
        held_out,
        pd.DataFrame({"round": [], "source": [], "weight": []}),
        None,
        reasons=_sentences(held_out, table, task),
        figures=figures,
        diagnostics=by_key(
            [
                make_diagnostic(
                    "weights",
                    "Weight of models",
                    f"The weight of each model in the prediction of {label}, learned on hidden "
                    "labels.",
                    final.weights,
                    SHARE,
                )
            ]
        ),
    )


def _simple_models(each: Mapping[str, Floats], task: str) -> dict[str, Floats]:
    """Return the outputs of models to compare with, by plain name."""
    names = {
        OWN_FEATURES: linear_key(OWN_FEATURES, task),
        LINKED_FEATURES: linear_key(LINKED_FEATURES, task),
        PROPAGATED: PROPAGATED,
        FOREST: FOREST,
        LINKED_FOREST: LINKED_FOREST,
        CONSENSUS: CONSENSUS,
        GUESS: GUESS,
    }
    return {plain: each[name] for plain, name in names.items() if name in each}


def _error(task: str, outputs: Floats, y: Floats) -> float:
    if task == CLASSES:
        return float((outputs.argmax(axis=1) != y).mean())
    return float(np.sqrt(((outputs[:, 0] - y) ** 2).mean()))


def _table(
    data: HeteroData, problem: LabelProblem, blended: BlendedOutputs, rows: Ints
) -> pd.DataFrame:
    """Return the table of a prediction, with `decided` and, for numbers, an interval."""
    column = problem.column
    outputs, missing = blended.outputs[rows], np.full(len(rows), np.nan)
    ids = data[column.dataset].ids
    if column.task == CLASSES:
        names = np.array(column.classes, dtype=object)
        predicted = LabelPredictions(
            names[outputs.argmax(axis=1)], outputs.max(axis=1), blended.spread[rows], outputs
        )
        share = np.bincount(column.y[np.isfinite(column.y)].astype(np.int64)).max()
        majority_share = share / max(np.isfinite(column.y).sum(), 1)
        decided = outputs.max(axis=1) > majority_share + _MIN_GAIN_OVER_GUESS
    else:
        predicted = LabelPredictions(
            outputs[:, 0].astype(object), missing, blended.spread[rows], None
        )
        deviations = np.abs(blended.seen[:, 0] - problem.y[blended.rows])
        guess = np.abs(problem.y[blended.rows] - np.mean(problem.y[blended.rows]))
        useful = float(np.mean(deviations**2)) < float(np.mean(guess**2))
        decided = np.full(len(rows), useful)
    frame = predicted.frame(column.dataset, ids, column.classes)
    table = labelled_table(frame, column, values_by_class(data, column))
    is_known = table["known"].to_numpy()
    table["decided"] = decided | is_known
    if column.task != CLASSES:
        half = float(np.quantile(deviations, _INTERVAL))
        table["low"] = np.where(is_known, column.y, outputs[:, 0] - half)
        table["high"] = np.where(is_known, column.y, outputs[:, 0] + half)
        table.loc[is_known, "doubt"] = 0.0
    return table


def _sentences(held_out: pd.DataFrame, table: pd.DataFrame, task: str) -> list[str]:
    sentences = []
    unknown = ~table["known"].to_numpy()
    unsure = int((unknown & ~table["decided"].to_numpy()).sum())
    if unsure:
        sentences.append(
            f"For {unsure:,} of the {int(unknown.sum()):,} items without the label, the prediction "
            "is no better than a guess."
        )
    if task != CLASSES and unknown.any():
        half = float((table["high"] - table["low"])[unknown].iloc[0]) / 2
        sentences.append(f"Nine of ten hidden numbers were within {half:.3g} of the prediction.")
    if len(held_out):
        errors = dict(zip(held_out["model"], held_out["error"], strict=True))
        best = min(errors, key=lambda name: errors[name])
        if best not in (BLEND, GUESS):
            sentences.append(f"On hidden labels, {best} alone was as good or better.")
        elif best == GUESS:
            sentences.append("A guess is as good. The data do not predict this label.")
    return sentences

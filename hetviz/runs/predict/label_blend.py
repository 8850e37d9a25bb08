"""Label prediction by a blend of models of own features, linked features and linked labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints
from hetviz.algorithms.memory import memory_refusal
from hetviz.algorithms.predictor import LabelPredictions
from hetviz.core.prediction.blend import (
    mean_weights,
    pool_probabilities,
    pool_weights,
    reliability,
    scale_classes,
    share_factors,
)
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
    ALL_FEATURES,
    CONSENSUS,
    FOREST,
    GUESS,
    LINKED_FEATURES,
    LINKED_FOREST,
    OWN_FEATURES,
    PLAIN,
    PROPAGATED,
    WALKED_FEATURES,
    LabelInputs,
    ModelInputs,
    bytes_for,
    forests_of,
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
# With this number of held-out labels, the share that is right is known to 5 percentage points.
_MIN_CHECKED = 100
# Weights without held-out labels: their sum, and their ratio to the weight of the plain model for
# models that are as good with one or two labels of each class, and for all others.
_PRIOR_TOTAL, _GOOD_RATIO, _OTHER_RATIO = 1.5, 0.3, 0.05
# With this number of labels of each class, predicted shares of classes are moved half the way to
# those of the known labels, and less with more labels.
_LABELS_FOR_SHARES = 2.0


@dataclass(frozen=True, eq=False)
class BlendedOutputs:
    """Blended outputs of several models."""

    outputs: Floats  # Shape (n, K). Probabilities, or numbers.
    # Shape (n,). Disagreement of the models: standard deviation of their numbers, or of their
    # probabilities of the likeliest class.
    spread: Floats
    weights: dict[str, float]  # Shares with sum 1.
    each: dict[str, Floats]  # Outputs of each model.
    rows: Ints  # Shape (p,). Items with a cross-validated output.
    folds: Ints  # Shape (p,). Their folds.
    # Shape (p, K). Cross-validated outputs of these items, by each model and by the blend with
    # weights learned on the other folds.
    seen_by_model: dict[str, Floats]
    seen: Floats


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
    is never left out, since without it no model knows the class. Forests are not fitted again:
    their outputs are out of bag.
    """
    labelled = np.flatnonzero(np.isfinite(y))
    described = ModelInputs.of(inputs, labelled, random_state)
    forests = forests_of(described, y, task, n_classes, random_state)
    by_model = outputs_of(described, y, task, n_classes, random_state)
    by_model |= {name: outputs for name, (outputs, _) in forests.items()}
    folds = _folds(y[labelled], task, random_state)
    usable = np.flatnonzero(folds >= 0)
    seen = {name: np.zeros((len(labelled), max(n_classes, 1))) for name in by_model}
    seen |= {name: out_of_bag for name, (_, out_of_bag) in forests.items()}
    n_folds = int(folds.max(initial=-1)) + 1
    for fold in range(n_folds):
        on_progress((fold + 1) / (n_folds + 1))
        hidden = folds == fold
        training_y = y.copy()
        training_y[labelled[hidden]] = np.nan
        fold_outputs = outputs_of(described, training_y, task, n_classes, random_state)
        for name in seen.keys() - forests.keys():
            # A model that cannot learn from fewer labels uses the guess.
            seen[name][hidden] = fold_outputs.get(name, fold_outputs[GUESS])[labelled[hidden]]
    folds, rows = folds[usable], labelled[usable]
    seen = {name: values[usable] for name, values in seen.items()}
    # The other models already shrink to the guess.
    names = [name for name in by_model if name != GUESS] or [GUESS]

    def weights_from(mask: Bools) -> Floats:
        parts = [seen[name][mask] for name in names]
        if task == CLASSES:
            return pool_weights(parts, y[rows[mask]].astype(np.int64), _prior_weights(names))
        if not mask.any():
            return np.full(len(names), 1.0 / len(names))
        return mean_weights([part[:, 0] for part in parts], y[rows[mask]])

    def combine(parts: Mapping[str, Floats], w: Floats) -> Floats:
        if task == CLASSES:
            return pool_probabilities([parts[name] for name in names], w)
        return np.asarray(sum(v * parts[name] for name, v in zip(names, w, strict=True)))

    w = weights_from(np.ones(len(rows), dtype=bool))
    outputs, blended = combine(by_model, w), np.zeros((len(rows), max(n_classes, 1)))
    for fold in range(n_folds):
        mask = folds == fold
        hidden_parts = {name: seen[name][mask] for name in names}
        blended[mask] = combine(hidden_parts, weights_from(~mask))
    if task == CLASSES:
        per_class = len(labelled) / n_classes
        power = _LABELS_FOR_SHARES / (_LABELS_FOR_SHARES + per_class)
        factors = share_factors(outputs, by_model[GUESS][0], power)
        outputs, blended = scale_classes(outputs, factors), scale_classes(blended, factors)
    at = outputs.argmax(axis=1)
    opinions = np.column_stack([by_model[name][np.arange(len(y)), at] for name in names])
    shares = w / max(float(w.sum()), 1e-12)
    centre = opinions @ shares
    spread = np.sqrt(np.maximum(((opinions - centre[:, None]) ** 2) @ shares, 0.0))
    weights = dict(zip(names, shares.tolist(), strict=True))
    return BlendedOutputs(outputs, spread, weights, by_model, rows, folds, seen, blended)


def _prior_weights(names: Sequence[str]) -> Floats:
    """Return the weights of models of probabilities without held-out labels."""
    ratios = {PLAIN: 1.0}
    ratios |= {linear_key(kind, CLASSES): _GOOD_RATIO for kind in (WALKED_FEATURES, ALL_FEATURES)}
    shares = np.array([ratios.get(name, _OTHER_RATIO) for name in names])
    return np.asarray(_PRIOR_TOTAL * shares / shares.sum())


def _folds(y: Floats, task: str, random_state: int) -> Ints:
    """Return the fold of each labelled item, or -1 for items that are never left out.

    Folds have equal numbers of items, also of each class. With fewer items than folds in each
    class, there are fewer folds, so that classes stay balanced.
    """
    count = min(_FOLDS if len(y) <= _MAX_LABELS_FOR_FOLDS else _FEWER_FOLDS, len(y) // 2)
    can_hide = np.ones(len(y), dtype=bool)
    groups = np.zeros(len(y), dtype=np.int64)
    if task == CLASSES:
        groups = y.astype(np.int64)
        sizes = np.bincount(groups)
        can_hide = sizes[groups] > 1
        count = min(count, int(sizes.max()))
    folds = np.full(len(y), -1)
    if count < _MIN_FOLDS:
        return folds
    order = np.random.default_rng((random_state, 29)).permutation(np.flatnonzero(can_hide))
    order = order[np.argsort(groups[order], kind="stable")]
    folds[order] = np.arange(len(order)) % count
    return folds


def predict_by_blend(
    data: HeteroData,
    dataset: str,
    label: str,
    share: float | None,
    repeats: int,
    random_state: int,
    progress: Progress,
) -> LabelPrediction:
    """Predict a label by the blend; see `hetviz.predict_labels`.

    Without a share of labels for training, errors are those of the cross-validation of the fit.
    """
    needed_bytes = bytes_for(data, label_column(data, dataset, label))
    if (too_much := memory_refusal(needed_bytes, data.n_rows)) is not None:
        raise NotApplicableError(TITLE, [too_much])
    problem = label_problem(
        data, dataset, label, random_state=random_state, featureless=True, min_classified=2
    )
    column, y, task = problem.column, problem.y, problem.column.task
    n_classes = len(column.classes)
    progress(0.0, "Collecting features and links")
    n_fits = 0 if share is None else repeats
    inputs = inputs_of(data, problem, random_state)
    final = blend(
        inputs,
        y,
        task,
        n_classes,
        random_state,
        lambda done: progress(done / (n_fits + 1), "Weighting models on hidden labels"),
    )
    errors: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    if share is None and repeats:
        by_model = {BLEND: final.seen, **_simple_models(final.seen_by_model, task)}
        for fold in range(int(final.folds.max(initial=-1)) + 1):
            mask = final.folds == fold
            for name, outputs in by_model.items():
                error = _error(task, outputs[mask], y[final.rows[mask]])
                errors.setdefault(name, []).append(error)
                counts[name] = max(int(mask.sum()), counts.get(name, 0))
    elif share is not None:
        usable = np.flatnonzero(np.isfinite(y))
        for repeat in range(n_fits):
            training, hidden = split_labels(y, usable, share, task, random_state + repeat)
            training_y = np.full(len(y), np.nan)
            training_y[training] = y[training]
            fitted = blend(inputs, training_y, task, n_classes, random_state + repeat)
            by_model = {BLEND: fitted.outputs, **_simple_models(fitted.each, task)}
            for name, outputs in by_model.items():
                errors.setdefault(name, []).append(_error(task, outputs[hidden], y[hidden]))
                counts[name] = len(hidden)
            progress((repeat + 2) / (n_fits + 1), "Judging on hidden labels")
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
        reasons=_sentences(held_out, table, task, len(final.rows)),
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


def _sentences(held_out: pd.DataFrame, table: pd.DataFrame, task: str, n_checked: int) -> list[str]:
    sentences = []
    unknown = ~table["known"].to_numpy()
    unsure = int((unknown & ~table["decided"].to_numpy()).sum())
    if unsure:
        sentences.append(
            f"For {unsure:,} of the {int(unknown.sum()):,} items without the label, the prediction "
            "is no better than a guess."
        )
    if task == CLASSES and not n_checked:
        sentences.append("Nothing could check the probabilities: no class has two known labels.")
    elif task == CLASSES and n_checked < _MIN_CHECKED:
        # The standard deviation of the share that is right, if half are.
        points = round(50 / np.sqrt(n_checked))
        sentences.append(
            f"Only {n_checked:,} known labels could check the probabilities. They may be off by "
            f"about {points} percentage points."
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

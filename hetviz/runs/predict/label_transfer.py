"""Transfer of a label from another dataset, with a decision about its risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import NearestNeighbors

from hetviz import params as parameters
from hetviz._types import Floats
from hetviz.algorithms.predictor import LabelPredictions
from hetviz.algorithms.registry import get_method
from hetviz.core.arrays import as_dense
from hetviz.core.prediction.gbc import CLASSES
from hetviz.core.prediction.transfer import Selection, bridge, quantile_bins, select_sources
from hetviz.data import Dataset, Embedding, HeteroData, Labels
from hetviz.errors import NotApplicableError
from hetviz.features.item_columns import item_columns
from hetviz.features.problems.label_problems import (
    LabelColumn,
    label_column,
    values_by_class,
    without_column,
)
from hetviz.features.spaces.basis import fit_basis
from hetviz.progress import Progress
from hetviz.runs.predict.label_result import LabelPrediction, labelled_table
from hetviz.runs.predict.label_scores import error_table, split_labels

MIN_LABELS = 5
OWN_NEAREST, OWN_RIDGE, GUESS = "10 nearest of its own", "ridge on its own features", "guess"
OWN_LOGISTIC = "logistic regression on its own features"
_N_NEAREST = 10
_DEFAULT_AXES, _MANY_LABELS = 10, 10
_MAX_ITERATIONS = 1000
_STRENGTH = 10.0
_AXES_TO_TRY = (1, 10)
"""Numbers of axes that held-out labels choose from."""
_N_SPLITS = 2
DECISIONS = {"accept": "accept", "caution": "caution", "too_risky": "too risky"}
_PAIRING_TEXTS = {
    "links": "by links or equal ids",
    "labels": "by equal labels",
    "random": "at random, because the data do not tell which belong together",
}


@dataclass(frozen=True, eq=False)
class Transfer:
    """Outputs for the items of a target, learned from a source."""

    # Shape (n_t, Y). Probabilities of the classes, or mean and mean square of a number; None if
    # learning from the source is too risky.
    outputs: Floats | None
    selection: Selection
    pairing: str  # Pairing of rows of both: "links", "labels" or "random".
    learned_from: int  # Number of labelled source rows that were used.
    embedding: Embedding


def transfer_labels(
    data: HeteroData,
    target: LabelColumn,
    y: Floats,
    source: LabelColumn,
    params: Mapping[str, object],
    random_state: int,
) -> Transfer:
    """Predict the label of a target from labels of a source.

    `target`: gives `task` and `classes`. `y` (n_t,): training labels of the target, NaN elsewhere.
    With fewer than five, predictions are in terms of the source. `params`: parameters of the
    method "hemap". The default is ten axes, or one, as in the thesis, with five to nine target
    labels, which cannot tell apart more axes.

    Ten nearest neighbours in the common space give the source class (or tenth of its numbers) of
    an item. A linear model of the target's labels there (logistic or ridge regression) labels the
    source rows. `hetviz.core.prediction.transfer.bridge` combines both (equations 5.19 and 5.20).
    """
    kind = get_method("hemap")
    hemap_params = {
        "n_components": 1 if MIN_LABELS <= np.isfinite(y).sum() < _MANY_LABELS else _DEFAULT_AXES,
        **params,
        "target": target.dataset,
        "source": source.dataset,
        "random_state": random_state,
    }
    model: Any = kind(**parameters.check("hemap", kind.params, hemap_params))
    model.fit(_training_data(data, target, y, source))
    B_T = model.embedding_.coordinates[target.dataset]
    B_S = model.embedding_.coordinates[source.dataset]
    selection: Selection = model.selection_
    products = B_T[model.pairing_.target] * B_S[model.pairing_.source]
    shared = products.sum(axis=0) > 0
    if model.pairing_.how != "random" and shared.any():
        # On the other joint axes pairs are opposite; these only separate the two datasets.
        B_T, B_S = B_T[:, shared], B_S[:, shared]
        selection = select_sources(B_T, B_S, random_state)
    rows = selection.rows[np.isfinite(source.y[selection.rows])]
    outputs = None
    if len(rows):
        v = source.y[rows]
        codes = v.astype(np.int64) if source.task == CLASSES else quantile_bins(v)
        width = len(source.classes) if source.task == CLASSES else int(codes.max()) + 1
        p_v = nearest_mean(B_S[rows], np.eye(width)[codes], B_T)
        labelled = np.flatnonzero(np.isfinite(y))
        if len(labelled) >= MIN_LABELS:
            source_outputs = _target_model(target, B_T[labelled], y[labelled], B_S[rows])
        else:
            source_outputs = target_outputs(source, v)
        outputs = bridge(p_v, codes, source_outputs)
    return Transfer(outputs, selection, model.pairing_.how, len(rows), model.embedding_)


def own_models(
    dataset: Dataset, target: LabelColumn, y: Floats, random_state: int
) -> dict[str, Floats]:
    """Return outputs of models of the dataset's own features and labels, and of a guess."""
    basis = fit_basis(without_column(dataset, target.name), "auto", random_state)
    labelled = np.flatnonzero(np.isfinite(y))
    Y = target_outputs(target, y[labelled])
    guess = np.tile(Y.mean(axis=0), (len(y), 1))
    if isinstance(basis.features, int):
        return {GUESS: guess}
    X = as_dense(basis.features)
    spread = X[labelled].std(axis=0)
    Z = (X - X[labelled].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    ridge = Ridge(alpha=1.0).fit(Z[labelled], Y).predict(Z).reshape(len(y), -1)
    outputs = {OWN_NEAREST: nearest_mean(Z[labelled], Y, Z), OWN_RIDGE: ridge}
    if target.task == CLASSES:
        # Rows of mean length 1 make the strength independent of the number of columns.
        U = Z / max(float(np.sqrt((Z[labelled] ** 2).sum(axis=1).mean())), 1e-12)
        outputs[OWN_LOGISTIC] = _target_model(
            target, U[labelled], y[labelled], U, strength=_STRENGTH
        )
    return outputs | {GUESS: guess}


def best_own_outputs(dataset: Dataset, target: LabelColumn, y: Floats, random_state: int) -> Floats:
    """Return the outputs without a transfer, by linear models of the dataset's own labels.

    Ten nearest neighbours would give one class to all items with fewer than ten known labels.
    """
    outputs = own_models(dataset, target, y, random_state)
    return next(outputs[name] for name in (OWN_LOGISTIC, OWN_RIDGE, GUESS) if name in outputs)


def target_outputs(column: LabelColumn, y: Floats) -> Floats:
    """Return labels as outputs: one column for each class, or the number and its square."""
    if column.task == CLASSES:
        return np.asarray(np.eye(len(column.classes))[y.astype(np.int64)])
    return np.column_stack([y, y**2])


def error_of_outputs(column: LabelColumn, outputs: Floats, y: Floats) -> float:
    """Return the share of wrong classes, or the root mean square error of numbers."""
    if column.task == CLASSES:
        return float((outputs.argmax(axis=1) != y).mean())
    return float(np.sqrt(((outputs[:, 0] - y) ** 2).mean()))


def nearest_mean(B: Floats, outputs: Floats, at: Floats, k: int = _N_NEAREST) -> Floats:
    """Return the mean output of the k nearest rows of B (n, d) for each row of `at`."""
    neighbors = NearestNeighbors(n_neighbors=min(k, len(B))).fit(B)
    return np.asarray(outputs[neighbors.kneighbors(at, return_distance=False)].mean(axis=1))


def _target_model(
    target: LabelColumn, B: Floats, y: Floats, at: Floats, strength: float = 1.0
) -> Floats:
    """Return the target's outputs at other coordinates by a linear model of its labels."""
    if target.task != CLASSES:
        return np.asarray(Ridge(alpha=1.0).fit(B, target_outputs(target, y)).predict(at))
    out = np.zeros((len(at), len(target.classes)))
    codes = np.unique(y).astype(np.int64)
    if len(codes) == 1:
        out[:, codes] = 1.0
    else:
        model = LogisticRegression(C=strength, max_iter=_MAX_ITERATIONS).fit(B, y)
        out[:, model.classes_.astype(np.int64)] = model.predict_proba(at)
    return out


def _training_data(
    data: HeteroData, target: LabelColumn, y: Floats, source: LabelColumn
) -> HeteroData:
    """Return the two datasets with target labels `y` and without features made from them."""
    parts = [without_column(data[column.dataset], column.name) for column in (target, source)]
    featureless = [part.name for part in parts if part.is_featureless]
    if featureless:
        raise NotApplicableError(
            get_method("hemap").card.title,
            [f"Only the label itself describes the items of {', '.join(featureless)}."],
        )
    names = {target.dataset, source.dataset}
    links = [group for group in data.links if {group.source, group.target} <= names]
    given_labels = values_by_class(data, target)
    class_labels = [given_labels.get(text, text) for text in target.classes]
    values = [
        None if np.isnan(code) else class_labels[int(code)] if target.classes else float(code)
        for code in y
    ]
    labels = [Labels(target.dataset, target.name, values)] + [
        column
        for column in data.labels
        if column.dataset in names
        and (column.dataset, column.name) != (target.dataset, target.name)
    ]
    return HeteroData(parts, links, None, labels)


def unknown_label(dataset: str, name: str, n: int, source: LabelColumn) -> LabelColumn:
    """Return an unknown label in terms of the source."""
    return replace(source, dataset=dataset, name=name, y=np.full(n, np.nan))


def predict_by_transfer(
    data: HeteroData,
    dataset: str,
    label: str,
    source: tuple[str, str],
    share: float,
    repeats: int,
    random_state: int,
    progress: Progress,
    params: Mapping[str, object],
) -> LabelPrediction:
    """Predict a label of one dataset from a label of another; see `hetviz.predict_labels`.

    If the transfer is too risky, the predictions come from regularised logistic or ridge
    regression on the dataset's own features and labels, or there are none with too few labels. The
    own models are always judged together with the transfer. Unless parameters give the number of
    axes, it is one or ten, whichever predicts hidden labels better.
    """
    source_label = label_column(data, *source)
    if not np.isfinite(source_label.y).any():
        raise NotApplicableError("Transfer", [f"No item has a value of {':'.join(source)}."])
    target, has_own_labels = _target_label(data, dataset, label, source_label)
    params = dict(params)
    if has_own_labels and "n_components" not in params:
        axes = _choose_axes(data, target, source_label, random_state, progress, params)
        params |= {} if axes is None else {"n_components": axes}
    transfer = transfer_labels(data, target, target.y, source_label, params, random_state)
    progress(1 / (repeats + 1), "Predicted")
    outputs = transfer.outputs
    if outputs is None and has_own_labels:
        outputs = best_own_outputs(data[dataset], target, target.y, random_state)
    held_out = error_table({}, {})
    if has_own_labels and repeats:
        held_out = _held_out_table(
            data, target, source_label, share, repeats, random_state, progress, params
        )
    frame = _predictions(target, outputs).frame(dataset, data[dataset].ids, target.classes)
    given_labels = values_by_class(data, target if has_own_labels else source_label)
    table = labelled_table(frame, target, given_labels)
    if not target.classes:
        is_known = table["known"].to_numpy()
        table["doubt"] = np.where(is_known, 0.0, table["doubt"])
    progress(1.0, "Done")
    selection = transfer.selection
    return LabelPrediction(
        dataset,
        label,
        "hemap",
        target.task,
        target.classes,
        table,
        held_out,
        pd.DataFrame({"round": [], "source": [], "weight": []}),
        transfer.embedding,
        _decide(transfer),
        _reasons(transfer, dataset, source, has_own_labels, held_out),
        {
            "share_of_source": selection.fraction,
            "divergence": selection.divergence,
            "divergence_by_chance": selection.chance,
            "divergence_as_printed": selection.printed,
            "learned_from": transfer.learned_from,
            "pairing": transfer.pairing,
            **({"axes": params["n_components"]} if "n_components" in params else {}),
        },
        diagnostics=transfer.embedding.diagnostics,
    )


def _choose_axes(
    data: HeteroData,
    target: LabelColumn,
    source_label: LabelColumn,
    random_state: int,
    progress: Progress,
    params: Mapping[str, object],
) -> int | None:
    """Return the number of axes, 1 or 10, that predicts hidden labels best; the fewer of equals.

    None if half of the labels are too few to learn from.
    """
    usable = np.flatnonzero(np.isfinite(target.y))
    errors: dict[int, list[float]] = {axes: [] for axes in _AXES_TO_TRY}
    for repeat in range(_N_SPLITS):
        seed = random_state + repeat
        training, hidden = split_labels(target.y, usable, 0.5, target.task, seed)
        if len(training) < MIN_LABELS:
            return None
        training_y = np.full(len(target.y), np.nan)
        training_y[training] = target.y[training]
        for axes, errors_of_axes in errors.items():
            progress(0.0, "Choosing the number of axes on hidden labels")
            params_with_axes = {**params, "n_components": axes}
            outputs = transfer_labels(
                data, target, training_y, source_label, params_with_axes, seed
            ).outputs
            if outputs is None:
                return None
            errors_of_axes.append(error_of_outputs(target, outputs[hidden], target.y[hidden]))
    return min(_AXES_TO_TRY, key=lambda axes: (float(np.mean(errors[axes])), axes))


def _decide(transfer: Transfer) -> str:
    """Return the decision; rows paired at random always overlap, so they need caution."""
    decision = DECISIONS[transfer.selection.decision]
    return "caution" if decision == "accept" and transfer.pairing == "random" else decision


def _target_label(
    data: HeteroData, dataset: str, label: str, source_label: LabelColumn
) -> tuple[LabelColumn, bool]:
    """Return the label to predict, and whether it has enough own labels."""
    if label in item_columns(data, data[dataset].name):
        column = label_column(data, dataset, label)
        if np.isfinite(column.y).sum() >= MIN_LABELS:
            return column, True
    return unknown_label(dataset, label, len(data[dataset]), source_label), False


def _held_out_table(
    data: HeteroData,
    target: LabelColumn,
    source_label: LabelColumn,
    share: float,
    repeats: int,
    random_state: int,
    progress: Progress,
    params: Mapping[str, object],
) -> pd.DataFrame:
    errors: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    usable = np.flatnonzero(np.isfinite(target.y))
    for repeat in range(repeats):
        seed = random_state + repeat
        training, hidden = split_labels(target.y, usable, share, target.task, seed)
        training_y = np.full(len(target.y), np.nan)
        training_y[training] = target.y[training]
        outputs_by_model = own_models(data[target.dataset], target, training_y, seed)
        transfer = transfer_labels(data, target, training_y, source_label, params, seed)
        if transfer.outputs is not None and len(training) >= MIN_LABELS:
            outputs_by_model = {"hemap": transfer.outputs, **outputs_by_model}
        for name, outputs in outputs_by_model.items():
            error = error_of_outputs(target, outputs[hidden], target.y[hidden])
            errors.setdefault(name, []).append(error)
            counts[name] = len(hidden)
        progress((repeat + 2) / (repeats + 1), "Judging on hidden labels")
    return error_table(errors, counts)


def _predictions(target: LabelColumn, outputs: Floats | None) -> LabelPredictions:
    n = len(target.y)
    missing = np.full(n, np.nan)
    if target.task != CLASSES:
        if outputs is None:
            return LabelPredictions(np.full(n, None, dtype=object), missing, missing, None)
        spread = np.sqrt(np.maximum(outputs[:, 1] - outputs[:, 0] ** 2, 0.0))
        return LabelPredictions(outputs[:, 0].astype(object), missing, spread, None)
    if outputs is None:
        unknown = np.full((n, len(target.classes)), np.nan)
        return LabelPredictions(np.full(n, None, dtype=object), missing, missing, unknown)
    label = np.array(target.classes, dtype=object)[outputs.argmax(axis=1)]
    return LabelPredictions(label, outputs.max(axis=1), missing, outputs)


def _reasons(
    transfer: Transfer,
    dataset: str,
    source: tuple[str, str],
    has_own_labels: bool,
    held_out: pd.DataFrame,
) -> list[str]:
    """Return sentences about the decision and its numbers."""
    selection = transfer.selection
    sentences = [
        f"{100 * selection.fraction:.0f} % of {source[0]} are among the items of {dataset}. "
        "30 % is enough, and below 10 % is too risky. "
        f"Rows were paired {_PAIRING_TEXTS[transfer.pairing]}."
    ]
    if selection.decision == "too_risky":
        sentences.append(f"It is too risky to learn from {source[0]}.")
        sentences.append(
            "Predictions come from its own labels alone."
            if has_own_labels
            else "There are no predictions, because it has too few labels."
        )
    elif not has_own_labels:
        sentences.append(
            f"{dataset} has fewer than {MIN_LABELS} labels, so the predictions are values of "
            f"{source[1]} in {source[0]}. Their quality is unknown."
        )
    if transfer.pairing == "random" and selection.decision != "too_risky":
        sentences.append("Rows were paired at random, so do not trust predictions of single items.")
    errors = dict(zip(held_out["model"], held_out["error"], strict=True))
    if "hemap" in errors:
        best = min(errors, key=lambda name: errors[name])
        if best != "hemap":
            sentences.append(f"On hidden labels, {best} is better. The transfer adds nothing here.")
        else:
            sentences.append("On hidden labels, the transfer is better than models without it.")
    return sentences

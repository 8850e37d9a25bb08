"""A label by transfer from another dataset, with the decision whether to trust it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.algorithms.predictor import Predicted
from hetviz.core.prediction.gbc import CLASSES
from hetviz.data import HeteroData
from hetviz.errors import NotApplicableError
from hetviz.features.known import known_columns
from hetviz.features.relations.labelled import LabelColumn, given_values, label_column
from hetviz.progress import Progress
from hetviz.runs.predict.label_result import LabelPrediction, labelled_table
from hetviz.runs.predict.label_scores import error_table, split_labels
from hetviz.runs.predict.label_transfer import (
    LEAST_LABELS,
    Transfer,
    error_of_outputs,
    own_best,
    own_ways,
    transferred,
    unlabelled,
)

AXES = (1, 10)
"""Numbers of axes among which held-out labels choose."""
_SPLITS = 2
DECISIONS = {"accept": "accept", "caution": "caution", "too_risky": "too risky"}
_PAIRED = {
    "links": "by links or equal ids",
    "labels": "by equal labels",
    "random": "at random, since nothing says which belong together",
}


def by_transfer(
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

    Notes
    -----
    Where it is too risky, the predictions are those of regularised logistic or ridge regression
    on the dataset's own features and labels, and there are none where it has too few labels. What
    these own models say is judged beside the transfer in any case.
    Unless parameters say it, one axis or ten are taken, whichever tells hidden labels better.
    """
    learned = label_column(data, *source)
    if not np.isfinite(learned.y).any():
        raise NotApplicableError("Transfer", [f"{':'.join(source)} is known of no item."])
    target, in_its_terms = _target(data, dataset, label, learned)
    params = dict(params)
    if in_its_terms and "n_components" not in params:
        axes = _axes(data, target, learned, random_state, progress, params)
        params |= {} if axes is None else {"n_components": axes}
    found = transferred(data, target, target.y, learned, params, random_state)
    progress(1 / (repeats + 1), "Predicted")
    outputs = found.outputs
    if outputs is None and in_its_terms:
        outputs = own_best(data[dataset], target, target.y, random_state)
    held = error_table({}, {})
    if in_its_terms and repeats:
        held = _held_out(data, target, learned, share, repeats, random_state, progress, params)
    frame = _predicted(target, outputs).frame(dataset, data[dataset].ids, target.classes)
    given = given_values(data, target if in_its_terms else learned)
    table = labelled_table(frame, target, given)
    if not target.classes:
        known = table["known"].to_numpy()
        table["doubt"] = np.where(known, 0.0, table["doubt"])
    progress(1.0, "Done")
    selection = found.selection
    return LabelPrediction(
        dataset,
        label,
        "hemap",
        target.task,
        target.classes,
        table,
        held,
        pd.DataFrame({"round": [], "source": [], "weight": []}),
        found.embedding,
        _decision(found),
        _reasons(found, dataset, source, in_its_terms, held),
        {
            "share_of_source": selection.fraction,
            "divergence": selection.divergence,
            "divergence_by_chance": selection.chance,
            "divergence_as_printed": selection.printed,
            "learned_from": found.learned_from,
            "pairing": found.pairing,
            **({"axes": params["n_components"]} if "n_components" in params else {}),
        },
        diagnostics=found.embedding.diagnostics,
    )


def _axes(
    data: HeteroData,
    target: LabelColumn,
    learned: LabelColumn,
    random_state: int,
    progress: Progress,
    params: Mapping[str, object],
) -> int | None:
    """Return how many axes tell hidden labels best, 1 as in the thesis or 10; of equals 1.

    None where half of the labels are too few to learn from.
    """
    usable = np.flatnonzero(np.isfinite(target.y))
    errors: dict[int, list[float]] = {axes: [] for axes in AXES}
    for repeat in range(_SPLITS):
        seed = random_state + repeat
        shown, hidden = split_labels(target.y, usable, 0.5, target.task, seed)
        if len(shown) < LEAST_LABELS:
            return None
        seen = np.full(len(target.y), np.nan)
        seen[shown] = target.y[shown]
        for axes, found in errors.items():
            progress(0.0, "Choosing the number of axes by held-out labels")
            given = {**params, "n_components": axes}
            outputs = transferred(data, target, seen, learned, given, seed).outputs
            if outputs is None:
                return None
            found.append(error_of_outputs(target, outputs[hidden], target.y[hidden]))
    return min(AXES, key=lambda axes: (float(np.mean(errors[axes])), axes))


def _decision(found: Transfer) -> str:
    """Return the decision; rows paired at random lie over each other whatever they are."""
    decision = DECISIONS[found.selection.decision]
    return "caution" if decision == "accept" and found.pairing == "random" else decision


def _target(
    data: HeteroData, dataset: str, label: str, learned: LabelColumn
) -> tuple[LabelColumn, bool]:
    """Return the label to predict, and whether enough is known to predict it in its own terms."""
    if label in known_columns(data, data[dataset].name):
        column = label_column(data, dataset, label)
        if np.isfinite(column.y).sum() >= LEAST_LABELS:
            return column, True
    return unlabelled(dataset, label, len(data[dataset]), learned), False


def _held_out(
    data: HeteroData,
    target: LabelColumn,
    learned: LabelColumn,
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
        shown, hidden = split_labels(target.y, usable, share, target.task, seed)
        seen = np.full(len(target.y), np.nan)
        seen[shown] = target.y[shown]
        ways = own_ways(data[target.dataset], target, seen, seed)
        found = transferred(data, target, seen, learned, params, seed)
        if found.outputs is not None and len(shown) >= LEAST_LABELS:
            ways = {"hemap": found.outputs, **ways}
        for name, outputs in ways.items():
            error = error_of_outputs(target, outputs[hidden], target.y[hidden])
            errors.setdefault(name, []).append(error)
            counts[name] = len(hidden)
        progress((repeat + 2) / (repeats + 1), "Judged by held-out labels")
    return error_table(errors, counts)


def _predicted(target: LabelColumn, outputs: Floats | None) -> Predicted:
    n = len(target.y)
    nothing = np.full(n, np.nan)
    if target.task != CLASSES:
        if outputs is None:
            return Predicted(np.full(n, None, dtype=object), nothing, nothing, None)
        spread = np.sqrt(np.maximum(outputs[:, 1] - outputs[:, 0] ** 2, 0.0))
        return Predicted(outputs[:, 0].astype(object), nothing, spread, None)
    if outputs is None:
        unknown = np.full((n, len(target.classes)), np.nan)
        return Predicted(np.full(n, None, dtype=object), nothing, nothing, unknown)
    label = np.array(target.classes, dtype=object)[outputs.argmax(axis=1)]
    return Predicted(label, outputs.max(axis=1), nothing, outputs)


def _reasons(
    found: Transfer, dataset: str, source: tuple[str, str], in_its_terms: bool, held: pd.DataFrame
) -> list[str]:
    """Say what was decided and by which figures."""
    selection = found.selection
    out = [
        f"{selection.fraction:.0%} of {source[0]} lies among the items of {dataset} "
        "(30 % is enough, below 10 % is too risky); rows were paired "
        f"{_PAIRED[found.pairing]}."
    ]
    if selection.decision == "too_risky":
        instead = "its own labels alone" if in_its_terms else "nothing, since it has no labels"
        out.append(f"It is too risky to learn from {source[0]}; predictions come from {instead}.")
    elif not in_its_terms:
        out.append(
            f"{dataset} has fewer than {LEAST_LABELS} labels of its own, so the predictions are in "
            f"the terms of {source[0]}: {source[1]}, and nothing tells how good they are."
        )
    if found.pairing == "random" and selection.decision != "too_risky":
        out.append("After pairing at random, nothing relates single items: be sceptical.")
    errors = dict(zip(held["model"], held["error"], strict=True))
    if "hemap" in errors:
        best = min(errors, key=lambda name: errors[name])
        if best != "hemap":
            out.append(f"On labels held out, {best} does better; the transfer adds nothing here.")
        else:
            out.append("On labels held out, the transfer does better than what is known without.")
    return out

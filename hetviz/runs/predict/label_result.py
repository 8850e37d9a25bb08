"""Result of label prediction: table of items, errors on held-out labels, and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Json, JsonObject
from hetviz.data import Embedding
from hetviz.data.model.diagnostics import Diagnostic, to_json
from hetviz.features.problems.label_problems import LabelColumn

_MAX_NUMBERS = 100_000
_MAX_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class LabelPrediction:
    """Given or predicted labels of all items of a dataset, with uncertainty.

    `dataset`, `label`, `method`, `task`: `task` is "classes" or "number".
    `table`: A row for each item: dataset, id, label (the given one if known), known, probability
        (of this label by the model), doubt, and p_<class> for each class. For classes, doubt is 1
        minus the probability. For numbers it is the disagreement of the sources in units of the
        label, NaN with fewer than two sources.
    `held_out`: model, error, standard_error, n, repeats: errors on held-out labels, the share of
        wrong classes or the root mean square error.
    `weights`: round, source, weight; empty for a transfer.
    `embedding`: A map of the predictions.
    `decision` (None, "accept", "caution" or "too risky"): Decision about a transfer.
    `figures`: Numbers behind the decision or the fit.
    """

    dataset: str
    label: str
    method: str
    task: str
    classes: tuple[str, ...]
    table: pd.DataFrame
    held_out: pd.DataFrame
    weights: pd.DataFrame
    embedding: Embedding | None
    decision: str | None = None
    reasons: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Diagnostic] = field(default_factory=dict)

    def to_dict(self) -> JsonObject:
        """Return everything but the map, JSON-ready, with tables as lists by column.

        More than 100,000 class probabilities are left out, and more than 100 rounds are thinned to
        an even hundred.
        """
        table = self.table
        probability_columns = [name for name in table.columns if name.startswith("p_")]
        if len(probability_columns) * len(table) > _MAX_NUMBERS:
            table = table.drop(columns=probability_columns)
        weights = self.weights
        rounds = weights["round"].unique()
        if len(rounds) > _MAX_ROUNDS:
            positions = np.linspace(0, len(rounds) - 1, _MAX_ROUNDS).round().astype(int)
            weights = weights[weights["round"].isin(rounds[positions])]
        return {
            "dataset": self.dataset,
            "label": self.label,
            "method": self.method,
            "task": self.task,
            "classes": list(self.classes),
            "table": _columns(table),
            "held_out": _columns(self.held_out),
            "weights": _columns(weights),
            "decision": self.decision,
            "reasons": list(self.reasons),
            "figures": dict(self.figures),
            "diagnostics": to_json(self.diagnostics),
        }


def labelled_table(
    frame: pd.DataFrame, column: LabelColumn, user_values: Mapping[str, object]
) -> pd.DataFrame:
    """Return a table with known labels in place of predicted ones; see `LabelPrediction.table`.

    `frame`: from `hetviz.algorithms.predictor.LabelPredictions.frame`. `user_values`: from
    `hetviz.features.problems.label_problems.values_by_class`.
    """
    is_known = np.isfinite(column.y)
    label = frame["label"].to_numpy(dtype=object).copy()
    probability = frame["probability"].to_numpy(dtype=np.float64).copy()
    for row in np.flatnonzero(is_known):
        value = column.y[row]
        label[row] = column.classes[int(value)] if column.classes else float(value)
        if column.classes:
            probability[row] = float(frame[f"p_{label[row]}"].iloc[row])
    if column.classes:
        label[:] = [user_values.get(text, text) for text in label]
    uncertainty = (
        1.0 - probability if column.classes else frame["spread"].to_numpy(dtype=np.float64)
    )
    others = frame.drop(columns=["dataset", "id", "label", "probability", "spread"])
    table = pd.DataFrame({"dataset": frame["dataset"], "id": frame["id"], "label": label})
    table["known"], table["probability"], table["doubt"] = is_known, probability, uncertainty
    return pd.concat([table, others], axis=1)


def _columns(table: pd.DataFrame) -> dict[str, list[Json]]:
    out: dict[str, list[Any]] = {}
    for name in table.columns:
        values = table[name].tolist()
        out[str(name)] = [_json_value(value) for value in values]
    return out


def _json_value(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, 6) if np.isfinite(value) else None
    return value

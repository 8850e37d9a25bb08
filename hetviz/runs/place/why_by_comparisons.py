"""Reasons for the place of an item by methods of comparisons: the force of each."""

from __future__ import annotations

import numpy as np

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.errors import NotApplicableError
from hetviz.runs.place.reasons import COMPARISON, ExplainedMap, Reason, Why, item_of


def explain_by_comparisons(placed: ExplainedMap, row: int, max_reasons: int) -> Why:
    """Explain the place of an item by the force of each comparison."""
    data, item = placed.data, item_of(placed.data, row)
    comparisons = data.comparisons
    if comparisons is None:
        raise NotApplicableError(
            placed.title,
            ["This method has no graph, places no new items and uses no comparisons, so the "
             "place of an item cannot be explained."],
        )  # fmt: skip
    objects = data.object_of
    pairs, weight = comparisons.pairs, np.asarray(comparisons.weight, dtype=np.float64)
    of_item = np.flatnonzero((objects[pairs] == objects[row]).any(axis=1))
    P = pairs[of_item]
    Y = placed.Y
    near_vector, far_vector = Y[P[:, 0]] - Y[P[:, 1]], Y[P[:, 2]] - Y[P[:, 3]]
    shortfall = 1.0 + (near_vector**2).sum(axis=1) - (far_vector**2).sum(axis=1)
    gradient = np.zeros_like(near_vector)
    for column, vector, sign in (
        (0, near_vector, 1),
        (1, near_vector, -1),
        (2, far_vector, -1),
        (3, far_vector, 1),
    ):
        touched = (objects[P[:, column]] == objects[row])[:, None]
        gradient += np.where(touched, 2.0 * sign * vector, 0.0)
    pull = weight[of_item] * np.linalg.norm(gradient, axis=1) * np.asarray(shortfall > 0)
    pull = np.where(np.isfinite(pull), pull, 0.0)
    how = "Shares of the force on it from comparisons that the map does not satisfy by a margin."
    total = float(pull.sum())
    order = np.argsort(-pull, kind="stable")
    reasons = tuple(
        Reason(COMPARISON, item[0], item[1], _comparison_words(data, P[k]), float(pull[k]) / total)
        for k in order[:max_reasons]
        if pull[k] > 0
    )
    note = ""
    if not len(of_item):
        note = "No comparison mentions it."
    elif not reasons:
        note = (
            f"All {len(of_item):,} comparisons about it hold on the map by a margin."
            if len(of_item) > 1
            else "The only comparison about it holds on the map by a margin."
        )
    parts = {COMPARISON: 1.0} if reasons else {}
    return Why(*item, placed.title, how, parts, reasons, note=note)


def _comparison_words(data: HeteroData, pair: Ints) -> str:
    a, b, c, d = (item_of(data, int(row))[2] for row in pair)
    if a == c:
        return f"{a} closer to {b} than to {d}"
    return f"{a} and {b} closer than {c} and {d}"

"""Comparisons of a whole data set as a partial order, for methods without features."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetviz._text import count
from hetviz._types import Ints
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.core.ordinal.partial_order import PartialOrder, partial_order
from hetviz.data import HeteroData
from hetviz.errors import NotApplicableError
from hetviz.features.problems.comparison_problems import compared_objects


def ordered_objects(
    data: HeteroData, title: str, **options: Any
) -> tuple[PartialOrder, Ints, Ints]:
    """Return the order of the comparisons, the objects in it, and its pairs of these objects."""
    objects, pairs, weight = compared_objects(data)
    order = partial_order(pairs, weight, reduce=False, **options)
    if not len(order.pairs):
        reason = "No comparison is left after removing contradictions."
        raise NotApplicableError(title, [reason])
    used, local = np.unique(order.pairs, return_inverse=True)
    if n_left_out := data.n_objects - len(used):
        warn_about_data(
            f"{count(n_left_out, 'item')} without comparisons that count: left off the map."
        )
    return order, objects[used], local.reshape(-1, 4)

"""What sets some items apart from the others of their dataset: values and numbers of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from hetviz._types import Bools, Texts
from hetviz.features.columns.types import Column
from hetviz.features.known import groups_of

LEAST_ITEMS = 3
_LEAST_Z = 3.0
_LEAST_SHARE = 0.1
_LEAST_RATIO = 1.5
_LEAST_AUC = 0.65
_VALUES_A_COLUMN = 2


@dataclass(frozen=True)
class Difference:
    """One thing that sets chosen items apart.

    Attributes
    ----------
    column : str
    value : str or None
        The value they have more often; None for a column of numbers or dates.
    inside, outside : float
        Share of the chosen items, and of the others, that have the value; for a column of numbers
        (dates as days since 1970-01-01) the two medians.
    kind : str
        Of the column: category, number or date.
    z : float
        How many standard errors the two differ by, always positive.
    """

    column: str
    value: str | None
    inside: float
    outside: float
    kind: str
    z: float


def contrast(columns: Mapping[str, Column], chosen: Bools, most: int = 6) -> list[Difference]:
    """Return what sets chosen rows of a dataset apart from its other rows, the clearest first.

    Parameters
    ----------
    columns : mapping of str to Column
        What is known of each row, see `hetviz.features.known.known_columns`.
    chosen : array of bool, shape (n,)
    most : int
        How many to return.

    Returns
    -------
    list of Difference
        Values that at least a tenth of the chosen rows have, 1.5 times as often as the others, and
        numbers that are higher (or lower) in at least 65 of 100 pairs of a chosen and another row;
        each by at least 3 standard errors. Empty for fewer than 3 rows on either side.

    Notes
    -----
    Two proportions with their pooled standard error, and the rank-sum test of Mann and Whitney
    (1947) with its normal approximation. Many columns are looked at, so a difference of 3 standard
    errors shows where to look and proves nothing. Costs O(n log n) a column.
    """
    if min(chosen.sum(), (~chosen).sum()) < LEAST_ITEMS:
        return []
    found: list[Difference] = []
    for name, column in columns.items():
        groups = groups_of(column)
        if groups is not None:
            found += list(_of_groups(name, groups, chosen))[:_VALUES_A_COLUMN]
        elif column.kind in ("number", "date"):
            found += _of_numbers(name, column, chosen)
    return sorted(found, key=lambda difference: -difference.z)[:most]


def _of_groups(name: str, groups: Texts, chosen: Bools) -> Iterator[Difference]:
    known = np.array([value is not None for value in groups])
    n_in, n_out = int((known & chosen).sum()), int((known & ~chosen).sum())
    if min(n_in, n_out) < LEAST_ITEMS:
        return
    outside = Counter(groups[known & ~chosen])
    for value, count in Counter(groups[known & chosen]).most_common():
        p_in, p_out = count / n_in, outside[value] / n_out
        pooled = (count + outside[value]) / (n_in + n_out)
        error = np.sqrt(pooled * (1 - pooled) * (1 / n_in + 1 / n_out))
        if p_in < _LEAST_SHARE or p_in < _LEAST_RATIO * p_out or error == 0:
            continue
        z = float((p_in - p_out) / error)
        if z >= _LEAST_Z:
            yield Difference(name, str(value), p_in, p_out, "category", z)


def _of_numbers(name: str, column: Column, chosen: Bools) -> list[Difference]:
    known = ~np.isnan(column.values)
    values, mine = column.values[known], chosen[known]
    n_in, n_out = int(mine.sum()), int((~mine).sum())
    if min(n_in, n_out) < LEAST_ITEMS:
        return []
    ranks = rankdata(values)
    auc = (float(ranks[mine].sum()) - n_in * (n_in + 1) / 2) / (n_in * n_out)
    _, ties = np.unique(values, return_counts=True)
    n = n_in + n_out
    spread = (n + 1) - float((ties.astype(float) ** 3 - ties).sum()) / (n * (n - 1))
    if spread <= 0 or max(auc, 1 - auc) < _LEAST_AUC:
        return []
    z = abs(auc - 0.5) / np.sqrt(spread / (12 * n_in * n_out))
    if z < _LEAST_Z:
        return []
    inside, outside = float(np.median(values[mine])), float(np.median(values[~mine]))
    return [Difference(name, None, inside, outside, column.kind, float(z))]

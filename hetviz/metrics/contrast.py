"""Differences between a group of items and all other items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.stats import hypergeom, norm, rankdata

from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.features.columns.types import Column
from hetviz.features.item_columns import group_values

MIN_ITEMS = 3
_MIN_Z = 3.0
_MIN_SHARE = 0.1
_MIN_RATIO = 1.5
_MIN_AUC = 0.65
_MAX_VALUES_PER_COLUMN = 2


@dataclass(frozen=True)
class Difference:
    """A difference between chosen items and all others in one column.

    `inside`, `outside`: Share of the chosen items, and of the others, with the value. For numbers
        (and dates as days since 1970-01-01) the two medians.
    `z`: Difference in standard errors, always positive.
    """

    column: str
    value: str | None
    inside: float
    outside: float
    kind: str
    z: float


def find_differences(
    columns: Mapping[str, Column], chosen: Bools, max_items: int = 6, among: Bools | None = None
) -> list[Difference]:
    """Return the differences between chosen rows and other rows of a dataset, clearest first.

    Returns: Values of at least a tenth of the chosen rows, 1.5 times as frequent as in others, and
        numbers that are higher (or lower) in at least 65 % of pairs of a chosen and another row,
        both by at least 3 standard errors. Empty for fewer than 3 rows on either side.

    Two proportions with their pooled standard error, and the rank-sum test of Mann and Whitney
    (1947) with its normal approximation. With many columns, a difference of 3 standard errors is
    a hint and no proof. Costs O(n log n) per column.
    """
    counted = np.ones(len(chosen), dtype=bool) if among is None else among | chosen
    if min(chosen.sum(), (counted & ~chosen).sum()) < MIN_ITEMS:
        return []
    differences: list[Difference] = []
    for name, column in columns.items():
        if (groups := group_values(column)) is not None:
            differences += list(_group_differences(name, groups, chosen, counted))[
                :_MAX_VALUES_PER_COLUMN
            ]
        elif column.kind in ("number", "date"):
            differences += _number_differences(name, column, chosen, counted)
    return sorted(differences, key=lambda difference: -difference.z)[:max_items]


def _group_differences(
    name: str, groups: Texts, chosen: Bools, counted: Bools
) -> Iterator[Difference]:
    is_known = counted & np.array([value is not None for value in groups])
    n_in, n_out = int((is_known & chosen).sum()), int((is_known & ~chosen).sum())
    if min(n_in, n_out) < MIN_ITEMS:
        return
    outside = Counter(groups[is_known & ~chosen])
    for value, count in Counter(groups[is_known & chosen]).most_common():
        p_in, p_out = count / n_in, outside[value] / n_out
        pooled = (count + outside[value]) / (n_in + n_out)
        error = np.sqrt(pooled * (1 - pooled) * (1 / n_in + 1 / n_out))
        if p_in < _MIN_SHARE or p_in < _MIN_RATIO * p_out or error == 0:
            continue
        z = float((p_in - p_out) / error)
        if z >= _MIN_Z:
            yield Difference(name, str(value), p_in, p_out, "category", z)


def _number_differences(
    name: str, column: Column, chosen: Bools, counted: Bools
) -> list[Difference]:
    is_known = counted & ~np.isnan(column.values)
    values, is_chosen = column.values[is_known], chosen[is_known]
    n_in, n_out = int(is_chosen.sum()), int((~is_chosen).sum())
    if min(n_in, n_out) < MIN_ITEMS:
        return []
    ranks = rankdata(values)
    auc = (float(ranks[is_chosen].sum()) - n_in * (n_in + 1) / 2) / (n_in * n_out)
    _, ties = np.unique(values, return_counts=True)
    n = n_in + n_out
    spread = (n + 1) - float((ties.astype(float) ** 3 - ties).sum()) / (n * (n - 1))
    if spread <= 0 or max(auc, 1 - auc) < _MIN_AUC:
        return []
    z = abs(auc - 0.5) / np.sqrt(spread / (12 * n_in * n_out))
    if z < _MIN_Z:
        return []
    inside, outside = float(np.median(values[is_chosen])), float(np.median(values[~is_chosen]))
    return [Difference(name, None, inside, outside, column.kind, float(z))]


MIN_INSIDE = 2
_MAX_REPORTED_P = 0.05
COLUMNS = ["group", "thing", "inside", "outside", "effect", "p"]


def find_frequent_things(M: sp.csr_array, code: Ints, n_groups: int) -> pd.DataFrame:
    """Return the things that rows of each group have more often than other rows.

    Returns: group, thing, inside and outside (shares of rows with the thing in and out of the
        group), effect (Cohen's h), p (one-sided, Fisher's exact test). Only things of at least two
        rows of the group that are more frequent than in others. ``attrs["tests"]`` is the number
        of tests.

    Cohen (1988), h = 2 arcsin sqrt(p) - 2 arcsin sqrt(q). Costs O(nonzeros + groups x things).
    """
    rows_with_things = np.flatnonzero(np.diff(M.indptr))
    M, code = sp.csr_array(M[rows_with_things]), code[rows_with_things]
    n = len(rows_with_things)
    rows = np.flatnonzero(code >= 0)
    member = sp.csr_array((np.ones(len(rows)), (code[rows], rows)), shape=(n_groups, n))
    sizes = np.bincount(code[rows], minlength=n_groups).astype(np.float64)
    counted = sp.coo_array(member @ M)
    group, thing, inside = counted.row, counted.col, counted.data
    total = np.asarray(M.sum(axis=0), dtype=np.float64).ravel()
    out_of = n - sizes[group]
    p_in = inside / sizes[group]
    p_out = (total[thing] - inside) / np.maximum(out_of, 1.0)
    mask = (inside >= MIN_INSIDE) & (p_in > p_out) & (out_of > 0)
    group, thing, inside = group[mask], thing[mask], inside[mask]
    # The test is slow, and most rare things have the same few counts.
    counts, at = np.unique(
        np.column_stack([inside, total[thing], sizes[group]]), axis=0, return_inverse=True
    )
    p = np.asarray(hypergeom.sf(counts[:, 0] - 1, n, counts[:, 1], counts[:, 2]))[at.ravel()]
    table = pd.DataFrame(
        {
            "group": group.astype(np.int64),
            "thing": thing.astype(np.int64),
            "inside": p_in[mask],
            "outside": p_out[mask],
            "effect": 2 * (np.arcsin(np.sqrt(p_in[mask])) - np.arcsin(np.sqrt(p_out[mask]))),
            "p": np.asarray(p, dtype=np.float64),
        }
    )
    table.attrs["tests"] = n_groups * int((total > 0).sum())
    return table


def find_shifted_numbers(X: Floats, code: Ints, n_groups: int) -> pd.DataFrame:
    """Return differences between the numbers of each group and those of other rows.

    Returns group, thing (column), inside and outside (medians), effect (rank-biserial correlation
    from -1 to 1, positive if the group has higher numbers), p (two-sided, up to .05). Without
    columns with fewer than two numbers on either side. ``attrs["tests"]`` is the number of tests.

    The rank-sum test of Mann and Whitney (1947) with normal approximation and correction for ties.
    Effect after Wendt (1972). Costs O(m n log n).
    """
    parts, tests = [], 0
    for thing in range(X.shape[1]):
        is_known = np.isfinite(X[:, thing])
        values, group_of_row = X[is_known, thing], code[is_known]
        n = len(values)
        ranks = rankdata(values)
        _, ties = np.unique(values, return_counts=True)
        spread = (n + 1) - float((ties.astype(float) ** 3 - ties).sum()) / max(n * (n - 1), 1)
        n_in = np.bincount(group_of_row[group_of_row >= 0], minlength=n_groups).astype(np.float64)
        sums = np.bincount(
            group_of_row[group_of_row >= 0], weights=ranks[group_of_row >= 0], minlength=n_groups
        )
        is_large_enough = np.minimum(n_in, n - n_in) >= MIN_INSIDE
        if spread <= 1e-9 or not is_large_enough.any():
            continue
        tests += int(is_large_enough.sum())
        pairs = np.where(is_large_enough, n_in * (n - n_in), 1.0)
        auc = (sums - n_in * (n_in + 1) / 2) / pairs
        p = 2 * norm.sf(np.abs(auc - 0.5) / np.sqrt(spread / (12 * pairs)))
        for group in np.flatnonzero(is_large_enough & (p <= _MAX_REPORTED_P)).tolist():
            in_group = group_of_row == group
            medians = float(np.median(values[in_group])), float(np.median(values[~in_group]))
            parts.append((group, thing, *medians, 2 * float(auc[group]) - 1, float(p[group])))
    table = pd.DataFrame(parts, columns=COLUMNS)
    table.attrs["tests"] = tests
    return table


def correct_p_values(p: Floats, tests: int | None = None) -> Floats:
    """Return p values corrected for multiple tests (false discovery rate).

    `tests`: Number of tests. Tests missing in `p` count as p = 1.

    Benjamini and Hochberg (1995): q(i) = min over j >= i of p(j) tests / j.
    """
    order = np.argsort(p, kind="stable")
    adjusted = p[order] * (tests or len(p)) / np.arange(1, len(p) + 1)
    out = np.empty(len(p))
    out[order] = np.minimum(np.minimum.accumulate(adjusted[::-1])[::-1], 1.0)
    return out

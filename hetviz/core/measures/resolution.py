"""Smallest difference between two maps that a measure can distinguish from chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from hetviz._types import Floats, Ints

_Z_TWO_MAPS = 1.959964 * np.sqrt(2.0)


def error_of_mean(values: Floats, *ends: Ints) -> float:
    r"""Return the standard error of a mean whose values share items.

    `values` (m,): values of links, comparisons or items; NaN is skipped. `ends` (m,): item numbers
    of each value. Without any, values are independent.

    .. math:: V = V_i + V_j - V_{ij}, \quad V_g = \frac{1}{m^2} \sum_g \Bigl(\sum_{l \in g}
        (x_l - \bar x)\Bigr)^2

    for values that share the end i, the end j, or both (Cameron, Gelbach and Miller 2011): links
    of one popular item carry less information than as many links of different items. Never less
    than the error of independent values. O(m log m).
    """
    is_finite = np.isfinite(values)
    x = np.asarray(values, dtype=np.float64)[is_finite]
    m = len(x)
    if m < 2:
        return float("nan")
    e = x - x.mean()
    independent = float(e @ e) / (m * (m - 1))
    if not ends:
        return float(np.sqrt(independent))
    groups = [np.unique(end[is_finite], return_inverse=True)[1] for end in ends]
    clustered = sum(_group_variance(e, group) for group in groups)
    if len(groups) > 1:
        pair_number = groups[0] * (int(groups[1].max()) + 1) + groups[1]
        clustered -= _group_variance(e, np.unique(pair_number, return_inverse=True)[1])
    return float(np.sqrt(max(clustered, independent)))


def _group_variance(e: Floats, group: Ints) -> float:
    sums = np.bincount(group, e)
    return float(sums @ sums) / len(e) ** 2


def significant_difference(standard_error: float) -> float:
    """Return the difference between two maps that chance exceeds with probability 5 %.

    1.96 sqrt(2) standard errors: a conservative value, because two maps are measured on the same
    links and have correlated errors.
    """
    return float(_Z_TWO_MAPS * standard_error)


def least_significant_difference(values: Sequence[Sequence[float]]) -> float:
    r"""Return the least significant difference of candidates measured on the same splits.

    .. math:: t_{.975,\,(c-1)(n-1)} \sqrt{2 s^2 / n}

    with :math:`s^2` the residual variance after the effects of candidates and splits (Fisher
    1935).
    """
    X = np.asarray(values, dtype=np.float64)
    if X.ndim != 2 or min(X.shape) < 2:
        return float("nan")
    c, n = X.shape
    residual = X - X.mean(axis=0) - X.mean(axis=1, keepdims=True) + X.mean()
    df = (c - 1) * (n - 1)
    return float(stdtrit(df, 0.975) * np.sqrt(2.0 * (residual**2).sum() / df / n))

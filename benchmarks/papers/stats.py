"""Means with their standard errors, and what a claim about two of them comes to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Values = Sequence[float] | NDArray[np.float64]
NO_SPREAD = "one run"


def mean_and_error(values: Values) -> tuple[float, float]:
    """Return the mean and its standard error; the error of a single value is NaN."""
    array = np.asarray(values, dtype=np.float64)
    array = array[np.isfinite(array)]
    if not len(array):
        return float("nan"), float("nan")
    if len(array) == 1:
        return float(array[0]), float("nan")
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def told(values: Values, digits: int = 3) -> str:
    """Return "mean ± standard error"; a single value says so."""
    mean, error = mean_and_error(values)
    said = NO_SPREAD if np.isnan(error) else f"{error:.{digits}f}"
    return f"{mean:.{digits}f} ({said})" if np.isnan(error) else f"{mean:.{digits}f} ± {said}"


def difference(a: Values, b: Values) -> tuple[float, float]:
    """Return the mean of a - b, run by run, and its standard error."""
    return mean_and_error(np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64))


def above(a: Values, b: Values, errors: float = 2.0) -> int:
    """Return 1 where a is above b by more than `errors` standard errors, -1 below, 0 neither.

    Runs are paired: number i of both saw the same split.
    """
    mean, error = difference(a, b)
    if not np.isfinite(mean) or abs(mean) <= errors * (0.0 if np.isnan(error) else error):
        return 0
    return 1 if mean > 0 else -1

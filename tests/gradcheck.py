"""Comparison of gradients with finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetviz._types import Floats


def gradient_error(
    function: Callable[[Floats], float],
    gradient: Floats,
    at: Floats,
    *,
    step: float = 1e-5,
    n_entries: int = 200,
    random_state: int = 0,
) -> float:
    """Return how far a gradient is from central differences, as a share of its largest entry.

    Parameters
    ----------
    function : callable
        Takes an array of the shape of `at`, returns a number.
    gradient : ndarray
        Its claimed gradient at `at`.
    at : ndarray
    step : float
        Differences of f(x + step) and f(x - step), and of twice that, combined so that the error
        is of order step^4.
    n_entries : int
        At most this many entries, drawn at random, are compared.
    random_state : int

    Notes
    -----
    Four evaluations for each entry compared.
    """
    rng = np.random.default_rng(random_state)
    x = np.array(at, dtype=np.float64)
    claimed = np.asarray(gradient, dtype=np.float64).ravel()
    entries = np.arange(x.size, dtype=np.int64)
    if x.size > n_entries:
        entries = np.sort(rng.choice(x.size, n_entries, replace=False))

    def moved(entry: int, by: float) -> float:
        shifted = x.copy()
        shifted.flat[entry] += by
        return float(function(shifted))

    result = np.empty(len(entries))
    for place, entry in enumerate(entries.tolist()):
        near = moved(entry, step) - moved(entry, -step)
        far = moved(entry, 2 * step) - moved(entry, -2 * step)
        result[place] = (8 * near - far) / (12 * step)
    size = max(float(np.abs(result).max(initial=0.0)), float(np.abs(claimed).max(initial=0.0)))
    return float(np.abs(result - claimed[entries]).max(initial=0.0)) / (size or 1.0)

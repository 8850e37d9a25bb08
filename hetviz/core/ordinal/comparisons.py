"""Agreement of a map with comparisons: a is closer to b than to c, or than c is to d."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats, Ints


def comparison_outcomes(Y: Floats, objects: Ints) -> Floats:
    """Return whether a map agrees with each comparison: 1 yes, 1/2 tie, 0 no, NaN not placed.

    `objects` (ndarray of shape (t, 3) or (t, 4)): Rows a, b, c for d(a, b) < d(a, c), or a, b, c,
        d for d(a, b) < d(c, d).
    """
    closer, farther = _squared(Y, objects)
    outcome = np.where(closer < farther, 1.0, np.where(closer == farther, 0.5, 0.0))
    outcome[np.isnan(closer) | np.isnan(farther)] = np.nan
    return outcome


def comparison_accuracy(Y: Floats, objects: Ints, weights: Floats | None = None) -> float:
    """Return the weighted share of satisfied comparisons, ties half; NaN if none is placed."""
    outcome = comparison_outcomes(Y, objects)
    good = np.isfinite(outcome)
    w = np.ones(len(outcome)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not w[good].sum() > 0:
        return float("nan")
    return float(np.average(outcome[good], weights=w[good]))


def max_satisfiable_share(objects: Ints) -> float:
    """Return the maximum share of comparisons that a map can satisfy, given opposite ones.

    Returns: One of two opposite comparisons can be satisfied. Cycles of three and more are
        ignored, so this is an upper bound.
    """
    objects = np.asarray(objects, dtype=np.int64)
    a, b = objects[:, 0], objects[:, 1]
    c, d = (a, objects[:, 2]) if objects.shape[1] == 3 else (objects[:, 2], objects[:, 3])
    near, far = (np.sort(np.column_stack(ends), axis=1) for ends in ((a, b), (c, d)))
    codes = np.unique(np.vstack([near, far]), axis=0, return_inverse=True)[1].ravel()
    first, second = codes[: len(near)], codes[len(near) :]
    question = np.sort(np.column_stack([first, second]), axis=1)
    _, answers, counts = np.unique(question, axis=0, return_inverse=True, return_counts=True)
    yes = np.bincount(answers.ravel(), first < second, len(counts))
    return float(np.maximum(yes, counts - yes).sum() / len(objects))


def comparison_curve(Y: Floats, objects: Ints, at: Floats) -> Floats:
    """Return the share of comparisons satisfied with a given margin."""
    closer, farther = _squared(Y, objects)
    good = np.isfinite(closer) & np.isfinite(farther)
    if not good.any():
        return np.full(len(at), np.nan)
    closer, farther = closer[good], farther[good]
    tied = closer == farther
    # Two pairs of length 0 are tied.
    ratio = np.sqrt(np.divide(closer, farther, out=np.where(tied, 1.0, np.inf), where=farther > 0))
    shorter = np.searchsorted(np.sort(ratio[~tied]), at, side="right")
    return np.asarray((shorter + 0.5 * tied.sum() * (np.asarray(at) >= 1.0)) / len(ratio))


def _squared(Y: Floats, objects: Ints) -> tuple[Floats, Floats]:
    """Return squared lengths of the near and of the far pair of each comparison."""
    objects = np.asarray(objects, dtype=np.int64)
    if not objects.size:
        return np.zeros(0), np.zeros(0)
    a, b = objects[:, 0], objects[:, 1]
    c, d = (a, objects[:, 2]) if objects.shape[1] == 3 else (objects[:, 2], objects[:, 3])
    return ((Y[a] - Y[b]) ** 2).sum(axis=1), ((Y[c] - Y[d]) ** 2).sum(axis=1)

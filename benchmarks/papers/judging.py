"""What the parts of a claim come to together, and figures of runs that are not paired."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.papers.stats import Values, mean_and_error, told

_SOME = 0.25


def judged(parts: Sequence[bool]) -> str:
    """Return the verdict: all parts of a claim hold, a quarter of them or more, or fewer.

    Of many parts one may hold by chance, which is no part of the claim.
    """
    if all(parts):
        return "holds"
    return "holds in part" if sum(parts) >= _SOME * len(parts) else "does not hold here"


def apart(a: Values, b: Values, errors: float = 2.0) -> int:
    """Return 1 where the mean of a is above that of b by more than `errors` standard errors.

    Return -1 where it is below by as much, 0 where neither. Runs are not paired.
    """
    (mean_a, error_a), (mean_b, error_b) = mean_and_error(a), mean_and_error(b)
    least = errors * float(np.hypot(np.nan_to_num(error_a), np.nan_to_num(error_b)))
    gap = mean_a - mean_b
    if not np.isfinite(gap) or abs(gap) <= least:
        return 0
    return 1 if gap > 0 else -1


def told_by(name: str, rows: Sequence[tuple[object, Values]], digits: int = 3) -> str:
    """Return "name: at x mean ± error, ..." for figures by something."""
    return f"{name}: " + ", ".join(f"{x} {told(values, digits)}" for x, values in rows)

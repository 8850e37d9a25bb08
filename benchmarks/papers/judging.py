"""What the parts of a claim come to together, and figures of runs that are not paired."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.papers.settings import settled
from benchmarks.papers.stats import Values, difference, mean_and_error, told

_RULES = settled("rules")
ERRORS: float = _RULES["errors"]
HOLDS, IN_PART, TOO_SMALL, FAILS = VERDICTS = (
    "holds",
    "holds in part",
    "too small to tell",
    "does not hold here",
)


def judged(parts: Sequence[bool | int]) -> str:
    """Return the verdict on a claim of several parts.

    Parameters
    ----------
    parts : sequence of bool or {1, 0, -1}
        1 (True): the part is seen. -1 (False): it is seen not to be so. 0: it is open, what there
        is of it would be too small to be seen here.

    Returns
    -------
    str
        "holds" where every part is seen, "holds in part" where a quarter of them or more is, since
        of many parts one may come out by chance. Else "does not hold here" where as many parts or
        more are seen not to be so as are open, and "too small to tell" otherwise.
    """
    signs = [(1 if part else -1) if isinstance(part, bool | np.bool_) else part for part in parts]
    if signs and all(sign > 0 for sign in signs):
        return HOLDS
    if signs and signs.count(1) >= _RULES["some"] * len(signs):
        return IN_PART
    return FAILS if signs.count(-1) >= max(signs.count(0), 1) else TOO_SMALL


def seen(a: Values, b: Values, effect: float | None = None) -> int:
    """Return 1 where a is seen to be above b, -1 where it is seen not to be, 0 where it is open.

    Parameters
    ----------
    a, b : values
        Paired: number i of both saw the same split.
    effect : float, optional
        The paper's own difference: where it would have been seen and was not, the answer is -1.
    """
    return _sign(*difference(a, b), effect)


def alike(a: Values, b: Values, least: float = _RULES["little"]) -> int:
    """Return 1 where a and b are seen to differ by less than `least`, -1 by more, else 0."""
    mean, error = difference(a, b)
    room = ERRORS * float(np.nan_to_num(error))
    if abs(mean) + room < least:
        return 1
    return -1 if abs(mean) - room > least else 0


def apart(a: Values, b: Values, errors: float = ERRORS) -> int:
    """Return 1 where the mean of a is above that of b by more than `errors` standard errors.

    Return -1 where it is below by as much, 0 where neither. Runs are not paired.
    """
    (mean_a, error_a), (mean_b, error_b) = mean_and_error(a), mean_and_error(b)
    least = errors * float(np.hypot(np.nan_to_num(error_a), np.nan_to_num(error_b)))
    gap = mean_a - mean_b
    if not np.isfinite(gap) or abs(gap) <= least:
        return 0
    return 1 if gap > 0 else -1


def smallest(a: Values, b: Values) -> float:
    """Return the smallest difference that paired runs could tell from none; NaN for one run."""
    return ERRORS * difference(a, b)[1]


def told_by(name: str, rows: Sequence[tuple[object, Values]], digits: int = 3) -> str:
    """Return "name: at x mean ± error, ..." for figures by something."""
    return f"{name}: " + ", ".join(f"{x} {told(values, digits)}" for x, values in rows)


def _sign(mean: float, error: float, effect: float | None) -> int:
    room = ERRORS * float(np.nan_to_num(error))
    if not np.isfinite(mean):
        return 0
    if abs(mean) > room:
        return 1 if mean > 0 else -1
    return -1 if effect is not None and mean + room < effect else 0

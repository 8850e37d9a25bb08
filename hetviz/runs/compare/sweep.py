"""Comparison of one method at several values of a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hetviz.algorithms.registry import get_method
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.errors import ParameterError
from hetviz.params import Choice, DatasetName, Flag, Integer, Param, PerDataset, Real
from hetviz.progress import Progress
from hetviz.runs.compare.compare import candidate, judge
from hetviz.runs.compare.comparison import Comparison

_VALUES = 6
_SPAN = 8.0


@one_thread()
def sweep(
    data: HeteroData,
    method: str,
    parameter: str,
    values: Sequence[object] | None = None,
    *,
    seeds: int = 1,
    hold_out: float = 0.2,
    params: Mapping[str, object] | None = None,
    progress: Progress | None = None,
    random_state: int = 0,
) -> Comparison:
    """Fit one method at several values of a parameter, on the same held-out splits.

    Parameters
    ----------
    data : HeteroData
    method : str
    parameter : str
        One of its parameters.
    values : sequence, optional
        When absent, six values around the default, or all options; see `sweep_values`.
    seeds, hold_out, random_state
        As in `hetviz.compare`.
    params : mapping, optional
        The other parameters.
    progress : callable, optional

    Returns
    -------
    Comparison
        One candidate per value; its key and title are the value as text.

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown method or parameter, a value out of range, or no values.
    hetviz.errors.Cancelled
        As in `hetviz.compare`.
    """
    declared = get_method(method).params
    if parameter not in declared:
        raise ParameterError(
            f"{method} has no parameter {parameter!r}. Available: {', '.join(declared)}."
        )
    tried_values = sweep_values(declared[parameter]) if values is None else list(values)
    if not tried_values:
        raise ParameterError(f"sweep: give values of {parameter}. It has no default values to try.")
    others = {key: value for key, value in (params or {}).items() if key != parameter}
    candidates = {
        text: candidate(method, {**others, parameter: value}, text, text)
        for value in tried_values
        if (text := value_words(value))
    }
    return judge(
        data,
        list(candidates.values()),
        seeds=seeds,
        hold_out=hold_out,
        new_items=0.0,
        progress=progress,
        random_state=random_state,
    )


def sweep_values(param: Param) -> list[object]:
    """Return values worth trying: all options, or six numbers around the default.

    Numbers are spaced by equal ratios from an eighth of the default to eight times it (by equal
    steps if the default is 0), clipped to the range. Empty if nothing follows from the
    declaration.
    """
    if param.tries:
        return list(param.tries)
    if isinstance(param, PerDataset):
        return sweep_values(param.inner) if not isinstance(param.default, Mapping) else []
    if isinstance(param, Choice):
        return list(param.options)
    if isinstance(param, Flag):
        return [False, True]
    if isinstance(param, DatasetName) or not isinstance(param, Real | Integer):
        return []
    middle = param.default if isinstance(param.default, int | float) else 1.0
    low = -np.inf if param.low is None else float(param.low)
    high = np.inf if param.high is None else float(param.high)
    if isinstance(param, Real) and not param.log and np.isfinite([low, high]).all():
        spread = np.linspace(low, high, _VALUES)
    elif middle > 0:
        spread = middle * np.geomspace(1 / _SPAN, _SPAN, _VALUES + 1)
    else:
        spread = np.linspace(middle - 1, middle + 1, _VALUES)
    inside = np.unique(np.clip([*spread, middle], low, high))
    if isinstance(param, Integer):
        return sorted({round(value) for value in inside.tolist()})
    return [float(f"{value:.3g}") for value in inside]


def value_words(value: object) -> str:
    """Return a value as text: "0.1", "yes", "cosine", "a 1, b 2"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {value_words(inner)}" for name, inner in value.items())
    return str(value)

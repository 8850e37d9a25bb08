"""Features of numbers and dates: logarithm, ranks, scaling, season and imputation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetviz._types import Floats
from hetviz.features.columns.options import Fields, Step

MAX_KNOTS = 2_001
_YEAR = 365.2425
# Interquartile range of the standard normal distribution.
_NORMAL_QUARTILE_RANGE = 1.3489795003921634


def learn(values: Floats, options: Mapping[str, object]) -> Fields:
    """Fit the values of a column, (n,) with NaN for missing ones, at least one present.

    Returns: ``log``, ``knots`` and ``ranks`` (scale "rank"), ``centre``, ``fill`` (value of
        missing cells relative to the centre), ``spread`` (scale "robust") and ``season`` (cyclic
        dates); JSON-ready.
    """
    present = values[~np.isnan(values)]
    log = bool(options["log"] and present.min() >= 0)
    out: Fields = {"log": log}
    present = np.log1p(present) if log else present
    if options["scale"] == "rank":
        out |= _rank_table(present)
        present = _ranked(out, present)
    top = float(np.abs(present).max()) or 1.0
    mean, median = float((present / top).mean()) * top, float(np.median(present / top)) * top
    out["centre"] = median if options["scale"] == "robust" else mean
    with np.errstate(over="ignore"):
        fill = float(np.float64(median if options["impute"] == "median" else mean))
        out["fill"] = fill - out["centre"]
    if options["scale"] == "robust":
        low, high = np.percentile(present / top, [25, 75])
        out["spread"] = float((high - low) / _NORMAL_QUARTILE_RANGE) * top
    if options.get("cyclic"):
        season = _season(values)
        out["season"] = season[~np.isnan(values)].mean(axis=0).tolist()
    return out


def parts(step: Fields, values: Floats) -> list[Floats]:
    """Return the features of values (n,): parts of shape (n, 1) and, with season, (n, 2)."""
    scaled = np.array(values, dtype=np.float64)
    is_missing = np.isnan(scaled)
    if step["log"]:
        scaled = np.log1p(np.maximum(scaled, 0.0))
    if "knots" in step:
        scaled = _ranked(step, scaled)
    with np.errstate(over="ignore"):
        out = [np.where(is_missing, float(step["fill"]), scaled - step["centre"])[:, None]]
    if "season" in step:
        season = _season(values) - np.array(step["season"])
        out.append(np.where(is_missing[:, None], 0.0, season))
    return out


def names(step: Step) -> list[str]:
    """Return the names of the features."""
    name = f"log {step['column']}" if step["log"] else str(step["column"])
    season = [f"{name} (season, {axis})" for axis in ("cosine", "sine")]
    return [name, *(season if "season" in step else [])]


def _rank_table(present: Floats) -> Fields:
    """Return distinct values and the share of rows below each, ties counted half."""
    values, counts = np.unique(present, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * counts) / len(present)
    if len(values) > MAX_KNOTS:
        selected = np.linspace(0, len(values) - 1, MAX_KNOTS).round().astype(np.int64)
        values, ranks = values[selected], ranks[selected]
    return {"knots": values.tolist(), "ranks": ranks.tolist()}


def _ranked(step: Fields, values: Floats) -> Floats:
    knots = np.array(step["knots"])
    # Differences of very large values would overflow.
    top = float(np.abs(knots).max()) or 1.0
    inside = np.clip(values, knots[0], knots[-1])
    return np.asarray(np.interp(inside / top, knots / top, step["ranks"]))


def _season(days: Floats) -> Floats:
    """Return the time of year of days since 1970 as points on a circle, (n, 2)."""
    angle = 2.0 * np.pi * (days / _YEAR)
    return np.column_stack([np.cos(angle), np.sin(angle)])

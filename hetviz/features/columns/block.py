"""Feature block of one column: fitting, application and scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from hetviz._types import Bools, Floats
from hetviz.features.columns import categories, geographic, images, levels, numbers, sentences, text
from hetviz.features.columns.options import FeatureRecipe, Fields, Step, defaults

_MAX_SPREAD = 1e100
_KINDS_WITH_FLAG = ("number", "ordered", "date", "latlong", "picture")


def learn(step: Step, values: Any, model: str = "words", random_state: int = 0) -> Fields | None:
    """Fit the features of a column; None if there is nothing to fit.

    Parameters
    ----------
    step : mapping
        ``column``, ``kind``, and its options.
    values : array or list of length n
        Numbers or days (n,), degrees (n, 2) or picture descriptors (n, p), all with NaN, or cells
        as text with None.
    model : {"words", "sentences"}
    random_state : int
    """
    kind = step["kind"]
    if kind == "ordered":
        there = [value for value in dict.fromkeys(values) if value is not None]
        if not there:
            return None
        order = levels.complete_order(step["order"] or levels.proposed_order(there), there)
        values = levels.ranks(order, values)
        found: Fields | None = {
            **numbers.learn(values, {**step, "log": False}),
            "order": list(order),
        }
    elif kind in ("category", "list"):
        separator = categories.separator_of(values) or ";" if kind == "list" else None
        found = categories.learn(values, step, separator)
    elif kind == "text":
        found = sentences.learn(values) if model == "sentences" else text.fit(values, random_state)
    elif kind == "latlong":
        known = ~np.isnan(values).any(axis=1)
        found = geographic.learn(values) if known.any() else None
    elif kind == "picture":
        found = images.learn(values)
    else:
        found = numbers.learn(values, step)
    if found is not None and step["impute"] == "none" and kind in _KINDS_WITH_FLAG:
        lacking = _is_missing(values)
        if lacking.any():
            found["flag"] = float(lacking.mean())
    return found


def parts(step: Step, values: Any) -> list[Floats]:
    """Return the fitted features of values: one or more arrays of n rows."""
    kind = step["kind"]
    if kind == "ordered":
        values = levels.ranks(step["order"], values)
    if kind in ("category", "list"):
        found = categories.parts(step, values)
    elif kind == "text":
        found = [(sentences if step.get("model") == "sentences" else text).apply(step, values)]
    elif kind == "latlong":
        found = geographic.parts(step, values)
    elif kind == "picture":
        found = images.parts(step, values)
    else:
        found = numbers.parts(step, values)
    if "flag" in step:
        found.append(_is_missing(values)[:, None].astype(np.float64) - step["flag"])
    return found


def part_factors(step: Step, found: Sequence[Floats]) -> list[float] | None:
    """Return the factor of each part, or None if the values are out of range.

    The total variance of the parts is the weight of the column, in equal shares.
    """
    out = []
    for place, part in enumerate(found):
        spread = step.get("spread", 0.0) if place == 0 else 0.0
        spread = spread or _spread(part)
        if not 1.0 / _MAX_SPREAD < spread < _MAX_SPREAD or not np.isfinite(part).all():
            return None
        spread = 1.0 if step["scale"] == "none" else spread
        out.append(float(np.sqrt(step["weight"] / len(found)) / spread))
    return out


def apply(step: Step, values: object) -> Floats:
    """Return the scaled features of a column, (n, width)."""
    return combine_parts(step, parts(step, values))


def combine_parts(step: Step, found: Sequence[Floats]) -> Floats:
    """Return the scaled parts of a column as one array."""
    return np.hstack([part * factor for part, factor in zip(found, step["factors"], strict=True)])


def names(step: Step) -> list[str]:
    """Return the names of the features of a column."""
    kind = step["kind"]
    if kind in ("category", "list"):
        found = categories.names(step)
    elif kind == "text":
        found = [f"{step['column']}~{axis + 1}" for axis in range(len(step["components"]))]
    elif kind == "vectors":
        found = list(step["names"])
    elif kind == "latlong":
        found = geographic.names(step)
    elif kind == "picture":
        found = images.names(step)
    else:
        found = numbers.names(step)
    return [*found, *([f"{step['column']} (missing)"] if "flag" in step else [])]


def upgrade_recipe(recipe: Mapping[str, object]) -> FeatureRecipe:
    """Return a recipe of any format in the current format."""
    if recipe.get("format", 1) != 1:
        return cast("FeatureRecipe", dict(recipe))
    steps: list[dict[str, Any]] = []
    for old in cast("list[dict[str, Any]]", recipe["columns"]):
        kind = old["kind"]
        step = {**old, **defaults(kind), "columns": [old["column"]], "use": True}
        step |= {"log": old.get("log", False), "factors": [old["scale"]], "share_missing": None}
        if kind in ("number", "date"):
            step |= {"centre": old["mean"], "fill": 0.0}
        if kind == "category":
            step["own"] = False
        steps.append(step)
    options: dict[str, dict[str, object]] = {
        step["column"]: {"log": True} for step in steps if step.get("log")
    }
    options |= {step["column"]: {"kind": "text"} for step in steps if step["kind"] == "text"}
    chosen = [step["column"] for step in steps]
    return {
        "format": 2,
        "decimal": next((step["decimal"] for step in steps if "decimal" in step), "."),
        "text_model": "words",
        "chosen": chosen,
        "options": options,
        "columns": cast("list[Step]", steps),
        "left_out": [],
    }


def _is_missing(values: object) -> Bools:
    lacks = np.isnan(np.asarray(values, dtype=np.float64))
    return np.asarray(lacks if lacks.ndim == 1 else lacks.any(axis=1))


def _spread(part: Floats) -> float:
    """Return the square root of the total variance, infinite if it overflows."""
    top = float(np.abs(part).max(initial=0.0))
    if not np.isfinite(top) or top == 0:
        return top
    return top * float(np.sqrt((part / top).var(axis=0).sum()))

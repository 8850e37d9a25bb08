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

    `step`: ``column``, ``kind``, and its options.
    `values` (array or list of length n): Numbers or days (n,), degrees (n, 2) or picture
        descriptors (n, p), all with NaN, or cells as text with None.
    `model` {"words", "sentences"}
    """
    kind = step["kind"]
    if kind == "ordered":
        values_present = [value for value in dict.fromkeys(values) if value is not None]
        if not values_present:
            return None
        order = levels.complete_order(
            step["order"] or levels.proposed_order(values_present), values_present
        )
        values = levels.ranks(order, values)
        fitted: Fields | None = {
            **numbers.learn(values, {**step, "log": False}),
            "order": list(order),
        }
    elif kind in ("category", "list"):
        separator = categories.separator_of(values) or ";" if kind == "list" else None
        fitted = categories.learn(values, step, separator)
    elif kind == "text":
        fitted = sentences.learn(values) if model == "sentences" else text.fit(values, random_state)
    elif kind == "latlong":
        is_known = ~np.isnan(values).any(axis=1)
        fitted = geographic.learn(values) if is_known.any() else None
    elif kind == "picture":
        fitted = images.learn(values)
    else:
        fitted = numbers.learn(values, step)
    if fitted is not None and step["impute"] == "none" and kind in _KINDS_WITH_FLAG:
        missing = _is_missing(values)
        if missing.any():
            fitted["flag"] = float(missing.mean())
    return fitted


def parts(step: Step, values: Any) -> list[Floats]:
    """Return the fitted features of values: one or more arrays of n rows."""
    kind = step["kind"]
    if kind == "ordered":
        values = levels.ranks(step["order"], values)
    if kind in ("category", "list"):
        blocks = categories.parts(step, values)
    elif kind == "text":
        blocks = [(sentences if step.get("model") == "sentences" else text).apply(step, values)]
    elif kind == "latlong":
        blocks = geographic.parts(step, values)
    elif kind == "picture":
        blocks = images.parts(step, values)
    else:
        blocks = numbers.parts(step, values)
    if "flag" in step:
        blocks.append(_is_missing(values)[:, None].astype(np.float64) - step["flag"])
    return blocks


def part_factors(step: Step, feature_parts: Sequence[Floats]) -> list[float] | None:
    """Return the factor of each part, or None if the values are out of range.

    The total variance of the parts is the weight of the column, in equal shares.
    """
    out = []
    for position, part in enumerate(feature_parts):
        spread = step.get("spread", 0.0) if position == 0 else 0.0
        spread = spread or _spread(part)
        if not 1.0 / _MAX_SPREAD < spread < _MAX_SPREAD or not np.isfinite(part).all():
            return None
        spread = 1.0 if step["scale"] == "none" else spread
        out.append(float(np.sqrt(step["weight"] / len(feature_parts)) / spread))
    return out


def apply(step: Step, values: object) -> Floats:
    """Return the scaled features of a column, (n, width)."""
    return combine_parts(step, parts(step, values))


def combine_parts(step: Step, feature_parts: Sequence[Floats]) -> Floats:
    """Return the scaled parts of a column as one array."""
    return np.hstack(
        [part * factor for part, factor in zip(feature_parts, step["factors"], strict=True)]
    )


def names(step: Step) -> list[str]:
    """Return the names of the features of a column."""
    kind = step["kind"]
    if kind in ("category", "list"):
        feature_names = categories.names(step)
    elif kind == "text":
        feature_names = [f"{step['column']}~{axis + 1}" for axis in range(len(step["components"]))]
    elif kind == "vectors":
        feature_names = list(step["names"])
    elif kind == "latlong":
        feature_names = geographic.names(step)
    elif kind == "picture":
        feature_names = images.names(step)
    else:
        feature_names = numbers.names(step)
    return [*feature_names, *([f"{step['column']} (missing)"] if "flag" in step else [])]


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

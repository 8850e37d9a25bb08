"""Options of the features of a column: defaults, allowed values and checks."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypedDict, cast

from hetviz.errors import DataError, Problem

PICTURES = "(pictures)"
VECTORS = "(own vectors)"
MAX_WEIGHT = 1_000.0

HOLDS = {
    "number": "numbers",
    "category": "categories",
    "ordered": "ordered categories",
    "list": "lists",
    "date": "dates",
    "latlong": "places on earth",
    "text": "free text",
    "picture": "pictures",
    "vectors": "own vectors",
    "unique": "names",
    "constant": "one value",
    "empty": "nothing",
}
"""Readable names of the column types."""

SCALES = {
    "standard": "same spread",
    "robust": "same middle half",
    "rank": "order only",
    "none": "unchanged",
}
IMPUTES = {
    "mean": "the mean",
    "median": "the median",
    "most frequent": "the most frequent",
    "own category": "its own category",
    "none": "not filled in",
}
TEXT_MODELS = {"words": "words", "sentences": "sentence model"}
PICTURE_MODELS = {"edges": "edges and colours", "encoder": "picture encoder"}

_NUMBERS = (("standard", "robust", "rank", "none"), ("mean", "median", "none"))
_CHOICES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "number": _NUMBERS,
    "date": _NUMBERS,
    "category": (("standard", "none"), ("none", "own category", "most frequent")),
    "ordered": (("standard", "robust", "rank", "none"), ("mean", "median", "none")),
    "list": (("standard", "none"), ("none", "own category")),
    "latlong": (("standard", "none"), ("mean", "none")),
    "text": (("standard", "none"), ("none",)),
    "picture": (("standard", "none"), ("mean", "none")),
    "vectors": (("standard", "none"), ("none",)),
}
# Types that a column can be converted to.
_CONVERSIONS = {
    "number": ("number", "category", "latlong"),
    "date": ("date", "category"),
    "category": ("category", "ordered", "list", "text"),
    "list": ("list", "category", "text"),
    "text": ("text", "category", "list"),
    "unique": ("text", "category", "list"),
    "latlong": ("latlong", "number", "category"),
}
_FIELDS: dict[str, tuple[type, ...]] = {
    "use": (bool,),
    "kind": (str,),
    "scale": (str,),
    "log": (bool,),
    "weight": (int, float),
    "impute": (str,),
    "cyclic": (bool,),
    "model": (str,),
    "order": (list, tuple),
}
_ALLOWED_VALUES: dict[str, tuple[str, ...]] = {
    "kind": tuple(_CHOICES),
    "scale": tuple(SCALES),
    "impute": tuple(IMPUTES),
    "model": (*TEXT_MODELS, *PICTURE_MODELS),
}

Options = Mapping[str, Mapping[str, object]]


class Fields(TypedDict, total=False):
    """Options and fitted values of a column; each type has some of the fields."""

    use: bool
    scale: str
    log: bool
    weight: float
    impute: str
    cyclic: bool
    model: str
    language: str
    order: list[str]
    decimal: str
    share: float
    share_missing: float | None
    factors: list[float]
    flag: float
    spread: float
    centre: float
    fill: float | str
    knots: list[float]
    ranks: list[float]
    season: list[float]
    levels: list[str]
    mean: list[float]
    own: bool
    separator: str
    names: list[str]
    words: list[str]
    idf: list[float]
    center: list[float]
    components: list[list[float]]


class Step(Fields):
    """Step of a recipe that turns one or more columns into features, JSON-ready."""

    column: str
    columns: list[str]
    kind: str


class LeftOut(TypedDict):
    """A column that is not used as a feature, with the reason."""

    column: str
    columns: list[str]
    kind: str
    share_missing: float
    why: str


class FeatureRecipe(TypedDict):
    """Recipe of all features of a dataset, JSON-ready.

    ``chosen`` lists the selected columns (None for all), ``options`` the options by column,
    ``columns`` the steps in order.
    """

    format: int
    decimal: str
    text_model: str
    chosen: list[str] | None
    options: dict[str, dict[str, object]]
    columns: list[Step]
    left_out: list[LeftOut]


def defaults(kind: str) -> Fields:
    """Return the default options of a column type."""
    scales, imputes = _CHOICES.get(kind, _NUMBERS)
    options: Fields = {"scale": scales[0], "weight": 1.0, "impute": imputes[0]}
    if kind in ("number", "date"):
        options["log"] = False
    if kind == "date":
        options["cyclic"] = False
    if kind == "ordered":
        options["order"] = []
    return options


def choices(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the scales and the imputations that are allowed for a column type."""
    return _CHOICES.get(kind, ((), ()))


def option_problems(where: str, options: Mapping[str, object]) -> list[Problem]:
    """Return the problems of options (column -> field -> value), independent of the data."""
    problems: list[Problem] = []
    for column, fields in options.items():
        place = f"{where}, column {column}"
        if not isinstance(fields, Mapping):
            problems.append(
                Problem("bad-option", place, "fields and values are needed", str(fields))
            )
            continue
        for name, value in fields.items():
            problem = _field_problem(place, str(name), value)
            problems += [] if problem is None else [problem]
    return problems


def _field_problem(place: str, name: str, value: object) -> Problem | None:
    if name not in _FIELDS:
        matches = difflib.get_close_matches(name, _FIELDS, n=1)
        hint = f"Did you mean {matches[0]!r}?" if matches else f"Available: {', '.join(_FIELDS)}."
        return Problem("bad-option", place, "unknown option", name, hint)
    kinds = _FIELDS[name]
    is_kind = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if not is_kind:
        message = f"{name} has the wrong kind of value"
        return Problem("bad-option", place, message, str(value)[:60])
    if isinstance(value, list | tuple) and not all(isinstance(entry, str) for entry in value):
        return Problem("bad-option", place, "an order must be a list of strings", str(value)[:60])
    if name == "weight" and isinstance(value, int | float) and not 0 < value <= MAX_WEIGHT:
        message = f"a weight must be above 0 and at most {MAX_WEIGHT:,.0f}"
        return Problem(
            "bad-option", place, message, str(value), "To exclude a column, set use=False."
        )
    if name in _ALLOWED_VALUES and value not in _ALLOWED_VALUES[name]:
        remedy = f"Use one of: {', '.join(_ALLOWED_VALUES[name])}."
        return Problem("bad-option", place, f"unknown value of {name}", str(value), remedy)
    return None


def complete_options(where: str, column: str, kind: str, fields: Mapping[str, object]) -> Fields:
    """Return all options of a column; raise a `DataError` if one does not fit its type."""
    out: dict[str, object] = {**defaults(kind)}
    scales, imputes = choices(kind)
    place, holds = f"{where}, column {column}", HOLDS.get(kind, kind)
    problems = []
    for name, value in fields.items():
        # The order of a column is ignored, not refused, if the column has another type.
        if name in ("use", "kind", "model") or (name == "order" and name not in out):
            continue
        suits = {"scale": scales, "impute": imputes}.get(name)
        if suits is not None and value not in suits:
            message = f"{name} = {value!r} cannot be used for {holds}"
            remedy = f"Use one of: {', '.join(suits)}."
            problems.append(Problem("bad-option", place, message, str(value), remedy))
        elif name not in out:
            if value:
                message = f"{name} cannot be used for {holds}"
                problems.append(Problem("bad-option", place, message, str(value), "Leave it out."))
        else:
            out[name] = float(value) if isinstance(value, int) and name == "weight" else value
    if problems:
        raise DataError(problems)
    return cast("Fields", out)


def possible_kinds(kind: str) -> tuple[str, ...]:
    """Return the types that a column of a type can be converted to, itself included."""
    return (kind, *_CONVERSIONS.get(kind, ()))


def check_kind(where: str, column: str, kind: str, wanted: str) -> str:
    """Return the wanted type of a column; raise a `DataError` if it is not possible."""
    if wanted not in possible_kinds(kind):
        message = f"a column of {HOLDS.get(kind, kind)} cannot be used as {HOLDS[wanted]}"
        others = _CONVERSIONS.get(kind, ())
        remedy = f"Use one of: {', '.join(others)}." if others else ""
        raise DataError.of("bad-option", f"{where}, column {column}", message, wanted, remedy)
    return wanted


def merge_options(before: Options, more: Options) -> dict[str, dict[str, object]]:
    """Return options of both; later values replace earlier ones, field by field."""
    out = {str(name): dict(fields) for name, fields in before.items()}
    for name, fields in more.items():
        out.setdefault(str(name), {}).update(fields)
    return out

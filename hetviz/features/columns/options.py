"""What can be said of how a column becomes features, its defaults, and what suits what it holds."""

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
"""What a column holds, in words."""

SCALES = {
    "standard": "same spread",
    "robust": "same middle half",
    "rank": "order only",
    "none": "as it is",
}
IMPUTES = {
    "mean": "the mean",
    "median": "the median",
    "most frequent": "the most frequent",
    "own category": "its own category",
    "none": "not filled in",
}
TEXT_MODELS = {"words": "words", "sentences": "sentence model"}

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
# As what else a column can be taken.
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
    "model": tuple(TEXT_MODELS),
}

Options = Mapping[str, Mapping[str, object]]


class Fields(TypedDict, total=False):
    """What was said of a column and what was learned of it; each kind has some of the fields."""

    use: bool
    scale: str
    log: bool
    weight: float
    impute: str
    cyclic: bool
    model: str
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
    """How a column, or some together, becomes features, JSON-ready."""

    column: str
    columns: list[str]
    kind: str


class LeftOut(TypedDict):
    """A column that is no feature, and why."""

    column: str
    columns: list[str]
    kind: str
    share_missing: float
    why: str


class FeatureRecipe(TypedDict):
    """How all features of a dataset are made, JSON-ready.

    ``chosen`` has the columns that were named (None for all), ``options`` what was said of columns,
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
    """Return what holds for a column of a kind where nothing else is said."""
    scales, imputes = _CHOICES.get(kind, _NUMBERS)
    found: Fields = {"scale": scales[0], "weight": 1.0, "impute": imputes[0]}
    if kind in ("number", "date"):
        found["log"] = False
    if kind == "date":
        found["cyclic"] = False
    if kind == "ordered":
        found["order"] = []
    return found


def choices(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the scales, and the ways to fill in what is missing, that suit a kind of column."""
    return _CHOICES.get(kind, ((), ()))


def option_problems(where: str, options: Mapping[str, object]) -> list[Problem]:
    """Return what is wrong with options as such, before any data are looked at.

    Parameters
    ----------
    where : str
        For messages.
    options : mapping of str to mapping
        Column to field to value.
    """
    found: list[Problem] = []
    for column, fields in options.items():
        place = f"{where}, column {column}"
        if not isinstance(fields, Mapping):
            found.append(Problem("bad-option", place, "fields and values are needed", str(fields)))
            continue
        for name, value in fields.items():
            problem = _field_problem(place, str(name), value)
            found += [] if problem is None else [problem]
    return found


def _field_problem(place: str, name: str, value: object) -> Problem | None:
    if name not in _FIELDS:
        near = difflib.get_close_matches(name, _FIELDS, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(_FIELDS)}."
        return Problem("bad-option", place, "there is no such field", name, hint)
    kinds = _FIELDS[name]
    is_kind = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if not is_kind:
        what = f"{name} has the wrong kind of value"
        return Problem("bad-option", place, what, str(value)[:60])
    if isinstance(value, list | tuple) and not all(isinstance(one, str) for one in value):
        return Problem("bad-option", place, "an order is a list of text", str(value)[:60])
    if name == "weight" and isinstance(value, int | float) and not 0 < value <= MAX_WEIGHT:
        what = f"a weight is above 0 and at most {MAX_WEIGHT:,.0f}"
        return Problem("bad-option", place, what, str(value), "To leave a column out, set use.")
    if name in _ALLOWED_VALUES and value not in _ALLOWED_VALUES[name]:
        remedy = f"Use one of: {', '.join(_ALLOWED_VALUES[name])}."
        return Problem("bad-option", place, f"{name} has no such value", str(value), remedy)
    return None


def complete_options(where: str, column: str, kind: str, fields: Mapping[str, object]) -> Fields:
    """Return all options of a column of a kind.

    Raises
    ------
    hetviz.errors.DataError
        If something said of it does not suit what it holds.
    """
    out: dict[str, object] = {**defaults(kind)}
    scales, imputes = choices(kind)
    place, holds = f"{where}, column {column}", HOLDS.get(kind, kind)
    problems = []
    for name, value in fields.items():
        # An order that was said of a column stays known while it is taken as something else.
        if name in ("use", "kind", "model") or (name == "order" and name not in out):
            continue
        suits = {"scale": scales, "impute": imputes}.get(name)
        if suits is not None and value not in suits:
            what = f"{name} = {value!r} does not suit {holds}"
            remedy = f"Use one of: {', '.join(suits)}."
            problems.append(Problem("bad-option", place, what, str(value), remedy))
        elif name not in out:
            if value:
                what = f"{name} does not suit {holds}"
                problems.append(Problem("bad-option", place, what, str(value), "Leave it off."))
        else:
            out[name] = float(value) if isinstance(value, int) and name == "weight" else value
    if problems:
        raise DataError(problems)
    return cast("Fields", out)


def possible_kinds(kind: str) -> tuple[str, ...]:
    """Return as what else a column of a kind can be taken."""
    return (kind, *_CONVERSIONS.get(kind, ()))


def check_kind(where: str, column: str, kind: str, wanted: str) -> str:
    """Return the kind that a column is taken as.

    Raises
    ------
    hetviz.errors.DataError
        If it cannot be taken so.
    """
    if wanted not in possible_kinds(kind):
        what = f"a column of {HOLDS.get(kind, kind)} cannot be taken as {HOLDS[wanted]}"
        others = _CONVERSIONS.get(kind, ())
        remedy = f"Use one of: {', '.join(others)}." if others else ""
        raise DataError(Problem("bad-option", f"{where}, column {column}", what, wanted, remedy))
    return wanted


def merge_options(before: Options, more: Options) -> dict[str, dict[str, object]]:
    """Return options in which what is said later replaces what was said earlier, by field."""
    out = {str(name): dict(fields) for name, fields in before.items()}
    for name, fields in more.items():
        out.setdefault(str(name), {}).update(fields)
    return out

"""Values of rows that become links: votes, ratings, counts and amounts as link weights."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import join_words
from hetviz._types import Floats, JsonObject
from hetviz.data import Dataset
from hetviz.data.joins.key_names import is_named_key, words_of_name
from hetviz.errors import DataError

MEANINGS: Mapping[str, str] = {
    "sign": "together or apart",
    "rating": "a rating, relative to its mean",
    "count": "a count",
    "amount": "an amount",
}
"""Meanings of a value for the weight of links."""

# Words for together and for apart.
_SIGN_WORDS = (
    ("yes", "no"), ("y", "n"), ("for", "against"), ("aye", "nay"), ("aye", "no"), ("yea", "nay"),
    ("ja", "nein"), ("oui", "non"), ("si", "no"), ("sí", "no"), ("like", "dislike"),
    ("up", "down"), ("won", "lost"), ("win", "loss"), ("agree", "disagree"),
    ("support", "oppose"), ("positive", "negative"), ("trust", "distrust"), ("+", "-"),
    ("pour", "contre"), ("dafür", "dagegen"), ("approve", "disapprove"),
)  # fmt: skip
_MAX_SIGN_LEVELS = 6
_RATINGS = frozenset(
    {"rating", "star", "score", "grade", "bewertung", "stern", "punktzahl", "note", "mark",
     "likert", "calificacion", "puntuacion", "nota"}
)  # fmt: skip
_COUNTS = frozenset(
    {"quantity", "qty", "count", "n", "anzahl", "menge", "play", "availqty",
     "cantidad", "listen"}
)  # fmt: skip
_AMOUNTS = frozenset(
    {"amount", "total", "price", "unitprice", "cost", "totalcost", "totalprice", "supplycost",
     "extendedprice", "value", "salary", "freight", "payment", "betrag", "preis", "tarif", "fare",
     "weight", "share", "percent", "prozent", "point", "vote", "w", "strength", "importe",
     "precio"}
)  # fmt: skip
# An amount is no default weight if more of its cells are 0, since these rows would link nothing.
_MAX_ZERO_SHARE = 0.05
_GRADE = re.compile(r"[A-F][+-]?")
_MAX_RATING_LEVELS = 101


@dataclass(frozen=True)
class LinkValue:
    """A column whose cells are the weights of the links that rows become.

    `meaning` {"sign", "rating", "count", "amount"}: "sign": positive pulls together, negative
        pushes apart. "rating": relative to the mean, so that low ratings push apart. "count",
        "amount": sums pull together.
    """

    column: str
    meaning: str
    levels: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def question(self) -> str:
        """The question to ask before the value is used."""
        apart = [f"“{word}”" for word, weight in self.levels.items() if weight < 0]
        if self.meaning == "sign":
            return f"Should {join_words(apart) if apart else 'negative values'} push apart?"
        if self.meaning == "rating":
            return f"Should a low {self.column} push apart?"
        return f"Should a larger {self.column} pull more strongly?"

    def to_dict(self) -> JsonObject:
        """Return the fields, JSON-ready."""
        return {"column": self.column, "meaning": self.meaning, "levels": dict(self.levels)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> LinkValue:
        meaning = str(fields.get("meaning"))
        if meaning not in MEANINGS or not isinstance(fields.get("column"), str):
            remedy = f"Use one of: {', '.join(MEANINGS)}."
            raise DataError.of(
                "bad-value", "value of links", "unknown meaning", meaning[:60], remedy
            )
        levels = {str(word): float(weight) for word, weight in fields.get("levels", {}).items()}
        return cls(fields["column"], meaning, levels)

    def weights(self, dataset: Dataset) -> Floats:
        """Return the weight of each row, shape (n,), before sums and scaling; NaN for none."""
        if dataset.table is None or self.column not in dataset.table.columns:
            raise DataError.of(
                "unknown-column",
                f"dataset {dataset.name!r}",
                "this column does not exist",
                self.column,
            )
        cells = dataset.table[self.column]
        if self.levels:
            words = {word.casefold(): weight for word, weight in self.levels.items()}
            return np.array(
                [words.get(str(cell).strip().casefold(), np.nan) for cell in cells.tolist()],
                dtype=np.float64,
            )
        x = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        x = np.where(np.isfinite(x), x, np.nan)
        return x - np.nanmean(x) if self.meaning == "rating" and np.isfinite(x).any() else x

    @property
    def adds_up(self) -> bool:
        """Whether the values of several rows of a pair are added, not averaged."""
        return self.meaning in ("count", "amount")


def link_values(dataset: Dataset, keys: Collection[str]) -> tuple[LinkValue, ...]:
    """Return the columns that can weigh the links of rows, the clearest first.

    Keys, row numbers, constants, dates, years and ranks are never weights: a rank of 1 is the best
    of a race and the worst of a scale.
    """
    table = dataset.table
    if table is None:
        return ()
    found = [
        value
        for column in map(str, table.columns)
        if column not in keys and (value := _value_of(column, table[column])) is not None
    ]
    order = list(MEANINGS)
    return tuple(sorted(found, key=lambda value: order.index(value.meaning)))


def default_link_value(dataset: Dataset, keys: Collection[str]) -> LinkValue | None:
    """Return the clearest column that weighs the links of nearly all rows, or None."""

    def links_all(value: LinkValue) -> bool:
        is_zero = value.weights(dataset) == 0
        return not value.adds_up or float(is_zero.mean()) <= _MAX_ZERO_SHARE

    return next(filter(links_all, link_values(dataset, keys)), None)


def _value_of(column: str, cells: pd.Series) -> LinkValue | None:
    words = set(words_of_name(column))
    if is_named_key(words_of_name(column)) or pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return None
    if pd.api.types.is_bool_dtype(cells.dtype) or not pd.api.types.is_numeric_dtype(cells.dtype):
        return _value_of_words(column, words, cells)
    x = cells.to_numpy(np.float64, na_value=np.nan)
    distinct = np.unique(x[np.isfinite(x)])
    if len(distinct) < 2:
        return None
    low, high = float(distinct[0]), float(distinct[-1])
    largest = max(-low, high)
    if low < 0 < high and (largest <= 1 or (len(distinct) <= 7 and largest <= 10)):
        return LinkValue(column, "sign")
    if words & _RATINGS and len(distinct) <= _MAX_RATING_LEVELS:
        return LinkValue(column, "rating")
    if low < 0:
        return None
    if words & _COUNTS and bool((distinct == np.round(distinct)).all()):
        return LinkValue(column, "count")
    is_amount = words & _AMOUNTS or column.lower().endswith(("price", "cost", "amount", "total"))
    return LinkValue(column, "amount") if is_amount else None


def _value_of_words(column: str, words: set[str], cells: pd.Series) -> LinkValue | None:
    distinct = [str(cell) for cell in pd.unique(cells.dropna()) if str(cell).strip()]
    if not 2 <= len(distinct) <= 20:
        return None
    levels = {cell.strip().casefold(): cell.strip() for cell in distinct}
    if len(levels) <= _MAX_SIGN_LEVELS:
        for together, apart in _SIGN_WORDS:
            if together in levels and apart in levels:
                weights = {together: 1.0, apart: -1.0}
                return LinkValue(
                    column, "sign", {text: weights.get(key, 0.0) for key, text in levels.items()}
                )
    if words & _RATINGS and all(_GRADE.fullmatch(cell.strip()) for cell in distinct):
        ordered = sorted(levels.values(), key=_grade_order)
        steps = np.linspace(1, -1, len(ordered)).tolist()
        return LinkValue(column, "rating", dict(zip(ordered, steps, strict=True)))
    return None


def _grade_order(grade: str) -> tuple[str, int]:
    return grade[0], {"+": 0, "": 1, "-": 2}[grade[1:]]

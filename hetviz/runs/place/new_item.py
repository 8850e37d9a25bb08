"""New items from text, pictures or column values, compared with the items of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from hetviz._types import Floats, Ints
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.placement import median_places
from hetviz.data import Dataset
from hetviz.errors import DataError, Problem
from hetviz.features import table as table_features
from hetviz.features.columns.images import describe, stack_descriptors
from hetviz.features.columns.options import Step
from hetviz.features.columns.text import known_words
from hetviz.features.recipe import columns_of_steps, columns_used, recipe_of
from hetviz.features.relations.words import description_columns, match_words
from hetviz.features.table import transform
from hetviz.io import gate
from hetviz.io.datasets.images import checked_picture
from hetviz.memo import cached_while_alive

_N_SIMILAR = 10
_MIN_RELATIVE_SIMILARITY = 0.5
_IDENTICAL_SIMILARITY = 1.0 - 1e-9


@dataclass(frozen=True, eq=False)
class ComparableItem:
    """A new item, by its squared distances or else its similarity (0 to 1) to n items."""

    summary: str  # What is compared, in a sentence.
    # The item as one new row of its dataset, where it has the same features.
    rows: Dataset | None = None
    squared_distances: Floats | None = None
    similarity: Floats | None = None

    def locate(self, owner: Dataset, Y: Floats) -> tuple[Floats | None, Ints, Floats]:
        """Return its place among items at Y (n, k) or None, the most similar rows, and scores."""
        placed = np.isfinite(Y).all(axis=1)
        if self.squared_distances is not None:
            squared = np.where(
                placed & np.isfinite(self.squared_distances), self.squared_distances, np.inf
            )
            rows = np.argsort(squared, kind="stable")[:_N_SIMILAR]
            rows = rows[np.isfinite(squared[rows])]
            if not len(rows):
                return None, rows, np.empty(0)
            finite = np.flatnonzero(np.isfinite(squared))
            place = median_places(squared[finite][None], Y[finite])[0]
            width = float(np.median(squared[finite])) or 1.0
            return place, rows, np.exp(-squared[rows] / width)
        similarity = np.where(placed, 0.0 if self.similarity is None else self.similarity, 0.0)
        rows = np.argsort(-similarity, kind="stable")[:_N_SIMILAR]
        rows = rows[similarity[rows] > _MIN_RELATIVE_SIMILARITY * similarity.max(initial=0.0)]
        if not len(rows):
            return None, rows, np.empty(0)
        # An item with exactly these words beats items that share only some of them.
        identical = rows[similarity[rows] > _IDENTICAL_SIMILARITY]
        matching = identical if len(identical) else rows
        return _most_central(Y[matching], similarity[matching]), rows, similarity[rows]


def from_text(owner: Dataset, text: str) -> ComparableItem:
    """Compare words with the items, with an error where no item has any of them."""
    where = f"dataset {owner.name!r}"
    steps = [step for step in _steps(owner) if step["kind"] == "text"]
    if steps:
        terms = sorted({term for step in steps for term in known_words(step, text)})
        if terms:
            columns = [step["column"] for step in steps]
            rows = _new_row(owner, dict.fromkeys(columns, text))
            read_as = f"{' and '.join(columns)} of {owner.name}"
            summary = f"The words {_join_words(terms)} were read as {read_as}."
            return ComparableItem(summary, rows, _squared_distances_to(owner, rows))
    similarity = match_words(owner, text)
    if similarity is None:
        columns = description_columns(owner) or ["id"]
        raise DataError.of(
            "unknown-words",
            where,
            f"no item has any of these words in {' or '.join(columns)}",
            text[:60],
            "Try other words, or another dataset.",
        )
    columns = description_columns(owner) or ["id"]
    return ComparableItem(
        f"The words were searched in {' and '.join(columns)} of the {owner.name}.",
        similarity=similarity,
    )


def from_picture(owner: Dataset, picture: bytes) -> ComparableItem:
    """Compare a picture with the pictures of the items."""
    described = describe(checked_picture("picture", picture))
    if described is None:
        raise DataError.of(
            "bad-picture", "picture", "the picture is damaged", "", "Choose another picture."
        )
    if owner.media is None or not any(media is not None for media in owner.media):
        raise DataError.of(
            "no-pictures",
            f"dataset {owner.name!r}",
            "its items have no pictures to compare with",
            "",
            "Choose another dataset, or type words.",
        )
    features = picture_features(owner)
    squared = np.asarray(((features - described) ** 2).sum(axis=1))
    summary = f"The picture was compared with pictures of the {owner.name} by shapes and colours."
    return ComparableItem(summary, squared_distances=squared)


@cached_while_alive
def picture_features(owner: Dataset) -> Floats:
    """Return the features of the pictures of a dataset, (n, p), NaN without a picture."""
    return stack_descriptors(
        [None if picture is None else _describe_media(picture) for picture in owner.media or ()]
    )


def from_row(owner: Dataset, row: Mapping[str, object]) -> ComparableItem:
    """Compare values of columns with those of the items."""
    values = {str(name): value for name, value in row.items() if not _is_missing(value)}
    where = f"dataset {owner.name!r}"
    columns = [] if owner.table is None else [str(name) for name in owner.table.columns]
    features = list(owner.feature_names or ())
    unknown = [name for name in values if name not in columns and name not in features]
    if unknown:
        remedy = f"Available: {', '.join([*columns, *features][:20])}."
        raise DataError(
            Problem("unknown-column", where, "there is no such column", name, remedy)
            for name in unknown
        )
    if not values:
        raise DataError.of(
            "no-values", where, "no value was given", "", "Fill in at least one column."
        )
    feature_columns = set(columns_of_steps(_steps(owner)))
    if feature_columns & set(values):
        rows = _new_row(owner, {name: values[name] for name in values if name in feature_columns})
        summary = (
            f"Compared by {_join_words(sorted(feature_columns & set(values)))} of the {owner.name}"
        )
        missing = sorted(feature_columns - set(values))
        summary += f". The average is used for {_join_words(missing)}." if missing else "."
        return ComparableItem(summary, rows, _squared_distances_to(owner, rows))
    if features and owner.X is not None and all(name in features for name in values):
        features_of_row = np.asarray(owner.X.mean(axis=0), dtype=np.float64).ravel()
        for name, value in values.items():
            features_of_row[features.index(name)] = _to_number(where, name, value)
        rows = _single_row(owner, features_of_row[None])
        summary = (
            f"Compared by the features of the {owner.name}. The average is used for missing ones."
        )
        return ComparableItem(summary, rows, _squared_distances_to(owner, rows))
    return _by_columns(owner, values)


def _by_columns(owner: Dataset, values: Mapping[str, object]) -> ComparableItem:
    """Compare by table columns that are not features of the dataset."""
    assert owner.table is not None  # noqa: S101 - the columns come from its table
    names = [name for name in values if name in owner.table.columns]
    fitted = table_features.fit(owner.table[names].copy(), columns=names, where=owner.name)
    if fitted.X is None:
        raise DataError.of(
            "no-features",
            f"dataset {owner.name!r}",
            "these columns hardly differ between items, so nothing can be compared",
            ", ".join(names),
            "Fill in other columns.",
        )
    new = transform(fitted.recipe, _one_row_frame(names, values))
    squared = np.asarray(((fitted.X - new) ** 2).sum(axis=1))
    return ComparableItem(
        f"Compared by {_join_words(names)} of the {owner.name}.", squared_distances=squared
    )


def _steps(owner: Dataset) -> list[Step]:
    steps = list(recipe_of(owner)["columns"])
    # Given vectors cannot be computed for a new row, so columns alone do not suffice.
    return [] if any(step["kind"] == "vectors" for step in steps) else steps


def _new_row(owner: Dataset, values: Mapping[str, object]) -> Dataset:
    """Return one new row with the features of these values; others count as missing."""
    recipe = recipe_of(owner)
    frame = _one_row_frame(columns_used(recipe), values)
    return _single_row(owner, transform(recipe, frame))


def _one_row_frame(names: list[str], values: Mapping[str, object]) -> pd.DataFrame:
    cells = {name: [values.get(name)] for name in names}
    return pd.DataFrame(cells, dtype=object)


def _single_row(owner: Dataset, X: Floats) -> Dataset:
    name = "new"
    while owner.find([name])[0] >= 0:
        name += "'"
    return Dataset(owner.name, [name], X, feature_names=owner.feature_names, entity=owner.entity)


def _squared_distances_to(owner: Dataset, rows: Dataset) -> Floats | None:
    if owner.X is None or rows.X is None:
        return None
    return np.asarray(cross_squared_distances(rows.X, owner.X)[0])


def _describe_media(media: bytes | str | PathLike[str]) -> Floats | None:
    try:
        content = media if isinstance(media, bytes) else gate.read_file(Path(media))
        return describe(checked_picture("picture", content))
    except DataError:
        # The picture of the item is missing or damaged.
        return None


def _most_central(Y: Floats, weights: Floats) -> Floats:
    """Return the place of the row with the smallest weighted distance to all rows."""
    return np.asarray(Y[int((cdist(Y, Y) @ weights).argmin())])


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))


def _to_number(where: str, name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise DataError.of(
            "not-numbers", f"{where}, {name}", "a number is needed", str(value)[:60], "Give one."
        )
    return number


def _join_words(words: list[str], max_words: int = 5) -> str:
    parts = words[:max_words] + (
        [f"{len(words) - max_words} more"] if len(words) > max_words else []
    )
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

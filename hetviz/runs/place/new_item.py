"""Something that is not in the data, made comparable with the items of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from hetviz._types import Floats, Ints
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.placement import median_places
from hetviz.data import Dataset
from hetviz.errors import DataError, Problem
from hetviz.features import table as table_features
from hetviz.features.columns.images import describe
from hetviz.features.columns.options import Step
from hetviz.features.columns.text import words_known
from hetviz.features.recipe import columns_of, columns_used, recipe_of
from hetviz.features.relations.words import described_by, match_words
from hetviz.features.table import transform
from hetviz.io import gate
from hetviz.io.formats.images import checked_picture

_DESCRIBED: WeakKeyDictionary[Dataset, Floats] = WeakKeyDictionary()
_MOST_ALIKE = 10
_WORTH = 0.5
_SAME = 1.0 - 1e-9


@dataclass(frozen=True, eq=False)
class NewItem:
    """Something new.

    Attributes
    ----------
    how : str
        What is compared, in a sentence.
    rows : Dataset or None
        As one new row of its dataset, where it has the same features.
    away : array of shape (n,) or None
        Squared distances to the items; where there are none, `alike` says how alike they are.
    alike : array of shape (n,) or None
        From 0 to 1.
    """

    how: str
    rows: Dataset | None = None
    away: Floats | None = None
    alike: Floats | None = None

    def among(self, owner: Dataset, Y: Floats) -> tuple[Floats | None, Ints, Floats]:
        """Return its place among items at Y (n, k), the rows most like it, and how alike they are.

        The place is None where none of them has one.
        """
        there = np.isfinite(Y).all(axis=1)
        if self.away is not None:
            away = np.where(there & np.isfinite(self.away), self.away, np.inf)
            rows = np.argsort(away, kind="stable")[:_MOST_ALIKE]
            rows = rows[np.isfinite(away[rows])]
            if not len(rows):
                return None, rows, np.empty(0)
            known = np.flatnonzero(np.isfinite(away))
            place = median_places(away[known][None], Y[known])[0]
            width = float(np.median(away[known])) or 1.0
            return place, rows, np.exp(-away[rows] / width)
        alike = np.where(there, 0.0 if self.alike is None else self.alike, 0.0)
        rows = np.argsort(-alike, kind="stable")[:_MOST_ALIKE]
        rows = rows[alike[rows] > _WORTH * alike.max(initial=0.0)]
        if not len(rows):
            return None, rows, np.empty(0)
        # An item of just these words is what is meant, wherever others that share some lie.
        same = rows[alike[rows] > _SAME]
        meant = same if len(same) else rows
        return _most_central(Y[meant], alike[meant]), rows, alike[rows]


def from_text(owner: Dataset, text: str) -> NewItem:
    """Compare words with the items; see `hetviz.runs.place.nearest_to.nearest_to`.

    Raises
    ------
    hetviz.errors.DataError
        If no item has any of the words.
    """
    where = f"dataset {owner.name!r}"
    steps = [step for step in _steps(owner) if step["kind"] == "text"]
    if steps:
        known = sorted({word for step in steps for word in words_known(step, text)})
        if known:
            columns = [step["column"] for step in steps]
            rows = _made(owner, dict.fromkeys(columns, text))
            how = f"The words {_named(known)} were read as {' and '.join(columns)} of {owner.name}."
            return NewItem(how, rows, _squared(owner, rows))
    alike = match_words(owner, text)
    if alike is None:
        columns = described_by(owner) or ["id"]
        raise _refusal(
            "unknown-words",
            where,
            f"none of these words occurs in {' or '.join(columns)} of any item",
            text[:60],
            "Try other words, or another dataset.",
        )
    columns = described_by(owner) or ["id"]
    return NewItem(
        f"The words were looked for in {' and '.join(columns)} of the {owner.name}.", alike=alike
    )


def from_picture(owner: Dataset, picture: bytes) -> NewItem:
    """Compare a picture with those of the items.

    Raises
    ------
    hetviz.errors.DataError
        If it is no picture that can be read, or the items have none.
    """
    found = describe(checked_picture("picture", picture))
    if found is None:
        raise _refusal("bad-picture", "picture", "the picture is damaged", "", "Give another one.")
    if owner.media is None or not any(one is not None for one in owner.media):
        raise _refusal(
            "no-pictures",
            f"dataset {owner.name!r}",
            "its items have no pictures to compare with",
            "",
            "Choose another dataset, or type words.",
        )
    known = descriptions(owner)
    away = np.asarray(((known - found) ** 2).sum(axis=1))
    how = f"The picture was compared with those of the {owner.name}, by shapes and colours."
    return NewItem(how, away=away)


def descriptions(owner: Dataset) -> Floats:
    """Return what describes the pictures of a dataset, (n, p); NaN where there is none.

    Made once for each dataset: about 1 ms a picture.
    """
    if owner not in _DESCRIBED:
        _DESCRIBED[owner] = _descriptions(owner)
    return _DESCRIBED[owner]


def _descriptions(owner: Dataset) -> Floats:
    known = [None if one is None else _described(one) for one in owner.media or ()]
    width = next((len(one) for one in known if one is not None), 0)
    out = np.full((len(owner), width), np.nan)
    for row, one in enumerate(known):
        if one is not None:
            out[row] = one
    return out


def from_row(owner: Dataset, row: Mapping[str, object]) -> NewItem:
    """Compare values of columns with those of the items.

    Raises
    ------
    hetviz.errors.DataError
        Listing columns that there are not, and values of a wrong kind.
    """
    given = {str(name): value for name, value in row.items() if not _is_missing(value)}
    where = f"dataset {owner.name!r}"
    columns = [] if owner.table is None else [str(name) for name in owner.table.columns]
    features = list(owner.feature_names or ())
    unknown = [name for name in given if name not in columns and name not in features]
    if unknown:
        there = f"There are: {', '.join([*columns, *features][:20])}."
        raise DataError(
            Problem("unknown-column", where, "there is no such column", name, there)
            for name in unknown
        )
    if not given:
        raise _refusal("no-values", where, "no value was given", "", "Fill in at least one column.")
    made = set(columns_of(_steps(owner)))
    if made & set(given):
        rows = _made(owner, {name: given[name] for name in given if name in made})
        how = f"Compared by {_named(sorted(made & set(given)))} of the {owner.name}"
        left = sorted(made - set(given))
        how += f"; {_named(left)} counts as usual." if left else "."
        return NewItem(how, rows, _squared(owner, rows))
    if features and owner.X is not None and all(name in features for name in given):
        x = np.asarray(owner.X.mean(axis=0), dtype=np.float64).ravel()
        for name, value in given.items():
            x[features.index(name)] = _number(where, name, value)
        rows = _one(owner, x[None])
        how = f"Compared by the features of the {owner.name}; those not given count as usual."
        return NewItem(how, rows, _squared(owner, rows))
    return _by_columns(owner, given)


def _by_columns(owner: Dataset, given: Mapping[str, object]) -> NewItem:
    """Compare by columns that are no features of the dataset."""
    assert owner.table is not None  # noqa: S101 - the columns given are those of its table
    names = [name for name in given if name in owner.table.columns]
    fitted = table_features.fit(owner.table[names].copy(), columns=names, where=owner.name)
    if fitted.X is None:
        raise _refusal(
            "no-features",
            f"dataset {owner.name!r}",
            "these columns tell the items apart too little to compare by",
            ", ".join(names),
            "Fill in other columns.",
        )
    new = transform(fitted.recipe, _frame(names, given))
    away = np.asarray(((fitted.X - new) ** 2).sum(axis=1))
    return NewItem(f"Compared by {_named(names)} of the {owner.name}.", away=away)


def _steps(owner: Dataset) -> list[Step]:
    steps = list(recipe_of(owner)["columns"])
    # Beside vectors that came with the dataset no new row can be made of columns.
    return [] if any(step["kind"] == "vectors" for step in steps) else steps


def _made(owner: Dataset, values: Mapping[str, object]) -> Dataset:
    """Return one new row with the features that these values make; the others count as missing."""
    recipe = recipe_of(owner)
    frame = _frame(columns_used(recipe), values)
    return _one(owner, transform(recipe, frame))


def _frame(names: list[str], values: Mapping[str, object]) -> pd.DataFrame:
    cells = {name: [values.get(name)] for name in names}
    return pd.DataFrame(cells, dtype=object)


def _one(owner: Dataset, X: Floats) -> Dataset:
    name = "new"
    while owner.find([name])[0] >= 0:
        name += "'"
    return Dataset(owner.name, [name], X, feature_names=owner.feature_names, entity=owner.entity)


def _squared(owner: Dataset, rows: Dataset) -> Floats | None:
    if owner.X is None or rows.X is None:
        return None
    return np.asarray(cross_squared_distances(rows.X, owner.X)[0])


def _described(media: bytes | str | PathLike[str]) -> Floats | None:
    try:
        content = media if isinstance(media, bytes) else gate.read_file(Path(media))
        return describe(checked_picture("picture", content))
    except DataError:
        # A picture of an item that is gone or damaged: the item has none to compare.
        return None


def _most_central(Y: Floats, weights: Floats) -> Floats:
    """Return the place of the row nearest to all, weighted: between two groups nothing lies."""
    return np.asarray(Y[int((cdist(Y, Y) @ weights).argmin())])


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))


def _number(where: str, name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise _refusal(
            "not-numbers", f"{where}, {name}", "a number is needed", str(value)[:60], "Give one."
        )
    return found


def _named(words: list[str], most: int = 5) -> str:
    shown = words[:most] + ([f"{len(words) - most} more"] if len(words) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _refusal(code: str, where: str, what: str, value: str, remedy: str) -> DataError:
    return DataError(Problem(code, where, what, value, remedy))

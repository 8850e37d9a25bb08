"""The features of a table made of other rows, by the recipe that was fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.errors import DataError, Problem
from hetviz.features.columns import block, categories, images
from hetviz.features.columns import cells as given
from hetviz.features.table_notes import no_column

_STRICT = ("unknown-column", "not-numbers")


def transform(recipe: Mapping[str, Any], table: pd.DataFrame) -> Floats:
    """Make the same features from the rows of another table.

    Parameters
    ----------
    recipe : dict
        From `hetviz.features.table.fit`.
    table : DataFrame of n rows
        With the columns that the recipe names; values never seen count as missing.

    Returns
    -------
    array of shape (n, p)

    Raises
    ------
    hetviz.errors.DataError
        If a column is missing, or holds something that is no number where one is needed.
    """
    problems: list[Problem] = []
    X = transform_gently(recipe, table, None, problems)
    refused = [problem for problem in problems if problem.code in _STRICT]
    if refused:
        raise DataError(refused)
    return X


def transform_gently(
    recipe: Mapping[str, Any],
    table: pd.DataFrame,
    media: Sequence[Any] | None,
    problems: list[Problem],
) -> Floats:
    """Make the same features; what does not fit counts as missing, and is told in `problems`.

    Returns
    -------
    array of shape (n, p)
    """
    out = [np.zeros((len(table), 0))]
    for step in block.upgraded(recipe)["columns"]:
        values = _given(step, table, media, problems)
        with np.errstate(over="ignore", invalid="ignore"):
            out.append(block.apply(step, values))
    return np.hstack(out)


def _given(
    step: Mapping[str, Any],
    table: pd.DataFrame,
    media: Sequence[Any] | None,
    problems: list[Problem],
) -> Any:
    kind = step["kind"]
    if kind == "picture":
        return images.described([None] * len(table) if media is None else media)
    cells = []
    for name in step["columns"]:
        if name not in table.columns:
            problems.append(no_column("table", name, table, "note"))
        gone = pd.Series([None] * len(table), dtype=object)
        cells.append(table[name] if name in table.columns else gone)
    if kind in ("number", "date", "latlong"):
        found = [
            given.amounts(step, name, column, problems)
            for name, column in zip(step["columns"], cells, strict=True)
        ]
        return found[0] if kind != "latlong" else np.column_stack(found)
    name = step["columns"][0]
    levels = frozenset(step["levels"]) if kind in ("category", "list") else frozenset()
    texts = given.words(name, cells[0], levels)
    if kind in ("category", "list"):
        problems += _unknown(step, texts)
    return texts


def _unknown(step: Mapping[str, Any], texts: list[str | None]) -> list[Problem]:
    found = categories.unknown(step, texts)
    if not found:
        return []
    what = f"{len(found):,} values were not there when the features were made; they count as none"
    row, value = found[0]
    place = f"table, column {step['column']}"
    return [
        Problem("unknown-category", place, what, value[:60], "", "note", row=row, count=len(found))
    ]

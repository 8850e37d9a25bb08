"""Columns of a table to one matrix, by what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hetviz.errors import DataError, Problem
from hetviz.features import text as words
from hetviz.features.columns import MAX_CATEGORIES, Column, infer, numbers

RECIPE_FORMAT = 1
_EXTREME = 1e100


@dataclass(frozen=True, eq=False)
class TableFeatures:
    """Features made from a table.

    Attributes
    ----------
    X : array of shape (n, p) or None
        None where no column is of use.
    feature_names : tuple of str, length p
    recipe : dict
        JSON-ready; `transform` applies it to other rows.
    columns : tuple of Column
        What each column holds, of all that were looked at.
    notes : tuple of Problem
        What was left out or filled in, and why.
    """

    X: NDArray[np.float64] | None
    feature_names: tuple[str, ...]
    recipe: dict[str, Any]
    columns: tuple[Column, ...]
    notes: tuple[Problem, ...]


def fit(
    table: pd.DataFrame,
    *,
    where: str = "table",
    columns: Sequence[str] | None = None,
    exclude: Collection[str] = (),
    log: Collection[str] = (),
    text: Collection[str] = (),
    decimal: str = ".",
    random_state: int = 0,
    known: Mapping[str, Column] | None = None,
) -> TableFeatures:
    r"""Make features from the columns of a table.

    Parameters
    ----------
    table : DataFrame of n rows
        Cells as text, or typed.
    where : str
        For messages.
    columns : sequence of str, optional
        Which to use; all when absent.
    exclude, log, text : collection of str
        Columns never used; numbers to take the logarithm of; columns to treat as free text.
    decimal : {".", ","}
    random_state : int
        Seed of the decomposition of free text.
    known : mapping of str to Column, optional
        Columns of this table that `infer` has looked at already.

    Returns
    -------
    TableFeatures

    Raises
    ------
    hetviz.errors.DataError
        If a column named in `columns` or `log` does not exist.

    Notes
    -----
    Numbers: the mean where missing, then :math:`(x - \mu)/\sigma`, of log(1 + x) on request.
    Dates: days, like numbers. Categories: one column for each value (the `MAX_CATEGORIES` most
    frequent), centred. Free text: TF-IDF and its leading singular vectors, centred. Constant
    columns and columns of names that differ in every row give none.

    Every column of the table, whatever it holds, gets the total variance 1, so that no kind
    drowns another: a one-hot block or a block of text weighs as much as one number.
    """
    _check_known(where, table, [*(columns or ()), *log])
    chosen = list(table.columns) if columns is None else list(columns)
    chosen = [column for column in chosen if column not in exclude]
    blocks: list[NDArray[np.float64]] = []
    steps: list[dict[str, Any]] = []
    names: list[str] = []
    looked_at: list[Column] = []
    notes: list[Problem] = []
    for name in chosen:
        column = (known or {}).get(name) or infer(name, table[name], decimal)
        if name in text and column.kind in ("category", "unique", "text"):
            column = Column(name, "text", column.values, column.n_missing, column.markers)
        looked_at.append(column)
        notes += _notes(where, column, columns is not None, decimal)
        step = _step(column, name in log, decimal, random_state)
        if step is None:
            continue
        block = _apply(step, column)
        spread = _spread(block)
        if not 1.0 / _EXTREME < spread < _EXTREME:
            what = "the values are too large or too alike to compute with, so it is no feature"
            notes.append(Problem("range", f"{where}, column {name}", what, severity="note"))
            continue
        step["scale"] = 1.0 / spread
        blocks.append(block * step["scale"])
        steps.append(step)
        names += _names(step)
    recipe = {"format": RECIPE_FORMAT, "columns": steps}
    X = np.hstack(blocks) if blocks else None
    return TableFeatures(X, tuple(names), recipe, tuple(looked_at), tuple(notes))


def transform(recipe: dict[str, Any], table: pd.DataFrame) -> NDArray[np.float64]:
    """Make the same features from the rows of another table.

    Parameters
    ----------
    recipe : dict
        From `fit`.
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
    steps = recipe["columns"]
    _check_known("table", table, [step["column"] for step in steps])
    blocks = [np.zeros((len(table), 0))]
    for step in steps:
        column = infer(step["column"], table[step["column"]], step.get("decimal", "."))
        blocks.append(_apply(step, column) * step["scale"])
    return np.hstack(blocks)


def _check_known(where: str, table: pd.DataFrame, names: Sequence[str]) -> None:
    unknown = [name for name in dict.fromkeys(names) if name not in table.columns]
    if unknown:
        there = ", ".join(map(str, table.columns[:20]))
        raise DataError(
            Problem(
                "unknown-column", where, "there is no such column", name, f"There are: {there}."
            )
            for name in unknown
        )


def _spread(block: NDArray[np.float64]) -> float:
    """Return the square root of the total variance, infinite where it cannot be computed."""
    top = float(np.abs(block).max(initial=0.0))
    if not np.isfinite(top) or top == 0:
        return top
    return top * float(np.sqrt((block / top).var(axis=0).sum()))


def _step(column: Column, log: bool, decimal: str, random_state: int) -> dict[str, Any] | None:
    base = {"column": column.name, "kind": column.kind}
    if column.kind in ("number", "date"):
        known = column.values[~np.isnan(column.values)]
        if log and known.min() < 0:
            log = False
        values = np.log1p(known) if log else known
        top = float(np.abs(values).max()) or 1.0
        mean = float((values / top).mean()) * top
        return {**base, "log": log, "mean": mean, "decimal": decimal}
    if column.kind == "category":
        counts = Counter(value for value in column.values if value is not None)
        ranked = sorted(counts, key=lambda value: (-counts[value], value))
        levels = sorted(ranked[:MAX_CATEGORIES])
        hot = _one_hot(column, levels)
        return {**base, "levels": levels, "mean": hot.mean(axis=0).tolist()}
    if column.kind == "text":
        fitted = words.fit(_texts(column), random_state)
        return None if fitted is None else {**base, **fitted}
    return None


def _apply(step: dict[str, Any], column: Column) -> NDArray[np.float64]:
    """Return the block of one column, before it is scaled, shape (n, width)."""
    if step["kind"] in ("number", "date"):
        if column.values.dtype == object and any(value is not None for value in column.values):
            bad = next(value for value in column.values if value is not None)
            raise DataError(
                Problem(
                    "not-numbers",
                    f"table, column {column.name}",
                    f"the column held {step['kind']}s when the features were made",
                    str(bad),
                    "Give the same kind of values.",
                )
            )
        values = np.array(column.values, dtype=np.float64)
        if step.get("log"):
            values = np.log1p(np.maximum(values, 0.0))
        with np.errstate(over="ignore"):
            return np.asarray(np.where(np.isnan(values), 0.0, values - step["mean"])[:, None])
    if step["kind"] == "category":
        return np.asarray(_one_hot(column, step["levels"]) - np.array(step["mean"]))
    return words.apply(step, _texts(column))


def _texts(column: Column) -> list[str]:
    if column.values.dtype == object:
        return ["" if value is None else str(value) for value in column.values]
    return ["" if np.isnan(value) else f"{value:g}" for value in column.values]


def _one_hot(column: Column, levels: Sequence[str]) -> NDArray[np.float64]:
    cells = np.array(_texts(column), dtype=object)
    return np.array([cells == level for level in levels], dtype=np.float64).T.reshape(
        len(cells), len(levels)
    )


def _names(step: dict[str, Any]) -> list[str]:
    if step["kind"] == "category":
        return [f"{step['column']}={level}" for level in step["levels"]]
    if step["kind"] == "text":
        return [f"{step['column']}~{axis + 1}" for axis in range(len(step["components"]))]
    return [f"log {step['column']}" if step.get("log") else step["column"]]


def _notes(where: str, column: Column, asked: bool, decimal: str) -> list[Problem]:
    place = f"{where}, column {column.name}"
    found: list[tuple[str, str, str]] = []
    if column.kind == "constant":
        found.append(("constant-column", "every row has the same value, so it is no feature", ""))
    elif column.kind == "empty":
        found.append(("empty-column", "the column is empty, so it is no feature", ""))
    elif column.kind == "unique" and asked:
        found.append(("unique-column", "every row has another short text, so it is no feature", ""))
    elif column.n_missing:
        filled = {"number": "the mean", "date": "the mean"}.get(column.kind, "no value")
        marks = f" (written {', '.join(column.markers)})" if column.markers else ""
        what = f"{column.n_missing:,} of {len(column.values):,} cells are missing{marks}"
        found.append(("missing", f"{what}; they count as {filled}", ""))
    if column.kind in ("category", "unique", "text"):
        present = [str(value) for value in column.values if value is not None]
        is_number = np.isfinite(numbers(present, decimal))
        n_others = int((~is_number).sum())
        if 0 < n_others <= len(present) / 2:
            other = present[int(np.argmin(is_number))]
            what = f"it counts as text: {n_others:,} of {len(present):,} cells hold no number"
            found.append(("mixed-column", what, other[:60]))
    if column.kind == "category":
        n_levels = len({value for value in column.values if value is not None})
        if n_levels > MAX_CATEGORIES:
            what = f"{n_levels:,} different values; the {MAX_CATEGORIES} most frequent are used"
            found.append(("many-categories", what, ""))
    return [Problem(code, place, what, value, severity="note") for code, what, value in found]

"""New rows of a dataset from a table with the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._text import count
from hetviz._types import Floats, Matrix, Sparse, is_sparse
from hetviz.data import Dataset
from hetviz.errors import DataError, Problem
from hetviz.features.columns.options import VECTORS
from hetviz.features.recipe import recipe_of, transform_features


def make_new_rows(
    dataset: Dataset,
    ids: Sequence[str],
    rows: pd.DataFrame,
    media: Sequence[object] | None = None,
    problems: list[Problem] | None = None,
) -> Dataset:
    """Return new rows of a dataset with the same features."""
    where = f"new rows of {dataset.name!r}"
    notes: list[Problem] = [] if problems is None else problems
    for word in ("kernel", "distance"):
        if getattr(dataset, word) is not None:
            message = f"its items are described by a {word}, which cannot be computed from columns"
            remedy = f"Give a Dataset whose {word} has a column for each existing item."
            raise DataError.of("no-columns", where, message, remedy=remedy)
    X: Matrix | None = None
    if dataset.X is not None and "features" in (dataset.recipe or {}):
        step = next((s for s in recipe_of(dataset)["columns"] if s["kind"] == "vectors"), None)
        vectors = None
        if step is not None and set(step["names"]) <= set(rows.columns):
            vectors = _numbers(where, rows, step["names"], notes)
        elif step is not None:
            missing = [name for name in step["names"] if name not in rows.columns]
            message = f"each of its {VECTORS} needs a column"
            raise DataError.of("unknown-column", where, message, ", ".join(missing[:3]))
        X = transform_features(dataset, rows, media, vectors=vectors, problems=notes)
    elif dataset.X is not None:
        X = _features_by_name(where, dataset, rows, notes)
    return Dataset(
        dataset.name,
        ids,
        X,
        feature_names=dataset.feature_names,
        table=None if dataset.table is None else _matching_table(dataset.table, rows),
        media=media if dataset.media is not None else None,
        entity=dataset.entity,
        recipe=dataset.recipe,
    )


def append_rows(dataset: Dataset, new: Dataset) -> Dataset:
    """Return a dataset with the new rows of `make_new_rows` made behind its own."""
    X = dataset.X
    if new.X is not None:
        if is_sparse(X):
            added: Sparse = sp.csr_array(new.X)
            X = sp.csr_array(sp.vstack([X, added], format="csr"))
        elif X is not None:
            X = np.vstack([X, np.asarray(new.X)])
    table = None
    if dataset.table is not None and new.table is not None:
        table = pd.concat([dataset.table, new.table], ignore_index=True)
    media = None
    if dataset.media is not None:
        media = (*dataset.media, *(new.media or (None,) * len(new)))
    ids = np.concatenate([dataset.ids, new.ids])
    return replace(dataset, ids=ids, X=X, table=table, media=media)


def _features_by_name(
    where: str, dataset: Dataset, rows: pd.DataFrame, problems: list[Problem]
) -> Floats:
    """Return features from columns named like the features; missing values become the mean."""
    names = list(dataset.feature_names or ())
    missing = [name for name in names if name not in rows.columns]
    if len(missing) == len(names):
        message = "its features were not made from columns, and no column has the name of a feature"
        remedy = f"Give: {', '.join(names[:5])}, ..." if names else "Give them as a Dataset with X."
        raise DataError.of("unknown-column", where, message, remedy=remedy)
    if missing:
        message = (
            f"there is no column for {len(missing)} of {len(names)} features, so the mean is used"
        )
        problems.append(
            Problem("unknown-column", where, message, ", ".join(missing[:5]), severity="note")
        )
    X = _numbers(where, rows, names, problems)
    mean = np.asarray(dataset.X.mean(axis=0), dtype=np.float64).ravel()  # type: ignore[union-attr]
    return np.where(np.isfinite(X), X, mean)


def _numbers(
    where: str, rows: pd.DataFrame, names: Sequence[str], problems: list[Problem]
) -> Floats:
    columns = []
    for name in names:
        cells = rows[name] if name in rows.columns else pd.Series([None] * len(rows), dtype=object)
        column = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        n_bad = int((~np.isfinite(column)).sum())
        if n_bad and name in rows.columns:
            message = f"{count(n_bad, 'cell')} without a number replaced by the mean"
            place = f"{where}, column {name}"
            problems.append(Problem("not-numbers", place, message, severity="note"))
        columns.append(np.where(np.isfinite(column), column, np.nan))
    return np.column_stack(columns)


def _matching_table(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table for new rows, with its types if possible."""
    out: dict[Any, Any] = {}
    for name in table.columns:
        if name not in rows.columns:
            out[name] = pd.Series([None] * len(rows), dtype=object)
        elif pd.api.types.is_numeric_dtype(table[name]):
            out[name] = pd.to_numeric(rows[name], errors="coerce")
        elif pd.api.types.is_datetime64_any_dtype(table[name]):
            out[name] = pd.to_datetime(rows[name], errors="coerce")
        else:
            cells = rows[name].astype(object)
            out[name] = cells.where(cells.notna() & (cells != ""), None)
        if not pd.api.types.is_integer_dtype(table[name]) or _is_whole(out[name]):
            out[name] = out[name].astype(table[name].dtype)
        out[name] = out[name].reset_index(drop=True)
    return pd.DataFrame(out, index=range(len(rows)))


def _is_whole(column: pd.Series) -> bool:
    return bool(column.notna().all() and (column == column.round()).all())

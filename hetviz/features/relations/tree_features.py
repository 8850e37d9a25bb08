"""Features for learning a label: none made of the label itself, and gaps left open for trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hetviz._types import Floats, Matrix, is_sparse
from hetviz.data import Dataset
from hetviz.features.columns import block
from hetviz.features.columns.types import infer


def tree_features(dataset: Dataset, X: Matrix, label: str) -> Matrix:
    """Return features as trees should see them.

    Parameters
    ----------
    dataset : Dataset
    X : array or csr of shape (n, p)
        Features of its rows, as given or through a kernel.
    label : str
        Column to be learned.

    Returns
    -------
    array or csr of shape (n, at most p)
        Of features as given those that were made of `label` are left out, and dense ones are NaN
        where the cell of the table was missing.
    """
    if dataset.X is None or X.shape[1] != dataset.X.shape[1]:
        return X
    if not is_sparse(X):
        X = _with_gaps(dataset, np.array(X, dtype=np.float64))
    kept = _not_of(dataset, label)
    return X if len(kept) == X.shape[1] else X[:, kept]


def without_column(dataset: Dataset, name: str) -> Dataset:
    """Return the dataset without the features that were made of a column of its table."""
    if dataset.X is None:
        return dataset
    kept = _not_of(dataset, name)
    if len(kept) == dataset.X.shape[1]:
        return dataset
    names = tuple((dataset.feature_names or ())[place] for place in kept)
    return replace(dataset, X=dataset.X[:, kept] if kept else None, feature_names=names or None)


def _not_of(dataset: Dataset, name: str) -> list[int]:
    """Return the features that were not made of a column, by their names."""
    if dataset.X is None or dataset.feature_names is None:
        return list(range(0 if dataset.X is None else dataset.X.shape[1]))
    own = (name, f"log {name}", f"{name} (missing)")
    starts = (f"{name}=", f"{name}~")
    return [
        place
        for place, text in enumerate(dataset.feature_names)
        if text not in own and not text.startswith(starts)
    ]


def _with_gaps(dataset: Dataset, X: Floats) -> Floats:
    """Write NaN where the cell of the table that a feature was made of is missing."""
    recipe = (dataset.recipe or {}).get("features")
    steps = block.upgraded(recipe)["columns"] if recipe else []
    widths = [len(block.names(step)) for step in steps]
    if dataset.table is None or sum(widths) != X.shape[1]:
        return X
    start = 0
    for step, width in zip(steps, widths, strict=True):
        for name in step["columns"]:
            if name in dataset.table.columns:
                values = infer(name, dataset.table[name], step.get("decimal", ".")).values
                missing = np.array([v is None or v != v for v in values])
                X[missing, start : start + width] = np.nan
        start += width
    return X

"""What directions of a map mean in terms of the columns that items were described by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, is_sparse
from hetviz.core.spectral.blocks import LinearMap
from hetviz.data import Dataset
from hetviz.errors import ParameterError


def feature_names(dataset: Dataset) -> list[str]:
    """Return the names of a dataset's features; their numbers from 1 where they have none."""
    if dataset.feature_names is not None:
        return list(dataset.feature_names)
    count = 0 if dataset.X is None else dataset.X.shape[1]
    return [f"feature {number + 1}" for number in range(count)]


def coefficients(
    dataset: Dataset, fitted: LinearMap, scale: Floats, axes: Sequence[str]
) -> pd.DataFrame:
    """Say how far one standard deviation of each feature moves an item along each axis.

    Parameters
    ----------
    dataset : Dataset
        With features.
    fitted : LinearMap
        Of these features.
    scale : ndarray of shape (k,)
        Factor of each axis.
    axes : sequence of str

    Returns
    -------
    DataFrame
        One row per feature, named by it, one column per axis.
    """
    deviation = np.sqrt(_moments(dataset.X)[1])
    moved = fitted.coefficients * scale * deviation[:, None]
    return pd.DataFrame(moved, index=feature_names(dataset), columns=list(axes))


def columns_along(
    dataset: Dataset, Y: Floats, direction: Sequence[float] | Floats, top: int = 10
) -> pd.DataFrame:
    """Say which features vary most along a direction of any map.

    Parameters
    ----------
    dataset : Dataset
        With features X of shape (n, p).
    Y : ndarray of shape (n, k)
        Where its items lie; rows of NaN do not count.
    direction : sequence of k numbers
        As drawn on the map; only where it points matters.
    top : int
        How many features to return.

    Returns
    -------
    DataFrame
        Columns: column, correlation (of the feature with the place along the direction, -1 to 1)
        and change (of the feature, in its own units, over one unit of the map in this direction),
        by falling absolute correlation. Features that do not vary are left out.

    Raises
    ------
    hetviz.errors.ParameterError
        When the dataset has no features, or the direction no length or too few numbers.

    Notes
    -----
    Single columns that go with the direction, not what the method made of them: it holds for maps
    of any kind. O(n p), sparse features stay sparse.
    """
    arrow = np.asarray(direction, dtype=np.float64)
    if dataset.X is None:
        raise ParameterError(f"dataset {dataset.name!r} has no columns of features to look at.")
    if arrow.shape != (Y.shape[1],) or not np.isfinite(arrow).all() or not arrow.any():
        raise ParameterError(
            f"direction = {list(direction)!r}; {Y.shape[1]} numbers are needed, not all 0."
        )
    there: Bools = np.asarray(np.isfinite(Y).all(axis=1))
    X, along = dataset.X[there], Y[there] @ (arrow / np.linalg.norm(arrow))
    names = np.array(feature_names(dataset), dtype=object)
    if len(along) < 2 or not np.ptp(along) > 0:
        return pd.DataFrame({"column": [], "correlation": [], "change": []})
    along = along - along.mean()
    mean, variance = _moments(X)
    shared = np.asarray(X.T @ along).ravel() / len(along)
    change = shared / float((along**2).mean())
    varies = variance > 1e-20 * np.maximum(mean**2, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(varies, shared / np.sqrt(variance * (along**2).mean()), 0.0)
    order = np.argsort(-np.abs(correlation), kind="stable")
    order = order[varies[order]][:top]
    return pd.DataFrame(
        {
            "column": names[order],
            "correlation": np.clip(correlation[order], -1.0, 1.0),
            "change": change[order],
        }
    )


def _moments(X: object) -> tuple[Floats, Floats]:
    """Return mean and variance of each column."""
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return mean, np.maximum(squares - mean**2, 0.0)
    dense = np.asarray(X, dtype=np.float64)
    return dense.mean(axis=0), dense.var(axis=0)

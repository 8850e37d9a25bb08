"""What each column does for the features, and whether a map shows it."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats, Matrix
from hetviz.core.spectral.blocks import as_dense
from hetviz.data import Dataset
from hetviz.features import table
from hetviz.features.columns import block
from hetviz.features.recipe import recipe_of

N_NEIGHBORS = 10
MOST_ROWS = 20_000
MOST_QUERIES = 2_000
_LOOKED_AT = ("number", "date", "category", "list", "latlong")


def neighbor_agreement(
    X: Matrix, Y: Floats, n_neighbors: int = N_NEIGHBORS, random_state: int = 0
) -> float:
    r"""Return how much more alike in X neighbours on a map are than items taken by chance.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
        Features of one column.
    Y : array of shape (n, 2)
        Places; NaN where an item has none.
    n_neighbors : int
    random_state : int
        Seeds the choice of rows where there are many.

    Returns
    -------
    float
        :math:`1 - C`, where :math:`C` is the mean squared distance in X of an item and its
        neighbours on the map over that of all pairs (Geary 1954): 1 where neighbours are equal, 0
        as by chance, below 0 where they are less alike than by chance. NaN where it cannot be
        told: fewer than 3 places, or X without spread.

    Notes
    -----
    Of more than 20,000 rows a random 20,000 are looked at, and of those the neighbours of 2,000:
    O(n log n), under a second.
    """
    from scipy.spatial import cKDTree

    there = np.flatnonzero(np.isfinite(Y).all(axis=1))
    rng = np.random.default_rng(random_state)
    if len(there) > MOST_ROWS:
        there = np.sort(rng.choice(there, MOST_ROWS, replace=False))
    n = len(there)
    k = min(n_neighbors, n - 1)
    if n < 3:
        return float("nan")
    V = as_dense(X[there])
    by_chance = 2.0 * float(V.var(axis=0).sum()) * n / (n - 1)
    if not by_chance > 0:
        return float("nan")
    queries = np.arange(n) if n <= MOST_QUERIES else np.sort(rng.choice(n, MOST_QUERIES, False))
    # One more than asked for: an item is its own neighbour, first or among its doubles.
    _, found = cKDTree(Y[there]).query(Y[there][queries], k + 1)
    other = found != queries[:, None]
    own_missing = other.all(axis=1)
    other[own_missing, -1] = False
    away = ((V[found] - V[queries][:, None, :]) ** 2).sum(axis=2)
    return float(1.0 - away[other].mean() / by_chance)


def column_effects(dataset: Dataset, Y: Floats | None = None) -> dict[str, float]:
    """Return for each column how far a map agrees with it, whether it is a feature or not.

    Parameters
    ----------
    dataset : Dataset
    Y : array of shape (n, 2), optional
        Places of its items on a map.

    Returns
    -------
    dict of str to float
        Column to `neighbor_agreement`; empty without a map. Of columns that are no features those
        of numbers, dates, categories and lists are looked at, as if they were.
    """
    if Y is None:
        return {}
    out, at, recipe = {}, 0, recipe_of(dataset)
    for step in recipe["columns"]:
        width = len(block.names(step))
        X = np.zeros((len(dataset), 0)) if dataset.X is None else dataset.X[:, at : at + width]
        out[str(step["column"])] = neighbor_agreement(X, Y)
        at += width
    if dataset.table is None:
        return out
    for one in recipe["left_out"]:
        if one["kind"] in _LOOKED_AT:
            made = table.fit(
                dataset.table[one["columns"]], columns=one["columns"], decimal=recipe["decimal"]
            )
            if made.X is not None:
                out[str(one["column"])] = neighbor_agreement(made.X, Y)
    return out

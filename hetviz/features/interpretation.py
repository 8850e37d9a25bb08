"""Interpretation of map directions by columns, and effects of columns on a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Matrix, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.core.spectral.blocks import LinearMap, centred_pieces
from hetviz.data import Dataset
from hetviz.data.model.dataset import features_of
from hetviz.errors import ParameterError
from hetviz.features import table
from hetviz.features.columns import block, text
from hetviz.features.columns.options import Step
from hetviz.features.recipe import recipe_of
from hetviz.memo import cached_while_alive


def feature_names(dataset: Dataset) -> list[str]:
    """Return the names of the features of a dataset, or numbers from 1 without names."""
    if dataset.feature_names is not None:
        text_names = _names_of_text_directions(dataset)
        return [text_names.get(name, name) for name in dataset.feature_names]
    count = 0 if dataset.X is None else dataset.X.shape[1]
    return [f"feature {number + 1}" for number in range(count)]


@cached_while_alive
def _names_of_text_directions(dataset: Dataset) -> dict[str, str]:
    """Return feature -> column and leading words, for the directions of text columns."""
    names: dict[str, str] = {}
    texts = _text_steps(dataset)
    # Two words distinguish most directions; more words are used for the others.
    for max_words in (2, 3, 4):
        named = {
            name: f"{step['column']} ({', '.join(words)})"
            for step in texts
            for name, words in zip(
                block.names(step), text.leading_words(step, max_words), strict=False
            )
            if words
        }
        uses = Counter(named.values())
        names = {name: words for name, words in named.items() if uses[words] == 1} | names
    return names


def _text_steps(dataset: Dataset) -> list[Step]:
    steps = recipe_of(dataset)["columns"] if dataset.recipe else []
    return [step for step in steps if step["kind"] == "text"]


def shared_words(dataset: Dataset, i: int, k: int, max_words: int = 3) -> dict[str, list[str]]:
    """Return the common words of two rows by text column, the rarest first."""
    words_by_column: dict[str, list[str]] = {}
    for step in _text_steps(dataset):
        column = str(step["column"])
        if dataset.table is None or column not in dataset.table.columns:
            continue
        cells = dataset.table[column]
        first_words, second_words = (
            text.content_words(step, str(cells.iloc[row])) for row in (i, k)
        )
        rarity = dict(zip(step.get("words", ()), step.get("idf", ()), strict=True))
        shared = sorted(first_words & second_words, key=lambda word: (-rarity.get(word, 0.0), word))
        words_by_column[column] = shared[:max_words]
    return words_by_column


def deviations(dataset: Dataset) -> Floats:
    """Return the standard deviation of each feature, shape (p,)."""
    return np.asarray(np.sqrt(_moments_of(dataset)[1]))


def coefficients(
    dataset: Dataset, fitted: LinearMap, scale: Floats, axes: Sequence[str]
) -> pd.DataFrame:
    """Return how far one standard deviation of each feature moves an item along each axis."""
    moved = fitted.coefficients * scale * deviations(dataset)[:, None]
    return pd.DataFrame(moved, index=feature_names(dataset), columns=list(axes))


def columns_along(
    dataset: Dataset, Y: Floats, direction: Sequence[float] | Floats, top: int = 10
) -> pd.DataFrame:
    """Return the features that vary most along a direction of a map.

    The correlations describe any kind of map, not the use of the columns by the method. O(n p);
    sparse features stay sparse.
    """
    arrow = np.asarray(direction, dtype=np.float64)
    if dataset.X is None:
        raise ParameterError(f"dataset {dataset.name!r} has no features.")
    if arrow.shape != (Y.shape[1],) or not np.isfinite(arrow).all() or not arrow.any():
        raise ParameterError(
            f"direction = {list(direction)!r} must have {Y.shape[1]} numbers that are not all 0."
        )
    is_placed: Bools = np.asarray(np.isfinite(Y).all(axis=1))
    all_placed = bool(is_placed.all())
    X = dataset.X if all_placed else dataset.X[is_placed]
    along = Y[is_placed] @ (arrow / np.linalg.norm(arrow))
    names = np.array(feature_names(dataset), dtype=object)
    if len(along) < 2 or not np.ptp(along) > 0:
        return pd.DataFrame({"column": [], "correlation": [], "change": []})
    along = along - along.mean()
    mean, variance = _moments_of(dataset) if all_placed else _moments(X)
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


@cached_while_alive
def _moments_of(dataset: Dataset) -> tuple[Floats, Floats]:
    """Return the mean and variance of each feature."""
    return _moments(features_of(dataset))


def _moments(X: Matrix) -> tuple[Floats, Floats]:
    """Return mean and variance of each column."""
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return mean, np.maximum(squares - mean**2, 0.0)
    mean = np.asarray(X.mean(axis=0, dtype=np.float64))
    variance = np.zeros(len(mean))
    for _, piece in centred_pieces(X, mean):
        variance += np.einsum("ij,ij->j", piece, piece)
    return mean, variance / max(len(X), 1)


N_NEIGHBORS = 10
MAX_ROWS = 20_000
MAX_QUERIES = 2_000
_TESTED_KINDS = ("number", "date", "category", "ordered", "list", "latlong")


def neighbor_agreement(
    X: Matrix, Y: Floats, n_neighbors: int = N_NEIGHBORS, random_state: int = 0
) -> float:
    r"""Return how much more similar in X neighbours on a map are than random items.

    Returns :math:`1 - C`, where :math:`C` is the mean squared distance in X of an item and its
    neighbours on the map over that of all pairs (Geary 1954): 1 if neighbours are equal, 0 at
    chance level, negative if they are less similar. NaN for fewer than 3 items with coordinates,
    or constant X.
    """
    from scipy.spatial import cKDTree

    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    rng = np.random.default_rng(random_state)
    if len(placed) > MAX_ROWS:
        placed = np.sort(rng.choice(placed, MAX_ROWS, replace=False))
    n = len(placed)
    k = min(n_neighbors, n - 1)
    if n < 3:
        return float("nan")
    V = as_dense(X[placed])
    by_chance = 2.0 * float(V.var(axis=0).sum()) * n / (n - 1)
    if not by_chance > 0:
        return float("nan")
    queries = np.arange(n) if n <= MAX_QUERIES else np.sort(rng.choice(n, MAX_QUERIES, False))
    # One more neighbour, because an item is its own neighbour, first or among duplicates.
    _, neighbors = cKDTree(Y[placed]).query(Y[placed][queries], k + 1)
    other = neighbors != queries[:, None]
    own_missing = other.all(axis=1)
    other[own_missing, -1] = False
    squared = ((V[neighbors] - V[queries][:, None, :]) ** 2).sum(axis=2)
    return float(1.0 - squared[other].mean() / by_chance)


def column_effects(dataset: Dataset, Y: Floats | None = None) -> dict[str, float]:
    """Return the agreement of a map with each column, whether it is a feature or not."""
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
    for entry in recipe["left_out"]:
        if entry["kind"] in _TESTED_KINDS:
            fitted = table.fit(
                dataset.table[entry["columns"]], columns=entry["columns"], decimal=recipe["decimal"]
            )
            if fitted.X is not None:
                out[str(entry["column"])] = neighbor_agreement(fitted.X, Y)
    return out

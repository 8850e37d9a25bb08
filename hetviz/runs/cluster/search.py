"""Clusters of several numbers on a map, or where the map came from, judged side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.clustering.partition import METHODS, nearest_code
from hetviz.core.clustering.partition_choice import (
    Tried,
    best,
    silhouette_of,
    sizes_to_try,
    try_sizes,
)
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled, HetvizError, ParameterError
from hetviz.features.item_columns import item_columns
from hetviz.metrics.fit.clustering import rand_on_links
from hetviz.metrics.fit.measured import same_rows
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.cluster.cards import capital, value_words
from hetviz.runs.cluster.contrast import plain_text
from hetviz.runs.embed.run import Run, fit_again

LABEL = "label"
MAP, FULL = "map", "full"
MOST_CLASSES = 120
_AXES = (10, 5, 3)
_MAP_WORDS = "on the map itself"


@dataclass(frozen=True, eq=False)
class Search:
    """Clusters of each number tried.

    Attributes
    ----------
    Y : array of shape (n_rows, 2 or more)
        Where the rows lie in the space that was searched; NaN without a place.
    space : str
        What that space is, in words.
    tried : tuple of Tried
        Codes of all rows, -1 without a cluster; the fewest clusters come first.
    chosen : int
        Position in `tried` of the one to take.
    names : tuple of str or None
        Of the clusters, where they have names already: the values of a label.
    choice : DataFrame
        A row for each number: k, silhouette, stability, rand_given, rand_held_out.
    """

    Y: Floats
    space: str
    tried: tuple[Tried, ...]
    chosen: int
    names: tuple[str, ...] | None
    choice: pd.DataFrame


def search(
    data: HeteroData,
    embedding: Embedding,
    *,
    method: str = "k-means",
    n_clusters: int | None = None,
    label: str | None = None,
    space: str = MAP,
    run: Run | None = None,
    held_out: HeteroData | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Search:
    """Look for clusters; see `hetviz.clusters`, which describes the chosen ones as well."""
    report = ignore_progress if progress is None else progress
    _check(method, n_clusters, label, space)
    Y, words = _points(
        data, embedding, space, run, ProgressPart(report, 0.0, 0.5 * (space == FULL))
    )
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    part = ProgressPart(report, 0.5 * (space == FULL), 1.0)
    names: tuple[str, ...] | None = None
    if method == LABEL:
        code, names = label_clusters(data, str(label))
        here = placed[code[placed] >= 0]
        apart = silhouette_of(Y[here], code[here], random_state)
        found = [Tried(code, apart, float("nan"), np.full(len(names), np.nan))]
        chosen = 0
    else:
        sizes = sizes_to_try(len(placed), method)
        if n_clusters is not None and method != "hdbscan":
            sizes = [n_clusters]
        few = try_sizes(Y[placed], method, sizes, random_state, part)
        picked = best(few)
        if n_clusters is not None:
            picked = min(few, key=lambda one: (abs(one.k - n_clusters), -one.score))
        chosen = few.index(picked)
        found = [_of_all(one, placed, data.n_rows) for one in few]
    rand = [_rand(data, embedding, held_out, one.code) for one in found]
    choice = pd.DataFrame(
        {
            "k": [one.k for one in found],
            "silhouette": [one.silhouette for one in found],
            "stability": [one.stability for one in found],
            "rand_given": [given for given, _ in rand],
            "rand_held_out": [held for _, held in rand],
        }
    )
    report(1.0, "Done")
    return Search(Y, words, tuple(found), chosen, names, choice)


def _check(method: str, n_clusters: int | None, label: str | None, space: str) -> None:
    if method not in (*METHODS, LABEL):
        known = ", ".join((*METHODS, LABEL))
        raise ParameterError(f"clusters: method = {method!r}; one of {known}.")
    if space not in (MAP, FULL):
        raise ParameterError(f"clusters: space = {space!r}; map or full.")
    if n_clusters is not None and (isinstance(n_clusters, bool) or int(n_clusters) != n_clusters):
        raise ParameterError(f"clusters: n_clusters = {n_clusters!r}; a whole number is needed.")
    if n_clusters is not None and not 1 <= n_clusters <= MOST_CLASSES:
        raise ParameterError(f"clusters: n_clusters = {n_clusters}; from 1 to {MOST_CLASSES}.")
    if (label is None) == (method == LABEL):
        raise ParameterError("clusters: name a label with method='label', and only then.")


def _points(
    data: HeteroData, embedding: Embedding, space: str, run: Run | None, progress: Progress
) -> tuple[Floats, str]:
    """Return where the rows lie in a space, and what it is."""
    own = np.vstack(list(coordinates_of(data, embedding).values()))
    if space == MAP:
        if embedding.n_components <= 2:
            return own, _MAP_WORDS
        flat = np.vstack(list(coordinates_of(data, embedding.planar()).values()))
        return flat, f"{_MAP_WORDS}, of {embedding.n_components} axes"
    if embedding.n_components > 2:
        return own, f"in all {embedding.n_components} axes of the embedding"
    if run is None:
        return own, f"{_MAP_WORDS}: it has no more axes, and how it was made is not known"
    method = get_method(run.method)
    title = method.card.title
    if Capability.SHARED_SPACE in method.card.capabilities:
        shared: Embedding = vars(fit_again(data, run, progress).model)["axes_"]
        Z = np.vstack(list(coordinates_of(data, shared).values()))
        return Z, f"on the {Z.shape[1]} axes that {title} is drawn from"
    most = getattr(method.params.get("n_components"), "high", 2)
    for axes in _AXES:
        if axes > most:
            continue
        try:
            wider = replace(run, params={**run.params, "n_components": axes})
            fitted = fit_again(data, wider, progress)
        except Cancelled:
            raise
        except HetvizError:
            # Fewer axes may still be had.
            continue
        Y = np.vstack(list(coordinates_of(data, fitted.embedding).values()))
        return Y, f"in {Y.shape[1]} axes of {title}, fitted again"
    return own, f"{_MAP_WORDS}: {title} gives no more axes for these data"


def label_clusters(data: HeteroData, label: str) -> tuple[Ints, tuple[str, ...]]:
    """Return the class of each row in a column, and the classes, the largest first.

    Raises
    ------
    hetviz.errors.ParameterError
        If no dataset has such a column, or it holds no classes.
    """
    code = np.full(data.n_rows, None, dtype=object)
    there = False
    for name, rows in data.offsets.items():
        column = item_columns(data, name).get(label)
        if column is None:
            continue
        there = True
        code[rows] = [
            None if value is None or value != value else plain_text(value)
            for value in column.values
        ]
    if not there:
        raise ParameterError(f"clusters: no dataset has a column or label {label!r}.")
    known = np.array([value is not None for value in code], dtype=bool)
    classes, at = np.unique(code[known].astype(str), return_inverse=True)
    if not 1 <= len(classes) <= MOST_CLASSES:
        raise ParameterError(
            f"clusters: column {label!r} has {len(classes):,} values; 1 to {MOST_CLASSES} can be "
            "shown as clusters."
        )
    sizes = np.bincount(at, minlength=len(classes))
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(classes), dtype=np.int64)
    rank[order] = np.arange(len(classes))
    out = np.full(data.n_rows, -1)
    out[known] = rank[at]
    return out, tuple(capital(value_words(f"{label}: {classes[one]}")) for one in order)


def _of_all(one: Tried, placed: Ints, n_rows: int) -> Tried:
    code = np.full(n_rows, -1)
    code[placed] = one.code
    return Tried(code, one.silhouette, one.stability, one.of_groups)


def _rand(
    data: HeteroData, embedding: Embedding, held_out: HeteroData | None, code: Ints
) -> tuple[float, float]:
    """Return the share of links that clusters keep, given and held out; NaN without any."""
    given = rand_on_links(data, code)
    held = None
    if held_out is not None:
        theirs = code
        if not same_rows(data, held_out):
            theirs = _mapped(data, embedding, held_out, code)
        held = rand_on_links(held_out, theirs)
    return (np.nan if given is None else given), (np.nan if held is None else held)


def _mapped(data: HeteroData, embedding: Embedding, held_out: HeteroData, code: Ints) -> Ints:
    """Return the cluster of the nearest row with one, for rows that the map was not made from."""
    Y = np.vstack(list(coordinates_of(data, embedding).values()))
    new = np.vstack(list(coordinates_of(held_out, embedding).values()))
    known = np.isfinite(Y).all(axis=1) & (code >= 0)
    there = np.isfinite(new).all(axis=1)
    out = np.full(len(new), -1)
    if known.any():
        out[there] = nearest_code(Y[known], code[known], new[there])
    return out

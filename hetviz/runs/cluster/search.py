"""Clusterings with different numbers of clusters, on the map or on more axes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hetviz._text import capital, plain_text
from hetviz._types import Floats, Ints
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.clustering.partition import METHODS, code_of_nearest
from hetviz.core.clustering.partition_choice import (
    MeasuredPartition,
    choose_partition,
    silhouette_of,
    sizes_to_try,
    try_sizes,
)
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled, HetvizError, ParameterError
from hetviz.features.item_columns import item_columns
from hetviz.metrics.fit.clustering import rand_on_links
from hetviz.metrics.fit.rows import coordinates_of, has_same_rows
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.cluster.cards import value_words
from hetviz.runs.embed.run import Run, fit_again

LABEL = "label"
MAP, FULL = "map", "full"
MAX_CLASSES = 120
_AXES_TO_TRY = (10, 5, 3)
_MAP_TEXT = "on the map itself"


@dataclass(frozen=True, eq=False)
class ClusterSearch:
    """Clusterings for each number of clusters.

    `Y` (n_rows, 2 or more): Coordinates in the space of the search; NaN without a place.
    `space`: Description of the space.
    `tried`: Codes of all rows, -1 without a cluster; the fewest clusters come first.
    `chosen`: Position of the chosen one in `tried`.
    `names`: Names of the clusters, if they are the values of a label.
    `choice`: A row for each number: k, silhouette, stability, rand_given, rand_held_out.
    """

    Y: Floats
    space: str
    tried: tuple[MeasuredPartition, ...]
    chosen: int
    names: tuple[str, ...] | None
    choice: pd.DataFrame


def search_clusters(
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
) -> ClusterSearch:
    """Search clusters without describing them; see `hetviz.clusters`."""
    report = ignore_progress if progress is None else progress
    _check_arguments(method, n_clusters, label, space)
    Y, space_text = _points_in_space(
        data, embedding, space, run, ProgressPart(report, 0.0, 0.5 * (space == FULL))
    )
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    part = ProgressPart(report, 0.5 * (space == FULL), 1.0)
    names: tuple[str, ...] | None = None
    if method == LABEL:
        code, names = label_clusters(data, str(label))
        labelled = placed[code[placed] >= 0]
        silhouette = silhouette_of(Y[labelled], code[labelled], random_state)
        extended = [MeasuredPartition(code, silhouette, float("nan"), np.full(len(names), np.nan))]
        chosen = 0
    else:
        sizes = sizes_to_try(len(placed), method)
        if n_clusters is not None and method != "hdbscan":
            sizes = [n_clusters]
        clusterings = try_sizes(Y[placed], method, sizes, random_state, part)
        best_clustering = choose_partition(clusterings)
        if n_clusters is not None:
            best_clustering = min(
                clusterings,
                key=lambda clustering: (abs(clustering.k - n_clusters), -clustering.score),
            )
        chosen = clusterings.index(best_clustering)
        extended = [
            _extend_to_all_rows(clustering, placed, data.n_rows) for clustering in clusterings
        ]
    rand = [_link_agreement(data, embedding, held_out, clustering.code) for clustering in extended]
    choice = pd.DataFrame(
        {
            "k": [clustering.k for clustering in extended],
            "silhouette": [clustering.silhouette for clustering in extended],
            "stability": [clustering.stability for clustering in extended],
            "rand_given": [share_given for share_given, _ in rand],
            "rand_held_out": [share_held_out for _, share_held_out in rand],
        }
    )
    report(1.0, "Done")
    return ClusterSearch(Y, space_text, tuple(extended), chosen, names, choice)


def _check_arguments(method: str, n_clusters: int | None, label: str | None, space: str) -> None:
    if method not in (*METHODS, LABEL):
        choices = ", ".join((*METHODS, LABEL))
        raise ParameterError(f"clusters: method = {method!r} must be one of {choices}.")
    if space not in (MAP, FULL):
        raise ParameterError(f"clusters: space = {space!r} must be map or full.")
    if n_clusters is not None and (isinstance(n_clusters, bool) or int(n_clusters) != n_clusters):
        raise ParameterError(f"clusters: n_clusters = {n_clusters!r} must be a whole number.")
    if n_clusters is not None and not 1 <= n_clusters <= MAX_CLASSES:
        raise ParameterError(
            f"clusters: n_clusters = {n_clusters} must be from 1 to {MAX_CLASSES}."
        )
    if (label is None) == (method == LABEL):
        raise ParameterError("clusters: give a label with method='label', and only then.")


def _points_in_space(
    data: HeteroData, embedding: Embedding, space: str, run: Run | None, progress: Progress
) -> tuple[Floats, str]:
    """Return coordinates in a space, and a description of it."""
    coordinates = np.vstack(list(coordinates_of(data, embedding).values()))
    if space == MAP:
        if embedding.n_components <= 2:
            return coordinates, _MAP_TEXT
        flat = np.vstack(list(coordinates_of(data, embedding.planar()).values()))
        return flat, f"{_MAP_TEXT}, of {embedding.n_components} axes"
    if embedding.n_components > 2:
        return coordinates, f"in all {embedding.n_components} axes of the embedding"
    if run is None:
        return coordinates, f"{_MAP_TEXT}, which has no more axes and an unknown method"
    method = get_method(run.method)
    title = method.card.title
    if Capability.SHARED_SPACE in method.card.capabilities:
        shared: Embedding = vars(fit_again(data, run, progress).model)["axes_"]
        Z = np.vstack(list(coordinates_of(data, shared).values()))
        return Z, f"on the {Z.shape[1]} joint axes of {title}"
    max_axes = getattr(method.params.get("n_components"), "high", 2)
    for axes in _AXES_TO_TRY:
        if axes > max_axes:
            continue
        try:
            wider = replace(run, params={**run.params, "n_components": axes})
            fitted = fit_again(data, wider, progress)
        except Cancelled:
            raise
        except HetvizError:
            # Fewer axes may still work.
            continue
        Y = np.vstack(list(coordinates_of(data, fitted.result.embedding).values()))
        return Y, f"in {Y.shape[1]} axes of {title}, fitted again"
    return coordinates, f"{_MAP_TEXT}, since {title} gives no more axes for these data"


def label_clusters(data: HeteroData, label: str) -> tuple[Ints, tuple[str, ...]]:
    """Return the class of each row in a column, and the classes, the largest first."""
    code = np.full(data.n_rows, None, dtype=object)
    is_found = False
    for name, rows in data.offsets.items():
        column = item_columns(data, name).get(label)
        if column is None:
            continue
        is_found = True
        code[rows] = [
            None if value is None or value != value else plain_text(value)
            for value in column.values
        ]
    if not is_found:
        raise ParameterError(f"clusters: no dataset has a column or label named {label!r}.")
    is_known = np.array([value is not None for value in code], dtype=bool)
    classes, at = np.unique(code[is_known].astype(str), return_inverse=True)
    if not 1 <= len(classes) <= MAX_CLASSES:
        raise ParameterError(
            f"clusters: column {label!r} has {len(classes):,} values, but only 1 to {MAX_CLASSES} "
            "can be shown as clusters."
        )
    sizes = np.bincount(at, minlength=len(classes))
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(classes), dtype=np.int64)
    rank[order] = np.arange(len(classes))
    out = np.full(data.n_rows, -1)
    out[is_known] = rank[at]
    return out, tuple(capital(value_words(f"{label}: {classes[position]}")) for position in order)


def _extend_to_all_rows(
    clustering: MeasuredPartition, placed: Ints, n_rows: int
) -> MeasuredPartition:
    code = np.full(n_rows, -1)
    code[placed] = clustering.code
    return MeasuredPartition(
        code, clustering.silhouette, clustering.stability, clustering.of_groups
    )


def _link_agreement(
    data: HeteroData, embedding: Embedding, held_out: HeteroData | None, code: Ints
) -> tuple[float, float]:
    """Return the share of given and of held-out links that clusters agree with; NaN without any."""
    agreement = rand_on_links(data, code)
    agreement_held_out = None
    if held_out is not None:
        held_out_code = code
        if not has_same_rows(data, held_out):
            held_out_code = _nearest_codes(data, embedding, held_out, code)
        agreement_held_out = rand_on_links(held_out, held_out_code)
    return (np.nan if agreement is None else agreement), (
        np.nan if agreement_held_out is None else agreement_held_out
    )


def _nearest_codes(
    data: HeteroData, embedding: Embedding, held_out: HeteroData, code: Ints
) -> Ints:
    """Return the cluster of the nearest clustered row for rows that are not in the data."""
    Y = np.vstack(list(coordinates_of(data, embedding).values()))
    new = np.vstack(list(coordinates_of(held_out, embedding).values()))
    has_code = np.isfinite(Y).all(axis=1) & (code >= 0)
    placed = np.isfinite(new).all(axis=1)
    out = np.full(len(new), -1)
    if has_code.any():
        out[placed] = code_of_nearest(Y[has_code], code[has_code], new[placed])
    return out

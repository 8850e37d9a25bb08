"""Reasons for the place of an item on a neighbour map: who attracts it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from hetviz._text import shorten
from hetviz._types import Ints, Matrix, is_sparse
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.attraction import (
    NEIGHBOUR,
    STATEMENT,
    Attraction,
    AttractionGraph,
    attraction_of,
)
from hetviz.data import HeteroData
from hetviz.data.queries.rows import links_touching
from hetviz.runs.place.reasons import (
    ALIKE,
    FAR_SHARE,
    FEATURE,
    INDIRECT,
    LESS_ALIKE,
    LESS_SIMILAR,
    LINKED,
    NOT_CONNECTED,
    OTHERWISE,
    SAME_ITEM,
    SHARED,
    SIMILAR,
    UNCONNECTED,
    ExplainedMap,
    Reason,
    Why,
    column_means,
    dataset_at,
    dense_row,
    feature_groups,
    item_of,
)

N_SURROUNDING_ROWS = 400
"""Number of closest rows, by features and on the map, considered on large maps."""
_SIMILAR_SHARE = 0.05
"""Items count as similar by features within this share of their dataset, the closest ones."""
_MIN_GRAPH_SHARE = 0.01
"""Ignore distant neighbours below this share of the attraction."""
_MAX_LINKED_ROWS = 200
_MAX_NAME_LENGTH = 32
_WORDS = {
    LINKED: "linked",
    ALIKE: SIMILAR,
    LESS_ALIKE: LESS_SIMILAR,
    OTHERWISE: INDIRECT,
    UNCONNECTED: NOT_CONNECTED,
}


def explain_by_graph(
    placed: ExplainedMap, row: int, pulls: AttractionGraph, max_reasons: int, note: str
) -> Why:
    """Explain the place of an item by the attraction of other items."""
    data, item = placed.data, item_of(placed.data, row)
    attraction = attraction_of(row, placed.Y, pulls)
    how = (
        f"Shares of the attraction on it, in the graph of {placed.title}. "
        "All other items push it away."
    )
    if attraction is None:
        no_attraction = "No item on this map attracts it."
        return Why(*item, placed.title, how, {}, (), note=f"{note} {no_attraction}".strip())
    reasons = [_reason(placed, attraction, k) for k in range(len(attraction.rows))]
    closeness: dict[str, float] = {}
    if pulls.joint:
        closeness, causes = _neighbor_causes(data, row, attraction, max_reasons)
        reasons = [replace(reason, by=causes.get(k, "")) for k, reason in enumerate(reasons)]
    parts = {kind: float(share.sum()) for kind, share in attraction.by.items() if share.any()}
    # Distant items pull with little force, so their share of the graph counts instead.
    distant = [
        replace(reason, share=graph_share)
        for reason, graph_share in zip(reasons, attraction.graph_share.tolist(), strict=True)
        if reason.distance > FAR_SHARE and graph_share > _MIN_GRAPH_SHARE
    ]
    elsewhere = sorted(distant, key=lambda reason: -reason.share)[:max_reasons]
    return Why(
        *item,
        placed.title,
        how,
        parts,
        tuple(reasons[:max_reasons]),
        _similar_features(data, row, attraction, max_reasons),
        tuple(elsewhere),
        tuple(sorted(reasons, key=lambda reason: -reason.moves)[:max_reasons]),
        note,
        closeness,
    )


def _reason(placed: ExplainedMap, attraction: Attraction, k: int) -> Reason:
    kind = max(attraction.by, key=lambda name: float(attraction.by[name][k]))
    return Reason(
        kind,
        *item_of(placed.data, int(attraction.rows[k])),
        float(attraction.share[k]),
        float(attraction.moves[k]) / placed.extent,
        float(attraction.distance[k]) / placed.extent,
    )


def _similar_features(
    data: HeteroData, row: int, attraction: Attraction, max_reasons: int
) -> tuple[Reason, ...]:
    """Return the features in which the item is more similar to its holders than to others.

    A squared distance is a sum over features. So a feature adds to closeness its mean squared
    difference to all items, minus that to the holders, weighted by their share.
    """
    dataset, at = dataset_at(data, row)
    span = data.offsets[dataset.name]
    in_dataset = (attraction.rows >= span.start) & (attraction.rows < span.stop)
    weight = attraction.by.get(NEIGHBOUR, np.zeros(len(in_dataset)))[in_dataset]
    if dataset.X is None or not weight.any():
        return ()
    X, x = dataset.X, dense_row(dataset.X, at)
    all_mean, all_square = column_means(X), column_means(_squared_values(X))
    to = attraction.rows[in_dataset] - span.start
    w = weight / weight.sum()
    holder_rows = X[to]
    mean, square = (
        np.asarray(w @ holder_rows).ravel(),
        np.asarray(w @ _squared_values(holder_rows)).ravel(),
    )
    others = x**2 - 2 * x * all_mean + all_square
    holders = x**2 - 2 * x * mean + square
    groups = feature_groups(dataset)
    gain = np.maximum([(others - holders)[columns].sum() for _, columns in groups], 0.0)
    if not gain.sum() > 0:
        return ()
    order = np.argsort(-gain, kind="stable")[:max_reasons]
    return tuple(
        Reason(FEATURE, dataset.name, groups[k][0], groups[k][0], float(gain[k] / gain.sum()))
        for k in order
        if gain[k] > 0
    )


def surrounding_rows(placed: ExplainedMap, row: int) -> Ints:
    """Return the rows that are close by features or on the map, or linked, in order."""
    data, Y = placed.data, placed.Y
    dataset, at = dataset_at(data, row)
    squared = ((Y - Y[row]) ** 2).sum(axis=1)
    squared[~np.isfinite(squared)] = np.inf
    nearest = np.argpartition(squared, N_SURROUNDING_ROWS)[:N_SURROUNDING_ROWS]
    parts = [nearest[np.isfinite(squared[nearest])]]
    if dataset.X is not None:
        parts.append(_nearest_rows(dataset.X, at, N_SURROUNDING_ROWS) + row - at)
    linked = links_touching(data, [row]).outer[:_MAX_LINKED_ROWS]
    second = links_touching(data, linked).outer if len(linked) else linked
    parts += [linked, second[:N_SURROUNDING_ROWS]]
    return np.unique(np.concatenate([[row], *parts]).astype(np.int64))


def _neighbor_causes(
    data: HeteroData, row: int, attraction: Attraction, max_reasons: int
) -> tuple[dict[str, float], dict[int, str]]:
    """Return the share of each cause of closeness on joint axes, and words by neighbour."""
    W = sp.csr_array(data.adjacency(1))
    item_links = W[[row]]
    linked = set(item_links.indices[item_links.data > 0].tolist())
    shared = sp.csr_array(item_links @ W)
    shared_rows = set(shared.indices[shared.data > 0].tolist())
    objects = data.object_of
    dataset, at = dataset_at(data, row)
    connected = _connected_with(data, dataset.name)
    similar: set[int] = set()
    if dataset.X is not None and len(dataset) > 1:
        count = max(1, round(_SIMILAR_SHARE * len(dataset)))
        similar = set((_nearest_rows(dataset.X, at, count) + row - at).tolist())
    guidance_share = attraction.by.get(STATEMENT, np.zeros(len(attraction.rows)))
    closeness = dict.fromkeys((LINKED, SHARED, ALIKE, LESS_ALIKE, OTHERWISE, UNCONNECTED), 0.0)
    described = {
        *range(max_reasons),
        *np.argsort(-attraction.moves, kind="stable")[:max_reasons].tolist(),
        *np.argsort(-attraction.graph_share, kind="stable")[:max_reasons].tolist(),
    }
    words: dict[int, str] = {}
    for k, other in enumerate(attraction.rows.tolist()):
        is_same_item = objects[other] == objects[row]
        name = dataset_at(data, other)[0].name
        cause = OTHERWISE if name in connected else UNCONNECTED
        if other in similar:
            cause = ALIKE
        elif not connected and name == dataset.name:
            cause = LESS_ALIKE
        if is_same_item or other in linked:
            cause = LINKED
        elif other in shared_rows:
            cause = SHARED
        closeness[cause] += float(attraction.share[k] - guidance_share[k])
        if k not in described:
            continue
        if is_same_item:
            words[k] = SAME_ITEM
        elif cause == SHARED:
            other_links = W[[other]]
            common = sorted(linked & set(other_links.indices[other_links.data > 0].tolist()))
            degree = np.diff(W.indptr)[common]
            # A rarely linked item is the most informative.
            through = item_of(data, common[int(np.argmin(degree))])[2]
            words[k] = f"both linked to {shorten(through, _MAX_NAME_LENGTH)}"
        else:
            words[k] = _WORDS[cause]
    return {cause: share for cause, share in closeness.items() if share > 0}, words


def _connected_with(data: HeteroData, name: str) -> set[str]:
    """Return the datasets that links or the same items connect with one, with it; or none."""
    ties = [{links.source, links.target} for links in data.links if (links.weight > 0).any()]
    ties += [names for entity in data.entities if len(names := set(data.views(entity))) > 1]
    found: set[str] = set()
    reached = {name}
    while reached - found:
        found |= reached & set().union(*ties)
        reached = set().union(*(tie for tie in ties if tie & reached))
    return found


def _squared_values(X: Matrix) -> Matrix:
    return sp.csr_array(X.multiply(X)) if is_sparse(X) else np.asarray(X, dtype=np.float64) ** 2


def _nearest_rows(X: Matrix, at: int, count: int) -> Ints:
    """Return the rows closest to a row, including itself."""
    squared = cross_squared_distances(X[[at]], X)[0]
    count = min(count, len(squared) - 1)
    return np.asarray(np.argpartition(squared, count)[: count + 1], dtype=np.int64)

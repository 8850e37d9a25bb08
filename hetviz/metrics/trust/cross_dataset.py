"""False and missing neighbours in other datasets, by links."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints
from hetviz.core.graph.distances import Space
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.measures.ranking import stored_entries
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.statements import statement_rows
from hetviz.metrics.fit.measured_map import cross_dataset_links
from hetviz.metrics.fit.nearest import comparison_closeness, link_closeness, satisfied_links
from hetviz.metrics.trust.neighborhoods import Neighborhoods

_MAX_ENTRIES = 500_000
_ROWS_PER_CHUNK = 50_000
"""Rows per chunk. Each has several dozen rows around it."""


def cross_dataset_errors(neighborhoods: Neighborhoods) -> tuple[Floats, Floats]:
    """Return the shares of false and missing neighbours in other datasets, means over datasets.

    Follows the links of the k linked rows nearest to a row in the data (the row itself first), if
    they are close. The rows at the other ends are expected to be close. A neighbour on the map is
    false if it is not expected and, in the data, not close to one of the first k expected rows.
    Rows of the same object in two datasets count as linked.
    """
    data = neighborhoods.data
    total = np.zeros((2, data.n_rows))
    count = np.zeros(data.n_rows)
    for (source, target), W in _cross_links(neighborhoods).items():
        rows = neighborhoods.query_rows[source]
        if not len(rows) or not len(neighborhoods.placed[target]):
            continue
        linked_rows = np.flatnonzero(np.diff(W.indptr))
        sampled = neighborhoods.linked_rows(linked_rows)
        nearest = neighborhoods.nearest_on_map(source, target, rows)
        for start in range(0, len(rows), _ROWS_PER_CHUNK):
            chunk = slice(start, start + _ROWS_PER_CHUNK)
            anchors, is_near_link = _linked_neighbors(
                neighborhoods, source, linked_rows, sampled, rows[chunk]
            )
            shares = _error_shares(
                neighborhoods, source, target, W, rows[chunk], nearest[chunk], anchors, is_near_link
            )
            is_known = np.isfinite(shares[0])
            global_rows = rows[chunk][is_known] + data.offsets[source].start
            total[:, global_rows] += shares[:, is_known]
            count[global_rows] += 1
    means = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means[0], means[1]


def _cross_links(neighborhoods: Neighborhoods) -> dict[tuple[str, str], sp.csr_array]:
    """Return positive links between placed rows of datasets, and pairs of the same object."""
    data = neighborhoods.data
    links = cross_dataset_links(data)
    for source, a in data.offsets.items():
        for target, b in data.offsets.items():
            if source == target or data[source].entity != data[target].entity:
                continue
            _, i, j = np.intersect1d(
                data.object_of[a], data.object_of[b], assume_unique=True, return_indices=True
            )
            shape = (len(data[source]), len(data[target]))
            identity = sp.csr_array((np.ones(len(i)), (i, j)), shape=shape)
            existing = links.get((source, target))
            links[source, target] = (
                identity if existing is None else sp.csr_array(existing + identity)
            )
    for (source, target), W in links.items():
        source_placed, target_placed = np.zeros(W.shape[0]), np.zeros(W.shape[1])
        source_placed[neighborhoods.placed[source]] = target_placed[
            neighborhoods.placed[target]
        ] = 1.0
        placed_links = sp.csr_array(
            W.multiply(target_placed[None, :]).multiply(source_placed[:, None])
        )
        placed_links.eliminate_zeros()
        placed_links.sort_indices()
        placed_links.data[:] = 1.0
        links[source, target] = placed_links
    return links


def _linked_neighbors(
    neighborhoods: Neighborhoods, source: str, linked_rows: Ints, sampled: Ints, rows: Ints
) -> tuple[Ints, Bools]:
    """Return the k linked rows from which one goes on, nearest first, and which of them count."""
    space = neighborhoods.spaces[source]
    if space is None or not len(linked_rows):
        return rows[:, None], np.isin(rows, linked_rows)[:, None]
    k = min(neighborhoods.k, len(sampled))
    anchors = np.empty((len(rows), k + 1), dtype=np.int64)
    is_near_link = np.zeros((len(rows), k + 1), dtype=bool)
    anchors[:, 0], is_near_link[:, 0] = rows, np.isin(rows, linked_rows)
    limits = neighborhoods.data_radius(source, rows)
    step = max(1, _MAX_ENTRIES // len(sampled))
    for start in range(0, len(rows), step):
        at = slice(start, start + step)
        D = space.between(rows[at], sampled)
        D[rows[at][:, None] == sampled] = np.inf
        nearest = nearest_columns(D, k)
        anchors[at, 1:] = sampled[nearest]
        is_near_link[at, 1:] = np.take_along_axis(D, nearest, axis=1) <= limits[at][:, None]
    # A linked query row is one of the k.
    is_near_link[is_near_link[:, 0], k] = False
    return anchors, is_near_link


def _error_shares(
    neighborhoods: Neighborhoods,
    source: str,
    target: str,
    W: sp.csr_array,
    rows: Ints,
    nearest: Ints,
    anchors: Ints,
    is_near_link: Bools,
) -> Floats:
    """Return the shares of false and of missing neighbours of rows, shape (2, q)."""
    q = len(rows)
    select = sp.csr_array(
        (np.ones(int(is_near_link.sum())), (np.nonzero(is_near_link)[0], anchors[is_near_link])),
        shape=(q, W.shape[0]),
    )
    expected = sp.csr_array(select @ W)
    expected.sort_indices()
    n_expected = np.diff(expected.indptr)
    shares = np.full((2, q), np.nan)
    has_expected = n_expected > 0
    owner = np.repeat(np.arange(q), n_expected)
    reach = neighborhoods.map_radius(source, target)[rows]
    distances = neighborhoods.map_distances(source, target)
    far = distances.pairs(rows[owner], expected.indices.astype(np.int64)) > reach[owner]
    missing = np.bincount(owner, weights=far, minlength=q)
    shares[1, has_expected] = missing[has_expected] / n_expected[has_expected]
    queries = np.flatnonzero(has_expected)
    nearest = nearest[queries]
    is_correct = stored_entries(expected, queries, nearest)
    space = neighborhoods.spaces[target]
    counted = np.ones(nearest.shape, dtype=bool)
    if space is None:
        # A row with two tags cannot have ten close ones.
        counted = np.arange(nearest.shape[1]) < n_expected[queries][:, None]
    else:
        expected_rows, is_expected = _expected_rows(
            W, anchors[queries], is_near_link[queries], neighborhoods.k
        )
        is_correct |= _near_expected(
            neighborhoods, target, space, nearest, expected_rows, is_expected
        )
    shares[0, queries] = (counted & ~is_correct).sum(axis=1) / counted.sum(axis=1)
    return shares


def _expected_rows(
    W: sp.csr_array, anchors: Ints, is_near_link: Bools, k: int
) -> tuple[Ints, Bools]:
    """Return the first k expected rows: own links first, then one link of each close row."""
    degree = np.diff(W.indptr)
    own_anchor, other_anchors = anchors[:, :1], anchors[:, 1:]
    step = np.arange(k)
    masks = [is_near_link[:, :1] & (step < degree[own_anchor]), is_near_link[:, 1:]]
    positions = [
        W.indptr[own_anchor] + np.minimum(step, np.maximum(degree[own_anchor] - 1, 0)),
        W.indptr[other_anchors],
    ]
    mask = np.hstack(masks)
    partner = W.indices[np.minimum(np.hstack(positions), len(W.indices) - 1)].astype(np.int64)
    order = np.argsort(~mask, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(partner, order, axis=1), np.take_along_axis(mask, order, axis=1)


def _near_expected(
    neighborhoods: Neighborhoods,
    target: str,
    space: Space,
    nearest: Ints,
    expected_rows: Ints,
    is_expected: Bools,
) -> Bools:
    """Return which neighbours on the map are close to an expected row in the data."""
    is_near = np.zeros(nearest.shape, dtype=bool)
    reach = np.full(expected_rows.shape, np.nan)
    reach[is_expected] = neighborhoods.data_radius(target, expected_rows[is_expected])
    width = nearest.shape[1]
    for slot in range(expected_rows.shape[1]):
        at = np.flatnonzero(is_expected[:, slot])
        partners = np.repeat(expected_rows[at, slot], width)
        D = space.pairs(nearest[at].ravel(), partners).reshape(len(at), width)
        is_near[at] |= reach[at, slot][:, None] >= D
    return is_near


def count_broken_statements(
    data: HeteroData, embedding: Embedding, is_query: Bools
) -> tuple[Floats, Floats]:
    """Return the numbers of unsatisfied and of all statements about each row.

    Returns `violated`, `said` (n_rows,): NaN for rows without a place or not requested. Positive
        links are satisfied if they are close, negative links if they are not. Each statement counts
        for each of its items.
    """
    closeness, comparison_scores = (
        link_closeness(data, embedding),
        comparison_closeness(data, embedding),
    )
    weight = np.concatenate([np.empty(0), *(links.weight for links in data.links)])
    is_satisfied = np.concatenate([satisfied_links(data, closeness), comparison_scores > 0.5])
    counted = np.isfinite(np.concatenate([closeness, comparison_scores]))
    counted[: len(weight)] &= weight != 0
    rows = np.sort(statement_rows(data), axis=1)
    # An item that occurs twice in one comparison counts once.
    is_first_mention = np.column_stack([np.ones(len(rows), dtype=bool), np.diff(rows, axis=1) > 0])
    is_first_mention &= (rows >= 0) & counted[:, None]
    n_broken, n_statements = (
        np.bincount(rows[is_first_mention & chosen[:, None]], minlength=data.n_rows).astype(
            np.float64
        )
        for chosen in (~is_satisfied, np.ones(len(rows), dtype=bool))
    )
    n_broken[~is_query], n_statements[~is_query] = np.nan, np.nan
    return n_broken, n_statements

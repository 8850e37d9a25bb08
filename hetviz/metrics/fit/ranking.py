"""Measures of nearest items: predicted tags, linked items, and labels of neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike

from hetviz._types import Bools, Floats, Ints
from hetviz.core.graph.neighbors import nearest_places
from hetviz.core.measures.ranking import (
    PartnerRanks,
    label_agreement,
    majority_code,
    ndcg,
    rank_partners,
    stored_entries,
)
from hetviz.core.measures.resolution import error_of_mean
from hetviz.data import HeteroData, Labels
from hetviz.metrics.fit.clustering import label_codes
from hetviz.metrics.fit.measured_map import (
    MAX_EXACT_QUERIES,
    N_SAMPLED_QUERIES,
    MeasuredMap,
    MeasureValues,
    cross_dataset_links,
)

NEIGHBOR_COUNTS = (1, 5, 10, 20, 50)
LABEL_NEIGHBORS = 5
_MAX_ENTRIES = 4_000_000
_MAX_ANSWERS = 20_000_000


@dataclass(frozen=True, eq=False)
class TagGains:
    """Gains of the items of one dataset, whose tags are those of another."""

    source: str
    target: str
    rows: Ints
    n_tags: Ints
    mapped: Floats
    guessed: Floats
    n_all: int


@dataclass(frozen=True, eq=False)
class NeighborHits:
    """Which of the nearest items of rows of `source` are linked in the way that is counted."""

    source: str
    target: str
    rows: Ints
    hits: Bools
    n_all: int


def tag_prediction(measured: MeasuredMap) -> MeasureValues:
    """Return ndcg and ndcg_guess: whether the nearest tags of an item are its own.

    An item with q tags is compared with its q nearest tags. For held-out tags, given tags are
    skipped. Tags are the linked dataset without features. If both or no datasets have features,
    each is used as tags of the other. The guess always predicts the most frequent tags.
    """
    values: MeasureValues = {}
    for ending in ("", "_held_out"):
        gains = list(tag_gains(measured, ending != ""))
        for name, part in (("ndcg", "mapped"), ("ndcg_guess", "guessed")):
            if gains:
                rows = [(getattr(one, part), one.n_all) for one in gains]
                values[name + ending] = _mean_and_error(rows)
                measured.errors[name + ending] = _mean_standard_error(rows)
    return values


def tag_gains(measured: MeasuredMap, is_held_out: bool) -> Iterator[TagGains]:
    """Yield the gains behind `tag_prediction`, of given or of held-out tags."""
    data, tag_data = measured.data, measured.held_out if is_held_out else measured.data
    if tag_data is None:
        return
    places = measured.held_out_places if is_held_out else measured.places
    links = cross_dataset_links(tag_data) if is_held_out else measured.cross_links
    for source, target in links:
        if target not in data.datasets or not _is_query_direction(data, source, target):
            continue
        A, B = places[source], measured.places[target]
        W = links[source, target]
        given_tags: sp.csr_array | None = None
        if is_held_out:
            W = _with_mapped_columns(W, data[target].find(tag_data[target].ids), len(B))
            given_tags = _given_tags(measured, tag_data, source, target)
        # Tags by frequency, the most frequent first.
        given_links = measured.cross_links.get((source, target))
        frequency = (
            np.zeros(len(B)) if given_links is None else np.asarray(given_links.sum(axis=0)).ravel()
        )
        placed = np.flatnonzero(np.isfinite(B).all(axis=1))
        frequent = placed[np.argsort(-frequency[placed], kind="stable")]
        gains = _gains(A, B, W, given_tags, placed, frequent, measured.random_state)
        if gains is not None:
            yield TagGains(source, target, *gains)


def _is_query_direction(data: HeteroData, source: str, target: str) -> bool:
    if source not in data.datasets:
        return True
    is_featureless = data[source].is_featureless, data[target].is_featureless
    return is_featureless != (True, False)


def _with_mapped_columns(W: sp.csr_array, new_column: Ints, n: int) -> sp.csr_array:
    pairs = W.tocoo()
    columns = new_column[pairs.col]
    is_mapped = columns >= 0
    shape = (W.shape[0], n)
    mapped = sp.coo_array(
        (pairs.data[is_mapped], (pairs.row[is_mapped], columns[is_mapped])), shape=shape
    ).tocsr()
    mapped.sum_duplicates()
    return mapped


def _given_tags(
    measured: MeasuredMap, tag_data: HeteroData, source: str, target: str
) -> sp.csr_array | None:
    """Return the given tags of the rows of the held-out data."""
    links = measured.cross_links.get((source, target))
    if links is None:
        return None
    rows = measured.data[source].find(tag_data[source].ids)
    tags = sp.csr_array(links[np.maximum(rows, 0)])
    tags.data[np.repeat(rows < 0, np.diff(tags.indptr))] = 0.0
    tags.eliminate_zeros()
    return tags


def _gains(
    A: Floats,
    B: Floats,
    W: sp.csr_array,
    given_tags: sp.csr_array | None,
    placed: Ints,
    frequent: Ints,
    seed: int,
) -> tuple[Ints, Ints, Floats, Floats, int] | None:
    reachable = np.zeros(len(B))
    reachable[placed] = 1.0
    n_tags = np.rint(W @ reachable).astype(np.int64)
    needed = n_tags.copy()
    if given_tags is not None:
        needed += np.rint(given_tags @ reachable).astype(np.int64)
    queries = np.flatnonzero(np.isfinite(A).all(axis=1) & (n_tags > 0))
    n_all = len(queries)
    if not n_all:
        return None
    if n_all > MAX_EXACT_QUERIES or needed[queries].sum() > _MAX_ANSWERS:
        size = min(N_SAMPLED_QUERIES, n_all)
        queries = np.sort(np.random.default_rng(seed).choice(queries, size, replace=False))
    mapped, guessed = np.zeros(len(queries)), np.zeros(len(queries))
    # Items with a similar number of tags share one query.
    bins = np.ceil(np.log2(np.minimum(needed[queries], len(placed)))).astype(np.int64)
    for size in np.unique(bins):
        k = min(2 ** int(size), len(placed))
        group = np.flatnonzero(bins == size)
        for start in range(0, len(group), max(1, _MAX_ENTRIES // k)):
            positions = group[start : start + max(1, _MAX_ENTRIES // k)]
            rows = queries[positions]
            nearest = placed[nearest_places(A[rows], B[placed], k)]
            mapped[positions] = ndcg(W, nearest, rows, n_tags[rows], given_tags)
            guess = np.broadcast_to(frequent[:k], nearest.shape)
            guessed[positions] = ndcg(W, guess, rows, n_tags[rows], given_tags)
    return queries, n_tags[queries], mapped, guessed, n_all


def linked_neighbors(measured: MeasuredMap) -> MeasureValues:
    """Return metric_1@k and metric_2@k: linked items among the k nearest of another dataset.

    The first is the share of items with at least one linked item there, the second the mean
    number. Both are over all items with a link to the dataset, for all pairs of datasets.
    """
    return _measures_at_each_k(measured, linked_hits(measured), "metric_1", "metric_2")


def linked_hits(measured: MeasuredMap) -> list[NeighborHits]:
    """Return which of the nearest items of another dataset are linked, by pair of datasets."""
    found = []
    for source, target in measured.cross_links:
        rows, index = measured.nearest(source, target, max(NEIGHBOR_COUNTS))
        if len(rows):
            is_linked = stored_entries(measured.cross_links[source, target], rows, index)
            n_all = measured.n_queries(source, target)
            found.append(NeighborHits(source, target, rows, is_linked, n_all))
    return found


def shared_link_neighbors(measured: MeasuredMap) -> MeasureValues:
    """Return metric_1_within@k and metric_2_within@k: close items with a common linked item.

    The first is the share of items that have at least one such item among their k nearest of their
    own dataset, the second the mean number. Both are over all items with a link to the other
    dataset, for all pairs of datasets. An item is not its own neighbour.

    M. Mizutani, A. Okuno, G. Kim and H. Shimodaira, Stochastic neighbor embedding of multimodal
    relational data for image-text simultaneous visualization, 2020, arXiv:2005.00670: metrics (I)
    and (II) within a domain, appendix D. There images share text tags. Here both sides are queries.
    """
    hits = shared_hits(measured)
    return _measures_at_each_k(measured, hits, "metric_1_within", "metric_2_within")


def shared_hits(measured: MeasuredMap) -> list[NeighborHits]:
    """Return which of the nearest items of the own dataset share a link, by pair of datasets."""
    found = []
    for source, target in measured.cross_links:
        rows, index = measured.nearest_within(source, target, max(NEIGHBOR_COUNTS))
        if index.shape[1]:
            is_shared = _shares_entry(measured.cross_links[source, target], rows, index)
            n_all = measured.n_queries(source, target)
            found.append(NeighborHits(source, target, rows, is_shared, n_all))
    return found


def _shares_entry(W: sp.csr_array, rows: Ints, columns: Ints) -> Bools:
    """Return which rows `columns` (q, k) of a sparse matrix share an entry with `rows` (q,)."""
    is_shared = np.zeros(columns.shape, dtype=bool)
    step = max(1, _MAX_ENTRIES // max(columns.shape[1], 1) // 8)
    for start in range(0, len(rows), step):
        part = columns[start : start + step]
        row_entries = W[np.repeat(rows[start : start + step], part.shape[1])]
        has_common = np.asarray(row_entries.multiply(W[part.ravel()]).sum(axis=1)).ravel() > 0
        is_shared[start : start + step] = has_common.reshape(part.shape)
    return is_shared


def _measures_at_each_k(
    measured: MeasuredMap, found: Sequence[NeighborHits], first: str, second: str
) -> MeasureValues:
    """Return the share of items with a hit among the k nearest, and the mean number, for each k."""
    values: MeasureValues = {}
    for k in NEIGHBOR_COUNTS:
        if any(one.hits.shape[1] >= k for one in found):
            n_hits = [(one.hits[:, :k].sum(axis=1).astype(float), one.n_all) for one in found]
            any_hit = [((number > 0).astype(float), n) for number, n in n_hits]
            for name, rows in ((f"{first}@{k}", any_hit), (f"{second}@{k}", n_hits)):
                values[name] = _mean_and_error(rows)
                measured.errors[name] = _mean_standard_error(rows)
    return values


def reconstruction(measured: MeasuredMap) -> MeasureValues:
    """Return graph_auc: whether linked items of other datasets rank before all others."""
    ranked = rank_linked(measured)
    if ranked is None or not np.isfinite(ranked.auc):
        return {}
    return {"graph_auc": (ranked.auc, ranked.standard_error)}


def rank_linked(measured: MeasuredMap) -> PartnerRanks | None:
    """Return the ranks of linked items of other datasets, with global rows as pairs."""
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    offsets = measured.data.offsets
    for (source, target), W in measured.cross_links.items():
        pairs = W.tocoo()
        rows.append(pairs.row + offsets[source].start)
        columns.append(pairs.col + offsets[target].start)
    placed = measured.placed
    placed_index = np.cumsum(placed) - 1
    i, j = np.concatenate(rows), np.concatenate(columns)
    are_placed = placed[i] & placed[j]
    if not are_placed.any():
        return None
    n = int(placed.sum())
    W = sp.csr_array(
        (
            np.ones(int(are_placed.sum())),
            (placed_index[i[are_placed]], placed_index[j[are_placed]]),
        ),
        shape=(n, n),
    )
    ranked = rank_partners(measured.stacked[placed], W, random_state=measured.random_state)
    return replace(ranked, pairs=np.flatnonzero(placed)[ranked.pairs])


def label_neighbors(measured: MeasuredMap) -> MeasureValues:
    """Return label_knn_accuracy: whether most of the 5 nearest labelled items share a label."""
    labels = label_codes(measured.data)
    if labels is None:
        return {}
    codes = labels[0]
    rows = np.flatnonzero((codes >= 0) & measured.placed)
    if len(rows) < 2:
        return {}
    agrees = label_agreement(measured.stacked[rows], codes[rows], LABEL_NEIGHBORS)
    measured.errors["label_knn_accuracy"] = error_of_mean(agrees.astype(np.float64))
    return {"label_knn_accuracy": (float(agrees.mean()), 0.0)}


def labels_across(measured: MeasuredMap) -> MeasureValues:
    """Return label_across_accuracy: the label of an item by its neighbours in other datasets.

    The share of items whose 5 nearest labelled items of other datasets mostly have their label.
    Uses the first label column of each dataset, whatever its name. Labels are equal if their texts
    are equal. Items whose label does not occur in another dataset are left out.
    """
    table = labels_across_rows(measured)
    if table is None:
        return {}
    correct: Floats = np.asarray(table["label"] == table["neighbours"], dtype=np.float64)
    measured.errors["label_across_accuracy"] = error_of_mean(correct)
    return {"label_across_accuracy": (float(correct.mean()), 0.0)}


def labels_across_rows(measured: MeasuredMap) -> pd.DataFrame | None:
    """Return row, label and the label of the neighbours in other datasets, None without any."""
    data, Y = measured.data, measured.stacked
    columns: dict[str, Labels] = {}
    for column in data.labels:
        columns.setdefault(column.dataset, column)
    texts = np.full(data.n_rows, "", dtype=object)
    for name, column in columns.items():
        texts[data.offsets[name]] = ["" if v is None else str(v) for v in column.values]
    names, codes = np.unique(texts, return_inverse=True)
    parts = []
    for name in columns:
        in_dataset = np.zeros(data.n_rows, dtype=bool)
        in_dataset[data.offsets[name]] = True
        labelled = (texts != "") & measured.placed
        candidates = np.flatnonzero(labelled & ~in_dataset)
        queries = np.flatnonzero(labelled & in_dataset)
        queries = queries[np.isin(texts[queries], texts[candidates])]
        if not len(queries) or len(set(texts[queries])) < 2:
            continue
        nearest = nearest_places(Y[queries], Y[candidates], min(LABEL_NEIGHBORS, len(candidates)))
        found = names[majority_code(codes[candidates][nearest])]
        parts.append(pd.DataFrame({"row": queries, "label": texts[queries], "neighbours": found}))
    return pd.concat(parts, ignore_index=True) if parts else None


def _mean_and_error(samples: list[tuple[Floats, int]]) -> tuple[float, float]:
    """Return the mean over all possible queries, and its standard error from sampling."""
    total = sum(n for _, n in samples)
    mean = sum(n * float(values.mean()) for values, n in samples) / total
    variance = sum(
        n**2 * float(values.var(ddof=1)) / len(values) * (1 - len(values) / n)
        for values, n in samples
        if 1 < len(values) < n
    )
    return mean, float(np.sqrt(variance)) / total


def _mean_standard_error(samples: list[tuple[Floats, int]]) -> float:
    """Return the standard error of the mean over the queries, sampled or not."""
    total = sum(n for _, n in samples)
    errors = [n * error_of_mean(values) for values, n in samples if len(values) > 1]
    return float(np.sqrt(np.square(errors).sum())) / total


def link_ranking(
    scores: ArrayLike, links: ArrayLike, counts: Sequence[int]
) -> tuple[float, dict[int, float]]:
    r"""Return AUC and precision of a ranking of candidate pairs.

    .. math:: AUC = (R - m (m + 1) / 2) / (m (n - m))

    with R the sum of the ranks of the m links (Hanley and McNeil 1982). Pairs of equal score share
    a rank. If the best k end among equal scores, the result is the mean over all orders of them.
    Costs O(n log n).
    """
    s = np.asarray(scores, dtype=np.float64)
    is_link = np.asarray(links, dtype=bool)
    n, m = len(s), int(is_link.sum())
    level, size = np.unique(-s, return_inverse=True, return_counts=True)[1:]
    hits = np.bincount(level, is_link, len(size))
    ends = np.cumsum(size)
    # Ranks start with 1 for the worst. Equal scores get their mean rank.
    rank = n - ends + (size + 1) / 2
    auc = (float(hits @ rank) - m * (m + 1) / 2) / (m * (n - m))
    cumulative_hits = np.concatenate([[0.0], np.cumsum(hits)])
    at = np.concatenate([[0], ends])
    precision = {k: float(np.interp(k, at, cumulative_hits)) / k for k in counts if k <= n}
    return auc, precision

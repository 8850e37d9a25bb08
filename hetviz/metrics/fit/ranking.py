"""What stands nearest: predicted tags, linked items of other datasets, labels of neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from hetviz._types import Bools, Floats, Ints
from hetviz.core.measures.ranking import (
    PartnerRanks,
    label_agreement,
    majority_code,
    ndcg,
    nearest_places,
    rank_partners,
    stored_entries,
)
from hetviz.core.measures.resolution import error_of_mean
from hetviz.data import Embedding, HeteroData, Labels
from hetviz.metrics.fit.clustering import label_codes
from hetviz.metrics.fit.measured_map import (
    MAX_EXACT_QUERIES,
    N_SAMPLED_QUERIES,
    MeasuredMap,
    MeasureValues,
    cross_dataset_links,
)

AT = (1, 5, 10, 20, 50)
LABEL_NEIGHBORS = 5
_ENTRIES = 4_000_000
_MOST_ANSWERS = 20_000_000
_CURVE_POINTS = 201


def tag_prediction(measured: MeasuredMap) -> MeasureValues:
    """Return ndcg and ndcg_guess: whether an item's nearest tags are its own.

    An item with q tags gets its q nearest ones as answers, held-out tags those nearest among the
    ones not given. Tags are the dataset without features of two that are linked; where both or
    none have features each asks for the other. The guess answers with the tags most often given.
    """
    found: MeasureValues = {}
    held = measured.held_out
    parts: list[tuple[str, HeteroData | None]] = [("", measured.data), ("_held_out", held)]
    for ending, part in parts:
        if part is None:
            continue
        each = list(_answers(measured, part, ending != ""))
        for name, place in (("ndcg", 0), ("ndcg_guess", 1)):
            if each:
                rows = [(gains[place], n) for gains, n in each]
                found[name + ending] = _pooled(rows)
                measured.errors[name + ending] = _error(rows)
    return found


def _answers(
    measured: MeasuredMap, part: HeteroData, held: bool
) -> Iterator[tuple[tuple[Floats, Floats], int]]:
    """Yield gains of the map and of the guess, and how many queries there could be."""
    data = measured.data
    places = measured.held_out_places if held else measured.places
    own = cross_dataset_links(part) if held else measured.cross_links
    for source, target in own:
        if target not in data.datasets or not _asked(data, source, target):
            continue
        A, B = places[source], measured.places[target]
        W = own[source, target]
        known: sp.csr_array | None = None
        if held:
            W = _columns_moved(W, data[target].find(part[target].ids), len(B))
            known = _known(measured, part, source, target)
        # How often each tag was given, the most frequent first.
        given = measured.cross_links.get((source, target))
        often = np.zeros(len(B)) if given is None else np.asarray(given.sum(axis=0)).ravel()
        there = np.flatnonzero(np.isfinite(B).all(axis=1))
        frequent = there[np.argsort(-often[there], kind="stable")]
        gains = _gains(A, B, W, known, there, frequent, measured.random_state)
        if gains is not None:
            yield gains


def _asked(data: HeteroData, source: str, target: str) -> bool:
    if source not in data.datasets:
        return True
    bare = data[source].is_featureless, data[target].is_featureless
    return bare != (True, False)


def _columns_moved(W: sp.csr_array, to: Ints, n: int) -> sp.csr_array:
    pairs = W.tocoo()
    columns = to[pairs.col]
    keep = columns >= 0
    shape = (W.shape[0], n)
    moved = sp.coo_array((pairs.data[keep], (pairs.row[keep], columns[keep])), shape=shape).tocsr()
    moved.sum_duplicates()
    return moved


def _known(
    measured: MeasuredMap, part: HeteroData, source: str, target: str
) -> sp.csr_array | None:
    """Return the tags that were given to the rows of what is held out."""
    given = measured.cross_links.get((source, target))
    if given is None:
        return None
    rows = measured.data[source].find(part[source].ids)
    known = sp.csr_array(given[np.maximum(rows, 0)])
    known.data[np.repeat(rows < 0, np.diff(known.indptr))] = 0.0
    known.eliminate_zeros()
    return known


def _gains(
    A: Floats,
    B: Floats,
    W: sp.csr_array,
    known: sp.csr_array | None,
    there: Ints,
    frequent: Ints,
    seed: int,
) -> tuple[tuple[Floats, Floats], int] | None:
    reachable = np.zeros(len(B))
    reachable[there] = 1.0
    n_own = np.rint(W @ reachable).astype(np.int64)
    needed = n_own.copy()
    if known is not None:
        needed += np.rint(known @ reachable).astype(np.int64)
    queries = np.flatnonzero(np.isfinite(A).all(axis=1) & (n_own > 0))
    n_all = len(queries)
    if not n_all:
        return None
    if n_all > MAX_EXACT_QUERIES or needed[queries].sum() > _MOST_ANSWERS:
        size = min(N_SAMPLED_QUERIES, n_all)
        queries = np.sort(np.random.default_rng(seed).choice(queries, size, replace=False))
    mapped, guessed = np.zeros(len(queries)), np.zeros(len(queries))
    # Items with about as many tags are answered together.
    bins = np.ceil(np.log2(np.minimum(needed[queries], len(there)))).astype(np.int64)
    for size in np.unique(bins):
        k = min(2 ** int(size), len(there))
        group = np.flatnonzero(bins == size)
        for start in range(0, len(group), max(1, _ENTRIES // k)):
            at = group[start : start + max(1, _ENTRIES // k)]
            rows = queries[at]
            near = there[nearest_places(A[rows], B[there], k)]
            mapped[at] = ndcg(W, near, rows, n_own[rows], known)
            same = np.broadcast_to(frequent[:k], near.shape)
            guessed[at] = ndcg(W, same, rows, n_own[rows], known)
    return (mapped, guessed), n_all


def linked_nearby(measured: MeasuredMap) -> MeasureValues:
    """Return metric_1@k and metric_2@k: linked items among the k nearest of another dataset.

    The first is the share of items with at least one there, the second how many there are on
    average; over all items that have a link to the dataset, of every pair of datasets.
    """
    hits: list[tuple[Bools, int, int]] = []
    for source, target in measured.cross_links:
        queries, index = measured.nearest(source, target, max(AT))
        if len(queries):
            there = stored_entries(measured.cross_links[source, target], queries, index)
            hits.append((there, measured.n_queries(source, target), index.shape[1]))
    return _at_each(measured, hits, "metric_1", "metric_2")


def sharing_nearby(measured: MeasuredMap) -> MeasureValues:
    """Return metric_1_within@k and metric_2_within@k: items that share a link, of one's own kind.

    Two items of a dataset share a link if both are linked with the same item of another. The first
    is the share of items with at least one such among their k nearest of their own dataset, the
    second how many there are on average; over all items that have a link to the other dataset, of
    every pair of datasets. An item is not its own neighbour.

    References
    ----------
    M. Mizutani, A. Okuno, G. Kim and H. Shimodaira, Stochastic neighbor embedding of multimodal
    relational data for image-text simultaneous visualization, 2020, arXiv:2005.00670: metrics (I)
    and (II) within a domain, appendix D. There images share text tags; here either side is asked.

    Notes
    -----
    O(q k) rows of links are read for q items asked; no table of pairs is made.
    """
    hits: list[tuple[Bools, int, int]] = []
    for source, target in measured.cross_links:
        queries, index = measured.nearest_within(source, target, max(AT))
        if index.shape[1]:
            there = _shared(measured.cross_links[source, target], queries, index)
            hits.append((there, measured.n_queries(source, target), index.shape[1]))
    return _at_each(measured, hits, "metric_1_within", "metric_2_within")


def _shared(W: sp.csr_array, rows: Ints, columns: Ints) -> Bools:
    """Say which rows `columns` (q, k) of a sparse matrix share an entry with `rows` (q,)."""
    found = np.zeros(columns.shape, dtype=bool)
    step = max(1, _ENTRIES // max(columns.shape[1], 1) // 8)
    for start in range(0, len(rows), step):
        part = columns[start : start + step]
        mine = W[np.repeat(rows[start : start + step], part.shape[1])]
        both = np.asarray(mine.multiply(W[part.ravel()]).sum(axis=1)).ravel() > 0
        found[start : start + step] = both.reshape(part.shape)
    return found


def _at_each(
    measured: MeasuredMap, hits: Sequence[tuple[Bools, int, int]], first: str, second: str
) -> MeasureValues:
    """Return by k the share of items with a hit among the k nearest, and the mean number."""
    found: MeasureValues = {}
    for k in AT:
        if any(width >= k for _, _, width in hits):
            some = [(there[:, :k].any(axis=1).astype(float), n) for there, n, _ in hits]
            count = [(there[:, :k].sum(axis=1).astype(float), n) for there, n, _ in hits]
            for name, rows in ((f"{first}@{k}", some), (f"{second}@{k}", count)):
                found[name] = _pooled(rows)
                measured.errors[name] = _error(rows)
    return found


def reconstruction(measured: MeasuredMap) -> MeasureValues:
    """Return graph_auc: whether linked items of other datasets come before all others."""
    ranked = _ranked(measured)
    if ranked is None or not np.isfinite(ranked.auc):
        return {}
    return {"graph_auc": (ranked.auc, ranked.standard_error)}


def roc_curve(
    data: HeteroData, embedding: Embedding, random_state: int = 0
) -> tuple[Floats, Floats] | None:
    """Return false and true positive rates of links between datasets, told by nearness.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id.
    random_state : int
        Seeds the items asked, which are sampled above 2,500.

    Returns
    -------
    false_positive_rate, true_positive_rate : array of shape (p,)
        From 0 to 1: each item with a link to another dataset calls its first k other items linked,
        for k from 0 to all. None without such links.
    """
    ranked = _ranked(MeasuredMap(data, embedding, None, random_state))
    if ranked is None:
        return None
    points = np.geomspace(1, max(ranked.n_others, 2), _CURVE_POINTS)
    at = np.unique(np.concatenate([[0], np.rint(points)]).astype(np.int64))
    return ranked.curve(np.minimum(at, ranked.n_others))


def _ranked(measured: MeasuredMap) -> PartnerRanks | None:
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    offsets = measured.data.offsets
    for (source, target), W in measured.cross_links.items():
        pairs = W.tocoo()
        rows.append(pairs.row + offsets[source].start)
        columns.append(pairs.col + offsets[target].start)
    placed = measured.placed
    number = np.cumsum(placed) - 1
    i, j = np.concatenate(rows), np.concatenate(columns)
    both = placed[i] & placed[j]
    if not both.any():
        return None
    n = int(placed.sum())
    W = sp.csr_array((np.ones(int(both.sum())), (number[i[both]], number[j[both]])), shape=(n, n))
    return rank_partners(measured.stacked[placed], W, random_state=measured.random_state)


def label_neighbors(measured: MeasuredMap) -> MeasureValues:
    """Return label_knn_accuracy: whether most of the 5 nearest labelled items share a label."""
    found = label_codes(measured.data)
    if found is None:
        return {}
    codes = found[0]
    rows = np.flatnonzero((codes >= 0) & measured.placed)
    if len(rows) < 2:
        return {}
    agrees = label_agreement(measured.stacked[rows], codes[rows], LABEL_NEIGHBORS)
    measured.errors["label_knn_accuracy"] = error_of_mean(agrees.astype(np.float64))
    return {"label_knn_accuracy": (float(agrees.mean()), 0.0)}


def labels_across(measured: MeasuredMap) -> MeasureValues:
    """Return label_across_accuracy: the label of an item by its neighbours in other datasets.

    The share of items whose 5 nearest labelled items of other datasets mostly have their label.
    Each dataset brings its first label column, whatever its name; labels are the same where their
    texts are. Items whose label no other dataset has are left out.
    """
    data, Y = measured.data, measured.stacked
    columns: dict[str, Labels] = {}
    for column in data.labels:
        columns.setdefault(column.dataset, column)
    texts = np.full(data.n_rows, "", dtype=object)
    for name, column in columns.items():
        texts[data.offsets[name]] = ["" if v is None else str(v) for v in column.values]
    right: list[Floats] = []
    for name in columns:
        mine = np.zeros(data.n_rows, dtype=bool)
        mine[data.offsets[name]] = True
        labelled = (texts != "") & measured.placed
        there = np.flatnonzero(labelled & ~mine)
        asked = np.flatnonzero(labelled & mine)
        asked = asked[np.isin(texts[asked], texts[there])]
        if not len(asked) or len(set(texts[asked])) < 2:
            continue
        near = nearest_places(Y[asked], Y[there], min(LABEL_NEIGHBORS, len(there)))
        codes = np.unique(texts, return_inverse=True)[1]
        right.append((majority_code(codes[there][near]) == codes[asked]).astype(np.float64))
    if not right:
        return {}
    every = np.concatenate(right)
    measured.errors["label_across_accuracy"] = error_of_mean(every)
    return {"label_across_accuracy": (float(every.mean()), 0.0)}


def _pooled(parts: list[tuple[Floats, int]]) -> tuple[float, float]:
    """Return the mean over all queries there could be, and its standard error from sampling."""
    total = sum(n for _, n in parts)
    mean = sum(n * float(values.mean()) for values, n in parts) / total
    variance = sum(
        n**2 * float(values.var(ddof=1)) / len(values) * (1 - len(values) / n)
        for values, n in parts
        if 1 < len(values) < n
    )
    return mean, float(np.sqrt(variance)) / total


def _error(parts: list[tuple[Floats, int]]) -> float:
    """Return the standard error of the mean over the queries, sampled or not."""
    total = sum(n for _, n in parts)
    each = [n * error_of_mean(values) for values, n in parts if len(values) > 1]
    return float(np.sqrt(np.square(each).sum())) / total


# How well scores of pairs find links: area under the curve, and precision among the best.


def link_ranking(
    scores: ArrayLike, links: ArrayLike, counts: Sequence[int]
) -> tuple[float, dict[int, float]]:
    r"""Judge a ranking of candidate pairs by those of them that are links.

    Parameters
    ----------
    scores : array of shape (n,)
        Higher is likelier; -inf for pairs that cannot be scored, which come last.
    links : array of bool, shape (n,)
        Which candidates are links; at least one is and one is not.
    counts : sequence of int
        How many of the best to look at; a count above n is left out.

    Returns
    -------
    auc : float
        Chance that a link scores above a pair that is none, ties half.
    precision : dict of int to float
        Share of links among the best k, by k.

    Notes
    -----
    .. math:: AUC = (R - m (m + 1) / 2) / (m (n - m))

    with R the sum of the ranks of the m links (Hanley and McNeil 1982). Pairs of equal score share
    a rank, and where the best k end among equals, each of these counts in part: the mean over all
    orders of them. Costs O(n log n).
    """
    s = np.asarray(scores, dtype=np.float64)
    is_link = np.asarray(links, dtype=bool)
    n, m = len(s), int(is_link.sum())
    level, size = np.unique(-s, return_inverse=True, return_counts=True)[1:]
    hits = np.bincount(level, is_link, len(size))
    ends = np.cumsum(size)
    # Ranks count from the worst, 1; those of equal score get their mean.
    rank = n - ends + (size + 1) / 2
    auc = (float(hits @ rank) - m * (m + 1) / 2) / (m * (n - m))
    found = np.concatenate([[0.0], np.cumsum(hits)])
    at = np.concatenate([[0], ends])
    precision = {k: float(np.interp(k, at, found)) / k for k in counts if k <= n}
    return auc, precision

"""Ranking measures: agreement of nearest neighbours on a map with links and labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints
from hetviz.core.graph.neighbors import nearest_places

EXACT_QUERIES = 2_500
SAMPLED_QUERIES = 1_000
_BLOCK_ENTRIES = 4_000_000
_MAX_DIRECT = 6


def stored_entries(W: sp.csr_array, rows: Ints, columns: Ints) -> Bools:
    """Return which entries of a sparse matrix are stored; `rows` (q,), `columns` (q, k)."""
    n = W.shape[1]
    keys = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr)) * n + W.indices
    keys_wanted = rows[:, None] * n + columns
    at = np.searchsorted(keys, keys_wanted)
    is_stored = np.zeros(keys_wanted.shape, dtype=bool)
    inside = at < len(keys)
    is_stored[inside] = keys[at[inside]] == keys_wanted[inside]
    return is_stored


def ndcg(
    W: sp.csr_array,
    ranked: Ints,
    queries: Ints,
    n_own: Ints,
    excluded_answers: sp.csr_array | None = None,
) -> Floats:
    """Return the normalised discounted cumulative gain of each query.

    Gain 1 for each true answer, discounted by 1 / log2(rank + 1), over that of the best order
    (Jaervelin and Kekaelaeinen 2002), over as many ranks as there are true answers.
    """
    allowed = np.ones(ranked.shape, dtype=bool)
    if excluded_answers is not None:
        allowed = ~stored_entries(excluded_answers, queries, ranked)
    rank = np.cumsum(allowed, axis=1)
    gain = stored_entries(W, queries, ranked) & allowed & (rank <= n_own[:, None])
    best = np.cumsum(1.0 / np.log2(np.arange(2, n_own.max(initial=1) + 2)))
    gained = np.where(gain, 1.0 / np.log2(np.maximum(rank, 1) + 1.0), 0.0).sum(axis=1)
    return np.asarray(gained / best[n_own - 1])


@dataclass(frozen=True, eq=False)
class PartnerRanks:
    """Ranks of true partners among all other rows, for each query."""

    rank: Floats
    query: Ints
    pairs: Ints
    n_queries: int
    n_others: int
    n_all: int

    @property
    def auc(self) -> float:
        """ROC-AUC over all pairs of a query and a row, scored by rank; NaN without both kinds."""
        pairs, true = self.n_queries * self.n_others, len(self.rank)
        if not 0 < true < pairs:
            return float("nan")
        above = self.n_queries * float((self.n_others + 0.5 - self.rank).sum())
        return (above - true * true / 2) / (true * (pairs - true))

    @property
    def standard_error(self) -> float:
        """Standard error of the AUC from sampling the queries; 0 without sampling."""
        q = self.n_queries
        if q >= self.n_all or q < 2 or not len(self.rank):
            return 0.0
        F = (self.rank - 0.5) / self.n_others
        count = np.bincount(self.query, minlength=q)
        left = np.bincount(self.query, weights=F, minlength=q) - count * F.mean()
        spread = np.sqrt((left**2).sum() * (1 - q / self.n_all) * q / (q - 1))
        return float(spread / len(F) / (1 - len(F) / (q * self.n_others)))

    def curve(self, at: Ints) -> tuple[Floats, Floats]:
        """Return false and true positive rates of the first ``at`` rows of each query."""
        true = np.searchsorted(np.sort(self.rank), at, side="right").astype(np.float64)
        pairs = self.n_queries * self.n_others
        false = np.maximum(self.n_queries * at - true, 0.0) / max(pairs - len(self.rank), 1)
        return np.minimum(false, 1.0), true / max(len(self.rank), 1)


def rank_partners(
    Y: Floats,
    W: sp.csr_array,
    *,
    max_queries: int = EXACT_QUERIES,
    n_queries: int = SAMPLED_QUERIES,
    random_state: int = 0,
) -> PartnerRanks:
    """Rank the true partners of each row among all other rows of a map."""
    degree = np.diff(W.indptr)
    queries = np.flatnonzero(degree)
    n_all = len(queries)
    if n_all > max_queries:
        rng = np.random.default_rng(random_state)
        queries = np.sort(rng.choice(queries, n_queries, replace=False))
    ranks: list[Floats] = []
    step = max(1, _BLOCK_ENTRIES // max(len(Y), 1))
    axes = np.ascontiguousarray(Y.T)
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        D = np.zeros((len(block), len(Y)))
        for axis in axes:
            D += (axis[block][:, None] - axis) ** 2
        # The row itself comes first, and is then subtracted.
        D[np.arange(len(block)), block] = -1.0
        for distances, row in zip(D, block, strict=True):
            partner_distances = distances[W.indices[W.indptr[row] : W.indptr[row + 1]]]
            ranks.append(_mid_ranks(distances, partner_distances) - 1.0)
    rank = np.concatenate(ranks) if ranks else np.zeros(0)
    query_of = np.repeat(np.arange(len(queries)), degree[queries])
    pairs = np.column_stack([queries[query_of], W[queries].indices])
    return PartnerRanks(rank, query_of, pairs, len(queries), len(Y) - 1, n_all)


def _mid_ranks(values: Floats, wanted: Floats) -> Floats:
    """Return the mean rank of each of `wanted` among `values`, which contain them."""
    if len(wanted) <= _MAX_DIRECT:
        below = np.array([(values < value).sum() for value in wanted], dtype=np.float64)
        up_to = np.array([(values <= value).sum() for value in wanted], dtype=np.float64)
        return np.asarray((below + up_to + 1.0) / 2.0)
    order = np.sort(values)
    left, right = (np.searchsorted(order, wanted, side=side) for side in ("left", "right"))
    return np.asarray((left + right + 1.0) / 2.0)


def label_agreement(Y: Floats, codes: Ints, k: int) -> Bools:
    """Return whether the most frequent label among the k nearest rows is that of the row itself."""
    index = nearest_places(Y, Y, min(k, len(Y) - 1), same=True)
    return np.asarray(majority_code(codes[index]) == codes)


def majority_code(codes: Ints) -> Ints:
    """Return the most frequent code of each row, the first of equal ones: (q, k) to (q,)."""
    votes = (codes[:, :, None] == codes[:, None, :]).sum(axis=2)
    return np.asarray(codes[np.arange(len(codes)), votes.argmax(axis=1)])

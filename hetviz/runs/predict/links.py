"""Link suggestions from several predictors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.spatial import cKDTree

from hetviz._types import Floats, Ints, Matrix, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.core.graph.z_order import z_order
from hetviz.core.prediction.link_ridge import is_among, largest
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.interpretation import feature_names, shared_words
from hetviz.runs.predict.link_fitting import signed_links
from hetviz.runs.predict.link_predictor import LinkPredictor, fit_link_predictor
from hetviz.runs.predict.link_settings import STACK
from hetviz.runs.predict.pair_scores import (
    PROFILES,
    FittedPredictor,
    PairScorer,
    pair_numbers_of_links,
)

REASONS = ("carried_by", "alike_linked", "alike_not_linked", "shared_features")
_BLOCK_SCORES = 2_000_000
_MAX_PAIRS_OF_ALL = 20_000_000
_POOL_FACTOR = 50
_MAX_TREE_AXES, _FIRST_NEIGHBORS, _MAX_QUERIES = 8, 8, 50_000_000
_N_SAMPLED_ROWS = 5_000
_MIN_DISTANCE = 1e-150


@one_thread()
def predict_links(
    data: HeteroData,
    source: str,
    target: str,
    top: int = 20,
    *,
    by: str | FittedPredictor | Sequence[FittedPredictor] = STACK,
    only: Sequence[str] | None = None,
    evidence: int = 3,
    random_state: int = 0,
) -> pd.DataFrame:
    """Rank pairs of items without a link, the likeliest first.

    Parameters
    ----------
    data : HeteroData
        Rows that are new to a fitted method are placed first, if it can place new rows.
    source, target : str
        Datasets; they may be the same.
    top : int
        Number of pairs.
    by : str, fitted method, LinkPredictor, Embedding, PairScorer, or a sequence of fitted ones
        "stack", the default, is the predictor of `fit_link_predictor`. "profiles" uses the links of
        the most similar items. On a map, closer pairs score higher. The scores of several fits
        (such as starts of one method) are averaged, and the best and worst ranks are given.
    only : sequence of str, optional
        Ids of `source` to consider.
    evidence : int
        Number of known links to name on each side.
    random_state : int
        Seed of the default predictor.

    Returns
    -------
    DataFrame
        Columns source_id, target_id, score (higher is likelier; a probability for the default
        predictor), rank (from 1); rank_best and rank_worst over several fits; known_links, the
        number of known links between the two datasets of the item that has fewer of them (the
        fewer, the less sure the pair); source_evidence, ids
        of `target` that the source item links to, closest to the target item first;
        target_evidence, ids of `source` that the target item links to, closest to the source item
        first. For a `LinkPredictor` also carried_by, the known links (source id, target id) that
        support the pair most; alike_linked and alike_not_linked, those of the five items most
        similar to the source item that link to the target item, and those that link only to
        others; shared_features, columns in which the first of them is similar.

    Raises
    ------
    hetviz.errors.DataError
        For an unknown dataset or id.
    hetviz.errors.ParameterError
        For `top` below 1, or nothing to predict from.
    hetviz.errors.NotApplicableError
        If the default predictor has no link to learn from.

    Notes
    -----
    Own scores of a method, probabilities or kernels, are used unchanged. On any other map the
    score is the share of all pairs of the two datasets that are farther from each other. Pairs with
    any link, together or apart, rows of one object and rows without a place are no candidates. If
    every item of a side has at most one link, the default predictor suggests no second one, and
    each item only once.

    On a map of up to eight axes a tree finds the closest pairs, O((n + top) log m). Other scores
    are computed in blocks for all n m pairs, O(n m k) with little memory. Above 20 million pairs
    the default predictor computes only the best pairs by each of its parts.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("debian")
    >>> m = hetviz.embed(data, "guided-projection")
    >>> found = hetviz.predict_links(data, "programs", "tags", 2, by=m)
    >>> found["rank"].tolist()
    [1, 2]
    """
    if not isinstance(source, str):
        raise ParameterError(
            "predict_links: give the two datasets first, and the predictor as by=..."
        )
    for word, number in (("top", top), ("evidence", evidence)):
        minimum = 1 if word == "top" else 0
        if number < minimum:
            raise ParameterError(f"predict_links: {word} = {number} must be {minimum} or more.")
    source_rows = np.arange(len(data[source]))
    if only is not None:
        source_rows = np.array([data[source].position(text) for text in only], dtype=np.int64)
    scorers = _scorers(data, source, target, by, random_state)
    linked_numbers = pair_numbers_of_links(data, source, target)
    best = _best_pairs(scorers, linked_numbers, source_rows, top, source == target)
    best["rank"] = np.arange(1, len(best) + 1)
    ranks = best["rank"].to_numpy()[None]
    if len(scorers) > 1:
        ranks_by_fit = [
            _ranks_by_scorer(scorer, linked_numbers, source_rows, best, source == target)
            for scorer in scorers
        ]
        ranks = np.array(ranks_by_fit)
    best["rank_best"], best["rank_worst"] = ranks.min(axis=0), ranks.max(axis=0)
    together = signed_links(data, source, target) > 0
    best["known_links"] = np.minimum(
        np.asarray(together.sum(axis=1)).ravel()[best["i"].to_numpy(np.int64)],
        np.asarray(together.sum(axis=0)).ravel()[best["j"].to_numpy(np.int64)],
    )
    evidence_finder = _Evidence(data, scorers[0], source, target, evidence)
    pairs = list(zip(best["i"].tolist(), best["j"].tolist(), strict=True))
    evidence_of_pairs = [evidence_finder.of(i, j) for i, j in pairs]
    best["source_evidence"] = [left for left, _ in evidence_of_pairs]
    best["target_evidence"] = [right for _, right in evidence_of_pairs]
    predictor = scorers[0].predictor
    if predictor is not None:
        reasons = [
            _reason_columns(data, predictor, evidence_finder, i, j, evidence) for i, j in pairs
        ]
        for number, name in enumerate(REASONS):
            best[name] = pd.Series([reason[number] for reason in reasons], dtype=object)
    best.insert(0, "target_id", data[target].ids[best["j"].to_numpy(np.int64)])
    best.insert(0, "source_id", data[source].ids[best["i"].to_numpy(np.int64)])
    return best.drop(columns=["i", "j"])


def _scorers(
    data: HeteroData,
    source: str,
    target: str,
    by: str | FittedPredictor | Sequence[FittedPredictor],
    random_state: int,
) -> list[PairScorer]:
    if isinstance(by, str):
        if by == PROFILES:
            return [PairScorer.of_profiles(data, source, target)]
        if by != STACK:
            raise ParameterError(
                f"predict_links: by = {by!r}. Use {STACK!r}, {PROFILES!r} or a fitted method."
            )
        fits: Sequence[FittedPredictor] = [
            fit_link_predictor(data, source, target, random_state=random_state)
        ]
    else:
        fits = [by] if isinstance(by, FittedPredictor) else by
    if not fits:
        raise ParameterError("predict_links: give a fitted method or an embedding.")
    return [PairScorer.of(data, fit, source, target) for fit in fits]


def _blocks(
    scorers: Sequence[PairScorer], linked_numbers: Ints, chosen: Ints, m: int, within: bool
) -> Iterator[tuple[Ints, Floats]]:
    """Yield rows and their mean scores (rows, m), -inf for pairs that are no candidates."""
    size = max(1, _BLOCK_SCORES // max(m, 1))
    for start in range(0, len(chosen), size):
        rows = chosen[start : start + size]
        S = np.mean([scorer.scores(rows) for scorer in scorers], axis=0)
        for position, row in enumerate(rows.tolist()):
            low, high = np.searchsorted(linked_numbers, (row * m, (row + 1) * m))
            S[position, linked_numbers[low:high] - row * m] = -np.inf
            if within and len(chosen) > 1:
                # One of (i, j) and (j, i) is enough.
                mirrored = chosen[chosen < row]
                S[position, mirrored] = -np.inf
        yield rows, S


def _best_pairs(
    scorers: Sequence[PairScorer], linked_numbers: Ints, chosen: Ints, top: int, within: bool
) -> pd.DataFrame:
    m = len(scorers[0].Z)
    scorer = scorers[0]
    best = None
    if len(scorers) == 1 and scorer.share is not None:
        best = _closest_pairs_on_map(scorer, linked_numbers, chosen, top, within)
    at_most_one = (False, False) if scorer.predictor is None else scorer.predictor.once
    pool = top * _POOL_FACTOR if any(at_most_one) else top
    if len(scorers) == 1 and scorer.predictor is not None and len(chosen) * m > _MAX_PAIRS_OF_ALL:
        i, j = scorer.predictor.best_pairs(chosen, 20 * pool + 5_000, linked_numbers)
        i, j = _drop_linked_pairs(i, j, linked_numbers, chosen, m, within)
        best = _order_pairs(i, j, scorer.predictor.pair_scores(i, j), pool)
    if best is None:
        best = _best_of_all_pairs(scorers, linked_numbers, chosen, pool, within)
    if any(at_most_one):
        best = best[best["score"] > 0.0]
        best = _keep_one_link_each(best, at_most_one)
    return best.head(top).reset_index(drop=True)


def _best_of_all_pairs(
    scorers: Sequence[PairScorer], linked_numbers: Ints, chosen: Ints, top: int, within: bool
) -> pd.DataFrame:
    m = len(scorers[0].Z)
    best = pd.DataFrame({"i": np.empty(0, np.int64), "j": np.empty(0, np.int64), "score": []})
    for rows, S in _blocks(scorers, linked_numbers, chosen, m, within):
        flat = S.ravel()
        top_numbers = largest(flat, top)
        top_numbers = top_numbers[np.isfinite(flat[top_numbers])]
        part = pd.DataFrame(
            {"i": rows[top_numbers // m], "j": top_numbers % m, "score": flat[top_numbers]}
        )
        best = pd.concat([best, part] if len(best) else [part], ignore_index=True)
        best = best.sort_values("score", ascending=False, kind="stable").head(top)
    return best.reset_index(drop=True)


def _order_pairs(i: Ints, j: Ints, scores: Floats, top: int) -> pd.DataFrame:
    """Return the best pairs, with ties in order of rows."""
    order = np.lexsort((j, i, -scores))[:top]
    return pd.DataFrame({"i": i[order], "j": j[order], "score": scores[order]})


def _drop_linked_pairs(
    i: Ints, j: Ints, linked_numbers: Ints, chosen: Ints, m: int, within: bool
) -> tuple[Ints, Ints]:
    """Return pairs without a link, each once within a dataset."""
    is_candidate = ~np.isin(i * m + j, linked_numbers)
    if within and len(chosen) > 1:
        is_candidate &= (i <= j) | ~np.isin(j, chosen)
    return i[is_candidate], j[is_candidate]


def _keep_one_link_each(pairs: pd.DataFrame, at_most_one: tuple[bool, bool]) -> pd.DataFrame:
    """Keep the likeliest pair of each item that has at most one link."""
    used: tuple[set[int], set[int]] = (set(), set())
    positions = []
    for place, pair in enumerate(zip(pairs["i"].tolist(), pairs["j"].tolist(), strict=True)):
        if any(
            is_limited and row in rows
            for is_limited, row, rows in zip(at_most_one, pair, used, strict=True)
        ):
            continue
        positions.append(place)
        for row, rows in zip(pair, used, strict=True):
            rows.add(row)
    return pairs.iloc[positions]


def _closest_pairs_on_map(
    scorer: PairScorer, linked_numbers: Ints, chosen: Ints, top: int, within: bool
) -> pd.DataFrame | None:
    """Return the closest pairs on a map by a tree; None with too many axes or equal rows.

    The number of neighbours of each row grows until the best pairs are certain. With many rows a
    sample gives an upper bound of the distance first.
    """
    Y, Z, share = scorer.Y, scorer.Z, scorer.share
    m, axes = Z.shape
    targets = np.flatnonzero(np.isfinite(Z).all(axis=1))
    open_rows = np.sort(chosen[np.isfinite(Y[chosen]).all(axis=1)])
    if share is None or axes > _MAX_TREE_AXES or not len(targets) or not len(open_rows):
        return None
    # The z-order keeps neighbours together in memory, which makes large trees much faster.
    targets = targets[z_order(Z[targets])]
    tree = cKDTree(Z[targets])
    i, j, distances = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    k = min(_FIRST_NEIGHBORS, len(targets))
    ordered = np.sort(linked_numbers)

    def query(rows: Ints, k: int, max_distance: float) -> tuple[Ints, Ints, Floats, Floats]:
        """Return pairs of rows with their k nearest within a distance, and the last distances."""
        D, index = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.int64)
        order = z_order(Y[rows])
        # The tree excludes its bound and squares it, so the bound must be above 0.
        limit = max(np.nextafter(max_distance, np.inf), _MIN_DISTANCE)
        lengths, places = tree.query(Y[rows[order]], k=k, distance_upper_bound=limit)
        D[order], index[order] = (np.reshape(part, (-1, k)) for part in (lengths, places))
        near = np.isfinite(D).ravel()
        p, q = np.repeat(rows, k)[near], targets[index.ravel()[near]]
        is_candidate = ~is_among(p * m + q, ordered)
        if within and len(chosen) > 1:
            is_candidate &= (p <= q) | ~np.isin(q, chosen)
        return p[is_candidate], q[is_candidate], D.ravel()[near][is_candidate], D[:, -1]

    def edge_of(distances: Floats) -> float:
        return float(np.partition(distances, top - 1)[top - 1]) if len(distances) >= top else np.inf

    edge = np.inf
    if len(open_rows) > 4 * _N_SAMPLED_ROWS:
        edge = edge_of(query(open_rows[:: len(open_rows) // _N_SAMPLED_ROWS], k, np.inf)[2])
    while True:
        if len(open_rows) * k > _MAX_QUERIES:
            return None
        p, q, D, last_distances = query(open_rows, k, edge)
        is_done = ~is_among(i, open_rows)
        i, j, distances = np.r_[i[is_done], p], np.r_[j[is_done], q], np.r_[distances[is_done], D]
        edge = edge_of(distances)
        open_rows = open_rows[last_distances <= edge]
        if not len(open_rows) or k == len(targets):
            order = np.lexsort((j, i, distances))[:top]
            return pd.DataFrame({"i": i[order], "j": j[order], "score": share(distances[order])})
        k = min(4 * k, len(targets))


def _ranks_by_scorer(
    scorer: PairScorer, linked_numbers: Ints, chosen: Ints, best: pd.DataFrame, within: bool
) -> Ints:
    """Return the rank of each of the best pairs by one scorer alone."""
    m = len(scorer.Z)
    i, j = best["i"].to_numpy(np.int64), best["j"].to_numpy(np.int64)
    own_scores = np.array([scorer.scores(i[[n]])[0, j[n]] for n in range(len(best))])
    above = np.zeros(len(best), dtype=np.int64)
    for _, S in _blocks([scorer], linked_numbers, chosen, m, within):
        ordered = np.sort(S, axis=None)
        above += len(ordered) - np.searchsorted(ordered, own_scores, side="right")
    return above + 1


def _reason_columns(
    data: HeteroData,
    predictor: LinkPredictor,
    evidence_finder: _Evidence,
    i: int,
    j: int,
    count: int,
) -> tuple[tuple[object, ...], ...]:
    """Return the evidence for and against a pair, as the columns of `REASONS`."""
    source, target = data[predictor.source], data[predictor.target]
    supporting = tuple(
        (str(source.ids[k]), str(target.ids[other]))
        for k, other, _ in predictor.supporting_links(i, j, count)
    )
    similar = [row for row in predictor.most_similar("source", i).tolist() if row != j]
    similar_linked = [row for row in similar if evidence_finder.is_linked(row, j)]
    similar_not_linked = [
        row for row in similar if row not in similar_linked and evidence_finder.has_links(row)
    ]
    features = shared_features(source, i, similar_linked[0]) if similar_linked else ()
    return (
        supporting,
        tuple(str(source.ids[row]) for row in similar_linked[:count]),
        tuple(str(source.ids[row]) for row in similar_not_linked[:count]),
        features,
    )


def shared_features(dataset: Dataset, i: int, k: int, count: int = 3) -> tuple[str, ...]:
    """Return the features in which rows i and k are most similar, far from the mean on one side.

    For directions found in texts, return the words that both texts have.
    """
    if dataset.X is None or dataset.feature_names is None:
        return ()
    pair = as_dense(dataset.X[[i, k]])
    mean, spread = column_moments(dataset.X)
    Z = (pair - mean) / np.where(spread > 0, spread, np.inf)
    products = Z[0] * Z[1]
    best = largest(products, count)
    names = feature_names(dataset)
    words_by_column = shared_words(dataset, i, k)
    texts_so_far: dict[str, None] = {}
    for place in best[products[best] > 0.25]:
        feature = dataset.feature_names[place]
        # Two rows that both lack a category are not similar because of it.
        if "=" in feature and Z[0, place] < 0:
            continue
        column = feature.rpartition("~")[0]
        if column in words_by_column:
            words = ", ".join(words_by_column[column])
            texts_so_far[f"{column} ({words})" if words else column] = None
        else:
            texts_so_far[names[place]] = None
    return tuple(texts_so_far)


def column_moments(X: Matrix) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column, shape (p,)."""
    if not is_sparse(X):
        return np.asarray(X.mean(axis=0), np.float64), np.asarray(X.std(axis=0), np.float64)
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
    return mean, np.sqrt(np.maximum(squares - mean**2, 0.0))


class _Evidence:
    """The known links that are closest to a pair."""

    def __init__(
        self, data: HeteroData, scorer: PairScorer, source: str, target: str, count: int
    ) -> None:
        self._ids = data[source].ids, data[target].ids
        self._Y = scorer.Y, scorer.Z
        self._count = count
        together = sp.csr_array(signed_links(data, source, target) > 0)
        together.sort_indices()
        self._linked = together, sp.csr_array(together.T)
        self._linked[1].sort_indices()

    def is_linked(self, i: int, j: int) -> bool:
        return j in self._row(0, i)

    def has_links(self, i: int) -> bool:
        return bool(len(self._row(0, i)))

    def _row(self, side: int, row: int) -> Ints:
        """Return the rows that a row of source (0) or target (1) links to."""
        Y = self._linked[side]
        return np.asarray(Y.indices[Y.indptr[row] : Y.indptr[row + 1]], dtype=np.int64)

    def of(self, i: int, j: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return ids of target, then of source."""
        Y, Z = self._Y
        left = self._nearest(self._row(0, i), Z, Z[j])
        right = self._nearest(self._row(1, j), Y, Y[i])
        return (
            tuple(str(self._ids[1][row]) for row in left),
            tuple(str(self._ids[0][row]) for row in right),
        )

    def _nearest(self, rows: Ints, Y: Floats, at: Floats) -> list[int]:
        squared = np.asarray(((Y[rows] - at) ** 2).sum(axis=1))
        order = np.argsort(squared, kind="stable")
        return [int(rows[place]) for place in order if np.isfinite(squared[place])][: self._count]

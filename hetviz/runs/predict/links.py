"""Link suggestions from several predictors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.spatial import cKDTree

from hetviz._types import Bools, Floats, Ints, Matrix, is_sparse
from hetviz.core.graph.z_order import z_order
from hetviz.core.prediction.link_ridge import largest
from hetviz.core.spectral.blocks import as_dense
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.interpretation import feature_names, shared_words
from hetviz.runs.predict.link_predictor import (
    STACK,
    LinkPredictor,
    fit_link_predictor,
    signed_links,
)
from hetviz.runs.predict.pair_scores import PROFILES, Fitted, PairScorer, known_pairs

REASONS = ("carried_by", "alike_linked", "alike_not_linked", "shared_features")
_BLOCK = 2_000_000
_MANY_PAIRS = 20_000_000
_POOL = 50
_TREE_AXES, _AT_FIRST, _MOST_QUERIED = 8, 8, 50_000_000
_SOME = 5_000
_NOWHERE = 1e-150


@one_thread()
def predict_links(
    data: HeteroData,
    source: str,
    target: str,
    top: int = 20,
    *,
    by: str | Fitted | Sequence[Fitted] = STACK,
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
        predictor), rank (from 1); rank_best and rank_worst over several fits; source_evidence, ids
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

    On a map of up to eight axes a tree finds the closest pairs, O((n + top) log m). Other scores are
    computed in blocks for all n m pairs, O(n m k) with little memory. Above 20 million pairs the
    default predictor computes only the best pairs by each of its parts.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("debian")
    >>> found = hetviz.predict_links(data, "programs", "tags", 2, by=hetviz.embed(data, "cdmca"))
    >>> found["rank"].tolist()
    [1, 2]
    """
    if not isinstance(source, str):
        raise ParameterError(
            "predict_links: give the two datasets first, and the predictor as by=..."
        )
    for word, number in (("top", top), ("evidence", evidence)):
        if number < (1 if word == "top" else 0):
            raise ParameterError(f"predict_links: {word} = {number} is too small.")
    chosen = np.arange(len(data[source]))
    if only is not None:
        chosen = np.array([data[source].position(text) for text in only], dtype=np.int64)
    scorers = _scorers(data, source, target, by, random_state)
    known = known_pairs(data, source, target)
    best = _best(scorers, known, chosen, top, source == target)
    best["rank"] = np.arange(1, len(best) + 1)
    ranks = best["rank"].to_numpy()[None]
    if len(scorers) > 1:
        each = [_ranks(scorer, known, chosen, best, source == target) for scorer in scorers]
        ranks = np.array(each)
    best["rank_best"], best["rank_worst"] = ranks.min(axis=0), ranks.max(axis=0)
    near = _Evidence(data, scorers[0], source, target, evidence)
    pairs = list(zip(best["i"].tolist(), best["j"].tolist(), strict=True))
    said = [near.of(i, j) for i, j in pairs]
    best["source_evidence"] = [left for left, _ in said]
    best["target_evidence"] = [right for _, right in said]
    predictor = scorers[0].predictor
    if predictor is not None:
        reasons = [_reasons(data, predictor, near, i, j, evidence) for i, j in pairs]
        for number, name in enumerate(REASONS):
            best[name] = pd.Series([one[number] for one in reasons], dtype=object)
    best.insert(0, "target_id", data[target].ids[best["j"].to_numpy(np.int64)])
    best.insert(0, "source_id", data[source].ids[best["i"].to_numpy(np.int64)])
    return best.drop(columns=["i", "j"])


def _scorers(
    data: HeteroData,
    source: str,
    target: str,
    by: str | Fitted | Sequence[Fitted],
    random_state: int,
) -> list[PairScorer]:
    if isinstance(by, str):
        if by == PROFILES:
            return [PairScorer.of_profiles(data, source, target)]
        if by != STACK:
            raise ParameterError(
                f"predict_links: by = {by!r}. Use {STACK!r}, {PROFILES!r} or a fitted method."
            )
        fits: Sequence[Fitted] = [
            fit_link_predictor(data, source, target, random_state=random_state)
        ]
    else:
        fits = [by] if isinstance(by, Fitted) else by
    if not fits:
        raise ParameterError("predict_links: give a fitted method or an embedding.")
    return [PairScorer.of(data, fit, source, target) for fit in fits]


def _blocks(
    scorers: Sequence[PairScorer], known: Ints, chosen: Ints, m: int, within: bool
) -> Iterator[tuple[Ints, Floats]]:
    """Yield rows and their mean scores (rows, m), -inf for pairs that are no candidates."""
    size = max(1, _BLOCK // max(m, 1))
    for start in range(0, len(chosen), size):
        rows = chosen[start : start + size]
        S = np.mean([scorer.scores(rows) for scorer in scorers], axis=0)
        for place, row in enumerate(rows.tolist()):
            low, high = np.searchsorted(known, (row * m, (row + 1) * m))
            S[place, known[low:high] - row * m] = -np.inf
            if within and len(chosen) > 1:
                # One of (i, j) and (j, i) is enough.
                mirrored = chosen[chosen < row]
                S[place, mirrored] = -np.inf
        yield rows, S


def _best(
    scorers: Sequence[PairScorer], known: Ints, chosen: Ints, top: int, within: bool
) -> pd.DataFrame:
    m = len(scorers[0].Z)
    first = scorers[0]
    found = None
    if len(scorers) == 1 and first.share is not None:
        found = _nearest_on_map(first, known, chosen, top, within)
    once = (False, False) if first.predictor is None else first.predictor.once
    pool = top * _POOL if any(once) else top
    if len(scorers) == 1 and first.predictor is not None and len(chosen) * m > _MANY_PAIRS:
        i, j = first.predictor.likely(chosen, 20 * pool + 5_000, known)
        i, j = _candidates(i, j, known, chosen, m, within)
        found = _ordered(i, j, first.predictor.pair_scores(i, j), pool)
    if found is None:
        found = _best_of_all(scorers, known, chosen, pool, within)
    if any(once):
        found = found[found["score"] > 0.0]
        found = _named_once(found, once)
    return found.head(top).reset_index(drop=True)


def _best_of_all(
    scorers: Sequence[PairScorer], known: Ints, chosen: Ints, top: int, within: bool
) -> pd.DataFrame:
    m = len(scorers[0].Z)
    found = pd.DataFrame({"i": np.empty(0, np.int64), "j": np.empty(0, np.int64), "score": []})
    for rows, S in _blocks(scorers, known, chosen, m, within):
        flat = S.ravel()
        kept = largest(flat, top)
        kept = kept[np.isfinite(flat[kept])]
        part = pd.DataFrame({"i": rows[kept // m], "j": kept % m, "score": flat[kept]})
        found = pd.concat([found, part] if len(found) else [part], ignore_index=True)
        found = found.sort_values("score", ascending=False, kind="stable").head(top)
    return found.reset_index(drop=True)


def _ordered(i: Ints, j: Ints, scores: Floats, top: int) -> pd.DataFrame:
    """Return the best pairs, with ties in order of rows."""
    order = np.lexsort((j, i, -scores))[:top]
    return pd.DataFrame({"i": i[order], "j": j[order], "score": scores[order]})


def _candidates(
    i: Ints, j: Ints, known: Ints, chosen: Ints, m: int, within: bool
) -> tuple[Ints, Ints]:
    """Return pairs without a link, each once within a dataset."""
    kept = ~np.isin(i * m + j, known)
    if within and len(chosen) > 1:
        kept &= (i <= j) | ~np.isin(j, chosen)
    return i[kept], j[kept]


def _named_once(found: pd.DataFrame, once: tuple[bool, bool]) -> pd.DataFrame:
    """Keep the likeliest pair of each item that has at most one link."""
    used: tuple[set[int], set[int]] = (set(), set())
    kept = []
    for place, pair in enumerate(zip(found["i"].tolist(), found["j"].tolist(), strict=True)):
        if any(one and row in rows for one, row, rows in zip(once, pair, used, strict=True)):
            continue
        kept.append(place)
        for row, rows in zip(pair, used, strict=True):
            rows.add(row)
    return found.iloc[kept]


def _nearest_on_map(
    scorer: PairScorer, known: Ints, chosen: Ints, top: int, within: bool
) -> pd.DataFrame | None:
    """Return the closest pairs on a map by a tree; None with too many axes or equal rows.

    The number of neighbours of each row grows until the best pairs are certain. With many rows a
    sample gives an upper bound of the distance first.
    """
    Y, Z, share = scorer.Y, scorer.Z, scorer.share
    m, axes = Z.shape
    there = np.flatnonzero(np.isfinite(Z).all(axis=1))
    open_ = np.sort(chosen[np.isfinite(Y[chosen]).all(axis=1)])
    if share is None or axes > _TREE_AXES or not len(there) or not len(open_):
        return None
    # The z-order keeps neighbours together in memory, which makes large trees much faster.
    there = there[z_order(Z[there])]
    tree = cKDTree(Z[there])
    i, j, away = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    k = min(_AT_FIRST, len(there))
    ordered = np.sort(known)

    def found(rows: Ints, k: int, most: float) -> tuple[Ints, Ints, Floats, Floats]:
        """Return pairs of rows with their k nearest within a distance, and the last distances."""
        D, index = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.int64)
        order = z_order(Y[rows])
        # The tree excludes its bound and squares it, so the bound must be above 0.
        limit = max(np.nextafter(most, np.inf), _NOWHERE)
        lengths, places = tree.query(Y[rows[order]], k=k, distance_upper_bound=limit)
        D[order], index[order] = (np.reshape(part, (-1, k)) for part in (lengths, places))
        near = np.isfinite(D).ravel()
        p, q = np.repeat(rows, k)[near], there[index.ravel()[near]]
        kept = ~_among(p * m + q, ordered)
        if within and len(chosen) > 1:
            kept &= (p <= q) | ~np.isin(q, chosen)
        return p[kept], q[kept], D.ravel()[near][kept], D[:, -1]

    def edge_of(away: Floats) -> float:
        return float(np.partition(away, top - 1)[top - 1]) if len(away) >= top else np.inf

    edge = np.inf
    if len(open_) > 4 * _SOME:
        edge = edge_of(found(open_[:: len(open_) // _SOME], k, np.inf)[2])
    while True:
        if len(open_) * k > _MOST_QUERIED:
            return None
        p, q, D, last = found(open_, k, edge)
        done = ~_among(i, open_)
        i, j, away = np.r_[i[done], p], np.r_[j[done], q], np.r_[away[done], D]
        edge = edge_of(away)
        open_ = open_[last <= edge]
        if not len(open_) or k == len(there):
            order = np.lexsort((j, i, away))[:top]
            return pd.DataFrame({"i": i[order], "j": j[order], "score": share(away[order])})
        k = min(4 * k, len(there))


def _among(values: Ints, ordered: Ints) -> Bools:
    """Return a mask of values that are in a sorted array; faster than a hash for few values."""
    if not len(ordered):
        return np.zeros(len(values), dtype=bool)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.asarray(ordered[at] == values)


def _ranks(scorer: PairScorer, known: Ints, chosen: Ints, best: pd.DataFrame, within: bool) -> Ints:
    """Return the rank of each of the best pairs by one scorer alone."""
    m = len(scorer.Z)
    i, j = best["i"].to_numpy(np.int64), best["j"].to_numpy(np.int64)
    mine = np.array([scorer.scores(i[[n]])[0, j[n]] for n in range(len(best))])
    above = np.zeros(len(best), dtype=np.int64)
    for _, S in _blocks([scorer], known, chosen, m, within):
        ordered = np.sort(S, axis=None)
        above += len(ordered) - np.searchsorted(ordered, mine, side="right")
    return above + 1


def _reasons(
    data: HeteroData, predictor: LinkPredictor, near: _Evidence, i: int, j: int, count: int
) -> tuple[tuple[object, ...], ...]:
    """Return the evidence for and against a pair, as the columns of `REASONS`."""
    source, target = data[predictor.source], data[predictor.target]
    carried = tuple(
        (str(source.ids[k]), str(target.ids[other]))
        for k, other, _ in predictor.carried_by(i, j, count)
    )
    alike = [row for row in predictor.alike("source", i).tolist() if row != j]
    linked = [row for row in alike if near.linked(row, j)]
    others = [row for row in alike if row not in linked and near.has_links(row)]
    shared = shared_features(source, i, linked[0]) if linked else ()
    return (
        carried,
        tuple(str(source.ids[row]) for row in linked[:count]),
        tuple(str(source.ids[row]) for row in others[:count]),
        shared,
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
    alike = Z[0] * Z[1]
    best = largest(alike, count)
    names = feature_names(dataset)
    texts = shared_words(dataset, i, k)
    said: dict[str, None] = {}
    for place in best[alike[best] > 0.25]:
        own = dataset.feature_names[place]
        # Two rows that both lack a category are not similar because of it.
        if "=" in own and Z[0, place] < 0:
            continue
        column = own.rpartition("~")[0]
        if column in texts:
            words = ", ".join(texts[column])
            said[f"{column} ({words})" if words else column] = None
        else:
            said[names[place]] = None
    return tuple(said)


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

    def linked(self, i: int, j: int) -> bool:
        """Return whether two rows are linked."""
        return j in self._row(0, i)

    def has_links(self, i: int) -> bool:
        """Return whether a row of source has a link."""
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
        away = np.asarray(((Y[rows] - at) ** 2).sum(axis=1))
        order = np.argsort(away, kind="stable")
        return [int(rows[place]) for place in order if np.isfinite(away[place])][: self._count]

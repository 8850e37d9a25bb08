"""Links that a map or a method suggests: pairs not linked yet that look as if they should be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.errors import ParameterError
from hetviz.runs.predict.pair_scores import Fitted, PairScorer, known_pairs

_BLOCK = 2_000_000


@one_thread()
def predict_links(
    data: HeteroData,
    fitted_or_embedding: Fitted | Sequence[Fitted],
    source: str,
    target: str,
    top: int = 20,
    *,
    only: Sequence[str] | None = None,
    evidence: int = 3,
) -> pd.DataFrame:
    """Rank pairs of items that no link tells of, the likeliest first.

    Parameters
    ----------
    data : HeteroData
        Rows that a fitted method does not know yet are placed first, where it can place new rows.
    fitted_or_embedding : fitted method, Embedding, PairScorer, or a sequence of these
        Of several (starts of one method, say) the scores are averaged, and the best and worst
        rank among them is told.
    source, target : str
        Datasets; they may be the same.
    top : int
        How many pairs.
    only : sequence of str, optional
        Ids of `source` to which to keep.
    evidence : int
        How many known links to name on each side.

    Returns
    -------
    DataFrame
        Columns source_id, target_id, score (higher is likelier), rank (from 1); rank_best and
        rank_worst over several fits; source_evidence, ids of `target` that the source item is
        linked with, those nearest the target item first; target_evidence, ids of `source` that
        the target item is linked with, those nearest the source item first.

    Raises
    ------
    hetviz.errors.DataError
        For an unknown dataset or id.
    hetviz.errors.ParameterError
        For `top` below 1, or nothing to predict from.

    Notes
    -----
    A method that scores links itself is taken at its word, as a probability or a kernel; the
    score of a place on any other map is the share of all pairs of the two datasets that lie
    farther apart. Pairs that any link tells of, together or apart, are no candidates, and neither
    are rows of one object nor rows without a place. Costs O(n m k) and little memory.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("debian")
    >>> found = hetviz.predict_links(data, hetviz.embed(data, "cdmca"), "programs", "tags", top=2)
    >>> found["rank"].tolist()
    [1, 2]
    """
    fits = [fitted_or_embedding] if isinstance(fitted_or_embedding, Fitted) else fitted_or_embedding
    if not fits:
        raise ParameterError("predict_links: give a fitted method or an embedding.")
    for word, number in (("top", top), ("evidence", evidence)):
        if number < (1 if word == "top" else 0):
            raise ParameterError(f"predict_links: {word} = {number}; it must be 1 or more.")
    chosen = np.arange(len(data[source]))
    if only is not None:
        chosen = np.array([data[source].position(text) for text in only], dtype=np.int64)
    scorers = [PairScorer.of(data, fit, source, target) for fit in fits]
    known = known_pairs(data, source, target)
    best = _best(scorers, known, chosen, top, source == target)
    best["rank"] = np.arange(1, len(best) + 1)
    ranks = best["rank"].to_numpy()[None]
    if len(scorers) > 1:
        each = [_ranks(scorer, known, chosen, best, source == target) for scorer in scorers]
        ranks = np.array(each)
    best["rank_best"], best["rank_worst"] = ranks.min(axis=0), ranks.max(axis=0)
    near = _Evidence(data, scorers[0], source, target, evidence)
    said = [near.of(i, j) for i, j in zip(best["i"], best["j"], strict=True)]
    best["source_evidence"] = [left for left, _ in said]
    best["target_evidence"] = [right for _, right in said]
    best.insert(0, "target_id", data[target].ids[best["j"].to_numpy(np.int64)])
    best.insert(0, "source_id", data[source].ids[best["i"].to_numpy(np.int64)])
    return best.drop(columns=["i", "j"])


def _blocks(
    scorers: Sequence[PairScorer], known: Ints, chosen: Ints, m: int, within: bool
) -> Iterator[tuple[Ints, Floats]]:
    """Yield rows and the mean of their scores (rows, m); -inf for what is no candidate."""
    size = max(1, _BLOCK // max(m, 1))
    for start in range(0, len(chosen), size):
        rows = chosen[start : start + size]
        S = np.mean([scorer.scores(rows) for scorer in scorers], axis=0)
        for place, row in enumerate(rows.tolist()):
            low, high = np.searchsorted(known, (row * m, (row + 1) * m))
            S[place, known[low:high] - row * m] = -np.inf
            if within and len(chosen) > 1:
                # of (i, j) and (j, i) one is enough, where both would come
                mirrored = chosen[chosen < row]
                S[place, mirrored] = -np.inf
        yield rows, S


def _best(
    scorers: Sequence[PairScorer], known: Ints, chosen: Ints, top: int, within: bool
) -> pd.DataFrame:
    m = len(scorers[0].Z)
    found = pd.DataFrame({"i": np.empty(0, np.int64), "j": np.empty(0, np.int64), "score": []})
    for rows, S in _blocks(scorers, known, chosen, m, within):
        flat = S.ravel()
        kept = np.arange(flat.size)
        if flat.size > top:
            edge = np.partition(flat, flat.size - top)[flat.size - top]
            kept = np.flatnonzero(flat >= edge)
        kept = kept[np.isfinite(flat[kept])]
        kept = kept[np.argsort(-flat[kept], kind="stable")[:top]]
        part = pd.DataFrame({"i": rows[kept // m], "j": kept % m, "score": flat[kept]})
        found = pd.concat([found, part] if len(found) else [part], ignore_index=True)
        found = found.sort_values("score", ascending=False, kind="stable").head(top)
    return found.reset_index(drop=True)


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


class _Evidence:
    """The known links nearest to a pair."""

    def __init__(
        self, data: HeteroData, scorer: PairScorer, source: str, target: str, count: int
    ) -> None:
        self._ids = data[source].ids, data[target].ids
        self._Y = scorer.Y, scorer.Z
        self._count = count
        self._of_source: dict[int, list[int]] = {}
        self._of_target: dict[int, list[int]] = {}
        for links in data.links:
            together = links.weight > 0
            for i, j, ends in (
                (links.i, links.j, (links.source, links.target)),
                (links.j, links.i, (links.target, links.source)),
            ):
                if ends == (source, target):
                    for a, b in zip(i[together].tolist(), j[together].tolist(), strict=True):
                        self._of_source.setdefault(a, []).append(b)
                        self._of_target.setdefault(b, []).append(a)

    def of(self, i: int, j: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return ids on the target's side, then on the source's."""
        Y, Z = self._Y
        left = self._nearest(self._of_source.get(i, []), Z, Z[j])
        right = self._nearest(self._of_target.get(j, []), Y, Y[i])
        return (
            tuple(str(self._ids[1][row]) for row in left),
            tuple(str(self._ids[0][row]) for row in right),
        )

    def _nearest(self, rows: list[int], Y: Floats, at: Floats) -> list[int]:
        away = [(float(((Y[row] - at) ** 2).sum()), row) for row in set(rows)]
        return [row for far, row in sorted(away) if np.isfinite(far)][: self._count]

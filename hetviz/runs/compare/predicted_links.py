"""Links that no method saw, judged by what each says of pairs, beside plain guesses.

A method with scores of its own for pairs is judged by these, any other by nearness on its map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from hetviz._types import Bools, Floats, Ints
from hetviz.algorithms.base import BaseEmbedder
from hetviz.data import Embedding, HeteroData
from hetviz.features.relations.profiles import NearestProfiles
from hetviz.metrics.fit.ranking import link_ranking
from hetviz.runs.predict.held_out_links import average_precision, candidates, together
from hetviz.runs.predict.link_predictor import signed_links
from hetviz.runs.predict.pair_scores import PairScorer, ScoresLinks

AUC, PRECISION, NEW = (
    "link_score_auc_held_out",
    "link_score_precision_held_out",
    "link_score_auc_new_items",
)
OWN_SCORES, NEARNESS = "own scores", "nearness on the map"
PROFILES, POPULARITY, CHANCE = "nearest profiles", "popularity", "chance"
_MOST_PAIRS = 500_000

Scored = Callable[[Ints], Floats]


def judged_by(model: BaseEmbedder) -> str:
    """Say what a fitted method is judged by: `OWN_SCORES` or `NEARNESS`."""
    return OWN_SCORES if isinstance(model, ScoresLinks) else NEARNESS


def held_out_scores(
    train: HeteroData, model: BaseEmbedder, held_out: HeteroData | None, seed: int
) -> dict[str, float]:
    """Return AUC and average precision of held-out links among all pairs not linked yet.

    Parameters
    ----------
    train : HeteroData
        What the method saw.
    model : fitted method
    held_out : HeteroData or None
    seed : int
        Draws rows where two datasets have more than 500,000 pairs.

    Returns
    -------
    dict
        `AUC` and `PRECISION`, means over pairs of datasets by their held-out links; empty where
        none were held out.
    """

    def scores(source: str, target: str) -> Scored:
        return PairScorer.of(train, model, source, target).scores

    return _judged(train, held_out, seed, scores)


def yardsticks(
    train: HeteroData, held_out: HeteroData | None, seed: int
) -> dict[str, dict[str, float]]:
    """Return the same measures of nearest profiles, of popularity and of chance."""
    found: dict[str, dict[str, float]] = {}

    def profiles(source: str, target: str) -> Scored | None:
        plain = NearestProfiles(train, source, target)
        return plain.scores if plain.applies else None

    def popularity(source: str, target: str) -> Scored:
        left, right = (
            np.log1p(np.asarray((signed_links(train, *ends) > 0).sum(axis=1)).ravel())
            for ends in ((source, target), (target, source))
        )
        return lambda rows: np.add.outer(left[rows], right)

    for name, scores in ((PROFILES, profiles), (POPULARITY, popularity)):
        judged = _judged(train, held_out, seed, scores)
        if judged:
            found[name] = judged
    parts = list(_parts(train, held_out, seed))
    if parts:
        shares = [float(is_link.mean()) for *_, is_link in parts]
        weights = [int(is_link.sum()) for *_, is_link in parts]
        found[CHANCE] = {AUC: 0.5, PRECISION: float(np.average(shares, weights=weights))}
    return found


def new_item_scores(
    data: HeteroData, model: BaseEmbedder, embedding: Embedding, is_new: Bools
) -> dict[str, float]:
    """Return how the links of items that a method never saw rank among all pairs of these items.

    Parameters
    ----------
    data : HeteroData
        Everything, with the links of the new items.
    model : fitted method
    embedding : Embedding
        Of all items, the new ones placed by their features.
    is_new : ndarray of bool, shape (n_rows,)

    Returns
    -------
    dict
        `NEW`, the AUC, the mean over pairs of datasets by their links; empty without such links.
    """
    groups = []
    for group in data.links:
        i, j = data.offsets[group.source].start, data.offsets[group.target].start
        groups.append(group.take(~(is_new[i + group.i] | is_new[j + group.j])))
    shown = HeteroData(data.datasets, groups)
    own = isinstance(model, ScoresLinks)
    found: list[tuple[float, int]] = []
    for source, target in _linked_pairs(data):
        for ends in dict.fromkeys(((source, target), (target, source))):
            rows = np.flatnonzero(is_new[data.offsets[ends[0]]])
            truth = np.asarray((signed_links(data, *ends)[rows] > 0).toarray())
            if not truth.any() or truth.all():
                continue
            scorer = PairScorer.of(shown, model if own else embedding, *ends)
            S = scorer.scores(rows)
            there = np.isfinite(S)
            if truth[there].any() and not truth[there].all():
                auc = link_ranking(S[there], truth[there], ())[0]
                found.append((auc, int(truth[there].sum())))
    if not found:
        return {}
    return {NEW: float(np.average([auc for auc, _ in found], weights=[n for _, n in found]))}


def sentence(
    titles: Mapping[str, str], judged: Mapping[str, str], plain: Mapping[str, Mapping[str, float]]
) -> str:
    """Say by what methods were judged, and what plain guesses reach; "" where nothing was.

    Parameters
    ----------
    titles : mapping of str to str
        Of the candidates that were fitted.
    judged : mapping of str to {"own scores", "nearness on the map"}
    plain : mapping of str to mapping of str to float
        See `yardsticks`.
    """
    if not plain:
        return ""
    mine = [titles[key] for key in titles if judged.get(key) == OWN_SCORES]
    rest = "the others" if mine else "all methods"
    who = f"{', '.join(mine)} by own scores, " if mine else ""
    if len(mine) == len(titles):
        who, rest = "All methods were judged by own scores", ""
    else:
        rest = f"{rest} by nearness on the map"
    guesses = ", ".join(
        f"{name} {100 * values[PRECISION]:.1f}"
        for name, values in plain.items()
        if PRECISION in values
    )
    first = f"{who}{rest}"
    return (
        f"Held-out links found: {first[0].lower() if not mine else first[0]}{first[1:]}. "
        f"Average precision in 100 of plain guesses: {guesses}."
    )


def _linked_pairs(data: HeteroData) -> list[tuple[str, str]]:
    """Return the pairs of datasets that links join, each once."""
    ends = [(group.source, group.target) for group in data.links if (group.weight > 0).any()]
    kept: list[tuple[str, str]] = []
    for pair in ends:
        if pair not in kept and pair[::-1] not in kept:
            kept.append(pair)
    return kept


def _parts(
    train: HeteroData, held_out: HeteroData | None, seed: int
) -> Iterator[tuple[str, str, Ints, Ints, Bools]]:
    """Yield source, target, rows to look at, candidate pairs, and which of these were held out."""
    if held_out is None:
        return
    for source, target in _linked_pairs(held_out):
        rows, pairs = candidates(train, source, target, seed, None, _MOST_PAIRS)
        is_link = np.isin(pairs, together(held_out, source, target))
        if is_link.any() and not is_link.all():
            yield source, target, rows, pairs, is_link


def _judged(
    train: HeteroData,
    held_out: HeteroData | None,
    seed: int,
    scores: Callable[[str, str], Scored | None],
) -> dict[str, float]:
    auc, precise, weights = [], [], []
    for source, target, rows, pairs, is_link in _parts(train, held_out, seed):
        asked = scores(source, target)
        if asked is None:
            continue
        i, j = np.divmod(pairs, len(train[target]))
        # a pair without a place comes last
        found = np.maximum(asked(rows)[np.searchsorted(rows, i), j], -1e300)
        auc.append(link_ranking(found, is_link, ())[0])
        precise.append(average_precision(found, is_link))
        weights.append(int(is_link.sum()))
    if not weights:
        return {}
    return {
        AUC: float(np.average(auc, weights=weights)),
        PRECISION: float(np.average(precise, weights=weights)),
    }

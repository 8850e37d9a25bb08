"""Held-out links predicted by each method, compared with simple baselines.

A method with its own scores for pairs is judged by these, any other by closeness on its map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from hetviz._text import join_words
from hetviz._types import Bools, Floats, Ints
from hetviz.algorithms.base import BaseEmbedder
from hetviz.data import Embedding, HeteroData
from hetviz.features.problems.profiles import NearestProfiles
from hetviz.metrics.fit.ranking import link_ranking
from hetviz.runs.predict.held_out_links import average_precision, candidate_pairs, linked_pairs
from hetviz.runs.predict.link_fitting import signed_links
from hetviz.runs.predict.pair_scores import PairScorer, ScoresLinks

AUC_KEY, PRECISION_KEY, NEW_ITEMS_KEY = (
    "link_score_auc_held_out",
    "link_score_precision_held_out",
    "link_score_auc_new_items",
)
OWN_SCORES, NEARNESS = "own scores", "nearness on the map"
PROFILES, POPULARITY, CHANCE = "nearest profiles", "popularity", "chance"
_MAX_PAIRS = 500_000

ScoreRows = Callable[[Ints], Floats]


def score_kind(model: BaseEmbedder) -> str:
    """Return the kind of scores of a fitted method: `OWN_SCORES` or `NEARNESS`."""
    return OWN_SCORES if isinstance(model, ScoresLinks) else NEARNESS


def held_out_scores(
    train: HeteroData, model: BaseEmbedder, held_out: HeteroData | None, seed: int
) -> dict[str, float]:
    """Return AUC and average precision of held-out links among all pairs without a link."""

    def scores(source: str, target: str) -> ScoreRows:
        return PairScorer.of(train, model, source, target).scores

    return _mean_ranking_scores(train, held_out, seed, scores)


def yardsticks(
    train: HeteroData, held_out: HeteroData | None, seed: int
) -> dict[str, dict[str, float]]:
    """Return the same measures for nearest profiles, popularity and chance."""
    by_baseline: dict[str, dict[str, float]] = {}

    def profiles(source: str, target: str) -> ScoreRows | None:
        plain = NearestProfiles(train, source, target)
        return plain.scores if plain.applies else None

    def popularity(source: str, target: str) -> ScoreRows:
        left, right = (
            np.log1p(np.asarray((signed_links(train, *ends) > 0).sum(axis=1)).ravel())
            for ends in ((source, target), (target, source))
        )
        return lambda rows: np.add.outer(left[rows], right)

    for name, scores in ((PROFILES, profiles), (POPULARITY, popularity)):
        if scores_of_baseline := _mean_ranking_scores(train, held_out, seed, scores):
            by_baseline[name] = scores_of_baseline
    if splits := list(_splits_by_datasets(train, held_out, seed)):
        shares = [float(is_link.mean()) for *_, is_link in splits]
        weights = [int(is_link.sum()) for *_, is_link in splits]
        by_baseline[CHANCE] = {
            AUC_KEY: 0.5,
            PRECISION_KEY: float(np.average(shares, weights=weights)),
        }
    return by_baseline


def new_item_scores(
    data: HeteroData, model: BaseEmbedder, embedding: Embedding, is_new: Bools
) -> dict[str, float]:
    """Return the AUC of links of new items among all pairs of these items."""
    groups = []
    for group in data.links:
        i, j = data.offsets[group.source].start, data.offsets[group.target].start
        groups.append(group.take(~(is_new[i + group.i] | is_new[j + group.j])))
    without_new_links = HeteroData(data.datasets, groups)
    has_own_scores = isinstance(model, ScoresLinks)
    aucs: list[tuple[float, int]] = []
    for source, target in _linked_pairs(data):
        for ends in dict.fromkeys(((source, target), (target, source))):
            rows = np.flatnonzero(is_new[data.offsets[ends[0]]])
            truth = np.asarray((signed_links(data, *ends)[rows] > 0).toarray())
            if not truth.any() or truth.all():
                continue
            scorer = PairScorer.of(without_new_links, model if has_own_scores else embedding, *ends)
            S = scorer.scores(rows)
            is_finite = np.isfinite(S)
            if truth[is_finite].any() and not truth[is_finite].all():
                auc = link_ranking(S[is_finite], truth[is_finite], ())[0]
                aucs.append((auc, int(truth[is_finite].sum())))
    if not aucs:
        return {}
    return {
        NEW_ITEMS_KEY: float(np.average([auc for auc, _ in aucs], weights=[n for _, n in aucs]))
    }


def prediction_sentence(
    titles: Mapping[str, str],
    kinds: Mapping[str, str],
    baselines: Mapping[str, Mapping[str, float]],
) -> str:
    """Return sentences about the scores used and the precision of simple baselines, or ""."""
    if not baselines:
        return ""
    own = [titles[key] for key in titles if kinds.get(key) == OWN_SCORES]
    if len(own) == len(titles):
        scores = "the own scores of all methods"
    elif own:
        scores = f"the own scores of {join_words(own)} and by closeness on the map for the others"
    else:
        scores = "closeness on the map"
    guesses = ", ".join(
        f"{name} {100 * values[PRECISION_KEY]:.1f} %"
        for name, values in baselines.items()
        if PRECISION_KEY in values
    )
    return (
        f"Hidden links are predicted by {scores}. Average precision of simple guesses: {guesses}."
    )


def _linked_pairs(data: HeteroData) -> list[tuple[str, str]]:
    ends = [(group.source, group.target) for group in data.links if (group.weight > 0).any()]
    pairs: list[tuple[str, str]] = []
    for pair in ends:
        if pair not in pairs and pair[::-1] not in pairs:
            pairs.append(pair)
    return pairs


def _splits_by_datasets(
    train: HeteroData, held_out: HeteroData | None, seed: int
) -> Iterator[tuple[str, str, Ints, Ints, Bools]]:
    """Yield source, target, sampled rows, candidate pairs and a mask of held-out links."""
    if held_out is None:
        return
    for source, target in _linked_pairs(held_out):
        rows, pairs = candidate_pairs(train, source, target, seed, None, _MAX_PAIRS)
        is_link = np.isin(pairs, linked_pairs(held_out, source, target))
        if is_link.any() and not is_link.all():
            yield source, target, rows, pairs, is_link


def _mean_ranking_scores(
    train: HeteroData,
    held_out: HeteroData | None,
    seed: int,
    scores: Callable[[str, str], ScoreRows | None],
) -> dict[str, float]:
    auc, precision, weights = [], [], []
    for source, target, rows, pairs, is_link in _splits_by_datasets(train, held_out, seed):
        score_rows = scores(source, target)
        if score_rows is None:
            continue
        i, j = np.divmod(pairs, len(train[target]))
        # A pair without a place comes last.
        pair_scores = np.maximum(score_rows(rows)[np.searchsorted(rows, i), j], -1e300)
        auc.append(link_ranking(pair_scores, is_link, ())[0])
        precision.append(average_precision(pair_scores, is_link))
        weights.append(int(is_link.sum()))
    if not weights:
        return {}
    return {
        AUC_KEY: float(np.average(auc, weights=weights)),
        PRECISION_KEY: float(np.average(precision, weights=weights)),
    }

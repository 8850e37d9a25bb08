"""Evaluation of link predictors on held-out links, compared with simple baselines and chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hetviz._types import Bools, Floats, Ints
from hetviz.data import HeteroData
from hetviz.features.problems.profiles import NearestProfiles
from hetviz.metrics.fit.ranking import link_ranking
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.embed.run import fit_run
from hetviz.runs.predict.link_fitting import signed_links
from hetviz.runs.predict.link_judging import with_chosen_axes
from hetviz.runs.predict.link_predictor import fit_link_predictor
from hetviz.runs.predict.link_settings import STACK
from hetviz.runs.predict.pair_scores import PROFILES, PairScorer, pair_numbers_of_links

TOP_COUNTS = (1, 3, 10, 30, 100, 300)
METHOD, POPULARITY, CHANCE = "method", "popularity", "chance"
# Names of groups of pairs, and the most known links that the item with fewer of them may have.
KNOWN_LINKS = (("0", 0.0), ("1", 1.0), ("2 to 5", 5.0), ("more than 5", np.inf))
_MAX_PAIRS = 10_000_000


@dataclass(frozen=True)
class GroupRanking:
    """Ranking of the pairs whose item with fewer known links has this many of them."""

    known_links: str
    # As in `HeldOutRanking`, among the pairs of the group.
    auc: Mapping[str, float]
    average_precision: Mapping[str, float]
    n_links: int
    n_pairs: int


@dataclass(frozen=True)
class HeldOutRanking:
    """Ranking of the held-out links of one split."""

    # `auc`, `average_precision`: for "method", "popularity" and, if it applies, "profiles"; see
    # `hetviz.metrics.fit.ranking`. Popularity ranks pairs by the numbers of links of both items.
    auc: Mapping[str, float]
    # For the same and "chance": share of held-out links among the best k pairs.
    precision: Mapping[str, Mapping[int, float]]
    # `n_links`, `n_pairs`: held-out links, and candidate pairs including these.
    n_links: int
    n_pairs: int
    average_precision: Mapping[str, float]
    # Whether the method was judged by its own scores; else by closeness on its map.
    own_scores: bool
    # For groups with a held-out link and another pair, fewest known links first.
    by_known_links: tuple[GroupRanking, ...] = ()


def rank_held_out(
    data: HeteroData,
    method: str | None,
    params: Mapping[str, object],
    source: str,
    target: str,
    share: float,
    seed: int,
    progress: Progress,
    *,
    items: float = 0.0,
    quick: bool = False,
) -> HeldOutRanking | None:
    """Hide links, fit the method on the others, and rank the hidden ones.

    `method`: its key, or "stack" for the default predictor; None ranks by nearest profiles alone.
    The numbers of axes of "kbmf2k", "pmvge" and "mkpe" are chosen by an inner split, unless given.
    `source`, `target`: datasets whose links are judged; they may be the same. Links of all kinds
    are hidden, as by `HeteroData.holdout`. `share`: share of the links to hide. `seed`: seed of
    the split and of the method. `items`: instead of single links, hide all links of this share of
    the linked items of `source` with `target`, and rank the pairs of these items. This measures
    new items. `quick`: for the default predictor, see
    `hetviz.runs.predict.link_predictor.fit_link_predictor`.

    Returns None if no link between the two datasets could be hidden.

    Candidates are all pairs of the two datasets without a remaining link. Pairs that were not
    hidden count as unlinked. With more than 10 million pairs, rows of `source` are sampled.
    """
    only: Ints | None = None
    if items:
        train, positive, only = without_items(data, source, target, items, seed)
    else:
        train, held_out = data.holdout(links=share, random_state=seed)
        positive = linked_pairs(held_out, source, target)
    positive = np.setdiff1d(positive, pair_numbers_of_links(train, source, target))
    if not len(positive):
        return None
    profiles = NearestProfiles(train, source, target)
    degrees = [
        np.asarray((signed_links(train, *ends) > 0).sum(axis=1), dtype=np.float64).ravel()
        for ends in ((source, target), (target, source))
    ]
    scorers: dict[str, Callable[[Ints], Floats]] = {}
    has_own_scores = True
    if method == STACK:
        model = fit_link_predictor(
            train, source, target, quick=quick, random_state=seed, progress=progress
        )
        scorers[METHOD] = PairScorer.of(train, model, source, target).scores
    elif method is not None:
        params_with_axes = with_chosen_axes(train, method, source, target, params, seed)
        fitted = fit_run(
            train, method, params_with_axes, seed, ProgressPart(progress, 0.3, 1.0)
        ).model
        scorer = PairScorer.of(train, fitted, source, target)
        scorers[METHOD], has_own_scores = scorer.scores, scorer.share is None
    if profiles.applies:
        scorers[METHOD if method is None else PROFILES] = profiles.scores
    scorers[POPULARITY] = lambda rows: np.add.outer(
        np.log1p(degrees[0][rows]), np.log1p(degrees[1])
    )
    rows, pairs = candidate_pairs(train, source, target, seed, only)
    is_link = np.isin(pairs, positive)
    m = len(train[target])
    if METHOD not in scorers or not is_link.any() or is_link.all():
        return None
    auc: dict[str, float] = {}
    average: dict[str, float] = {}
    scores_of_pairs: dict[str, Floats] = {}
    precision: dict[str, Mapping[int, float]] = {
        CHANCE: dict.fromkeys(TOP_COUNTS, float(is_link.mean()))
    }
    for name, scores in scorers.items():
        S = np.empty((len(train[source]), m), dtype=np.float32)
        for start in range(0, len(rows), 500):
            part = rows[start : start + 500]
            S[part] = scores(part)
        scores_of_pairs[name] = S.ravel()[pairs].astype(np.float64)
        auc[name], precision[name] = link_ranking(scores_of_pairs[name], is_link, TOP_COUNTS)
        average[name] = average_precision(scores_of_pairs[name], is_link)
    return HeldOutRanking(
        auc,
        precision,
        int(is_link.sum()),
        len(pairs),
        average,
        has_own_scores,
        _rank_by_known_links(
            scores_of_pairs, is_link, np.minimum(degrees[0][pairs // m], degrees[1][pairs % m])
        ),
    )


def _rank_by_known_links(
    scores: Mapping[str, Floats], is_link: Bools, n_known: Floats
) -> tuple[GroupRanking, ...]:
    """Return the ranking within each group of pairs; `n_known` is of the item with fewer links."""
    groups = []
    minimum = 0.0
    for name, maximum in KNOWN_LINKS:
        inside = (n_known >= minimum) & (n_known <= maximum)
        links = is_link[inside]
        minimum = maximum + 1
        if not links.any() or links.all():
            continue
        groups.append(
            GroupRanking(
                name,
                {key: link_ranking(S[inside], links, ())[0] for key, S in scores.items()},
                {key: average_precision(S[inside], links) for key, S in scores.items()},
                int(links.sum()),
                len(links),
            )
        )
    return tuple(groups)


def average_precision(scores: Floats, is_link: Bools) -> float:
    """Return the mean over links of the share of links among pairs with the same or higher score.

    Pairs of equal score count together; -inf comes last.
    """
    level, size = np.unique(-np.asarray(scores), return_inverse=True, return_counts=True)[1:]
    hits = np.bincount(level, is_link, len(size))
    return float((hits * np.cumsum(hits) / np.cumsum(size)).sum() / hits.sum())


def without_items(
    data: HeteroData, source: str, target: str, share: float, seed: int
) -> tuple[HeteroData, Ints, Ints]:
    """Return the data without the links of some items, these links as pairs, and the items."""
    Y = signed_links(data, source, target)
    linked = np.flatnonzero(np.asarray((Y > 0).sum(axis=1)).ravel())
    rng = np.random.default_rng((seed, 29))
    hidden_items = np.sort(rng.permutation(linked)[: max(1, round(share * len(linked)))]).astype(
        np.int64
    )
    is_hidden = np.isin(np.arange(len(data[source])), hidden_items)
    groups = []
    for links in data.links:
        dropped = np.zeros(len(links), dtype=bool)
        if (links.source, links.target) == (source, target):
            dropped |= is_hidden[links.i]
        if (links.target, links.source) == (source, target):
            dropped |= is_hidden[links.j]
        groups.append(links.take(~dropped))
    hidden = (Y[hidden_items] > 0).tocoo()
    positive = (hidden_items[hidden.coords[0]] * len(data[target]) + hidden.coords[1]).astype(
        np.int64
    )
    return HeteroData(data.datasets, groups, data.comparisons, data.labels), positive, hidden_items


def linked_pairs(data: HeteroData, source: str, target: str) -> Ints:
    """Return linked pairs as numbers row * m + column."""
    keys = [np.empty(0, np.int64)]
    m = len(data[target])
    for links in data.links:
        i, j = links.i[links.weight > 0], links.j[links.weight > 0]
        if source == target:
            i, j = np.minimum(i, j), np.maximum(i, j)
        if (links.source, links.target) == (source, target):
            keys.append(i * m + j)
        elif (links.target, links.source) == (source, target):
            keys.append(j * m + i)
    return np.unique(np.concatenate(keys))


def candidate_pairs(
    data: HeteroData,
    source: str,
    target: str,
    seed: int,
    only: Ints | None,
    max_pairs: int = _MAX_PAIRS,
) -> tuple[Ints, Ints]:
    """Return sampled rows of source, and their pairs without a link."""
    m = len(data[target])
    rows = np.arange(len(data[source])) if only is None else only
    if len(rows) * m > max_pairs:
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(rows, max(1, max_pairs // m), replace=False))
    pairs = (rows[:, None] * m + np.arange(m)[None, :]).ravel()
    if source == target and only is None:
        pairs = pairs[pairs // m < pairs % m]
    return rows, np.setdiff1d(
        pairs, pair_numbers_of_links(data, source, target), assume_unique=True
    )

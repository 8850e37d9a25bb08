"""How well a method finds links that it was not shown, beside chance and a plain guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.data import HeteroData
from hetviz.features.relations.profiles import NearestProfiles
from hetviz.metrics.fit.ranking import link_ranking
from hetviz.progress import Progress
from hetviz.runs.embed.run import fit_run
from hetviz.runs.predict.pair_scores import PairScorer, known_pairs

COUNTS = (1, 3, 10, 30, 100, 300)
METHOD, PROFILES, CHANCE = "method", "profiles", "chance"
_MOST_PAIRS = 10_000_000


@dataclass(frozen=True)
class HeldOutRanking:
    """One split of the links and what was found of those held out.

    Attributes
    ----------
    auc : mapping of str to float
        By "method" and, where it applies, "profiles"; see `hetviz.metrics.fit.ranking`.
    precision : mapping of str to mapping of int to float
        The same and "chance": share of held-out links among the best k.
    n_links, n_pairs : int
        Held-out links, and candidate pairs that they are among.
    """

    auc: Mapping[str, float]
    precision: Mapping[str, Mapping[int, float]]
    n_links: int
    n_pairs: int


def rank_held_out(
    data: HeteroData,
    method: str | None,
    params: Mapping[str, object],
    source: str,
    target: str,
    share: float,
    seed: int,
    progress: Progress,
) -> HeldOutRanking | None:
    """Hold out links, fit the method on the rest, and see how it ranks what was held out.

    Parameters
    ----------
    data : HeteroData
    method : str or None
        Its key; None ranks by nearest profiles alone.
    params : mapping
    source, target : str
        Datasets whose links are judged; they may be the same. Links of every kind are held out,
        as `HeteroData.holdout` draws them.
    share : float
        Of the links to hold out.
    seed : int
        Of the draw and of the method.
    progress : callable

    Returns
    -------
    HeldOutRanking or None
        None where no link between the two datasets could be held out.

    Raises
    ------
    hetviz.errors.HetvizError
        As `hetviz.runs.embed.run.fit_run`.

    Notes
    -----
    Candidates are all pairs of the two datasets that no remaining link tells of; a pair is taken
    for none unless it was held out as together. Of more than 10 million pairs, rows of `source`
    are drawn.
    """
    train, held = data.holdout(links=share, random_state=seed)
    positive = _together(held, source, target)
    positive = np.setdiff1d(positive, known_pairs(train, source, target))
    if not len(positive):
        return None
    plain = NearestProfiles(train, source, target)
    asked: dict[str, Callable[[Ints], Floats]] = {}
    if method is not None:
        model = fit_run(train, method, params, seed, progress).model
        asked[METHOD] = PairScorer.of(train, model, source, target).scores
    if plain.applies:
        asked[METHOD if method is None else PROFILES] = plain.scores
    rows, kept = _candidates(train, source, target, seed)
    is_link = np.isin(kept, positive)
    m = len(train[target])
    if not asked or not is_link.any() or is_link.all():
        return None
    auc: dict[str, float] = {}
    precision: dict[str, Mapping[int, float]] = {
        CHANCE: dict.fromkeys(COUNTS, float(is_link.mean()))
    }
    for name, scores in asked.items():
        S = np.empty((len(train[source]), m), dtype=np.float32)
        for start in range(0, len(rows), 500):
            part = rows[start : start + 500]
            S[part] = scores(part)
        auc[name], precision[name] = link_ranking(S.ravel()[kept], is_link, COUNTS)
    return HeldOutRanking(auc, precision, int(is_link.sum()), len(kept))


def _together(data: HeteroData, source: str, target: str) -> Ints:
    """Return pairs that links say belong together, as numbers row * m + column."""
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


def _candidates(data: HeteroData, source: str, target: str, seed: int) -> tuple[Ints, Ints]:
    """Return rows of source to look at, and the pairs of theirs that no link tells of."""
    n, m = len(data[source]), len(data[target])
    rows = np.arange(n)
    if n * m > _MOST_PAIRS:
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(n, max(1, _MOST_PAIRS // m), replace=False))
    pairs = (rows[:, None] * m + np.arange(m)[None, :]).ravel()
    if source == target:
        pairs = pairs[pairs // m < pairs % m]
    return rows, np.setdiff1d(pairs, known_pairs(data, source, target), assume_unique=True)

"""Scores of pairs of rows by a fitted method or a map, and which pairs are known already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.spatial.distance import cdist

from hetviz._types import Floats, Ints
from hetviz.algorithms.base import BaseEmbedder, Capability
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.out_of_sample import NewLink
from hetviz.errors import DataError, HetvizError, NotApplicableError, Problem
from hetviz.features.relations.profiles import NearestProfiles
from hetviz.metrics.fit.rows import coordinates_of

PROFILES_TITLE = "Like links like"
_SAMPLED_PAIRS = 1_000_000


@runtime_checkable
class ScoresLinks(Protocol):
    """A fitted method with scores of its own for pairs."""

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Score pairs of rows that lie at Y_source (n, k) and Y_target (m, k): shape (n, m)."""
        ...


@dataclass(frozen=True, eq=False)
class PairScorer:
    """Scores by rows of two datasets, and where the rows lie.

    Attributes
    ----------
    Y, Z : array of shape (n, k) and (m, k)
        Places of all rows of source and target; NaN for rows without one.
    score : callable
        Gets rows of source, gives their scores with all rows of target, shape (rows, m).
    """

    Y: Floats
    Z: Floats
    score: Callable[[Ints], Floats]

    @classmethod
    def of(
        cls, data: HeteroData, fit: BaseEmbedder | Embedding | PairScorer, source: str, target: str
    ) -> PairScorer:
        """Return the scores of a fitted method, new rows placed first, or of a map.

        Raises
        ------
        hetviz.errors.HetvizError
            If the method is not fitted, or a dataset is unknown.
        """
        if isinstance(fit, PairScorer):
            return fit
        if isinstance(fit, BaseEmbedder) and not hasattr(fit, "embedding_"):
            raise HetvizError(f"{fit.card.title}: call fit before predict_links.")
        embedding = fit if isinstance(fit, Embedding) else _with_new(data, fit, (source, target))
        places = coordinates_of(data, embedding)
        Y, Z = places[data[source].name], places[data[target].name]
        if isinstance(fit, ScoresLinks) and isinstance(fit, BaseEmbedder):
            known = fit.embedding_.ids
            rows_of = {name: data[name].find(known[name]) for name in (source, target)}
            columns = data[target].as_new(np.arange(len(Z)), rows_of[target])
            return cls(
                Y,
                Z,
                lambda rows: fit.link_scores(
                    data[source].as_new(rows, rows_of[source]), columns, Y[rows], Z
                ),
            )
        return cls(Y, Z, _by_share(Y, Z))

    @classmethod
    def of_profiles(cls, data: HeteroData, source: str, target: str) -> PairScorer:
        """Return the scores of nearest profiles (`hetviz.features.relations.profiles`).

        Raises
        ------
        hetviz.errors.NotApplicableError
            If no link between the two datasets is known, or neither has features.
        """
        plain = NearestProfiles(data, source, target)
        if not plain.applies:
            reason = "It needs links between the two datasets, and features in one of them."
            raise NotApplicableError(PROFILES_TITLE, [reason])
        return cls(_described(data[source]), _described(data[target]), plain.scores)

    def scores(self, rows: Ints) -> Floats:
        """Return scores of rows with all targets, (rows, m); -inf where one has no place."""
        S = np.array(self.score(rows), dtype=np.float64)
        S[~np.isfinite(self.Y[rows]).all(axis=1)] = -np.inf
        S[:, ~np.isfinite(self.Z).all(axis=1)] = -np.inf
        return S


Fitted = BaseEmbedder | Embedding | PairScorer


def _described(dataset: Dataset) -> Floats:
    X = np.zeros((len(dataset), 1)) if dataset.X is None else dataset.X
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _by_share(Y: Floats, Z: Floats) -> Callable[[Ints], Floats]:
    """Return a score of places: the share of pairs that lie farther apart."""
    here, there = (np.flatnonzero(np.isfinite(part).all(axis=1)) for part in (Y, Z))
    if len(here) * len(there) <= _SAMPLED_PAIRS:
        away = cdist(Y[here], Z[there]).ravel() if len(here) and len(there) else None
    else:
        rng = np.random.default_rng(0)
        i, j = rng.choice(here, _SAMPLED_PAIRS), rng.choice(there, _SAMPLED_PAIRS)
        away = np.sqrt(((Y[i] - Z[j]) ** 2).sum(axis=1))
    ordered = np.empty(0) if away is None else np.sort(away)

    def score(rows: Ints) -> Floats:
        D = cdist(np.nan_to_num(Y[rows]), np.nan_to_num(Z))
        return np.asarray(1.0 - np.searchsorted(ordered, D, side="right") / max(len(ordered), 1))

    return score


def _with_new(data: HeteroData, model: BaseEmbedder, names: tuple[str, str]) -> Embedding:
    """Return the embedding of a fitted method with the rows of the data that it lacks."""
    known = {name: set(ids) for name, ids in model.embedding_.ids.items()}
    fresh = {
        name: np.array([row for row, text in enumerate(data[name].ids) if text not in ids])
        for name, ids in known.items()
        if name in names
    }
    fresh = {name: rows for name, rows in fresh.items() if len(rows)}
    if not fresh or Capability.OUT_OF_SAMPLE not in model.card.capabilities:
        return model.embedding_
    parts = []
    for name, rows in fresh.items():
        columns = data[name].find(model.embedding_.ids[name])
        if (columns < 0).any() and (
            data[name].kernel is not None or data[name].distance is not None
        ):
            raise DataError(
                Problem(
                    "missing-rows",
                    f"dataset {name!r}",
                    "new rows need their kernel or distance with every fitted row",
                    remedy="Keep the fitted rows in the data.",
                )
            )
        parts.append(data[name].as_new(rows, columns))
    new = model.transform(HeteroData(parts), _links_of_new(data, fresh, known))
    return model.embedding_.joined(new)


def _links_of_new(
    data: HeteroData, fresh: dict[str, Ints], known: dict[str, set[str]]
) -> Iterator[NewLink]:
    """Yield the links between a new row and a fitted one."""
    for links in data.links:
        ends = (links.source, links.i), (links.target, links.j)
        for (a, i), (b, j) in (ends, ends[::-1]):
            if a not in fresh or b not in known:
                continue
            for row in np.flatnonzero(np.isin(i, fresh[a]) & (links.weight != 0)):
                left, right = data[a].ids[i[row]], data[b].ids[j[row]]
                if right in known[b]:
                    yield a, left, b, right, float(links.weight[row])


def known_pairs(data: HeteroData, source: str, target: str) -> Ints:
    """Return pairs that need no prediction, as sorted numbers row * m + column."""
    m = len(data[target])
    keys = [np.empty(0, np.int64)]
    for links in data.links:
        for i, j, ends in (
            (links.i, links.j, (links.source, links.target)),
            (links.j, links.i, (links.target, links.source)),
        ):
            if ends == (source, target):
                keys.append(i * m + j)
    if data[source].entity == data[target].entity:
        rows = data[target].find(data[source].ids)
        same = np.flatnonzero(rows >= 0)
        keys.append(same * m + rows[same])
    return np.unique(np.concatenate(keys))

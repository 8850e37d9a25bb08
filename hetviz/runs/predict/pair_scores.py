"""Scores of pairs of rows by a fitted method or a map, and known pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.spatial.distance import cdist

from hetviz._types import Floats, Ints
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.out_of_sample import NewLink
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError
from hetviz.features.problems.profiles import NearestProfiles
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.predict.link_predictor import LinkPredictor

PROFILES = "profiles"
PROFILES_TITLE = "Links of similar items"
_MAX_SAMPLED_PAIRS = 1_000_000


@runtime_checkable
class ScoresLinks(Protocol):
    """A fitted method with its own scores for pairs."""

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return scores (n, m) of rows at Y_source (n, k) with rows at Y_target (m, k)."""
        ...


@dataclass(frozen=True, eq=False)
class DistanceScore:
    """Score of distances on a map: the share of pairs that are farther from each other."""

    ordered: Floats  # Sorted distances of all pairs, or of a million random ones.

    @classmethod
    def of(cls, Y: Floats, Z: Floats) -> DistanceScore:
        """Return the score for coordinates (n, k) and (m, k); rows of NaN are left out."""
        placed_source, placed_target = (
            np.flatnonzero(np.isfinite(part).all(axis=1)) for part in (Y, Z)
        )
        if not len(placed_source) or not len(placed_target):
            return cls(np.empty(0))
        if len(placed_source) * len(placed_target) <= _MAX_SAMPLED_PAIRS:
            return cls(np.sort(cdist(Y[placed_source], Z[placed_target]).ravel()))
        rng = np.random.default_rng(0)
        i, j = (
            rng.choice(placed_source, _MAX_SAMPLED_PAIRS),
            rng.choice(placed_target, _MAX_SAMPLED_PAIRS),
        )
        return cls(np.sort(np.sqrt(((Y[i] - Z[j]) ** 2).sum(axis=1))))

    def __call__(self, distances: Floats) -> Floats:
        """Return the shares of distances, any shape."""
        below = np.searchsorted(self.ordered, distances, side="right")
        return np.asarray(1.0 - below / max(len(self.ordered), 1))


@dataclass(frozen=True, eq=False)
class PairScorer:
    """Scores of pairs of two datasets, with coordinates of the rows."""

    # `Y`, `Z`: shape (n, k). Coordinates of all rows of source and target, NaN without a place.
    Y: Floats
    Z: Floats
    # Takes rows of source, returns their scores with all rows of target, shape (rows, m).
    score: Callable[[Ints], Floats]
    # For a map: the score as a function of the distance, so the closest pairs are the best.
    share: DistanceScore | None = None
    predictor: LinkPredictor | None = None  # The predictor of the scores.

    @classmethod
    def of(cls, data: HeteroData, fit: FittedPredictor, source: str, target: str) -> PairScorer:
        """Return the scores of a fitted method, which places new rows first, or of a map."""
        if isinstance(fit, PairScorer):
            return fit
        if isinstance(fit, LinkPredictor):
            if (fit.source, fit.target) != (data[source].name, data[target].name):
                raise ParameterError(
                    f"predict_links: the predictor is of {fit.source} and {fit.target}, not of "
                    f"{source} and {target}."
                )
            Y, Z = fit.places
            return cls(Y, Z, fit.scores, None, fit)
        if isinstance(fit, BaseEmbedder) and not hasattr(fit, "embedding_"):
            raise HetvizError(f"{fit.card.title}: call fit before predict_links.")
        embedding = (
            fit
            if isinstance(fit, Embedding)
            else _embedding_with_new_rows(data, fit, (source, target))
        )
        places = coordinates_of(data, embedding)
        Y, Z = places[data[source].name], places[data[target].name]
        if isinstance(fit, ScoresLinks) and isinstance(fit, BaseEmbedder):
            fitted_ids = fit.embedding_.ids
            rows_of = {name: data[name].find(fitted_ids[name]) for name in (source, target)}
            columns = data[target].as_new(np.arange(len(Z)), rows_of[target])
            return cls(
                Y,
                Z,
                lambda rows: fit.link_scores(
                    data[source].as_new(rows, rows_of[source]), columns, Y[rows], Z
                ),
            )
        share = DistanceScore.of(Y, Z)
        return cls(Y, Z, lambda rows: share(cdist(np.nan_to_num(Y[rows]), np.nan_to_num(Z))), share)

    @classmethod
    def of_profiles(cls, data: HeteroData, source: str, target: str) -> PairScorer:
        """Return the scores of nearest profiles (`hetviz.features.problems.profiles`)."""
        profiles = NearestProfiles(data, source, target)
        if not profiles.applies:
            reason = "It needs links between the two datasets, and features in one of them."
            raise NotApplicableError(PROFILES_TITLE, [reason])
        return cls(_features_of(data[source]), _features_of(data[target]), profiles.scores)

    def scores(self, rows: Ints) -> Floats:
        """Return scores of rows with all targets, (rows, m), -inf without a place."""
        S = np.array(self.score(rows), dtype=np.float64)
        S[~np.isfinite(self.Y[rows]).all(axis=1)] = -np.inf
        S[:, ~np.isfinite(self.Z).all(axis=1)] = -np.inf
        return S


FittedPredictor = BaseEmbedder | Embedding | PairScorer | LinkPredictor


def _features_of(dataset: Dataset) -> Floats:
    X = np.zeros((len(dataset), 1)) if dataset.X is None else dataset.X
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _embedding_with_new_rows(
    data: HeteroData, model: BaseEmbedder, names: tuple[str, str]
) -> Embedding:
    """Return the embedding of a fitted method, extended by rows that are new to it."""
    fitted_ids = {name: set(ids) for name, ids in model.embedding_.ids.items()}
    new_rows = {
        name: np.array([row for row, text in enumerate(data[name].ids) if text not in ids])
        for name, ids in fitted_ids.items()
        if name in names
    }
    new_rows = {name: rows for name, rows in new_rows.items() if len(rows)}
    if not new_rows or Capability.OUT_OF_SAMPLE not in model.card.capabilities:
        return model.embedding_
    parts = []
    for name, rows in new_rows.items():
        columns = data[name].find(model.embedding_.ids[name])
        if (columns < 0).any() and (
            data[name].kernel is not None or data[name].distance is not None
        ):
            raise DataError.of(
                "missing-rows",
                f"dataset {name!r}",
                "new rows need a kernel or distance to every fitted row",
                remedy="Keep the fitted rows in the data.",
            )
        parts.append(data[name].as_new(rows, columns))
    new = model.transform(HeteroData(parts), _links_of_new_rows(data, new_rows, fitted_ids))
    return model.embedding_.joined(new)


def _links_of_new_rows(
    data: HeteroData, new_rows: dict[str, Ints], fitted_ids: dict[str, set[str]]
) -> Iterator[NewLink]:
    """Yield the links between a new row and a fitted one."""
    for links in data.links:
        ends = (links.source, links.i), (links.target, links.j)
        for (a, i), (b, j) in (ends, ends[::-1]):
            if a not in new_rows or b not in fitted_ids:
                continue
            for row in np.flatnonzero(np.isin(i, new_rows[a]) & (links.weight != 0)):
                left, right = data[a].ids[i[row]], data[b].ids[j[row]]
                if right in fitted_ids[b]:
                    yield a, left, b, right, float(links.weight[row])


def pair_numbers_of_links(data: HeteroData, source: str, target: str) -> Ints:
    """Return linked pairs and pairs of one object, as sorted numbers row * m + column."""
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
    # np.unique uses a hash table, which takes ten times as long for millions of numbers.
    numbers = np.sort(np.concatenate(keys))
    return numbers[np.diff(numbers, prepend=-1) > 0]

"""Scores of pairs of two datasets, fitted on their known links: ridges, nearest profiles, walks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz import params as parameters
from hetviz._types import Floats, Ints, Sparse, is_sparse
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.registry import get_method
from hetviz.core.arrays import as_dense
from hetviz.core.graph.affinities import conditional_affinities, neighbors_needed
from hetviz.core.graph.neighbors import neighbors_by_cells
from hetviz.core.kernels.kernels import RbfKernel, landmark_map, median_bandwidth
from hetviz.core.prediction.link_ridge import (
    MAX_EXACT_ROWS,
    KroneckerRidge,
    LowRankScores,
    ScoreScale,
    Spectrum,
    has_exclusive_rows,
    profile_kernel,
    rank_for,
    thin_factor,
    unit_rows,
    walk_matrix,
    walk_scores,
)
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import HetvizError
from hetviz.features.spaces.affinities import own_affinities
from hetviz.runs.predict.link_settings import (
    FEATURES,
    LINKS_ALONE,
    LINKS_OF_SOURCE,
    LINKS_OF_TARGET,
    MIXED,
    NEAREST_SOURCE,
    NEAREST_TARGET,
    PLAIN,
    SIMILARITY,
    TWO_SIDED,
    TWO_SIDED_SOURCE,
    TWO_SIDED_TARGET,
    WALKS,
    LinkSettings,
)


@dataclass(frozen=True, eq=False)
class _ItemSimilarity:
    """Similarity of the items of a dataset by features, as a kernel with mean diagonal 1."""

    K: Floats | None
    factor: Floats | None
    own: Spectrum | None

    @classmethod
    def of(cls, dataset: Dataset, random_state: int) -> _ItemSimilarity:
        n = len(dataset)
        if n <= MAX_EXACT_ROWS:
            K = similarity_kernel(dataset, random_state)
            return cls(K, None, None if K is None else Spectrum.of_kernel(K))
        F = _factor(dataset, random_state)
        return cls(None, F, None if F is None else Spectrum.of_factor(F))

    def with_profiles(self, profiles: Sparse, needs_links: bool) -> tuple[Spectrum, Spectrum]:
        """Return the spectra of an equal mixture with the similarity of links, and of this alone.

        `needs_links`: Whether the second is needed; else it may be the first.
        """
        n = profiles.shape[0]
        if n <= MAX_EXACT_ROWS:
            G = profile_kernel(profiles)
            if self.K is None:
                links = Spectrum.of_kernel(G)
                return links, links
            mixed = Spectrum.of_kernel((self.K + G) / 2)
            return mixed, Spectrum.of_kernel(G) if needs_links else mixed
        G = thin_factor(sp.csr_array(unit_rows(profiles)), rank_for(n))
        if self.factor is None:
            links = Spectrum.of_factor(G)
            return links, links
        mixed = Spectrum.of_factor(np.hstack([self.factor, G]) * np.sqrt(0.5))
        return mixed, Spectrum.of_factor(G) if needs_links else mixed


def similarity_kernel(dataset: Dataset, random_state: int) -> Floats | None:
    """Return the similarity of items, 1 on the diagonal, by kernel, distances or features."""
    if dataset.kernel is not None:
        K = np.asarray(dataset.kernel, dtype=np.float64)
        K = (K + K.T) / 2
        size = np.sqrt(np.maximum(K.diagonal(), 1e-12))
        return np.asarray(K / np.multiply.outer(size, size))
    if dataset.distance is not None:
        D = np.asarray(dataset.distance, dtype=np.float64)
        distances = D[np.triu_indices(len(D), 1)]
        width = float(np.median(distances[distances > 0])) if (distances > 0).any() else 1.0
        return np.asarray(np.exp(-0.5 * ((D + D.T) / 2 / width) ** 2))
    if dataset.X is None:
        return None
    if is_sparse(dataset.X):
        unit = unit_rows(dataset.X)
        return as_dense(unit @ unit.T)
    return RbfKernel(median_bandwidth(dataset.X, random_state))(dataset.X, dataset.X)


def _factor(dataset: Dataset, random_state: int) -> Floats | None:
    """Return rows whose inner products approximate `_kernel`, for large datasets."""
    X = dataset.X
    if X is None:
        if dataset.is_featureless:
            return None
        K = similarity_kernel(dataset, random_state)
        assert K is not None  # noqa: S101 - the dataset has a kernel or distances
        return thin_factor(
            sp.csr_array(np.linalg.cholesky(K + 1e-6 * np.eye(len(K)))), rank_for(len(K))
        )
    if is_sparse(X):
        return thin_factor(sp.csr_array(unit_rows(X)), rank_for(len(dataset)), random_state)
    kernel = RbfKernel(median_bandwidth(X, random_state))
    fitted = landmark_map(kernel, X, rank_for(len(dataset)), random_state)
    return fitted(kernel(X, X[fitted.landmarks]))


def _nearest_affinities(
    dataset: Dataset, settings: LinkSettings, random_state: int
) -> Sparse | None:
    """Return affinities to the nearest items, (n, n), approximate for many items."""
    n, X = len(dataset), dataset.X
    if X is None or n <= settings.max_exact_neighbors:
        return own_affinities(dataset, settings.perplexity)
    k, allowed = neighbors_needed(n, settings.perplexity)
    neighbors = neighbors_by_cells(X, k, random_state)
    differ = float(np.ptp(neighbors.squared)) > 1e-9 * float(neighbors.squared.max())
    return conditional_affinities(neighbors, allowed) if differ else None


class LinkProblem:
    """Similarity and other links of two datasets, which do not depend on hidden links."""

    def __init__(
        self, data: HeteroData, source: str, target: str, random_state: int, settings: LinkSettings
    ) -> None:
        self.data, self.source, self.target = data, data[source].name, data[target].name
        self.within = self.source == self.target
        self.shape = len(data[source]), len(data[target])
        self.random_state, self.settings = random_state, settings
        self.Y = signed_links(data, source, target)
        self.P = _nearest_affinities(data[source], settings, random_state)
        self.Q = (
            self.P if self.within else _nearest_affinities(data[target], settings, random_state)
        )
        self.a = _ItemSimilarity.of(data[source], random_state)
        self.b = self.a if self.within else _ItemSimilarity.of(data[target], random_state)
        self.others = [
            _profiles_of_other_links(data, name, other)
            for name, other in ((self.source, self.target), (self.target, self.source))
        ]
        together = sp.csr_array(self.Y > 0).astype(np.float64)
        self.once = (has_exclusive_rows(together), has_exclusive_rows(sp.csr_array(together.T)))
        self.spaces = data.offsets[self.source], data.offsets[self.target]
        self.base: Sparse | None = None
        if data.n_rows <= settings.max_walk_items:
            self.base = _graph_of_other_links(data, self.source, self.target)

    @property
    def n_links(self) -> int:
        """Number of linked pairs, each counted once."""
        count = int((self.Y.data > 0).sum())
        return count // 2 if self.within else count

    @property
    def has_bare_items(self) -> bool:
        """Whether an item of either dataset has no link to the other dataset."""
        together = self.Y > 0
        return any(bool((together.sum(axis=axis) == 0).any()) for axis in (0, 1))

    def unlinked_share(self, side: int) -> float:
        """Return the share of pairs on a side of `FittedScores.unlinked_sides`, 1 or 2."""
        together = self.Y > 0
        source, target = (
            float((np.asarray(together.sum(axis=axis)) == 0).mean()) for axis in (1, 0)
        )
        if side == 2:
            return target * (1.0 - source)
        return 1.0 - (1.0 - source) ** 2 if self.within else source

    def links(self) -> tuple[Ints, Ints]:
        Y = self.Y.tocoo()
        is_link = Y.data > 0
        if self.within:
            is_link &= Y.coords[0] < Y.coords[1]
        return Y.coords[0][is_link].astype(np.int64), Y.coords[1][is_link].astype(np.int64)

    def without(self, i: Ints, j: Ints) -> Sparse:
        """Return the signed links without some pairs."""
        hidden = sp.csr_array((np.ones(len(i)), (i, j)), shape=self.shape)
        if self.within:
            hidden = sp.csr_array(hidden + hidden.T)
        remaining = sp.csr_array(self.Y - self.Y.multiply(hidden > 0))
        remaining.eliminate_zeros()
        return remaining


@dataclass(frozen=True, eq=False)
class FittedScores:
    """Fitted scores of each kind, learned from some of the links."""

    problem: LinkProblem
    Y: Sparse
    ridges: Mapping[str, Mapping[float, LowRankScores]]
    solved: Mapping[str, KroneckerRidge]
    nearest: Mapping[str, Sparse]
    walk: Sparse | None
    models: Mapping[str, BaseEmbedder]
    degrees: tuple[Floats, Floats]
    scales: Mapping[str, ScoreScale] = field(default_factory=dict)
    chosen: Mapping[str, float] = field(default_factory=dict)

    def scores_of_rows(self, rows: Ints) -> dict[str, Floats]:
        """Return unscaled scores of rows of source with all rows of target, by kind."""
        problem, out = self.problem, dict[str, Floats]()
        out |= {name: scores.rows(rows) for name, scores in self._ridge_scores()}
        out |= {name: np.asarray(S[rows].toarray()) for name, S in self.nearest.items()}
        out |= self._whole_rows(rows)
        if problem.within and problem.a.own is not None:
            F = problem.a.own.features
            out[SIMILARITY] = F[rows] @ F.T
        ones = np.ones((len(rows), problem.shape[1]))
        first, second = (np.log1p(degrees) for degrees in self.degrees)
        return out | self._degree_scores(ones * first[rows, None], ones * second[None, :])

    def scores_of_pairs(self, i: Ints, j: Ints) -> dict[str, Floats]:
        """Return unscaled scores of pairs, by kind."""
        out = {name: scores.pairs(i, j) for name, scores in self._ridge_scores()}
        out |= {name: np.asarray(S[i, j]).ravel() for name, S in self.nearest.items()}
        if self.walk is not None or self.models:
            out |= self._by_rows(i, j)
        if self.problem.within and self.problem.a.own is not None:
            F = self.problem.a.own.features
            out[SIMILARITY] = LowRankScores(F, F).pairs(i, j)
        first, second = (np.log1p(degrees) for degrees in self.degrees)
        return out | self._degree_scores(first[i], second[j])

    def _ridge_scores(self) -> Iterator[tuple[str, LowRankScores]]:
        """Yield the scores of the chosen ridges, of all strengths before one is chosen."""
        for name, by_ridge in self.ridges.items():
            for ridge, scores in by_ridge.items():
                if name not in self.chosen:
                    yield ridge_name(name, ridge), scores
                elif self.chosen[name] == ridge:
                    yield name, scores

    def _degree_scores(self, first: Floats, second: Floats) -> dict[str, Floats]:
        if self.problem.within:
            return {LINKS_OF_TARGET: first + second}
        return {LINKS_OF_SOURCE: first, LINKS_OF_TARGET: second}

    def _by_rows(self, i: Ints, j: Ints) -> dict[str, Floats]:
        """Return scores of pairs for the kinds that are computed for whole rows."""
        rows, at = np.unique(i, return_inverse=True)
        order = np.argsort(at, kind="stable")
        parts: dict[str, list[Floats]] = {}
        step = max(1, self.problem.settings.block_entries // max(self.problem.shape[1], 1))
        for start in range(0, len(rows), step):
            ends = np.searchsorted(at[order], (start, start + step))
            inside = order[ends[0] : ends[1]]
            for name, S in self._whole_rows(rows[start : start + step]).items():
                parts.setdefault(name, []).append(S[at[inside] - start, j[inside]])
        back = np.argsort(order)
        return {name: np.concatenate(pieces)[back] for name, pieces in parts.items()}

    def _whole_rows(self, rows: Ints) -> dict[str, Floats]:
        problem, out = self.problem, {}
        if self.walk is not None:
            start = problem.spaces[0].start
            out[WALKS] = walk_scores(self.walk, rows + start, problem.spaces[1])
        for name, model in self.models.items():
            out[name] = model_scores(problem.data, model, problem.source, problem.target, rows)
        return out

    def unlinked_sides(self, i: Ints, j: Ints) -> Ints:
        """Return which item of each pair has no link: 0 none, 1 source, 2 target alone.

        Within a dataset 1 stands for either.
        """
        source, target = self.degrees[0][i] == 0, self.degrees[1][j] == 0
        return np.where(source, 1, np.where(target, 1 if self.problem.within else 2, 0))


def signed_links(data: HeteroData, source: str, target: str) -> Sparse:
    """Return the links of two datasets, (n, m): 1 together, -1 apart; symmetric within one."""
    Y = sp.csr_array((len(data[source]), len(data[target])))
    for links in data.links:
        sign = np.sign(links.weight)
        for i, j, ends in (
            (links.i, links.j, (links.source, links.target)),
            (links.j, links.i, (links.target, links.source)),
        ):
            if ends == (data[source].name, data[target].name):
                Y = Y + sp.csr_array((sign, (i, j)), shape=Y.shape)
    Y = sp.csr_array(Y)
    Y.data = np.sign(Y.data)
    Y.eliminate_zeros()
    return Y


def fit_scores(problem: LinkProblem, Y: Sparse, axes_of: Mapping[str, int]) -> FittedScores:
    """Fit all scores on signed links; `axes_of` has the members and their numbers of axes."""
    together = sp.csr_array(Y > 0).astype(np.float64)
    degrees = (
        np.asarray(together.sum(axis=1), dtype=np.float64).ravel(),
        np.asarray(together.sum(axis=0), dtype=np.float64).ravel(),
    )
    together_or_same = together
    if problem.within:
        together_or_same = sp.csr_array(together + sp.eye_array(problem.shape[0]))
    left = _spectra(problem.a, together_or_same, problem.others[0], problem.P)
    right = left
    if not problem.within:
        right = _spectra(problem.b, sp.csr_array(together.T), problem.others[1], problem.Q)
    target = sp.csr_array(Y + sp.eye_array(problem.shape[0])) if problem.within else Y
    has_features = problem.a.own is not None or problem.b.own is not None
    solved = {
        name: KroneckerRidge.of(target, left[name], right[name])
        for name in ((FEATURES, MIXED, PLAIN, LINKS_ALONE) if has_features else (MIXED,))
    }
    ridges = {
        name: {ridge: ridge_fit.scores(ridge) for ridge in problem.settings.ridges}
        for name, ridge_fit in solved.items()
    }
    ridges |= _two_sided_ridges(problem, target, left, right)
    nearest = {}
    if problem.P is not None:
        nearest_links = sp.csr_array(problem.P @ together)
        nearest[NEAREST_SOURCE] = (
            sp.csr_array((nearest_links + nearest_links.T) / 2) if problem.within else nearest_links
        )
    if problem.Q is not None and not problem.within:
        nearest[NEAREST_TARGET] = sp.csr_array(together @ problem.Q.T)
    walk = None
    if problem.base is not None:
        walk = walk_matrix(_joined_graph(problem, together))
    models = {}
    data = data_with_links(problem, Y) if axes_of else problem.data
    for name, axes in axes_of.items():
        params = {**problem.settings.member_params.get(name, {}), "n_components": axes}
        model = fit_quietly(data, name, params, problem.random_state)
        if model is not None:
            models[name] = model
    return FittedScores(problem, Y, ridges, solved, nearest, walk, models, degrees)


def _spectra(
    items: _ItemSimilarity, profiles: Sparse, others: Sparse | None, affinities: Sparse | None
) -> dict[str, Spectrum]:
    """Return the spectra of the kernels of each ridge, for the items of one dataset."""
    if others is not None:
        profiles = sp.csr_array(sp.hstack([profiles, others]))
    filled = _fill_empty_profiles(profiles, affinities)
    plain, links = items.with_profiles(profiles, needs_links=True)
    mixed = plain if filled is profiles else items.with_profiles(filled, needs_links=False)[0]
    features = links if items.own is None else items.own
    return {FEATURES: features, MIXED: mixed, PLAIN: plain, LINKS_ALONE: links}


def _two_sided_ridges(
    problem: LinkProblem, Y: Sparse, left: Mapping[str, Spectrum], right: Mapping[str, Spectrum]
) -> dict[str, dict[float, LowRankScores]]:
    """Return two-sided ridges, on links and features, and on the features alone of one side.

    The features alone suit items without links best.
    """
    kinds = {TWO_SIDED: (MIXED, MIXED)}
    if problem.a.own is not None and not problem.within:
        kinds[TWO_SIDED_SOURCE] = (FEATURES, MIXED)
    if problem.b.own is not None and not problem.within:
        kinds[TWO_SIDED_TARGET] = (MIXED, FEATURES)
    ridge = problem.settings.two_sided_ridge
    return {
        name: {ridge: KroneckerRidge.of(Y, left[a], right[b]).two_sided_scores(ridge)}
        for name, (a, b) in kinds.items()
    }


def _fill_empty_profiles(profiles: Sparse, affinities: Sparse | None) -> Sparse:
    """Give items without any link the mean profile of their most similar items."""
    is_empty = np.asarray(abs(profiles).sum(axis=1)).ravel() == 0
    if affinities is None or not is_empty.any():
        return profiles
    selector = sp.diags_array(is_empty.astype(np.float64))
    return sp.csr_array(profiles + selector @ (affinities @ profiles))


def _profiles_of_other_links(data: HeteroData, name: str, other: str) -> Sparse | None:
    """Return the links of the items of a dataset to all datasets but one."""
    parts = []
    for third in data.datasets:
        if third == other:
            continue
        Y = signed_links(data, name, third)
        Y.data = np.maximum(Y.data, 0.0)
        if not Y.nnz:
            continue
        parts.append(Y + sp.eye_array(Y.shape[0]) if third == name else Y)
    return sp.csr_array(sp.hstack(parts)) if parts else None


def _graph_of_other_links(data: HeteroData, source: str, target: str) -> Sparse:
    """Return the graph of all positive links except those between two datasets."""
    ends = ({source, target},)
    other_links = [group for group in data.links if {group.source, group.target} not in ends]
    W = HeteroData(data.datasets, other_links).adjacency(1)
    objects = data.object_of
    has_views = np.bincount(objects)[objects] > 1
    if has_views.any():
        S = sp.csr_array(
            (has_views.astype(np.float64), (np.arange(len(objects)), objects)),
            shape=(len(objects), int(objects.max()) + 1),
        )
        same_object = sp.csr_array(S @ S.T)
        W = sp.csr_array(W + same_object - sp.diags_array(same_object.diagonal()))
    return W


def _joined_graph(problem: LinkProblem, together: Sparse) -> Sparse:
    assert problem.base is not None  # noqa: S101 - callers check it
    Y = together.tocoo()
    p, q = Y.coords[0] + problem.spaces[0].start, Y.coords[1] + problem.spaces[1].start
    W = sp.csr_array((Y.data, (p, q)), shape=problem.base.shape)
    return sp.csr_array(problem.base + (W if problem.within else W + W.T))


def data_with_links(problem: LinkProblem, Y: Sparse) -> HeteroData:
    """Return the data with the links `Y` between the two datasets."""
    ends = {problem.source, problem.target}
    other_links = [group for group in problem.data.links if {group.source, group.target} != ends]
    entries = Y.tocoo()
    i, j = entries.coords
    is_used = i < j if problem.within else np.ones(len(i), dtype=bool)
    links = Links(problem.source, problem.target, i[is_used], j[is_used], entries.data[is_used])
    return HeteroData(problem.data.datasets, [*other_links, links])


def fit_quietly(
    data: HeteroData, key: str, params: Mapping[str, object], seed: int
) -> BaseEmbedder | None:
    """Return a fitted method, or None if it does not suit the remaining links."""
    kind = get_method(key)
    all_params = {**params, "random_state": seed}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(**parameters.check(key, kind.params, all_params)).fit(data)
    except HetvizError:
        return None


def model_scores(
    data: HeteroData, model: BaseEmbedder, source: str, target: str, rows: Ints
) -> Floats:
    """Return the scores of a method for rows of source with all rows of target."""
    places = model.embedding_.coordinates
    Y, Z = places[source], places[target]
    scorer: Any = model  # One of the methods with `link_scores`.
    scores = scorer.link_scores(
        data[source].as_new(rows, np.arange(len(Y))), data[target], Y[rows], Z
    )
    return np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0)


def ridge_name(name: str, ridge: float) -> str:
    """Return the name of a score before its ridge is chosen."""
    return f"{name}, ridge {ridge:g}"

"""Default link predictor: simple scores combined with weights learned on hidden links."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score

from hetviz import params as parameters
from hetviz._types import Bools, Floats, Ints, Sparse, is_sparse
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.memory import MemoryEstimate, memory_refusal
from hetviz.algorithms.registry import get_method
from hetviz.core.graph.affinities import conditional_affinities, neighbors_needed
from hetviz.core.graph.neighbors import neighbors_by_cells
from hetviz.core.kernels.kernels import RbfKernel, landmark_map, median_bandwidth
from hetviz.core.prediction.link_ridge import (
    MAX_EXACT_ROWS,
    KroneckerRidge,
    LowRankScores,
    ScoreScale,
    ScoreStack,
    Spectrum,
    best_products,
    has_exclusive_rows,
    largest,
    profile_kernel,
    rank_for,
    thin_factor,
    unit_rows,
    walk_matrix,
    walk_scores,
)
from hetviz.core.spectral.blocks import as_dense
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import HetvizError, NotApplicableError, ParameterError
from hetviz.features.spaces.affinities import own_affinities
from hetviz.progress import Progress, ignore_progress

TITLE = "Links and similarity combined"
STACK = "stack"
FEATURES, MIXED, LINKS_ALONE = "features", "features and links", "links alone"
NEAREST_SOURCE, NEAREST_TARGET = "nearest profiles of source", "nearest profiles of target"
WALKS, SIMILARITY = "walks", "likeness"
LINKS_OF_SOURCE, LINKS_OF_TARGET = "links of source", "links of target"
ALL = "all"
FACTORISATIONS = ("kbmf2k", "pmvge")
AXES = (2, 5, 10, 20)
AXES_CHOSEN = ("kbmf2k", "pmvge", "mkpe")
HIDDEN_SHARE = 0.2

_SHARES_OF_PROFILES = {FEATURES: 0.0, MIXED: 0.5, LINKS_ALONE: 1.0}
_RIDGES = (0.1, 1.0, 10.0)
_PERPLEXITY = 5.0
_SMALL_LINKS_LIMIT, _MANY_LINKS_LIMIT, _VERY_MANY_LINKS_LIMIT = 500, 5_000, 50_000
_MAX_EXACT_NEIGHBORS, _TINY = 8_000, 1e-9
_MAX_WALK_ITEMS = 12_000
# Memory does not grow with the number of pairs: 340 MB were measured for 1,500 and 6,000 items.
_MEMORY_ESTIMATE = MemoryEstimate(base=400e6)
_MAX_PAIRS_FOR_MEMBERS = 30_000
_MAX_JUDGED_ROWS, _MAX_JUDGED_PAIRS, _MAX_JUDGED_LINKS = 1_500, 20_000, 5_000
_MIN_LINKS = 10
_MIN_COLD_LINKS = 5
_PRIOR_ITEMS = 5
_ENTRIES = 4_000_000
_FAST_PARAMS: Mapping[str, Mapping[str, object]] = {"kbmf2k": {"n_iter": 60}}


@dataclass(frozen=True, eq=False)
class _SampledPairs:
    """Sampled pairs with hidden links; `counts` is how many candidates each represents."""

    i: Ints
    j: Ints
    is_link: Bools
    counts: Floats


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
            K = _kernel(dataset, random_state)
            return cls(K, None, None if K is None else Spectrum.of_kernel(K))
        F = _factor(dataset, random_state)
        return cls(None, F, None if F is None else Spectrum.of_factor(F))

    def with_profiles(self, profiles: Sparse, shares: Sequence[float]) -> list[Spectrum]:
        """Return the spectra of mixtures with the similarity of link profiles, by share."""
        n = profiles.shape[0]
        if n <= MAX_EXACT_ROWS:
            G = profile_kernel(profiles)
            K = G if self.K is None else self.K
            kernels = [(1 - share) * K + share * G for share in shares]
            return [
                self.own if share == 0.0 and self.own is not None else Spectrum.of_kernel(mixed)
                for share, mixed in zip(shares, kernels, strict=True)
            ]
        F, spectrum = self.factor, self.own
        G = thin_factor(sp.csr_array(unit_rows(profiles)), rank_for(n))
        spectra = []
        for share in shares:
            if F is None or spectrum is None or share == 1.0:
                spectra.append(Spectrum.of_factor(G))
            elif share == 0.0:
                spectra.append(spectrum)
            else:
                combined = np.hstack([np.sqrt(1 - share) * F, np.sqrt(share) * G])
                spectra.append(Spectrum.of_factor(combined))
        return spectra


def _kernel(dataset: Dataset, random_state: int) -> Floats | None:
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
        K = _kernel(dataset, random_state)
        assert K is not None  # noqa: S101 - the dataset has a kernel or distances
        return thin_factor(
            sp.csr_array(np.linalg.cholesky(K + 1e-6 * np.eye(len(K)))), rank_for(len(K))
        )
    if is_sparse(X):
        return thin_factor(sp.csr_array(unit_rows(X)), rank_for(len(dataset)), random_state)
    kernel = RbfKernel(median_bandwidth(X, random_state))
    fitted = landmark_map(kernel, X, rank_for(len(dataset)), random_state)
    return fitted(kernel(X, X[fitted.landmarks]))


def _nearest_affinities(dataset: Dataset, random_state: int) -> Sparse | None:
    """Return affinities to the nearest items, (n, n), approximate for many items."""
    n, X = len(dataset), dataset.X
    if X is None or n <= _MAX_EXACT_NEIGHBORS:
        return own_affinities(dataset, _PERPLEXITY)
    k, allowed = neighbors_needed(n, _PERPLEXITY)
    neighbors = neighbors_by_cells(X, k, random_state)
    differ = float(np.ptp(neighbors.squared)) > _TINY * float(neighbors.squared.max())
    return conditional_affinities(neighbors, allowed) if differ else None


class _LinkProblem:
    """Similarity and other links of two datasets, which do not depend on hidden links."""

    def __init__(self, data: HeteroData, source: str, target: str, random_state: int) -> None:
        self.data, self.source, self.target = data, data[source].name, data[target].name
        self.within = self.source == self.target
        self.shape = len(data[source]), len(data[target])
        self.random_state = random_state
        self.Y = signed_links(data, source, target)
        self.P = _nearest_affinities(data[source], random_state)
        self.Q = self.P if self.within else _nearest_affinities(data[target], random_state)
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
        if data.n_rows <= _MAX_WALK_ITEMS:
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

    def links(self) -> tuple[Ints, Ints]:
        """Return the linked pairs, each once."""
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
class _FittedScores:
    """Fitted scores of each kind, learned from some of the links."""

    problem: _LinkProblem
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
        problem = self.problem
        out: dict[str, Floats] = {}
        for name, by_ridge in self.ridges.items():
            for ridge, scores in by_ridge.items():
                if name not in self.chosen or self.chosen[name] == ridge:
                    out[name if name in self.chosen else _ridge_name(name, ridge)] = scores.rows(
                        rows
                    )
        for name, S in self.nearest.items():
            out[name] = np.asarray(S[rows].toarray())
        out |= self._whole_rows(rows)
        if problem.within and problem.a.own is not None:
            F = problem.a.own.features
            out[SIMILARITY] = F[rows] @ F.T
        ones = np.ones((len(rows), problem.shape[1]))
        out[LINKS_OF_SOURCE] = ones * np.log1p(self.degrees[0][rows])[:, None]
        out[LINKS_OF_TARGET] = ones * np.log1p(self.degrees[1])[None, :]
        if problem.within:
            both = out.pop(LINKS_OF_SOURCE) + out.pop(LINKS_OF_TARGET)
            out[LINKS_OF_TARGET] = both
        return out

    def scores_of_pairs(self, i: Ints, j: Ints) -> dict[str, Floats]:
        """Return unscaled scores of pairs, by kind."""
        out: dict[str, Floats] = {}
        for name, by_ridge in self.ridges.items():
            for ridge, scores in by_ridge.items():
                if name not in self.chosen or self.chosen[name] == ridge:
                    key = name if name in self.chosen else _ridge_name(name, ridge)
                    out[key] = scores.pairs(i, j)
        for name, S in self.nearest.items():
            out[name] = np.asarray(S[i, j]).ravel()
        if self.walk is not None or self.models:
            out |= self._by_rows(i, j)
        if self.problem.within and self.problem.a.own is not None:
            F = self.problem.a.own.features
            out[SIMILARITY] = LowRankScores(F, F).pairs(i, j)
        out[LINKS_OF_SOURCE] = np.log1p(self.degrees[0][i])
        out[LINKS_OF_TARGET] = np.log1p(self.degrees[1][j])
        if self.problem.within:
            out[LINKS_OF_TARGET] = out.pop(LINKS_OF_SOURCE) + out[LINKS_OF_TARGET]
        return out

    def _by_rows(self, i: Ints, j: Ints) -> dict[str, Floats]:
        """Return scores of pairs for the kinds that are computed for whole rows."""
        rows, at = np.unique(i, return_inverse=True)
        order = np.argsort(at, kind="stable")
        parts: dict[str, list[Floats]] = {}
        step = max(1, _ENTRIES // max(self.problem.shape[1], 1))
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
            out[name] = _model_scores(problem.data, model, problem.source, problem.target, rows)
        return out

    def is_cold(self, i: Ints, j: Ints) -> Bools:
        """Return a mask of pairs with an item that has no link between the two datasets."""
        return np.asarray((self.degrees[0][i] == 0) | (self.degrees[1][j] == 0))


@dataclass(frozen=True, eq=False)
class LinkPredictor:
    """Probabilities of links between two datasets, from `fit_link_predictor`.

    Attributes
    ----------
    data : HeteroData
    source, target : str
    weights : mapping of str to float
        Weight of each kind of score, for a rise from the median pair to the best hundredth.
    judged : mapping of str to float
        Average precision on hidden links of each kind of score and of their combination, "all";
        empty with too few links to hide any.
    once : tuple of bool
        Whether each item of source, and of target, has at most one link in the known links.
    n_links : int
        Number of known links for learning.
    """

    data: HeteroData
    source: str
    target: str
    weights: Mapping[str, float]
    judged: Mapping[str, float]
    once: tuple[bool, bool]
    n_links: int
    _fit: _FittedScores
    _warm: ScoreStack
    _cold: ScoreStack

    def scores(self, rows: Ints) -> Floats:
        """Return probabilities of rows of source with all rows of target, shape (rows, m).

        It is the probability that a pair is a missing link, if a fifth of all links is missing, as
        during learning.
        """
        rows = np.asarray(rows, dtype=np.int64)
        i = np.repeat(rows[:, None], self._fit.problem.shape[1], axis=1)
        j = np.broadcast_to(np.arange(i.shape[1]), i.shape)
        return self._probability(self._fit.scores_of_rows(rows), i, j)

    def pair_scores(self, i: Ints, j: Ints) -> Floats:
        """Return probabilities of pairs, shape (p,); see `scores`."""
        return self._probability(self._fit.scores_of_pairs(i, j), i, j)

    def _probability(self, raw: Mapping[str, Floats], i: Ints, j: Ints) -> Floats:
        scaled = {name: self._fit.scales[name](S) for name, S in raw.items()}
        degrees = self._fit.degrees
        is_cold = self._fit.is_cold(i, j)
        p = np.where(is_cold, self._cold.probability(scaled), self._warm.probability(scaled))
        if self.once[0]:
            p[degrees[0][i] > 0] = 0.0
        if self.once[1]:
            p[degrees[1][j] > 0] = 0.0
        return p

    def best_pairs(self, rows: Ints, count: int, linked_pairs: Ints) -> tuple[Ints, Ints]:
        """Return the `count` best unknown pairs by each weighted kind of score.

        Known pairs are sorted numbers i * m + j. Memory is bounded, and of many pairs only those
        in promising cells are computed (`hetviz.core.prediction.link_ridge.best_products`).
        """
        candidates: list[Ints] = []
        m = self._fit.problem.shape[1]
        for name in self._fit.ridges:
            if self.weights.get(name, 0.0) > 0.0:
                scores = self._fit.ridges[name][self._fit.chosen[name]]
                i, j = best_products(scores.left, scores.right, rows, count, linked_pairs)
                candidates.append(i * m + j)
        for name, S in self._fit.nearest.items():
            if self.weights.get(name, 0.0) > 0.0:
                part = sp.csr_array(S[rows]).tocoo()
                numbers = rows[part.coords[0]] * m + part.coords[1]
                is_unknown = ~np.isin(numbers, linked_pairs)
                candidates.append(numbers[is_unknown][largest(part.data[is_unknown], count)])
        pairs = np.unique(np.concatenate(candidates)) if candidates else np.empty(0, np.int64)
        return pairs // m, pairs % m

    @cached_property
    def places(self) -> tuple[Floats, Floats]:
        """Coordinates of the rows of both datasets that the predictor compares within each."""
        solved = self._fit.solved[MIXED]
        return solved.a.features, solved.b.features

    def supporting_links(self, i: int, j: int, count: int = 3) -> list[tuple[int, int, float]]:
        """Return the known links that support a pair most, with their shares of the score.

        The ridge on features and links scores (i, j) as a sum over known links (k, l) of
        K_a(i, k) A_kl K_b(l, j).
        """
        k, l_, weight = self._link_coefficients
        a, b = self.places
        part = (a @ a[i])[k] * weight * (b @ b[j])[l_]
        total = float(np.abs(part).sum()) or 1.0
        best = largest(part, count)
        return [(int(k[r]), int(l_[r]), float(part[r]) / total) for r in best if part[r] > 0]

    @cached_property
    def _link_coefficients(self) -> tuple[Ints, Ints, Floats]:
        """Known links with their coefficients in the ridge."""
        k, l_ = (rows.astype(np.int64) for rows in self._fit.Y.tocoo().coords)
        dual = self._fit.solved[MIXED].weights(self._fit.chosen[MIXED])
        return k, l_, dual.pairs(k, l_)

    def most_similar(self, side: str, row: int, count: int = 5) -> Ints:
        """Return the rows most similar to a row of "source" or "target"."""
        similarity = self._fit.problem.a if side == "source" else self._fit.problem.b
        F = similarity.own.features if similarity.own is not None else None
        if F is None:
            F = self.places[0 if side == "source" else 1]
        scores = F @ F[row]
        scores[row] = -np.inf
        return largest(scores, count)


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


@one_thread()
def fit_link_predictor(
    data: HeteroData,
    source: str,
    target: str,
    *,
    members: Sequence[str] | None = None,
    quick: bool = False,
    random_state: int = 0,
    progress: Progress | None = None,
) -> LinkPredictor:
    """Learn which items of two datasets are linked, from similarity and known links.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Datasets; they may be the same.
    members : sequence of str, optional
        Methods whose own scores are added: "kbmf2k", "pmvge". When absent both, if the two datasets
        have at most 30,000 pairs; with more they would take minutes.
    quick : bool
        Hide links only once, and skip these methods.
    random_state : int
    progress : callable, optional

    Returns
    -------
    LinkPredictor

    Raises
    ------
    hetviz.errors.DataError
        For an unknown dataset.
    hetviz.errors.ParameterError
        For an unknown member.
    hetviz.errors.NotApplicableError
        If the two datasets have no link, or memory is too small.

    Notes
    -----
    The scores are: Kronecker ridge with kernels of features, of links (Gaussian interaction
    profiles over the links to all datasets), and of both (van Laarhoven et al. 2011); weighted
    nearest profiles, which also replace the profile of an item without links; random walks over
    all links of the data; within a dataset the similarity itself; and the number of links of each
    item. A fifth of the links is hidden, one to five times. The strengths of the ridges and the
    weights of a logistic regression are chosen on the hidden links, and if a single score is
    better than the combination, it is used alone. For items without any link, the weights are
    learned by hiding all links of some items.

    Costs two eigenproblems for each ridge, O(n^3 + m^3) up to 800 items and O(n r^2) with r from
    512 down to 96 above. Walks cost O(links n) for all pairs and are skipped above 12,000 items.
    Above 8,000 items of a dataset, nearest items by features are approximate.
    """
    report = ignore_progress if progress is None else progress
    unknown = [name for name in members or () if name not in FACTORISATIONS]
    if unknown:
        raise ParameterError(
            f"fit_link_predictor: members = {list(members or ())}. Use one of: "
            f"{', '.join(FACTORISATIONS)}."
        )
    report(0.0, "Comparing items")
    problem = _LinkProblem(data, source, target, random_state)
    if not problem.n_links:
        reason = f"It needs links between {source} and {target}, and there are none."
        raise NotApplicableError(TITLE, [reason])
    if (too_much := memory_refusal(_MEMORY_ESTIMATE.total_bytes(data), data.n_rows)) is not None:
        raise NotApplicableError(TITLE, [too_much])
    if members is None:
        is_small = not quick and problem.shape[0] * problem.shape[1] <= _MAX_PAIRS_FOR_MEMBERS
        members = FACTORISATIONS if is_small and not problem.within else ()
    rounds = 1 if quick else 5 if problem.n_links < _SMALL_LINKS_LIMIT else 3
    if problem.n_links > _MANY_LINKS_LIMIT:
        rounds = min(rounds, 2 if problem.n_links <= _VERY_MANY_LINKS_LIMIT else 1)
    tests, colds = [], []
    settings: dict[str, int] = {}
    has_enough_links = problem.n_links >= _MIN_LINKS
    steps = (rounds + 1 if has_enough_links else 0) + 1
    if has_enough_links:
        settings = {name: _best_axes(problem, name, _FAST_PARAMS.get(name, {})) for name in members}
        for number in range(rounds):
            report(number / steps, "Learning from hidden links")
            tests.append(_test_hidden_links(problem, settings, random_state + number))
        if problem.has_bare_items:
            report(rounds / steps, "Learning from hidden items")
            colds.append(_test_hidden_items(problem, settings, random_state))
    report((steps - 1) / steps, "Learning from all links")
    final = _fit_scores(problem, problem.Y, settings)
    ridges = _best_ridges(final, tests)
    final = _add_scales(replace(final, chosen=ridges))
    tests = [_keep_chosen_ridges(test, ridges) for test in tests]
    cold_tests = [_keep_chosen_ridges(test, ridges) for test in colds if test is not None]
    warm, judged = _fit_stack(tests)
    cold = _fit_cold_stack(tests, cold_tests, warm, problem.shape[1])
    report(1.0, "Done")
    weights = dict(zip(warm.names, warm.weights.tolist(), strict=True))
    return LinkPredictor(
        data,
        problem.source,
        problem.target,
        weights,
        judged,
        problem.once,
        problem.n_links,
        final,
        warm,
        cold,
    )


@dataclass(frozen=True, eq=False)
class _HiddenTest:
    """Pairs with hidden links, and the scores of a fit that did not see these."""

    pairs: _SampledPairs
    scores: Mapping[str, Floats]
    is_cold: Bools
    scales: Mapping[str, ScoreScale]


def _fit_scores(problem: _LinkProblem, Y: Sparse, settings: Mapping[str, int]) -> _FittedScores:
    together = sp.csr_array(Y > 0).astype(np.float64)
    degrees = (
        np.asarray(together.sum(axis=1), dtype=np.float64).ravel(),
        np.asarray(together.sum(axis=0), dtype=np.float64).ravel(),
    )
    together_or_same = together
    if problem.within:
        together_or_same = sp.csr_array(together + sp.eye_array(problem.shape[0]))
    profiles = [
        _fill_empty_profiles(
            sp.csr_array(sp.hstack([part, other_profiles])) if other_profiles is not None else part,
            nearest_links,
        )
        for part, other_profiles, nearest_links in zip(
            (together_or_same, sp.csr_array(together_or_same.T)),
            problem.others,
            (problem.P, problem.Q),
            strict=True,
        )
    ]
    solved: dict[str, KroneckerRidge] = {}
    target = sp.csr_array(Y + sp.eye_array(problem.shape[0])) if problem.within else Y
    no_features = problem.a.own is None and problem.b.own is None
    kinds = {
        name: share
        for name, share in _SHARES_OF_PROFILES.items()
        if not no_features or name == MIXED
    }
    left = problem.a.with_profiles(profiles[0], list(kinds.values()))
    right = left
    if not problem.within:
        right = problem.b.with_profiles(profiles[1], list(kinds.values()))
    for name, a, b in zip(kinds, left, right, strict=True):
        solved[name] = KroneckerRidge.of(target, a, b)
    ridges = {
        name: {ridge: ridge_fit.scores(ridge) for ridge in _RIDGES}
        for name, ridge_fit in solved.items()
    }
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
    data_with_links = _data_with_links(problem, Y) if settings else problem.data
    for name, axes in settings.items():
        params = {**_FAST_PARAMS.get(name, {}), "n_components": axes}
        model = _fit_quietly(data_with_links, name, params, problem.random_state)
        if model is not None:
            models[name] = model
    return _FittedScores(problem, Y, ridges, solved, nearest, walk, models, degrees)


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


def _joined_graph(problem: _LinkProblem, together: Sparse) -> Sparse:
    assert problem.base is not None  # noqa: S101 - callers check it
    Y = together.tocoo()
    p, q = Y.coords[0] + problem.spaces[0].start, Y.coords[1] + problem.spaces[1].start
    W = sp.csr_array((Y.data, (p, q)), shape=problem.base.shape)
    return sp.csr_array(problem.base + (W if problem.within else W + W.T))


def _data_with_links(problem: _LinkProblem, Y: Sparse) -> HeteroData:
    """Return the data with the links `Y` between the two datasets."""
    ends = {problem.source, problem.target}
    other_links = [group for group in problem.data.links if {group.source, group.target} != ends]
    entries = Y.tocoo()
    i, j = entries.coords
    is_used = i < j if problem.within else np.ones(len(i), dtype=bool)
    links = Links(problem.source, problem.target, i[is_used], j[is_used], entries.data[is_used])
    return HeteroData(problem.data.datasets, [*other_links, links])


def _fit_quietly(
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


def _model_scores(
    data: HeteroData, model: BaseEmbedder, source: str, target: str, rows: Ints
) -> Floats:
    places = model.embedding_.coordinates
    Y, Z = places[source], places[target]
    scores = model.link_scores(
        data[source].as_new(rows, np.arange(len(Y))), data[target], Y[rows], Z
    )
    return np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0)


def choose_axes(
    data: HeteroData,
    key: str,
    source: str,
    target: str,
    params: Mapping[str, object] | None = None,
    random_state: int = 0,
) -> int:
    """Return the number of axes of a method that finds most hidden links: 2, 5, 10 or 20.

    Parameters
    ----------
    data : HeteroData
    key : str
        Key of a method with its own scores, such as "kbmf2k", "pmvge" or "mkpe".
    source, target : str
    params : mapping, optional
        Parameters of the method, except its axes.
    random_state : int

    Notes
    -----
    Uses average precision on a hidden fifth of the links; the fewest of equals. Costs four fits.
    """
    problem = _LinkProblem(data, source, target, random_state)
    if problem.n_links < _MIN_LINKS:
        return AXES[0]
    return _best_axes(problem, key, dict(params or {}))


def with_chosen_axes(
    data: HeteroData,
    key: str,
    source: str,
    target: str,
    params: Mapping[str, object],
    random_state: int,
) -> dict[str, object]:
    """Return parameters of a method with the best number of axes, unless they give one."""
    if key not in AXES_CHOSEN or "n_components" in params:
        return dict(params)
    axes = choose_axes(data, key, source, target, params, random_state)
    return {**params, "n_components": axes}


def _best_axes(problem: _LinkProblem, key: str, params: Mapping[str, object]) -> int:
    i, j, pairs = _hide_links(problem, problem.random_state)
    remaining = _data_with_links(problem, problem.without(i, j))
    precision_by_axes: dict[int, float] = {}
    for axes in AXES:
        model = _fit_quietly(remaining, key, {**params, "n_components": axes}, problem.random_state)
        if model is None:
            continue
        rows, at = np.unique(pairs.i, return_inverse=True)
        S = _model_scores(problem.data, model, problem.source, problem.target, rows)
        precision_by_axes[axes] = _average_precision(pairs, S[at, pairs.j])
    return (
        max(precision_by_axes, key=lambda axes: (precision_by_axes[axes], -axes))
        if precision_by_axes
        else AXES[0]
    )


def _hide_links(problem: _LinkProblem, seed: int) -> tuple[Ints, Ints, _SampledPairs]:
    """Sample links to hide, and pairs to judge: these and pairs without a link."""
    rng = np.random.default_rng((seed, 17))
    i, j = problem.links()
    hidden = np.sort(rng.permutation(len(i))[: max(1, round(HIDDEN_SHARE * len(i)))])
    return i[hidden], j[hidden], _judged_pairs(problem, i[hidden], j[hidden], rng)


def _judged_pairs(
    problem: _LinkProblem, i: Ints, j: Ints, rng: np.random.Generator, rows: Ints | None = None
) -> _SampledPairs:
    n, m = problem.shape
    if rows is None:
        rows = np.arange(n)
        if n > _MAX_JUDGED_ROWS:
            rows = np.sort(rng.choice(n, _MAX_JUDGED_ROWS, replace=False))
    if problem.within:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    in_rows = np.isin(i, rows)
    i, j = i[in_rows], j[in_rows]
    if len(i) > _MAX_JUDGED_LINKS:
        sampled_links = np.sort(rng.permutation(len(i))[:_MAX_JUDGED_LINKS])
        i, j = i[sampled_links], j[sampled_links]
    size = len(rows) * m
    count = min(size, _MAX_JUDGED_PAIRS + len(i))
    sampled = (
        rng.choice(size, count, replace=False)
        if size < 50_000_000
        else _sample_numbers(rng, size, count)
    )
    p, q = rows[sampled // m], sampled % m
    is_unknown = np.asarray(problem.Y[p, q]).ravel() == 0
    if problem.within:
        is_unknown &= p != q
    candidates = size - (problem.Y[rows].nnz if len(rows) < n else problem.Y.nnz)
    p, q = p[is_unknown], q[is_unknown]
    weight = max(1.0, candidates / max(len(p), 1))
    return _SampledPairs(
        np.concatenate([i, p]),
        np.concatenate([j, q]),
        np.arange(len(i) + len(p)) < len(i),
        np.concatenate([np.ones(len(i)), np.full(len(p), weight)]),
    )


def _sample_numbers(rng: np.random.Generator, size: int, count: int) -> Ints:
    return np.unique(rng.integers(0, size, count))


def _test_hidden_links(
    problem: _LinkProblem, settings: Mapping[str, int], seed: int
) -> _HiddenTest:
    i, j, pairs = _hide_links(problem, seed)
    return _test_on(problem, problem.without(i, j), pairs, settings)


def _test_hidden_items(
    problem: _LinkProblem, settings: Mapping[str, int], seed: int
) -> _HiddenTest | None:
    """Hide all links of a tenth of the linked items of each dataset."""
    rng = np.random.default_rng((seed, 23))
    i, j = problem.links()
    is_hidden = np.zeros(len(i), dtype=bool)
    rows = np.empty(0, np.int64)
    for ends in (i, j):
        linked = np.unique(ends)
        sampled = rng.permutation(linked)[: max(1, len(linked) // 10)]
        is_hidden |= np.isin(ends, sampled)
        if ends is i:
            rows = sampled
    if is_hidden.all() or (~is_hidden).sum() < _MIN_LINKS:
        return None
    # Other rows are needed for the hidden columns, at least as many as hidden rows.
    other_rows = rng.permutation(problem.shape[0])[
        : max(len(rows), min(_MAX_JUDGED_ROWS, problem.shape[0]))
    ]
    judged = np.unique(np.concatenate([rows, other_rows]))
    pairs = _judged_pairs(problem, i[is_hidden], j[is_hidden], rng, judged)
    return _test_on(problem, problem.without(i[is_hidden], j[is_hidden]), pairs, settings)


def _test_on(
    problem: _LinkProblem, Y: Sparse, pairs: _SampledPairs, settings: Mapping[str, int]
) -> _HiddenTest:
    fit = _fit_scores(problem, Y, settings)
    scores = fit.scores_of_pairs(pairs.i, pairs.j)
    not_link = ~pairs.is_link
    scales = {name: ScoreScale.of(S[not_link]) for name, S in scores.items()}
    cold = fit.is_cold(pairs.i, pairs.j)
    allowed = np.ones(len(cold), dtype=bool)
    if problem.once[0]:
        allowed &= fit.degrees[0][pairs.i] == 0
    if problem.once[1]:
        allowed &= fit.degrees[1][pairs.j] == 0
    if any(problem.once):
        # Items that may have one link and have it are no candidates.
        pairs = _SampledPairs(*(part[allowed] for part in vars(pairs).values()))
        scores = {name: S[allowed] for name, S in scores.items()}
        cold = cold[allowed]
    return _HiddenTest(pairs, scores, cold, scales)


def _add_scales(fit: _FittedScores) -> _FittedScores:
    rng = np.random.default_rng(fit.problem.random_state)
    no_rows = np.empty(0, np.int64)
    pairs = _judged_pairs(fit.problem, no_rows, no_rows, rng)
    scores = fit.scores_of_pairs(pairs.i, pairs.j)
    return replace(fit, scales={name: ScoreScale.of(S) for name, S in scores.items()})


def _best_ridges(fit: _FittedScores, tests: Sequence[_HiddenTest]) -> dict[str, float]:
    """Return the strength of each ridge that finds most hidden links; 1 without hidden links."""
    chosen = {}
    for name in fit.ridges:
        precision_by_ridge = {
            ridge: float(
                np.mean(
                    [_average_precision(t.pairs, t.scores[_ridge_name(name, ridge)]) for t in tests]
                )
            )
            for ridge in _RIDGES
            if tests
        }
        chosen[name] = (
            max(precision_by_ridge, key=lambda ridge: precision_by_ridge[ridge])
            if precision_by_ridge
            else 1.0
        )
    return chosen


def _keep_chosen_ridges(test: _HiddenTest, chosen: Mapping[str, float]) -> _HiddenTest:
    """Keep the chosen ridges under their plain names, and scale all scores."""
    plain = {_ridge_name(name, ridge): (name, ridge) for name in chosen for ridge in _RIDGES}
    scores: dict[str, Floats] = {}
    for key, S in test.scores.items():
        name, ridge = plain.get(key, (key, None))
        if ridge is None or chosen[name] == ridge:
            scores[name] = test.scales[key](S)
    return replace(test, scores=scores)


def _ridge_name(name: str, ridge: float) -> str:
    return f"{name}, ridge {ridge:g}"


def _fit_stack(tests: Sequence[_HiddenTest]) -> tuple[ScoreStack, dict[str, float]]:
    """Return a stack of all scores, or of a single one if it finds hidden links better."""
    usable = [test for test in tests if test.pairs.is_link.any()]
    if not usable:
        return ScoreStack((MIXED,), np.ones(1), float(logit(0.01))), {}
    names = list(usable[0].scores)
    columns = [_score_table(test, names) for test in usable]
    judged = {
        name: float(np.mean([_average_precision(test.pairs, test.scores[name]) for test in usable]))
        for name in names
    }
    if len(usable) > 1:
        held_out_precision = []
        for number, test in enumerate(usable):
            others = [place for place in range(len(usable)) if place != number]
            stack = _stack_of(names, [columns[k] for k in others], [usable[k] for k in others])
            held_out_precision.append(
                _average_precision(test.pairs, stack.probability(test.scores))
            )
        judged[ALL] = float(np.mean(held_out_precision))
        best = max(names, key=lambda name: judged[name])
        gain = np.array([_average_precision(t.pairs, t.scores[best]) for t in usable]) - np.array(
            held_out_precision
        )
        if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)):
            names = [best]
            columns = [_score_table(test, names) for test in usable]
    return _stack_of(names, columns, usable), judged


def _score_table(test: _HiddenTest, names: Sequence[str]) -> Floats:
    return np.column_stack([test.scores[name] for name in names])


def _stack_of(
    names: Sequence[str], columns: Sequence[Floats], tests: Sequence[_HiddenTest]
) -> ScoreStack:
    y = np.concatenate([test.pairs.is_link for test in tests]).astype(np.float64)
    counts = np.concatenate([test.pairs.counts for test in tests])
    return ScoreStack.fit(names, np.vstack(columns), y, counts, (LINKS_OF_SOURCE, LINKS_OF_TARGET))


def _fit_cold_stack(
    tests: Sequence[_HiddenTest], colds: Sequence[_HiddenTest], warm: ScoreStack, n_targets: int
) -> ScoreStack:
    """Return the stack for pairs with an item without links, calibrated to their own rate."""
    cold_tests = [t for t in (_only_cold(test) for test in tests) if t is not None]
    all_tests = [t for t in (_only_cold(test) for test in colds) if t is not None] + cold_tests
    if sum(int(t.pairs.is_link.sum()) for t in all_tests) < _MIN_COLD_LINKS:
        return warm
    names = [name for name in all_tests[0].scores if name not in (LINKS_OF_SOURCE, LINKS_OF_TARGET)]
    stack = _stack_of(names, [_score_table(t, names) for t in all_tests], all_tests)
    if not cold_tests:
        return stack
    counts = np.concatenate([t.pairs.counts for t in cold_tests])
    links = float(sum(int(t.pairs.is_link.sum()) for t in cold_tests))
    # Few items without links tell little about their rate of links, so the usual rate is mixed in.
    predicted = np.concatenate([stack.probability(t.scores) for t in cold_tests])
    usual_rate = float(np.average(predicted, weights=counts))
    prior_weight = _PRIOR_ITEMS * n_targets
    rate = (links + prior_weight * usual_rate) / (float(counts.sum()) + prior_weight)
    margin = logit(np.clip(predicted, 1e-12, 1 - 1e-12))

    def above(shift: float) -> float:
        return float(np.average(expit(margin + shift), weights=counts)) - float(rate)

    shift = float(brentq(above, -40.0, 40.0))
    return ScoreStack(stack.names, stack.weights, stack.intercept + shift)


def _only_cold(test: _HiddenTest) -> _HiddenTest | None:
    is_cold = test.is_cold
    if not is_cold.any():
        return None
    return _HiddenTest(
        _SampledPairs(*(part[is_cold] for part in vars(test.pairs).values())),
        {name: S[is_cold] for name, S in test.scores.items()},
        is_cold[is_cold],
        test.scales,
    )


def _average_precision(pairs: _SampledPairs, scores: Floats) -> float:
    if not pairs.is_link.any():
        return 0.0
    return float(average_precision_score(pairs.is_link, scores, sample_weight=pairs.counts))

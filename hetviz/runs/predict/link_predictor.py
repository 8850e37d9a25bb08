"""Default link predictor: simple scores combined with weights learned on hidden links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints
from hetviz.algorithms.memory import MemoryEstimate, memory_refusal
from hetviz.core.prediction.link_ridge import ScoreStack, best_products, largest
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.progress import Progress, ignore_progress
from hetviz.runs.predict.link_fitting import FittedScores, LinkProblem, fit_scores
from hetviz.runs.predict.link_judging import (
    add_scales,
    best_axes,
    best_ridges,
    fit_cold_stack,
    fit_stack,
    judge_on_hidden_items,
    judge_on_hidden_links,
    keep_chosen_ridges,
)
from hetviz.runs.predict.link_settings import FACTORISATIONS, MIXED, SETTINGS, TITLE

# Memory does not grow with the number of pairs: 340 MB were measured for 1,500 and 6,000 items.
_MEMORY_ESTIMATE = MemoryEstimate(base=400e6)


@dataclass(frozen=True, eq=False)
class LinkPredictor:
    """Probabilities of links between two datasets, from `fit_link_predictor`.

    `weights`: Weight of each kind of score, for a rise from the median pair to the best hundredth.
    `judged`: Average precision on hidden links of each kind of score and of their combination,
        "all"; empty with too few links to hide any.
    `once`: Whether each item of source, and of target, has at most one link in the known links.
    """

    data: HeteroData
    source: str
    target: str
    weights: Mapping[str, float]
    judged: Mapping[str, float]
    once: tuple[bool, bool]
    n_links: int
    _fit: FittedScores
    _warm: ScoreStack
    _cold: tuple[ScoreStack, ScoreStack]  # For an unlinked item of source, and of target.

    def scores(self, rows: Ints) -> Floats:
        """Return probabilities of rows of source with all rows of target, shape (rows, m).

        It is the probability that a pair is a missing link, if a fifth of all links is missing.
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
        side = self._fit.unlinked_sides(i, j)
        p = self._warm.probability(scaled)
        for number, stack in enumerate(self._cold, 1):
            if (side == number).any():
                p = np.where(side == number, stack.probability(scaled), p)
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
        Methods whose own scores are added: "kbmf2k", "pmvge". They take most of the time, and
        rarely find more links, so none are added by default.
    quick : bool
        Hide links only once.
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
    profiles over the links to all datasets), and of both (van Laarhoven et al. 2011), the last one
    also with the profiles of the most similar items for an item without links; two-sided kernel
    ridge, which suits items without links (Stock et al. 2018); weighted nearest profiles; random
    walks over all links of the data; within a dataset the similarity itself; and the number of
    links of each item. A fifth of the links is hidden, one to five times. The strengths of the
    ridges and the weights of a logistic regression are chosen on the hidden links, and if a single
    score is better than the combination, it is used alone. For items without any link, the weights
    are learned by hiding all links of some items.

    Pairs without a known link may be missing links. The regression estimates which share of all
    links is known (Elkan and Noto 2008) and gives probabilities for a fifth missing.

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
    problem = LinkProblem(data, source, target, random_state, SETTINGS)
    if not problem.n_links:
        reason = f"It needs links between {source} and {target}, and there are none."
        raise NotApplicableError(TITLE, [reason])
    if (too_much := memory_refusal(_MEMORY_ESTIMATE.total_bytes(data), data.n_rows)) is not None:
        raise NotApplicableError(TITLE, [too_much])
    rounds = 1 if quick else SETTINGS.n_rounds(problem.n_links)
    tests, colds = [], []
    axes_of: dict[str, int] = {}
    has_enough_links = problem.n_links >= SETTINGS.min_links
    steps = (rounds * (1 + problem.has_bare_items) if has_enough_links else 0) + 1
    if has_enough_links:
        axes_of = {
            name: best_axes(problem, name, SETTINGS.member_params.get(name, {}))
            for name in members or ()
        }
        for number in range(rounds):
            report(number / steps, "Learning from hidden links")
            tests.append(judge_on_hidden_links(problem, axes_of, random_state + number))
        if problem.has_bare_items:
            for number in range(rounds):
                report((rounds + number) / steps, "Learning from hidden items")
                colds.append(judge_on_hidden_items(problem, axes_of, random_state + number))
    report((steps - 1) / steps, "Learning from all links")
    final = fit_scores(problem, problem.Y, axes_of)
    final = add_scales(replace(final, chosen=best_ridges(final, tests)))
    tests = [keep_chosen_ridges(test, final) for test in tests]
    cold_tests = [keep_chosen_ridges(test, final) for test in colds if test is not None]
    warm, judged = fit_stack(tests)
    cold = tuple(fit_cold_stack(tests, cold_tests, warm, problem, side) for side in (1, 2))
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
        (cold[0], cold[1]),
    )

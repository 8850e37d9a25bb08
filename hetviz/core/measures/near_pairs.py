"""Share of the nearness on a map that values of the items explain, compared with shuffled rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from hetviz._types import Floats, Ints

NEAR_SHARES = (0.01, 0.03, 0.1)
"""Shares of all other items that count as near, one for each scale."""
N_SHUFFLES = 99
_MIN_NEAR = 3
_MAX_NEAR_PAIRS = 15
_MIN_PAIRS = 20

Measure = Callable[[int], Floats]
"""Bits at each scale, of the data (-1) or of a shuffle of the rows (0, 1, ...)."""


@dataclass(frozen=True, eq=False)
class Scale:
    """Pairs of near rows: row `j` is among the nearest `share` of all other rows of row `i`."""

    i: Ints
    j: Ints
    share: float

    @property
    def max_bits(self) -> float:
        """Bits that tell near rows from all others."""
        return float(-np.log2(self.share))


def near_scales(Y: Floats) -> list[Scale]:
    """Return the pairs of near rows at each scale, at most 15 for each row. O(n log n)."""
    from scipy.spatial import cKDTree

    n = len(Y)
    sizes = {min(max(round(share * (n - 1)), _MIN_NEAR), n - 1) for share in NEAR_SHARES}
    # Rows at the same place are in random order, so that the order of the rows says nothing.
    order = np.random.default_rng(0).permutation(n)
    found = cKDTree(Y[order]).query(Y[order], max(sizes) + 1)[1]
    nearest = order[np.asarray(found)[np.argsort(order)]]
    is_self = nearest == np.arange(n)[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    nearest = nearest[~is_self].reshape(n, -1)
    scales = []
    for size in sorted(sizes):
        ranks = np.unique(np.linspace(0, size - 1, min(size, _MAX_NEAR_PAIRS)).round().astype(int))
        i = np.repeat(np.arange(n), len(ranks))
        scales.append(Scale(i, nearest[:, ranks].ravel().astype(np.int64), size / (n - 1)))
    return scales


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of rows as normal scores, 0 if missing."""

    score: Floats
    known: Floats  # 1 or 0.
    entropy: float  # In bits. Few different numbers cannot tell more.

    @staticmethod
    def of(values: Floats) -> Numbers:
        known = np.isfinite(values)
        score = np.zeros(len(values))
        ranks = rankdata(values[known])
        score[known] = ndtri(ranks / (len(ranks) + 1)) if len(ranks) else ranks
        score[known] -= score[known].mean() if known.any() else 0.0
        spread = np.sqrt((score[known] ** 2).mean()) if known.any() else 0.0
        shares = np.unique(values[known], return_counts=True)[1] / max(known.sum(), 1)
        entropy = -float((shares * np.log2(shares)).sum())
        return Numbers(score / (spread or 1.0), known.astype(np.float64), entropy)

    def bits(self, i: Ints, j: Ints) -> float:
        """Return the mutual information of the numbers of pairs, by their correlation."""
        n_known = float(self.known[i] @ self.known[j])
        if n_known < _MIN_PAIRS:
            return 0.0
        r = min(max(float(self.score[i] @ self.score[j]) / n_known, 0.0), 1 - 1e-6)
        return min(-0.5 * float(np.log2(1 - r * r)), self.entropy) * n_known / len(i)

    def alike(self, i: Ints, j: Ints) -> Floats:
        """Return the similarity of each pair, NaN if unknown."""
        gap = -np.abs(self.score[i] - self.score[j])
        return np.where(self.known[i] * self.known[j] > 0, gap, np.nan)


@dataclass(frozen=True, eq=False)
class Codes:
    """Categories of rows, -1 if missing."""

    code: Ints
    chance: Floats  # Share of each category among all known rows.

    @staticmethod
    def of(code: Ints) -> Codes:
        counts = np.bincount(code[code >= 0]).astype(np.float64)
        # A row is not its own neighbour.
        return Codes(code, np.maximum(counts - 1, 0) / max(counts.sum() - 1, 1.0))

    def bits(self, i: Ints, j: Ints) -> float:
        """Return how far the share of equal neighbours of each category is above chance."""
        p, q = self.code[i], self.code[j]
        known = (p >= 0) & (q >= 0)
        if known.sum() < _MIN_PAIRS:
            return 0.0
        p, q = p[known], q[known]
        n = np.bincount(p, minlength=len(self.chance)).astype(np.float64)
        same = np.bincount(p[p == q], minlength=len(self.chance)) / np.maximum(n, 1.0)
        return float(n @ divergence(same, self.chance)) / len(i)

    def alike(self, i: Ints, j: Ints) -> Floats:
        """Return 1 for pairs of one category, else 0; NaN if unknown."""
        p, q = self.code[i], self.code[j]
        return np.where((p >= 0) & (q >= 0), (p == q).astype(np.float64), np.nan)


@dataclass(frozen=True, eq=False)
class Similarities:
    """Similarities of rows from 0 to 1, such as the cosines of what they contain."""

    S: Floats  # Shape (n, n), of a sample of rows.
    known: Floats  # 1 or 0.
    chance: float  # Mean of all pairs of two known rows.

    @staticmethod
    def of(S: Floats, known: Floats) -> Similarities:
        n = known.sum()
        total = float(known @ S @ known) - float(np.diag(S) @ known)
        return Similarities(S, known, total / max(n * (n - 1), 1.0))

    def bits(self, i: Ints, j: Ints) -> float:
        """Return how far the mean similarity of neighbours is above chance."""
        n_known = float(self.known[i] @ self.known[j])
        if n_known < _MIN_PAIRS:
            return 0.0
        mean = float((self.S[i, j] * self.known[i] * self.known[j]).sum()) / n_known
        return float(divergence(np.array(mean), np.array(self.chance))) * n_known / len(i)

    def alike(self, i: Ints, j: Ints) -> Floats:
        """Return the similarity of each pair, NaN if unknown."""
        return np.where(self.known[i] * self.known[j] > 0, self.S[i, j], np.nan)


Values = Numbers | Codes | Similarities


def divergence(share: Floats, chance: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of shares from chance in bits, 0 below chance."""
    p, q = np.clip(share, 0.0, 1.0), np.clip(chance, 1e-9, 1 - 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(p > 0, p * np.log2(p / q), 0.0)
        bits += np.where(p < 1, (1 - p) * np.log2((1 - p) / (1 - q)), 0.0)
    return np.asarray(np.where(p > q, np.maximum(bits, 0.0), 0.0), dtype=np.float64)


def measure_values(values: Values, scales: Sequence[Scale], shuffles: Sequence[Ints]) -> Measure:
    """Return the measure of the values of rows."""

    def measure(shuffle: int) -> Floats:
        if shuffle < 0:
            return np.array([values.bits(scale.i, scale.j) for scale in scales])
        order = shuffles[shuffle]
        return np.array([values.bits(order[scale.i], order[scale.j]) for scale in scales])

    return measure


def measure_links(
    Y: Floats,
    Z: Floats,
    p: Ints,
    q: Ints,
    radius: Floats,
    shares: Sequence[float],
    n_links: int,
    seed: int = 0,
) -> Measure:
    """Return the measure of links from rows `p` of `Y` to rows `q` of `Z`, a sample of `n_links`.

    `radius` (n, n_scales): Distance within which a row of `Z` is near to each row of `Y`.
    """
    chance = n_links / (len(Y) * len(Z))

    def measure(shuffle: int) -> Floats:
        at, to = p, q
        if shuffle >= 0:
            rng = np.random.default_rng([seed, shuffle])
            at, to = rng.permutation(len(Y))[p], rng.permutation(len(Z))[q]
        distance = np.linalg.norm(Y[at] - Z[to], axis=1)
        near = (distance[:, None] <= radius[at]).mean(axis=0)
        # Share of near pairs with a link.
        return divergence(np.minimum(near / np.array(shares) * chance, 1.0), np.array(chance))

    return measure


@dataclass(frozen=True, eq=False)
class Explained:
    """What one column or kind of links explains.

    `share`: Bits beyond those of shuffled rows, as a share of the bits that tell near rows from all
        others, at the scale where it is largest.
    `scale`: That scale.
    `score`: How far the root of the share is above shuffled rows, in standard deviations, at the
        scale where it is farthest.
    `shuffled` (n_shuffles,): The scores of shuffled rows.
    """

    share: float
    scale: int
    score: float
    shuffled: Floats


def explain(measure: Measure, max_bits: Sequence[float], n_shuffles: int = N_SHUFFLES) -> Explained:
    """Return what a measure explains. The cost is that of `n_shuffles` measures."""
    order = range(-1, n_shuffles)
    bits = np.array([measure(shuffle) for shuffle in order]) / np.array(max_bits)
    shares = bits[0] - bits[1:].mean(axis=0)
    # Bits grow with the square of an effect, so their roots have no long tail. The data count as
    # one more shuffle, so that by chance each is as likely to be the farthest.
    roots = np.sqrt(bits)
    scores = (roots - roots.mean(axis=0)) / np.maximum(roots.std(axis=0), 1e-12)
    best, scale = scores.max(axis=1), int(np.argmax(shares))
    return Explained(max(float(shares[scale]), 0.0), scale, float(best[0]), np.asarray(best[1:]))


def score_limit(results: Sequence[Explained]) -> float:
    """Return the largest score that any column reached in any shuffle of the rows.

    Westfall and Young (1993): by chance, any of the columns is above it in one of 100 maps.
    """
    return max((float(result.shuffled.max()) for result in results), default=np.inf)

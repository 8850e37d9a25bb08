"""Scores of pairs, and loss and gradient of the kernels of distances that approach them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.errors import ParameterError

DENSE_SHARE = 0.15
"""Of a table with a larger share of known scores every pair is visited."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The items of one kind, and how a frame gives their places.

    Attributes
    ----------
    n : int
        Number of items.
    X : ndarray of shape (n, d), optional
        Then e = X Q, with Q of shape (d, r).
    scale : float
        Without X, e = scale * Q, with Q of shape (n, r).
    """

    n: int
    X: Floats | None = None
    scale: float = 1.0

    @property
    def size(self) -> int:
        """Number of rows of the frame, the largest number of axes."""
        return self.n if self.X is None else int(self.X.shape[1])

    def places(self, Q: Floats) -> Floats:
        """Return e, shape (n, r)."""
        return self.scale * Q if self.X is None else np.ascontiguousarray(self.X @ Q)

    def pulled_back(self, gradient: Floats) -> Floats:
        """Turn a gradient in e, (n, r), into one in Q."""
        return self.scale * gradient if self.X is None else np.asarray(self.X.T @ gradient)


@dataclass(frozen=True, eq=False)
class Scores:
    """Known scores of pairs of items of two domains, or of one; build it with `known_scores`.

    Attributes
    ----------
    d, e : int
        Numbers of the domains.
    shape : (int, int)
    s, c : ndarray of shape (m,)
        Score and weight of each pair; c sums to at most lambda.
    i, j : ndarray of shape (m,), or None
        The pairs; None where all of them are listed in order, of a triangle within a domain.
    constant : float
        What is lost whatever the places: two scores of one pair that differ, and pairs (i, i).
    """

    d: int
    e: int
    shape: tuple[int, int]
    s: Floats
    c: Floats
    i: Ints | None
    j: Ints | None
    constant: float

    @property
    def within(self) -> bool:
        """Whether both ends are of one domain."""
        return self.d == self.e

    def distances(self, E: Floats, F: Floats) -> Floats:
        """Return the squared distance of each pair, shape (m,)."""
        from hetviz.core.kernels import mkpe_loops as kernels

        D = np.empty(len(self.s))
        if self.i is None or self.j is None:
            right = np.ascontiguousarray(F.T)
            left = right if self.within else np.ascontiguousarray(E.T)
            kernels.dense_distances(left, right, self.within, D)
        else:
            kernels.listed_distances(E, F, self.i, self.j, D)
        return D

    def loss(self, D: Floats, inverse: float) -> float:
        """Return the block's part of the loss; `inverse` is 1 / sigma^2."""
        from hetviz.core.kernels import mkpe_loops as kernels

        return self.constant + float(kernels.misfit(D, self.s, self.c, inverse))

    def gradient(self, E: Floats, F: Floats, inverse: float) -> tuple[Floats, Floats]:
        """Return the gradients in E (n, r) and F (m, r); within a domain, two halves to add."""
        from hetviz.core.kernels import mkpe_loops as kernels

        D = self.distances(E, F)
        T = np.empty_like(D)
        kernels.slopes(D, self.s, self.c, inverse, T)
        T *= -2.0 * inverse
        if self.i is None or self.j is None:
            left, right = np.zeros(E.shape[::-1]), np.zeros(F.shape[::-1])
            ends = np.ascontiguousarray(E.T), np.ascontiguousarray(F.T)
            kernels.dense_pull(*ends, self.within, T, left, right)
            return left.T, right.T
        left, right = np.zeros(E.shape), np.zeros(F.shape)
        kernels.listed_pull(E, F, self.i, self.j, T, left, right)
        return left, right

    def slope_in_eta(self, D: Floats, inverse: float) -> float:
        """Return the derivative in eta = log sigma."""
        from hetviz.core.kernels import mkpe_loops as kernels

        T = np.empty_like(D)
        return 2.0 * inverse * float(kernels.slopes(D, self.s, self.c, inverse, T))


def known_scores(
    d: int,
    e: int,
    shape: tuple[int, int],
    i: Ints,
    j: Ints,
    s: Floats,
    weight: float,
    share: Floats | None = None,
) -> Scores:
    """Build a block of known scores.

    Parameters
    ----------
    d, e : int
        Numbers of the domains; equal for scores within one.
    shape : (int, int)
        Items of the two domains.
    i, j, s : array of shape (k,)
        The score of item i of d and item j of e is s. Pairs may be repeated; within a domain (i,
        j) and (j, i) are two scores of one pair, and (i, i) counts although its distance is 0.
    weight : float
        lambda.
    share : ndarray of shape (k,), optional
        How much each score counts beside the others of the block; 1 when left out.

    Notes
    -----
    Scores of the same pair are replaced by their mean and what they lose beside it, which leaves
    the loss as it is and makes half the pairs of a symmetric table.
    """
    share = np.ones(len(s)) if share is None else share
    total = float(share.sum())
    i, j = np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)
    if not len(s) or total <= 0:
        raise ParameterError("mkpe: a block of scores has no known score.")
    c = share * (weight / total)
    constant = 0.0
    if d == e:
        same = i == j
        constant += float(c[same] @ (1.0 - s[same]) ** 2)
        low, high = np.minimum(i, j), np.maximum(i, j)
        i, j, s, c = low[~same], high[~same], s[~same], c[~same]
    key, place = np.unique(i * shape[1] + j, return_inverse=True)
    sums = np.bincount(place, c, len(key)).astype(np.float64)
    mean = np.bincount(place, c * s, len(key)) / np.where(sums > 0, sums, 1.0)
    constant += float(c @ (s - mean[place]) ** 2)
    pairs = shape[0] * (shape[0] - 1) // 2 if d == e else shape[0] * shape[1]
    if len(key) < DENSE_SHARE * pairs:
        rows, columns = key // shape[1], key % shape[1]
        return Scores(d, e, shape, mean, sums, rows, columns, constant)
    at = key
    if d == e:
        rows, columns = key // shape[1], key % shape[1]
        at = rows * shape[1] - rows * (rows + 1) // 2 + columns - rows - 1
    full, weights = np.zeros(pairs), np.zeros(pairs)
    full[at], weights[at] = mean, sums
    return Scores(d, e, shape, full, weights, None, None, constant)

"""Terms of gradient boosting consensus: losses, their slopes, what sources and graphs agree on.

    min  sum_i w_i [ sum_T l(f_i, y) + lam0 sum_U l(f_i, E) + lam1 sum_U l(f_i, S_i f_i) ]

f_i are the margins of source i, T its labelled and U its unlabelled rows, E the weighted mean of
the sources that record a row, S_i the mean over a row's neighbours that source i records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import expit

from hetviz._types import Bools, Floats, Ints, Sparse

NUMBER, CLASSES = "number", "classes"
_CLIP = 1e-6


@dataclass(frozen=True, eq=False)
class Pull:
    """The term that pulls margins f to a target t, by row and column; derivatives as asked for.

    Attributes
    ----------
    task : {"number", "classes"}
    f, t : ndarray of shape (n, K)
    how : {"soft", "paper"}
        For classes. ``"soft"`` is the divergence of sigmoid(f) from sigmoid(t), which is least at
        f = t. ``"paper"`` inserts t as the label of the logistic loss, which pushes f beyond t.
    """

    task: str
    f: Floats
    t: Floats
    how: str = "soft"

    @property
    def value(self) -> Floats:
        """The term itself."""
        f, t = self.f, self.t
        if self.task == NUMBER:
            return np.asarray((f - t) ** 2)
        if self.how == "paper":
            return np.logaddexp(0.0, -f * t)
        return np.asarray(np.logaddexp(0.0, f) - np.logaddexp(0.0, t) + self._q * (t - f))

    @property
    def slope(self) -> Floats:
        """By f."""
        if self.task == NUMBER:
            return 2.0 * (self.f - self.t)
        return -self.t * self._wrong if self.how == "paper" else self._p - self._q

    @property
    def curvature(self) -> Floats:
        """By f, twice."""
        if self.task == NUMBER:
            return np.full_like(self.f, 2.0)
        if self.how == "paper":
            return self.t**2 * self._wrong * (1.0 - self._wrong)
        return self._p * (1.0 - self._p)

    @property
    def target_slope(self) -> Floats:
        """By t."""
        if self.task == NUMBER:
            return 2.0 * (self.t - self.f)
        if self.how == "paper":
            return -self.f * self._wrong
        return self._q * (1.0 - self._q) * (self.t - self.f)

    @property
    def target_curvature(self) -> Floats:
        """By t, twice; for "soft" what is surely not negative of it."""
        if self.task == NUMBER:
            return np.full_like(self.f, 2.0)
        if self.how == "paper":
            return self.f**2 * self._wrong * (1.0 - self._wrong)
        return self._q * (1.0 - self._q)

    @cached_property
    def _p(self) -> Floats:
        return np.asarray(expit(self.f))

    @cached_property
    def _q(self) -> Floats:
        return np.asarray(expit(self.t))

    @cached_property
    def _wrong(self) -> Floats:
        return np.asarray(expit(-self.f * self.t))


def prior_of(task: str, Y: Floats) -> Floats:
    """Return the constant that fits known labels best: their mean, or the logarithm of the odds."""
    mean = np.nanmean(Y, axis=0)
    if task == NUMBER:
        return np.asarray(mean)
    p = np.clip((mean + 1.0) / 2.0, _CLIP, 1.0 - _CLIP)
    return np.asarray(np.log(p / (1.0 - p)))


def label_loss(task: str, f: Floats, y: Floats) -> Floats:
    """Return (f - y)^2 for numbers, log(1 + exp(-y f)) with y = 1 or -1 for classes."""
    return (f - y) ** 2 if task == NUMBER else np.logaddexp(0.0, -y * f)


def label_slopes(task: str, f: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the first and second derivative of `label_loss` by f."""
    if task == NUMBER:
        return 2.0 * (f - y), np.full_like(f, 2.0)
    wrong = expit(-y * f)
    return -y * wrong, wrong * (1.0 - wrong)


def voices(rows: Sequence[Ints], weights: Floats, n: int) -> list[Floats]:
    """Return what part of the consensus each source has in its rows: of sum 1 over sources."""
    weight, count = np.zeros(n), np.zeros(n)
    for here, w in zip(rows, weights, strict=True):
        weight[here] += w
        count[here] += 1
    # a row that only sources of weight 0 record still has their plain mean
    return [
        np.where(
            weight[here] > 0, w / np.where(weight[here] > 0, weight[here], 1.0), 1 / count[here]
        )
        for here, w in zip(rows, weights, strict=True)
    ]


def consensus(margins: Sequence[Floats], rows: Sequence[Ints], weights: Floats, n: int) -> Floats:
    """Return E (n, K): the weighted mean over the sources that record each row, else NaN."""
    E = np.full((n, margins[0].shape[1]), np.nan)
    for here in rows:
        E[here] = 0.0
    for f, here, voice in zip(margins, rows, voices(rows, weights, n), strict=True):
        E[here] += voice[:, None] * f
    return E


def within_source(A: Any, rows: Ints) -> Any:
    """Return the mean over neighbours as a matrix (n_i, n_i); rows without neighbours are 0."""
    inner = sp.csr_array(sp.csr_array(A)[rows][:, rows])
    degree = np.asarray(inner.sum(axis=1)).ravel()
    return sp.csr_array(
        sp.diags_array(1.0 / np.where(degree > 0, degree, 1.0)) @ inner, shape=inner.shape
    )


def neighbour_mean(means: Sequence[Any], weights: Floats) -> tuple[Any, Bools]:
    """Combine the graphs of one source.

    Parameters
    ----------
    means : sequence of csr_array of shape (n_i, n_i)
        From `within_source`, one for each graph.
    weights : ndarray of shape (q,)

    Returns
    -------
    S : csr_array of shape (n_i, n_i)
        Rows of sum 1, over the graphs in which a row has a neighbour; else rows of 0.
    joined : ndarray of bool, shape (n_i,)
        Which rows have a neighbour.
    """
    has = [np.diff(P.indptr) > 0 for P in means]
    share = sum(w * present for w, present in zip(weights, has, strict=True))
    inverse = 1.0 / np.where(share > 0, share, 1.0)
    S = sum(w * P for w, P in zip(weights, means, strict=True))
    return sp.csr_array(sp.diags_array(inverse) @ S), np.asarray(share) > 0


def connectivity(
    task: str, f: Floats, S: Sparse, active: Bools, how: str = "soft", gradient: str = "paper"
) -> tuple[float, Floats, Floats]:
    """Return value, slope and curvature of the pull of rows to their neighbours' mean.

    Parameters
    ----------
    task, how
        See `Pull`.
    f : ndarray of shape (n_i, K)
    S : csr_array of shape (n_i, n_i)
    active : ndarray of bool, shape (n_i,)
        Rows that are pulled.
    gradient : {"paper", "exact"}
        The paper takes the neighbours as fixed; ``"exact"`` counts that they are pulled too.
    """
    found = Pull(task, f, S @ f, how)
    on = active[:, None].astype(np.float64)
    slope, curvature = on * found.slope, on * found.curvature
    if gradient == "exact":
        slope = slope + S.T @ (on * found.target_slope)
        curvature = curvature + S.multiply(S).T @ (on * found.target_curvature)
    return float((on * found.value).sum()), np.asarray(slope), np.asarray(curvature)


def shares(losses: Floats) -> Floats:
    """Turn losses into weights of sum 1: exp(-loss / z), with z such that they sum to one.

    Parameters
    ----------
    losses : ndarray of shape (p,)
        0 or more. NaN (nothing to judge by) counts half the mean weight of the others.

    Notes
    -----
    Equations 3.10 and 3.11, with z read as the constant that makes the sum one: equal losses give
    equal weights, and the scale of the losses does not matter.
    """
    losses = np.asarray(losses, dtype=np.float64)
    known = np.isfinite(losses)
    if not known.any():
        return np.full(len(losses), 1.0 / max(len(losses), 1))
    out = np.zeros(len(losses))
    out[known] = _shares(losses[known])
    out[~known] = 0.5 * out[known].mean()
    return np.asarray(out / out.sum())


def _shares(losses: Floats) -> Floats:
    least = float(losses.min())
    if least <= 0:
        best = (losses <= 0).astype(np.float64)
        return np.asarray(best / best.sum())
    if len(losses) == 1:
        return np.ones(1)
    ratio = losses / least
    t = brentq(lambda t: np.exp(-ratio * t).sum() - 1.0, 0.0, np.log(len(losses)), xtol=1e-14)
    out = np.exp(-ratio * t)
    return np.asarray(out / out.sum())


def graph_losses(
    task: str,
    margins: Sequence[Floats],
    rows: Sequence[Ints],
    weights: Floats,
    graphs: Sequence[Any],
    n: int,
) -> Floats:
    """Return how far predictions of joined rows differ, by graph: the mean over its edges.

    Notes
    -----
    Over edges with both ends in a source, each source by its weight; for classes the divergence of
    the two probabilities, both ways. NaN for a graph without such an edge.
    """
    out = np.full(len(graphs), np.nan)
    at = []
    for here in rows:
        place = np.full(n, -1)
        place[here] = np.arange(len(here))
        at.append(place)
    for number, A in enumerate(graphs):
        a, b = (end.astype(np.int64) for end in sp.triu(A, 1).coords)
        total, mass = 0.0, 0.0
        for f, place, w in zip(margins, at, weights, strict=True):
            i, j = place[a], place[b]
            both = (i >= 0) & (j >= 0)
            if both.any():
                left, right = f[i[both]], f[j[both]]
                apart = Pull(task, left, right).value + Pull(task, right, left).value
                total += w * float(apart.sum()) / 2.0
                mass += w * int(both.sum())
        if mass > 0:
            out[number] = total / mass
    return out

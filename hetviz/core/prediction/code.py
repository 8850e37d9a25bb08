"""Co-occurrence data embedding (CODE): co-occurrence as a function of distance.

For items a_i (n, k) and b_j (m, k) at D_ij = |a_i - b_j|^2, with co-occurrences P of sum 1 and
their margins px and py:

    UU  p_ij = exp(-D_ij) / Z                     MM  p_ij = px_i py_j exp(-D_ij) / Z
    CU  p(j|i) proportional to exp(-D_ij)         CM  p(j|i) proportional to py_j exp(-D_ij)
    UC, MC  the same for the conditional p(i|j) of the columns

The weighted sum of the log-likelihoods of several blocks is maximised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Matrix, Rng, Sparse
from hetviz.core.kernels.kernels import squared_distances
from hetviz.core.prediction.quasi_newton import lbfgs
from hetviz.errors import DataError, ParameterError
from hetviz.progress import Progress, ignore_progress, keep_partial

MODELS = {
    "MM": "both, however often each occurs",
    "UU": "both, with how often each occurs",
    "CM": "the second given the first, however often it occurs",
    "CU": "the second given the first",
    "MC": "the first given the second, however often it occurs",
    "UC": "the first given the second",
}
_BLOCK_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class CooccurrenceBlock:
    """Co-occurrences of two sets of items, or of one set; made by `make_cooccurrence_block`."""

    d: int
    e: int
    P: Sparse
    px: Floats
    py: Floats
    model: str
    weight: float

    def value(self, A: Floats, B: Floats) -> tuple[float, Floats, Floats]:
        """Return the unweighted log-likelihood and its gradients in A (n, k) and B (m, k)."""
        if self.model in ("UC", "MC"):
            model = {"UC": "CU", "MC": "CM"}[self.model]
            transposed = CooccurrenceBlock(
                self.e, self.d, self.P.T.tocsr(), self.py, self.px, model, 1.0
            )
            value, left, right = transposed.value(B, A)
            return value, right, left
        n, m = self.P.shape
        rows, columns = self.P.tocoo().coords
        difference = A[rows] - B[columns]
        value = -float(self.P.data @ np.einsum("ij,ij->i", difference, difference))
        with np.errstate(divide="ignore"):
            log_px, log_py = np.log(self.px), np.log(self.py)
        column_term = log_py if self.model[1] == "M" else np.zeros(m)
        joint = self.model[0] != "C"
        if self.model[1] == "M":
            is_present = self.py > 0
            value += float(self.py[is_present] @ log_py[is_present])
        if self.model == "MM":
            is_present = self.px > 0
            value += float(self.px[is_present] @ log_px[is_present])
        size = max(1, _BLOCK_ENTRIES // max(m, 1))
        pieces = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        totals = np.empty(n)
        cached: list[Floats] = []
        for piece in pieces:
            E = squared_distances(A[piece], B)
            np.subtract(column_term, E, out=E)
            if self.model == "MM":
                E += log_px[piece, None]
            if self.d == self.e:
                E[np.arange(len(E)), np.arange(piece.start, piece.stop)] = -np.inf
            top = E.max(axis=1)
            safe = np.where(np.isfinite(top), top, 0.0)
            np.exp(E - safe[:, None], out=E)
            sums = E.sum(axis=1)
            with np.errstate(divide="ignore"):
                totals[piece] = safe + np.log(sums)
            E /= np.where(sums > 0, sums, 1.0)[:, None]
            if len(pieces) == 1:
                cached.append(E)
        if joint:
            top = float(totals.max())
            log_z = top + float(np.log(np.exp(totals - top).sum()))
            value -= log_z
            share = np.exp(totals - log_z)
        else:
            is_present = self.px > 0
            value -= float(self.px[is_present] @ totals[is_present])
            share = self.px
        left, right = np.zeros_like(A), np.zeros_like(B)
        column_mass = np.zeros(m)
        for number, piece in enumerate(pieces):
            Q = cached[number] if cached else self._conditional(A, B, piece, column_term)
            Q *= share[piece, None]
            left[piece] += Q.sum(axis=1)[:, None] * A[piece] - Q @ B
            column_mass += Q.sum(axis=0)
            right -= Q.T @ A[piece]
        right += column_mass[:, None] * B
        left -= self.px[:, None] * A - self.P @ B
        right -= self.py[:, None] * B - self.P.T @ A
        return value, 2.0 * left, 2.0 * right

    def _conditional(self, A: Floats, B: Floats, piece: slice, column_term: Floats) -> Floats:
        E = column_term - squared_distances(A[piece], B)
        if self.d == self.e:
            E[np.arange(len(E)), np.arange(piece.start, piece.stop)] = -np.inf
        top = E.max(axis=1)
        np.exp(E - np.where(np.isfinite(top), top, 0.0)[:, None], out=E)
        sums = E.sum(axis=1)
        E /= np.where(sums > 0, sums, 1.0)[:, None]
        return np.asarray(E)


def make_cooccurrence_block(
    d: int, e: int, counts: Matrix, model: str = "MM", weight: float = 1.0
) -> CooccurrenceBlock:
    """Return a block of co-occurrences of any scale."""
    if model not in MODELS:
        raise ParameterError(f"code: model = {model!r} must be one of {', '.join(MODELS)}.")
    P = sp.csr_array(counts).astype(np.float64, copy=False)
    if d == e:
        P = sp.csr_array((P + P.T) / 2)
        P.setdiag(0.0)
    P.sum_duplicates()
    P.eliminate_zeros()
    if P.nnz and P.data.min() < 0:
        raise DataError.of(
            "negative-count",
            "co-occurrences",
            "the number of co-occurrences cannot be negative",
            f"{P.data.min():g}",
            "Use counts of 0 or more, or another method for links that push apart.",
        )
    if not P.nnz:
        raise ParameterError("code: a block of co-occurrences is all 0.")
    P = sp.csr_array(P / P.sum())
    px, py = (np.asarray(P.sum(axis=axis), dtype=np.float64).ravel() for axis in (1, 0))
    return CooccurrenceBlock(d, e, P, px, py, model, weight)


@dataclass
class CodeResult:
    """The best of several runs."""

    places: list[Floats]
    history: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    finals: list[float] = field(default_factory=list)
    reason: str = ""


def objective(
    blocks: Sequence[CooccurrenceBlock], places: Sequence[Floats]
) -> tuple[float, list[Floats]]:
    """Return the negative weighted log-likelihood and its gradient for each set."""
    total, gradients = 0.0, [np.zeros_like(Y) for Y in places]
    for block in blocks:
        value, left, right = block.value(places[block.d], places[block.e])
        total -= block.weight * value
        gradients[block.d] -= block.weight * left
        gradients[block.e] -= block.weight * right
    return total, gradients


def fit_code(
    sizes: Sequence[int],
    blocks: Sequence[CooccurrenceBlock],
    k: int,
    rng: Rng,
    *,
    n_init: int = 5,
    n_iter: int = 500,
    progress: Progress = ignore_progress,
    layout: Callable[[list[Floats]], Floats] | None = None,
) -> CodeResult:
    """Maximise by L-BFGS from several random starts, and return the best result."""
    cuts = np.cumsum([n * k for n in sizes])[:-1]

    def split(flat: Floats) -> list[Floats]:
        return [part.reshape(-1, k) for part in np.split(flat, cuts)]

    def loss(flat: Floats) -> tuple[float, Floats]:
        value, gradients = objective(blocks, split(flat))
        return value, np.concatenate([part.ravel() for part in gradients])

    best: CodeResult | None = None
    finals: list[float] = []
    for _ in range(n_init):
        flat = rng.standard_normal(sum(sizes) * k) / np.sqrt(k)
        result = CodeResult(split(flat), [loss(flat)[0]], finals=finals)

        def on_iteration(
            flat: Floats,
            value: float,
            result: CodeResult = result,
            earlier_best: CodeResult | None = best,
        ) -> None:
            result.places = split(flat)
            result.history.append(value)
            best_so_far = (
                result if earlier_best is None or value < earlier_best.history[-1] else earlier_best
            )
            n_done, n_started = len(result.history) - 1, len(result.finals)
            reason = f"stopped at start {n_started + 1}, iteration {n_done:,}"
            with keep_partial(lambda _: replace(best_so_far, reason=reason)):
                progress(
                    (n_started + min(n_done / n_iter, 1.0)) / n_init,
                    f"Start {n_started + 1} of {n_init}, iteration {n_done:,}",
                    loss=best_so_far.history[-1],
                    layout=None if layout is None else partial(layout, best_so_far.places),
                )

        at, value, settled = lbfgs(loss, flat, n_iter, on_iteration)
        result.places = split(at)
        result.reason = "converged" if settled else f"maximum of {n_iter:,} iterations reached"
        finals.append(value)
        if best is None or value < best.history[-1]:
            best = result
    if best is None:
        raise ParameterError(f"code: n_init = {n_init} must be 1 or more.")
    best.values = [block.value(best.places[block.d], best.places[block.e])[0] for block in blocks]
    return best


def place_item(ends: Sequence[tuple[Floats, Floats, Floats, float]]) -> Floats:
    """Return the most likely position of one new item, with all others fixed."""

    def loss(a: Floats) -> tuple[float, Floats]:
        total, gradient = 0.0, np.zeros_like(a)
        for F, p, prior, weight in ends:
            difference = a - F
            D = np.einsum("ij,ij->i", difference, difference)
            with np.errstate(divide="ignore"):
                E = np.log(prior) - D
            top = float(E.max())
            q = np.exp(E - top)
            total += weight * (float(p @ D) + top + float(np.log(q.sum())))
            gradient += 2.0 * weight * ((p - q / q.sum()) @ difference)
        return total, gradient

    starts = [p @ F for F, p, _, _ in ends]
    results = [lbfgs(loss, start, 100, lambda at, value: None) for start in starts]
    return min(results, key=lambda result: result[1])[0]

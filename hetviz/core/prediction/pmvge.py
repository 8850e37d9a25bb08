"""Probabilistic multi-view graph embedding (PMvGE): small networks whose outputs predict links.

Each set d of items has a network y = f_d(x), and a pair is linked with probability sigmoid(l),

    l = b_de + y_i'y_j   (inner)      or      l = b_de - |y_i - y_j|^2   (distance).

The loss is that of negative sampling, as its exact expectation or for sampled pairs:

    sum over blocks  c sum_ij [ P+_ij log(1 + e^-l) + k P-_ij log(1 + e^l) ] + decay / 2 |weights|^2

with P+ the links scaled to sum 1, and P- proportional to deg_i deg_j^0.75 without pairs (i, i).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from hetviz._types import Array, Bools, Floats, Ints, Matrix, Rng, Sparse, is_sparse
from hetviz.core.prediction.quasi_newton import lbfgs
from hetviz.errors import ParameterError
from hetviz.progress import Progress, ignore_progress, keep_partial

SIMILARITIES = {
    "distance": "near each other",
    "inner": "in the same direction from the middle",
}
NEGATIVES = 5
_POWER = 0.75
_BLOCK_ENTRIES = 2_000_000
_N_SAMPLED = 100_000


@dataclass(frozen=True, eq=False)
class Net:
    """A network with at most one hidden layer of tanh units, for n items at once."""

    X: Matrix | None
    n: int
    hidden: int
    k: int

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the weights and offsets, in order."""
        p = self.n if self.X is None else self.X.shape[1]
        if not self.hidden:
            return [(p, self.k), (self.k,)]
        return [(p, self.hidden), (self.hidden,), (self.hidden, self.k), (self.k,)]

    @property
    def size(self) -> int:
        """Number of weights and offsets."""
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def split(self, flat: Floats) -> list[Floats]:
        """Return the weights and offsets in a flat array, as views."""
        cuts = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        return [
            part.reshape(shape)
            for part, shape in zip(np.split(flat, cuts), self.shapes, strict=True)
        ]

    def start(self, rng: Rng) -> Floats:
        """Draw weights of variance 1 / inputs, without offsets."""
        parts: list[Floats] = []
        for shape in self.shapes:
            fan = 1 if self.X is None and not parts else shape[0]
            drawn = rng.standard_normal(shape) / np.sqrt(fan)
            parts.append((drawn if len(shape) == 2 else 0.0 * drawn).ravel())
        return np.concatenate(parts)

    def inputs(self, rows: Ints | None = None) -> Array | Sparse:
        """Return the inputs of some or all rows; row numbers if there are no features."""
        if self.X is None:
            return np.arange(self.n) if rows is None else rows
        return self.X if rows is None else self.X[rows]

    def forward(self, flat: Floats, X: Array | Sparse) -> tuple[Floats, Floats]:
        """Return outputs (n, k) and hidden values (n, hidden) of inputs."""
        parts = self.split(flat)
        first = parts[0][X] if self.X is None and not is_sparse(X) else X @ parts[0]
        first = np.asarray(first + parts[1])
        if not self.hidden:
            return first, first
        inner = np.tanh(first)
        return np.asarray(inner @ parts[2] + parts[3]), inner

    def backward(self, flat: Floats, X: Array | Sparse, inner: Floats, dY: Floats) -> Floats:
        """Return the gradient in the flat weights, given the gradient in the outputs."""
        out = np.zeros_like(flat)
        grads = self.split(out)
        if self.hidden:
            grads[2][:] = inner.T @ dY
            grads[3][:] = dY.sum(axis=0)
            dY = (dY @ self.split(flat)[2].T) * (1.0 - inner**2)
        if self.X is None and not is_sparse(X):
            np.add.at(grads[0], X, dY)
        else:
            grads[0][:] = X.T @ dY
        grads[1][:] = dY.sum(axis=0)
        return out

    def reach(self, flat: Floats, axes: Floats | None = None) -> Floats:
        """Return the sensitivity of the outputs to each input: root mean square over items.

        dy/dx = W diag(1 - h^2) V, so its mean square over items is w' C w for the weights w of an
        input, with C = mean((1 - h^2)(1 - h^2)') * (V V'): O(n hidden^2 + q hidden^2), without
        derivatives of single items.
        """
        parts = self.split(flat)
        W = parts[0] if axes is None else axes @ parts[0]
        if not self.hidden:
            return np.asarray(np.linalg.norm(W, axis=1))
        slope = 1.0 - self.forward(flat, self.inputs())[1] ** 2
        C = (slope.T @ slope) / len(slope) * (parts[2] @ parts[2].T)
        return np.asarray(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", W, C, W), 0.0)))


@dataclass(frozen=True, eq=False)
class LinkSampling:
    """Links between two sets of items, or within one; made by `make_link_block`.

    `P` csr (n_d, n_e): P+, of sum 1; symmetric within a set.
    `u`, `v` (n_d,), (n_e,): P-_ij = u_i v_j, for i != j within a set.
    `weight`: c.
    """

    d: int
    e: int
    P: Sparse
    u: Floats
    v: Floats
    weight: float


def make_link_block(d: int, e: int, W: Sparse, weight: float = 1.0) -> LinkSampling:
    """Return a block of links W (n, m), 0 or more and of any scale."""
    P = sp.csr_array(W).astype(np.float64, copy=False)
    if d == e:
        P = sp.csr_array((P + P.T) / 2)
        P.setdiag(0.0)
    P.sum_duplicates()
    P.eliminate_zeros()
    if not P.nnz or P.data.min() < 0:
        raise ParameterError("pmvge: link weights of a block must be 0 or more, not all 0.")
    P = sp.csr_array(P / P.sum())
    u = np.asarray(P.sum(axis=1), dtype=np.float64).ravel()
    v = np.asarray(P.sum(axis=0), dtype=np.float64).ravel() ** _POWER
    total = float(u.sum() * v.sum()) - (float(u @ v) if d == e else 0.0)
    return LinkSampling(d, e, P, u / (total or 1.0), v, weight)


class Objective:
    """The loss and its gradient in all weights and the bias of every block."""

    def __init__(
        self,
        nets: Sequence[Net],
        blocks: Sequence[LinkSampling],
        similarity: str = "distance",
        *,
        bias: bool = True,
        negatives: int = NEGATIVES,
        decay: float = 1e-4,
    ) -> None:
        self.nets, self.blocks = list(nets), list(blocks)
        self.inner, self.bias = similarity == "inner", bias
        self.negatives, self.decay = negatives, decay
        self._cuts = np.cumsum([net.size for net in nets])

    @property
    def pairs(self) -> int:
        """Number of pairs of one exact evaluation."""
        return sum(block.P.shape[0] * block.P.shape[1] for block in self.blocks)

    def start(self, rng: Rng) -> Floats:
        """Draw all weights; the bias of every block is 0."""
        return np.concatenate([*(net.start(rng) for net in self.nets), np.zeros(len(self.blocks))])

    def split(self, flat: Floats) -> tuple[list[Floats], Floats]:
        """Return the weights of each network, and the bias of each block."""
        parts = np.split(flat, self._cuts)
        return parts[:-1], parts[-1]

    def outputs(self, flat: Floats) -> list[Floats]:
        """Return y of all items of each set, (n_d, k)."""
        weights, _ = self.split(flat)
        return [
            net.forward(part, net.inputs())[0] for net, part in zip(self.nets, weights, strict=True)
        ]

    def exact(self, flat: Floats) -> tuple[float, Floats]:
        """Return the expected loss and its gradient, from all pairs: O(sum n_d n_e k)."""
        weights, bias = self.split(flat)
        passed = [
            net.forward(part, net.inputs()) for net, part in zip(self.nets, weights, strict=True)
        ]
        dY = [np.zeros_like(Y) for Y, _ in passed]
        loss, db = 0.0, np.zeros_like(bias)
        for number, block in enumerate(self.blocks):
            Y, Z = passed[block.d][0], passed[block.e][0]
            value, left, right, slope = self._all_pairs(block, Y, Z, float(bias[number]))
            loss += block.weight * value
            dY[block.d] += block.weight * left
            dY[block.e] += block.weight * right
            db[number] = block.weight * slope if self.bias else 0.0
        return self._with_decay(flat, loss, self._gradient(weights, passed, dY, db))

    def drawn(
        self, flat: Floats, rng: Rng, size: int, edges: Sequence[Ints]
    ) -> tuple[float, Floats]:
        """Return loss and gradient for sampled links and pairs."""
        weights, bias = self.split(flat)
        drawn = [
            self._draw(block, rng, size, part)
            for block, part in zip(self.blocks, edges, strict=True)
        ]
        dY: list[Floats] = []
        nodes: list[Ints] = []
        passed = []
        for d, net in enumerate(self.nets):
            used = [i for block, (i, _, _) in zip(self.blocks, drawn, strict=True) if block.d == d]
            used += [j for block, (_, j, _) in zip(self.blocks, drawn, strict=True) if block.e == d]
            nodes.append(np.unique(np.concatenate([np.empty(0, np.int64), *used])))
            passed.append(net.forward(weights[d], net.inputs(nodes[d])))
            dY.append(np.zeros_like(passed[d][0]))
        loss, db = 0.0, np.zeros_like(bias)
        for number, (block, (i, j, positive)) in enumerate(zip(self.blocks, drawn, strict=True)):
            at_i, at_j = np.searchsorted(nodes[block.d], i), np.searchsorted(nodes[block.e], j)
            Y, Z = passed[block.d][0][at_i], passed[block.e][0][at_j]
            logit = self._logit(Y, Z, float(bias[number]))
            mass = np.where((block.d == block.e) & (i == j), 0.0, block.weight / size)
            loss += float(mass @ np.logaddexp(0.0, np.where(positive, -logit, logit)))
            T = mass * (expit(logit) - positive)
            left, right = (Z, Y) if self.inner else (-2.0 * (Y - Z), 2.0 * (Y - Z))
            np.add.at(dY[block.d], at_i, T[:, None] * left)
            np.add.at(dY[block.e], at_j, T[:, None] * right)
            db[number] = float(T.sum()) if self.bias else 0.0
        parts = [
            net.backward(weights[d], net.inputs(nodes[d]), passed[d][1], dY[d])
            for d, net in enumerate(self.nets)
        ]
        return self._with_decay(flat, loss, np.concatenate([*parts, db]))

    def _draw(
        self, block: LinkSampling, rng: Rng, size: int, edges: Ints
    ) -> tuple[Ints, Ints, Bools]:
        rows = np.repeat(np.arange(block.P.shape[0]), np.diff(block.P.indptr))
        chosen = edges[_sample_by_mass(rng, block.P.data[edges], size)]
        i = np.concatenate([rows[chosen], _sample_by_mass(rng, block.u, size * self.negatives)])
        j = np.concatenate(
            [block.P.indices[chosen], _sample_by_mass(rng, block.v, size * self.negatives)]
        )
        return i, j.astype(np.int64), np.arange(len(i)) < size

    def _logit(self, Y: Floats, Z: Floats, bias: float) -> Floats:
        if self.inner:
            return np.asarray(bias + np.einsum("ij,ij->i", Y, Z))
        return np.asarray(bias - ((Y - Z) ** 2).sum(axis=1))

    def _all_pairs(
        self, block: LinkSampling, Y: Floats, Z: Floats, bias: float
    ) -> tuple[float, Floats, Floats, float]:
        left, right = np.zeros_like(Y), np.zeros_like(Z)
        i, j = block.P.tocoo().coords
        logit = self._logit(Y[i], Z[j], bias)
        value = float(block.P.data @ np.logaddexp(0.0, -logit))
        T = sp.csr_array((block.P.data * (expit(logit) - 1.0), (i, j)), shape=block.P.shape)
        slope = float(T.sum())
        self._pull(T, Y, Z, left, right)
        size = max(1, _BLOCK_ENTRIES // max(len(Z), 1))
        for start in range(0, len(Y), size):
            piece = slice(start, min(start + size, len(Y)))
            L = self.logits(Y[piece], Z, bias)
            M = np.multiply.outer(self.negatives * block.u[piece], block.v)
            if block.d == block.e:
                M[np.arange(len(M)), np.arange(piece.start, piece.stop)] = 0.0
            value += float((M * np.logaddexp(0.0, L)).sum())
            M *= expit(L, out=L)
            slope += float(M.sum())
            part = np.zeros_like(Y[piece])
            self._pull(M, Y[piece], Z, part, right)
            left[piece] += part
        return value, left, right, slope

    def explained(self, flat: Floats, rng: Rng) -> list[tuple[float, float]]:
        """Return the loss of each block, and the share of it that the positions explain.

        Returns (list of (float, float)): Weighted loss, and its position between the loss without
            positions (0) and the minimum over all l (1); below 0 if positions are misleading.

        Without positions l is -log k, with a loss of log(1 + k) + k log(1 + 1 / k). The minimum is
        at l_ij = log(P+_ij / k P-_ij), where pairs without a link cost nothing, so it is a sum over
        links. Links are summed exactly, and 100,000 other pairs are sampled, so O(links k).
        """
        _, bias = self.split(flat)
        outputs, k = self.outputs(flat), self.negatives
        loss_without_positions = np.log1p(k) + k * np.log1p(1.0 / k)
        result = []
        for number, block in enumerate(self.blocks):
            Y, Z, b = outputs[block.d], outputs[block.e], float(bias[number])
            i, j = block.P.tocoo().coords
            value = float(block.P.data @ np.logaddexp(0.0, -self._logit(Y[i], Z[j], b)))
            drawn = k * block.u[i] * block.v[j]
            odds = block.P.data / drawn
            min_loss = float(block.P.data @ np.log1p(1.0 / odds) + drawn @ np.log1p(odds))
            left = rng.choice(len(Y), _N_SAMPLED, p=block.u / block.u.sum())
            right = rng.choice(len(Z), _N_SAMPLED, p=block.v / block.v.sum())
            other = np.flatnonzero((block.d != block.e) | (left != right))
            if len(other):
                logit = self._logit(Y[left[other]], Z[right[other]], b)
                value += k * float(np.logaddexp(0.0, logit).mean())
            gain = loss_without_positions - min_loss
            share = (loss_without_positions - value) / gain if gain > 1e-12 else float("nan")
            result.append((block.weight * value, share))
        return result

    def logits(self, Y: Floats, Z: Floats, bias: float) -> Floats:
        """Return l of all pairs of rows of Y (n, k) and Z (m, k)."""
        L = Y @ Z.T
        if not self.inner:
            L *= 2.0
            L -= np.einsum("ij,ij->i", Y, Y)[:, None]
            L -= np.einsum("ij,ij->i", Z, Z)[None, :]
            np.minimum(L, 0.0, out=L)
        L += bias
        return np.asarray(L)

    def _pull(self, T: Matrix, Y: Floats, Z: Floats, left: Floats, right: Floats) -> None:
        """Add the gradients of sum T l in Y and Z."""
        to_left, to_right = T @ Z, T.T @ Y
        if self.inner:
            left += to_left
            right += to_right
            return
        left -= 2.0 * (np.asarray(T.sum(axis=1)).ravel()[:, None] * Y - to_left)
        right -= 2.0 * (np.asarray(T.sum(axis=0)).ravel()[:, None] * Z - to_right)

    def _gradient(
        self,
        weights: list[Floats],
        passed: list[tuple[Floats, Floats]],
        dY: list[Floats],
        db: Floats,
    ) -> Floats:
        parts = [
            net.backward(weights[d], net.inputs(), passed[d][1], dY[d])
            for d, net in enumerate(self.nets)
        ]
        return np.concatenate([*parts, db])

    def _with_decay(self, flat: Floats, loss: float, gradient: Floats) -> tuple[float, Floats]:
        weights = flat.copy()
        weights[self._cuts[-1] :] = 0.0
        return loss + 0.5 * self.decay * float(weights @ weights), gradient + self.decay * weights


def _sample_by_mass(rng: Rng, mass: Floats, size: int) -> Ints:
    total = np.cumsum(mass)
    positions = np.searchsorted(total, rng.random(size) * total[-1], side="right")
    return np.asarray(np.minimum(positions, len(mass) - 1), dtype=np.int64)


EXACT_PAIRS = 8_000_000
"""Up to this many pairs every step uses all of them."""
BATCH_SIZE = 4_096
LEARNING_RATE = 1e-2
_HELD_OUT_SHARE = 0.05
_CHECK_EVERY = 50
_PATIENCE = 6


@dataclass
class TrainingResult:
    """Trained weights, the loss history, and the reason why training stopped."""

    flat: Floats
    history: list[float] = field(default_factory=list)
    reason: str = ""


def train(
    objective: Objective,
    rng: Rng,
    n_iter: int = 200,
    *,
    exact: bool | None = None,
    progress: Progress = ignore_progress,
    layout: Callable[[Floats], Floats] | None = None,
) -> TrainingResult:
    """Train from random weights.

    Sampled pairs use Adam with a learning rate of 0.01. It stops when the loss of 5 % held-out
    links, and of pairs sampled once, has not improved for 300 steps, and returns the best weights.
    """
    exact = objective.pairs <= EXACT_PAIRS if exact is None else exact
    result = TrainingResult(objective.start(rng))

    def report(fraction: float, message: str) -> None:
        result.reason = f"stopped: {message.lower()}"
        layout_now = None if layout is None else partial(layout, result.flat)
        with keep_partial(lambda _: result):
            progress(min(fraction, 1.0), message, loss=result.history[-1], layout=layout_now)

    if not exact:
        return _train_by_sampling(objective, result, rng, 10 * n_iter, report)
    result.history.append(objective.exact(result.flat)[0])

    def on_iteration(flat: Floats, value: float) -> None:
        result.flat = flat
        result.history.append(value)
        n_done = len(result.history) - 1
        report(n_done / n_iter, f"Iteration {n_done:,} of at most {n_iter:,}")

    result.flat, _, settled = lbfgs(objective.exact, result.flat, n_iter, on_iteration)
    result.reason = "converged" if settled else f"maximum of {n_iter:,} iterations reached"
    return result


def _train_by_sampling(
    objective: Objective,
    result: TrainingResult,
    rng: Rng,
    steps: int,
    report: Callable[[float, str], None],
) -> TrainingResult:
    learn, check = [], []
    for block in objective.blocks:
        order = rng.permutation(block.P.nnz)
        n_held_out = int(_HELD_OUT_SHARE * block.P.nnz)
        learn.append(np.sort(order[n_held_out:]))
        check.append(np.sort(order[:n_held_out]) if n_held_out else learn[-1])
    seed = int(rng.integers(2**32))
    flat = result.flat.copy()
    first, second = np.zeros_like(flat), np.zeros_like(flat)
    best, n_without_gain = np.inf, 0
    for step in range(1, steps + 1):
        _, gradient = objective.drawn(flat, rng, BATCH_SIZE, learn)
        first += 0.1 * (gradient - first)
        second += 0.001 * (gradient**2 - second)
        size = LEARNING_RATE * np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
        flat = flat - size * first / (np.sqrt(second) + 1e-8)
        if step % _CHECK_EVERY and step != steps:
            continue
        value, _ = objective.drawn(flat, np.random.default_rng(seed), 4 * BATCH_SIZE, check)
        result.history.append(value)
        n_without_gain = 0 if value < best else n_without_gain + 1
        if value < best:
            best, result.flat = value, flat.copy()
        report(step / steps, f"Step {step:,} of at most {steps:,}")
        if n_without_gain >= _PATIENCE:
            result.reason = f"no gain on held-out links for {_PATIENCE * _CHECK_EVERY} steps"
            return result
    result.reason = f"maximum of {steps:,} steps reached"
    return result

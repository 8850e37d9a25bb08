"""Training of the networks of PMvGE: all pairs at once, or a few at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from hetviz._types import Floats
from hetviz.core.prediction.pmvge import Objective
from hetviz.core.prediction.quasi_newton import lbfgs
from hetviz.errors import Cancelled
from hetviz.progress import Progress, silent

EXACT_PAIRS = 8_000_000
"""Up to this many pairs every step sees all of them."""
BATCH = 4_096
RATE = 1e-2
_HELD_OUT = 0.05
_CHECK_EVERY = 50
_PATIENCE = 6


@dataclass
class Trained:
    """Weights, how the loss fell, and why training stopped.

    Attributes
    ----------
    flat : ndarray
    history : list of float
    reason : str
    """

    flat: Floats
    history: list[float] = field(default_factory=list)
    reason: str = ""


def train(
    objective: Objective,
    rng: np.random.Generator,
    n_iter: int = 200,
    *,
    exact: bool | None = None,
    progress: Progress = silent,
    layout: Callable[[Floats], Floats] | None = None,
) -> Trained:
    """Train from random weights.

    Parameters
    ----------
    objective : Objective
    rng : Generator
    n_iter : int
        Most iterations of L-BFGS, or tenths of the most steps of drawn pairs.
    exact : bool, optional
        All pairs at every step; by their number when left out.
    progress : callable
    layout : callable, optional
        Turns weights into the layout to report.

    Raises
    ------
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is the `Trained` so far.

    Notes
    -----
    Pairs are drawn for Adam with steps of 0.01; it stops when the loss of 5 % of the links, held
    out, and of pairs drawn once has not improved for 300 steps, and the best weights are kept.
    """
    exact = objective.pairs <= EXACT_PAIRS if exact is None else exact
    now = Trained(objective.start(rng))

    def tell(fraction: float, message: str) -> None:
        try:
            show = None if layout is None else partial(layout, now.flat)
            progress(min(fraction, 1.0), message, loss=now.history[-1], layout=show)
        except Cancelled as stopped:
            now.reason = f"stopped: {message.lower()}"
            stopped.partial = now
            raise

    if not exact:
        return _by_drawing(objective, now, rng, 10 * n_iter, tell)
    now.history.append(objective.exact(now.flat)[0])

    def told(at: Floats, value: float) -> None:
        now.flat = at
        now.history.append(value)
        made = len(now.history) - 1
        tell(made / n_iter, f"Iteration {made:,} of at most {n_iter:,}")

    now.flat, _, settled = lbfgs(objective.exact, now.flat, n_iter, told)
    now.reason = "no step gains any more" if settled else f"{n_iter:,} iterations made"
    return now


def _by_drawing(
    objective: Objective,
    now: Trained,
    rng: np.random.Generator,
    steps: int,
    tell: Callable[[float, str], None],
) -> Trained:
    learn, check = [], []
    for block in objective.blocks:
        order = rng.permutation(block.P.nnz)
        held = int(_HELD_OUT * block.P.nnz)
        learn.append(np.sort(order[held:]))
        check.append(np.sort(order[:held]) if held else learn[-1])
    seed = int(rng.integers(2**32))
    flat = now.flat.copy()
    first, second = np.zeros_like(flat), np.zeros_like(flat)
    best, idle = np.inf, 0
    for step in range(1, steps + 1):
        _, gradient = objective.drawn(flat, rng, BATCH, learn)
        first += 0.1 * (gradient - first)
        second += 0.001 * (gradient**2 - second)
        size = RATE * np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
        flat = flat - size * first / (np.sqrt(second) + 1e-8)
        if step % _CHECK_EVERY and step != steps:
            continue
        value, _ = objective.drawn(flat, np.random.default_rng(seed), 4 * BATCH, check)
        now.history.append(value)
        idle = 0 if value < best else idle + 1
        if value < best:
            best, now.flat = value, flat.copy()
        tell(step / steps, f"Step {step:,} of at most {steps:,}")
        if idle >= _PATIENCE:
            now.reason = f"held-out links gained nothing for {_PATIENCE * _CHECK_EVERY} steps"
            return now
    now.reason = f"{steps:,} steps made"
    return now

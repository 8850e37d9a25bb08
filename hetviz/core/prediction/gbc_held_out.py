"""How well each source alone tells labels that it did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hetviz._types import Floats, Ints, Matrix
from hetviz.core.prediction import gbc
from hetviz.core.prediction.boosting import TreeSettings, boosted
from hetviz.progress import Progress

_FOLDS = 3
# To judge sources, few rounds of longer steps do: 10 of these go as far as 25.
_ROUNDS = 10
_LONGER = 2.5


@dataclass(frozen=True, eq=False)
class GbcSource:
    """What one source records.

    Attributes
    ----------
    X : ndarray or csr of shape (n_i, d)
        NaN where a cell is missing.
    rows : ndarray of int, shape (n_i,)
        The row of the whole that each row describes, each at most once.
    """

    X: Matrix
    rows: Ints


def held_out_losses(
    sources: Sequence[GbcSource],
    Y: Floats,
    task: str,
    n_rounds: int,
    trees: TreeSettings,
    progress: Progress,
) -> Floats:
    """Return the mean loss of each source alone on labels that it did not see, by round.

    Returns
    -------
    ndarray of shape (rounds, p)
        Of `n_rounds`, at most 25 since weights hardly change after; NaN where a source records too
        few labels to judge by.
    """
    steps = min(max(round(n_rounds / _LONGER), 1), _ROUNDS)
    longer = replace(trees, learning_rate=min(_LONGER * trees.learning_rate, 1.0))
    known = np.flatnonzero(np.isfinite(Y).all(axis=1))
    fold_of = np.full(len(Y), -1)
    fold_of[known] = folds_of(Y, known, _FOLDS, trees.random_state)
    total, count = np.zeros((steps, len(sources))), np.zeros(len(sources))
    for number in range(_FOLDS):
        learned = known[fold_of[known] != number]
        if not len(learned):
            continue
        prior = gbc.prior_of(task, Y[learned])
        for i, source in enumerate(sources):
            progress((number * len(sources) + i) / (_FOLDS * len(sources)), "Weighing")
            fold = fold_of[source.rows]
            learn, out = np.flatnonzero((fold >= 0) & (fold != number)), fold == number
            if not len(learn) or not out.any():
                continue
            used = np.concatenate([learn, np.flatnonzero(out)])
            y, m = Y[source.rows[used]], len(learn)
            booster = boosted(source.X[used], np.arange(m), Y.shape[1], longer)
            for step in range(steps):
                booster.step(*gbc.label_slopes(task, prior + booster.scores[:m], y[:m]))
                losses = gbc.label_loss(task, prior + booster.scores[m:], y[m:])
                total[step, i] += float(losses.mean(axis=1).sum())
            count[i] += len(used) - m
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, total / count, np.nan)
    # one row for each round of the usual length
    length = min(n_rounds, round(_ROUNDS * _LONGER))
    return mean[np.minimum((np.arange(length) / _LONGER).astype(np.int64), steps - 1)]


def folds_of(Y: Floats, known: Ints, n_folds: int, random_state: int) -> Ints:
    """Return a fold for each known row, classes spread evenly over the folds."""
    rng = np.random.default_rng(random_state)
    mixed = rng.permutation(len(known))
    _, group = np.unique(np.sign(Y[known]), axis=0, return_inverse=True)
    if len(np.unique(Y[known])) > 2:
        group = np.zeros(len(known), dtype=np.int64)
    order = mixed[np.argsort(group.ravel()[mixed], kind="stable")]
    fold = np.empty(len(known), dtype=np.int64)
    fold[order] = np.arange(len(known)) % n_folds
    return fold

"""How strongly comparisons should count: chosen by comparisons held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.embedding import Features
from hetviz.core.ordinal.fixed_rank import flat_embedding
from hetviz.core.ordinal.hinge import Hinge

BETAS = (3.0, 10.0, 30.0, 100.0, 300.0)
"""Multiples of the critical beta that are tried."""
FOLDS = 3
_TOL = 1e-2


@dataclass(frozen=True)
class Chosen:
    """What was tried.

    Attributes
    ----------
    factor : float
        The multiple of the critical beta that kept most comparisons held out; the smallest of
        equals.
    accuracy : dict of float to float
        Share of comparisons kept while held out, by factor.
    """

    factor: float
    accuracy: dict[float, float]


def choose_beta(
    views: Sequence[Features],
    pairs: Ints,
    weight: Floats,
    critical: float,
    k: int,
    *,
    diagonal: bool,
    rng: np.random.Generator,
    margin: float = 1.0,
    tick: Callable[[float], object] = lambda share: None,
) -> Chosen:
    """Choose beta by three-fold cross-validation over comparisons, on maps of k axes.

    Parameters
    ----------
    views, k, diagonal
        See `hetviz.core.ordinal.fixed_rank.flat_embedding`.
    pairs : ndarray of shape (m, 4)
    weight : ndarray of shape (m,)
    critical : float
        See `hetviz.core.ordinal.embedding.critical_beta`.
    rng : numpy.random.Generator
    margin : float
    tick : callable
        Gets the share done.
    """
    fold = rng.permutation(len(pairs)) % FOLDS
    kept = np.zeros((len(BETAS), FOLDS))
    n = len(views[0]) if views[0] is not None else int(pairs.max()) + 1
    for held in range(FOLDS):
        train, test = fold != held, fold == held
        for b, factor in enumerate(BETAS):
            tick((held * len(BETAS) + b) / (FOLDS * len(BETAS)))
            share = weight[train] / max(float(weight[train].sum()), 1e-300)
            hinge = Hinge(n, pairs[train], factor * critical * share, margin)
            flat = flat_embedding(views, hinge, k, diagonal=diagonal, tol=_TOL)
            Y = np.zeros((n, k))
            for Phi, A in zip(views, flat.parts, strict=True):
                Y += A if Phi is None else Phi @ A
            kept[b, held] = comparison_accuracy(Y, pairs[test], weight[test])
    mean = np.nan_to_num(kept, nan=0.5).mean(axis=1)
    accuracy = dict(zip(BETAS, mean.tolist(), strict=True))
    return Chosen(BETAS[int(mean.argmax())], accuracy)

"""From margins to what people read: labels with probabilities, their spread, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from hetviz._types import Floats, Ints
from hetviz.core.prediction.gbc import NUMBER


def probabilities(margin: Floats) -> Floats:
    """Return the probability of each class, (n, C), from margins (n, K).

    Notes
    -----
    One column is the margin of the second of two classes. Of more, each against the rest, the
    probabilities are divided by their sum.
    """
    p = expit(margin)
    if p.shape[1] == 1:
        return np.hstack([1.0 - p, p])
    return np.asarray(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))


def spread(
    task: str, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints], weights: Floats
) -> Floats:
    """Return how far sources differ on each row, (n,): a weighted standard deviation.

    Notes
    -----
    Of their numbers, or of their probabilities of the class that the consensus names. NaN where
    fewer than two sources record the row.
    """
    n = len(joint)
    best = None if task == NUMBER else probabilities(joint).argmax(axis=1)
    mass, first, second = np.zeros(n), np.zeros(n), np.zeros(n)
    count = np.zeros(n)
    for f, here, w in zip(margins, rows, weights, strict=True):
        value = f[:, 0] if best is None else probabilities(f)[np.arange(len(f)), best[here]]
        mass[here] += w
        first[here] += w * value
        second[here] += w * value**2
        count[here] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first / mass
        out = np.sqrt(np.maximum(second / mass - mean**2, 0.0))
    return np.where(count > 1, out, np.nan)


@dataclass(frozen=True, eq=False)
class MarginAxes:
    """Axes of a picture of margins: of the consensus, then of what sources disagree on.

    Attributes
    ----------
    centre, turn : ndarray of shape (K,), (K, a)
        Of the consensus.
    apart : ndarray of shape (p K, b)
        Directions of the sources' differences from it; a + b is at most the number of axes.
    n_components : int
    """

    centre: Floats
    turn: Floats
    apart: Floats
    n_components: int

    @classmethod
    def fit(
        cls, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints], n_components: int
    ) -> MarginAxes:
        """Take the principal components of the consensus, then of the differences."""
        centre = joint.mean(axis=0) if joint.shape[1] > 1 else np.zeros(1)
        turn = _principal(joint - centre, n_components)
        apart = _principal(_differences(joint, margins, rows), n_components - turn.shape[1])
        return cls(centre, turn, apart, n_components)

    def __call__(self, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
        """Return places of shape (n, n_components); axes beyond what there is are 0."""
        out = np.zeros((len(joint), self.n_components))
        a, b = self.turn.shape[1], self.apart.shape[1]
        out[:, :a] = (joint - self.centre) @ self.turn
        if b:
            out[:, a : a + b] = _differences(joint, margins, rows) @ self.apart
        return out


def _differences(joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
    """Return f_i - E by source (n, p K), 0 where a source does not record a row."""
    parts = []
    for f, here in zip(margins, rows, strict=True):
        part = np.zeros_like(joint)
        part[here] = f - joint[here]
        parts.append(part)
    return np.hstack(parts)


def _principal(X: Floats, count: int) -> Floats:
    if count <= 0:
        return np.zeros((X.shape[1], 0))
    values, axes = np.linalg.eigh(X.T @ X)
    order = np.argsort(-values, kind="stable")[:count]
    axes = axes[:, order[values[order] > 1e-12 * max(float(values.max()), 1e-300)]]
    if not axes.shape[1]:
        return axes
    top = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return np.asarray(axes * np.where(top < 0, -1.0, 1.0))

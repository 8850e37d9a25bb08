"""Procrustes alignment of maps, so that a change of method does not look like a change of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats


@dataclass(frozen=True)
class SimilarityTransform:
    """y -> scale * (y - origin) @ rotation + target; `rotation` may contain a reflection."""

    rotation: Floats
    scale: float
    origin: Floats
    target: Floats
    residual: float

    def __call__(self, Y: Floats) -> Floats:
        """Move positions (n, k); rows of NaN stay NaN."""
        return np.asarray(self.scale * (Y - self.origin) @ self.rotation + self.target)


def align(Y: Floats, reference: Floats, *, scale: bool = True) -> SimilarityTransform:
    """Find the rotation, reflection, scale and shift that align Y best with a reference.

    Returns: Minimises sum_i |s (y_i - origin) R + target - reference_i|^2 (orthogonal Procrustes,
        Schoenemann 1966). With fewer than two shared rows it only shifts, or is the identity.
    """
    shared = np.isfinite(Y).all(axis=1) & np.isfinite(reference).all(axis=1)
    k = Y.shape[1]
    if not shared.any():
        return SimilarityTransform(np.eye(k), 1.0, np.zeros(k), np.zeros(k), float("nan"))
    origin, target = Y[shared].mean(axis=0), reference[shared].mean(axis=0)
    A, B = Y[shared] - origin, reference[shared] - target
    size_a, size_b = float((A**2).sum()), float((B**2).sum())
    if size_a == 0.0 or size_b == 0.0:
        return SimilarityTransform(np.eye(k), 1.0, origin, target, float("nan"))
    U, values, Vt = np.linalg.svd(A.T @ B)
    factor = float(values.sum()) / size_a if scale else 1.0
    residual = size_b - 2.0 * factor * float(values.sum()) + factor**2 * size_a
    return SimilarityTransform(U @ Vt, factor, origin, target, max(residual / size_b, 0.0))

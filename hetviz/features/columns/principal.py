"""Principal components as JSON-ready values."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats
from hetviz.features.columns.options import Fields


def fit_principal_axes(D: Floats, max_axes: int) -> Fields | None:
    """Return the mean (p,) and at most `max_axes` principal axes (k, p) of rows (n, p)."""
    mean = D.mean(axis=0)
    _, sizes, directions = np.linalg.svd(D - mean, full_matrices=False)
    retained = np.flatnonzero(sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-9))[:max_axes]
    if not len(retained):
        return None
    V = directions[retained]
    largest = np.abs(V).argmax(axis=1)
    V = V * np.sign(V[np.arange(len(V)), largest])[:, None]
    return {"center": mean.tolist(), "components": V.tolist()}


def project_rows(step: Fields, D: Floats) -> Floats:
    """Return the coordinates of rows (n, p) on the principal axes, shape (n, k)."""
    return np.asarray((D - np.array(step["center"])) @ np.array(step["components"]).T)

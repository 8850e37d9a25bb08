"""Start positions of layouts: the slow directions of a random walk on the affinities."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError

from hetviz._types import Floats, Rng, Sparse
from hetviz.core.graph.laplacian import row_components
from hetviz.core.spectral.eigen import largest_dense, largest_iterated

SPREAD = 1e-4
_DENSE_ROWS = 200
_SPECTRAL_COMPONENTS = 20
_MIN_ROWS = 10
_NOISE = 0.01


def spectral_start(P: Sparse, n_components: int, rng: Rng) -> Floats:
    """Return a small layout whose axes are the slowest modes of diffusion over P.

    Returns (n, n_components): With standard deviation 1e-4. Each large connected component has its
        own modes and a random centre; rows of small components start at random.

    The leading non-trivial eigenvectors of D^-1/2 P D^-1/2 over the square root of the degree,
    by Lanczos iteration: O(nnz) per step.
    """
    n = P.shape[0]
    label = row_components(P)
    size = np.bincount(label)
    Y = rng.standard_normal((n, n_components))
    if len(size) > 1:
        Y = 0.3 * Y + rng.standard_normal((len(size), n_components))[label]
    for part in np.argsort(-size, kind="stable")[:_SPECTRAL_COMPONENTS]:
        if size[part] < _MIN_ROWS:
            break
        rows = np.flatnonzero(label == part)
        modes = _modes(P[rows][:, rows] if len(size) > 1 else P, n_components, rng)
        centre = 0.0 if len(size) == 1 else rng.standard_normal(n_components)
        Y[rows] = centre + np.sqrt(size[part] / n) * modes
    return np.asarray(SPREAD * Y / Y.std(axis=0))


def _modes(P: Sparse, k: int, rng: Rng) -> Floats:
    """Return k modes of a connected graph, with standard deviation 1 and noise."""
    n = P.shape[0]
    root = np.sqrt(np.asarray(P.sum(axis=1)).ravel())
    scale = sp.diags_array(1.0 / root)
    A = (scale @ P @ scale).tocsr()
    v0, noise = rng.standard_normal(n), rng.standard_normal((n, k))
    if n <= _DENSE_ROWS:
        _, V = largest_dense(A.toarray(), k + 1)
    else:
        try:
            _, V = largest_iterated(A, k + 1, v0, tol=1e-3, ncv=max(20, 4 * k))
        except ArpackError:
            return noise
    modes = V[:, 1:] / root[:, None]
    modes = (modes - modes.mean(axis=0)) / modes.std(axis=0)
    largest = modes[np.abs(modes).argmax(axis=0), np.arange(k)]
    return np.asarray(modes * np.sign(largest) + _NOISE * noise)


def random_start(n: int, n_components: int, rng: Rng) -> Floats:
    """Return a layout of variance 1e-4, as in the paper: shape (n, n_components)."""
    return 1e-2 * rng.standard_normal((n, n_components))


def complete_layout(P: Sparse, Y: Floats, rng: Rng) -> Floats:
    """Complete an earlier layout: rows without a position start among their neighbours.

    Returns (n, k): A new row lies at the weighted mean of its placed neighbours, with noise of 1 %
        of the spread; a row that is not connected to them lies at random. O(nnz) for each step
        away from placed rows.
    """
    Y = np.array(Y)
    placed = np.asarray(np.isfinite(Y).all(axis=1))
    centre, spread = Y[placed].mean(axis=0), float(Y[placed].std()) or SPREAD
    noise = rng.standard_normal(Y.shape)
    while not placed.all():
        indicator = placed.astype(np.float64)
        mass = np.where(placed, 0.0, np.asarray(P @ indicator).ravel())
        reached = mass > 0
        if not reached.any():
            Y[~placed] = centre + spread * noise[~placed]
            break
        mean = (P @ np.where(placed[:, None], Y, 0.0))[reached] / mass[reached, None]
        Y[reached] = mean + 0.01 * spread * noise[reached]
        placed = placed | reached
    return Y

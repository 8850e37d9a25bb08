"""What a person said of single pairs, beside all that is known of the items otherwise.

A few statements among thousands of links and neighbours would not be felt. So each item that a
statement is about hears it as loudly as everything else it has, and pairs that lie far apart on an
earlier map are first pulled harder: at a distance the pull between points fades, and the items
would stay with their neighbours for that reason alone.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Sparse

FAR = 0.1
"""Share of the map's extent beyond which a pair that was said to be together is far apart."""
LOUDER = 20.0
"""Factor of such pairs while they are brought together."""


def spoken_part(P: Sparse, W: Sparse, strength: float = 1.0) -> Sparse:
    """Return what statements add to a graph of affinities.

    Parameters
    ----------
    P : csr_array of shape (n, n)
        Symmetric and non-negative.
    W : csr_array of shape (n, n)
        Weights in [0, 1] of what was said to be together; symmetric.
    strength : float
        1 gives the statements about an item together as much weight as its row of P.

    Returns
    -------
    csr_array of shape (n, n)
        strength w_ij min(p_i / c_i, p_j / c_j), with the row sums p of P and the number c of
        statements about an item. O(nnz).
    """
    mass = np.asarray(P.sum(axis=1)).ravel()
    entries = sp.coo_array(W)
    i, j = entries.coords
    share = mass / np.maximum(np.bincount(i, minlength=W.shape[0]), 1)
    values = strength * entries.data * np.minimum(share[i], share[j])
    return sp.csr_array((values, (i, j)), shape=W.shape)


def louder(S: Sparse, Y: Floats) -> Sparse | None:
    """Return what to add to a graph while far pairs of S are brought together; None without any.

    Parameters
    ----------
    S : csr_array of shape (n, n)
        As from `spoken_part`.
    Y : ndarray of shape (n, k)
        The earlier map.
    """
    entries = sp.coo_array(S)
    i, j = entries.coords
    extent = float(np.ptp(Y, axis=0).max())
    far = np.linalg.norm(Y[i] - Y[j], axis=1) > FAR * extent
    if not far.any():
        return None
    values = (LOUDER - 1.0) * entries.data[far]
    return sp.csr_array((values, (i[far], j[far])), shape=entries.shape)


def met(S: Sparse, Y: Floats) -> Floats:
    """Return a map on which far pairs of S have come together, the rest where it was.

    Each item goes towards the mean of those it was said to be with, the farther the more it hears
    of it beside them: two that hear it alike meet half way.

    Parameters
    ----------
    S : csr_array of shape (n, n)
        As from `spoken_part`.
    Y : ndarray of shape (n, k)
    """
    far = louder(S, Y)
    if far is None:
        return Y
    heard = np.asarray(far.sum(axis=1)).ravel()
    some = heard > 0
    theirs = (far @ np.column_stack([Y, heard]))[some] / heard[some, None]
    share = heard[some] / (heard[some] + theirs[:, -1])
    out = Y.copy()
    out[some] += share[:, None] * (theirs[:, :-1] - Y[some])
    return out

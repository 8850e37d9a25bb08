"""What is drawn to judge a map by: rows of chosen objects, and links with the pairs they join."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetviz._types import Bools, Ints
from hetviz.errors import ParameterError


def rows_out(
    parts: Mapping[str, slice],
    object_of: Ints,
    shares: Mapping[str, float],
    rng: np.random.Generator,
) -> Bools:
    """Return which global rows leave: those of the drawn objects, in every view.

    Parameters
    ----------
    parts : mapping of str to slice
        Global rows of each dataset.
    object_of : ndarray of shape (n_rows,)
        Object of each global row.
    shares : mapping of str to float
        Share of the rows to draw, by dataset.
    rng : Generator

    Raises
    ------
    hetviz.errors.ParameterError
        If a dataset would lose all of its rows.
    """
    out = np.zeros(len(object_of), dtype=bool)
    for name, share in shares.items():
        rows = parts[name]
        n = rows.stop - rows.start
        chosen = rng.permutation(n)[: min(max(round(share * n), 1 if share else 0), n - 1)]
        out |= np.isin(object_of, object_of[rows][chosen])
    for name, rows in parts.items():
        if out[rows].all():
            raise ParameterError(f"holdout: no row of {name!r} would be left to learn from.")
    return out


def links_out(
    ends: Ints,
    stratum: Ints,
    touched: Bools,
    bare: Bools,
    share: float,
    rng: np.random.Generator,
) -> Bools:
    """Return which links are held out: a share of the pairs of each stratum, and what is touched.

    Parameters
    ----------
    ends : ndarray of shape (m, 2)
        Objects that each link joins, the smaller one first. A pair that is linked twice is drawn
        once, in the stratum of its first link.
    stratum : ndarray of shape (m,)
        Links are drawn within each.
    touched : ndarray of shape (m,)
        Links that are out in any case.
    bare : ndarray of shape (n_objects,)
        Objects that nothing but links can place: each keeps one link at least.
    share : float
    rng : Generator
    """
    free = np.flatnonzero(~touched)
    if share == 0 or free.size == 0:
        return touched
    _, pair = np.unique(ends @ [len(bare), 1], return_inverse=True)
    pairs, first = np.unique(pair[free], return_index=True)
    of_pair = stratum[free[first]]
    chosen = np.zeros(pair.max() + 1, dtype=bool)
    for value in np.unique(of_pair):
        drawn = rng.permutation(pairs[of_pair == value])
        chosen[drawn[: round(share * len(drawn))]] = True
    _give_back(ends, pair, chosen, touched, bare.copy())
    return np.asarray(touched | chosen[pair])


def _give_back(ends: Ints, pair: Ints, chosen: Bools, touched: Bools, bare: Bools) -> None:
    """Unchoose at least one pair of every bare object, or it could not be placed."""
    held = touched | chosen[pair]
    bare[ends[~held]] = False
    for row in np.flatnonzero(chosen[pair] & ~touched & bare[ends].any(axis=1)):
        if bare[ends[row]].any():
            chosen[pair[row]] = False
            bare[ends[row]] = False

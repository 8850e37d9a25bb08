"""How well scores of pairs find links: area under the curve, and precision among the best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def link_ranking(
    scores: ArrayLike, links: ArrayLike, counts: Sequence[int]
) -> tuple[float, dict[int, float]]:
    r"""Judge a ranking of candidate pairs by those of them that are links.

    Parameters
    ----------
    scores : array of shape (n,)
        Higher is likelier; -inf for pairs that cannot be scored, which come last.
    links : array of bool, shape (n,)
        Which candidates are links; at least one is and one is not.
    counts : sequence of int
        How many of the best to look at; a count above n is left out.

    Returns
    -------
    auc : float
        Chance that a link scores above a pair that is none, ties half.
    precision : dict of int to float
        Share of links among the best k, by k.

    Notes
    -----
    .. math:: AUC = (R - m (m + 1) / 2) / (m (n - m))

    with R the sum of the ranks of the m links (Hanley and McNeil 1982). Pairs of equal score share
    a rank, and where the best k end among equals, each of these counts in part: the mean over all
    orders of them. Costs O(n log n).
    """
    s = np.asarray(scores, dtype=np.float64)
    is_link = np.asarray(links, dtype=bool)
    n, m = len(s), int(is_link.sum())
    level, size = np.unique(-s, return_inverse=True, return_counts=True)[1:]
    hits = np.bincount(level, is_link, len(size))
    ends = np.cumsum(size)
    # Ranks count from the worst, 1; those of equal score get their mean.
    rank = n - ends + (size + 1) / 2
    auc = (float(hits @ rank) - m * (m + 1) / 2) / (m * (n - m))
    found = np.concatenate([[0.0], np.cumsum(hits)])
    at = np.concatenate([[0], ends])
    precision = {k: float(np.interp(k, at, found)) / k for k in counts if k <= n}
    return auc, precision

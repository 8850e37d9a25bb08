"""Share of pairs that counts as close, from the links of two datasets alone."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Rng
from hetviz.core.clustering.partition import partition
from hetviz.core.measures.satisfaction import NEAR_SHARE

MIN_LINKED_ROWS = 20
"""With fewer linked rows on a side no groups are sought."""
_MAX_GROUPS = 20
_MAX_GROUP_SHARE = 0.6
# Share of the links that clear groups hold.
_MIN_SHARE_INSIDE = 0.9
# A group stands out if its singular value exceeds those of shuffled links, and the next one.
_MIN_RATIO, _MIN_GAP = 1.04, 1.02
_MAX_CLUSTERED_ROWS = 4_000
_SHARE_STEPS = 1_000
# Singular values matter to a percent.
_N_PASSES, _N_SPARE_AXES = 12, 20


def close_share(i: Ints, j: Ints, n_a: int, n_b: int | None = None) -> float:
    """Return the share of all pairs of two datasets that counts as close.

    Returns: The largest of 5 %, the share of linked pairs, and the share of pairs within a group
        of the links, rounded up to a tenth of a percent. So all links can be close, and a map that
        separates the groups of the links brings them all close.

    Groups are sought by regularised spectral clustering (Rohe, Qin and Yu 2016): as many as there
    are singular values of the links that exceed those of the same links with shuffled ends. Up to
    20 groups, more are below 5 % anyway.
    """
    n_candidates = n_a * (n_a - 1) // 2 if n_b is None else n_a * n_b
    if not len(i) or not n_candidates:
        return NEAR_SHARE
    share = max(NEAR_SHARE, len(i) / n_candidates, _group_share(i, j, n_a, n_b))
    return min(math.ceil(round(share * _SHARE_STEPS, 6)) / _SHARE_STEPS, 1.0)


def _group_share(i: Ints, j: Ints, n_a: int, n_b: int | None) -> float:
    """Return the share of pairs within the groups of the links. 0 without clear groups."""
    if n_b is None:
        i, j, n_b = np.r_[i, j], np.r_[j, i], n_a
    n_values = min(_MAX_GROUPS + 1, min(n_a, n_b) - 1)
    # Fewer links than rows join only small sets of rows.
    if min(n_a, n_b) < MIN_LINKED_ROWS or len(i) < n_a + n_b:
        return 0.0
    rng = np.random.default_rng(0)
    noise = _leading_axes(_scaled_links(i, rng.permutation(j), n_a, n_b), n_values)[1][1]
    left, values, right = _leading_axes(_scaled_links(i, j, n_a, n_b), n_values)
    n_groups = int((values > _MIN_RATIO * noise).sum())
    if not 2 <= n_groups < n_values or values[n_groups - 1] < _MIN_GAP * values[n_groups]:
        return 0.0
    clustered = [_sample(n_a, rng), _sample(n_b, rng)]
    vectors = [left[clustered[0], :n_groups], right[:n_groups, clustered[1]].T]
    code = partition(
        np.vstack([_unit_rows(part) for part in vectors]).round(9), "k-means", n_groups
    )
    groups = []
    for n, rows, part in zip(
        (n_a, n_b), clustered, np.split(code, [len(clustered[0])]), strict=True
    ):
        group = np.full(n, -1)
        group[rows] = part
        groups.append(group)
    of_links = np.column_stack([groups[0][i], groups[1][j]])
    of_links = of_links[(of_links >= 0).all(axis=1)]
    if (of_links[:, 0] == of_links[:, 1]).mean() < _MIN_SHARE_INSIDE:
        return 0.0
    sizes = [np.bincount(group[group >= 0], minlength=n_groups) for group in groups]
    share = float(sizes[0] / sizes[0].sum() @ (sizes[1] / sizes[1].sum()))
    return share if share <= _MAX_GROUP_SHARE else 0.0


def _scaled_links(i: Ints, j: Ints, n_a: int, n_b: int) -> sp.csr_array:
    """Return the links divided by the roots of the degrees, which are raised by their mean."""
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n_a, n_b)).tocsr()
    W.sum_duplicates()
    W.data[:] = 1.0
    left, right = (np.asarray(W.sum(axis=axis), dtype=np.float64).ravel() for axis in (1, 0))
    scales = [sp.diags_array(1.0 / np.sqrt(degree + degree.mean())) for degree in (left, right)]
    return sp.csr_array(scales[0] @ W @ scales[1])


def _leading_axes(A: sp.csr_array, n: int) -> tuple[Floats, Floats, Floats]:
    """Return the leading singular vectors and values, the largest first."""
    from sklearn.utils.extmath import randomized_svd

    left, values, right = randomized_svd(
        A, n, n_oversamples=_N_SPARE_AXES, n_iter=_N_PASSES, random_state=0
    )
    return left, values, right


def _sample(n: int, rng: Rng) -> Ints:
    """Return all rows, or a sample of many."""
    if n <= _MAX_CLUSTERED_ROWS:
        return np.arange(n)
    return np.sort(rng.choice(n, _MAX_CLUSTERED_ROWS, replace=False))


def _unit_rows(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))

"""Transfer from a source: selection of its rows, risk of transfer, and translation of labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Bools, Floats, Ints

MIN_TRANSFER_SHARE = 0.10
"""Below this share of usable source rows nothing is transferred."""
MIN_SAFE_SHARE = 0.30
_PERMUTATIONS = 200
_MIN_LEAF = 20
_MAX_LEAVES = 20
_MAX_ROUNDS = 100
_ROUNDING = 1e-8
"""Relative tolerance under which numbers count as equal."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Source rows that lie among target rows.

    `decision` {"accept", "caution", "too_risky"}: By the share of selected rows: from 30 %, from
        10 %, or less.
    `fraction`: Share of the source rows in leaves where target and source mix.
    `divergence`: Kullback-Leibler divergence of the target from the source over the leaves, 0 or
        more.
    `chance`: 95 % quantile of the divergence for random divisions into target and source. Even
        related data are usually far above it, because the leaves are fitted to the rows.
    `printed`: The divergence as printed in the thesis (equations 5.17 and 5.18); it may be
        negative.
    """

    decision: str
    rows: Ints
    fraction: float
    divergence: float
    chance: float
    printed: float
    # Saved models have these.
    target_leaf: Ints
    source_leaf: Ints


def select_sources(B_T: Floats, B_S: Floats, random_state: int = 0) -> Selection:
    """Select the source rows that a target may learn from, or none of them.

    All rows are repeatedly split in two by k-means, until a leaf has at most 20 rows (or 5 % of
    all) or rows of one side only. Source rows are selected in leaves in which the share of the
    target is half to twice that of the source, and whose target rows have the same centre as all
    rows, up to two standard errors (5.17). Numbers that differ by rounding count as equal, so that
    the last bits of the positions do not matter. O(N k log N) time.
    """
    rng = np.random.default_rng(random_state)
    B = np.vstack([B_T, B_S])
    is_target = np.arange(len(B)) < len(B_T)
    leaf = _leaves(B, is_target)
    count = int(leaf.max()) + 1
    t = np.bincount(leaf[is_target], minlength=count)
    s = np.bincount(leaf[~is_target], minlength=count)
    # Half to twice the share, in integers.
    target, source = t * len(B_S), s * len(B_T)
    is_mixed = (2 * target >= source) & (target <= 2 * source)
    for number in np.flatnonzero(is_mixed):
        in_leaf = leaf == number
        is_mixed[number] = _same_centre(B[in_leaf], is_target[in_leaf])
    leaf_T, leaf_S = leaf[is_target], leaf[~is_target]
    selected = np.flatnonzero(is_mixed[leaf_S])
    fraction = len(selected) / len(B_S)
    null_divergences = [
        _divergence(*_counts(leaf, rng.permutation(is_target), count)) for _ in range(_PERMUTATIONS)
    ]
    decision = (
        "too_risky"
        if fraction < MIN_TRANSFER_SHARE
        else "caution"
        if fraction < MIN_SAFE_SHARE
        else "accept"
    )
    rows = selected if decision != "too_risky" else selected[:0]
    return Selection(
        decision,
        rows,
        fraction,
        _divergence(t, s),
        float(np.quantile(null_divergences, 0.95)),
        _printed_divergence(t, s),
        leaf_T,
        leaf_S,
    )


def bridge(p_v: Floats, v: Ints, outputs: Floats) -> Floats:
    """Translate a prediction of source classes into one of the target.

    Returns (n, Y): p(y|x) = sum_v p(v|x) p(y|v), with p(y|v) the mean output over the source rows
        of class v (equations 5.19 and 5.20). A class without source rows has the mean over all of
        them.
    """
    classes = p_v.shape[1]
    total = np.zeros((classes, outputs.shape[1]))
    np.add.at(total, v, outputs)
    count = np.bincount(v, minlength=classes)
    means = np.where(
        count[:, None] > 0, total / np.maximum(count, 1)[:, None], outputs.mean(axis=0)
    )
    return np.asarray(p_v @ means)


def quantile_bins(values: Floats, n_bins: int = 10) -> Ints:
    """Return the bin of each value; bins hold about equal numbers, and ties stay together."""
    edges = np.quantile(values, np.linspace(0.0, 1.0, n_bins + 1)[1:-1])
    return np.searchsorted(np.unique(edges), values, side="right").astype(np.int64)


def _leaves(B: Floats, is_target: Bools) -> Ints:
    min_size = max(_MIN_LEAF, len(B) / _MAX_LEAVES)
    min_spread = _ROUNDING * float(np.ptp(B, axis=0).max())
    leaf = np.zeros(len(B), dtype=np.int64)
    to_split = [np.arange(len(B))]
    n_leaves = 0
    while to_split:
        rows = to_split.pop()
        mixed = is_target[rows].any() and not is_target[rows].all()
        spread = float(np.ptp(B[rows], axis=0).max())
        halves = (
            _split_in_two(B[rows])
            if mixed and len(rows) > min_size and spread > min_spread
            else None
        )
        if halves is None:
            leaf[rows] = n_leaves
            n_leaves += 1
        else:
            to_split += [rows[halves], rows[~halves]]
    return leaf


def _split_in_two(B: Floats) -> Bools | None:
    """Split rows in two by k-means from their main direction; None if one part is empty."""
    centred = B - B.mean(axis=0)
    first = _is_non_negative(centred @ _main_direction(centred))
    for _ in range(_MAX_ROUNDS):
        if first.all() or not first.any():
            return None
        a, b = centred[first].mean(axis=0), centred[~first].mean(axis=0)
        nearer = _is_non_negative(centred @ (a - b) - (a @ a - b @ b) / 2)
        if (nearer == first).all():
            break
        first = nearer
    return first if first.any() and not first.all() else None


def _main_direction(centred: Floats) -> Floats:
    """Return the direction of largest variance; of several, the one nearest to the first axis.

    On a joint map all directions have the same variance up to rounding.
    """
    values, V = np.linalg.eigh(centred.T @ centred)
    leading = V[:, values >= (1 - _ROUNDING) * values[-1]]
    closeness = (leading**2).sum(axis=1)
    axis = int(np.argmax(closeness >= (1 - _ROUNDING) * closeness.max()))
    return np.asarray(leading @ leading[axis])


def _is_non_negative(values: Floats) -> Bools:
    """Return which values are 0 or more, up to rounding."""
    return np.asarray(values >= -_ROUNDING * np.abs(values).max())


def _same_centre(B: Floats, is_target: Bools) -> bool:
    t = int(is_target.sum())
    gap = float(((B[is_target].mean(axis=0) - B.mean(axis=0)) ** 2).sum())
    return gap <= (1 + _ROUNDING) * 4.0 * float(B.var(axis=0).sum()) / t + 1e-24


def _counts(leaf: Ints, is_target: Bools, count: int) -> tuple[Ints, Ints]:
    t = np.bincount(leaf[is_target], minlength=count)
    return t, np.bincount(leaf[~is_target], minlength=count)


def _divergence(t: Ints, s: Ints) -> float:
    # Half a row more in every leaf, to avoid the logarithm of 0.
    p, q = (t + 0.5) / (t + 0.5).sum(), (s + 0.5) / (s + 0.5).sum()
    return max(float((p * np.log(p / q)).sum()), 0.0)


def _printed_divergence(t: Ints, s: Ints) -> float:
    n_t, n_s = t.sum(), s.sum()
    a, b = t + 0.5, s + 0.5
    return float(2.0 / n_t * (a**2 / (a + b) * np.log(a / b)).sum() + np.log(n_s / n_t))

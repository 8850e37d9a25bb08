"""Axes learned from groups that a person named: the common features of their members.

    s_g = logistic regression of the members of g against all items,     on joint axes Z
    u_g = (s_g - s_g at rank N_g) / (T sd s_g)
    q   = probability of each group, from members of all groups against each other
    p_g = q_g sum_h exp u_h / (1 + sum_h exp u_h)
    c_g = 2 min(AUC_g, apart_g) - 1,    Z' = [Z, sqrt(W) c_g p_g]

u decides whether an item belongs to any group, and q to which of them, because u_g and u_h come
from two regressions with different sizes N and are not comparable; see
`hetviz.core.spectral.group_differences`. In cross-validation AUC_g measures how well members are
found again among all items, and apart_g how well they differ from members of other groups. If
either is not better than for random groups, c_g is 0 and only the members move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from hetviz._types import Floats, Ints, Rng
from hetviz.core.spectral.group_differences import group_differences, needed_difference
from hetviz.core.threads import one_thread

MIN_MEMBERS = 3
"""Minimum number of members to learn from."""
AXIS_WEIGHT = 3.0
TEMPERATURE = 1.0
MAX_SIMILAR_SHARE = 0.3
"""Maximum share of a dataset that may count as similar to a few members."""
MIN_AUC = 0.7
"""Minimum AUC of a group that is used, for any number of members."""
_AUC_SPREAD = 0.72
"""Measured on 200 random groups of 6 to 30 members on each of two data sets: at most 4 % reach
an AUC of 0.5 + 0.72 / sqrt(members)."""
_MAX_NEEDED_AUC = 0.89
"""AUC that at most 3 % of random groups of three members reach."""
_C = 0.1
_FOLDS = 5
_MAX_SAMPLE = 4_000
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LearnedGroup:
    """A named group and the items that resemble its members.

    `auc`: Probability that a left-out member scores above another item of its dataset.
    `needed`: Minimum `auc` of a learned group, which random groups seldom reach.
    `membership` (n,): Degree of membership of each item, from 0 to 1; over all learned groups of
        the dataset the sum is at most 1.
    `apart`: Probability that a left-out member is nearer to its group than a left-out member of
        another group of the dataset is; 1 without other groups.
    `needed_apart`: Minimum `apart` of a learned group, which mixed groups seldom reach.
    """

    rows: Ints
    auc: float
    needed: float
    membership: Floats
    size: int
    excluded: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    used: bool = True
    apart: float = 1.0
    needed_apart: float = 0.0

    @property
    def learned(self) -> bool:
        """Whether the members have enough in common, and only they, for other items to follow."""
        return self.auc >= self.needed and self.apart >= self.needed_apart

    @property
    def confidence(self) -> float:
        """Weight of the belief, from 0 to 1."""
        if not (self.learned and self.used):
            return 0.0
        return max(2.0 * min(self.auc, self.apart) - 1.0, 0.0)


def needed_auc(n_members: int) -> float:
    """Return the AUC that 95 % of random groups of this size stay below, at least 0.7."""
    return max(MIN_AUC, min(0.5 + _AUC_SPREAD / float(np.sqrt(n_members)), _MAX_NEEDED_AUC))


@one_thread()
def learn_groups(
    Z: Floats,
    datasets: Sequence[slice],
    groups: Sequence[Ints],
    random_state: int = 0,
    excluded_rows: Sequence[Ints] | None = None,
    describe: Callable[[slice], Sequence[Floats]] = lambda rows: (),
) -> list[LearnedGroup]:
    """Learn what the members of each group have in common.

    `Z` (n, k): Joint axes of all items; rows of 0 are unknown.
    `datasets` (sequence of slice): Rows of each dataset.
    `groups` (sequence of array of int): Rows of each group, from one dataset, at least
        `MIN_MEMBERS` and all known.
    `random_state`: Seed of the folds, and of the sample that represents a dataset of more than
        4,000 items.
    `excluded_rows` (sequence of array of int): For each group the rows of its dataset that a
        person excluded.
    `describe`: Returns further descriptions (rows, k) of a dataset with two or more groups.

    Returns: In the order of `groups`.

    Six logistic regressions per group, each O(n k) per step, and six per description of the members
    of all groups.
    """
    rng = np.random.default_rng(random_state)
    X = Z * np.sqrt(Z.shape[1])
    has_axes = (Z != 0).any(axis=1)
    learned: dict[int, LearnedGroup] = {}
    for rows in datasets:
        group_numbers = [
            g for g, members in enumerate(groups) if rows.start <= members[0] < rows.stop
        ]
        if not group_numbers:
            continue
        rows_with_axes = np.flatnonzero(has_axes[rows]) + rows.start
        sample = rows_with_axes
        if len(rows_with_axes) > _MAX_SAMPLE:
            sample = np.sort(rng.choice(rows_with_axes, _MAX_SAMPLE, replace=False))
        scores, checks = [], []
        for g in group_numbers:
            others = np.concatenate([_NO_ROWS, *(groups[h] for h in group_numbers if h != g)])
            excluded = (
                _NO_ROWS if excluded_rows is None else excluded_rows[g][has_axes[excluded_rows[g]]]
            )
            rank = _left_out_ranks(X, sample, groups[g], others, excluded, rng)
            v, c = _fit(X, sample, groups[g], others, excluded)
            s = X @ v + c
            share = min(
                2.0 * float(np.median(rank)) + len(groups[g]) / len(rows_with_axes),
                MAX_SIMILAR_SHARE,
            )
            size = max(round(share * len(rows_with_axes)), len(groups[g]))
            at_rank = np.sort(s[rows_with_axes])[::-1][min(size, len(rows_with_axes)) - 1]
            spread = float(s[rows_with_axes].std()) or 1.0
            scores.append((s - at_rank) / (TEMPERATURE * spread))
            checks.append((1.0 - float(rank.mean()), size, excluded))
        u = np.clip(np.stack([*scores, np.zeros(len(Z))], axis=1), -30.0, 30.0)
        p = np.exp(u)
        p /= p.sum(axis=1, keepdims=True)
        p[~has_axes] = 0.0
        needed = [needed_auc(len(groups[g])) for g in group_numbers]
        apart, needed_apart = np.ones(len(group_numbers)), np.zeros(len(group_numbers))
        if len(group_numbers) > 1:
            descriptions = [X[rows], *describe(rows)]
            members = [groups[g] - rows.start for g in group_numbers]
            differences = group_differences(descriptions, members, rng)
            apart = differences.auc
            needed_apart = np.array([needed_difference(len(groups[g])) for g in group_numbers])
            found = [place for place, (auc, _, _) in enumerate(checks) if auc >= needed[place]]
            if 1 < len(found) < len(members):
                differences = group_differences(descriptions, [members[k] for k in found], rng)
            if len(found) > 1:
                belongs = p[rows][:, found].sum(axis=1, keepdims=True)
                p[rows.start : rows.stop, found] = differences.probability * belongs
        for place, (g, (auc, size, excluded)) in enumerate(zip(group_numbers, checks, strict=True)):
            p[excluded, place] = 0.0
            learned[g] = LearnedGroup(
                groups[g],
                auc,
                needed[place],
                p[:, place],
                size,
                excluded,
                apart=float(apart[place]),
                needed_apart=float(needed_apart[place]),
            )
    return [learned[g] for g in range(len(groups))]


def group_axes(groups: Sequence[LearnedGroup]) -> Floats:
    """Return the axes to append to Z: sqrt(weight) c_g p_g of each used group, shape (n, g)."""
    axes = [
        np.sqrt(AXIS_WEIGHT) * group.confidence * group.membership
        for group in groups
        if group.confidence > 0
    ]
    if not axes:
        return np.zeros((len(groups[0].membership) if groups else 0, 0))
    return np.column_stack(axes)


def auc_by_distance(F: Floats, members: Ints) -> float:
    """Return the probability that a left-out member is nearer to a member than a non-member is."""
    D = cdist(F, F[members])
    non_members = np.setdiff1d(np.arange(len(F)), members)
    if not len(non_members):
        return 0.5
    shares = []
    for place, row in enumerate(members):
        nearest = np.delete(D, place, axis=1).min(axis=1)
        shares.append(float((nearest[non_members] < nearest[row]).mean()))
    return 1.0 - float(np.mean(shares))


def _left_out_ranks(
    X: Floats, sample: Ints, members: Ints, others: Ints, excluded: Ints, rng: Rng
) -> Floats:
    """Return, for each left-out member, the share of other items that score above it."""
    order = rng.permutation(len(members))
    folds = min(_FOLDS, len(members))
    background = X[np.setdiff1d(sample, members)]
    rank = np.zeros(len(members))
    for fold in range(folds):
        left_out = order[fold::folds]
        v, c = _fit(X, sample, np.delete(members, left_out), others, excluded)
        scores = np.sort(background @ v + c)
        own_scores = X[members[left_out]] @ v + c
        above = len(scores) - np.searchsorted(scores, own_scores, side="right")
        rank[left_out] = above / max(len(scores), 1)
    return rank


def _fit(
    X: Floats, sample: Ints, members: Ints, others: Ints, excluded: Ints
) -> tuple[Floats, float]:
    """Return direction and offset that separate members from all items and from other groups.

    Members have total weight 1, all items 1, members of other groups 1. Each excluded item has the
    weight of a member, in total at most 1.
    """
    rows = np.concatenate([sample, others, excluded, members])
    y = np.repeat([0, 0, 0, 1], [len(sample), len(others), len(excluded), len(members)])
    w = np.concatenate(
        [np.full(len(part), 1.0 / max(len(part), 1)) for part in (sample, others)]
        + [np.full(len(excluded), 1.0 / max(len(excluded), len(members)))]
        + [np.full(len(members), 1.0 / len(members))]
    )
    model = LogisticRegression(C=_C, max_iter=100, tol=1e-3)
    model.fit(X[rows], y, w * (2.0 * len(members)))
    return model.coef_[0], float(model.intercept_[0])

"""Axes from groups that a person named: what a few items have in common, looked for in all.

    s_g = logistic regression of the named of g against all items,       on joint axes Z
    u_g = (s_g - s_g at rank N_g) / (T sd s_g)
    q   = logistic regression of the named of all groups against each other
    p_g = q_g sum_h exp u_h / (1 + sum_h exp u_h),                       c_g = 2 AUC_g - 1
    Z'  = [Z, sqrt(W) c_g p_g]

Whether an item belongs to any group is told by u, to which of them by q: u_g and u_h come of two
regressions, each with its own end N, and do not compare well. AUC_g says how well named items are
found again when each is left out in turn. Where that is no better than it would be for items named
by chance, c_g is 0 and nothing but the named moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from hetviz._types import Floats, Ints
from hetviz.core.threads import one_thread

LEAST_NAMED = 3
"""Fewer items have too little in common to learn from."""
WEIGHT = 3.0
TEMPERATURE = 1.0
MOST_LIKE = 0.3
"""No more than this share of a dataset is taken to be like a few named items."""
SURE = 0.7
"""Less than this is too little to act on, however many were named."""
_SPREAD = 0.72
"""Measured on 200 groups of 6 to 30 named by chance on each of two data sets: at most 4 in 100
reach .5 + .72 / sqrt(named)."""
_AT_MOST = 0.89
"""What at most 3 in 100 groups of three named by chance reach."""
_C = 0.1
_STEPS = 300
_FOLDS = 5
_BACKGROUND = 4_000
_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TaughtGroup:
    """What was learned of items that are said to belong together.

    Attributes
    ----------
    rows : array of int
        The named items.
    auc : float
        Chance that a named item, left out, is found before another item of its dataset.
    needed : float
        The least `auc` that items named by chance seldom reach.
    belief : array of shape (n,)
        How far each item is like the named, from 0 to 1; over all groups of the dataset of which
        something was learned the sum is 1 at most.
    size : int
        About how many items of the dataset are like the named, these counted.
    refused : array of int
        The items that were said not to belong with them.
    heeded : bool
        Whether the belief counts; not where it is told better without it.
    """

    rows: Ints
    auc: float
    needed: float
    belief: Floats
    size: int
    refused: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    heeded: bool = True

    @property
    def learned(self) -> bool:
        """Whether the named have enough in common for others to follow."""
        return self.auc >= self.needed

    @property
    def confidence(self) -> float:
        """How much the belief counts, from 0 to 1."""
        return max(2.0 * self.auc - 1.0, 0.0) if self.learned and self.heeded else 0.0


def needed_auc(n_named: int) -> float:
    """Return the AUC that 95 of 100 groups of so many items named by chance stay below, or .7."""
    return max(SURE, min(0.5 + _SPREAD / float(np.sqrt(n_named)), _AT_MOST))


@one_thread()
def learn_groups(
    Z: Floats,
    datasets: Sequence[slice],
    groups: Sequence[Ints],
    random_state: int = 0,
    refused: Sequence[Ints] | None = None,
) -> list[TaughtGroup]:
    """Learn what the items of each group have in common.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Joint axes of all items; rows of 0 are unknown.
    datasets : sequence of slice
        Rows of each dataset.
    groups : sequence of array of int
        Rows of each group, of one dataset, `LEAST_NAMED` or more and all known.
    random_state : int
        Of the folds, and of the sample that stands for a dataset of more than 4,000 items.
    refused : sequence of array of int, optional
        For each group the rows of its dataset that were said not to belong with it.

    Returns
    -------
    list of TaughtGroup
        In the order of `groups`.

    Notes
    -----
    Six logistic regressions a group, each O(n k) a step, and one of the named alone.
    """
    rng = np.random.default_rng(random_state)
    X = Z * np.sqrt(Z.shape[1])
    known = (Z != 0).any(axis=1)
    found: dict[int, TaughtGroup] = {}
    for rows in datasets:
        mine = [g for g, named in enumerate(groups) if rows.start <= named[0] < rows.stop]
        if not mine:
            continue
        here = np.flatnonzero(known[rows]) + rows.start
        sample = here
        if len(here) > _BACKGROUND:
            sample = np.sort(rng.choice(here, _BACKGROUND, replace=False))
        scores, checks = [], []
        for g in mine:
            others = np.concatenate([_NONE, *(groups[h] for h in mine if h != g)])
            not_these = _NONE if refused is None else refused[g][known[refused[g]]]
            rank = _left_out(X, sample, groups[g], others, not_these, rng)
            v, c = _fit(X, sample, groups[g], others, not_these)
            s = X @ v + c
            share = min(2.0 * float(np.median(rank)) + len(groups[g]) / len(here), MOST_LIKE)
            size = max(round(share * len(here)), len(groups[g]))
            at_rank = np.sort(s[here])[::-1][min(size, len(here)) - 1]
            spread = float(s[here].std()) or 1.0
            scores.append((s - at_rank) / (TEMPERATURE * spread))
            checks.append((1.0 - float(rank.mean()), size, not_these))
        u = np.clip(np.stack([*scores, np.zeros(len(Z))], axis=1), -30.0, 30.0)
        p = np.exp(u)
        p /= p.sum(axis=1, keepdims=True)
        p[~known] = 0.0
        needed = [needed_auc(len(groups[g])) for g in mine]
        sound = [place for place, (auc, _, _) in enumerate(checks) if auc >= needed[place]]
        if len(sound) > 1:
            q = _which(X, [groups[mine[place]] for place in sound])
            p[:, sound] = q * p[:, sound].sum(axis=1, keepdims=True)
        for place, (g, (auc, size, not_these)) in enumerate(zip(mine, checks, strict=True)):
            p[not_these, place] = 0.0
            found[g] = TaughtGroup(groups[g], auc, needed[place], p[:, place], size, not_these)
    return [found[g] for g in range(len(groups))]


def group_axes(taught: Sequence[TaughtGroup], weight: float = WEIGHT) -> Floats:
    """Return the axes to put beside Z: sqrt(weight) c_g p_g of each group that counts, (n, g)."""
    axes = [
        np.sqrt(weight) * group.confidence * group.belief
        for group in taught
        if group.confidence > 0 and weight > 0
    ]
    if not axes:
        return np.zeros((len(taught[0].belief) if taught else 0, 0))
    return np.column_stack(axes)


def auc_by_distance(F: Floats, named: Ints) -> float:
    """Return the chance that a named row, left out, is nearer to another than an unnamed row is.

    Parameters
    ----------
    F : ndarray of shape (n, k)
    named : array of int
        Two or more.

    Notes
    -----
    O(n s k + n s^2) for s named.
    """
    D = cdist(F, F[named])
    unnamed = np.setdiff1d(np.arange(len(F)), named)
    if not len(unnamed):
        return 0.5
    shares = []
    for place, row in enumerate(named):
        nearest = np.delete(D, place, axis=1).min(axis=1)
        shares.append(float((nearest[unnamed] < nearest[row]).mean()))
    return 1.0 - float(np.mean(shares))


def _left_out(
    X: Floats, sample: Ints, named: Ints, others: Ints, refused: Ints, rng: np.random.Generator
) -> Floats:
    """Return for each named item, left out, the share of other items that score above it."""
    order = rng.permutation(len(named))
    folds = min(_FOLDS, len(named))
    background = X[np.setdiff1d(sample, named)]
    rank = np.zeros(len(named))
    for fold in range(folds):
        out = order[fold::folds]
        v, c = _fit(X, sample, np.delete(named, out), others, refused)
        scores = np.sort(background @ v + c)
        mine = X[named[out]] @ v + c
        above = len(scores) - np.searchsorted(scores, mine, side="right")
        rank[out] = above / max(len(scores), 1)
    return rank


def _fit(X: Floats, sample: Ints, named: Ints, others: Ints, refused: Ints) -> tuple[Floats, float]:
    """Return direction and offset that tell the named from all items and from other groups.

    The named weigh 1 in all, all items 1, those named of other groups 1, and each refused one as
    much as each named, all together 1 at most.
    """
    rows = np.concatenate([sample, others, refused, named])
    y = np.repeat([0, 0, 0, 1], [len(sample), len(others), len(refused), len(named)])
    w = np.concatenate(
        [np.full(len(part), 1.0 / max(len(part), 1)) for part in (sample, others)]
        + [np.full(len(refused), 1.0 / max(len(refused), len(named)))]
        + [np.full(len(named), 1.0 / len(named))]
    )
    model = LogisticRegression(C=_C, max_iter=100, tol=1e-3)
    model.fit(X[rows], y, w * (2.0 * len(named)))
    return model.coef_[0], float(model.intercept_[0])


def _which(X: Floats, groups: Sequence[Ints]) -> Floats:
    """Return how likely each row is of each group if it is of one: shape (n, groups)."""
    y = np.repeat(np.arange(len(groups)), [len(named) for named in groups])
    w = len(y) / len(groups) / np.array([len(named) for named in groups])[y]
    model = LogisticRegression(C=_C, max_iter=_STEPS, tol=1e-3)
    model.fit(X[np.concatenate(groups)], y, w)
    return np.asarray(model.predict_proba(X), dtype=np.float64)

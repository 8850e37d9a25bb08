"""Probabilities of groups from several descriptions, and a check that they can be distinguished.

    log q_g = sum_m w_m log q_mg - log Z,     w_m proportional to max(0, 2 AUC_m - 1)^4

q_m is the logistic regression of the members of all groups against each other on description m, and
AUC_m how well held-out members are distinguished from those of other groups. A class may differ
from others in details that the joint axes leave out, so features and links also describe items
directly, with small components raised to the size of large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from hetviz._types import Floats, Ints, Rng
from hetviz.core.spectral.joint_axes import unit

LENGTH = 8.0
"""Length of the rows of a description: as joint axes have with 64 columns."""
FEATURE_RIDGE = 0.1
JOINT_RIDGE = 1.0
_C = 0.1
_MAX_STEPS = 300
_FOLDS = 5
_POWER = 4
_MIN_APART = 0.65
_APART_SPREAD = 0.9
"""Measured on groups of 3 to 20 items mixed at random within a cluster, 32 to 96 of each size."""
_MAX_NEEDED_APART = 0.95


@dataclass(frozen=True, eq=False)
class GroupDifferences:
    """Probabilities of each group, and how well groups are distinguished."""

    probability: Floats
    auc: Floats
    weight: Floats


def needed_difference(n_members: int) -> float:
    """Return the AUC that few groups whose members were mixed at random reach."""
    spread = _APART_SPREAD / float(np.sqrt(n_members))
    return max(_MIN_APART, min(0.5 + spread, _MAX_NEEDED_APART))


def whiten(X: Floats, ridge: float) -> Floats:
    """Return rows of length `LENGTH` with components of similar size."""
    is_known = (X != 0).any(axis=1)
    out = np.zeros_like(X)
    if not is_known.any():
        return out
    known = X[is_known] - X[is_known].mean(axis=0)
    values, V = np.linalg.eigh(known.T @ known / len(known))
    values = np.maximum(values, 0.0)
    mean = float(values.mean())
    if mean > 0:
        out[is_known] = unit(known @ V / np.sqrt(values + ridge * mean)) * LENGTH
    return out


def group_differences(
    descriptions: Sequence[Floats], groups: Sequence[Ints], rng: Rng
) -> GroupDifferences:
    """Tell groups apart by several descriptions.

    `descriptions` (sequence of (n, k)): The first one is used where none tells groups apart.
    """
    rows = np.concatenate(groups)
    y = np.repeat(np.arange(len(groups)), [len(members) for members in groups])
    fold = np.concatenate([rng.permutation(len(members)) % _FOLDS for members in groups])
    held_out, whole = [], []
    for X in descriptions:
        logs = np.empty((len(rows), len(groups)))
        for number in range(_FOLDS):
            out = fold == number
            if out.any():
                logs[out] = _fit(X[rows[~out]], y[~out]).predict_log_proba(X[rows[out]])
        held_out.append(logs)
        whole.append(_fit(X[rows], y).predict_log_proba(X))
    skill = np.array([max(0.0, 2.0 * _auc(logs, y).mean() - 1.0) ** _POWER for logs in held_out])
    if not skill.any():
        skill[0] = 1.0
    weight = skill / skill.sum()
    apart = _auc(np.log(_mixed(held_out, weight)), y)
    return GroupDifferences(_mixed(whole, weight), apart, weight)


def _fit(X: Floats, y: Ints) -> LogisticRegression:
    """Return the regression with equal total weight of every group."""
    size = np.bincount(y)
    w = len(y) / len(size) / size[y]
    return LogisticRegression(C=_C, max_iter=_MAX_STEPS, tol=1e-3).fit(X, y, w)


def _mixed(logs: Sequence[Floats], weight: Floats) -> Floats:
    total = sum(w * part for w, part in zip(weight, logs, strict=True))
    P = np.exp(total - np.max(total, axis=1, keepdims=True))
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def _auc(logs: Floats, y: Ints) -> Floats:
    """Return for each group how often one of its rows scores above a row of another group."""
    areas = np.empty(logs.shape[1])
    for g in range(logs.shape[1]):
        own, other = logs[y == g, g][:, None], logs[y != g, g][None]
        areas[g] = (own > other).mean() + 0.5 * (own == other).mean()
    return areas

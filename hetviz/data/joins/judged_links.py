"""Probabilities of proposed links from answers about some of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints
from hetviz.errors import DataError

MIN_ANSWERS = 10
# Of a pair, and of all pairs that are used together, see benchmarks/links.md.
_LEAST_PROBABILITY, _LEAST_MEAN = 0.2, 0.5
_ROUND, _GOLDEN = 10, 0.6180339887498949
_ANSWERS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
# Of the intercept, the similarity and the pairs that are the best of their rows, see
# benchmarks/links.md.
_PRIOR_MEAN, _PRIOR_STD = (0.0, 1.0, 1.0), (2.5, 1.0, 1.0)
_NEWTON_STEPS = 50


def judge_links(proposed: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Weight proposed links by answers about some of them.

    Parameters
    ----------
    proposed : DataFrame
        Pairs of two datasets with the columns ``source_id``, ``target_id`` and ``similarity``, as
        `hetviz.propose_links` returns them without answers.
    answers : DataFrame
        All pairs that were judged: columns ``source_id``, ``target_id`` and ``right`` (bool, or
        "yes" and "no"). Pairs that were not proposed and rows with an empty ``right`` are ignored.
        Of several answers about a pair the last one counts.

    Returns
    -------
    DataFrame
        The pairs that were not judged wrong. Those judged right have the ``weight`` 1. With at
        least ten answers the column ``probability`` is filled in, and is the weight of all.
        ``data.edit().add`` accepts them as links.

    Raises
    ------
    hetviz.errors.DataError
        If a column is missing, or an answer is neither yes nor no.

    Notes
    -----
    See `hetviz.propose_links`. *Ask me* and the review of files in the app use this function. Costs
    O(n).

    Examples
    --------
    >>> import pandas as pd
    >>> from hetviz import judge_links
    >>> proposed = pd.DataFrame({"source_id": list("abc"), "target_id": list("xyz"),
    ...                          "weight": [0.9, 0.8, 0.5], "similarity": [0.9, 0.8, 0.5]})
    >>> answers = pd.DataFrame({"source_id": ["a", "c"], "target_id": ["x", "z"],
    ...                         "right": ["yes", "no"]})
    >>> judge_links(proposed, answers)[["source_id", "weight"]].to_numpy().tolist()
    [['a', 1.0], ['b', 0.8]]
    """
    for frame, name, last in ((proposed, "proposed", "similarity"), (answers, "answers", "right")):
        if not {"source_id", "target_id", last} <= set(frame.columns):
            have = ", ".join(map(str, frame.columns))
            message = f"source_id, target_id and {last} are needed"
            raise DataError.of("columns", name, message, have)
    judged = {}
    rows = zip(answers["source_id"], answers["target_id"], answers["right"], strict=True)
    for number, (a, b, answer) in enumerate(rows, start=1):
        if pd.isna(answer) or not str(answer).strip():
            continue
        meaning = _ANSWERS.get(str(answer).strip().casefold())
        if meaning is None:
            where = f"answers, row {number}, right"
            raise DataError.of("bad-answer", where, "yes or no is needed", str(answer))
        judged[str(a), str(b)] = meaning
    pairs = zip(proposed["source_id"].map(str), proposed["target_id"].map(str), strict=True)
    answer_of = [judged.get(pair) for pair in pairs]
    answered = np.array([k for k, right in enumerate(answer_of) if right is not None], np.int64)
    right = np.array([bool(answer_of[row]) for row in answered], dtype=bool)
    frame = proposed.reset_index(drop=True)
    are_enough = len(answered) >= MIN_ANSWERS
    if are_enough:
        weight = _probabilities(frame, answered, right)
    else:
        weight = frame.get("weight", frame["similarity"]).to_numpy(np.float64, copy=True)
    # Those judged wrong are dropped below.
    weight[answered] = 1.0
    frame["weight"] = weight
    if are_enough:
        frame["probability"] = weight
    others: pd.DataFrame = frame.drop(index=answered[~right])
    return others.reset_index(drop=True)


def usable_links(judged: pd.DataFrame) -> pd.DataFrame:
    """Return the likeliest pairs, as many as are more often right than wrong; all if unjudged."""
    if judged["probability"].isna().all():
        return judged
    likeliest = judged["probability"].sort_values(ascending=False, kind="stable")
    are_used = (likeliest >= _LEAST_PROBABILITY) & (likeliest.expanding().mean() >= _LEAST_MEAN)
    return judged[are_used.reindex(judged.index)]


def judging_order(n_pairs: int, n: int) -> list[int]:
    """Return up to n positions of pairs to judge, each ten spread over all pairs."""
    order: dict[int, None] = {}
    for number in range(0, 2 * n_pairs, _ROUND):
        # The fractional parts of multiples of the golden ratio are spread evenly.
        start = (0.5 + number / _ROUND * _GOLDEN) % 1.0
        order |= dict.fromkeys(int((k + start) * n_pairs / _ROUND) for k in range(_ROUND))
        if len(order) >= min(n, n_pairs):
            break
    return list(order)[:n]


def _probabilities(proposed: pd.DataFrame, rows: Ints, right: Bools) -> Floats:
    """Return the probability of each pair, by logistic regression on the answered ones, (k,)."""
    similarity = proposed["similarity"]
    clipped = np.clip(similarity.to_numpy(np.float64), 0.01, 0.99)
    # Of how many of its two rows the pair is the most similar one.
    n_best = sum(
        (proposed.groupby(end)["similarity"].transform("max") == similarity).to_numpy(np.float64)
        for end in ("source_id", "target_id")
    )
    evidence = [np.log(clipped / (1 - clipped)), np.asarray(n_best)]
    spread = [values.std() or 1.0 for values in evidence]
    scaled = [(x - x.mean()) / s for x, s in zip(evidence, spread, strict=True)]
    A = np.column_stack([np.ones(len(proposed)), *scaled])
    theta, precision = np.zeros(3), np.diag(1 / np.square(_PRIOR_STD))
    for _ in range(_NEWTON_STEPS):
        p = 1 / (1 + np.exp(-A[rows] @ theta))
        gradient = A[rows].T @ (p - right) + precision @ (theta - _PRIOR_MEAN)
        hessian = (A[rows].T * (p * (1 - p))) @ A[rows] + precision
        theta = theta - np.linalg.solve(hessian, gradient)
    return np.asarray(1 / (1 + np.exp(-A @ theta)))

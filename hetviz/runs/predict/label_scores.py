"""Errors of label prediction on held-out labels, compared with simple models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, is_sparse
from hetviz.core.prediction import gbc
from hetviz.core.prediction.gbc import GbcSettings, GbcSource, fit_gbc, probabilities
from hetviz.features.problems.label_problems import LabelProblem
from hetviz.progress import Progress, ProgressPart


def split_labels(
    y: Floats, usable: Ints, share: float, task: str, random_state: int
) -> tuple[Ints, Ints]:
    """Split labelled items, class by class, into a share for training and the others for testing.

    Training has at least one item of each class, and testing at least one item.
    """
    rng = np.random.default_rng(random_state)
    groups = np.zeros(len(usable)) if task == gbc.NUMBER else y[usable]
    training_parts = []
    for value in np.unique(groups):
        members = rng.permutation(usable[groups == value])
        training_parts.append(members[: min(max(round(share * len(members)), 1), len(members))])
    training = np.sort(np.concatenate(training_parts))
    hidden = np.setdiff1d(usable, training)
    if not len(hidden):
        hidden, training = training[-1:], training[:-1]
    return training, hidden


def error_of(task: str, margin: Floats, y: Floats) -> float:
    """Return the share of wrong classes, or the root mean square error of numbers."""
    if task == gbc.NUMBER:
        return float(np.sqrt(((margin[:, 0] - y) ** 2).mean()))
    return float((probabilities(margin).argmax(axis=1) != y).mean())


def baselines(
    problem: LabelProblem, y: Floats, settings: GbcSettings
) -> Iterator[tuple[str, Floats, Bools]]:
    """Yield name, margins (n, K) and a mask of items for the simple models.

    These are trees on each source alone, their vote with equal weights, trees on all features
    joined (with gaps for missing items), and the most frequent class or the mean.
    """
    plain = replace(settings, lam0=0.0, lam1=0.0, weights="equal")
    Y, task, n = problem.targets(y), problem.column.task, len(y)
    margins: list[Floats] = []
    used_parts = []
    for name, part in zip(problem.names, problem.parts, strict=True):
        if not np.isfinite(y[part.rows]).any():
            continue
        single = fit_gbc([part], [], Y, task, plain)
        is_covered = np.zeros(n, dtype=bool)
        is_covered[part.rows] = True
        margins.append(single.margins[0])
        used_parts.append(part)
        yield f"{name} alone", single.joint, is_covered
    if len(problem.parts) > 1:
        rows = [part.rows for part in used_parts]
        E = gbc.consensus(margins, rows, np.full(len(rows), 1.0 / len(rows)), n)
        prior = single.prior
        yield "vote", np.where(np.isnan(E), prior, E), np.ones(n, dtype=bool)
        joined = fit_gbc([joined_source(problem.parts, n)], [], Y, task, plain)
        yield "joined features", joined.joint, np.ones(n, dtype=bool)
    yield "guess", np.tile(_guess(task, Y), (n, 1)), np.ones(n, dtype=bool)


def joined_source(parts: Sequence[GbcSource], n: int) -> GbcSource:
    """Return all features side by side, with NaN for items that a source lacks (0 if sparse)."""
    if any(is_sparse(part.X) for part in parts):
        blocks = []
        for part in parts:
            place = (np.ones(len(part.rows)), (part.rows, np.arange(len(part.rows))))
            blocks.append(sp.csr_array(place, shape=(n, len(part.rows))) @ sp.csr_array(part.X))
        return GbcSource(sp.csr_array(sp.hstack(blocks)), np.arange(n))
    X = np.full((n, sum(part.X.shape[1] for part in parts)), np.nan)
    start = 0
    for part in parts:
        stop = start + part.X.shape[1]
        X[part.rows, start:stop] = part.X
        start = stop
    return GbcSource(X, np.arange(n))


def held_out_errors(
    problem: LabelProblem,
    model: Any,
    settings: GbcSettings,
    share: float,
    repeats: int,
    random_state: int,
    progress: Progress,
) -> pd.DataFrame:
    """Return held-out errors of the consensus and of simple models with the same settings.

    Each row has model, error (mean over repeats), standard_error, n (test labels in a repeat) and
    repeats. `share` is that of the training labels.
    """
    recorded = np.zeros(len(problem.y), dtype=bool)
    for part in problem.parts:
        recorded[part.rows] = True
    usable = np.flatnonzero(np.isfinite(problem.y) & recorded)
    errors: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    task = problem.column.task
    for repeat in range(repeats):
        training, hidden = split_labels(problem.y, usable, share, task, random_state + repeat)
        training_y = np.full(len(problem.y), np.nan)
        training_y[training] = problem.y[training]
        low, high = repeat / repeats, (repeat + 0.5) / repeats
        _, fitted = model.train(problem, training_y, ProgressPart(progress, low, high))
        all_items = np.ones(len(training_y), dtype=bool)
        results = [("gbc", fitted.joint, all_items)]
        for step in baselines(problem, training_y, settings):
            results.append(step)
            share_done = len(results) / (len(problem.parts) + 5)
            progress(high + (low + 1 / repeats - high) * share_done, f"Comparing with {step[0]}")
        for name, margin, is_covered in results:
            rows = hidden[is_covered[hidden]]
            if len(rows):
                errors.setdefault(name, []).append(error_of(task, margin[rows], problem.y[rows]))
                counts[name] = len(rows)
    return error_table(errors, counts)


def error_table(errors: dict[str, list[float]], counts: dict[str, int]) -> pd.DataFrame:
    """Return one row for each model, from its errors by repeat."""
    rows = []
    for name, values in errors.items():
        spread = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        rows.append((name, float(np.mean(values)), float(spread), counts[name], len(values)))
    columns = ["model", "error", "standard_error", "n", "repeats"]
    return pd.DataFrame(rows, columns=columns)


def _guess(task: str, Y: Floats) -> Floats:
    """Return the margin of a guess: the mean, or the most frequent class."""
    mean = np.nanmean(Y, axis=0)
    if task == gbc.NUMBER or len(mean) == 1:
        return np.asarray(mean)
    return np.where(np.arange(len(mean)) == mean.argmax(), 1.0, -1.0)

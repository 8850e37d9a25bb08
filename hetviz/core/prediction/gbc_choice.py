"""Rounds and both lambdas of gradient boosting consensus, chosen by labels held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.prediction import gbc
from hetviz.core.prediction.gbc_fit import GbcSettings, fit_gbc
from hetviz.core.prediction.gbc_held_out import GbcSource, folds_of
from hetviz.progress import Part, Progress

LAM0 = (0.0, 0.1, 0.3, 1.0)
LAM1 = (0.0, 0.03, 0.1, 0.3)
MOST_ROUNDS = 200
_FOLDS = 3
_EARLY_SHARE = 5
_PATIENCE = 20


def chosen(
    sources: Sequence[GbcSource],
    graphs: Sequence[Any],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    open_: Sequence[str],
    progress: Progress,
) -> GbcSettings:
    """Return the settings with what is open filled in.

    Parameters
    ----------
    sources, graphs, Y, task
        As in `hetviz.core.prediction.gbc_fit.fit_gbc`.
    settings : GbcSettings
        Values of what is not open; `n_rounds` counts as 100 while it is.
    open_ : sequence of {"lam0", "lam1", "n_rounds", "early"}
        "n_rounds" is chosen by cross-validation, "early" by one fifth of the labels: training
        stops when 20 rounds did not help them, once sources have heard each other for as many.
    progress : callable

    Notes
    -----
    Three folds, the loss of the consensus on their labels; first lam0 without links, then lam1,
    then rounds: up to 8 fits of 200 rounds for each fold.
    """
    known = np.flatnonzero(np.isfinite(Y).all(axis=1))
    early = "early" in open_
    n_folds = _EARLY_SHARE if early else _FOLDS
    n_folds = min(n_folds, len(known))
    fold = folds_of(Y, known, n_folds, settings.trees.random_state)
    curve_wanted = early or "n_rounds" in open_
    if curve_wanted:
        settings = replace(settings, n_rounds=MOST_ROUNDS)
    grids = {"lam0": LAM0, "lam1": LAM1 if graphs else ()}
    grids = {name: values for name, values in grids.items() if name in open_ and values}
    steps = sum(map(len, grids.values()))

    def judge(tried: GbcSettings, step: int) -> Floats:
        part = Part(progress, step / (steps + 1), (step + 1) / (steps + 1))
        parts = range(1) if early else range(n_folds)
        curves = [
            _curve(
                sources,
                graphs,
                Y,
                task,
                tried,
                known[fold == number],
                Part(part, number / len(parts), (number + 1) / len(parts)),
                _PATIENCE if early else None,
            )
            for number in parts
        ]
        return np.asarray(np.mean([curve[: min(map(len, curves))] for curve in curves], axis=0))

    done = 0
    if "lam1" in grids:
        settings = replace(settings, lam1=0.0)
    for name, values in grids.items():
        losses = []
        for value in values:
            curve = judge(_with(settings, name, value), done)
            losses.append(float(curve.min() if curve_wanted else curve[-1]))
            done += 1
        settings = _with(settings, name, values[int(np.argmin(losses))])
    if curve_wanted:
        settings = replace(settings, n_rounds=int(judge(settings, done).argmin()) + 1)
    return settings


def _with(settings: GbcSettings, name: str, value: float) -> GbcSettings:
    return replace(settings, lam0=value) if name == "lam0" else replace(settings, lam1=value)


def _curve(
    sources: Sequence[GbcSource],
    graphs: Sequence[Any],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    hidden: Ints,
    progress: Progress,
    patience: int | None,
) -> Floats:
    """Return the loss of the consensus on hidden labels, by round."""
    seen = Y.copy()
    seen[hidden] = np.nan
    losses: list[float] = []

    def watch(_: int, E: Floats) -> bool:
        losses.append(float(gbc.label_loss(task, E[hidden], Y[hidden]).mean()))
        if patience is None or len(losses) <= settings.n_alone + patience:
            return False
        return len(losses) - int(np.argmin(losses)) > patience

    fit_gbc(sources, graphs, seen, task, settings, progress, watch)
    return np.array(losses)

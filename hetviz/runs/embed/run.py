"""One run: a method fitted to data, and the record that lets it be repeated."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any

from hetviz import params as parameters
from hetviz._types import Ints
from hetviz._version import __version__
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled, ConvergenceWarning, DataWarning
from hetviz.progress import Progress, ignore_progress
from hetviz.runs.embed.scope import Scope, scope_of

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


@dataclass(frozen=True)
class Run:
    """What was run, on what, with what.

    Attributes
    ----------
    fingerprint : str
        Of the data, see `HeteroData.fingerprint`.
    method : str
        Key of the method.
    params : mapping of str to object
        Every parameter, given or default; without the seed.
    seed : int
    versions : mapping of str to str
        Of Python, hetviz and the numeric packages; and the graphics card, if one computed it.
    seconds : float
        Wall-clock time of the fit.
    weights : mapping of str to float
        Key of a kind of links to what its weights were multiplied by.
    only : array of int or None
        Global rows that the method saw; None for all.
    hold_out : float
        Share of the links, and of the comparisons, that the method did not see.
    """

    fingerprint: str
    method: str
    params: Mapping[str, Any]
    seed: int
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    only: Ints | None = None
    hold_out: float = 0.0


@dataclass(frozen=True, eq=False)
class FittedRun:
    """A run with its result.

    Attributes
    ----------
    run : Run
    model : BaseEmbedder
        Fitted; ``model.transform`` places new rows where the card says so.
    embedding : Embedding
        Of all rows of the data; those that the method did not see have no place.
    scope : Scope
        What the method saw, and what the map is measured by.
    """

    run: Run
    model: BaseEmbedder
    embedding: Embedding
    scope: Scope


@dataclass(frozen=True, eq=False)
class Made:
    """What an embedding was made of, and how; it shows itself by that in a notebook.

    Attributes
    ----------
    data : HeteroData
    run : Run
    """

    data: HeteroData
    run: Run


def fit_run(
    data: HeteroData,
    key: str,
    params: Mapping[str, object] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
    hold_out: float = 0.0,
    start: Embedding | None = None,
) -> FittedRun:
    """Fit a method and keep the record of it.

    Parameters
    ----------
    data : HeteroData
    key : str
        Of the method.
    params : mapping of str to object, optional
        Where absent, the defaults.
    seed : int
        Passed as ``random_state`` to methods that declare it; also of what is held out.
    progress : callable, optional
        Partial layouts are told as layouts of all rows.
    weights : mapping of str to float, optional
        Key of a kind of links (`hetviz.data.model.links.kind_key`) to a factor from 0 to 1.
    only : array of int, optional
        Global rows that the method sees; the others get no place.
    hold_out : float
        Share of the links and of the comparisons of those rows to keep from the method.
    start : Embedding, optional
        An earlier map to go on from, for methods that can; it is not part of the record.

    Raises
    ------
    hetviz.errors.ParameterError, hetviz.errors.NotApplicableError, hetviz.errors.DataError
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is the embedding so far, where there is one.
    """
    method = get_method(key)
    checked = parameters.check(key, method.params, dict(params or {}))
    if "random_state" in method.params and "random_state" not in (params or {}):
        given = {"random_state": seed}
        checked["random_state"] = parameters.check(key, method.params, given)["random_state"]
    seed = int(checked.pop("random_state", seed))
    scope = scope_of(data, weights, only, hold_out, seed)
    settings = scope.params(checked)
    if "random_state" in method.params:
        settings["random_state"] = seed
    report = ignore_progress if progress is None else progress
    started = time.perf_counter()
    try:
        model = method(**settings).fit(scope.seen, scope.progress(report), start)
    except Cancelled as stopped:
        if stopped.partial is not None:
            stopped.partial = scope.of_all(stopped.partial)
        raise
    seconds = time.perf_counter() - started
    run = Run(
        data.fingerprint(),
        key,
        checked,
        seed,
        versions() | computed_on(model),
        seconds,
        dict(weights or {}),
        scope.rows,
        hold_out,
    )
    return FittedRun(run, model, scope.of_all(model.embedding_), scope)


def fit_again(data: HeteroData, run: Run, progress: Progress | None = None) -> FittedRun:
    """Fit what a record tells once more: same method, settings, seed, weights and rows.

    Parameters
    ----------
    data : HeteroData
        The data of that run; that they are the same is for the caller to look at.
    run : Run
    progress : callable, optional

    Returns
    -------
    FittedRun

    Raises
    ------
    hetviz.errors.HetvizError, hetviz.errors.Cancelled
        As `fit_run`.
    """
    return fit_run(
        data,
        run.method,
        run.params,
        run.seed,
        progress,
        weights=run.weights,
        only=run.only,
        hold_out=run.hold_out,
    )


def computed_on(model: BaseEmbedder) -> dict[str, str]:
    """Return the graphics card that a fit was computed on, as ``device``; nothing without one."""
    card = model.diagnostics_.get("device")
    return {"device": str(card)} if card else {}


@cache
def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {"python": platform.python_version(), "hetviz": __version__}
    return found | {name: metadata.version(name) for name in _PACKAGES}


def notes_of(told: Iterable[warnings.WarningMessage]) -> dict[str, list[str]]:
    """Return what a method warned of, each once.

    Returns
    -------
    dict
        ``notes``, all of it, and ``unsettled``, those that say that it had not come to its end.
    """
    of_data = [one for one in told if issubclass(one.category, (DataWarning, ConvergenceWarning))]
    early = [one for one in of_data if issubclass(one.category, ConvergenceWarning)]
    return {
        "notes": list(dict.fromkeys(str(one.message) for one in of_data)),
        "unsettled": list(dict.fromkeys(str(one.message) for one in early)),
    }

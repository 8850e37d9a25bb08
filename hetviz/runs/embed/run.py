"""Fit of a method to a dataset, with the record that repeats it."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from typing import Any, NotRequired, TypedDict

import threadpoolctl

from hetviz import params as parameters
from hetviz._text import join_words
from hetviz._types import Ints
from hetviz._version import __version__
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method, methods
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.periods import PeriodRecord
from hetviz.errors import Cancelled, ConvergenceWarning, DataWarning, ParameterError
from hetviz.metrics.fit.rows import coordinates_of, drawn_of
from hetviz.progress import Progress, ignore_progress
from hetviz.runs.embed.scope import Scope, scope_of

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba")
_LIBRARY_PARTS = ("internal_api", "version", "architecture")
STOPPED = "The map was stopped early."


@dataclass(frozen=True, eq=False)
class Run:
    """Record of a fit: data, method, parameters and versions.

    `fingerprint`: Fingerprint of the data, see `HeteroData.fingerprint`.
    `method`: Key of the method.
    `params`: Every parameter, given or default; without the seed.
    `versions`: Versions of Python, hetviz, the numeric packages and linear algebra, the system, and
        the graphics card if one was used.
    `seconds`: Wall-clock time of the fit.
    `weights`: Key of a kind of links to the factor of its weights.
    `only`: Global rows that the method saw; None for all.
    `hold_out`: Share of the links, and of the comparisons, that the method did not see.
    `start`: The map of all rows that the fit started from, see `start_of`.
    `period`: The period of a map of `hetviz.embed_periods`, JSON-ready: its ``name``, ``start`` and
        ``stop``, and ``by``, the column with the dates. The method saw only its links.
    `unrepeatable`: Why a fit with this record gives another map, as a sentence; empty if it gives
        the same.
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
    start: Embedding | None = None
    unrepeatable: str = ""
    period: PeriodRecord | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of a task that fits the method again, JSON-ready."""
        return {
            "method": self.method,
            "params": dict(self.params),
            "seed": self.seed,
            "hold_out": self.hold_out,
            "weights": dict(self.weights),
            **({} if self.period is None else {"period": dict(self.period)}),
        }


class FitArguments(TypedDict):
    """Arguments of tasks that fit a method: `Run.settings`, and the rows that it sees."""

    method: str
    params: Mapping[str, object]
    seed: int
    hold_out: float
    weights: NotRequired[Mapping[str, float]]
    only: NotRequired[Ints | None]
    period: NotRequired[PeriodRecord | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class MapResult(Run):
    """A map with the run that made it, as a worker makes it and a project stores and shows it.

    `embedding`: Embedding of all rows of the data; rows that the method did not see have no place.
    `figures`: JSON-ready: measures and curves (see `hetviz.jobs.tasks.maps.figures_of`), with
        ``notes``, ``diagnostics``, ``views`` (weights of views), ``learned`` (learned groups) and
        ``consequences`` (changes since the previous map) where available. None for maps that were
        not measured.
    `id`: Unique in a project; empty for a map that is in none.
    `when`: Time of recording: ISO 8601, UTC; empty for the original map of the data.
    `before`: The map that this one replaced when it was refitted.
    `origin`: In a project: the map as it was made, with its data; None if they are unknown.
    """

    title: str
    embedding: Embedding
    figures: Mapping[str, Any] | None = None
    id: str = ""
    starred: bool = False
    when: str = ""
    before: Embedding | None = None
    origin: MapOrigin | None = None


@dataclass(frozen=True, eq=False)
class MapOrigin:
    """Data and map as they were when the map was made, before items were added or renamed."""

    data: HeteroData
    result: MapResult


@dataclass(frozen=True, eq=False)
class FittedRun:
    """A map with the fitted method."""

    result: MapResult
    model: BaseEmbedder
    scope: Scope


@dataclass(frozen=True, eq=False)
class EmbeddingOrigin:
    """Data and run of an embedding, used for its display in notebooks."""

    data: HeteroData
    run: Run


def fit_run(
    data: HeteroData,
    method: str,
    params: Mapping[str, object] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
    hold_out: float = 0.0,
    start: Embedding | None = None,
    period: PeriodRecord | None = None,
) -> FittedRun:
    """Fit a method and record the run.

    `method`: key of the method. `params`: parameters that differ from the defaults. `seed`: passed
    as ``random_state`` to methods that declare it; also the seed of the split. `progress`: gets
    partial layouts as layouts of all rows. `weights`: key of a kind of links
    (`hetviz.data.model.links.kind_key`) to a factor from 0 to 1. `only`: global rows that the
    method sees; the others get no place. `hold_out`: share of the links and of the comparisons of
    those rows to hold out. `start`: an earlier map to start from, for methods that can. `period`:
    see `Run.period`.
    """
    kind = get_method(method)
    if (params or {}).get("pins") and "pins" not in kind.params:
        able = join_words(
            [card.title for card in methods() if "pins" in get_method(card.key).params]
        )
        raise ParameterError(f"{kind.card.title} cannot pin items. Methods that can: {able}.")
    checked = parameters.check(method, kind.params, dict(params or {}))
    if "random_state" in kind.params and "random_state" not in (params or {}):
        seed_param = {"random_state": seed}
        checked["random_state"] = parameters.check(method, kind.params, seed_param)["random_state"]
    seed = int(checked.pop("random_state", seed))
    scope = scope_of(data, weights, only, hold_out, seed, period)
    start = start_of(data, start, kind, checked)
    settings = scope.params(checked)
    if "random_state" in kind.params:
        settings["random_state"] = seed
    report = ignore_progress if progress is None else progress
    started = time.perf_counter()
    model = kind(**settings)

    def result_of(embedding: Embedding, title: str) -> MapResult:
        return MapResult(
            data.fingerprint(),
            method,
            checked,
            seed,
            versions() | computed_on(model),
            time.perf_counter() - started,
            dict(weights or {}),
            scope.rows,
            hold_out,
            start,
            period=period,
            title=title,
            embedding=scope.extend_to_all_rows(embedding),
        )

    title = kind.card.title
    try:
        model.fit(scope.seen, scope.progress(report), start)
    except Cancelled as cancelled:
        if cancelled.partial is not None:
            partial = result_of(cancelled.partial, f"{title}, stopped early")
            cancelled.partial = replace(partial, unrepeatable=STOPPED)
        raise
    return FittedRun(result_of(model.embedding_, title), model, scope)


def no_pins_reason(kind: type[BaseEmbedder]) -> str:
    """Return why a method cannot pin items, with the methods that can; empty if it can."""
    if "pins" in kind.params:
        return ""
    able = [card.title for card in methods() if "pins" in get_method(card.key).params]
    return f"{kind.card.title} cannot pin items. Methods that can: {join_words(able)}."


def start_of(
    data: HeteroData,
    start: Embedding | None,
    method: type[BaseEmbedder],
    params: Mapping[str, object],
) -> Embedding | None:
    """Return the part of an earlier map that a fit depends on, for all rows of `data`."""
    uses_start = Capability.WARM_START in method.card.capabilities
    if start is None or not (uses_start or params.get("drawn_by") == "neighbors"):
        return None
    return Embedding(
        coordinates_of(data, start),
        {name: dataset.ids for name, dataset in data.datasets.items()},
        note=start.note,
        drawn=drawn_of(data, start),
    )


def fit_again(data: HeteroData, run: Run, progress: Progress | None = None) -> FittedRun:
    """Repeat a recorded fit with the same method, parameters, seed, weights, rows and start."""
    return fit_run(data, progress=progress, only=run.only, start=run.start, **run.settings)


def computed_on(model: BaseEmbedder) -> dict[str, str]:
    """Return the graphics card of a fit as ``device``, or an empty dict."""
    card = model.diagnostics_.get("device")
    return {"device": str(card)} if card else {}


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and packages, and the machine, that affect results."""
    versions_of_hetviz = {"python": platform.python_version(), "hetviz": __version__}
    packages = {name: metadata.version(name) for name in _PACKAGES}
    return versions_of_hetviz | packages | {name: make() for name, make in MACHINE.items()}


def _algebra() -> str:
    """Return the linear algebra libraries with the processor that they compute for."""
    # numpy and scipy may each bring their own.
    import scipy.linalg  # noqa: F401

    libraries = {
        " ".join(str(library[part]) for part in _LIBRARY_PARTS if library.get(part))
        for library in threadpoolctl.threadpool_info()
        if library["user_api"] == "blas"
    }
    return join_words(sorted(libraries))


MACHINE: Mapping[str, Callable[[], str]] = {
    "linear algebra": _algebra,
    "system": lambda: f"{platform.system()} {platform.machine()}",
}
"""What else than packages affects results, in `versions`."""


def notes_of(caught: Iterable[warnings.WarningMessage]) -> dict[str, list[str]]:
    """Return distinct warnings as ``notes``, and those about convergence as ``unsettled``."""
    relevant = [
        warning
        for warning in caught
        if issubclass(warning.category, (DataWarning, ConvergenceWarning))
    ]
    unconverged = [
        warning for warning in relevant if issubclass(warning.category, ConvergenceWarning)
    ]
    return {
        "notes": list(dict.fromkeys(str(warning.message) for warning in relevant)),
        "unsettled": list(dict.fromkeys(str(warning.message) for warning in unconverged)),
    }

"""One run: a method fitted to data, and the record that lets it be repeated."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any

from hetviz import __version__
from hetviz import params as parameters
from hetviz.base import BaseEmbedder
from hetviz.data import Embedding, HeteroData
from hetviz.progress import Progress
from hetviz.registry import get_method

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
        Of Python, hetviz and the numeric packages.
    seconds : float
        Wall-clock time of the fit.
    """

    fingerprint: str
    method: str
    params: Mapping[str, Any]
    seed: int
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class FittedRun:
    """A run with its result.

    Attributes
    ----------
    run : Run
    model : BaseEmbedder
        Fitted; ``model.transform`` places new rows where the card says so.
    embedding : Embedding
    """

    run: Run
    model: BaseEmbedder
    embedding: Embedding


def fit_run(
    data: HeteroData,
    key: str,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
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
        Passed as ``random_state`` to methods that declare it.
    progress : callable, optional

    Raises
    ------
    hetviz.errors.ParameterError, hetviz.errors.NotApplicableError, hetviz.errors.DataError
    """
    method = get_method(key)
    checked = parameters.check(key, method.params, dict(params or {}))
    if "random_state" in method.params and "random_state" not in (params or {}):
        checked["random_state"] = parameters.check(key, method.params, {"random_state": seed})[
            "random_state"
        ]
    started = time.perf_counter()
    model = method(**checked).fit(data, progress)
    seconds = time.perf_counter() - started
    seed = int(checked.pop("random_state", seed))
    run = Run(data.fingerprint(), key, checked, seed, versions(), seconds)
    return FittedRun(run, model, model.embedding_)


def embed(
    data: HeteroData,
    key: str,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
    **params: Any,
) -> Embedding:
    """Place all items of the data with a method.

    Parameters
    ----------
    data : HeteroData
    key : str
        Of the method; see `hetviz.methods`.
    random_state : int
        Seed; used by the methods that draw random numbers.
    progress : callable, optional
        See `hetviz.progress.Progress`.
    **params
        Parameters of the method.

    Returns
    -------
    Embedding

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown method or parameter, or a value out of range.
    hetviz.errors.NotApplicableError
        If the method does not suit the data; it says why.

    Examples
    --------
    >>> import hetviz
    >>> hetviz.embed(hetviz.load("digit-views"), "pca")
    Embedding(2-D: pixels 700, fourier 700, shape 700)
    """
    return fit_run(data, key, params, random_state, progress).embedding


@cache
def versions() -> Mapping[str, str]:
    """Return the versions that a result depends on."""
    found = {"python": platform.python_version(), "hetviz": __version__}
    return found | {name: metadata.version(name) for name in _PACKAGES}

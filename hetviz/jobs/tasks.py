"""Tasks a runner can run: each is a function of plain arguments and a progress callback."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled, ConvergenceWarning, DataWarning
from hetviz.jobs.results import MadeMap
from hetviz.metrics import evaluate, guidance_curve
from hetviz.progress import Part, Progress
from hetviz.registry import get_method
from hetviz.runs import fit_run
from hetviz.runs.first_map import first_map

_CURVE_POINTS = 121


def make_map(
    data: HeteroData,
    method: str,
    params: Mapping[str, Any],
    seed: int,
    hold_out: float,
    progress: Progress,
    weights: Mapping[str, float] | None = None,
    only: NDArray[np.int64] | None = None,
    start: Embedding | None = None,
) -> MadeMap:
    """Fit a method and measure the map.

    Parameters
    ----------
    data : HeteroData
    method : str
        Its key.
    params : mapping
    seed : int
    hold_out : float
        Share of the links to keep from the method and judge the map by; 0 shows it all of them.
    progress : callable
    weights : mapping of str to float, optional
        Key of a kind of links (see `hetviz.data.links.kind_key`) to what its weights are
        multiplied by for the method; the map is judged by all links as they are.
    only : array of int, optional
        Global rows to map; the others get no place.
    start : Embedding, optional
        An earlier map to go on from, for methods that can.

    Returns
    -------
    MadeMap

    Raises
    ------
    hetviz.errors.HetvizError
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is the map as far as it got, not measured, where
        the method has partial layouts.
    """
    title = get_method(method).card.title
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            fitted = fit_run(
                data,
                method,
                params,
                seed,
                Part(progress, 0.0, 0.8),
                weights=weights,
                only=only,
                hold_out=hold_out,
                start=start,
            )
        except Cancelled as stopped:
            if stopped.partial is not None:
                early = f"{title}, stopped early"
                stopped.partial = MadeMap(method, early, dict(params), stopped.partial, None)
            raise
    progress(0.8, "Measuring the map")
    figures = figures_of(fitted.scope.shown, fitted.model.embedding_, fitted.scope.held_out)
    ours = (DataWarning, ConvergenceWarning)
    figures["notes"] = [str(item.message) for item in told if issubclass(item.category, ours)]
    progress(1.0, "Done")
    return MadeMap(method, title, dict(fitted.run.params), fitted.embedding, figures)


def make_first_map(data: HeteroData, progress: Progress) -> MadeMap:
    """Make and measure the first map of data that came without one.

    Raises
    ------
    hetviz.errors.HetvizError
    """
    first = first_map(data, Part(progress, 0.0, 0.8))
    progress(0.8, "Measuring the map")
    figures = figures_of(data, first.embedding)
    progress(1.0, "Done")
    return MadeMap(first.method, first.title, first.params, first.embedding, figures)


def figures_of(
    data: HeteroData, embedding: Embedding, held_out: HeteroData | None = None
) -> dict[str, Any]:
    """Return measures and satisfaction curves of a map, JSON-ready.

    Returns
    -------
    dict
        ``scores`` as from `hetviz.metrics.evaluate`; ``curves`` maps "given" and, where there are
        held-out links, "held_out" to the two lists of a curve.
    """
    curves: dict[str, list[list[float]]] = {}
    for key, part in (("given", data), ("held_out", held_out)):
        if part is not None and any(bool((links.weight > 0).any()) for links in part.links):
            x, y = guidance_curve(embedding, part)
            # The same shares for every curve, evenly spread on the logarithmic axis it is drawn on.
            at = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, _CURVE_POINTS)])
            curves[key] = [at.tolist(), np.interp(at, x, y).tolist()]
    return {"scores": evaluate(data, embedding, held_out).to_dict(), "curves": curves}

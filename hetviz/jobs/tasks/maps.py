"""Tasks that fit and measure maps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Unpack

from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.diagnostics import to_json
from hetviz.errors import Cancelled
from hetviz.features.map_columns import is_on_earth, map_from_columns
from hetviz.metrics.color_choice import find_best_color
from hetviz.metrics.fit.curves import curves_of_map
from hetviz.metrics.fit.measured_map import MeasuredMap
from hetviz.metrics.fit.summary import evaluate_measured
from hetviz.metrics.trust.consequences import consequences
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.embed.run import FitArguments, MapResult, fit_run, notes_of
from hetviz.runs.first_map import first_map


def make_map(
    data: HeteroData,
    progress: Progress,
    start: Embedding | None = None,
    said: Collection[str] = (),
    **fit: Unpack[FitArguments],
) -> MapResult:
    """Fit a method and measure the map."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        part = ProgressPart(progress, 0.0, 0.8)
        fitted = fit_run(data, progress=part, start=start, **fit)
    result = fitted.result

    def beat() -> None:
        progress(0.8, "Measuring the map")

    try:
        beat()
        visible_data, held_out = fitted.scope.measured, fitted.scope.held_out
        figures = figures_of(visible_data, fitted.model.embedding_, held_out, beat)
    except Cancelled as stopped:
        # The map itself is complete.
        stopped.partial = result
        raise
    figures |= notes_of(caught)
    figures |= _diagnostics_of(result.embedding)
    if views := getattr(fitted.model, "view_weights_", None):
        figures["views"] = {str(name): float(weight) for name, weight in views.items()}
    if learned := fitted.model.diagnostics_.get("learned"):
        figures["learned"] = learned
    if start is not None and said and _of_all_rows(start, data):
        progress(0.95, "Comparing with the previous map")
        figures["consequences"] = consequences(data, start, result.embedding, said).to_dict()
        figures["said"] = list(said)
    progress(1.0, "Done")
    return replace(result, figures=figures)


def _diagnostics_of(embedding: Embedding) -> dict[str, object]:
    diagnostics = embedding.diagnostics
    return {"diagnostics": to_json(diagnostics)} if diagnostics else {}


def _of_all_rows(embedding: Embedding, data: HeteroData) -> bool:
    sizes = {name: len(part) for name, part in data.datasets.items()}
    return {name: len(Y) for name, Y in embedding.coordinates.items()} == sizes


def make_first_map(data: HeteroData, progress: Progress) -> MapResult:
    """Fit and measure the first map of data without one."""
    try:
        first = first_map(data, ProgressPart(progress, 0.0, 0.9))
    except Cancelled as stopped:
        if isinstance(stopped.partial, MapResult):
            title = f"{get_method(stopped.partial.method).card.title}, stopped early"
            stopped.partial = replace(stopped.partial, title=title, figures=None)
        raise

    def beat() -> None:
        progress(0.9, "Measuring the map")

    # Facts that do not depend on measuring the map.
    facts = {**(first.figures or {}), **_diagnostics_of(first.embedding)}
    try:
        beat()
        figures = figures_of(data, first.embedding, beat=beat) | facts
    except Cancelled as stopped:
        # The map itself is complete, and can be measured later.
        stopped.partial = replace(first, figures=facts)
        raise
    if (colour := find_best_color(data, first.embedding)) is not None:
        figures["colour"] = colour
    progress(1.0, "Done")
    return replace(first, figures=figures)


def take_map(data: HeteroData, x: str, y: str, progress: Progress) -> MapResult:
    """Return and measure the map that two columns are, see `hetviz.map_from_columns`."""
    progress(0.0, "Measuring the map")
    embedding = map_from_columns(data, x, y, on_earth=is_on_earth(data, x, y))
    figures = figures_of(data, embedding, beat=lambda: progress(0.5, "Measuring the map"))
    if (colour := find_best_color(data, embedding)) is not None:
        figures["colour"] = colour
    title = f"{x} and {y}"
    return MapResult(
        data.fingerprint(), "", {}, 0, title=title, embedding=embedding, figures=figures
    )


def figures_of(
    data: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None = None,
    beat: Callable[[], None] = lambda: None,
) -> dict[str, object]:
    """Return measures and satisfaction curves of a map, JSON-ready; `beat` is called regularly."""
    measured = MeasuredMap(data, embedding, held_out, beat=beat)
    scores, kinds = evaluate_measured(measured), curves_of_map(measured)
    return {
        "scores": scores.to_dict(),
        "errors": dict(scores.standard_errors),
        "curves": kinds.get("links", {}),
        "kinds": kinds,
    }

"""Two-dimensional pictures of maps with more axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hetviz._types import Bools, Floats
from hetviz.algorithms.contract import Fit
from hetviz.algorithms.diagnostics import axes_map_messages, warn_about_data
from hetviz.core.layout.axes_map import AxesMap, make_axes_map
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled
from hetviz.metrics.fit.rows import drawn_of
from hetviz.progress import Progress

MAX_PLOTTED_AXES = 2
"""Maps with at most this many axes are plotted directly."""


def too_few_axes_reason(params: Mapping[str, object]) -> str:
    """Return why the axes are too few for a neighbour map. Empty if they are enough."""
    k = params.get("n_components")
    if params.get("drawn_by") != "neighbors" or not isinstance(k, int) or k > MAX_PLOTTED_AXES:
        return ""
    return (
        f"A neighbour map needs more than {MAX_PLOTTED_AXES} axes, but n_components = {k}. Use 10 "
        "axes, or set drawn_by to 'axes'."
    )


def with_axes_map(
    data: HeteroData, fit: Fit, seed: int, progress: Progress, start: Embedding | None
) -> Fit:
    """Return the fit with a 2-D neighbour map of its axes."""
    axes = {name: np.asarray(fit.coordinates[name], np.float64) for name in data.datasets}
    k = next(iter(axes.values())).shape[1]
    if k <= MAX_PLOTTED_AXES:
        warn_about_data(f"The result has only {k} axes, so they are drawn directly.")
        return fit
    Y = np.vstack(list(axes.values()))
    placed: Bools = np.asarray(np.isfinite(Y).all(axis=1), dtype=bool)
    placed_index = np.cumsum(placed) - 1
    components = fit.components or {}
    groups = []
    for component in sorted({components.get(name, 0) for name in axes}):
        spans = [data.offsets[name] for name in axes if components.get(name, 0) == component]
        rows = np.concatenate([np.r_[span] for span in spans])
        groups.append(placed_index[rows[placed[rows]]])
    start_map = None if start is None else drawn_of(data, start)
    start_places = None if start_map is None else np.vstack(list(start_map.values()))[placed]

    def all_rows(Z: Floats) -> Floats:
        out = np.full((len(Y), 2), np.nan)
        out[placed] = Z
        return out

    def with_drawing(picture: AxesMap) -> Fit:
        Z = all_rows(picture.positions)
        return replace(
            fit,
            drawn={name: Z[span] for name, span in data.offsets.items()},
            messages=[*fit.messages, *axes_map_messages(picture, k)],
            diagnostics={
                **fit.diagnostics,
                "picture": {"kl": picture.divergence, "kept": picture.share_preserved},
            },
        )

    progress(0.0, f"Neighbours on {k} axes")
    try:
        return with_drawing(
            make_axes_map(
                Y[placed],
                groups,
                np.random.default_rng(seed),
                start=start_places,
                progress=progress,
                layout=all_rows,
            )
        )
    except Cancelled as stopped:
        if isinstance(stopped.partial, AxesMap):
            stopped.partial = with_drawing(stopped.partial)
        elif stopped.partial is None:
            stopped.partial = fit
        raise

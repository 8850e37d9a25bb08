"""Colours that belong to a map and not to its data: clusters, trust, stability, and the fog.

Taken when they are first asked for, and kept as long as the data live.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetviz._types import Floats
from hetviz.data import HeteroData
from hetviz.plots.colour import (
    BY_DATASET,
    CLUSTER,
    LAYERS,
    Colouring,
    ColourOption,
    cluster_colouring,
    layer_colouring,
)
from hetviz.ui.map import parts, worker_results
from hetviz.ui.map.array_cache import PackedArray, get_or_compute
from hetviz.workspace import Run, State

if TYPE_CHECKING:
    from hetviz.runs.cluster.contrast import Contrasts
    from hetviz.runs.cluster.parts import PartName
    from hetviz.runs.cluster.regions import RegionLevel

_REGIONS_TASK = "hetviz.jobs.tasks.look:regions_of_map"
_TRUST_TASK = "hetviz.jobs.tasks.look:trust_of_rows"
TRUST_STEPS = 200
UNKNOWN_TRUST = 255


def layer_options(state: State, run: Run | None) -> list[ColourOption]:
    """Return the layers that the map can be coloured by."""
    if run is None or state.data is None:
        return []
    clusters = [] if state.clustering is None else [CLUSTER]
    return (
        clusters
        + [LAYERS["trust"]]
        + ([LAYERS["stability"]] if len(_comparable_runs(state, run)) > 1 else [])
    )


def colours_of(state: State, run: Run | None, session: str = "") -> Colouring:
    """Return the colouring that the view asks for; that of the data where it has no such layer.

    Of a large map it is that of the data too until `session` has what it asks to be found out.
    """
    data, key = parts.data_of(state), state.view.colour or _best_colour(state)
    if key is None and run is None and len(data.datasets) > 1:
        # Of a map that is being made no column is known to be told by it.
        key = BY_DATASET
    if key == CLUSTER.key and run is not None and state.clustering is not None:
        clustering = state.clustering
        return get_or_compute(
            data,
            (key, id(clustering)),
            lambda: cluster_colouring(clustering.names, clustering.of(data)),
            clustering,
        )
    if run is None or key not in {option.key for option in layer_options(state, run)}:
        return parts.get_colouring(data, key)
    if key == "stability":
        runs = _comparable_runs(state, run)
        name: tuple[object, ...] = (key, *map(id, runs))

        def make() -> Colouring:
            from hetviz.metrics.trust.stability import stability

            places = [
                clustering for one in runs if (clustering := state.embedding(one)) is not None
            ]
            return layer_colouring("stability", stability(places))

        return get_or_compute(data, name, make, runs)
    try:
        trusted = find_trust(state, run, session)
    except worker_results.WorkerError:
        # It is told beside the map.
        trusted = None
    if trusted is None:
        # Until it is known the map has the colours that need not be found out.
        return parts.get_colouring(data, None)
    return get_or_compute(
        data, ("trust colours", id(run), state.off), lambda: layer_colouring("trust", trusted), run
    )


def _best_colour(state: State) -> str | None:
    """Return the colour that the first map was found to tell most about, if that is known."""
    colours = (run.figures.get("colour") for run in state.runs if run.figures)
    return next((str(key) for key in colours if key), None)


def get_contrasts(data: HeteroData) -> Contrasts:
    """Return what the items of the data can be told apart by, read once."""

    def make() -> Contrasts:
        # It loads scipy's distributions, which nothing before the first clusters needs.
        from hetviz.runs.cluster.contrast import Contrasts

        return Contrasts(data)

    return get_or_compute(data, "contrasts", make)


def find_regions(
    state: State, run: Run, session: str, *, redraw: bool = True
) -> tuple[RegionLevel, ...] | None:
    """Return the regions of a map, at two levels, with their names; None while they are read."""
    places = parts.get_geometry(state, run).points.astype(np.float64)
    levels: tuple[RegionLevel, ...] | None = worker_results.fetch_from_worker(
        session,
        parts.data_of(state),
        ("regions", id(run)),
        _REGIONS_TASK,
        {"places": places},
        run,
        redraw=redraw,
    )
    return levels


def cluster_part_names(state: State, run: Run | None) -> list[PartName]:
    """Return names for the parts of the clusters, for who looks nearer."""
    data, clustering = parts.data_of(state), state.clustering
    if run is None or clustering is None:
        return []

    def make() -> list[PartName]:
        from hetviz.runs.cluster.parts import part_names

        Y = parts.get_geometry(state, run).points.astype(np.float64)
        return part_names(get_contrasts(data), Y, clustering.of(data), clustering.names)

    return get_or_compute(data, ("part names", id(clustering), id(run)), make, (clustering, run))


def find_trust(state: State, run: Run, session: str, *, redraw: bool = True) -> Floats | None:
    """Return how far the surroundings of each row can be believed, 0 to 1; NaN where unknown.

    None while that is being found out.
    """
    data = parts.data_of(state)
    embedding = state.embedding(run)
    if embedding is None:
        return np.full(data.n_rows, np.nan)
    trust: Floats | None = worker_results.fetch_from_worker(
        session,
        state.guided or data,
        ("trust", id(run), state.off),
        _TRUST_TASK,
        {"embedding": embedding},
        run,
        redraw=redraw,
    )
    return trust


def find_failures(state: State, run: Run | None) -> dict[str, worker_results.WorkerError]:
    """Return why a map has no names of regions, or no colours and haze of trust, by place."""
    if run is None:
        return {}
    data = parts.data_of(state)
    asked = {
        "regions": (data, ("regions", id(run)), _REGIONS_TASK),
        "trust": (state.guided or data, ("trust", id(run), state.off), _TRUST_TASK),
    }
    failures = {place: worker_results.find_failure(*args) for place, args in asked.items()}
    return {place: failed for place, failed in failures.items() if failed is not None}


def trust_overlay(state: State, run: Run, session: str) -> PackedArray | None:
    """Return the trust of each row for the browser: 0 to 200, 255 where it is unknown.

    None while that is being found out.
    """
    score = find_trust(state, run, session, redraw=False)
    if score is None:
        return None
    steps = np.where(np.isfinite(score), np.rint(TRUST_STEPS * np.nan_to_num(score)), UNKNOWN_TRUST)
    return PackedArray.pack(steps, "|u1")


def _comparable_runs(state: State, run: Run) -> tuple[Run, ...]:
    """Return the maps of the data as they are now to compare a map with, itself among them.

    Those of its own method where there are several, else of any; all with as many axes.
    """
    axes = run.embedding.n_components
    current = tuple(
        other
        for other in state.runs
        if other.only is None and other.embedding.n_components == axes and state.is_current(other)
    )
    same = tuple(other for other in current if other.method == run.method)
    runs = same if len(same) > 1 else current
    return runs if run in runs else ()

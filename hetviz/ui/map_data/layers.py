"""Layers of a map: colours by cluster, trust and stability, regions, and the trust overlay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hetviz._types import Floats
from hetviz.data import HeteroData
from hetviz.memo import Memo
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.plots.colour import (
    BY_DATASET,
    CLUSTER,
    LAYERS,
    Colouring,
    ColourOption,
    cluster_colouring,
    layer_colouring,
)
from hetviz.ui.map_data import parts, worker_results
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray
from hetviz.workspace import MapResult, State

if TYPE_CHECKING:
    from hetviz.runs.cluster.contrast import Contrasts
    from hetviz.runs.cluster.parts import PartName
    from hetviz.runs.cluster.regions import RegionLevel

TRUST_STEPS = 200
UNKNOWN_TRUST = 255
# Regions by the coordinates of their map, which a refitted map keeps.
_REGIONS = Memo(max_entries=1)


def layer_options(state: State, run: MapResult | None) -> list[ColourOption]:
    """Return the layers that can colour the map."""
    if run is None or state.data is None:
        return []
    clusters = [] if state.clustering is None else [CLUSTER]
    return (
        clusters
        + [LAYERS["trust"]]
        + ([LAYERS["stability"]] if len(_comparable_runs(state, run)) > 1 else [])
    )


def colours_of(state: State, run: MapResult | None, session: str = "") -> Colouring:
    """Return the colouring of the view, or a colouring of the data until a layer is computed."""
    colours = _usual_colours(state, run, session)
    swatches = state.view.swatches_of(colours.option.key)
    if not swatches:
        return colours
    # The same object each time, since packed arrays belong to it.
    return RESULTS.get_or_compute(
        state.opened(),
        ("swatches", id(colours), swatches),
        lambda: replace(colours, swatches=swatches),
        colours,
    )


def _usual_colours(state: State, run: MapResult | None, session: str) -> Colouring:
    data, key = state.opened(), state.view.colour or _best_colour(state)
    if key is None and run is None and len(data.datasets) > 1:
        # The best column of a map is unknown while it is made.
        key = BY_DATASET
    if key == CLUSTER.key and run is not None and state.clustering is not None:
        clustering = state.clustering
        return RESULTS.get_or_compute(
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

        return RESULTS.get_or_compute(data, name, make, runs)
    try:
        trusted = find_trust(state, run, session)
    except worker_results.WorkerError:
        # The page shows the error.
        trusted = None
    if trusted is None:
        # The data's colours are used until the trust is computed.
        return parts.get_colouring(data, None)
    return RESULTS.get_or_compute(
        data,
        ("trust colours", id(run), state.excluded),
        lambda: layer_colouring("trust", trusted),
        run,
    )


def _best_colour(state: State) -> str | None:
    """Return the colour whose values cluster best on the first map, if known."""
    colours = (run.figures.get("colour") for run in state.runs if run.figures)
    return next((str(key) for key in colours if key), None)


def get_contrasts(data: HeteroData) -> Contrasts:
    """Return the contrasts between the items of the data, computed once."""

    def make() -> Contrasts:
        # Imported here because it loads the distributions of SciPy.
        from hetviz.runs.cluster.contrast import Contrasts

        return Contrasts(data)

    return RESULTS.get_or_compute(data, "contrasts", make)


def find_regions(
    state: State, run: MapResult, session: str, *, redraw: bool = True
) -> tuple[RegionLevel, ...] | None:
    """Return the named regions of a map at two levels, or None while they are computed."""
    data = state.opened()
    arguments: dict[str, object] = {
        "places": parts.get_geometry(state, run).points.astype(np.float64)
    }
    if run.before is not None:
        # Regions and names follow those of the map that was refitted.
        earlier: tuple[RegionLevel, ...] = _REGIONS.get(run.before, "levels") or ()
        arguments["before"] = [(level.codes, list(level.names)) for level in earlier]
        if not earlier and run.before.n_components == 2:
            arguments["places_before"] = np.vstack(list(coordinates_of(data, run.before).values()))
    levels: tuple[RegionLevel, ...] | None = worker_results.fetch_from_worker(
        session, data, ("regions", id(run)), "find-regions", arguments, run, redraw=redraw
    )
    if levels is not None:
        _REGIONS.put(run.embedding, "levels", levels)
    return levels


def cluster_part_names(state: State, run: MapResult | None) -> list[PartName]:
    """Return names for the parts of the clusters, shown at a closer zoom."""
    data, clustering = state.opened(), state.clustering
    if run is None or clustering is None:
        return []

    def make() -> list[PartName]:
        from hetviz.runs.cluster.parts import part_names

        Y = parts.get_geometry(state, run).points.astype(np.float64)
        return part_names(get_contrasts(data), Y, clustering.of(data), clustering.names)

    return RESULTS.get_or_compute(
        data, ("part names", id(clustering), id(run)), make, (clustering, run)
    )


def find_trust(state: State, run: MapResult, session: str, *, redraw: bool = True) -> Floats | None:
    """Return the trust of each row, 0 to 1, NaN if unknown; None while it is computed."""
    data = state.opened()
    embedding = state.embedding(run)
    if embedding is None:
        return np.full(data.n_rows, np.nan)
    trust: Floats | None = worker_results.fetch_from_worker(
        session,
        state.guided or data,
        ("trust", id(run), state.excluded),
        "map-trust",
        {"embedding": embedding},
        run,
        redraw=redraw,
    )
    return trust


def find_failures(state: State, run: MapResult | None) -> dict[str, worker_results.WorkerError]:
    """Return the errors of the region names and of the trust of a map."""
    if run is None:
        return {}
    data = state.opened()
    asked = {
        "regions": (data, ("regions", id(run)), "find-regions"),
        "trust": (state.guided or data, ("trust", id(run), state.excluded), "map-trust"),
    }
    failures = {place: worker_results.find_failure(*args) for place, args in asked.items()}
    return {place: failed for place, failed in failures.items() if failed is not None}


def trust_overlay(state: State, run: MapResult, session: str) -> PackedArray | None:
    """Return the trust of each row for the browser, 0 to 200, 255 if unknown; None if not ready."""
    score = find_trust(state, run, session, redraw=False)
    if score is None:
        return None
    steps = np.where(np.isfinite(score), np.rint(TRUST_STEPS * np.nan_to_num(score)), UNKNOWN_TRUST)
    return PackedArray.pack(steps, "|u1")


def _comparable_runs(state: State, run: MapResult) -> tuple[MapResult, ...]:
    """Return the current maps to compare a map with, including itself."""
    # They have the same number of axes, and the same method if several maps have it.
    axes = run.embedding.n_components
    current = tuple(
        other
        for other in state.runs
        if other.only is None and other.embedding.n_components == axes and state.is_current(other)
    )
    same = tuple(other for other in current if other.method == run.method)
    runs = same if len(same) > 1 else current
    return runs if run in runs else ()

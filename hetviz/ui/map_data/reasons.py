"""Columns and links that explain a map, computed in a worker."""

from __future__ import annotations

from hetviz.metrics.map_reasons import MapReasons
from hetviz.ui.map_data import worker_results
from hetviz.workspace import MapResult, State


def reasons_of(state: State, run: MapResult, project: str) -> MapReasons | None:
    """Return the reasons of a map, or None while a worker computes them."""
    embedding = state.embedding(run)
    if embedding is None:
        return None
    found: MapReasons | None = worker_results.fetch_from_worker(
        project,
        state.opened(),
        ("map-reasons", id(run)),
        "explain-map",
        {"embedding": embedding},
        run,
        is_slow=True,
    )
    return found

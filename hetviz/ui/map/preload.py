"""Preloading of results for the first statement on many items."""

from __future__ import annotations

from functools import partial
from weakref import WeakSet

from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.statements import statement_keys
from hetviz.data.queries import search
from hetviz.ui.map_data import worker_results

_STARTED: WeakSet[Dataset] = WeakSet()


def start_preload(data: HeteroData, embedding: Embedding | None) -> None:
    """Compute results for search, the table of links and the first statement, once per dataset."""
    first = next(iter(data.datasets.values()), None)
    if first is None or first in _STARTED or not worker_results.is_large(data):
        return
    _STARTED.add(first)
    worker_results.start_thread(partial(_preload, data, embedding))


def _preload(data: HeteroData, embedding: Embedding | None) -> None:
    from hetviz.metrics.fit.nearest import link_closeness

    with worker_results.BACKGROUND_LOCK:
        statement_keys(data)
        if embedding is not None:
            link_closeness(data, embedding)
    with worker_results.BACKGROUND_LOCK:
        data.digest_of_items()
        search.get_name_index(data)
        search.get_cell_index(data)

"""What the first act on many items would wait for, made ready while the map is looked at."""

from __future__ import annotations

from functools import partial
from weakref import WeakSet

from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.statements import statement_keys
from hetviz.ui.map import away, search

_BEGUN: WeakSet[Dataset] = WeakSet()


def begin(data: HeteroData, embedding: Embedding | None) -> None:
    """Make ready what search, the table of links and the first statement need, once for its items.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding or None
        The map that is shown, of the rows that are there.
    """
    first = next(iter(data.datasets.values()), None)
    if first is None or first in _BEGUN or not away.large(data):
        return
    _BEGUN.add(first)
    away.START[0](partial(_make, data, embedding))


def _make(data: HeteroData, embedding: Embedding | None) -> None:
    from hetviz.metrics.fit.nearest import link_nearness

    with away.ONE_BY_ONE:
        statement_keys(data)
        if embedding is not None:
            link_nearness(data, embedding)
    with away.ONE_BY_ONE:
        data.digest_of_items()
        search.names_of(data)

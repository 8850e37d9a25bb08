"""Search for items by meaning, with texts that are read in the background."""

from __future__ import annotations

import logging

from hetviz._types import Floats
from hetviz.core import sentence_vectors
from hetviz.data import HeteroData
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.errors import HetvizError
from hetviz.features.item_search import can_search, nearest_in_meaning
from hetviz.ui.map_data import worker_results

log = logging.getLogger(__name__)


def find_by_meaning(data: HeteroData, query: str, session: str) -> list[int] | None:
    """Return global rows similar in meaning, the best first; None while texts are read."""
    try:
        if not can_search(data) or not sentence_vectors.has_words(query):
            return []
        vectors: dict[str, Floats] = {}
        for name in data.datasets:
            V = _vectors_of(data, name, session)
            if V is None:
                return None
            vectors[name] = V
        return [row for row, _ in nearest_in_meaning(data, vectors, query)]
    except HetvizError as error:
        # Words still find items.
        log.warning("Items cannot be found by meaning: %s", error)
        return []


def _vectors_of(data: HeteroData, name: str, session: str) -> Floats | None:
    vectors: Floats | None = ITEM_RESULTS.get(data[name], "meaning")
    if vectors is None:
        key, arguments = ("meaning", name), {"dataset": name}
        vectors = worker_results.fetch_from_worker(
            session, data, key, "read-texts", arguments, redraw=False, is_slow=True
        )
        if vectors is not None:
            ITEM_RESULTS.put(data[name], "meaning", vectors)
    return vectors

"""Views: datasets that show the same objects, paired by id and never by row order."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links

SAME_OBJECT = "same object"


def identity_links(data: HeteroData) -> list[Links]:
    """Return one link of weight 1 for each object and pair of views that show it.

    Returns
    -------
    list of Links
        One for each pair of views of an entity that share at least one id; kind "same object",
        role "relation".
    """
    found: list[Links] = []
    for entity in data.entities:
        for first, second in combinations(data.views(entity), 2):
            rows = data[second].find(data[first].ids)
            shared = np.flatnonzero(rows >= 0)
            if len(shared):
                found.append(
                    Links(first, second, shared, rows[shared], kind=SAME_OBJECT, role="relation")
                )
    return found


def with_identity_links(data: HeteroData) -> HeteroData:
    """Return `data` with identity links between the views of each entity."""
    links = identity_links(data)
    return data.edit().add(*links) if links else data

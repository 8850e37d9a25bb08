"""Identity links between views: datasets of the same objects, paired by id."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links

SAME_OBJECT = "same object"


def identity_links(data: HeteroData) -> list[Links]:
    """Return links of weight 1 between the rows of each object in different views."""
    groups: list[Links] = []
    for entity in data.entities:
        for first, second in combinations(data.views(entity), 2):
            rows = data[second].find(data[first].ids)
            shared = np.flatnonzero(rows >= 0)
            if len(shared):
                groups.append(
                    Links(first, second, shared, rows[shared], kind=SAME_OBJECT, role="relation")
                )
    return groups


def with_identity_links(data: HeteroData) -> HeteroData:
    """Return `data` with identity links between the views of each entity."""
    links = identity_links(data)
    return data.edit().add(*links) if links else data

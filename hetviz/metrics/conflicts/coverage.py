"""How much of the data guidance reaches: per pair of datasets, and the items it hangs on."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pandas as pd

from hetviz.data import HeteroData
from hetviz.data.model.links import Links
from hetviz.data.queries.reach import Reach, reach

COLUMNS = (
    "source", "target", "together", "apart", "source_linked", "source_items", "target_linked",
    "target_items", "hub_dataset", "hub_id", "hub_links",
)  # fmt: skip


def coverage(data: HeteroData) -> pd.DataFrame:
    """Count the links between each two datasets, and the items that have one.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    DataFrame
        A row for each two datasets in order, also where nothing links them, and for each dataset
        with links among its own items: source, target, together and apart (links), source_linked
        of source_items and target_linked of target_items (items with at least one link of the
        row), and the item with the most of them: hub_dataset, hub_id, hub_links.

    Notes
    -----
    O(links + rows) for each two datasets with links; see `hetviz.data.queries.reach.reach`.
    """
    groups: dict[frozenset[str], list[Links]] = {}
    for group in data.links:
        if len(group):
            groups.setdefault(frozenset((group.source, group.target)), []).append(group)
    out = []
    for left, right in combinations_with_replacement(data.datasets, 2):
        here = groups.get(frozenset((left, right)), [])
        if here or left != right:
            out.append(_row(data, left, right, here, reach(data, here)))
    return pd.DataFrame(out, columns=list(COLUMNS))


def _row(
    data: HeteroData, left: str, right: str, here: list[Links], found: Reach
) -> tuple[object, ...]:
    hub = ("", "", 0)
    if found.hubs:
        hub = found.hubs[0].dataset, found.hubs[0].id, found.hubs[0].links
    return (
        left,
        right,
        sum(int((group.weight > 0).sum()) for group in here),
        sum(int((group.weight < 0).sum()) for group in here),
        found.linked.get(left, 0),
        len(data[left]),
        found.linked.get(right, 0),
        len(data[right]),
        *hub,
    )

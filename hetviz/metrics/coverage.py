"""How much of the data guidance reaches: per pair of datasets, and the items it hangs on."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd

from hetviz.data import HeteroData

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
    O(links + rows).
    """
    table = data.link_table()
    names = np.array(list(data.datasets), dtype=object)
    starts = np.array([span.start for span in data.offsets.values()])
    p, q = table["p"].to_numpy(np.int64), table["q"].to_numpy(np.int64)
    p, q = np.minimum(p, q), np.maximum(p, q)
    a, b = (np.searchsorted(starts, side, side="right") - 1 for side in (p, q))
    weight = table["weight"].to_numpy(np.float64)
    order = np.argsort(a * len(names) + b, kind="stable")
    blocks, first = np.unique((a * len(names) + b)[order], return_index=True)
    rows_of = dict(zip(blocks.tolist(), np.split(order, first[1:]), strict=False))
    out = []
    for first_at, second_at in combinations_with_replacement(range(len(names)), 2):
        here = rows_of.get(first_at * len(names) + second_at, np.empty(0, dtype=np.int64))
        if first_at == second_at and not len(here):
            continue
        ends = np.concatenate([p[here], q[here]])
        linked, counts = np.unique(ends, return_counts=True)
        left, right = data[names[first_at]], data[names[second_at]]
        sides = [
            linked[(linked >= starts[at]) & (linked < starts[at] + len(part))]
            for at, part in ((first_at, left), (second_at, right))
        ]
        hub = int(linked[np.argmax(counts)]) if len(linked) else -1
        in_left = starts[first_at] <= hub < starts[first_at] + len(left)
        part, start = (left, starts[first_at]) if in_left else (right, starts[second_at])
        out.append(
            (
                left.name,
                right.name,
                int((weight[here] > 0).sum()),
                int((weight[here] < 0).sum()),
                len(sides[0]),
                len(left),
                len(sides[1]),
                len(right),
                part.name if hub >= 0 else "",
                str(part.ids[hub - start]) if hub >= 0 else "",
                int(counts.max(initial=0)),
            )
        )
    return pd.DataFrame(out, columns=list(COLUMNS))

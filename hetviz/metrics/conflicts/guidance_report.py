"""Report on guidance: conflicts, duplicates, implied statements and coverage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._text import count
from hetviz._types import Json, JsonObject
from hetviz.core.ordinal.partial_order import STAGES, PartialOrder, partial_order
from hetviz.core.threads import one_thread
from hetviz.data import Comparisons, HeteroData
from hetviz.data.model.links import Links
from hetviz.data.model.statements import author_names
from hetviz.data.queries.reach import Reach, link_reach
from hetviz.features.relations.comparisons import comparison_table
from hetviz.metrics.conflicts.conflicts import (
    StatementArrays,
    StatementConflict,
    find_link_conflicts,
    order_conflicts,
)


@dataclass(frozen=True, eq=False)
class GuidanceReport:
    """Report on the guidance of some data.

    `comparisons`: Order graph of objects (views of one object count as one). Rows are positions in
        ``data.comparisons``. None without comparisons.
    `rows`: One row per comparison: row, near_a, near_b, far_a, far_b (as ``dataset: id``), weight,
        stage and its meaning in words.
    `conflicts`: Conflicts of links and of comparisons, the smallest first.
    `repeated`: Keys of links of one kind and author with the same two rows and sign, the first one
        first.
    `missing`: Aspects that the report does not cover, in sentences. Always empty.
    """

    comparisons: PartialOrder | None
    rows: pd.DataFrame
    conflicts: tuple[StatementConflict, ...]
    n_conflicts: int
    repeated: tuple[tuple[str, ...], ...]
    n_together: int
    n_apart: int
    coverage: pd.DataFrame
    missing: tuple[str, ...] = ()

    @property
    def repeated_fix(self) -> JsonObject:
        """JSON-ready command that removes duplicate links."""
        return {
            "op": "drop-statements",
            "keys": [key for keys in self.repeated for key in keys[1:]],
        }

    def to_dict(self) -> JsonObject:
        """Return counts, conflicts with their fixes, and coverage, JSON-ready."""
        order = self.comparisons
        compared: Json = None
        if order is not None:
            compared = {
                "counts": order.counts,
                "n_conflicts": order.n_conflicts,
                "conflicts": [[list(rows) for rows in c.rows] for c in order.conflicts],
            }
        return {
            "links": {"together": self.n_together, "apart": self.n_apart},
            "comparisons": compared,
            "n_conflicts": self.n_conflicts,
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
            "repeated": [list(keys) for keys in self.repeated],
            "coverage": records(self.coverage),
            "missing": list(self.missing),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterable[str]:
        yield f"{self.n_together:,} links pull items together, {self.n_apart:,} push them apart."
        order = self.comparisons
        if order is None:
            yield "There are no comparisons."
        else:
            counts = ", ".join(f"{n:,} {stage}" for stage, n in order.counts.items() if n)
            yield f"{len(order.fate):,} comparisons: {counts or 'none'}."
        if self.repeated:
            n_repeats = sum(len(keys) - 1 for keys in self.repeated)
            yield f"{count(n_repeats, 'duplicate link')}."
        if self.n_conflicts:
            yield f"{count(self.n_conflicts, 'contradiction')}:"
            yield from (conflict.sentence for conflict in self.conflicts[:3])
        else:
            yield "There are no contradictions."
        yield from self.missing


@one_thread()
def guidance_report(
    data: HeteroData, *, contradictions: str = "prune", max_conflicts: int = 100
) -> GuidanceReport:
    """Check the guidance of `data` for contradictions, duplicates and gaps.

    Parameters
    ----------
    data : HeteroData
    contradictions : {"prune", "majority", "keep"}
        Handling of opposite comparisons, see `hetviz.core.ordinal.partial_order.partial_order`.
    max_conflicts : int
        Maximum number of reported conflicts of links, and of comparisons.

    Returns
    -------
    GuidanceReport

    Notes
    -----
    Links contradict if a negative link joins two items that a positive link, or a chain of positive
    links, connects. Chains consist of statements (kinds "said" and "accepted") and of given links
    within a dataset: two voters with a common vote may differ in others.
    Linear in links and comparisons, plus one graph search per reported conflict.
    """
    arrays = StatementArrays(data)
    n_links, conflicts = find_link_conflicts(arrays, max_conflicts)
    order = None
    if data.comparisons is not None and len(data.comparisons):
        order = partial_order(
            data.object_of[data.comparisons.pairs],
            data.comparisons.weight,
            contradictions=contradictions,
            max_conflicts=max_conflicts,
        )
        conflicts += order_conflicts(arrays, order)
    weight = arrays.weight[: arrays.n_links]
    return GuidanceReport(
        order,
        _comparison_stages(data, order),
        tuple(sorted(conflicts, key=lambda conflict: len(conflict.keys))),
        n_links + (0 if order is None else order.n_conflicts),
        _repeated_keys(arrays),
        int((weight > 0).sum()),
        int((weight < 0).sum()),
        coverage(data),
    )


def _repeated_keys(arrays: StatementArrays) -> tuple[tuple[str, ...], ...]:
    """Return the keys of links of one kind and author with the same two rows and sign."""
    if not arrays.n_links:
        return ()
    kinds = [group.kind for group in arrays.data.links for _ in range(len(group))]
    low, high = np.sort(arrays.rows[: arrays.n_links, :2], axis=1).T
    sign = np.sign(arrays.weight[: arrays.n_links])
    who = author_names(arrays.data)[: arrays.n_links]
    table = pd.DataFrame({"low": low, "high": high, "sign": sign, "kind": kinds, "who": who})
    duplicates = table[table.duplicated(keep=False)]
    groups = duplicates.groupby(list(table.columns), sort=False).groups.values()
    return tuple(tuple(str(arrays.keys[row]) for row in rows) for rows in groups)


def _comparison_stages(data: HeteroData, order: PartialOrder | None) -> pd.DataFrame:
    table = comparison_table(data, data.comparisons or Comparisons([]))
    if order is None:
        return table.assign(stage=[], means=[])
    stages = list(order.counts)
    return table.assign(
        stage=[stages[fate] for fate in order.fate],
        means=[STAGES[fate] for fate in order.fate.tolist()],
    )


COLUMNS = (
    "source", "target", "together", "apart", "source_linked", "source_items", "target_linked",
    "target_items", "hub_dataset", "hub_id", "hub_links",
)  # fmt: skip


def coverage(data: HeteroData) -> pd.DataFrame:
    """Count the links between each two datasets, and the linked items.

    Returns: One row for each two datasets in order, also without links, and for each dataset with
        links within it: source, target, together and apart (numbers of links), source_linked of
        source_items and target_linked of target_items (items with at least one link), and the item
        with most links: hub_dataset, hub_id, hub_links.
    """
    groups: dict[frozenset[str], list[Links]] = {}
    for group in data.links:
        if len(group):
            groups.setdefault(frozenset((group.source, group.target)), []).append(group)
    rows = []
    for left, right in combinations_with_replacement(data.datasets, 2):
        links = groups.get(frozenset((left, right)), [])
        if links or left != right:
            rows.append(_coverage_row(data, left, right, links, link_reach(data, links)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _coverage_row(
    data: HeteroData, left: str, right: str, links: list[Links], reach: Reach
) -> tuple[object, ...]:
    hub = ("", "", 0)
    if reach.hubs:
        hub = reach.hubs[0].dataset, reach.hubs[0].id, reach.hubs[0].links
    return (
        left,
        right,
        sum(int((group.weight > 0).sum()) for group in links),
        sum(int((group.weight < 0).sum()) for group in links),
        reach.linked.get(left, 0),
        len(data[left]),
        reach.linked.get(right, 0),
        len(data[right]),
        *hub,
    )

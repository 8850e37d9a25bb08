"""What is wrong or idle in what was said: comparisons that contradict, repeat or follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from hetviz.core.partial_order import STAGES, PartialOrder, partial_order
from hetviz.data import Comparisons, HeteroData
from hetviz.features.comparing import comparison_table

LINKS_MISSING = "Links are not looked at yet: this report covers comparisons only."


@dataclass(frozen=True, eq=False)
class GuidanceReport:
    """A look at the guidance before anything is fitted to it.

    Attributes
    ----------
    comparisons : PartialOrder or None
        The order graph over objects (rows of views that show one object are one); rows are
        positions in ``data.comparisons``. None where there are no comparisons.
    rows : DataFrame
        One row per comparison: row, near_a, near_b, far_a, far_b (as ``dataset: id``), weight,
        stage and what that means in words.
    missing : tuple of str
        What the report does not look at, in sentences.
    """

    comparisons: PartialOrder | None
    rows: pd.DataFrame
    missing: tuple[str, ...]

    def conflict_rows(self) -> list[pd.DataFrame]:
        """Return the rows of each conflict, the smallest first, with the statement they make."""
        if self.comparisons is None:
            return []
        tables = []
        for conflict in self.comparisons.conflicts:
            numbers = [(row, part) for part, rows in enumerate(conflict.rows) for row in rows]
            at, statement = zip(*numbers, strict=True)
            tables.append(self.rows.iloc[list(at)].assign(statement=list(statement)))
        return tables

    def to_dict(self) -> dict[str, Any]:
        """Return counts and conflicts, JSON-ready."""
        order = self.comparisons
        if order is None:
            return {"comparisons": None, "missing": list(self.missing)}
        return {
            "comparisons": {
                "counts": order.counts,
                "n_conflicts": order.n_conflicts,
                "conflicts": [[list(rows) for rows in c.rows] for c in order.conflicts],
            },
            "missing": list(self.missing),
        }

    def __str__(self) -> str:
        order = self.comparisons
        if order is None:
            return " ".join(["There are no comparisons.", *self.missing])
        counts = ", ".join(f"{count:,} {word}" for word, count in order.counts.items() if count)
        lines = [f"{len(order.fate):,} comparisons: {counts or 'none'}."]
        for conflict in order.conflicts[:3]:
            rows = " and ".join("/".join(str(row + 1) for row in same) for same in conflict.rows)
            lines.append(f"Cannot all be true: rows {rows}.")
        return "\n".join([*lines, *self.missing])


def guidance_report(
    data: HeteroData, *, contradictions: str = "prune", max_conflicts: int = 100
) -> GuidanceReport:
    """Look for contradictions, repetitions and implied statements in the guidance of `data`.

    Parameters
    ----------
    data : HeteroData
    contradictions : {"prune", "majority", "keep"}
        What becomes of opposite comparisons, see `hetviz.core.partial_order.partial_order`.
    max_conflicts : int
        How many conflicts to name.

    Returns
    -------
    GuidanceReport
        Its `missing` says what it does not look at yet.
    """
    if data.comparisons is None or not len(data.comparisons):
        return GuidanceReport(None, _table(data, None), (LINKS_MISSING,))
    order = partial_order(
        data.object_of[data.comparisons.pairs],
        data.comparisons.weight,
        contradictions=contradictions,
        max_conflicts=max_conflicts,
    )
    return GuidanceReport(order, _table(data, order), (LINKS_MISSING,))


def _table(data: HeteroData, order: PartialOrder | None) -> pd.DataFrame:
    table = comparison_table(data, data.comparisons or Comparisons([]))
    if order is None:
        return table.assign(stage=[], means=[])
    words = list(order.counts)
    return table.assign(
        stage=[words[fate] for fate in order.fate],
        means=[STAGES[fate] for fate in order.fate.tolist()],
    )

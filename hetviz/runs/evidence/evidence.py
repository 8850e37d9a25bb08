"""Table and rule behind one statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from hetviz._html import html_table
from hetviz._types import Ints, JsonObject, Texts
from hetviz.data import HeteroData

_MAX_ROWS_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """What one statement about a map was computed from.

    Attributes
    ----------
    statement : str
        The statement as a sentence.
    rule : str
        How it was computed, in one sentence.
    sample : str
        What was counted, with its number.
    chance : str
        What it would be by chance; empty if no such level exists.
    table : DataFrame
        The counted rows, filtered and sorted.
    rows : array of int, shape (m,)
        Global rows of the items in the table.
    """

    statement: str
    rule: str
    sample: str
    chance: str
    table: pd.DataFrame
    rows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __repr__(self) -> str:
        return f"Evidence({self.statement!r}, {len(self.table):,} rows)"

    def _repr_html_(self) -> str:
        shown = self.table.head(_MAX_ROWS_SHOWN)
        note = " ".join(filter(None, (self.rule, self.sample, self.chance)))
        return html_table(
            self.statement,
            [tuple(map(str, row)) for row in shown.itertuples(index=False)],
            tuple(map(str, shown.columns)),
            note,
        )

    def to_dict(self) -> JsonObject:
        """Return the texts as JSON-ready values, without the table."""
        return {name: getattr(self, name) for name in ("statement", "rule", "sample", "chance")}


def item_table(data: HeteroData, rows: Ints, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return dataset, id and title of global rows, followed by other columns."""
    names, ids, titles = names_of(data, rows)
    table = pd.DataFrame({"dataset": names, "id": ids, "title": titles})
    for name, values in columns.items():
        table[name] = values
    return table


def pair_table(data: HeteroData, p: Ints, q: Ints, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return dataset, id and title of both ends of pairs of global rows, then other columns."""
    ends = {"": names_of(data, p), "linked ": names_of(data, q)}
    table = pd.DataFrame(
        {
            f"{prefix}{name}": values
            for prefix, names in ends.items()
            for name, values in zip(("dataset", "id", "title"), names, strict=True)
        }
    )
    for name, column in columns.items():
        table[name] = column
    return table


def names_of(data: HeteroData, rows: Ints) -> tuple[Texts, Texts, Texts]:
    """Return dataset, id and display name of global rows."""
    out = np.empty((3, len(rows)), dtype=object)
    for name, span in data.offsets.items():
        mask = (rows >= span.start) & (rows < span.stop)
        own = rows[mask] - span.start
        out[0, mask] = name
        out[1, mask] = data[name].ids[own]
        out[2, mask] = data[name].display_names[own]
    return out[0], out[1], out[2]


def same_dataset(data: HeteroData, row: int) -> tuple[str, slice]:
    """Return the name of the dataset of a global row, and its rows."""
    return next((name, span) for name, span in data.offsets.items() if row < span.stop)

"""Chosen rows as CSV: dataset, id and what the row is called."""

from __future__ import annotations

from collections.abc import Iterable

from hetviz.data import HeteroData
from hetviz.io.bundle.coordinates import escaped
from hetviz.io.infer import cells


def rows_csv(data: HeteroData, rows: Iterable[int]) -> str:
    """Write the ids of global rows as CSV, for people.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    wanted = sorted(rows)
    lines: list[list[str]] = []
    for name, span in data.offsets.items():
        dataset = data[name]
        lines += [
            [escaped(name), escaped(str(dataset.ids[k])), escaped(str(dataset.titles[k]))]
            for k in (row - span.start for row in wanted if span.start <= row < span.stop)
        ]
    return cells.csv_text(["dataset", "id", "title"], lines)

"""Column-wise text tables, parsed by Arrow so that few rows become Python objects."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._types import Bools, Ints
from hetviz.io import limits
from hetviz.io.infer import dialect

if TYPE_CHECKING:
    import pyarrow as pa

_N_FIRST_ROWS = 1_000
_N_LAST_ROWS = 30
_BLOCK_BYTES = 1 << 24
_MAX_ODD_ROWS = 1_000
# Up to this size, row-wise reading is as fast and needs no import of Arrow.
MAX_ROW_WISE_CHARS = 200_000

TextRow = tuple[int, list[str]]


@dataclass(frozen=True, eq=False)
class ColumnRows:
    """The rows of a text table, stored as columns."""

    above: list[TextRow]
    lines: Ints
    table: pa.Table
    odd: list[TextRow]

    def __len__(self) -> int:
        return len(self.above) + len(self.lines) + len(self.odd)

    def __iter__(self) -> Iterator[TextRow]:
        return iter(sorted([*self.above, *self._rows(np.arange(len(self.lines))), *self.odd]))

    def sample(self) -> list[TextRow]:
        """Return the first and last rows, plus one filled row for each column."""
        import pyarrow.compute as pc

        n = len(self.lines)
        filled = [pc.index(pc.not_equal(column, ""), True).as_py() for column in self.table.columns]
        places = {*range(min(n, _N_FIRST_ROWS)), *range(max(0, n - _N_LAST_ROWS), n)} | (
            set(filled) - {-1}
        )
        last = self.lines[-1] - _N_LAST_ROWS if n else 0
        odd = [row for at, row in enumerate(self.odd) if at < _N_LAST_ROWS or row[0] >= last]
        return sorted([*self.above, *self._rows(np.array(sorted(places), dtype=np.int64)), *odd])

    def n_filled(self, start: int) -> list[int]:
        import pyarrow.compute as pc

        at = max(start - len(self.above), 0)
        below = self.table.slice(at)
        return [pc.sum(pc.not_equal(c, "")).as_py() or 0 for c in below.columns]

    def select_columns(self, columns: Sequence[int]) -> ColumnRows:
        """Return some columns, without rows that are empty there."""
        table = self.table.select(list(columns))
        keep = _filled_rows(table)
        narrow = [(at, [cells[k] for k in columns if k < len(cells)]) for at, cells in self.odd]
        if keep is None:
            return ColumnRows(self.above, self.lines, table, narrow)
        return ColumnRows(self.above, self.lines[keep.to_numpy()], table.filter(keep), narrow)

    def to_frame(self) -> tuple[pd.DataFrame, Ints]:
        """Return all rows as a table, filled up with missing cells, and the row of each."""
        others = [*self.above, *self.odd]
        width = max([self.table.num_columns, *(len(cells) for _, cells in others)])
        names = [str(at) for at in range(width)]
        series = {
            name: as_series(column) for name, column in zip(names, self.table.columns, strict=False)
        }
        frame = pd.DataFrame(series)
        if not others:
            return frame, self.lines
        filled = [[*cells, *[None] * (width - len(cells))] for _, cells in others]
        other_rows = pd.DataFrame(filled, columns=names, dtype=TEXT)
        lines = np.concatenate([[line for line, _ in others], self.lines]).astype(np.int64)
        order = np.argsort(lines, kind="stable")
        frame = pd.concat([other_rows, frame.reindex(columns=names)], ignore_index=True)
        return frame.astype(TEXT).iloc[order].reset_index(drop=True), lines[order]

    def body(
        self, holds: Callable[[Ints], Bools], names: Sequence[str]
    ) -> tuple[pd.DataFrame, Ints, list[TextRow]]:
        """Return the data rows as text, their row numbers, and rows of another width."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table, lines, width = self.table, self.lines, len(names)
        keep = holds(lines)
        odd = [row for row in (*self.above, *self.odd) if holds(np.array([row[0]]))[0]]
        if width > table.num_columns:
            odd += self._rows(np.flatnonzero(keep))
            keep = np.zeros(len(lines), dtype=bool)
        for column in table.columns[width:]:
            is_wider = keep & pc.not_equal(column, "").to_numpy()
            odd += self._rows(np.flatnonzero(is_wider))
            keep &= ~is_wider
        if not keep.all():
            table, lines = table.filter(pa.array(keep)), lines[keep]
        frame = pd.DataFrame(
            {name: as_series(column) for name, column in zip(names, table.columns, strict=False)},
            columns=list(names),
        )
        return frame, lines, sorted(odd)

    def _rows(self, places: Ints) -> list[TextRow]:
        cells = [column.to_pylist() for column in self.table.take(places).columns]
        lines = self.lines[places].tolist()
        return [
            (line, list(row)) for line, row in zip(lines, zip(*cells, strict=True), strict=True)
        ]


def column_rows(name: str, text: str, separator: str) -> ColumnRows | None:
    """Return the rows of a text table as columns."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    if len(text) < MAX_ROW_WISE_CHARS or separator == '"':
        return None
    starts, head = _first_rows(text, separator)
    widths = Counter(len(cells) for _, cells in head)
    width = max(widths, key=lambda one: (widths[one], one), default=0)
    if not 1 < width <= limits.MAX_COLUMNS:
        return None
    first = next(at for at, (_, cells) in enumerate(head) if len(cells) == width)
    body = text[starts[first] :]
    is_quoted = '"' in body
    if is_quoted and not _is_plainly_quoted(body, separator):
        return None
    wrong: list[tuple[int, str]] = []

    def on_odd_row(row: pa.csv.InvalidRow) -> str:
        wrong.append((row.number, row.text))
        return "error" if len(wrong) > _MAX_ODD_ROWS else "skip"

    names = [str(at) for at in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(body.encode()),
            read_options=arrow_csv.ReadOptions(
                column_names=names, use_threads=False, block_size=_BLOCK_BYTES
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=is_quoted, invalid_row_handler=on_odd_row
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, UnicodeError):
        return None
    n = table.num_rows + len(wrong)
    longest = max((pc.max(pc.binary_length(c)).as_py() or 0 for c in table.columns), default=0)
    if n + head[first][0] > limits.MAX_ROWS + 1 or n * width > limits.MAX_CELLS:
        dialect.raise_too_many_rows(name)
    if longest > dialect.MAX_CELL:
        return None
    # Row numbers start at 1 and include skipped rows.
    places = np.arange(n)
    odd_places = np.array([number - 1 for number, _ in wrong], dtype=np.int64)
    if len(odd_places) and (odd_places >= n).any():
        return None
    lines = np.delete(places, odd_places) + head[first][0]
    if (keep := _filled_rows(table)) is not None:
        table, lines = table.filter(keep), lines[keep.to_numpy()]
    others = [
        (number - 1 + head[first][0], cells)
        for number, line in wrong
        for cells in csv.reader([line], delimiter=separator)
        if any(cells)
    ]
    if any(len(cells) > width and not any(cells[width:]) for _, cells in others):
        # These rows only have additional empty cells at their end.
        return None
    return ColumnRows(head[:first], lines, table, others)


def _filled_rows(table: pa.Table) -> pa.ChunkedArray | None:
    """Return a mask of rows that are not empty; None if all are filled."""
    import pyarrow.compute as pc

    empty = pc.equal(table.column(0), "")
    for column in table.columns[1:]:
        if not pc.any(empty).as_py():
            break
        empty = pc.and_(empty, pc.equal(column, ""))
    return pc.invert(empty) if pc.any(empty).as_py() else None


def _first_rows(text: str, separator: str) -> tuple[list[int], list[TextRow]]:
    """Return where each of the first rows that are not empty starts, and these rows."""
    csv.field_size_limit(dialect.MAX_CELL)
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        for line in dialect.lines_of(text, 50 * dialect.MAX_CELL):
            at += len(line)
            yield line

    starts: list[int] = []
    rows: list[TextRow] = []
    start = count = 0
    try:
        for cells in csv.reader(lines(), delimiter=separator, strict=True):
            if cells:
                if any(cells):
                    starts.append(start)
                    rows.append((count, cells))
                count += 1
            start = at
            if len(rows) >= _N_FIRST_ROWS:
                break
    except csv.Error:
        return [], []
    return starts, rows


def _is_plainly_quoted(text: str, separator: str) -> bool:
    """Whether all quotation marks follow the CSV rules."""
    sign = re.escape(separator)
    cell = rf'(?:"(?:[^"]++|"")*+"|[^"{sign}\r\n][^{sign}\r\n]*+)?+'
    return re.fullmatch(rf"(?:{cell}(?:{sign}|\r\n|\n|\r|\Z))*+", text) is not None


def as_series(texts: pa.ChunkedArray) -> pd.Series:
    """Return an Arrow column of large strings as a column of a DataFrame, without a copy."""
    import pyarrow as pa

    series: pd.Series = texts.to_pandas(types_mapper={pa.large_string(): TEXT}.get)
    return series

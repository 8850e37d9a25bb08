"""Raw rows of a table, as lists of cells or as columns converted to lists on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._pandas import TEXT
from hetviz._types import Bools, Ints

RawRow = tuple[int, list[str]]

_N_FIRST_ROWS = 1_000
_N_LAST_ROWS = 30
_CHUNK_ROWS = 10_000


class FrameRows(Sequence[RawRow]):
    """Rows as a sequence of (row of the file, cells), stored as columns."""

    def __init__(self, frame: pd.DataFrame, lines: ArrayLike) -> None:
        self._frame = frame
        self.lines: Ints = np.asarray(lines, dtype=np.int64)

    @classmethod
    def of(cls, rows: Sequence[RawRow]) -> FrameRows:
        """Return rows of cells, padded with missing values to one width."""
        width = max((len(cells) for _, cells in rows), default=0)
        filled = [[*cells, *[None] * (width - len(cells))] for _, cells in rows]
        frame = pd.DataFrame(filled, columns=[str(at) for at in range(width)], dtype=TEXT)
        return cls(frame, [line for line, _ in rows])

    @property
    def width(self) -> int:
        return int(self._frame.shape[1])

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, place: int) -> RawRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[RawRow]: ...

    def __getitem__(self, place: int | slice) -> RawRow | list[RawRow]:
        if isinstance(place, slice):
            return self._rows(np.arange(len(self))[place])
        return self._rows(np.arange(len(self))[[place]])[0]

    def __iter__(self) -> Iterator[RawRow]:
        for start in range(0, len(self), _CHUNK_ROWS):
            yield from self._rows(np.arange(start, min(start + _CHUNK_ROWS, len(self))))

    def _rows(self, places: Ints) -> list[RawRow]:
        cells = self._frame.iloc[places].to_numpy(dtype=object).tolist()
        lines = self.lines[places].tolist()
        return [(line, _without_padding(row)) for line, row in zip(lines, cells, strict=True)]

    def take(self, places: Ints) -> FrameRows:
        """Return some rows."""
        return FrameRows(self._frame.iloc[places].reset_index(drop=True), self.lines[places])

    def narrow(self, width: int) -> FrameRows:
        """Return the rows with only the first `width` columns."""
        return FrameRows(self._frame.iloc[:, :width], self.lines)

    def sample(self) -> Sequence[RawRow]:
        """Return the first and last rows, plus one filled row for each column."""
        n = len(self)
        if n <= 2 * _N_FIRST_ROWS:
            return self[:]
        filled = set()
        for at in range(self._frame.shape[1]):
            cells = self._frame.iloc[:, at]
            filled.add(int(((cells != "") & cells.notna()).to_numpy().argmax()))
        places = {*range(_N_FIRST_ROWS), *range(n - _N_LAST_ROWS, n), *filled}
        return self._rows(np.array(sorted(places), dtype=np.int64))

    def body(
        self, holds: Callable[[Ints], Bools], names: Sequence[str]
    ) -> tuple[pd.DataFrame, Ints]:
        """Return the filled data rows and their row numbers in the file."""
        keep = holds(self.lines)
        width = min(len(names), self._frame.shape[1])
        frame = self._frame.iloc[:, :width]
        blank = np.ones(len(self), dtype=bool)
        for at in range(width):
            blank &= frame.iloc[:, at].fillna("").str.strip().eq("").to_numpy(dtype=bool)
            if not (blank & keep).any():
                break
        keep &= ~blank
        if not keep.all():
            frame = frame.loc[keep]
        columns = {name: frame.iloc[:, at].fillna("") for at, name in enumerate(names[:width])}
        columns |= {name: pd.Series("", index=frame.index, dtype=TEXT) for name in names[width:]}
        body = pd.DataFrame(columns, index=frame.index, columns=list(names), dtype=TEXT)
        return body.reset_index(drop=True), self.lines[keep]


@dataclass(frozen=True, eq=False)
class RawTable:
    """The raw cells of a table in a file or sheet."""

    name: str
    rows: Sequence[tuple[int, list[str]]]
    decimal: str = "."

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], name: str = "table", decimal: str = ".") -> RawTable:
        """Return a raw table from lists of cells."""
        filled_rows = [
            (line, list(cells)) for line, cells in enumerate(rows) if any(map(str.strip, cells))
        ]
        return cls(name, filled_rows, decimal)

    @property
    def sample(self) -> RawTable:
        """A sample of the first and last rows; all rows of a short table."""
        if not isinstance(self.rows, FrameRows):
            return self
        return replace(self, rows=self.rows.sample())


def _without_padding(cells: list[object]) -> list[str]:
    end = len(cells)
    while end and not isinstance(cells[end - 1], str):
        end -= 1
    return cells[:end]  # type: ignore[return-value]

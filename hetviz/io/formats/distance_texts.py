"""PHYLIP matrices and lower or upper triangles of numbers, recognised by their text."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._types import Floats
from hetviz.errors import Problem
from hetviz.features.columns.types import MISSING, numbers
from hetviz.io import gate, limits
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.matrix_kinds import (
    MIN_ROWS,
    chosen_or_recognised,
    matrix_kind,
    matrix_sentence,
)
from hetviz.io.infer import encodings
from hetviz.io.infer.parsed import Choices, Table, stem

_COUNT = re.compile(r"\s*(\d{1,6})[ \t]*(?:\r\n|\r|\n)")
_NUMBER = re.compile(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?")
_DIGITS = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_HEAD_BYTES = 100_000
# Names in PHYLIP files have ten characters, which may be blanks.
_NAME_CHARS = 10
_MIN_ITEMS = 4
_SEPARATORS = ("\t", ";", ",", None)


@dataclass(frozen=True, eq=False)
class _Square:
    """The parts of a matrix: names (empty for row numbers), and the cells of each row."""

    names: list[str]
    rows: list[list[str]]
    is_upper: bool = False
    has_diagonal: bool = True

    @property
    def ids(self) -> list[str]:
        return self.names or [str(at + 1) for at in range(len(self.rows))]

    @property
    def is_full(self) -> bool:
        return all(len(row) == len(self.rows) for row in self.rows)

    @property
    def matrix(self) -> Floats:
        n = len(self.rows)
        cells = [cell for row in self.rows for cell in row]
        values = numbers(cells, "," if any("," in cell for cell in cells) else ".")
        if self.is_full:
            return values.reshape(n, n)
        X = np.zeros((n, n))
        diagonal = 0 if self.has_diagonal else 1
        X[np.triu_indices(n, diagonal) if self.is_upper else np.tril_indices(n, -diagonal)] = values
        return X + X.T - np.diag(np.diag(X))

    @property
    def rounding(self) -> float:
        """Half a unit of the last decimal."""
        cells = [cell for row in self.rows[:20] for cell in row]
        if any("e" in cell.lower() for cell in cells):
            return 0.0
        n_decimals = max((len(re.split("[.,]", f"{cell}.")[1]) for cell in cells), default=0)
        return 0.5 * 10.0**-n_decimals if n_decimals else 0.0


def read_distances(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read distances or similarities; the missing half of a triangle is mirrored."""
    notes: list[Problem] = []
    text, _ = encodings.decode(name, content, choices.encoding, notes)
    square = _parse(text)
    if square is None:
        remedy = "Save it as UTF-8."
        raise gate.refusal("damaged", name, "the numbers cannot be read", remedy=remedy)
    X = square.matrix
    kind = chosen_or_recognised(name, X, choices.matrix, square.rounding)
    if kind == "features" and choices.matrix is None:
        kind = chosen_or_recognised(name, X, "distance", square.rounding)
    sentence = matrix_sentence(kind, X.shape)
    form = "with a name in each row" if square.names else "in the order of the rows"
    mirrored = "" if square.is_full else ", and the missing half is mirrored"
    message = f"the file is read as {sentence}, {form}{mirrored}"
    note = Problem("square", name, message, severity="note")
    table = Table(
        choices.name or stem(name),
        name,
        "dataset",
        pd.DataFrame({"id": square.ids}, dtype=TEXT),
        tuple(range(len(square.ids))),
        id_column="id",
        facts={"matrix": f"{sentence}, {form}"},
        problems=(*notes, note),
        **{"X" if kind == "features" else kind: (X + X.T) / 2},  # type: ignore[arg-type]
    )
    return [table]


def is_distances(content: bytes) -> bool:
    """Whether text is a PHYLIP matrix, or a triangle of numbers."""
    head = content[:_HEAD_BYTES].decode("utf-8", "replace")
    if not _COUNT.match(head) and not _grows_or_shrinks(head):
        return False
    return (
        content.count(b"\n") <= limits.MAX_SQUARE * (1 + limits.MAX_SQUARE // 4)
        and _parse(content.decode("utf-8", "replace")) is not None
    )


def _grows_or_shrinks(text: str) -> bool:
    """Whether the first rows can be those of a triangle; saves reading other texts."""
    lines = [line for line in text.splitlines()[:6] if line.strip()]
    widths = [len(_DIGITS.findall(line)) for line in lines[-3:]]
    return len(widths) == 3 and (widths[0] < widths[1] < widths[2] or widths[0] > widths[1])


def _parse(text: str) -> _Square | None:
    head = _COUNT.match(text)
    if head is not None and MIN_ROWS <= int(head[1]) <= limits.MAX_SQUARE:
        square = _phylip(text[head.end() :], int(head[1]))
        if square is not None:
            return square
    if text.count("\n") > limits.MAX_SQUARE + 1:
        return None
    for separator in _SEPARATORS:
        square = _triangle(_split_rows(text, separator))
        # Other tables have such rows by chance.
        if square is not None and matrix_kind(square.matrix, square.rounding) != "features":
            return square
    return None


def _split_rows(text: str, separator: str | None) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.strip(" \t,;")]
    if separator is None:
        return [line.split() for line in lines]
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    except csv.Error:
        return []
    return [_without_blank_end(row) for row in rows]


def _without_blank_end(row: list[str]) -> list[str]:
    end = len(row)
    while end and row[end - 1].lower() in MISSING:
        end -= 1
    return row[:end]


def _phylip(text: str, n: int) -> _Square | None:
    """Return the matrix below a line with the number of items; long rows may be wrapped."""
    return _phylip_rows(text, n, 0) or _phylip_rows(text, n, _NAME_CHARS)


def _phylip_rows(text: str, n: int, n_name: int) -> _Square | None:
    """Return the matrix, with names of words or, strictly, of the first `n_name` characters."""
    rows: list[list[str]] = []
    for line in text.splitlines():
        cells = line.split()
        if cells and rows and line[0].isspace() and all(map(_NUMBER.fullmatch, cells)):
            rows[-1] += cells
        elif cells:
            rows.append([line[:n_name].strip(), *line[n_name:].split()] if n_name else cells)
    if len(rows) != n:
        return None
    layouts = (
        ([n] * n, False, True),
        (list(range(n)), False, False),
        (list(range(1, n + 1)), False, True),
        (list(range(n - 1, -1, -1)), True, False),
        (list(range(n, 0, -1)), True, True),
    )
    for widths, is_upper, has_diagonal in layouts:
        parts = [
            part
            for cells, width in zip(rows, widths, strict=True)
            if (part := _split_name(cells, width)) is not None
        ]
        if len(parts) == n:
            names = [name for name, _ in parts]
            return _Square(names, [cells for _, cells in parts], is_upper, has_diagonal)
    return None


def _split_name(cells: Sequence[str], width: int) -> tuple[str, list[str]] | None:
    """Return the name and the last `width` cells of a row, if these are its numbers."""
    start = len(cells) - width
    if start < 1 or not all(map(_NUMBER.fullmatch, cells[start:])):
        return None
    if start > 1 and _NUMBER.fullmatch(cells[start - 1]):
        return None
    return " ".join(cells[:start]), list(cells[start:])


def _triangle(rows: list[list[str]]) -> _Square | None:
    """Return the matrix of rows that grow or shrink by one number."""
    if len(rows) < _MIN_ITEMS - 1:
        return None
    header: list[str] = []
    if len(rows[0]) > 1 and not any(map(_NUMBER.fullmatch, rows[0])):
        header, rows = [cell for cell in rows[0] if cell], rows[1:]
    is_named = all(row[0] and not _NUMBER.fullmatch(row[0]) for row in rows)
    names = [row[0] for row in rows] if is_named else []
    bodies = [row[is_named:] for row in rows]
    values = [[cell for cell in row if cell] for row in bodies]
    # A blank among the numbers is a missing value, not the blank half.
    is_whole = all(row[len(row) - len(v) :] == v for row, v in zip(bodies, values, strict=True))
    if not is_whole or not all(_NUMBER.fullmatch(cell) for row in values for cell in row):
        return None
    m, widths = len(rows), [len(row) for row in values]
    is_upper = bool(widths) and widths[0] > widths[-1]
    min_width = min(widths, default=0)
    steps = list(range(min_width, min_width + m))
    if (
        min_width > 1
        or widths != (steps[::-1] if is_upper else steps)
        or (not min_width and not is_named)
    ):
        return None
    has_diagonal = min_width == 1 and _has_diagonal(values, names, header, is_upper)
    if min_width == 1 and not has_diagonal:
        # The row without numbers is left out.
        values = [*values, []] if is_upper else [[], *values]
        if names:
            names = [*names, *header[-1:]] if is_upper else [*header[:1], *names]
    n = len(values)
    names = names or (header if len(header) == n else [])
    if n < _MIN_ITEMS or len(set(names)) not in (0, n):
        return None
    return _Square(names, values, is_upper, has_diagonal)


def _has_diagonal(
    values: Sequence[Sequence[str]], names: Sequence[str], header: Sequence[str], is_upper: bool
) -> bool:
    """Whether rows of 1 to n numbers have the diagonal, and are not n + 1 items without it."""
    if names and header:
        return list(header) == list(names)
    if names or header:
        return len(header) in (0, len(values))
    cells = _Square([], list(map(list, values)), is_upper)
    X, diagonal = cells.matrix, np.diag(cells.matrix)
    if len(set(diagonal.tolist())) == 1 and diagonal[0] in (0, np.abs(X).max()):
        return True
    # Variances bound covariances.
    return bool((np.outer(diagonal, diagonal) * (1 + 1e-9) >= X**2).all())


FORMATS = (
    FileFormat(
        "phylip", "a text of distances", "matrix", (".phylip", ".phy"), read_distances,
        detect_text=is_distances
    ),
)  # fmt: skip

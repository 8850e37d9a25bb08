"""PHYLIP distances, and triangles of numbers without names, recognised by their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._types import Floats
from hetviz.errors import Problem
from hetviz.io import gate, limits
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.matrix_kinds import MIN_ROWS, chosen_or_recognised, matrix_sentence
from hetviz.io.infer import encodings
from hetviz.io.infer.parsed import Choices, Table, stem

_COUNT = re.compile(rb"\s*(\d{1,6})\s*(?:\r\n|\r|\n)")
_NUMBER = re.compile(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?")
_TRIANGLE_HEAD = re.compile(rb"[-+0-9.,;\sEe]*\Z")
_HEAD_BYTES = 2_000
# Names in PHYLIP files have ten characters, which may be blanks.
_NAME_CHARS = 10
_MIN_LINES = 4

# Numbers of cells in row `at` of `n`: a square, and triangles with and without the diagonal.
_LAYOUTS: dict[str, Callable[[int, int], int]] = {
    "square": lambda at, n: n,
    "lower": lambda at, n: at,
    "lower with diagonal": lambda at, n: at + 1,
    "upper": lambda at, n: n - 1 - at,
    "upper with diagonal": lambda at, n: n - at,
}


def read_distances(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read distances or similarities; the missing half of a triangle is mirrored."""
    notes: list[Problem] = []
    text, _ = encodings.decode(name, content, choices.encoding, notes)
    parsed = _parse_phylip(text) if _COUNT.match(content) else _parse_triangle(text)
    if parsed is None:
        remedy = "Save it as UTF-8."
        raise gate.refusal("damaged", name, "the numbers cannot be read", remedy=remedy)
    ids, rows, layout = parsed
    X = _square(rows, layout)
    kind = chosen_or_recognised(name, X, choices.matrix)
    if kind == "features" and choices.matrix is None:
        kind = chosen_or_recognised(name, X, "distance")
    sentence = matrix_sentence(kind, X.shape)
    form = "with a name in each row" if _COUNT.match(content) else "in the order of the rows"
    mirrored = "" if layout == "square" else ", and the missing half is mirrored"
    message = f"the file is read as {sentence}, {form}{mirrored}"
    note = Problem("square", name, message, severity="note")
    table = Table(
        choices.name or stem(name),
        name,
        "dataset",
        pd.DataFrame({"id": ids}, dtype=TEXT),
        tuple(range(len(ids))),
        id_column="id",
        facts={"matrix": f"{sentence}, {form}"},
        problems=(*notes, note),
        **{"X" if kind == "features" else kind: X},  # type: ignore[arg-type]
    )
    return [table]


def is_distances(content: bytes) -> bool:
    """Whether text is PHYLIP distances, or a triangle of numbers."""
    return _is_phylip(content) or _is_triangle(content)


def _is_phylip(content: bytes) -> bool:
    """Whether text is a number of items, then a row of distances for each of them."""
    head = _COUNT.match(content)
    if head is None or not MIN_ROWS <= int(head[1]) <= limits.MAX_SQUARE:
        return False
    return _parse_phylip(content.decode("utf-8", "replace")) is not None


def _is_triangle(content: bytes) -> bool:
    """Whether text is only numbers, in rows that grow or shrink by one."""
    if _TRIANGLE_HEAD.match(content[:_HEAD_BYTES]) is None:
        return False
    return _parse_triangle(content.decode("utf-8", "replace")) is not None


def _parse_phylip(text: str) -> tuple[list[str], list[list[float]], str] | None:
    """Return names, rows and layout, or None if the text has another form."""
    lines = [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
    n = int(lines[0])
    for layout, width in _LAYOUTS.items():
        parsed = _parse_rows(lines[1:], [width(at, n) for at in range(n)])
        if parsed is not None:
            return *parsed, layout
    return None


def _parse_rows(
    lines: Sequence[str], widths: Sequence[int]
) -> tuple[list[str], list[list[float]]] | None:
    """Return names and rows; a row may go on in the next line."""
    names, rows = [], []
    left = iter(lines)
    for width in widths:
        line = next(left, None)
        head = None if line is None else _parse_head(line, width)
        if head is None:
            return None
        name, row = head
        while len(row) < width:
            more = _numbers(next(left, "").split())
            if not more:
                return None
            row += more
        if len(row) > width:
            return None
        names.append(name)
        rows.append(row)
    return (names, rows) if next(left, None) is None else None


def _parse_head(line: str, width: int) -> tuple[str, list[float]] | None:
    """Return the name and the numbers of the first line of a row of `width` numbers."""
    cells = line.split()
    row = _numbers(cells[-width:]) if width and len(cells) > width else None
    if row is not None:
        return " ".join(cells[:-width]), row
    if not width:
        return " ".join(cells), []
    row = _numbers(cells[1:])
    if row is not None:
        return cells[0], row
    row = _numbers(line[_NAME_CHARS:].split())
    name = line[:_NAME_CHARS].strip()
    return (name, row) if row is not None and name else None


def _numbers(cells: Sequence[str]) -> list[float] | None:
    if not all(map(_NUMBER.fullmatch, cells)):
        return None
    return [float(cell.replace(",", ".")) for cell in cells]


def _parse_triangle(text: str) -> tuple[list[str], list[list[float]], str] | None:
    """Return row numbers, rows and layout, or None if the text has another form."""
    separator = ";" if ";" in text else "\t" if "\t" in text else "," if "," in text else None
    rows: list[list[float]] = []
    for line in _lines(text):
        texts = [cell.strip() for cell in line.strip(f"{separator or ''} \t").split(separator)]
        row = _numbers(texts)
        if row is None or (rows and abs(len(row) - len(rows[-1])) != 1):
            return None
        rows.append(row)
    n = len(rows)
    if n < _MIN_LINES:
        return None
    lengths = [len(row) for row in rows]
    if lengths == list(range(1, n + 1)):
        diagonal = [row[-1] for row in rows]
        layout = "lower"
    elif lengths == list(range(n, 0, -1)):
        diagonal = [row[0] for row in rows]
        layout = "upper"
    else:
        return None
    cells: Floats = np.concatenate([np.asarray(row) for row in rows])
    same = len(set(diagonal)) == 1 and diagonal[0] in (0.0, float(np.abs(cells).max()))
    if same:
        layout = f"{layout} with diagonal"
    elif (cells < 0).any():
        # Distances are not negative.
        return None
    else:
        rows = [[], *rows] if layout == "lower" else [*rows, []]
    return [str(at + 1) for at in range(len(rows))], rows, layout


def _lines(text: str) -> Iterator[str]:
    return (line for line in re.split(r"\r\n|\r|\n", text) if line.strip(" \t,;"))


def _square(rows: Sequence[Sequence[float]], layout: str) -> Floats:
    n = len(rows)
    if layout == "square":
        return np.array(rows, dtype=np.float64)
    X = np.zeros((n, n))
    upper, diagonal = layout.startswith("upper"), layout.endswith("diagonal")
    for at, row in enumerate(rows):
        first = at + (not diagonal) if upper else 0
        X[at, first : first + len(row)] = row
    return X + X.T - np.diag(np.diag(X))


FORMATS = (
    FileFormat(
        "phylip", "a text of distances", "matrix", (".phylip", ".phy"), read_distances,
        detect_text=is_distances,
    ),
)  # fmt: skip

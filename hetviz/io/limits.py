"""Size limits of files, tables, matrices and pictures."""

from __future__ import annotations

from typing import NamedTuple

MB = 1_000_000
MAX_FILE_BYTES = 200 * MB
# A workbook with a million rows of ten columns has 460 MB unpacked.
MAX_SHEET_BYTES = 600 * MB
MAX_UNPACKED_BYTES = 1_000 * MB
# Text of one table with repeated texts counted each time; some formats store them once.
MAX_TEXT_BYTES = 400 * MB
MAX_MEMBERS = 20_000
MAX_RATIO = 100
MAX_ROWS = 2_000_000
MAX_COLUMNS = 20_000
MAX_CELLS = 200_000_000
# Tables with typed cells, each of which is a Python object while it is read.
MAX_TYPED_CELLS = 20_000_000
MAX_SQUARE = 8_000
MAX_PICTURE_PIXELS = 20_000_000
MAX_MANIFEST_BYTES = 10 * MB
MAX_MANIFEST_DEPTH = 32
MAX_DATASETS = 500


class Limit(NamedTuple):
    """A size limit: what is limited, the value, and what it is counted in."""

    words: str
    value: int
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value:,} {self.unit}".strip()


LIMITS = (
    Limit("One file", MAX_FILE_BYTES // MB, "MB"),
    Limit("A zip, unpacked", MAX_UNPACKED_BYTES // MB, "MB"),
    Limit("A zip, unpacked, as a multiple of its size", MAX_RATIO),
    Limit("A sheet of a workbook, unpacked", MAX_SHEET_BYTES // MB, "MB"),
    Limit("Files in a zip or folder", MAX_MEMBERS),
    Limit("Rows of a table", MAX_ROWS),
    Limit("Columns of a table", MAX_COLUMNS),
    Limit("Cells of a text table or matrix", MAX_CELLS),
    Limit("Cells of a workbook, Parquet or JSON table", MAX_TYPED_CELLS),
    Limit("The text of such a table, written out", MAX_TEXT_BYTES // MB, "MB"),
    Limit("Datasets of a project", MAX_DATASETS),
    Limit("Rows of a kernel or of distances", MAX_SQUARE),
    Limit("One picture", MAX_PICTURE_PIXELS // MB, "million pixels"),
)

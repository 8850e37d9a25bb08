"""Large sheets are kept as columns, and read as small ones are."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile

import pandas as pd
import pytest

from hetviz.errors import DataError
from hetviz.io import limits
from hetviz.io.formats import workbooks
from hetviz.io.formats.workbooks import read_workbook
from hetviz.io.infer.column_rows import ColumnRows
from hetviz.io.infer.parsed import Choices, pack_tables, unpack_tables
from hetviz.io.intake.parse import parse_files, typed_tables
from tests.io.file_builders import file_tables, raw_tables, workbook

N = 60
PLAIN = [[f"p{k}", k, k / 4, k % 3 == 0, dt.date(2026, 1, 1 + k % 28)] for k in range(N)]
HEAD = ["id", "count", "weight", "new", "day"]
SHEETS = {
    "plain": [HEAD, *PLAIN],
    "rows above and below": [
        ["Survey of 2026"],
        [],
        HEAD,
        *PLAIN,
        [],
        ["Total", sum(range(N))],
    ],
    "begins at C3": [[], [], *([None, None, *row] for row in [HEAD, *PLAIN])],
    "gaps, errors and units": [
        [*HEAD, None, "remark"],
        [None, "kg", "mm", None, None],
        *([row[0], "#N/A", *row[2:], None, "late" if row[1] == 40 else None] for row in PLAIN),
    ],
    "cells beside": [
        HEAD,
        *([*row, None, None, "see the other" if row[1] == 50 else None] for row in PLAIN),
    ],
    "wider below": [["id", "x"], *([f"p{k}", k] for k in range(N)), ["q", 1, None, "a remark"]],
    "letters": [["id", "name"], *([f"p{k}", "Z\u00fcrich \U0001f600"] for k in range(N))],
}  # fmt: skip


@pytest.mark.parametrize("rows", SHEETS.values(), ids=SHEETS)
@pytest.mark.parametrize("choices", [Choices(), Choices(decimal=",")], ids=str)
def test_large_sheet_reads_like_small_sheet(monkeypatch, rows, choices):
    files = [("book.xlsx", workbook({"Items": rows}))]
    of_file = {"book.xlsx": choices}
    (small,) = file_tables(*files[0], choices)
    (small_raw,) = raw_tables(files).values()
    for name, value in (("_MAX_ROW_WISE_ROWS", 20), ("_CHUNK", 7)):
        monkeypatch.setattr(workbooks, name, value)
    parsed = parse_files(files, of_file)
    assert isinstance(parsed.frames[0].tables[0].cells.rows, ColumnRows)
    (large,), _ = typed_tables(unpack_tables(pack_tables(parsed)), of_file)
    (large_raw,) = raw_tables(files).values()
    pd.testing.assert_frame_equal(small.frame, large.frame)
    assert list(small.row) == list(large.row)
    assert small.problems == large.problems
    assert small.facts == large.facts
    assert small.recipe == large.recipe
    # What a raw row lacks at its end is nothing in both, written in two ways.
    assert [(line, " ".join(cells).rstrip()) for line, cells in small_raw.rows] == [
        (line, " ".join(cells).rstrip()) for line, cells in large_raw.rows
    ]


def test_large_sheet_cell_limit_before_parsing(monkeypatch):
    book = workbook({"Items": SHEETS["plain"]})
    monkeypatch.setattr(limits, "MAX_TYPED_CELLS", 100)
    monkeypatch.setattr(workbooks, "_calamine_sheets", pytest.fail)
    with pytest.raises(DataError, match="100"):
        read_workbook("book.xlsx", book, Choices())


def test_large_sheet_refuses_many_scattered_cells(monkeypatch):
    def then(book):
        book["Items"].cell(row=9_000, column=800, value="far away")

    book = workbook({"Items": SHEETS["plain"]}, then)
    assert len(read_workbook("book.xlsx", book, Choices())) == 1
    monkeypatch.setattr(workbooks, "_MAX_SPARSE_CELLS", 300)
    with pytest.raises(DataError, match="306 cells are scattered"):
        read_workbook("book.xlsx", book, Choices())


def test_large_sheet_counts_cells_without_address(monkeypatch):
    book = workbook({"Items": SHEETS["plain"]})
    bare = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(bare, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member.startswith("xl/worksheets/sheet"):
                content = re.sub(rb'<c r="[A-Z]+\d+"( t="\w+")?', rb"<c\1", content)
                content = re.sub(rb'<row r="\d+"', b"<row", content).replace(b' t="n"', b"")
                assert b"<c>" in content
            new.writestr(member, content)
    for name, value in (("_SMALL_AREA", 100), ("_MAX_AREA_RATIO", 6)):
        monkeypatch.setattr(workbooks, name, value)
    monkeypatch.setattr(workbooks, "_openpyxl_sheets", pytest.fail)
    assert len(file_tables("book.xlsx", bare.getvalue())[0].frame) == N

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
from hetviz.io.formats.column_rows import ColumnRows
from hetviz.io.formats.workbooks import read_workbook, stored_cells
from hetviz.io.parsed import Choices
from hetviz.io.sandbox.pack_parts import pack_cells, unpack_cells
from tests.io.file_builders import workbook

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
@pytest.mark.parametrize("choices", [Choices(), Choices(decimal=","), Choices(raw=True)], ids=str)
def test_large_sheet_reads_like_small_sheet(monkeypatch, rows, choices):
    book = workbook({"Items": rows})
    (small,) = read_workbook("book.xlsx", book, choices)
    for name, value in (("_MAX_ROW_WISE_ROWS", 20), ("_CHUNK", 7)):
        monkeypatch.setattr(workbooks, name, value)
    assert isinstance(stored_cells("book.xlsx", book, choices).sheets[0].rows, ColumnRows)
    (large,) = read_workbook("book.xlsx", book, choices)
    # What a raw row lacks at its end is nothing in both, written in two ways.
    left, right = (one.frame.fillna("") if choices.raw else one.frame for one in (small, large))
    pd.testing.assert_frame_equal(left, right)
    assert list(small.row) == list(large.row)
    assert small.problems == large.problems
    assert small.facts == large.facts
    assert small.recipe == large.recipe


def test_large_sheet_parsed_cells_are_reused(monkeypatch):
    book = workbook({"Items": SHEETS["rows above and below"]})
    monkeypatch.setattr(workbooks, "_MAX_ROW_WISE_ROWS", 20)
    key = workbooks.parse_key("book.xlsx", Choices())
    result = stored_cells("book.xlsx", book, Choices())
    handed, same = unpack_cells(pack_cells({key: result})["book.xlsx"])
    assert handed == key
    assert list(same.sheets[0].rows) == list(result.sheets[0].rows)


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
    assert len(read_workbook("book.xlsx", bare.getvalue(), Choices())[0].frame) == N

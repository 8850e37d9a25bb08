"""A number that cannot be computed with is noted with its row; its column stays one of numbers."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from hetviz.io import Choices, load, read_tables
from hetviz.io.intake import child
from hetviz.io.intake.new_items import read_new_items
from hetviz.io.intake.parse import parse_files
from tests.io.file_builders import packed, parquet, unpacked, workbook

TOO_LARGE = (
    "the number is too large, so the cell counts as missing",
    "Give numbers up to 1e+100, such as in another unit, or leave the cell empty.",
)
INFINITE = (
    "the number is infinite, so the cell counts as missing",
    "Give a finite number, or leave the cell empty.",
)
NONE = (
    "the cell contains no number, so it counts as missing",
    "Give a number, or leave the cell empty.",
)
FAILED = (
    "the formula of this cell failed, so the cell counts as missing",
    "Correct the formula in the spreadsheet, or leave the cell empty.",
)


def unusable_notes(loaded):
    return [
        (p.where, p.what, p.value, p.remedy, p.row)
        for p in loaded.notes
        if p.code == "unusable-number"
    ]


def rows_of(cell):
    return [("a", "1"), ("b", cell), ("c", "2.5"), ("d", "4")]


def a_csv(cell):
    rows = "".join(f'{name},"{x}",{k}\n' for k, (name, x) in enumerate(rows_of(cell)))
    return ("id,size,other\n" + rows).encode()


def a_json(cell):
    rows = (f'{{"id": "{name}", "size": {x}, "other": {k}}}' for k, (name, x) in
            enumerate(rows_of(cell)))  # fmt: skip
    return f"[{', '.join(rows)}]".encode()


def a_workbook(cell):
    """A workbook with a number that no spreadsheet program would write."""
    rows = [[name, 7 if x == cell else float(x), k] for k, (name, x) in enumerate(rows_of(cell))]
    members = unpacked(workbook({"S": [["id", "size", "other"], *rows]}))
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = re.sub(rb"<v>7</v>", f"<v>{cell}</v>".encode(), members[sheet])
    return packed(members.items())


def check(name, content, place, said, value, row, parse=parse_files):
    loaded = read_tables([(name, content)], parse=parse)
    assert unusable_notes(loaded) == [(place, said[0], value, said[1], row)]
    assert not loaded.errors
    dataset = loaded.data["t"]
    np.testing.assert_array_equal(dataset.table["size"], [1, np.nan, 2.5, 4])
    assert dataset.feature_names == ("size", "other")
    assert np.isfinite(dataset.X).all()


def test_unusable_cells_of_a_column_are_one_note():
    rows = "".join(f"r{k},{'#N/A' if k % 3 else k}\n" for k in range(12))
    (note,) = unusable_notes(read_tables([("t.csv", ("id,size\n" + rows).encode())]))
    assert note == (
        "t.csv, row 2, column size",
        "this and 7 other cells of the column have formulas that failed, so they count as missing",
        "#N/A", FAILED[1], 1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("1e999", TOO_LARGE),
        (" -1e400 ", TOO_LARGE),
        ("1e101", TOO_LARGE),
        ("9" * 310, TOO_LARGE),
        ("inf", INFINITE),
        ("-Infinity", INFINITE),
        ("∞", INFINITE),
        ("1.#INF", INFINITE),
        ("-nan(ind)", NONE),
        ("1.#QNAN", NONE),
        ("#DIV/0!", FAILED),
        ("#N/A", FAILED),
    ],
)
def test_unusable_cell_of_csv(cell, said):
    check("t.csv", a_csv(cell), "t.csv, row 2, column size", said, cell.strip()[:60], 1)


@pytest.mark.parametrize(
    ("cell", "said", "value"),
    [
        ("1e999", TOO_LARGE, "1e999"),
        ("-1e999", TOO_LARGE, "-1e999"),
        ("9" * 5000, TOO_LARGE, "9" * 60),
        ("Infinity", INFINITE, "inf"),
        ('"-inf"', INFINITE, "-inf"),
    ],
)
def test_unusable_cell_of_json(cell, said, value):
    content = a_json(cell)
    # The reader's process hands over what it finds: seen once.
    parse = child.parse_files if said is TOO_LARGE and value == "1e999" else parse_files
    check("t.json", content, "t.json, row 2, column size", said, value, 1, parse)
    lines = "\n".join(re.findall(r"\{[^}]*\}", content.decode())).encode()
    check("t.jsonl", lines, "t.jsonl, row 2, column size", said, value, 1)


@pytest.mark.parametrize(
    ("cell", "said", "value"),
    [("1e999", INFINITE, "inf"), ("9" * 310, INFINITE, "inf"), ("1e300", TOO_LARGE, "1e+300")],
)
def test_unusable_cell_of_workbook(cell, said, value):
    # Rows are numbered as the sheet numbers them, the names of the columns being the first.
    check("t.xlsx", a_workbook(cell), "t.xlsx, row 3, column size", said, value, 2)


def test_unusable_cell_of_parquet():
    table = {"id": list("abcd"), "size": [1, -np.inf, 2.5, 4], "other": range(4)}
    content = parquet(table)
    place = "t.parquet, row 2, column size"
    check("t.parquet", content, place, INFINITE, "-inf", 1, child.parse_files)


def test_unusable_cell_of_bundle(tmp_path):
    (tmp_path / "t.csv").write_bytes(a_csv("1e999"))
    about = 'format = 1\nname = "b"\n[[dataset]]\nname = "t"\ntable = "t.csv"\nid = "id"\n'
    (tmp_path / "hetviz.toml").write_text(about)
    np.testing.assert_array_equal(load(tmp_path)["t"].table["size"], [1, np.nan, 2.5, 4])


@pytest.mark.parametrize("rows", ["1,5;2,5;1e999;4", "€1,5;€2,5;inf;€1.000", "12,5%;inf;3%;7 %"])
def test_unusable_cell_with_decimal_commas(rows):
    content = "id;size\n" + "".join(f"i{k};{cell}\n" for k, cell in enumerate(rows.split(";")))
    loaded = read_tables([("t.csv", content.encode())], {"t.csv": Choices(decimal=",")})
    assert len(unusable_notes(loaded)) == 1
    assert loaded.data["t"].table["size"].notna().sum() == 3


@pytest.mark.parametrize("others", [["x", "y", "z"], ["007", "008", "009"], ["2020-01-01"] * 3])
def test_unusable_cell_in_text_column(others):
    content = "id,x\n" + "".join(f"{k},{cell}\n" for k, cell in enumerate([*others, "inf"]))
    loaded = read_tables([("t.csv", content.encode())])
    assert not unusable_notes(loaded)
    assert list(loaded.data["t"].table["x"]) == [*others, "inf"]


def test_column_of_unusable_cells_is_empty():
    loaded = read_tables([("t.csv", b"id,x\na,inf\nb,-inf\nc,inf\n")])
    ((_, what, value, _, row),) = unusable_notes(loaded)
    assert what.startswith("this and 2 other cells of the column have infinite numbers")
    assert (value, row) == ("inf", 0)
    assert loaded.data["t"].table["x"].isna().all()
    assert "empty-column" in {problem.code for problem in loaded.notes}


def test_unusable_cell_in_rejected_row_is_not_reported():
    content = b"id,x\na,1\na,inf\nb,2\nc\nd,inf\n"
    loaded = read_tables([("t.csv", content)], {"t.csv": Choices(id="id")})
    assert [where for where, *_ in unusable_notes(loaded)] == ["t.csv, row 5, column x"]


def test_unusable_link_weight():
    links = "source_id,target_id,weight\na,b,1\na,c,inf\n"
    loaded = read_tables([("t.csv", a_csv("3")), ("links.csv", links.encode())])
    assert "links.csv, edge 2, weight" in {problem.where for problem in loaded.notes}
    assert not unusable_notes(loaded)


def test_new_items():
    dataset = read_tables([("t.csv", a_csv("3"))]).data["t"]
    content = json.dumps([{"id": "x", "size": 1}, {"id": "y", "size": 1e200}]).encode()
    result = read_new_items([("n.json", content)], dataset)
    assert [(p.where, p.what, p.value, p.remedy) for p in result.problems] == [
        ("n.json, row 2, column size", TOO_LARGE[0], "1e+200", TOO_LARGE[1])
    ]
    assert result.table["size"].tolist()[0] == 1
    assert np.isnan(result.table["size"].tolist()[1])

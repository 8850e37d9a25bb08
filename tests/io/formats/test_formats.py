import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hetviz.errors import DataError
from hetviz.io import Choices, limits, read_tables
from tests.io.file_builders import file_tables, packed, parquet, unpacked, workbook

MERGED = [
    ["Measured in 2024"],
    [],
    ["id", "mass", "share", "when", "note"],
    [7, 1.5, 0.125, dt.datetime(2024, 3, 1), "a"],
    [8, 2.123456789012, 0.5, dt.datetime(2024, 3, 2, 10, 30), None],
    [9, 1e-9, 1, dt.date(2024, 3, 3), "c"],
]


def one(name, content, **choices):
    (piece,) = file_tables(name, content, Choices(**choices))
    return piece


def codes(piece):
    return [problem.code for problem in piece.problems]


def refused(name, content, **choices):
    with pytest.raises(DataError) as caught:
        file_tables(name, content, Choices(**choices))
    return {problem.code for problem in caught.value.problems}


def test_workbook_with_merged_title():
    def then(book):
        book["Drugs"].merge_cells("A1:E1")
        for row in (4, 5, 6):
            book["Drugs"].cell(row, 3).number_format = "0.0%"

    piece = one("book.xlsx", workbook({"Drugs": MERGED}, then))
    assert list(piece.frame.columns) == ["id", "mass", "share", "when", "note"]
    assert list(piece.frame["id"]) == ["7", "8", "9"]
    assert [float(cell) for cell in piece.frame["mass"]] == [1.5, 2.123456789012, 1e-9]
    assert list(piece.frame["share"]) == ["0.125", "0.5", "1"]
    assert list(piece.frame["when"]) == ["2024-03-01", "2024-03-02 10:30:00", "2024-03-03"]
    assert piece.name == "book"
    assert tuple(piece.row) == (3, 4, 5)
    assert piece.facts["rows above the names of columns"] == "2"
    assert codes(piece) == ["rows-above"]


def test_workbook_sheets():
    def then(book):
        book["Old"].sheet_state = "hidden"

    table = [["id", "x"], ["a", 1], ["b", 2]]
    content = workbook(
        {"Drugs": table, "Notes": [["ask Ann"]], "Sheet3": table, "Old": table}, then
    )
    drugs, third = file_tables("book.xlsx", content)
    assert (drugs.name, third.name) == ("Drugs", "book Sheet3")
    assert drugs.where == "book.xlsx, sheet Drugs"
    assert drugs.facts["sheet"] == "Drugs (1 of 2)"
    assert codes(drugs) == ["sheet-passed-over"] * 2
    assert one("book.xlsx", content, sheet="Old").facts["sheet"] == "Old"
    assert refused("book.xlsx", content, sheet="New") == {"unknown-sheet"}
    loaded = read_tables([("book.xlsx", content)])
    assert list(loaded.data.datasets) == ["Drugs", "book Sheet3"]
    assert [file.file for file in loaded.files] == ["book.xlsx", "book.xlsx"]


def test_workbook_far_cells_and_remarks():
    def then(book):
        sheet = book["S"]
        sheet["XFD1048576"] = "far"
        sheet["H3"] = "a remark"

    content = workbook({"S": [[None, "id", "x"], [None, "a", 1], [None, "b", 2]]}, then)
    piece = one("b.xlsx", content)
    assert list(piece.frame.columns) == ["id", "x"]
    assert piece.frame.shape == (2, 2)
    assert set(codes(piece)) == {"far-cells", "cells-beside"}


def test_workbook_formulas_use_stored_values():
    content = workbook({"S": [["id", "x"], ["a", "=1+1"], ["b", "#N/A"]]})
    piece = one("b.xlsx", content)
    assert list(piece.frame["x"]) == ["", ""]
    assert set(codes(piece)) == {"no-values", "formula-error"}
    members = unpacked(content)
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = members[sheet].replace(b"<v />", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>")
    stored = one("b.xlsx", packed(members.items()))
    assert list(stored.frame["x"]) == ["2", ""]


def test_workbook_decimal_commas_as_text():
    piece = one("b.xlsx", workbook({"S": [["id", "x", "y"], ["a", "1,5", 0.5], ["b", "2,25", 3]]}))
    assert piece.decimal == ","
    assert list(piece.frame["x"]) == ["1,5", "2,25"]
    assert list(piece.frame["y"]) == ["0,5", "3"]


def test_parquet():
    frame = pd.DataFrame(
        {
            "id": ["007", "NA", "1e5"],
            "n": [1, 2**60, -3],
            "f": np.array([0.1, np.inf, np.nan], dtype=np.float32),
            "day": pd.to_datetime(["2024-01-01", "2024-01-02 03:04:05", None], format="ISO8601"),
            "tags": [["a", "b"], [], None],
            "price": [Decimal("1.10"), Decimal("2.25"), None],
            "place": [{"lat": 1.5, "long": 2.5}, {"lat": 3.5, "long": 4.5}, None],
            "kind": pd.Categorical(["x", "y", "x"]),
            "is": [True, False, True],
        }
    )
    piece = one("t.parquet", parquet(frame))
    cells = {name: list(piece.frame[name]) for name in piece.frame}
    assert cells["id"] == ["007", "NA", "1e5"]
    assert cells["n"] == ["1", "1152921504606846976", "-3"]
    assert cells["f"] == ["0.1", "inf", ""]
    assert cells["day"] == ["2024-01-01", "2024-01-02 03:04:05", ""]
    assert cells["tags"] == ["a; b", "", ""]
    assert cells["price"] == ["1.10", "2.25", ""]
    assert cells["place.lat"] == ["1.5", "3.5", ""]
    assert cells["kind"] == ["x", "y", "x"]
    assert cells["is"] == ["true", "false", "true"]
    assert not codes(piece)


def test_parquet_size_limit_from_footer(monkeypatch):
    content = parquet({"id": [str(k) for k in range(100)]})
    monkeypatch.setattr(limits, "MAX_ROWS", 99)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("it was unpacked"))
    assert refused("t.parquet", content) == {"too-large"}
    assert refused("t.parquet", content[:-9] + b"\0\0\0\0\0PAR1") == {"bad-parquet"}


RECORDS = [{"id": "007", "x": 1.5, "at": {"lat": 1, "deep": {"a": 1}}}, {"id": "b", "tags": ["p"]}]


@pytest.mark.parametrize(
    "value",
    [
        RECORDS,
        {"data": RECORDS, "count": 2},
        {"007": {k: v for k, v in RECORDS[0].items() if k != "id"}, "b": {"tags": ["p"]}},
    ],
)
def test_json_records(value):
    piece = one("t.json", json.dumps(value).encode())
    assert list(piece.frame["id"]) == ["007", "b"]
    assert list(piece.frame["x"]) == ["1.5", ""]
    assert list(piece.frame["at.lat"]) == ["1", ""]
    assert list(piece.frame["at.deep"]) == ['{"a": 1}', ""]
    assert list(piece.frame["tags"]) == ["", "p"]


@pytest.mark.parametrize("orient", ["records", "columns", "split", "list", "dict", "lists"])
def test_json_other_table_forms(orient):
    frame = pd.DataFrame({"id": ["007", "b"], "x": [1, None]})
    if orient == "lists":
        value = [["id", "x"], ["007", 1.0], ["b", None]]
    elif orient in ("list", "dict"):
        value = json.loads(frame.to_json(orient="columns"))
        value = {k: list(v.values()) for k, v in value.items()} if orient == "list" else value
    else:
        value = json.loads(frame.to_json(orient=orient))
    piece = one("t.json", json.dumps(value, indent=1).encode())
    assert list(piece.frame["id"]) == ["007", "b"]
    assert [cell and float(cell) for cell in piece.frame["x"]] == [1.0, ""]


def test_json_several_tables():
    value = {"drugs": [{"id": "a", "x": 1}], "targets": [{"id": "t", "y": 2}], "made": "today"}
    drugs, targets = file_tables("t.json", json.dumps(value).encode())
    assert (drugs.name, targets.name) == ("drugs", "targets")


def test_json_lines():
    piece = one("t.jsonl", b'{"id": "a", "x": 1}\n\n{"id": "b", "x": NaN}\noops\n[1]\n')
    assert list(piece.frame["id"]) == ["a", "b"]
    assert list(piece.frame["x"]) == ["1", ""]
    assert tuple(piece.row) == (0, 2)
    assert [problem.where for problem in piece.problems] == ["t.jsonl, line 4", "t.jsonl, line 5"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'{"a": [1, 2', "bad-json"),
        (b"[" * 5000 + b"]" * 5000, "too-deep"),
        (b'[{"a":' + b"[" * 150 + b"]" * 150 + b"}]", "too-deep"),
        (b"[" * 200_000, "too-deep"),
        (b'["a", "b"]', "no-tables"),
        (b"{}", "no-tables"),
        (b"[{}]", "empty-file"),
        (b'{"a": "\xff"}', "bad-encoding"),
    ],
)
def test_json_without_table_is_refused(content, code):
    assert refused("t.json", content) == {code}


def test_json_field_limit(monkeypatch):
    monkeypatch.setattr(limits, "MAX_TYPED_CELLS", 1000)
    content = json.dumps([{f"x{k}": 1} for k in range(100)]).encode()
    assert refused("t.json", content) == {"too-large"}


def test_text_cells_are_cleaned():
    piece = one("t.json", b'[{"id": "a\\u0000b", "x": "\\ud800"}, {"id": "c", "x": "y"}]')
    assert list(piece.frame["id"]) == ["ab", "c"]
    assert list(piece.frame["x"]) == ["?", "y"]


def test_read_files_of_several_kinds():
    files = [
        ("drugs.xlsx", workbook({"Sheet1": [["id", "mass"], ["d1", 1.5], ["d2", 2.5]]})),
        ("targets.parquet", parquet({"id": ["t1", "t2"], "size": [1.0, 2.0]})),
        ("links.jsonl", b'{"source_id": "d1", "target_id": "t2"}\n{"source_id": "d2", '
         b'"target_id": "t1"}\n'),
        ("more.csv", b"source_id,target_id\nd1,t1\n"),
    ]  # fmt: skip
    loaded = read_tables(files)
    assert list(loaded.data.datasets) == ["drugs", "targets"]
    assert sum(map(len, loaded.data.links)) == 3
    assert not loaded.errors


def test_arrow_odd_types():
    table = pa.table(
        {
            "id": pa.array(["a", "b"]),
            "none": pa.nulls(2),
            "bytes": pa.array([b"\xff", None]),
            "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    piece = one("t.parquet", sink.getvalue().to_pybytes())
    assert codes(piece) == ["binary-cells"]
    assert list(piece.frame["none"]) == ["", ""]


def test_early_date_stays_text():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": ["a"], "when": pa.array([-(10**14)], pa.timestamp("ms"))}), sink)
    (piece,) = file_tables("t.parquet", sink.getvalue().to_pybytes())
    assert piece.frame["when"].tolist() == ["-1199-02-15 14:13:20"]

"""Files that hold little and promise much are refused before it is written out."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hetviz.errors import DataError, HetvizError
from hetviz.io import limits, read_bundle, read_tables
from hetviz.io.infer import dialect
from hetviz.io.intake import child, isolated
from tests.io.file_builders import packed, workbook
from tests.io.intake.test_isolated import HANGS

FOUND = Path(__file__).resolve().parents[2] / "soak" / "hostile" / "found"
N = 300


def parquet_of(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def arrow_of(table):
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    return sink.getvalue()


def repeated(nested):
    """A table whose one long text stands in every row."""
    words = pa.DictionaryArray.from_arrays(pa.array([0] * N, pa.int32()), pa.array(["x" * 1000]))
    if nested:
        words = pa.ListArray.from_arrays(pa.array(range(N + 1), pa.int32()), words)
    return pa.table({"id": [f"i{k}" for k in range(N)], "words": words})


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(("name", "write"), [("t.parquet", parquet_of), ("t.arrow", arrow_of)])
def test_dictionary_texts_count_for_each_use(name, write, nested, monkeypatch):
    content = write(repeated(nested))
    assert len(read_tables([(name, content)]).data["t"]) == N
    monkeypatch.setattr(limits, "MAX_TEXT_BYTES", N * 1000 - 1)
    with pytest.raises(DataError, match="MB are allowed"):
        read_tables([(name, content)])


def shared(texts, n):
    """A workbook of n rows whose second column shows the last of some texts that stand once."""
    with zipfile.ZipFile(io.BytesIO(workbook({"S": [["id", "words"]]}))) as book:
        members = {name: book.read(name) for name in book.namelist()}
    name = "xl/worksheets/sheet1.xml"
    cell = f'<c r="B{{0}}" t="s"><v>{len(texts) - 1}</v></c>'
    rows = "".join(
        f'<row r="{k}"><c r="A{k}"><v>{k}</v></c>{cell.format(k)}</row>' for k in range(2, n + 2)
    )
    members[name] = members[name].replace(b"</sheetData>", f"{rows}</sheetData>".encode())
    items = "".join(f"<si><t>{text}</t></si>" for text in texts)
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    members["xl/sharedStrings.xml"] = f'<sst xmlns="{space}">{items}</sst>'.encode()
    return packed(list(members.items()))


def test_shared_workbook_texts_count_for_each_use(monkeypatch):
    book = shared(["x" * 1000], N)
    table = read_tables([("t.xlsx", book)]).data["t"].table
    assert table["words"].tolist() == ["x" * 1000] * N
    monkeypatch.setattr(limits, "MAX_TEXT_BYTES", N * 1000)
    with pytest.raises(DataError, match="MB are allowed"):
        read_tables([("t.xlsx", book)])
    # A long text that no cell shows, beside a short one that all do, is no harm.
    assert len(read_tables([("t.xlsx", shared(["x" * 1000, "short"], 2 * N))]).data["t"]) == 2 * N


def test_odd_npy_arrays_are_refused():
    for shape, kind in ((f"({'1,' * 400})", "<f8"), ("(199999999, 1)", "<U0")):
        head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        content = b"\x93NUMPY\x02\x00" + len(head).to_bytes(4, "little") + head + bytes(8)
        with pytest.raises(DataError):
            read_tables([("t.npy", content)])
    assert np.asarray(1).ndim == 0


def test_dataset_limit(monkeypatch):
    monkeypatch.setattr(limits, "MAX_DATASETS", 2)
    entry = '[[dataset]]\nname = "t{0}"\ntable = "t.csv"\n'
    for n, fits in ((2, True), (3, False)):
        manifest = 'format = 1\ntitle = "x"\n' + "".join(entry.format(k) for k in range(n))
        content = packed([("hetviz.toml", manifest), ("t.csv", b"id,x\na,1\nb,2\n")])
        if fits:
            assert len(read_bundle(content).data.datasets) == 2
        else:
            with pytest.raises(DataError, match="3 datasets, at most 2 are allowed"):
                read_bundle(content)


def test_lines_of_splits_like_a_file():
    text = "a,b\r\nc\rd\n\n e"
    assert list(dialect.lines_of(text, len(text))) == io.StringIO(text, newline="").readlines()
    assert list(dialect.lines_of(text, 6)) == ["a,b\r\n", "c"]


# `test_isolated.py` has files that hang the library.
ONCE = sorted(path for path in FOUND.iterdir() if path.name not in HANGS)


TABLES = [path for path in ONCE if path.suffix != ".zip"]
ZIPS = [path for path in ONCE if path.suffix == ".zip"]


def read_or_refused(path, **said):
    content = path.read_bytes()
    try:
        if path in ZIPS:
            loaded = read_bundle(content, path.name, **said)
        else:
            loaded = read_tables([(path.name, content)], **said)
    except HetvizError:
        return
    assert all(len(dataset) for dataset in loaded.data.datasets.values())


@pytest.mark.parametrize("path", ONCE, ids=lambda path: path.name)
def test_regression_files_are_read_or_refused(path, monkeypatch):
    monkeypatch.setattr(isolated, "_MIN_SECONDS", 1)
    read_or_refused(path)


@pytest.mark.parametrize(
    "path",
    [ZIPS[0], *(pytest.param(path, marks=pytest.mark.soak) for path in ZIPS[1:])],
    ids=lambda path: path.name,
)
def test_regression_files_in_child_process(path):
    read_or_refused(path, parse=child.parse_files)


def test_regression_files_in_one_process(monkeypatch):
    files = [(path.name, path.read_bytes()) for path in TABLES]
    read, in_child = [], child._in_child

    def counted(*given):
        read.append(given)
        return in_child(*given)

    monkeypatch.setattr(child, "_in_child", counted)
    there = child.parse_files(files, {})
    assert len(read) == 1
    told = [table.where for group in there.frames for table in group.tables]
    told += [problem.where for _, problems in there.problems for problem in problems]
    assert [name for name, _ in files if name not in " ".join(told)] == []

"""Whatever comes in: data that are whole, or an error in plain words."""

import io
import json
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hetviz.errors import DataError, HetvizError
from hetviz.io import Choices, limits, read_bundle, read_tables
from hetviz.workspace.store import content as content_of_projects
from hetviz.workspace.store.blobs import ReadCache
from tests.depth import examples
from tests.io.file_builders import (
    arrow,
    duckdb,
    npy,
    npz,
    packed,
    parquet,
    picture,
    spreadsheet,
    sqlite,
    statistics,
    unpacked,
    workbook,
)

HANG_S = 10.0
FRAME = pd.DataFrame({"id": ["a", "b", "c"], "x": [1.5, np.nan, -2.0], "t": ["u", "v", ""]})
GRAPH = (
    b'<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph '
    b'edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/>'
    b"</graph></graphml>"
)


def annotated():
    h5py = pytest.importorskip("h5py")
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        file.create_dataset("X", data=np.arange(6.0).reshape(3, 2))
        obs = file.create_group("obs")
        obs.attrs["_index"] = "index"
        obs.create_dataset("index", data=np.array([b"a", b"b", b"c"]))
    return buffer.getvalue()


WHOLE = {
    "t.csv": b"id,x,group\n007,1.5,a\nb,2.5,b\nc,,a\n",
    "t.xlsx": workbook({"S": [["id", "x"], ["a", 1.5], ["b", 2]], "T": [["id", "y"], ["q", 1]]}),
    "t.parquet": parquet(FRAME),
    "t.ods": spreadsheet({"S": [["id", "x"], ["a", 1.5], ["b", 2]]}),
    "t.feather": arrow(FRAME),
    "t.sav": statistics("sav", FRAME),
    "t.dta": statistics("dta", FRAME),
    "t.xpt": statistics("xport", FRAME),
    "t.sqlite": sqlite("CREATE TABLE t (id TEXT, x REAL)", "INSERT INTO t VALUES ('a', 1.5)"),
    "t.duckdb": duckdb("CREATE TABLE t (id TEXT, x REAL)", "INSERT INTO t VALUES ('a', 1.5)"),
    "t.gml": b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]",
    "t.gexf": b'<?xml version="1.0"?><gexf><graph><nodes><node id="a" label="A"/><node id="b"/>'
    b'</nodes><edges><edge source="a" target="b"/></edges></graph></gexf>',
    "t.sif": b"A pp B\nB pp C D\n",
    "t.gmt": b"S\tna\ta\tb\nT\tna\tb\tc\n",
    "t.json": FRAME.to_json(orient="records").encode(),
    "t.jsonl": b'{"id": "a", "x": 1}\n{"id": "b", "x": 2}\n',
    "t.npy": npy(np.arange(6.0).reshape(3, 2)),
    "t.npz": npz(X=np.eye(3), ids=np.array(["a", "b", "c"])),
    "t.graphml": GRAPH,
    "t.h5ad": annotated(),
    "t.png": picture(),
    "t.txt": b"A long sentence with a few words in it. And another one.\n" * 3,
    "t.zip": packed([("a.png", picture()), ("b.csv", b"id,file\n1,a.png\n2,b.png\n")]),
}


def try_read(trials, files, choices=None):
    """Read files as the app does; what comes back must be whole."""
    trials.inputs += 1
    start = time.monotonic()
    try:
        loaded = read_tables(files, choices)
    except HetvizError as error:
        result = getattr(error, "problems", ())
        trials.codes.update(problem.code for problem in result)
        return None
    except BaseException:
        trials.crashes += 1
        raise
    finally:
        trials.hangs += time.monotonic() - start > HANG_S
    trials.codes.update(problem.code for problem in loaded.problems)
    for dataset in loaded.data.datasets.values():
        assert len(set(dataset.ids)) == len(dataset)
        for X in (dataset.X, dataset.kernel, dataset.distance):
            values = X.data if sp.issparse(X) else X
            assert X is None or np.isfinite(values).all()
    return loaded


@pytest.mark.parametrize("name", WHOLE)
def test_all_formats_are_read(trials, name):
    assert try_read(trials, [(name, WHOLE[name])]) is not None


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_files_of_all_formats_are_read_or_refused(trials, name):
    content = WHOLE[name]
    place = st.integers(0, len(content) - 1)

    # Each HDF5 file is read in a process of its own.
    n = 3 if name == "t.h5ad" else 10

    @settings(max_examples=examples(n), suppress_health_check=list(HealthCheck))
    @given(
        st.lists(st.tuples(place, st.integers(0, 255)), max_size=6), st.integers(1, len(content))
    )
    def damage(changes, end):
        damaged = bytearray(content)
        for at, byte in changes:
            damaged[at] = byte
        try_read(trials, [(name, bytes(damaged))])
        try_read(trials, [(name, content[:end])])

    damage()


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
records = st.lists(st.dictionaries(st.text(max_size=5), cells, max_size=4), min_size=1, max_size=6)


@settings(max_examples=examples(12))
@given(records, st.booleans())
def test_random_records(trials, rows, by_line):
    text = "\n".join(map(json.dumps, rows)) if by_line else json.dumps(rows)
    try_read(trials, [("t.json", text.encode())])


@settings(max_examples=examples(15))
@given(
    st.dictionaries(
        st.text(max_size=5),
        st.one_of(
            st.lists(st.floats(), min_size=4, max_size=4),
            st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=4, max_size=4),
            st.lists(st.datetimes(), min_size=4, max_size=4),
        ),
        min_size=1,
        max_size=4,
    ).filter(lambda columns: all(name.isprintable() and name.isascii() for name in columns))
)
def test_random_parquet_tables(trials, columns):
    try_read(trials, [("t.parquet", parquet(columns))])


simple = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(-1e9, 1e9),
    st.text(st.characters(min_codepoint=32, max_codepoint=500), max_size=8),
)  # fmt: skip


@settings(max_examples=examples(12))
@given(st.lists(st.lists(simple, max_size=5), max_size=7))
def test_random_sheets(trials, rows):
    try_read(trials, [("t.xlsx", workbook({"S": rows}))])


@settings(max_examples=examples(6))
@given(st.lists(st.sampled_from(sorted(WHOLE)), min_size=2, max_size=5), st.data())
def test_random_files_together(trials, names, data):
    files = [(f"{k}{name}", WHOLE[name]) for k, name in enumerate(names)]
    said = {
        files[0][0]: Choices(
            role=data.draw(st.sampled_from([None, "dataset", "links", "comparisons"])),
            id=data.draw(st.sampled_from([None, "id", "x", "nowhere"])),
            skip=data.draw(st.sampled_from([None, 0, 1, 99])),
        )
    }
    try_read(trials, files, said)


# The corpus of attacks: (name of the file, its bytes, code of the error).


def bomb():
    return packed([("a.csv", b"0" * 20_000_000)])


def lying_npy():
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    return b"\x93NUMPY\x01\x00" + bytes([128, 0]) + header.ljust(127) + b"\n"


def changed_book(prefix):
    parts = unpacked(workbook({"S": [["id", "x"], ["a", 1]]}))
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(b"<workbook", prefix, 1)
    return packed(parts.items())


def npy_of_objects():
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
    return buffer.getvalue()


LAUGHS = b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
CORPUS = {
    "pickle": ("t.pkl", b"\x80\x04\x95\x05\0\0\0", "pickle"),
    "pickle in npy": ("t.npy", npy_of_objects(), "bad-npy"),
    "zip bomb": ("t.zip", bomb(), "zip-bomb"),
    "npz bomb": ("t.npz", npz(X=np.zeros((3000, 3000))), "zip-bomb"),
    "lying header": ("t.npy", lying_npy(), None),
    "traversal": ("t.zip", packed([("../../a.csv", b"id\n1\n")]), "bad-name"),
    "zip in zip": ("t.zip", packed([("b.csv", packed([("a.csv", b"id\n1\n")]))]), None),
    "billion laughs in a book": ("t.xlsx", changed_book(LAUGHS + b"<workbook"), "document-type"),
    "entity in a book": ("t.xlsx", changed_book(OUTSIDE + b"<workbook"), "document-type"),
    "billion laughs in a graph": ("t.graphml", GRAPH.replace(b"<g", LAUGHS + b"<g", 1), None),
    "entity in a graph": ("t.graphml", GRAPH.replace(b"<g", OUTSIDE + b"<g", 1), None),
    "picture bomb": ("t.png", picture((9000, 9000), mode="1"), "too-large"),
    "deep json": ("t.json", b'[{"a":' + b"[" * 100_000, "too-deep"),
    "wide csv": ("t.csv", b",".join(b"c%d" % k for k in range(300_000)) + b"\n", "too-large"),
    "html": ("t.html", b"<html><script>alert(1)</script>", "unknown-format"),
    "svg": ("t.svg", b"<svg onload='alert(1)'/>", "unknown-format"),
    "tar": ("t.tar", b"a".ljust(257, b"\0") + b"ustar", "unknown-format"),
    "open office": ("t.odt", packed([("mimetype", b""), ("content.xml", b"")]), "unknown-format"),
    "external entity in a graph": ("t.gexf", b'<?xml version="1.0"?>' + OUTSIDE + b"<gexf/>", None),
    "program": ("t.csv", b"\x7fELF\2\1\1" + bytes(57), None),
    "program of Windows": ("t.csv", b"MZ\x90\0\3\0\0\0\4\0", "binary"),
    "line ends only": ("t.csv", b"\r" * 3_000_000, "empty-file"),
    "binary": ("t.csv", b"id,x\n\0\0\0,1\n", "binary"),
}  # fmt: skip


@pytest.mark.parametrize("case", CORPUS)
def test_attack_files_are_refused(trials, case):
    name, content, code = CORPUS[case]
    trials.inputs += 1
    with pytest.raises(DataError) as caught:
        read_tables([(name, content)]).strict()
    codes = {problem.code for problem in caught.value.problems}
    trials.codes |= codes
    assert code is None or code in codes
    assert "/etc/hostname" not in str(caught.value)


def test_all_formats_keep_ids(trials):
    ids = [
        "007",
        "1e5",
        "9007199254740993",
        "TRUE",
        "1e400",
        "NA",
        "=1+1",
        "caf\u00e9",
        "cafe\u0301",
    ]
    text = "id,x\n" + "".join(f"{name},{k}\n" for k, name in enumerate(ids))
    files = [
        ("a.csv", text.encode()),
        ("b.parquet", parquet({"id": ids, "x": range(len(ids))})),
        ("c.jsonl", "\n".join(json.dumps({"id": name, "x": 1}) for name in ids).encode()),
    ]
    for file in files:
        loaded = try_read(trials, [file])
        assert list(next(iter(loaded.data.datasets.values())).ids) == ids


@pytest.mark.usefixtures("reader_here")
def test_read_cache_uses_content(tmp_path, monkeypatch):
    reads, load = [], content_of_projects.child.load

    def read(files, *rest):
        reads.append(files)
        load(files, *rest)

    monkeypatch.setattr(content_of_projects.child, "load", read)
    read_files, kept = content_of_projects.read_files, ReadCache(tmp_path / "read")
    for who in ("ALICE", "BOB"):
        content = json.dumps([{"id": who, "x": 1}, {"id": "z", "x": 2}]).encode()
        loaded = read_files({"same.json": content}, None, None, kept)
        assert loaded.data["same"].ids[0] == who
    assert len(list((tmp_path / "read").iterdir())) == 2
    # Who still held it would be given the same again, whatever is kept.
    del loaded
    again = read_files({"same.json": content}, None, None, kept)
    assert again.data["same"].ids[0] == "BOB"
    assert len(reads) == 2


def test_limits_are_listed():
    assert all(limit.words and limit.value > 0 for limit in limits.LIMITS)
    assert str(limits.LIMITS[0]) == "200 MB"
    with pytest.raises(DataError):
        read_bundle(b"PK\x03\x04")

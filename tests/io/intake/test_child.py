import math
import os
import socket
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hetviz._pandas import TEXT
from hetviz.errors import DataError, Problem
from hetviz.io import Choices, read_bundle, read_tables
from hetviz.io.infer.parsed import Collection, Table, Tables, pack_tables, unpack_tables
from hetviz.io.intake import child
from hetviz.io.intake.parse import parse_files, typed_tables
from hetviz.workers import launch
from hetviz.workers import reader as process
from tests.io.file_builders import npy, parquet, workbook
from tests.io.file_builders import packed as packed_zip

BOOK = workbook({"S": [["Title"], ["id", "x", "y"], ["007", 1.5, None], ["b", 2, "z"]]})


def python(code):
    """Run other code where the reader would run."""
    return [sys.executable, "-c", code]


@pytest.fixture
def stand_in(monkeypatch):
    """Let another program take the place of the reader; returns what sets it."""
    start = subprocess.Popen

    def use(code):
        monkeypatch.setattr(
            process.subprocess, "Popen", lambda _, **rest: start(python(code), **rest)
        )

    return use


def code_of(drop):
    ((_, (problem,)),) = drop.problems
    assert problem.remedy
    return problem.code


def test_child_parses_same_tables_as_parent():
    files = [
        ("book.xlsx", BOOK),
        ("t.parquet", parquet({"id": ["a", "b"], "x": [0.1, 2.0]})),
        ("X.npy", npy(np.arange(6.0).reshape(3, 2))),
        ("bad.json", b"[{"),
        ("small.csv", b"id;x\n1;2,5\n"),
    ]
    choices = {"small.csv": Choices(decimal=",", exclude=("x",))}
    there, here = child.parse_files(files, choices), parse_files(files, choices)
    for one, other in zip(
        typed_tables(there, choices)[0], typed_tables(here, choices)[0], strict=True
    ):
        pd.testing.assert_frame_equal(one.frame, other.frame)
        assert (one.where, one.facts, one.problems) == (other.where, other.facts, other.problems)
    assert there.problems == here.problems
    assert [group.tables[0].name for group in there.frames] == ["book", "t", "X", "small"]
    assert [name for name, _ in there.problems] == ["bad.json"]


def test_pack_tables_round_trip():
    table = Table(
        "a",
        "a.h5ad, X",
        "dataset",
        pd.DataFrame({"id": ["a", "", "ü\n"], "x": ["", "", ""]}, dtype=TEXT),
        (0, 2, 5),
        ",",
        X=sp.csr_array(np.eye(3, 4)),
        feature_names=("f", "g", "h", "i"),
        kernel=np.eye(3),
        media=(b"abc", None, b""),
        title_column="x",
        text_columns=("x",),
        facts={"a": "b"},
        problems=(Problem("code", "where", "what", row=3, count=2),),
    )
    container = pack_tables(Tables({}, (Collection("a", (table,)),)))
    (back,) = unpack_tables(container).frames[0].tables
    pd.testing.assert_frame_equal(back.frame, table.frame)
    assert (back.X != table.X).nnz == 0
    np.testing.assert_array_equal(back.kernel, table.kernel)
    for field in ("row", "decimal", "media", "feature_names", "text_columns", "problems", "facts"):
        assert getattr(back, field) == getattr(table, field)
    with pytest.raises(ValueError, match="declared size"):
        unpack_tables(container[:-3])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "reader-ended"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "reader-ended"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "too-slow"),
        ("import sys; sys.exit(3)", "too-large"),
        ("print('nonsense')", "reader-ended"),
        ("", "reader-ended"),
    ],
)
def test_child_crash_is_file_error(stand_in, code, message):
    stand_in(code)
    assert code_of(child.parse_files([("book.xlsx", BOOK)], {})) == message


def test_child_that_hangs_or_grows_is_killed(stand_in, monkeypatch):
    stand_in("import time; time.sleep(600)")
    monkeypatch.setattr(process, "MAX_WALL_S", 0.2)
    assert code_of(child.parse_files([("book.xlsx", BOOK)], {})) == "too-slow"
    monkeypatch.setattr(process, "MAX_WALL_S", 60.0)
    monkeypatch.setattr(process, "MAX_RESIDENT_BYTES", 1)
    assert code_of(child.parse_files([("book.xlsx", BOOK)], {})) == "too-large"


def test_child_crash_does_not_stop_other_files(stand_in):
    stand_in("import sys; sys.exit(3)")
    loaded = read_tables([("book.xlsx", BOOK), ("d.csv", b"id,x\na,1\n")], parse=child.parse_files)
    assert list(loaded.data.datasets) == ["d"]
    assert [problem.code for problem in loaded.errors] == ["too-large"]


def test_small_text_is_read_without_child(monkeypatch):
    monkeypatch.setattr(process.subprocess, "Popen", lambda *_, **__: pytest.fail("a child"))
    assert len(child.parse_files([("d.csv", b"id,x\na,1\n"), ("e.csv", b"")], {}).frames) == 1
    monkeypatch.setattr(child, "MAX_TEXT_BYTES_HERE", 3)
    with pytest.raises(pytest.fail.Exception):
        child.parse_files([("d.csv", b"id,x\na,1\n")], {})


def test_child_has_limits_and_minimal_environment(monkeypatch):
    monkeypatch.setenv("MY_SECRET_TOKEN", "x")
    env = launch.reader_environment()
    assert "MY_SECRET_TOKEN" not in env
    assert env["OPENBLAS_NUM_THREADS"] == "1"
    code = (
        "from hetviz.workers import reader as process; import resource; process.apply_limits(); "
        "print(resource.getrlimit(resource.RLIMIT_AS)[0], "
        "resource.getrlimit(resource.RLIMIT_CPU)[0], "
        "resource.getrlimit(resource.RLIMIT_NOFILE)[1]); import time; print(time.process_time())"
    )
    said = subprocess.run(python(code), env=env, capture_output=True, text=True, check=True)
    memory, work, files, begun = said.stdout.split()
    assert int(memory) == process.MAX_MEMORY_BYTES
    assert int(files) == process._MAX_OPEN_FILES
    # What it took until then does not count.
    assert 0 < int(work) - process.MAX_PROCESSOR_S <= math.ceil(float(begun))


def test_child_has_no_network():
    """Not even this machine's own, where the system has namespaces for that."""
    if subprocess.run(python(TRY), env=launch.reader_environment(), check=False).returncode != 0:
        pytest.skip("the system lets no process give up the network")
    code = (
        "import socket; from hetviz.workers import confine; confine.block_network(); "
        "socket.create_connection(('127.0.0.1', {}), 5)"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 5).close()
        tried = subprocess.run(
            python(code.format(port)),
            env=launch.reader_environment(),
            capture_output=True,
            check=False,
        )
    assert tried.returncode == 1
    assert b"Network is unreachable" in tried.stderr


TRY = "import sys; from hetviz.workers.confine import block_network; sys.exit(not block_network())"


def test_child_out_of_memory_is_file_error(monkeypatch):
    frame = {"id": [str(k) for k in range(1000)], "x": ["a" * 50] * 1000}
    grow = (
        "from hetviz.io.intake import child; from hetviz.workers import reader as process; "
        "process.MAX_MEMORY_BYTES = 300_000_000; "
        "raise SystemExit(child.main())"
    )
    start = subprocess.Popen
    monkeypatch.setattr(process.subprocess, "Popen", lambda _, **rest: start(python(grow), **rest))
    drop = child.parse_files([("t.parquet", parquet(frame))], {})
    assert code_of(drop) in ("too-large", "reader-ended")


def test_full_disk_is_file_error(monkeypatch):
    def full(*_, **__):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(process, "write_request", full)
    with pytest.raises(DataError, match="No space left"):
        child._in_child([("book.xlsx", BOOK)], {}, "parse")


MANIFEST = """
format = 1
name = "both"
[[dataset]]
name = "a"
table = "a.csv"
id = "id"
[[dataset]]
name = "b"
table = "b.txt"
features = "vectors.csv"
[[links]]
file = "links.csv"
[[links]]
file = "odd.csv"
[[comparisons]]
file = "order.csv"
[map]
coordinates = "map.csv"
"""
COMPARISONS = b"anchor_dataset,anchor_id,near_dataset,near_id,far_dataset,far_id\na,a1,a,a2,a,a3\n"


def a_bundle():
    """A project with every sort of table that a bundle may hold, as bytes."""
    return packed_zip(
        [
            ("hetviz.toml", MANIFEST.encode()),
            ("a.csv", b"id,kind,size\na1,x,1\na2,y,2\na3,x,4\n"),
            ("b.txt", b"b1;2,5;x\nb2;3,5;y\nb3;1,5;x\n"),
            ("vectors.csv", b"id,u,v\nb1,1,2\nb2,3,4\nb3,5,7\n"),
            ("links.csv", b"source_dataset,source_id,target_dataset,target_id\na,a1,b,b1\n"),
            ("odd.csv", b"source_dataset,source_id,target_dataset,target_id\na,a9,b,b1\n"),
            ("order.csv", COMPARISONS),
            ("map.csv", b"dataset,id,x,y\na,a1,0,1\nb,b2,1,0\n"),
        ]
    )


@pytest.mark.usefixtures("reader_here")
def test_bundle_tables_read_same_in_child(monkeypatch):
    here = read_bundle(a_bundle())
    monkeypatch.setattr(child, "MAX_TEXT_BYTES_HERE", 3)
    files = []

    def parse(given, choices):
        files.extend(name for name, _ in given)
        return child.parse_files(given, choices)

    there = read_bundle(a_bundle(), parse=parse)
    assert files == [
        "a.csv", "b.txt", "vectors.csv", "links.csv", "odd.csv", "order.csv", "map.csv",
    ]  # fmt: skip
    assert there.problems == here.problems
    assert there.understood == here.understood
    assert there.understood[1].header is False
    assert [problem.code for problem in there.errors] == ["unknown-id"]
    for name in ("a", "b"):
        pd.testing.assert_frame_equal(there.data[name].table, here.data[name].table)
        np.testing.assert_array_equal(there.data[name].X, here.data[name].X)
        np.testing.assert_array_equal(there.map.coordinates[name], here.map.coordinates[name])
    assert len(there.data.links[0]) == len(there.data.comparisons) == 1


def test_small_bundle_tables_are_read_without_child(monkeypatch):
    monkeypatch.setattr(process.subprocess, "Popen", lambda *_, **__: pytest.fail("a child"))
    assert len(read_bundle(a_bundle(), parse=child.parse_files).data.datasets) == 2


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "reader-ended"),
        ("import sys; sys.exit(3)", "too-large"),
    ],
)
def test_bundle_table_that_crashes_reader_is_error(stand_in, monkeypatch, code, message):
    stand_in(code)
    monkeypatch.setattr(child, "MAX_TEXT_BYTES_HERE", 3)
    with pytest.raises(DataError) as caught:
        read_bundle(a_bundle(), parse=child.parse_files)
    assert [(p.code, p.where) for p in caught.value.problems] == [
        (message, "a.csv"),
        (message, "b.txt"),
    ]


def test_bundle_table_out_of_memory_is_error(monkeypatch):
    wide = b"id,x\n" + b"".join(b"%d,%s\n" % (k, b"a" * 40) for k in range(200_000))
    about = MANIFEST.partition("[[links]]")[0].encode()
    content = packed_zip([("hetviz.toml", about), ("a.csv", b"id,x\na,1\nb,2\n"), ("b.txt", wide)])
    monkeypatch.setattr(child, "MAX_TEXT_BYTES_HERE", 1000)
    monkeypatch.setattr(process, "MAX_RESIDENT_BYTES", 150_000_000)
    loaded = read_bundle(content, parse=child.parse_files)
    assert list(loaded.data.datasets) == ["a"]
    assert [(p.code, p.where) for p in loaded.errors] == [("too-large", "b.txt")]

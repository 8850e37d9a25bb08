"""Tests of hostile files, each read in an isolated process.

Each is refused with a reason or read right; none crashes the process, hangs, or takes a gigabyte.
"""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.io.file_builders import packed, workbook

MOST_MB = 1_000
CSV = b"id,a,b\n" + b"".join(b"i%d,%d,%d\n" % (k, k, k * k % 7) for k in range(40))
MANIFEST = 'format = 1\ntitle = "x"\n[[dataset]]\nname = "t"\ntable = "%s"\n'
# The files that a browser hands over, read as the page that takes them reads them.
READ = """
import json, sys, tempfile
from pathlib import Path
from hetviz.errors import HetvizError
from hetviz.io.intake.zip_tables import tables_of_zip
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import look_at_files, read_files, read_zip
path = Path(sys.argv[1])
content = path.read_bytes()
folder = tempfile.TemporaryDirectory()
# As the app does: without a folder for what was read, data are made in this process.
cache = BlobStore(Path(folder.name) / "blobs").read_cache
try:
    files = tables_of_zip(path.name, content) or {path.name: content}
    if list(files) == [path.name] and path.suffix == ".zip":
        data = read_zip(content, path.name, cache).data
    else:
        look_at_files(files, cache=cache)
        data = read_files(files, cache=cache).data
    found = {"read": {name: len(one) for name, one in data.datasets.items()}}
except HetvizError as error:
    found = {"refused": str(error)}
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peak = [int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")]
print(json.dumps({**found, "mb": peak[0] if peak else 0}))
"""


def npy(shape: str, descr: str = "<f8", data: bytes = b"") -> bytes:
    """Return an array whose header says what it likes."""
    head = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def png(width: int, height: int, data: bytes) -> bytes:
    """Return a picture of one colour, or of less than it says."""

    def part(kind: bytes, inside: bytes) -> bytes:
        body = kind + inside
        return len(inside).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    size = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", size) + part(b"IDAT", data) + part(b"IEND", b"")


def altered_workbook(**parts: bytes) -> bytes:
    """Return a workbook with some of its parts in other words."""
    content = workbook({"S": [["id", "a"], *([f"i{k}", k] for k in range(40))]})
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    return packed([*{**members, **parts}.items()])


def overlapping() -> bytes:
    """Return a zip of 90 members that are one and the same."""
    whole = packed([("x.csv", b"0" * 10_000_000)])
    end, start = whole.rfind(b"PK\x05\x06"), whole.find(b"PK\x01\x02")
    entry = whole[start:end]
    entries = b"".join(entry.replace(b"x.csv", b"%05d" % k) for k in range(90))
    tail = (90).to_bytes(2, "little") * 2 + len(entries).to_bytes(4, "little")
    return (
        whole[:start]
        + entries
        + b"PK\x05\x06\0\0\0\0"
        + tail
        + start.to_bytes(4, "little")
        + b"\0\0"
    )


def nested(times: int) -> bytes:
    """Return a zip in a zip in a zip."""
    inner = packed([("a.csv", CSV)])
    for _ in range(times):
        inner = packed([("n.zip", inner)])
    return inner


def annotated(kind: str) -> bytes:
    """Return an AnnData file whose X is not what it seems."""
    h5py = pytest.importorskip("h5py")
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for name, n in (("obs", 20), ("var", 5)):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=np.array([f"{name}{k}".encode() for k in range(n)]))
        if kind == "elsewhere":
            file["X"] = h5py.ExternalLink("/etc/passwd", "/")
        elif kind == "loop":
            file["obsm"], file["X"] = file["/"], h5py.SoftLink("/X")
        else:
            file.create_dataset(
                "X", (2_000_000, 100), dtype="f8", chunks=(1000, 100), compression="gzip"
            )
    return buffer.getvalue()


def parquet(kind: str) -> bytes:
    """Return a small Parquet file of far more than it seems."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    if kind == "texts":
        column = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(2_000_000, dtype="i4")), pa.array(["x" * 100_000])
        )
        pq.write_table(pa.table({"id": column}), sink, store_schema=False)
    else:
        pq.write_table(pa.table({"id": np.arange(5_000_000)}), sink, compression="zstd")
    return sink.getvalue()


def entities(n: int = 9) -> bytes:
    """Return what grows tenfold with each name."""
    names = "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(n))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">{names}]>'.encode()


class Command:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (print, ("run",))


def numbers(rows: int, columns: int) -> bytes:
    """Return a table of many columns."""
    lines = [",".join(["id", *(f"c{k}" for k in range(columns))])]
    lines += [",".join([f"r{j}", *(str(k * j % 10) for k in range(columns))]) for j in range(rows)]
    return "\n".join(lines).encode()


def rows(n: int) -> bytes:
    """Return a table of many short rows."""
    return b"id,a\n" + b"".join(b"%d,%d\n" % (k, k % 10) for k in range(n))


FILES: dict[str, Callable[[], bytes]] = {
    "bomb.zip": lambda: packed([("a.csv", b"0" * 300_000_000)]),
    "most-rows.zip": lambda: packed([("a.csv", rows(2_000_000))]),
    "more-rows.csv": lambda: rows(8_000_000),
    "nested.zip": lambda: nested(5),
    "up.zip": lambda: packed([("../../evil.csv", CSV), ("t.csv", CSV)]),
    "absolute.zip": lambda: packed([("/etc/cron.d/x.csv", CSV)]),
    "overlap.zip": overlapping,
    "huge.npy": lambda: npy("(1000000000000, 1)"),
    "nothing.npy": lambda: npy("(199999999, 1)", "<U0"),
    "deep.npy": lambda: npy("(1,1)", "(" * 5_000),
    "pickle.csv": lambda: pickle.dumps(Command()),
    "entities.xlsx": lambda: altered_workbook(
        **{"xl/worksheets/sheet1.xml": entities() + b"<x>&j;</x>"}
    ),
    "outside.xlsx": lambda: altered_workbook(
        **{
            "xl/workbook.xml": b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM '
            b'"file:///etc/passwd">]><r>&x;</r>'
        }
    ),
    "entities.graphml": lambda: entities() + b'<graphml><graph><node id="&j;"/></graph></graphml>',
    "deep.graphml": lambda: b'<?xml version="1.0"?><graphml><graph>' + b"<node id='a'>" * 100_000,
    "attributes.graphml": lambda: (
        b'<?xml version="1.0"?><graphml><graph edgedefault="undirected"><node id="a" '
        + b" ".join(b'a%d="1"' % k for k in range(300_000))
        + b"/></graph></graphml>"
    ),
    "texts.parquet": lambda: parquet("texts"),
    "rows.parquet": lambda: parquet("rows"),
    "elsewhere.h5ad": lambda: annotated("elsewhere"),
    "loop.h5ad": lambda: annotated("loop"),
    "chunk.h5ad": lambda: annotated("chunk"),
    "deep.json": lambda: b"[" * 3_000_000 + b"]" * 3_000_000,
    "number.json": lambda: b'[{"id":1,"a":' + b"9" * 4_000_000 + b'},{"id":2,"a":1}]',
    "keys.json": lambda: json.dumps([{"id": k, f"k{k}": 1} for k in range(60_000)]).encode(),
    "columns.csv": lambda: numbers(1, 1_000_000),
    "wide.csv": lambda: numbers(100, 19_990),
    "line.csv": lambda: b"id,a\nx," + b"A" * 100_000_000,
    "nul.csv": lambda: b"id,a\n" + b"\0" * 4_000_000,
    "quotes.csv": lambda: b"id,a\n" + b'"' * 10_000_000,
    "separators.csv": lambda: b"id" + b",;\t|" * 1_200_000,
    "lists.csv": lambda: (
        b"id,l\n"
        + b"\n".join(
            b"%d,%s" % (k, b";".join(b"t%d" % (k * 50 + j) for j in range(50)))
            for k in range(12_000)
        )
    ),
    "huge.png": lambda: png(60_000, 60_000, zlib.compress(b"\0" * 1_000)),
    "plain.png": lambda: png(4_400, 4_400, zlib.compress(b"\0" * (4_400 * 3 + 1) * 4_400, 9)),
    "script.svg": lambda: b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "table-outside.zip": lambda: packed(
        [("hetviz.toml", (MANIFEST % "../../../../etc/passwd").encode()), ("t.csv", CSV)]
    ),
    "keys.zip": lambda: packed(
        [("hetviz.toml", b"format = 1\n" + b".".join([b"a"] * 20_000) + b" = 1\n"), ("t.csv", CSV)]
    ),
    "datasets.zip": lambda: packed(
        [
            (
                "hetviz.toml",
                'format = 1\ntitle = "x"\n'
                + "".join(f'[[dataset]]\nname = "t{k}"\ntable = "t.csv"\n' for k in range(3_000)),
            ),
            ("t.csv", CSV),
        ]
    ),
}
# These look bad and are not: they hold what can be read.
READ_RIGHT = {
    "most-rows.zip": {"a": 2_000_000},
    "wide.csv": {"wide": 100},
    "lists.csv": {"lists": 12_000},
    "plain.png": {"pictures": 1},
    "number.json": {"number": 2},
    "attributes.graphml": {"attributes": 1},
    **{f"{name}.h5ad": {name: 20} for name in ("elsewhere", "loop", "chunk")},
}


def read(arguments: Sequence[str]) -> dict[str, object]:
    """Return what a process of its own said of a file."""
    done = subprocess.run(
        [sys.executable, "-c", READ, *arguments], capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-1_000:]
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.soak
@pytest.mark.timeout(700)
@pytest.mark.parametrize("name", FILES)
def test_hostile_file_is_refused_or_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    content = read([str(path)])
    assert float(str(content["mb"])) < MOST_MB
    if name in READ_RIGHT:
        assert content.get("read") == READ_RIGHT[name]
    else:
        assert content.get("refused")

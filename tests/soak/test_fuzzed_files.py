"""Tests of mutated files in the app, the library and the command line.

Whatever becomes of them, each is read right or ends in a `HetvizError`, within bounds of work and
memory. What breaks a reader is kept in `hostile/found`, and read by a test from then on.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hetviz.runs.large.schedulers import peak_mb
from tests.io.file_builders import (
    arrow,
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

# So many times each seed is changed, and read in each of the three ways.
ROUNDS = int(os.environ.get("HETVIZ_FUZZ_ROUNDS", "12"))
MOST_MB, MOST_S = 1_000, 30.0
N = 24
TABLE = pd.DataFrame(
    {
        "id": [f"i{k}" for k in range(N)],
        "size": np.arange(N) * 1.5,
        "kind": [("red", "blue", "")[k % 3] for k in range(N)],
        "day": [f"2020-01-{1 + k % 28:02d}" for k in range(N)],
    }
)
MANIFEST = b"""format = 1
title = "Fuzzed"
[[dataset]]
name = "t"
table = "t.csv"
id = "id"
[[dataset]]
name = "m"
table = "m.csv"
id = "id"
features = "m.npy"
[[links]]
file = "links.csv"
[[comparisons]]
file = "order.csv"
[[labels]]
dataset = "t"
column = "kind"
[map]
coordinates = "map.csv"
"""
Made = Callable[[], bytes]


def csv(frame: pd.DataFrame = TABLE, **options: str) -> bytes:
    """Return a table as text."""
    return frame.to_csv(index=False, **options).encode()  # type: ignore[call-overload,no-any-return]


def bundle() -> bytes:
    """Return a zip with all that a manifest may name."""
    links = "source_dataset,source_id,target_dataset,target_id\n" + "".join(
        f"t,i{k},m,m{k}\n" for k in range(N)
    )
    order = "anchor_dataset,anchor_id,near_dataset,near_id,far_dataset,far_id\nt,i0,t,i1,t,i2\n"
    places = "dataset,id,x,y\n" + "".join(f"t,i{k},{k},{k * k % 7}\n" for k in range(N))
    ids = "id\n" + "".join(f"m{k}\n" for k in range(N))
    members = [("hetviz.toml", MANIFEST), ("t.csv", csv()), ("m.csv", ids.encode())]
    members += [("m.npy", npy(np.eye(N, 4))), ("links.csv", links.encode())]
    members += [("order.csv", order.encode()), ("map.csv", places.encode())]
    return packed(members)


def annotated() -> bytes:
    """Return an AnnData file."""
    h5py = pytest.importorskip("h5py")
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for name, n in (("obs", N), ("var", 4)):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=np.array([f"{name}{k}".encode() for k in range(n)]))
        file["obs"].create_dataset("size", data=np.arange(N) * 0.5)
        file.create_dataset("X", data=np.eye(N, 4))
    return buffer.getvalue()


def model() -> bytes:
    """Return a fitted model as it is saved."""
    import hetviz

    data = hetviz.HeteroData([hetviz.Dataset("t", list(TABLE["id"]), np.eye(N, 5))])
    path = Path(tempfile.mkdtemp()) / "model.zip"
    hetviz.save_model(hetviz.get_method("pca")().fit(data), path)
    return path.read_bytes()


def coordinates() -> bytes:
    """Return places of the sample that the command line measures."""
    return ("dataset,id,x,y\n" + "".join(f"t,i{k},{k},{k % 5}\n" for k in range(N))).encode()


GRAPHML = (
    '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="s" for="node" attr.name="size" attr.type="double"/><graph edgedefault="undirected">'
    + "".join(f'<node id="n{k}"><data key="s">{k}.5</data></node>' for k in range(N))
    + "".join(f'<edge source="n{k}" target="n{(k * 7 + 1) % N}"/>' for k in range(N))
    + "</graph></graphml>"
)
GML = "graph [\n" + "".join(f'node [ id {k} label "n{k}" size {k} ]\n' for k in range(N))
GML += "".join(f"edge [ source {k} target {(k * 5 + 1) % N} ]\n" for k in range(N)) + "]\n"

SEEDS: dict[str, Made] = {
    "comma.csv": csv,
    "semicolon.csv": lambda: csv(TABLE.assign(size=TABLE["size"].astype(str)), sep=";"),
    "wide.tsv": lambda: csv(TABLE, sep="\t").decode().encode("utf-16"),
    "records.json": lambda: TABLE.to_json(orient="records").encode(),
    "lines.jsonl": lambda: TABLE.to_json(orient="records", lines=True).encode(),
    "table.parquet": lambda: parquet(TABLE),
    "table.arrow": lambda: arrow(TABLE),
    "book.xlsx": lambda: workbook({"S": [list(TABLE), *TABLE.astype(object).to_numpy().tolist()]}),
    "sheet.ods": lambda: spreadsheet({"S": [list(TABLE), *TABLE.astype(str).to_numpy().tolist()]}),
    "table.dta": lambda: statistics("dta", TABLE.drop(columns="kind")),
    "base.sqlite": lambda: sqlite(
        "create table t (id text, size real)",
        *(f"insert into t values ('i{k}', {k}.5)" for k in range(N)),
    ),
    "matrix.npy": lambda: npy(np.arange(N * 3.0).reshape(N, 3)),
    "matrices.npz": lambda: npz(X=np.eye(N, 3), ids=np.array([f"i{k}" for k in range(N)])),
    "graph.graphml": GRAPHML.encode,
    "graph.gml": GML.encode,
    "cells.h5ad": annotated,
    "picture.png": picture,
    "photo.jpg": lambda: picture((40, 30), "JPEG"),
    "tables.zip": lambda: packed([("a.csv", csv()), ("b.tsv", csv(TABLE, sep="\t"))]),
    "bundle.zip": bundle,
    "model.zip": model,
    "places.csv": coordinates,
}
WAYS = ("app", "library", "command")
# Numbers and words that readers stumble over.
ODD = (
    b"\0", b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x80" * 8, b"-1", b"1e400", b"NaN", b"99999999999",
    b"=1+1", b'"', b"\r", b"\n\n", b",,,,", b"[[[[", b"{}", b"../", b"</", b"&x;",
    "\u202e".encode(),
)  # fmt: skip


def mutate(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file changed in one to four places; of a zip, half the time in a member of it."""
    if content.startswith(b"PK") and rng.random() < 0.5:
        with contextlib.suppress(Exception):
            members = dict(unpacked(content))
            name = list(members)[int(rng.integers(len(members)))]
            members[name] = mutate(members[name], rng)
            method = zipfile.ZIP_STORED if rng.random() < 0.3 else zipfile.ZIP_DEFLATED
            infos = [zipfile.ZipInfo(name) for name in members]
            for info in infos:
                # Without the time of day: the same number gives the same file.
                info.compress_type = method
            return packed(list(zip(infos, members.values(), strict=True)))
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(max(1, len(out))))
        end = at + int(rng.integers(1, 1 + max(1, min(64, len(out) - at))))
        kind = rng.integers(8)
        if kind == 0 and out:
            out[at % len(out)] ^= 1 << int(rng.integers(8))
        elif kind == 1 and out:
            out[at % len(out)] = int(rng.integers(256))
        elif kind == 2:
            del out[at:end]
        elif kind == 3:
            out[at:at] = out[at:end] * int(rng.integers(1, 200))
        elif kind == 4:
            out[at:at] = ODD[int(rng.integers(len(ODD)))] * int(rng.integers(1, 20))
        elif kind == 5:
            piece = ODD[int(rng.integers(len(ODD)))]
            out[at : at + len(piece)] = piece
        elif kind == 6:
            other = int(rng.integers(max(1, len(out))))
            out[at:end] = out[other : other + end - at]
        else:
            del out[at:]
    return bytes(out)


# One process reads many files, as a server does; it says of each what became of it.
def serve_reader() -> None:
    """Read the files that are named on the standard input, one by one, and say how it went."""
    import matplotlib as mpl

    from hetviz.cli import main
    from hetviz.errors import HetvizError
    from hetviz.exports.model import load_model
    from hetviz.io import read_bundle, read_coordinates
    from hetviz.io.intake.zip_tables import tables_of_zip
    from hetviz.workspace.store.blobs import BlobStore
    from hetviz.workspace.store.content import look_at_files, proposals_of, read_files, read_zip

    mpl.use("Agg")
    base = tempfile.mkdtemp()
    # As the app does: without a folder for what was read, data are made in this process.
    cache = BlobStore(Path(base) / "blobs").read_cache
    sample = Path(base) / "t.csv"
    sample.write_bytes(csv())

    def by_app(path: Path) -> None:
        content = path.read_bytes()
        files = tables_of_zip(path.name, content) or {path.name: content}
        if list(files) == [path.name] and path.suffix == ".zip":
            proposals_of(read_zip(content, path.name, cache))
        else:
            look_at_files(files, cache=cache)
            proposals_of(read_files(files, cache=cache))

    def by_library(path: Path) -> None:
        if path.name == "model.zip":
            load_model(path)
        elif path.name == "places.csv":
            data = read_bundle(sample).data
            read_coordinates(path.name, path.read_bytes(), data)
        else:
            read_bundle(path).data.fingerprint()

    def by_command(path: Path) -> None:
        if path.name == "places.csv":
            words = ["evaluate", str(sample), "--coordinates", str(path)]
        elif path.name == "model.zip":
            out = str(Path(base) / "placed.csv")
            words = ["place", str(sample), str(path), str(sample), "--dataset", "t", "--out", out]
        else:
            words = ["evaluate", str(path), "--method", "pca"]
        try:
            if main(words):
                raise HetvizError("refused")
        except SystemExit as stop:
            raise RuntimeError(f"the command {words} was not understood") from stop

    ways = {"app": by_app, "library": by_library, "command": by_command}
    # As a library does that dies.
    ways["end"] = lambda _: os._exit(9)
    real = sys.stdout
    for line in sys.stdin:
        way, name = json.loads(line)
        begun, own_values, message, more = _processor_s(), time.process_time(), "accepted", ""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                ways[way](Path(name))
            except HetvizError as error:
                message, more = "refused", str(error)[:200]
            except BaseException:
                message, more = "crashed", traceback.format_exc()[-1_500:]
        spent = _processor_s() - begun
        statements = {"what": message, "more": more, "s": spent, "mb": peak_mb()}
        statements["own"] = time.process_time() - own_values
        real.write(json.dumps(statements) + "\n")
        real.flush()


def _processor_s() -> float:
    both = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(entry.ru_utime + entry.ru_stime for entry in both)


class Reader:
    """A process that reads files; another takes its place where it ends or hangs."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def read(self, way: str, path: Path) -> dict[str, object]:
        """Return what became of a file."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "tests.soak.test_fuzzed_files"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps([way, str(path)]) + "\n")
        stdin.flush()
        # The clock only ends hanging processes. Work is measured in processor time.
        if not select.select([stdout], [], [], 600.0)[0]:
            self.end()
            return {"what": "hung", "more": "", "s": 600.0, "mb": 0.0}
        line = stdout.readline()
        if not line:
            code = self.end()
            return {"what": "crashed", "more": f"the process ended: {code}", "s": 0.0, "mb": 0.0}
        statements: dict[str, object] = json.loads(line)
        return statements

    def end(self) -> int:
        """End the process; return its code."""
        if self._process is None:
            return 0
        self._process.kill()
        self._process.communicate()
        code = self._process.returncode
        self._process = None
        return code


def try_file(
    folder: Path,
    names: Sequence[str],
    rounds: int,
    seed: int,
    ways: Sequence[str] = WAYS,
    most_s: float | None = None,
) -> tuple[Counter[str], list[str]]:
    """Read changed files in all ways; return how many went how, and what should not have been."""
    tally: Counter[str] = Counter()
    faults: list[str] = []
    reader, begun = Reader(), time.monotonic()
    good = {name: SEEDS[name]() for name in names}
    try:
        for k in range(rounds):
            for number, (name, content) in enumerate(good.items()):
                if most_s is not None and time.monotonic() - begun > most_s:
                    return tally, faults
                rng = np.random.default_rng([seed, k, number])
                path = folder / name
                path.write_bytes(content if k == 0 else mutate(content, rng))
                for way in ways:
                    statements = reader.read(way, path)
                    tally[str(statements["what"])] += 1
                    tally[f"{way} {statements['what']}"] += 1
                    took, content_list = float(str(statements["s"])), float(str(statements["mb"]))
                    tally["tried"] += 1
                    # A file as it was made has to be read, but by ways that take other files.
                    fits = way == "app" or name != "picture.png"
                    unread = (
                        k == 0 and statements["what"] != "accepted" and fits and way != "command"
                    )
                    unread = unread and (name != "model.zip" or way == "library")
                    if (
                        statements["what"] in ("crashed", "hung")
                        or unread
                        or content_list > MOST_MB
                    ):
                        retained = folder / f"{seed}-{k}-{name}"
                        retained.write_bytes(path.read_bytes())
                        faults.append(f"{way} {retained}: {statements}")
                    elif took > MOST_S:
                        faults.append(f"{way} {path.name}, round {k}: {took:.0f} s of work")
    finally:
        reader.end()
    return tally, faults


@pytest.mark.soak
def test_traceback_and_crash_are_reported(tmp_path: Path) -> None:
    path, reader = tmp_path / "comma.csv", Reader()
    path.write_bytes(csv())
    try:
        assert reader.read("library", path)["what"] == "accepted"
        assert reader.read("no such way", path)["what"] == "crashed"
        assert reader.read("library", path)["what"] == "accepted"
        assert reader.read("end", path)["what"] == "crashed"
        assert reader.read("library", path)["what"] == "accepted"
    finally:
        reader.end()


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    tally, faults = try_file(tmp_path, list(SEEDS), ROUNDS, seed=int(time.time()))
    print(f"\n{len(SEEDS)} seeds: {dict(sorted(tally.items()))}")
    assert faults == []
    assert tally["refused"] > 0 and tally["accepted"] >= len(SEEDS)


def test_mutation_is_reproducible() -> None:
    for name in ("comma.csv", "bundle.zip"):
        content = SEEDS[name]()
        result = [mutate(content, np.random.default_rng(k)) for k in range(20)]
        assert result == [mutate(content, np.random.default_rng(k)) for k in range(20)]
        assert sum(entry != content for entry in result) > 15


if __name__ == "__main__":
    serve_reader()

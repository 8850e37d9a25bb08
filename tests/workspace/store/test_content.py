"""Tests of shared and isolated reading of uploaded files."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hetviz.errors import DataError
from hetviz.io import Loaded, toml
from hetviz.io.intake import child, parse
from hetviz.workspace.store import content
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import (
    StoredFiles,
    container_key,
    look_at_files,
    read_files,
    read_zip,
)
from tests.io.file_builders import packed, parquet, workbook

FILES = {"plants.csv": b"id,height\na,1\nb,2\nc,5\n"}


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each reading."""
    result_list: list[str] = []

    def noting(name: str) -> Callable[..., Loaded]:
        read = getattr(content, name)

        def noted(*args: Any) -> Loaded:
            result_list.append(name)
            result: Loaded = read(*args)
            return result

        return noted

    monkeypatch.setattr(content, "read_tables", noting("read_tables"))
    load_bundle = child.load_bundle

    def noted(*args: Any) -> None:
        result_list.append("load_bundle")
        load_bundle(*args)

    monkeypatch.setattr(child, "load_bundle", noted)
    return result_list


def test_loaded_data_are_shared(times: list[str]) -> None:
    displayed = read_files(FILES)
    assert read_files(FILES) is displayed
    assert times == ["read_tables"]
    other = read_files({"plants.csv": FILES["plants.csv"] + b"d,9\n"})
    assert len(other.data["plants"]) == 4
    statements = read_files(FILES, {"plants.csv": {"header": False}})
    assert statements is not displayed
    added = read_files({"trees.csv": b"id,age\nx,1\ny,3\n"}, base=displayed.data)
    assert list(added.data.datasets) == ["plants", "trees"]
    again = read_files({"trees.csv": b"id,age\nx,1\ny,3\n"}, base=other.data)
    assert len(again.data["plants"]) == 4
    assert len(times) == 5
    # Unused data are released.
    del displayed
    gc.collect()
    read_files(FILES)
    assert len(times) == 6


@pytest.mark.usefixtures("reader_here")
def test_zip_is_read_once(times: list[str]) -> None:
    archive = packed(FILES.items())
    displayed = read_zip(archive, "plants.zip")
    assert read_zip(archive, "plants.zip") is displayed
    assert read_zip(archive, "other.zip") is not displayed
    assert times.count("load_bundle") == 2


MANIFEST = b'format = 1\n[[dataset]]\nname = "plants"\ntable = "plants.csv"\nid = "id"\n'


def test_manifest_is_read_in_isolation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(*_: object) -> None:
        raise AssertionError("read in the server")

    monkeypatch.setattr(toml, "loads", here)
    archive = packed([("hetviz.toml", MANIFEST), *FILES.items()])
    cache = BlobStore(tmp_path / "blobs").read_cache
    first = read_zip(archive, "plants.zip", cache)
    assert list(first.data["plants"].ids) == ["a", "b", "c"]
    fingerprint = first.data.fingerprint()
    del first
    gc.collect()
    # Kept with the project: a restart starts no process for it.
    monkeypatch.setattr(child, "load_bundle", here)
    assert read_zip(archive, "plants.zip", cache).data.fingerprint() == fingerprint


def test_bad_manifest_error_is_same_in_isolation() -> None:
    archive = packed([("hetviz.toml", MANIFEST + b"wrong = 1\n"), *FILES.items()])
    with pytest.raises(DataError, match="unknown key") as messages:
        read_zip(archive, "plants.zip")
    with pytest.raises(DataError) as here:
        content.read_bundle(archive, "plants.zip")
    assert messages.value.problems == here.value.problems


# Ends the process on one file, as a library does that a damaged one makes touch memory not its own.
DEADLY = """
import os, sys
from hetviz.io.intake import parse
read = parse.parse_files
def parse_files(files, *rest):
    if any(name in {crashing_table!r} for name, _ in files):
        os.abort()
    return read(files, *rest)
parse.parse_files = parse_files
from hetviz.io.intake import child, parse
sys.exit(child.main())
"""


@pytest.fixture
def crashing_table(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """Have files end the process that reads them; returns a list that grows with each process."""
    start, started = subprocess.Popen, []

    def use(*names: str) -> list[int]:
        def run(command: list[str], **others: Any) -> subprocess.Popen[bytes]:
            started.append(1)
            code = DEADLY.format(crashing_table=names)
            return start([sys.executable, "-c", code, *command[4:]], **others)

        monkeypatch.setattr(child.reader.subprocess, "Popen", run)
        return started

    return use


TWO = MANIFEST + b'[[dataset]]\nname = "birds"\ntable = "birds.csv"\nid = "id"\n'
BUNDLE = [("hetviz.toml", TWO), *FILES.items(), ("birds.csv", b"id,span\nx,1\ny,3\n")]


def test_crashing_table_is_skipped(crashing_table: Callable[..., list[int]]) -> None:
    started = crashing_table("birds.csv")
    loaded = read_zip(packed(BUNDLE), "two.zip")
    assert list(loaded.data.datasets) == ["plants"]
    (problem,) = loaded.problems
    assert problem.where == "two.zip, birds.csv" and problem.code == "reader-ended"
    assert len(started) == 2


def test_bundle_with_only_crashing_table_is_error(
    crashing_table: Callable[..., list[int]],
) -> None:
    started = crashing_table("birds.csv", "plants.csv")
    with pytest.raises(DataError, match=r"two.zip, plants.csv: .*crashed on this file") as messages:
        read_zip(packed(BUNDLE), "two.zip")
    assert [problem.code for problem in messages.value.problems] == ["reader-ended"] * 2
    assert len(started) == 3


def test_repeated_crashes_are_error(
    crashing_table: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "_MAX_FILES_LEFT_OUT", 1)
    names = [f"t{k}.csv" for k in range(4)]
    tables = [f'[[dataset]]\nname = "{name[:-4]}"\ntable = "{name}"\nid = "id"\n' for name in names]
    manifest = ("format = 1\n" + "".join(tables)).encode()
    bundle = packed([("hetviz.toml", manifest), *((name, FILES["plants.csv"]) for name in names)])
    started = crashing_table(*names)
    with pytest.raises(DataError, match="crashed on this file"):
        read_zip(bundle, "many.zip")
    assert len(started) == 2


def test_processor_limit_is_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HETVIZ_WORK_PROCESSOR_S", "77")
    assert child.loading_seconds() == 77
    monkeypatch.setattr(child.reader, "MAX_PROCESSOR_S", 0)
    monkeypatch.setenv("HETVIZ_WORK_PROCESSOR_S", "0")
    rows = (f"i{k}," + ",".join(str(k * j % 991) for j in range(300)) for k in range(3_000))
    wide = "\n".join(rows)
    archive = packed([("hetviz.toml", MANIFEST), ("plants.csv", f"id{',x' * 300}\n{wide}")])
    with pytest.raises(DataError, match="more than the 0 seconds of allowed"):
        read_zip(archive, "plants.zip")


@pytest.fixture
def parsed_names(reader_here: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the names of files whose bytes are parsed; readers must run here."""
    names: list[str] = []
    parse_here = parse.parse_files

    def parse_files(files: Any, choices: Any) -> Any:
        names.extend(name for name, _ in files)
        return parse_here(files, choices)

    monkeypatch.setattr(parse, "parse_files", parse_files)
    return names


LONG = "\n".join(["id,size,kind", *(f"i{k},{k * 7 % 997}.5,{'abc'[k % 3]}" for k in range(20_000))])
ROWS = [["id", "size", "kind"], *([f"i{k}", k * 7 % 97, "abc"[k % 3]] for k in range(60))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("few.csv", b"id,size,kind\na,1,x\nb,2,y\nc,4,x\nd,7,y\n"),
        ("many.csv", LONG.encode()),
        ("book.xlsx", workbook({"Items": ROWS})),
        ("table.parquet", parquet({"id": ["a", "b", "c"], "size": [1, 2, 5], "kind": list("xyx")})),
    ],
)
def test_dropped_file_is_parsed_once(
    name: str, content: bytes, tmp_path: Path, parsed_names: list[str]
) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    files = StoredFiles(blobs, {name: blobs.put(content)})
    looks = look_at_files(files, {}, blobs.read_cache)
    recipe = looks[0].recipe
    edits: list[dict[str, Any]] = [
        {"recipes": {"": recipe.with_type("kind", "leave out").to_dict()}},
        {"recipes": {"": recipe.with_ids("kind", "id").to_dict()}},
        {"header": True, "title": "kind"},
    ]
    choices: dict[str, dict[str, Any]] = {}
    for edit in edits:
        before, choices = choices, {name: edit}
        looks = look_at_files(files, choices, blobs.read_cache, (looks, before))
    loaded = read_files(files, choices, None, blobs.read_cache)
    assert loaded.understood[0].title_column == "kind"
    assert parsed_names == [name]
    # The journal knows the cells by their key, and parses the blobs without them.
    key = container_key(files.hashes, choices)
    assert blobs.read_cache.view(key) is not None
    del loaded
    gc.collect()
    for path in (tmp_path / "read").iterdir():
        path.unlink()
    again = read_files(files, choices, None, blobs.read_cache, container=key)
    assert again.understood[0].title_column == "kind"
    assert parsed_names == [name, name]


@pytest.mark.usefixtures("reader_here")
def test_damaged_or_foreign_container_is_not_used(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    files = StoredFiles(blobs, {"many.csv": blobs.put(LONG.encode())})
    cache = blobs.read_cache
    cache.put(container_key(files.hashes), b"no container")
    (tmp_path / "outside").write_bytes(b"no container")
    loaded = read_files(files, {}, None, cache, container="../outside")
    assert len(loaded.data["many"]) == 20_000

"""Uploaded files are read once as long as what was read is looked at."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hetviz.errors import DataError
from hetviz.io import Loaded
from hetviz.io.formats import toml
from hetviz.io.sandbox import child
from hetviz.workspace.store import content
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import read_files, read_zip
from tests.io.making import packed

FILES = {"plants.csv": b"id,height\na,1\nb,2\nc,5\n"}


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each reading."""
    found: list[str] = []

    def noting(name: str) -> Callable[..., Loaded]:
        read = getattr(content, name)

        def noted(*args: Any) -> Loaded:
            found.append(name)
            result: Loaded = read(*args)
            return result

        return noted

    monkeypatch.setattr(content, "read_tables", noting("read_tables"))
    load_bundle = child.load_bundle

    def noted(*args: Any) -> None:
        found.append("load_bundle")
        load_bundle(*args)

    monkeypatch.setattr(child, "load_bundle", noted)
    return found


def test_what_is_still_looked_at_is_not_read_again(times: list[str]) -> None:
    shown = read_files(FILES)
    assert read_files(FILES) is shown
    assert times == ["read_tables"]
    other = read_files({"plants.csv": FILES["plants.csv"] + b"d,9\n"})
    assert len(other.data["plants"]) == 4
    said = read_files(FILES, {"plants.csv": {"header": False}})
    assert said is not shown
    added = read_files({"trees.csv": b"id,age\nx,1\ny,3\n"}, base=shown.data)
    assert list(added.data.datasets) == ["plants", "trees"]
    again = read_files({"trees.csv": b"id,age\nx,1\ny,3\n"}, base=other.data)
    assert len(again.data["plants"]) == 4
    assert len(times) == 5
    # Nothing is kept for its own sake.
    del shown
    gc.collect()
    read_files(FILES)
    assert len(times) == 6


def test_a_zip_is_read_once_too(times: list[str]) -> None:
    archive = packed(FILES.items())
    shown = read_zip(archive, "plants.zip")
    assert read_zip(archive, "plants.zip") is shown
    assert read_zip(archive, "other.zip") is not shown
    assert times.count("load_bundle") == 2


MANIFEST = b'format = 1\n[[dataset]]\nname = "plants"\ntable = "plants.csv"\nid = "id"\n'


def test_a_manifest_is_read_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_manifest_that_is_wrong_is_told_as_it_is_here() -> None:
    archive = packed([("hetviz.toml", MANIFEST + b"wrong = 1\n"), *FILES.items()])
    with pytest.raises(DataError, match="unknown key") as told:
        read_zip(archive, "plants.zip")
    with pytest.raises(DataError) as here:
        content.read_bundle(archive, "plants.zip")
    assert told.value.problems == here.value.problems


def test_the_work_that_making_data_may_take_is_set_by_the_operator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HETVIZ_WORK_PROCESSOR_S", "77")
    assert child.making_s() == 77
    monkeypatch.setattr(child.process, "PROCESSOR_S", 0)
    monkeypatch.setenv("HETVIZ_WORK_PROCESSOR_S", "0")
    rows = (f"i{k}," + ",".join(str(k * j % 991) for j in range(300)) for k in range(3_000))
    wide = "\n".join(rows)
    archive = packed([("hetviz.toml", MANIFEST), ("plants.csv", f"id{',x' * 300}\n{wide}")])
    with pytest.raises(DataError, match="more than the 0 seconds of work"):
        read_zip(archive, "plants.zip")

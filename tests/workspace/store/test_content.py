"""Uploaded files are read once as long as what was read is looked at."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from hetviz.io import Loaded
from hetviz.workspace.store import content
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

    for name in ("read_tables", "read_bundle"):
        monkeypatch.setattr(content, name, noting(name))
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
    assert times.count("read_bundle") == 2

"""Samples for tests that are about something else: read once, or only their first rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from hetviz._samples import sample_root
from hetviz.io.bundle import reading
from hetviz.io.files import Files, Folder
from hetviz.io.intake.drop import read_drop, table_reader
from hetviz.io.intake.loaded import Loaded
from hetviz.io.piece import ReadTable
from tests.depth import DEPTH

_read = reading._read
_LARGE = ("digits", "digit-views")
_FEW = 150


@cache
def whole(root: Path) -> Loaded:
    return _read(Folder(root), table_reader(read_drop))


@cache
def first_rows(root: Path) -> Loaded:
    """Return a sample, of one whose rows have no names of their own only the first few."""
    loaded = whole(root)
    if root.name not in _LARGE:
        return loaded
    few = {name: one.ids[:_FEW] for name, one in loaded.data.datasets.items()}
    return replace(loaded, data=loaded.data.edit().subset(few))


def read_once(patch: pytest.MonkeyPatch, *, few: bool = False) -> None:
    """Let what comes with hetviz be read once for all tests; whoever reads, data never change.

    With `few`, the large samples have only their first rows, but not where tests go into depth.
    """
    known = first_rows if few and DEPTH == 1 else whole

    def read(files: Files, tables: ReadTable) -> Loaded:
        root = sample_root()
        if isinstance(files, Folder) and root is not None and files.root.parent == root:
            return known(files.root)
        return _read(files, tables)

    patch.setattr(reading, "_read", read)

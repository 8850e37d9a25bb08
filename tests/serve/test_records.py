"""Tests of the audit log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hetviz.serve import records
from hetviz.serve.records import Audit


def test_processes_that_share_a_log_lose_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_MAX_FILE_BYTES", 4_000)
    one, other, write = Audit(tmp_path), Audit(tmp_path), os.write

    def write_meanwhile(fd: int, content: bytes) -> int:
        # The other process comes first, and begins the next file.
        monkeypatch.setattr(os, "write", write)
        other.note("other", fill="x" * 3_000)
        return write(fd, content)

    one.note("first", fill="x" * 3_000)
    monkeypatch.setattr(os, "write", write_meanwhile)
    one.note("last")
    assert [line["event"] for line in one.lines()] == ["first", "other", "last"]

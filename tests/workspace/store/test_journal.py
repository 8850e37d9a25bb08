"""The journal: nothing acknowledged is lost, nothing half-written is read, one writer at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetviz.errors import HetvizError
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.files import NotSaved
from hetviz.workspace.store.journal import InUse, Journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "project" / "journal.jsonl"


def written(path: Path, *entries: Any) -> bytes:
    journal = Journal(path)
    for entry in entries:
        journal.append(entry)
    journal.close()
    return path.read_bytes()


def read(path: Path) -> list[Any]:
    journal = Journal(path)
    journal.close()
    return [json.loads(line) for line in journal.lines]


@contextlib.contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    """Let the system refuse files above a size, as a full disk does: the last write is short."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_entries_come_back_in_order(path: Path) -> None:
    entries = [{"op": "a", "x": [1, None, "ä\n\udc80"]}, {"op": "b", "k": np.float64(0.5)}]
    written(path, *entries)
    assert read(path) == [{"op": "a", "x": [1, None, "ä\n\udc80"]}, {"op": "b", "k": 0.5}]


def test_nothing_is_made_before_there_is_something_to_keep(path: Path) -> None:
    Journal(path)
    assert not path.parent.exists()


def test_only_the_owner_may_read(path: Path) -> None:
    written(path, {"op": "a"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_cut_at_any_byte_gives_its_whole_lines(path: Path) -> None:
    entries = [{"op": "a"}, {"op": "b", "text": "zwei"}, {"op": "c"}]
    content = written(path, *entries)
    ends = [k for k, byte in enumerate(content, 1) if byte == ord("\n")]
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends)
        assert read(path) == entries[: max(whole - 1, 0)]
        # What is written next does not run into the rest of a line.
        written(path, {"op": "next"})
        assert read(path) == [*entries[: max(whole - 1, 0)], {"op": "next"}]


def test_a_full_disk_is_told_and_the_file_is_as_before(path: Path) -> None:
    before = written(path, {"op": "a"})
    journal = Journal(path)
    with largest_file(len(before) + 10), pytest.raises(NotSaved, match="Nothing was changed"):
        journal.append({"op": "b", "text": "x" * 100})
    assert path.read_bytes() == before
    journal.append({"op": "c"})
    journal.close()
    assert read(path) == [{"op": "a"}, {"op": "c"}]


def test_short_writes_are_completed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    written(path, {"op": "a", "text": "a longer line"}, {"op": "b"})
    assert read(path) == [{"op": "a", "text": "a longer line"}, {"op": "b"}]


def test_a_disk_that_fails_to_confirm_keeps_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(path)
    journal.append({"op": "a"})
    before = path.read_bytes()

    def fail(fd: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(NotSaved, match="input/output error"):
            journal.append({"op": "b"})
    assert path.read_bytes() == before


def test_a_rest_that_could_not_be_taken_back_is_so_next_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(path)
    journal.append({"op": "a"})

    def fail(*arguments: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        patch.setattr(os, "ftruncate", fail)
        with pytest.raises(NotSaved):
            journal.append({"op": "b"})
    journal.append({"op": "c"})
    journal.close()
    assert read(path) == [{"op": "a"}, {"op": "c"}]


def test_a_second_opener_is_told_and_changes_nothing(path: Path) -> None:
    before = written(path, {"op": "a"})
    first = Journal(path)
    with pytest.raises(InUse, match="open in another hetviz"):
        Journal(path)
    assert path.read_bytes() == before
    first.close()
    assert read(path) == [{"op": "a"}]


def test_a_file_system_without_locks_or_folder_syncs_will_do(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def no_lock(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    def no_folders(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(fd)

    monkeypatch.setattr(fcntl, "flock", no_lock)
    monkeypatch.setattr(os, "fsync", no_folders)
    written(path, {"op": "a"})
    assert read(path) == [{"op": "a"}]


def test_one_that_another_wrote_meanwhile_is_not_continued(path: Path) -> None:
    late = Journal(path)
    before = written(path, {"op": "a"})
    with pytest.raises(InUse, match="meanwhile"):
        late.append({"op": "b"})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (b'{"format": 2}\n', "later version"),
        (b'{"format": "x"}\n', "damaged"),
        (b"[]\n", "damaged"),
        (b"\x00\x00\n", "damaged"),
        (b"\n", "damaged"),
    ],
)
def test_another_form_is_refused_and_kept(path: Path, head: bytes, why: str) -> None:
    path.parent.mkdir()
    path.write_bytes(head + b'{"op": "a"}\n')
    with pytest.raises(HetvizError, match=why):
        Journal(path)
    assert path.read_bytes() == head + b'{"op": "a"}\n'


def test_a_place_that_cannot_be_written_is_told_without_naming_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotSaved) as caught:
        Journal(tmp_path / "file" / "secret" / "journal.jsonl").append({"op": "a"})
    assert "secret" not in str(caught.value)


def test_a_blob_that_does_not_fit_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    with largest_file(50), pytest.raises(NotSaved, match="larger than is allowed"):
        blobs.put(b"x" * 200)
    assert list(blobs.folder.iterdir()) == []

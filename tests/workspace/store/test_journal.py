"""Tests of the journal."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import resource
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetviz.errors import HetvizError
from hetviz.workspace.store import journal as journal_module
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.files import NotSaved
from hetviz.workspace.store.journal import InUse, Journal, ReplacedError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "project" / "journal.jsonl"


def write_entries(path: Path, *entries: Any) -> bytes:
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
def file_size_limit(n_bytes: int) -> Iterator[None]:
    """Let the system refuse files above a size, as a full disk does: the last write is short."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_entries_in_order(path: Path) -> None:
    entries = [{"op": "a", "x": [1, None, "ä\n\udc80"]}, {"op": "b", "k": np.float64(0.5)}]
    write_entries(path, *entries)
    assert read(path) == [{"op": "a", "x": [1, None, "ä\n\udc80"]}, {"op": "b", "k": 0.5}]


def test_file_is_created_on_append(path: Path) -> None:
    Journal(path)
    assert not path.parent.exists()


def test_file_is_private(path: Path) -> None:
    write_entries(path, {"op": "a"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_cut_file_keeps_complete_lines(path: Path) -> None:
    entries = [{"op": "a"}, {"op": "b", "text": "zwei"}, {"op": "c"}]
    content = write_entries(path, *entries)
    ends = [k for k, byte in enumerate(content, 1) if byte == ord("\n")]
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends)
        assert read(path) == entries[: max(whole - 1, 0)]
        # What is written next does not run into the rest of a line.
        write_entries(path, {"op": "next"})
        assert read(path) == [*entries[: max(whole - 1, 0)], {"op": "next"}]


@pytest.mark.parametrize(
    "content",
    [b"\0" * 4096, b"x", b'{"op": "a"}', b'{"format": 1}', b"\r" * 100, b'\xff\xfe{"format"'],
    ids=["zeros", "short", "entry", "head-without-end", "returns", "utf-16"],
)
def test_file_without_head_is_never_changed(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    if content == b'{"format": 1}':
        # The begin of a new file: nothing was ever confirmed in it.
        path.write_bytes(content)
        assert read(path) == []
        return
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(HetvizError, match="Nothing was changed"):
            Journal(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("rest", [b'{"op": "b", "te', b"\0" * 5000, b"\r\r\r"])
def test_incomplete_line_is_kept_beside(path: Path, rest: bytes) -> None:
    before = write_entries(path, {"op": "a"})
    path.write_bytes(before + rest)
    # Reading changes nothing.
    assert read(path) == [{"op": "a"}]
    assert path.read_bytes() == before + rest
    journal = Journal(path)
    assert journal.rest == rest
    journal.append({"op": "b"})
    journal.append({"op": "c"})
    journal.close()
    assert read(path) == [{"op": "a"}, {"op": "b"}, {"op": "c"}]
    (kept,) = path.parent.glob("*.cut")
    assert kept.read_bytes() == rest
    # The next one gets another file.
    path.write_bytes(path.read_bytes() + b"more")
    write_entries(path, {"op": "d"})
    assert sorted(file.read_bytes() for file in path.parent.glob("*.cut")) == sorted(
        [rest, b"more"]
    )


def test_incomplete_line_stays_while_it_cannot_be_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = write_entries(path, {"op": "a"}) + b"rest"
    path.write_bytes(content)

    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    journal = Journal(path)
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "replace_file", fail)
        with pytest.raises(NotSaved, match="disk is full"):
            journal.append({"op": "b"})
    assert path.read_bytes() == content
    journal.append({"op": "b"})
    journal.close()
    assert read(path) == [{"op": "a"}, {"op": "b"}]


def deleted(path: Path) -> None:
    path.unlink()


def folder_deleted(path: Path) -> None:
    shutil.rmtree(path.parent)


def restored(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    os.replace(copy, path)


def truncated(path: Path) -> None:
    os.truncate(path, 0)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"op": "of another program"}\n')


@pytest.mark.parametrize("change", [deleted, folder_deleted, restored, truncated, appended])
def test_step_into_replaced_file_is_refused(
    path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "LOOK_AGAIN_S", 0.0)
    write_entries(path, {"op": "a"})
    journal = Journal(path)
    journal.append({"op": "b"})
    assert journal.is_in_place
    change(path)
    there = path.read_bytes() if path.exists() else None
    assert not journal.is_in_place
    for _ in range(2):
        with pytest.raises(ReplacedError, match="Nothing was changed"):
            journal.append({"op": "c"})
    assert (path.read_bytes() if path.exists() else None) == there
    journal.close()


def test_backup_by_hard_link_is_no_replacement(path: Path) -> None:
    journal = Journal(path)
    journal.append({"op": "a"})
    os.link(path, path.with_name("snapshot"))
    journal.append({"op": "b"})
    journal.close()
    assert read(path) == [{"op": "a"}, {"op": "b"}]


def as_user(user: int, act: Callable[[], object]) -> str:
    """Return the error that an act ends in for another user, in a process of its own."""
    receiving, sending = os.pipe()
    pid = os.fork()
    if pid == 0:
        text = "none"
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            act()
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(sending, text.encode())
        os._exit(0)
    os.close(sending)
    os.waitpid(pid, 0)
    with os.fdopen(receiving) as file:
        return file.read()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_folder_that_the_user_may_not_write() -> None:
    # The folder of the tests is closed to others.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "project" / "journal.jsonl"
        before = write_entries(path, {"op": "a"})
        path.parent.chmod(0o755)
        path.chmod(0o644)
        new = Path(folder) / "new" / "journal.jsonl"
        for act in (lambda: Journal(path), lambda: Journal(new).append({"op": "a"})):
            error = as_user(65_534, act)
            assert "NotSaved" in error and "not writable" in error and folder not in error
        assert path.read_bytes() == before and not new.exists()


def test_full_disk_leaves_file_unchanged(path: Path) -> None:
    before = write_entries(path, {"op": "a"})
    journal = Journal(path)
    with file_size_limit(len(before) + 10), pytest.raises(NotSaved, match="Nothing was changed"):
        journal.append({"op": "b", "text": "x" * 100})
    assert path.read_bytes() == before
    journal.append({"op": "c"})
    journal.close()
    assert read(path) == [{"op": "a"}, {"op": "c"}]


def test_short_writes_are_completed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    write_entries(path, {"op": "a", "text": "a longer line"}, {"op": "b"})
    assert read(path) == [{"op": "a", "text": "a longer line"}, {"op": "b"}]


def test_failed_sync_leaves_file_unchanged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_partial_write_is_truncated_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_second_opener_is_error(path: Path) -> None:
    before = write_entries(path, {"op": "a"})
    first = Journal(path)
    with pytest.raises(InUse, match="open in another hetviz"):
        Journal(path)
    assert path.read_bytes() == before
    first.close()
    assert read(path) == [{"op": "a"}]


def test_file_system_without_locks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def no_lock(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    def no_folders(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(fd)

    monkeypatch.setattr(fcntl, "flock", no_lock)
    monkeypatch.setattr(os, "fsync", no_folders)
    write_entries(path, {"op": "a"})
    assert read(path) == [{"op": "a"}]


def test_journal_of_other_process_is_error(path: Path) -> None:
    late = Journal(path)
    before = write_entries(path, {"op": "a"})
    with pytest.raises(InUse, match="changed this project"):
        late.append({"op": "b"})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (b'{"format": 2}\n', "newer version"),
        (b'{"format": "x"}\n', "damaged"),
        (b"[]\n", "damaged"),
        (b"\x00\x00\n", "damaged"),
        (b"\n", "damaged"),
    ],
)
def test_other_format_is_error(path: Path, head: bytes, why: str) -> None:
    path.parent.mkdir()
    path.write_bytes(head + b'{"op": "a"}\n')
    with pytest.raises(HetvizError, match=why):
        Journal(path)
    assert path.read_bytes() == head + b'{"op": "a"}\n'


def test_read_only_folder_error_hides_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotSaved) as caught:
        Journal(tmp_path / "file" / "secret" / "journal.jsonl").append({"op": "a"})
    assert "secret" not in str(caught.value)


def test_large_blob_is_error(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    with file_size_limit(50), pytest.raises(NotSaved, match="too large"):
        blobs.put(b"x" * 200)
    assert list(blobs.folder.iterdir()) == []


def test_file_is_in_place_while_another_thread_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "LOOK_AGAIN_S", 0.0)
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append({"op": "first"})
    is_written, may_end, answers = threading.Event(), threading.Event(), []
    real = os.fsync

    def sync(fd: int) -> None:
        is_written.set()
        may_end.wait()
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    writer = threading.Thread(target=journal.append, args=({"op": "second"},))
    reader = threading.Thread(target=lambda: answers.append(journal.is_in_place))
    writer.start()
    is_written.wait()
    reader.start()
    # Time enough for a reader that does not wait.
    reader.join(0.2)
    may_end.set()
    for thread in (writer, reader):
        thread.join()
    assert answers == [True]
    journal.close()

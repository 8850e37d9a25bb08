"""Tests of the limits and cleaning of blobs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hetviz.errors import DataError
from hetviz.workspace import Sessions, SetTitle
from hetviz.workspace.sessions import new_session_id
from hetviz.workspace.store.blobs import BlobStore, ReadCache
from tests.workspace.helpers import add_all


def test_full_project_is_error(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "blobs", limit=10)
    key = store.put(b"12345678")
    with pytest.raises(DataError) as messages:
        store.put(b"abc")
    assert "allowed" in str(messages.value)
    assert messages.value.problems[0].code == "project-full"
    assert store.put(b"12345678") == key, "the same again needs no room"
    assert store.get(key) == b"12345678"
    assert store.n_bytes == 8
    store.put(b"ab")


def test_read_cache_shrinks_for_blobs(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "blobs", limit=10)
    for age, name in enumerate(("oldest", "older", "newest")):
        store.read_cache.put(name, b"123")
        os.utime(tmp_path / "read" / name, (age, age))
    store.put(b"abcd")
    assert [store.read_cache.get(name) for name in ("oldest", "older", "newest")] == [
        None, b"123", b"123",
    ]  # fmt: skip
    store.read_cache.put("new", b"1234")
    assert (store.read_cache.get("older"), store.read_cache.get("newest")) == (None, None)
    assert store.read_cache.get("new") == b"1234"
    store.read_cache.put("large", b"1234567")
    assert store.read_cache.get("large") is None, "what there is no room for is not kept"
    assert store.read_cache.get("new") == b"1234", "nor does it put out what is"
    with pytest.raises(DataError):
        store.put(b"1234567")
    assert store.read_cache.get("new") == b"1234"
    store.put(b"123456")
    assert not list((tmp_path / "read").iterdir())


def test_adopted_file_counts_once(tmp_path: Path) -> None:
    cache = ReadCache(tmp_path / "read", max_bytes=10)
    cache.put("first", b"1234")
    with cache.new_file() as file:
        file.write(b"123456")
        file.flush()
        cache.adopt_file(file, "second")
    assert (cache.get("first"), cache.get("second")) == (b"1234", b"123456")
    for name in ("first", "second"):
        os.utime(tmp_path / "read" / name, (1, 1))
    result = cache.view("first")
    assert result is not None and bytes(result) == b"1234"
    cache.put("third", b"12345")
    assert sorted(path.name for path in (tmp_path / "read").iterdir()) == ["first", "third"]


def test_unused_uploads_are_removed_after_day(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(add_all(workspace.blobs, fresh=True))
    workspace.undo()
    used = {path.name for path in (tmp_path / sid / "blobs").iterdir()}
    assert used
    fresh = workspace.blobs.put(b"waits for a decision")
    stray = workspace.blobs.put(b"was cancelled long ago")
    yesterday = time.time() - 2 * 86_400
    for name in (*used, stray):
        os.utime(tmp_path / sid / "blobs" / name, (yesterday, yesterday))
    sessions.close()
    again = sessions.get(sid)
    present = {path.name for path in (tmp_path / sid / "blobs").iterdir()}
    assert present == used | {fresh}
    again.redo()
    assert again.state.data is not None


def test_blobs_stay_with_lost_steps(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(SetTitle("Mine"))
    key = workspace.blobs.put(b"perhaps named by the step that cannot be read")
    os.utime(tmp_path / sid / "blobs" / key, (0, 0))
    sessions.close()
    with (tmp_path / sid / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"op": "no such step"}\n')
    assert sessions.get(sid).blobs.get(key)

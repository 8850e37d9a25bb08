"""Tests that acknowledged steps survive crashes and full disks."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hetviz.errors import HetvizError
from hetviz.workspace import Sessions, SetTitle, Workspace
from hetviz.workspace.sessions import new_session_id
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.journal import CUT, HEAD, Journal
from tests.depth import examples
from tests.workspace.helpers import STEPS, add_all, opened, run_random_steps, state_essence

NUMBER = itertools.count()


def started_project(folder: Path) -> tuple[Sessions, str, Workspace]:
    sessions, sid = Sessions(folder), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(add_all(workspace.blobs, fresh=True))
    return sessions, sid, workspace


def check_restored(workspace: Workspace) -> tuple[Any, ...]:
    """What must come back: a job that was running then does not, and is told to be interrupted."""
    *others, pending, undo_name, redo_name, steps = state_essence(workspace)
    if pending is not None and pending.outcome is None:
        outcome = "interrupted"
    else:
        outcome = None if pending is None else pending.outcome
    return (*others, pending and pending.job, outcome, undo_name, redo_name, steps)


@given(steps=STEPS, share=st.floats(0, 1))
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_crash_at_any_byte_keeps_acknowledged(
    steps: list[Any], share: float, tmp_path: Path
) -> None:
    folder = tmp_path / str(next(NUMBER))
    sessions, sid, workspace = started_project(folder)
    journal = folder / sid / "journal.jsonl"
    acknowledged = [(0, check_restored(Workspace(workspace.blobs)))]
    acknowledged.append((journal.stat().st_size, check_restored(workspace)))
    for number, step in enumerate(steps):
        size = journal.stat().st_size
        try:
            run_random_steps(workspace, step, number)
        except HetvizError:
            assert journal.stat().st_size == size
        acknowledged.append((journal.stat().st_size, check_restored(workspace)))
    sessions.close()
    cut = round(share * journal.stat().st_size)
    os.truncate(journal, cut)
    left = journal.read_bytes()
    again = Sessions(folder).get(sid)
    assert check_restored(again) == [state for size, state in acknowledged if size <= cut][-1]
    # A new project has no step yet that could be incomplete.
    is_torn = not left.endswith(b"\n") and not HEAD.startswith(left)
    assert again.notes == ([CUT] if is_torn else [])
    # And it goes on from there.
    again.do(SetTitle("Onwards"))
    again.close()
    rest = left[left.rfind(b"\n") + 1 :]
    assert [path.read_bytes() for path in journal.parent.glob("*.cut")] == [rest] * is_torn
    assert Sessions(folder).get(sid).state.title == "Onwards"


@given(steps=STEPS, room=st.integers(0, 1500))
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_full_disk_keeps_saved_steps(steps: list[Any], room: int, tmp_path: Path) -> None:
    folder = tmp_path / str(next(NUMBER))
    sessions, sid, workspace = started_project(folder)
    real, left = os.write, [room]

    def write(fd: int, data: Any) -> int:
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        written = real(fd, bytes(data[: left[0]]))
        left[0] -= written
        return written

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write)
        for number, step in enumerate(steps):
            before = state_essence(workspace), list(workspace.log)
            try:
                run_random_steps(workspace, step, number)
            except HetvizError:
                assert (state_essence(workspace), workspace.log) == before
    expected = check_restored(workspace)
    sessions.close()
    assert check_restored(Sessions(folder).get(sid)) == expected


def test_lost_step_is_reported_and_undo_works(tmp_path: Path) -> None:
    sessions, sid, workspace = started_project(tmp_path)
    for title in ("One", "Two", "Three"):
        workspace.do(SetTitle(title))
    workspace.undo()
    sessions.close()
    path = tmp_path / sid / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for damaged in (b"\x00\x01 no JSON\n", b'{"op":"from-the-future","at":""}\n', b"[1]\n"):
        changed = b"".join([*lines[:3], damaged, *lines[4:]])
        path.write_bytes(changed)
        again = Sessions(tmp_path).get(sid)
        # "Two" is lost; the undo took back "Three" and not what lay before "Two".
        assert again.state.title == "One"
        assert again.undo_name == "lost step"
        again.undo()
        again.undo()
        assert again.state.title == "plants, birds"
        (note,) = again.pop_notes()
        assert "could not be repeated" in note
        assert again.pop_notes() == []
        again.close()
        assert path.read_bytes().startswith(changed)
        path.write_bytes(b"".join(lines))


def test_missing_blob_loses_one_step(tmp_path: Path) -> None:
    sessions, sid, workspace = started_project(tmp_path)
    run_random_steps(workspace, "record", 1)
    workspace.do(SetTitle("Woods"))
    run_random_steps(workspace, "record", 2)
    first, second = workspace.state.runs
    sessions.close()
    entry = json.loads((tmp_path / sid / "journal.jsonl").read_bytes().splitlines()[2])
    (tmp_path / sid / "blobs" / entry["map"]).unlink()
    again = Sessions(tmp_path).get(sid)
    assert again.state.title == "Woods"
    assert [run.id for run in again.state.runs] == [second.id]
    assert first.id != second.id
    (note,) = again.notes
    assert "record map" in note


def test_many_lost_steps_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"format": 1}\n' + b"junk\n" * 12)
    workspace = Workspace(BlobStore(tmp_path), Journal(path))
    assert len(workspace.notes) == 6
    assert workspace.notes[-1] == "7 more steps could not be repeated."


def test_memory_workspace_has_no_file(tmp_path: Path) -> None:
    workspace = opened(BlobStore(tmp_path / "blobs"))
    workspace.set_view_state(selection=[0])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blobs", "read"]

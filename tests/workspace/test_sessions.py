"""Tests of sessions on disk."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import sys
import threading
import time
from pathlib import Path

import pytest

from hetviz.errors import HetvizError
from hetviz.workspace import EndJob, OpenSample, Sessions, SetTitle, StartJob
from hetviz.workspace.sessions import READ_AGAIN, new_session_id, remove_unused_sessions
from hetviz.workspace.store.files import BLOBS, JOURNAL, READ, home
from hetviz.workspace.store.journal import CUT, InUse, ReplacedError
from tests.workspace.helpers import run_random_steps, state_essence

EMOJI = "Emoji and the words people look them up by"


def test_session_is_restored(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(OpenSample("emoji"))
    run_random_steps(workspace, "record")
    workspace.do(SetTitle("Mine"))
    workspace.undo()
    before = state_essence(workspace)
    sessions.close()
    again = Sessions(tmp_path).get(sid)
    assert state_essence(again) == before
    assert again.redo_name == "project name"
    assert again.log == workspace.log


def test_find_restores_session(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(OpenSample("emoji"))
    sessions.close()
    again = Sessions(tmp_path)
    result = again.find(sid)
    assert result is not None
    assert result.state.data is not None
    assert result is again.get(sid)
    for other in (new_session_id(), "..", "", sid + "/"):
        assert again.find(other) is None
    assert [path.name for path in tmp_path.iterdir()] == [sid]


def test_second_server_is_error(tmp_path: Path) -> None:
    first, sid = Sessions(tmp_path), new_session_id()
    first.get(sid).do(OpenSample("emoji"))
    second = Sessions(tmp_path)
    with pytest.raises(InUse):
        second.get(sid)
    assert second.find(sid) is None
    first.close()
    assert second.get(sid).state.data is not None


def test_restart_interrupts_job(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(StartJob("j1", "PCA", {"method": "pca"}))
    for _ in range(2):
        sessions.close()
        workspace = sessions.get(sid)
        pending = workspace.state.pending
        assert pending is not None
        assert (pending.job, pending.outcome, pending.note) == (
            "j1",
            "interrupted",
            {"method": "pca"},
        )
        assert "stopped" in pending.message
    # It is written down once, not at every start.
    assert [entry["op"] for entry in workspace.log] == ["start-job", "end-job"]
    workspace.do(EndJob("j1"))
    sessions.close()
    assert sessions.get(sid).state.pending is None


def test_concurrent_get_shares_workspace(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(SetTitle("Mine"))
    sessions.close()
    result = []
    threads = [threading.Thread(target=lambda: result.append(sessions.find(sid))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert result[0] is not None
    assert len(set(map(id, result))) == 1


def test_home_is_platform_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path / "mine"))
    assert home() == tmp_path / "mine"
    monkeypatch.delenv("HETVIZ_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert home() == tmp_path / "data" / "hetviz"
    for odd in ("", "not/absolute"):
        monkeypatch.setenv("XDG_DATA_HOME", odd)
        assert home() == tmp_path / ".local" / "share" / "hetviz"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert home() == tmp_path / "Library" / "Application Support" / "hetviz"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert home() == tmp_path / "local" / "hetviz"


def test_sessions_folder_is_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path / "home"))
    sessions, sid = Sessions(), new_session_id()
    assert sessions.is_durable
    sessions.get(sid).do(OpenSample("emoji"))
    for folder in ("home", "home/sessions", f"home/sessions/{sid}"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700


def test_read_only_home_is_not_durable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path / "file"))
    sessions = Sessions()
    assert not sessions.is_durable
    sessions.get(new_session_id()).do(OpenSample("emoji"))
    assert "cannot be saved" in caplog.text


def test_logs_have_no_session_ids(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    sessions, sid = Sessions(tmp_path), new_session_id()
    workspace = sessions.get(sid)
    with pytest.raises(HetvizError):
        workspace.do(OpenSample("atlantis"))
    workspace.do(OpenSample("emoji"))
    workspace.set_view_state(selection=[0])
    sessions.close()
    (tmp_path / sid / "journal.jsonl").write_bytes(b"junk\n")
    with pytest.raises(HetvizError) as caught:
        sessions.get(sid)
    assert sid not in caplog.text + str(caught.value)


def aged(folder: Path, days: float) -> None:
    then = time.time() - days * 86_400
    for path in (*folder.iterdir(), folder):
        os.utime(path, (then, then))


@pytest.mark.parametrize(
    ("work", "days", "gone"),
    [
        ("none", 31, True),
        ("none", 29, False),
        ("title", 31, False),
        ("undo", 31, False),
        ("other opening", 31, False),
        ("glance", 31, True),
        ("damaged", 31, False),
        ("torn", 31, True),
        ("open elsewhere", 31, False),
    ],
)
def test_old_empty_sessions_are_removed(tmp_path: Path, work: str, days: float, gone: bool) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(OpenSample("emoji"))
    if work == "title":
        workspace.do(SetTitle("Mine"))
    elif work == "undo":
        workspace.undo()
    elif work == "other opening":
        workspace.do(OpenSample("digits"))
    elif work == "glance":
        workspace.set_view_state(selection=[1])
    if work != "open elsewhere":
        sessions.close()
    path = tmp_path / sid / "journal.jsonl"
    if work == "damaged":
        path.write_bytes(b'{"format": 1}\n\x00\x00\n')
    if work == "torn":
        path.write_bytes(path.read_bytes()[:20])
    other = tmp_path / "not-a-session"
    other.mkdir()
    aged(tmp_path / sid, days)
    aged(other, 99)
    assert remove_unused_sessions(tmp_path) == gone
    assert (tmp_path / sid).exists() is not gone
    assert other.exists()


def test_clean_up_is_no_use(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(SetTitle("Mine"))
    sessions.close()
    aged(tmp_path / sid, 99)
    before = (tmp_path / sid / "journal.jsonl").stat().st_mtime
    assert remove_unused_sessions(tmp_path) == 0
    assert (tmp_path / sid / "journal.jsonl").stat().st_mtime == before


def test_visited_session_stays(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(OpenSample("emoji"))
    sessions.close()
    aged(tmp_path / sid, 31)
    sessions.get(sid)
    sessions.close()
    assert remove_unused_sessions(tmp_path) == 0


def test_old_sessions_are_removed_at_start(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(OpenSample("emoji"))
    sessions.close()
    aged(tmp_path / sid, 31)
    assert Sessions(tmp_path).find(sid) is None
    assert list(tmp_path.iterdir()) == []


def test_idle_sessions_are_closed_and_restored(tmp_path: Path) -> None:
    sessions, retained, left = Sessions(tmp_path), new_session_id(), new_session_id()
    for sid, title in ((retained, "Kept"), (left, "Left")):
        sessions.get(sid).do(SetTitle(title))
    first = sessions.get(left)
    assert sessions.close_idle(after=3600.0) == []
    sessions._slots[left].last_used -= 7200.0
    assert sessions.close_idle(after=3600.0) == [left]
    again = sessions.get(left)
    assert again is not first
    assert again.state.title == "Left"
    assert again.undo_name == first.undo_name


def test_session_with_job_stays_open(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(StartJob("j1", "PCA", {"method": "pca"}))
    assert sessions.close_idle(after=-1.0) == []
    workspace.do(EndJob("j1"))
    assert sessions.close_idle(after=-1.0) == [sid]


def test_memory_sessions_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    sessions, sid = Sessions(tmp_path / "file" / "sessions"), new_session_id()
    sessions.get(sid).do(SetTitle("Mine"))
    assert not sessions.is_durable
    assert sessions.close_idle(after=-1.0) == []


def test_project_restored_under_a_running_server_is_read_again(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path / "live"), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(OpenSample("emoji"))
    shutil.copytree(tmp_path / "live" / sid, tmp_path / "backup")
    workspace.do(SetTitle("After the backup"))
    shutil.rmtree(tmp_path / "live" / sid)
    shutil.copytree(tmp_path / "backup", tmp_path / "live" / sid)
    # Whoever still holds the earlier one is refused.
    with pytest.raises(ReplacedError):
        workspace.do(SetTitle("Into a deleted file"))
    assert workspace.state.title == "After the backup"
    again = sessions.get(sid)
    assert again.pop_notes() == [READ_AGAIN]
    assert again.state.title == EMOJI
    again.do(SetTitle("Goes on"))
    sessions.close()
    assert Sessions(tmp_path / "live").get(sid).state.title == "Goes on"


def test_step_into_a_deleted_project_is_refused(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(OpenSample("emoji"))
    shutil.rmtree(tmp_path / sid)
    for _ in range(2):
        with pytest.raises(ReplacedError, match="deleted"):
            sessions.get(sid).do(SetTitle("Lost"))
    assert sessions.get(sid).state.title == EMOJI
    assert not (tmp_path / sid).exists()


def test_incomplete_last_line_is_told(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(OpenSample("emoji"))
    sessions.close()
    with (tmp_path / sid / JOURNAL).open("ab") as file:
        file.write(b'{"op": "set-ti')
    workspace = Sessions(tmp_path).get(sid)
    assert workspace.pop_notes() == [CUT]
    assert workspace.state.title == EMOJI


def test_remains_of_killed_writes_are_removed(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path), new_session_id()
    sessions.get(sid).do(OpenSample("emoji"))
    key = sessions.get(sid).blobs.put(b"an upload")
    sessions.close()
    remains = []
    for place in ("", BLOBS, READ):
        (tmp_path / sid / place).mkdir(exist_ok=True)
        remains.append(tmp_path / sid / place / "tmpq1w2e3")
    for path in remains:
        path.write_bytes(b"half")
        os.utime(path, (0, time.time() - 10**6))
    being_written = tmp_path / sid / "tmpnew"
    being_written.write_bytes(b"half")
    os.utime(being_written, (0, time.time() + 60))
    Sessions(tmp_path).get(sid)
    assert [path.exists() for path in remains] == [False] * 3
    assert being_written.exists() and (tmp_path / sid / BLOBS / key).exists()


@pytest.mark.parametrize("jump_s", [-40 * 86_400, 40 * 86_400, 10**9])
def test_clock_jump_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    sessions, sid, now = Sessions(tmp_path), new_session_id(), time.time()
    workspace = sessions.get(sid)
    workspace.do(OpenSample("emoji"))
    workspace.do(SetTitle("Before"))
    monkeypatch.setattr(time, "time", lambda: now + jump_s)
    workspace.do(SetTitle("After"))
    sessions.close()
    again = Sessions(tmp_path)
    assert again.get(sid).state.title == "After"
    assert again.get(sid).undo_name == "project name"
    assert again.get(sid).undo().title == "Before"
    again.close()
    monkeypatch.setattr(time, "time", lambda: now)
    assert Sessions(tmp_path).get(sid).state.title == "Before"

"""Tests of server start and idle work."""

from __future__ import annotations

import asyncio
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from hetviz.ui.app import lifespan
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.map_data.array_cache import ARRAYS, PackedArray, send_array
from hetviz.ui.shell import background
from hetviz.workspace import Sessions, SetTitle
from hetviz.workspace.store.files import new_session_id
from tests.browser.harness import ROOT
from tests.inline_runner import InlineRunner
from tests.jobs.chores import chore

IDLE_S = 1000.0


def test_uploads_of_closed_tabs_are_freed_within_two_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    events: list[object] = []

    async def sleep(seconds: float) -> None:
        events.append(seconds)
        if len(events) > 2:
            raise asyncio.CancelledError

    def release() -> int:
        events.append("released")
        return 0

    monkeypatch.delenv("HETVIZ_REST_AFTER_S", raising=False)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(lifespan, "release_closed_tabs", release)
    monkeypatch.setattr(lifespan, "_drop_closed_tabs", lambda: 0)
    monkeypatch.setattr(lifespan, "free_memory", lambda after, freed: None)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(lifespan.free_memory_periodically())
    pause, act, _ = events
    assert act == "released"
    assert settings["server"]["disconnectedSessionTTL"] + pause <= 120


def test_closed_session_drops_finished_jobs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sessions, runner = Sessions(tmp_path), InlineRunner()
    monkeypatch.setattr(lifespan, "SESSIONS", sessions)
    monkeypatch.setattr(JOBS, "runner", runner)
    left, here = new_session_id(), new_session_id()
    array = PackedArray.pack(np.zeros(4), "<f4")
    for id in (left, here):
        sessions.get(id).do(SetTitle("Kept"))
        send_array(id, array)
        monkeypatch.setitem(background._PREVIEWS, id, ("mark", None))
        runner.submit(id, "Doubled", chore("double", value=2))
    later = time.monotonic() + IDLE_S
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert sessions.get(here).state.title == "Kept"
    lifespan.free_memory(IDLE_S)
    for id, n in ((left, 0), (here, 1)):
        assert len(runner.jobs(id)) == n
        assert (id in background._PREVIEWS) == bool(n)
        assert (ARRAYS.get(id, array.key) is not None) == bool(n)
    ARRAYS.clear(here)
    # Stored projects open again.
    assert sessions.n_open == 1
    assert sessions.get(left).state.title == "Kept"
    sessions.close()

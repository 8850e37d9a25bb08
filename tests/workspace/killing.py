"""A process that edits a project until it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from hetviz.workspace import Sessions, SetTitle
from hetviz.workspace.sessions import new_session_id

ROOT = Path(__file__).resolve().parents[2]


def edit_forever(folder: str, sid: str) -> None:
    """Rename the project again and again; each name is printed once it is acknowledged."""
    workspace = Sessions(Path(folder)).get(sid)
    number = workspace.version
    while True:
        number += 1
        workspace.do(SetTitle(f"edit {number}"))
        # A pipe has the words as soon as they are written, whatever becomes of the writer.
        os.write(1, f"{number}\n".encode())


def run_killed_rounds(folder: Path, rounds: int, seed: int) -> int:
    """Kill an editing process -9 at random moments, each going on where the last ended.

    After each the project must hold all that was acknowledged, and at most the one edit more that
    was on its way. Returns the number of edits acknowledged.
    """
    rng, sid, n = np.random.default_rng(seed), new_session_id(), 0
    for _ in range(rounds):
        command = [sys.executable, "-m", "tests.workspace.killing", str(folder), sid]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as editor:
            assert editor.stdout is not None
            for _ in range(int(rng.integers(1, 60))):
                last = int(editor.stdout.readline())
            editor.kill()
            messages = [last, *map(int, editor.stdout.read().split())]
        sessions = Sessions(folder)
        workspace = sessions.get(sid)
        assert workspace.notes == []
        assert workspace.version in (messages[-1], messages[-1] + 1)
        titles = [entry["title"] for entry in workspace.log]
        assert titles == [f"edit {k}" for k in range(1, workspace.version + 1)]
        assert workspace.state.title == titles[-1]
        n = workspace.version
        sessions.close()
    return n


if __name__ == "__main__":
    edit_forever(*sys.argv[1:])

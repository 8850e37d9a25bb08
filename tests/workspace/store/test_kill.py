"""Test that acknowledged edits survive a killed process."""

from __future__ import annotations

from pathlib import Path

from tests.workspace.killing import run_killed_rounds


def test_acknowledged_edits_survive_a_killed_process(tmp_path: Path) -> None:
    assert run_killed_rounds(tmp_path, rounds=2, seed=0) >= 2

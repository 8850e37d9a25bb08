"""Test of many killed processes on one growing project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.killing import run_killed_rounds


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(4))
def test_acknowledged_edits_survive_fifty_kills(tmp_path: Path, seed: int) -> None:
    assert run_killed_rounds(tmp_path, rounds=50, seed=seed) >= 50

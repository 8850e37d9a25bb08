"""Tests of twenty random faults of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lasting.faults import KINDS, moments


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_acknowledged_steps_survive_twenty_faults(kind: str, tmp_path: Path) -> None:
    tally = moments(tmp_path, kind, n=20, seed=2)
    print(f"\n{kind}: {tally}")
    assert tally.lost == 0
    assert tally.faults == 20

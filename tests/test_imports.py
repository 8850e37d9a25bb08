"""Tests that `import hetviz` loads no heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("streamlit", "plotly", "matplotlib", "numba", "torch")


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after the statement."""
    script = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_import_loads_nothing_heavy() -> None:
    modules = loaded_by("import hetviz")
    assert "hetviz" in modules
    assert modules.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", ["plotly"])
def test_probe_sees_a_heavy_module(name: str) -> None:
    assert name in loaded_by(f"import {name}")

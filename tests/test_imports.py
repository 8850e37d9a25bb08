"""Tests that `import hetviz` and what needs no heavy libraries load none."""

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


SLOW = ("umap", "lightgbm", "streamlit", "starlette", "plotly")
# Each with the slow libraries that it loads.
STEPS: tuple[tuple[str, list[str]], ...] = (
    ("hetviz.methods()", []),
    ("hetviz.embed(HeteroData([table]))", []),
    ("hetviz.embed(linked, 'umap', n_epochs=10)", []),
    ("m = hetviz.embed(items, 'pca'); m._repr_mimebundle_(); m.widget()", []),
    ("import hetviz.exports.report", []),
    ("hetviz.embed(items, 'gbc', n_rounds=1)", ["lightgbm"]),
)
DATA = """
import json, sys
import numpy as np
import hetviz
from hetviz import Dataset, HeteroData, Labels, Links
X = np.random.default_rng(0).normal(size=(60, 3))
table = Dataset("items", [str(k) for k in range(60)], X)
items = HeteroData([table], labels=[Labels("items", "kind", ["a", "b"] * 30)])
linked = HeteroData([table, Dataset("b", ["x"])], [Links("items", "b", range(5), [0] * 5)])
loaded = []
"""


def test_slow_libraries_are_loaded_only_if_needed() -> None:
    note = f"loaded.append([name for name in {SLOW} if name in sys.modules])"
    lines = [line for step, _ in STEPS for line in (step, note)]
    script = "\n".join([DATA, *lines, "print(json.dumps(loaded))"])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [expected for _, expected in STEPS]

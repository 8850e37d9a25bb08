"""The steps of CONTRIBUTING for a new method, run literally."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SCRIPT = """
import hetviz, numpy as np
from hetviz import Dataset, HeteroData
assert "at-random" in [card.key for card in hetviz.methods()]
data = HeteroData([Dataset("a", ["x", "y"]), Dataset("b", ["z"])])
method = hetviz.get_method("at-random")
wide, narrow = method(spread=2.0, random_state=4), method(random_state=4)
Y, Z = (one.fit(data).embedding_.stacked() for one in (wide, narrow))
np.testing.assert_allclose(Y, 2.0 * Z)
assert method.params["spread"].describe_allowed() == "a number from 0 to 100"
assert "spread : a number from 0 to 100, default 1.0" in method.__doc__
assert "at-random" in [verdict.card.key for verdict in hetviz.suggest(data)]
print("added")
"""


def test_copying_the_template_adds_a_method(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "hetviz", tmp_path / "hetviz", ignore=shutil.ignore_patterns("ui"))
    folder = tmp_path / "hetviz" / "algorithms"
    text = (folder / "_template.py").read_text(encoding="utf-8")
    text = text.replace('key="template"', 'key="at-random"').replace("class Template", "class Mine")
    (folder / "at_random.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "added", done.stderr

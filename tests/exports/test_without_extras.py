"""Test of the library without the packages of its extras."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import json, sys
for name in ("matplotlib", "duckdb", "pyreadstat"):
    sys.modules[name] = None  # Python answers as if it were not installed.
import hetviz
from hetviz.errors import MissingExtraError
from hetviz.io.formats.databases import read_duckdb
from hetviz.io.formats.registry import format_by_extension
from hetviz.io.infer.parsed import Choices

data = hetviz.load("digit-views")
m = hetviz.embed(data, "pca")
hetviz.export(data, m, "map.html")
hetviz.export(data, m, "coordinates.csv")
refused = {}
def attempt(name, act):
    try:
        act()
    except MissingExtraError as error:
        refused[name] = str(error)
attempt("figure", lambda: hetviz.export(data, m, "map.pdf"))
attempt("report", lambda: hetviz.write_report(data, m, "report.html"))
attempt("duckdb", lambda: read_duckdb("t.duckdb", b"", Choices()))
attempt("sav", lambda: format_by_extension("t.sav").read("t.sav", b"", Choices()))
print(json.dumps(refused))
"""


def test_missing_packages_are_named_with_their_extra(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SCRIPT]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "figure": "A figure for print needs an optional package: pip install 'hetviz[figures]'.",
        "report": "A figure for print needs an optional package: pip install 'hetviz[figures]'.",
        "duckdb": "Reading DuckDB databases needs an optional package: "
        "pip install 'hetviz[files]'.",
        "sav": "Reading files of SPSS needs an optional package: pip install 'hetviz[files]'.",
    }
    assert {path.name for path in tmp_path.iterdir()} >= {"map.html", "coordinates.csv"}

"""Test of the library and the command line without what Windows lacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_library_and_command_line_need_nothing_of_unix(tmp_path: Path) -> None:
    steps = Path(__file__).with_name("steps.py")
    command = [sys.executable, str(steps), str(tmp_path), "--as-windows"]
    # joblib asks Windows for the number of cores.
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), "LOKY_MAX_CPU_COUNT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("The app and the server need Linux or macOS") == 2

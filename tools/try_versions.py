"""Tests of the library with the lowest or the newest supported packages.

``python tools/try_versions.py lowest`` makes an environment in build/, or where ``--folder`` says,
with the Python that runs this, installs hetviz with every package at the lower bound of
pyproject.toml, and runs the tests of the engine; ``newest`` takes the newest releases within the
bounds. ``--extra NAME`` (several times) adds optional parts, ``--tests PATH`` (several times)
chooses tests. What was installed is printed. ``--beside PACKAGE`` (several times) installs others
with it, such as scanpy, and runs no tests of ours: it prints the versions they agree on, and
whether each gets what it asks for.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    *(f"tests/{part}" for part in ("core", "data", "features", "io", "metrics", "algorithms")),
    *("tests/runs", "tests/exports", "tests/test_public_api.py", "tests/cli/test_light.py"),
)
NEEDED = ("pytest>=9", "pytest-timeout", "hypothesis", "polars", "networkx", "h5py")
# Tests hold our own layouts and solvers against these.
NEEDED += ("cvxpy", "clarabel", "opentsne")


def lowest(requirements: list[str]) -> list[str]:
    """Return each requirement pinned to its lower bound."""
    result = []
    for requirement in requirements:
        name, bound = re.match(r"([\w-]+)[^=]*?[>=]=([\w.]+)", requirement).groups()  # type: ignore[union-attr]
        result.append(f"{name}=={bound}")
    return result


def main() -> int:
    """Install and test."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=("lowest", "newest"))
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--tests", action="append", default=[])
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--folder", type=Path)
    inputs = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    # Tests of formats and figures need them.
    for extra in ("figures", "files", *inputs.extra):
        wanted += project["optional-dependencies"][extra]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = inputs.folder or ROOT / "build" / f"try-{inputs.which}-{version}"
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    python = folder / "bin" / "python"
    pins = lowest(wanted) if inputs.which == "lowest" else wanted
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    others = inputs.beside or NEEDED
    subprocess.run([*install, *pins, *others], check=True)
    subprocess.run([python, "-m", "pip", "list", "--disable-pip-version-check"], check=True)
    if inputs.beside:
        return subprocess.run([python, "-m", "pip", "check"], check=False).returncode
    # Old packages warn of what newer ones have changed; what is tried here is whether they work.
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default"]
    command += ["--confcutdir", ROOT, *(inputs.tests or TESTS)]
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **threads}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

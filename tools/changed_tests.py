"""Tests affected by changes since main, for `make quick`.

What has changed is what differs from the commit at which this branch left main (on main itself,
from the commit before), whether committed or not.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/test_layers.py",)


def changed() -> list[str]:
    """Return the changed files, relative to the repository."""
    here = _git("rev-parse", "HEAD")
    base = next((result for ref in ("main", "origin/main") if (result := _base(ref))), here)
    if base == here:
        base = _base("HEAD~1") or here
    listed = _git("diff", "--name-only", base), _git("ls-files", "--others", "--exclude-standard")
    return sorted({name for part in listed for name in part.splitlines()})


def tests_of(names: Iterable[str]) -> list[str]:
    """Return what to run for changed files: first tests of their own, then those of their rooms."""
    own_values: dict[str, None] = {}
    rooms: dict[str, None] = {}
    for name in names:
        path = Path(name)
        if path.suffix != ".py" or path.parts[0] not in ("hetviz", "tests", "pages"):
            continue
        if path.parts[0] == "tests":
            if path.name.startswith("test_"):
                own_values[name] = None
            elif len(path.parts) > 2:
                rooms[str(path.parent)] = None
            continue
        if path.parts[0] == "pages" or path.parts[1] == "ui":
            rooms["tests/app"] = None
            continue
        room = Path("tests", *path.parts[1:-1])
        own_values[str(room / f"test_{path.stem}.py")] = None
        # A room without tests of its own is tested by the one that it is in.
        while room != Path("tests") and not any((ROOT / room).rglob("test_*.py")):
            room = room.parent
        if room != Path("tests"):
            rooms[str(room)] = None
    wanted = [*ALWAYS, *own_values, *rooms]
    return [name for name in dict.fromkeys(wanted) if (ROOT / name).exists()]


def _base(ref: str) -> str:
    return _git("merge-base", "HEAD", ref)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    print(*tests_of(changed()))

"""Writing of export files."""

from __future__ import annotations

from pathlib import Path

from hetviz.io import gate


def write_file(path: str | Path, content: bytes, make_folder: bool = True) -> Path:
    """Write a file, and create its folder if wanted."""
    target = gate.target_path(path)
    with gate.refusing_write(path):
        if make_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return target

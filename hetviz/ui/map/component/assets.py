"""Files of the component for the browser, addressed by a hash so that they can be cached."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from hetviz.plots.points import read_modules

_FOLDER = Path(__file__).parent / "assets"
_MEDIA = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@functools.cache
def _files() -> dict[str, tuple[bytes, str]]:
    own_files = {
        path.name: (path.read_bytes(), _MEDIA[path.suffix])
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in _MEDIA
    }
    shared = {name: (text.encode("utf-8"), _MEDIA[".js"]) for name, text in read_modules().items()}
    return own_files | shared


@functools.cache
def asset_version() -> str:
    """Return the hash of all files, 16 characters, which is the folder in their address."""
    digest = hashlib.sha256()
    for name, (content, _) in _files().items():
        digest.update(f"{name}:{len(content)}:".encode() + content)
    return digest.hexdigest()[:16]


def asset_response(name: str) -> tuple[bytes, str] | None:
    """Return content and media type of a file, or None if there is no such file."""
    return _files().get(name)


def text_assets() -> dict[str, str]:
    """Return all files by name, as text."""
    return {name: content.decode("utf-8") for name, (content, _) in _files().items()}

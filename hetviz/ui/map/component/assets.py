"""The component's files for the browser, named by their content so that they can be kept."""

from __future__ import annotations

import functools
import hashlib
from importlib.metadata import version
from pathlib import Path

from hetviz.plots.points import modules

# Looked up once: while other visitors' pages start, the folders of packages are in motion.
PLOTLY = version("plotly")
_FOLDER = Path(__file__).parent / "assets"
_MEDIA = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@functools.cache
def _files() -> dict[str, tuple[bytes, str]]:
    own_files = {
        path.name: (path.read_bytes(), _MEDIA[path.suffix])
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in _MEDIA
    }
    shared = {name: (text.encode("utf-8"), _MEDIA[".js"]) for name, text in modules().items()}
    return own_files | shared


@functools.cache
def asset_version() -> str:
    """Return the hash of all files together, 16 characters: the folder in their address."""
    digest = hashlib.sha256()
    for name, (content, _) in _files().items():
        digest.update(f"{name}:{len(content)}:".encode() + content)
    return digest.hexdigest()[:16]


def asset_response(name: str) -> tuple[bytes, str] | None:
    """Return content and media type of a file, or None where there is no such file."""
    return _files().get(name)


def text_assets() -> dict[str, str]:
    """Return all files by name, as text."""
    return {name: content.decode("utf-8") for name, (content, _) in _files().items()}


def plotly_address() -> str:
    """Return where the page finds Plotly's script, relative to the app's root."""
    return f"hv/plotly.js?v={PLOTLY}"

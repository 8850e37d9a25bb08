"""Files of the component for the browser, addressed by a hash so that they can be cached."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from hetviz.plots.points import inline_modules, link_imports, read_modules, read_style

_FOLDER = Path(__file__).parent / "assets"
_ENTRY = "component.js"
_MEDIA = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".map": "application/json",
}


@functools.cache
def _files() -> dict[str, tuple[bytes, str]]:
    texts = text_assets()
    constants = inline_modules(texts[_ENTRY], texts)
    source_map = f"{_ENTRY}.map"
    script = [
        *constants.values(),
        link_imports(texts[_ENTRY]),
        f"//# sourceMappingURL={source_map}",
    ]
    served = texts | {_ENTRY: "".join(script), source_map: _source_map(constants)}
    return {
        name: (text.encode("utf-8"), _MEDIA[Path(name).suffix]) for name, text in served.items()
    }


def _source_map(constants: Mapping[str, str]) -> str:
    """Return the file and line of each line of the script, so that errors are found."""
    sections, line = [], 0
    for name, text in constants.items():
        n_lines = text.count("\n")
        file = {"version": 3, "names": [], "sources": [name]}
        # Each line of the script is the line after the one before.
        file["mappings"] = ";".join(["AAAA", *["AACA"] * (n_lines - 1)])
        sections.append({"offset": {"line": line, "column": 0}, "map": file})
        line += n_lines
    return json.dumps({"version": 3, "sections": sections})


@functools.cache
def asset_version() -> str:
    """Return the hash of all files, 16 characters, which is the folder in their address."""
    digest = hashlib.sha256()
    for name, (content, _) in _files().items():
        digest.update(f"{name}:{len(content)}:".encode() + content)
    return digest.hexdigest()[:16]


def asset_response(name: str) -> tuple[bytes, str] | None:
    """Return content and media type of a file, or None if there is no such file.

    `component.js` contains the modules that it imports, so that a page loads one script.
    """
    return _files().get(name)


@functools.cache
def text_assets() -> dict[str, str]:
    """Return all files by name, as text."""
    own_files = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in _MEDIA
    }
    own_files["map.css"] = read_style() + own_files["map.css"]
    return own_files | read_modules()

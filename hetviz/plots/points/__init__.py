"""What draws the points of a map in a browser: the same modules in the app, a notebook and a file.

``renderer.js`` draws by WebGL2 (``shaders.js``), ``flat_renderer.js`` without it; ``told.js`` is
what both are told and asked;
``point_index.js`` is the order in which points are drawn and found, ``view.js`` the camera.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"\./([\w-]+)\.js";\n', re.M)
_EXPORTED = re.compile(r"^export (?=(?:const|class|(?:async )?function) (\w+))", re.M)
_EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n", re.M)


@cache
def read_modules() -> dict[str, str]:
    """Return the files by name, as text."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.js"))}


def bundle_script(text: str) -> str:
    """Return a script with all modules that it imports within it.

    Parameters
    ----------
    text : str
        A module that imports names of those here, by ``import { a, b } from "./renderer.js";``.

    Returns
    -------
    str
        A module that imports nothing: what a page can hold that may ask for no file. Each module
        becomes a function of its own, so that equal names in two of them do not meet.
    """
    added: list[str] = []
    parts: list[str] = []

    def inline(source: str) -> str:
        for _, name in _IMPORT.findall(source):
            add_module(name)
        return _IMPORT.sub(
            lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = {found[2]}_js;\n", source
        )

    def add_module(name: str) -> None:
        if name in added:
            return
        added.append(name)
        source = inline(read_modules()[f"{name}.js"])
        list_names = ", ".join(one.strip() for one in _EXPORT_LIST.findall(source))
        names = ", ".join([*_EXPORTED.findall(source), *([list_names] if list_names else [])])
        body = _EXPORT_LIST.sub("", _EXPORTED.sub("", source))
        parts.append(f"const {name}_js = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n")

    body_text = inline(text)
    return "".join(parts) + body_text

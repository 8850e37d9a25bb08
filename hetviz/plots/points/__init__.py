"""JavaScript modules that draw the points of a map in the app, a notebook and an HTML file.

``renderer.js`` draws with WebGL2 (``shaders.js``), ``flat_renderer.js`` without it. Both extend
``renderer_base.js``. ``point_index.js`` orders and finds points, and ``view.js`` is the camera.
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
    """Return the text of each module by file name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.js"))}


def bundle_script(text: str) -> str:
    """Return a script with all imported modules inlined."""
    added: list[str] = []
    parts: list[str] = []

    def inline(source: str) -> str:
        for _, name in _IMPORT.findall(source):
            add_module(name)
        return _IMPORT.sub(
            lambda match: f"const {{{match[1].replace(' as ', ': ')}}} = {match[2]}_js;\n", source
        )

    def add_module(name: str) -> None:
        if name in added:
            return
        added.append(name)
        source = inline(read_modules()[f"{name}.js"])
        listed_names = ", ".join(name.strip() for name in _EXPORT_LIST.findall(source))
        names = ", ".join([*_EXPORTED.findall(source), *([listed_names] if listed_names else [])])
        body = _EXPORT_LIST.sub("", _EXPORTED.sub("", source))
        parts.append(f"const {name}_js = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n")

    body_text = inline(text)
    return "".join(parts) + body_text

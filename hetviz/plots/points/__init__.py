"""JavaScript modules that draw the points of a map in the app, a notebook and an HTML file.

``renderer.js`` draws with WebGL2 (``shaders.js``), ``flat_renderer.js`` without it. Both extend
``renderer_base.js``. ``point_index.js`` orders and finds points, ``view.js`` is the camera, and
``earth.js`` draws the land.
``charts_of_columns.js`` and ``scatter_chart.js`` draw charts next to a map, and
``crossfilter.js`` counts their items. ``row_grid.js`` shows items as a table, and ``presenter.js``
saved views with their sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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


@cache
def read_style() -> str:
    """Return the style sheets of charts and of presentations."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.css")))


def bundle_script(text: str) -> str:
    """Return a script with all imported modules inlined."""
    return "".join([*inline_modules(text, read_modules()).values(), link_imports(text)])


def inline_modules(text: str, modules: Mapping[str, str]) -> dict[str, str]:
    """Return the modules that a script needs as constants, by file name, imported ones first."""
    constants: dict[str, str] = {}

    def add_imports(source: str) -> None:
        for _, name in _IMPORT.findall(source):
            if f"{name}.js" not in constants:
                module = modules[f"{name}.js"]
                add_imports(module)
                constants[f"{name}.js"] = _constant(name, link_imports(module))

    add_imports(text)
    return constants


def link_imports(source: str) -> str:
    """Return a script with its imports replaced by the constants of `inline_modules`."""
    return _IMPORT.sub(
        lambda match: f"const {{{match[1].replace(' as ', ': ')}}} = {match[2]}_js;\n", source
    )


def _constant(name: str, source: str) -> str:
    listed_names = ", ".join(name.strip() for name in _EXPORT_LIST.findall(source))
    names = ", ".join([*_EXPORTED.findall(source), *([listed_names] if listed_names else [])])
    body = _EXPORT_LIST.sub("\n", _EXPORTED.sub("", source))
    return f"const {name}_js = (() => {{ {body}return {{ {names} }}; }})();\n"

"""The scripts of Streamlit that every page loads, as one file instead of some 80.

Streamlit's scripts are modules that import each other in one direction. Each becomes a function of
the joined file. A script that a page loads later takes what it imports from the joined file.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import re
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hetviz.memo import Memo
from hetviz.ui.map.map_requests import CACHE_FOREVER, REVALIDATE, RequestError
from hetviz.ui.map.routes import error_response, send_content

# In these versions no script changes what it exports once it has run, apart from parts that
# `_run_lazy_parts` runs. In any other version the pages load the scripts of Streamlit as they are.
_CHECKED_VERSIONS = ("1.67.0",)
# Elements of Start and of the map. Their scripts join those that the page names.
_ELEMENTS = ("BidiComponent", "Button", "FileUploader", "Html", "PageLink", "Selectbox", "Slider")

_JOINED = "streamlit.js"
_FOLDER = Path(st.__file__).parent / "static" / "static" / "js"
_IMPORT = re.compile(r'import(?:\{([^{}]*)\}from)?"\./([^"/]+\.js)";')
_DYNAMIC_IMPORT = re.compile(r"import\(`\./([^`/]+\.js)`\)")
_PRELOADED = re.compile(r'"\./([^"/]+\.js)"')
_EXPORT = re.compile(r"export\{([^{}]*)\};?\s*\Z")
_PAGE_SCRIPT = re.compile(
    rb'<script type="module" [^>]*src="\./static/js/([^"/]+\.js)"></script>|'
    rb'<link rel="modulepreload" [^>]*href="\./static/js/([^"/]+\.js)">'
)
_LATER_SCRIPTS = Memo(max_size=2.0**24, size_of=len)
_SCRIPT_TYPE = "text/javascript; charset=utf-8"


def routes() -> list[BaseRoute]:
    """Return the route of the scripts."""
    return [Route("/hv/script/{version}/{file}", _send_script)]


def join_scripts(page: bytes) -> bytes:
    """Return a page of Streamlit that loads the joined file, or the page as it is."""
    names = [(match[1] or match[2]).decode() for match in _PAGE_SCRIPT.finditer(page)]
    if not names or not is_joined() or not set(names) <= set(_joined_names()):
        return page
    address = f"./hv/script/{_version()}/{_JOINED}"
    joined = (
        f'<script type="module" crossorigin src="{address}"></script>'
        # Streamlit preloads no script that the head names.
        f'<link rel="modulepreload" crossorigin href="{address}">'
    ).encode()
    head, tag, rest = _PAGE_SCRIPT.sub(b"", page).partition(b"</head>")
    return head + joined + tag + rest


def is_joined() -> bool:
    """Return whether the scripts of the installed version can be joined."""
    return st.__version__ in _CHECKED_VERSIONS


def read_script(name: str) -> str | None:
    """Return the joined file or a script that is loaded later, or None if there is none."""
    if name == _JOINED:
        return _joined_text()
    path = _FOLDER / name
    if path.parent != _FOLDER or not path.is_file() or name in _joined_names():
        return None
    text, n_imports = _link_imports(path.read_text(encoding="utf-8"))
    return f'import{{scripts as $scripts}}from"./{_JOINED}";{text}' if n_imports else text


def _send_script(request: Request) -> Response:
    name = request.path_params["file"]
    is_current = is_joined() and request.path_params["version"] == _version()
    packed = _LATER_SCRIPTS.get(None, name)
    if packed is None:
        text = read_script(name) if is_joined() else None
        if text is None:
            return error_response(RequestError())
        packed = gzip.compress(text.encode(), 6, mtime=0)
        _LATER_SCRIPTS.put(None, name, packed)
    plain = b"" if "gzip" in request.headers.get("Accept-Encoding", "") else gzip.decompress(packed)
    caching = CACHE_FOREVER if is_current else REVALIDATE
    return send_content(request, plain, packed, _SCRIPT_TYPE, caching)


@functools.cache
def _version() -> str:
    return hashlib.sha256(_joined_text().encode()).hexdigest()[:16]


@functools.cache
def _joined_names() -> dict[str, str]:
    """Return the text of each joined script by name, imported ones first."""
    page = (_FOLDER.parents[1] / "index.html").read_bytes()
    wanted = [(match[1] or match[2]).decode() for match in _PAGE_SCRIPT.finditer(page)]
    wanted += [path.name for name in _ELEMENTS for path in sorted(_FOLDER.glob(f"{name}.*.js"))]
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in texts:
            text = (_FOLDER / name).read_text(encoding="utf-8")
            for _, imported in _IMPORT.findall(text):
                add(imported)
            texts[name] = text

    for name in wanted:
        add(name)
    return texts


@functools.cache
def _joined_text() -> str:
    functions = (_function(name, text) for name, text in _joined_names().items())
    return f"export const scripts={{}};const $scripts=scripts;\n{''.join(functions)}"


def _function(name: str, text: str) -> str:
    body, n_exports = _EXPORT.subn(
        lambda match: f"{_run_lazy_parts(text, match[1])}return{{{_pairs(match[1], swap=True)}}}",
        _link_imports(text)[0],
    )
    if n_exports != 1:
        raise ValueError(f"script {name} of Streamlit has no list of exports at its end")
    return f'$scripts["{name}"]=(()=>{{{body}\n}})();\n'


def _run_lazy_parts(text: str, exports: str) -> str:
    """Return calls of the exported functions that set other exports at their first call."""
    helper = re.match(r'import\{[^{}]*\bn as ([\w$]+)[^{}]*\}from"\./rolldown-runtime\.', text)
    if helper is None:
        return ""
    names = (pair.partition(" as ")[0] for pair in exports.split(","))
    return (
        "".join(
            f";{name}()"
            for name in names
            if re.search(rf"[ ,;]{re.escape(name)}={re.escape(helper[1])}\(\(\(\)=>", text)
        )
        + ";"
    )


def _link_imports(text: str) -> tuple[str, int]:
    """Return a script that takes its imports from the joined file, and the number of these."""
    joined, n_imports = _joined_names(), 0

    def link(match: re.Match[str]) -> str:
        nonlocal n_imports
        if match[2] not in joined:
            return match[0]
        n_imports += 1
        names = _pairs(match[1] or "")
        return f'const{{{names}}}=$scripts["{match[2]}"];' if names else ""

    def link_later(match: re.Match[str]) -> str:
        nonlocal n_imports
        if match[1] not in joined:
            return match[0]
        n_imports += 1
        return f'Promise.resolve($scripts["{match[1]}"])'

    text = _DYNAMIC_IMPORT.sub(link_later, _IMPORT.sub(link, text))
    # What remains are addresses of scripts to preload, and files of other folders.
    text = _PRELOADED.sub(lambda match: f'"./{_JOINED}"' if match[1] in joined else match[0], text)
    return re.sub(r'(["`])\.\./(css|media)/', r"\1../../../static/\2/", text), n_imports


def _pairs(names: str, swap: bool = False) -> str:
    """Return a list such as `a as b, c` as the pairs of an object, `a:b,c`."""
    pairs = (pair.strip().split(" as ") for pair in names.split(",") if pair.strip())
    return ",".join(":".join(reversed(pair) if swap else pair) for pair in pairs)

"""Tests of the scripts of Streamlit in one file."""

from __future__ import annotations

import gzip
import re
from importlib import resources

import pytest
import streamlit as st
from starlette.applications import Starlette

from hetviz.ui.app import joined_scripts
from hetviz.ui.app.joined_scripts import is_joined, join_scripts, read_script
from tests.serve.asgi import ask

pytestmark = pytest.mark.skipif(st.__version__ < "1.67", reason="scripts of 1.66 are not joined")
PAGE = resources.files("streamlit").joinpath("static", "index.html").read_bytes()
SCRIPTS = resources.files("streamlit").joinpath("static", "static", "js")


def address() -> str:
    """Return the address of the joined file."""
    found = re.search(rb'src="\.(/hv/script/\w+/streamlit\.js)"', join_scripts(PAGE))
    assert found is not None
    return found[1].decode()


def later_script(start: str) -> str:
    """Return the name of a script that no page loads at first."""
    return next(file.name for file in SCRIPTS.iterdir() if file.name.startswith(f"{start}."))


def joined_names() -> set[str]:
    """Return the names of the joined scripts."""
    return set(re.findall(r'^\$scripts\["([^"]+)"\]=', read_script("streamlit.js") or "", re.M))


def test_scripts_of_installed_version_are_joined() -> None:
    """After an update of Streamlit, look for exports that change later, and add the version."""
    assert is_joined()


def test_page_loads_one_script() -> None:
    page = join_scripts(PAGE).decode()
    assert page.count("<script") == PAGE.count(b"<script")
    assert re.findall(r'<script type="module"[^>]* src="\.([^"]+)"', page) == [address()]
    assert re.findall(r'<link rel="modulepreload"[^>]* href="\.([^"]+)"', page) == [address()]
    assert "/static/js/" not in page
    # All else is as it was.
    assert page.count("\n") <= PAGE.count(b"\n")
    assert '<div id="root"></div>' in page


def test_joined_file_has_all_scripts_of_page_in_order() -> None:
    text = read_script("streamlit.js") or ""
    named = set(re.findall(r"static/js/([^\"]+\.js)", PAGE.decode()))
    assert named < joined_names()
    assert {name.split(".")[0] for name in joined_names() - named} >= {"BidiComponent", "Html"}
    # No script is used before it has run, and none is loaded from elsewhere.
    seen: set[str] = set()
    for line in text.split("\n$scripts[")[1:]:
        head, _, body = line.partition("]=")
        assert set(re.findall(r'\}=\$scripts\["([^"]+)"\];', body)) <= seen
        seen.add(head.strip('"'))
    assert re.search(r'import\{[^}]*\}from"', text) is None


def test_parts_that_set_exports_later_have_run() -> None:
    """A script takes the values of what it imports once, so that all must be set by then."""
    text = read_script("streamlit.js") or ""
    found = re.search(r'\$scripts\["space-separated-tokens\.[^\n]*', text)
    assert found is not None
    ended = re.search(r";((?:[\w$]+\(\);)+)return\{", found[0])
    assert ended is not None
    assert ended[1].count("()") == 6


def test_later_script_takes_imports_from_joined_file() -> None:
    name = later_script("TextInput")
    text, plain = read_script(name) or "", (SCRIPTS / name).read_text(encoding="utf-8")
    imported = set(re.findall(r'import\{[^}]*\}from"\./([^"]+)"', plain))
    assert imported & joined_names()
    assert set(re.findall(r'\}=\$scripts\["([^"]+)"\]', text)) == imported & joined_names()
    rest = set(re.findall(r'import\{[^}]*\}from"\./([^"]+)"', text))
    assert rest == (imported - joined_names()) | {"streamlit.js"}
    assert rest


def test_files_of_other_folders_are_found() -> None:
    text = read_script(later_script("Snow")) or ""
    assert "`../../../static/media/flake-0." in text
    assert "`../media/" not in text


def test_scripts_are_sent_compressed_and_kept() -> None:
    app = Starlette(routes=joined_scripts.routes())
    packed = ask(app, address(), {"Accept-Encoding": "gzip"})
    assert packed.status == 200
    assert gzip.decompress(packed.body).decode() == read_script("streamlit.js")
    assert packed.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in packed.headers["cache-control"]
    plain = ask(app, address(), {"Accept-Encoding": "identity"})
    assert plain.body == gzip.decompress(packed.body)
    # A page of an older version gets the newer file, but must not cache it.
    old = ask(app, address().replace("/script/", "/script/0"), {"Accept-Encoding": "gzip"})
    assert old.body == packed.body
    assert "immutable" not in old.headers["cache-control"]


@pytest.mark.parametrize("name", ["missing.js", "..", "", "index.html"])
def test_other_files_are_not_sent(name: str) -> None:
    folder = address().rpartition("/")[0]
    assert ask(Starlette(routes=joined_scripts.routes()), f"{folder}/{name}").status == 404


def test_joined_script_is_not_sent_alone() -> None:
    """It would run twice."""
    assert read_script(min(joined_names())) is None


def test_scripts_of_another_version_are_loaded_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(st, "__version__", "1.67.99")
    assert join_scripts(PAGE) == PAGE

"""The widget's code for the browser: the files of the map's component as they are, in one text."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from hetviz.ui.map.component.assets import asset_version, text_assets

_HERE = Path(__file__).parent


@cache
def script() -> str:
    """Return the module that anywidget loads."""
    files = {name: text for name, text in text_assets().items() if name.endswith(".js")}
    # "</" would end the script of a page that a notebook is exported to.
    modules = json.dumps(files).replace("</", "<\\/")
    own = (_HERE / "widget.js").read_text(encoding="utf-8")
    return f"const VERSION = {json.dumps(asset_version())};\nconst MODULES = {modules};\n{own}"


@cache
def style() -> str:
    """Return the style sheet of the map, and what it needs outside the app."""
    own = (_HERE / "widget.css").read_text(encoding="utf-8")
    return text_assets()["map.css"] + own

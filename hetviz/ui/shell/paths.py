"""Paths of the app's files, in a clone and in an installed package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]
_SOURCE_PAGES = _PACKAGE.parent / "pages"

ROUTER = _PACKAGE / "ui" / "app" / "router.py"
PAGES = _SOURCE_PAGES if (_PACKAGE.parent / "app.py").exists() else _PACKAGE / "pages"
ICON = _PACKAGE / "ui" / "assets" / "icon.png"
CSS = _PACKAGE / "ui" / "assets" / "theme.css"

FIRST_SAMPLE = "emoji"

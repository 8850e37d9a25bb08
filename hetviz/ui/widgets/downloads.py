"""Buttons that make a file when they are pressed, and hand it over."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from hetviz.errors import HetvizError
from hetviz.ui.shell import session, theme

_TYPES = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "html": "text/html",
    "csv": "text/csv",
    "parquet": "application/octet-stream",
    "zip": "application/zip",
    # As a zip, some browsers would unpack it on arrival.
    "hetviz": "application/octet-stream",
}


def button(label: str, name: str, make: Callable[[], object], tip: str | None = None) -> None:
    """Show a button that makes a file and hands it over; why it could not is told."""
    tell = session.teller()

    def made() -> Any:
        try:
            return make()
        except HetvizError as error:
            tell(str(error))
            raise

    st.download_button(
        theme.plain(label),
        data=made,
        file_name=name,
        mime=_TYPES[name.rpartition(".")[2]],
        help=tip,
        on_click="ignore",
        key=f"download-{label}-{name}",
    )


def stem_of(title: str) -> str:
    """Return a plain name for files."""
    words = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")
    return words[:40].strip("-_") or "hetviz"

"""Download buttons whose file is made when they are pressed."""

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
    # With a zip type some browsers would unpack it.
    "hetviz": "application/octet-stream",
    "hetviz-model": "application/octet-stream",
}


def download_button(
    label: str,
    name: str,
    make: Callable[[], object],
    help_text: str | None = None,
    *,
    is_main: bool = False,
) -> None:
    """Show a button that makes and downloads a file, or reports why it could not.

    `is_main`: the first choice of the page, as wide as there is space.
    """
    report = session.late_messenger()

    def file_content() -> Any:
        try:
            return make()
        except HetvizError as error:
            report(str(error))
            raise

    st.download_button(
        theme.escape_markdown(label),
        data=file_content,
        file_name=name,
        mime=_TYPES[name.rpartition(".")[2]],
        help=help_text,
        on_click="ignore",
        type="primary" if is_main else "secondary",
        width="stretch" if is_main else "content",
        key=f"download-{label}-{name}",
    )


def stem_of(title: str) -> str:
    """Return a title as a file name without extension."""
    words = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")
    return words[:40].strip("-_") or "hetviz"

"""Error messages of failed background work, with a "Try again" button."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import theme


@contextmanager
def show_failure(key: str) -> Iterator[None]:
    """Replace the rest of the block with an error message if background work failed."""
    try:
        yield
    except worker_results.WorkerError as failed:
        st.error(
            theme.escape_markdown(f"{failed.activity} failed: {failed.reason}"),
            icon=":material/error:",
        )
        st.button("Try again", key=f"again-{key}", on_click=failed.retry)

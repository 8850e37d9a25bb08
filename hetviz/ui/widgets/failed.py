"""What a worker could not find out, told where it would stand, with *Try again*."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from hetviz.ui.map import away
from hetviz.ui.shell import theme


@contextmanager
def told(place: str) -> Iterator[None]:
    """Draw what is within; where something failed in a worker, say so instead of the rest of it.

    Parameters
    ----------
    place : str
        Tells this place from others of the page.
    """
    try:
        yield
    except away.Failed as failed:
        st.error(theme.plain(f"{failed.what} failed: {failed.why}"), icon=":material/error:")
        st.button("Try again", key=f"again-{place}", on_click=failed.again)

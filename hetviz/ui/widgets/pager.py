"""Page navigation below long lists."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.shell import theme

_MAX_BUTTONS = 7
"""Up to so many pages each has a button of its own."""
_WIDE = 420


def choose_page(pages: int, key: str) -> int:
    """Ask for a page, where there are several; return its number, from 1.

    Parameters
    ----------
    pages : int
    key : str
        Of the choice; another list has another one, or it would begin where that one was left.
    """
    if pages < 2:
        return 1
    if pages <= _MAX_BUTTONS:
        # As wide as its pages: beside others it would show fewer.
        return int(st.pagination(pages, key=key, width=60 * (min(pages, 5) + 2)))
    number = int(st.pagination(pages, key=key, width=_WIDE))
    field = f"{key}-to"
    st.session_state[field] = number
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        theme.show_note("Go to page")
        st.number_input(
            f"Go to page, of {pages:,}",
            1,
            pages,
            key=field,
            width=130,
            label_visibility="collapsed",
            on_change=_go_to_page,
            args=(field, key),
        )
    return number


def _go_to_page(field: str, key: str) -> None:
    st.session_state[key] = int(st.session_state[field])

"""Page navigation below long lists."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.shell import theme

_MAX_BUTTONS = 7
"""Above this number of pages, only some have a button, and a field jumps to a page."""
_WIDE = 420


def choose_rows(n: int, size: int, key: str) -> slice:
    """Show the page buttons for `n` rows and return those of the chosen page."""
    pages = -(-n // size)
    number = choose_page(pages, f"{key}-{pages}")
    return slice((number - 1) * size, number * size)


def choose_page(pages: int, key: str) -> int:
    """Show the page buttons, if there are several pages, and return the page number, from 1."""
    if pages < 2:
        return 1
    if pages <= _MAX_BUTTONS:
        # A fixed width, as a narrow container would hide some of the buttons.
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

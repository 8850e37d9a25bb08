"""Selection of items on the map."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import streamlit as st

from hetviz._types import Ints
from hetviz.errors import HetvizError
from hetviz.ui.shell import session
from hetviz.ui.shell.page_state import page_state
from hetviz.workspace import State


def selected_rows(state: State) -> Ints:
    """Return the selected global rows, in order."""
    return session.workspace().view_state.selection


def select_rows(rows: Iterable[int]) -> None:
    """Select these global rows of the open data."""
    try:
        session.workspace().set_view_state(selection=np.array(sorted(set(rows)), dtype=np.int64))
    except HetvizError as error:
        session.add_message(str(error))


def show_on_map(rows: Iterable[int]) -> None:
    """Select items and open the map."""
    select_rows(rows)
    page_state().go_to = "map"


def show_map_button(rows: Iterable[int], key: str) -> None:
    """Show the button that selects items and opens the map."""
    st.button(
        "Show on the map", type="tertiary", key=key, on_click=show_on_map, args=(tuple(rows),)
    )


def clear_selection() -> None:
    """Clear the selection."""
    select_rows(())

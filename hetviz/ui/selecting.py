"""What is selected on the map, and changing it from the page."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from hetviz.ui import charts, session
from hetviz.workspace import State


def chosen(state: State) -> NDArray[np.int64]:
    """Return the selected global rows, in order."""
    return np.array(charts.selected(state), dtype=np.int64)


def choose(rows: Iterable[int]) -> None:
    """Select these global rows of the open data instead of what was selected."""
    data = session.workspace().state.data
    if data is not None:
        charts.clear_selection()
        st.session_state["selected"] = (data.fingerprint(), tuple(sorted(map(int, set(rows)))))


def clear() -> None:
    """Select nothing."""
    charts.clear_selection()

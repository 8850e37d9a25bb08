"""Change or remove all statements that are shown, at once."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from hetviz._types import Ints
from hetviz.ui.shell import session, theme
from hetviz.workspace import DropStatements, EditStatements


def offer(form: str, among: pd.DataFrame, order: Ints) -> None:
    """Offer one change for all statements that the filter lets through: `order` among those."""
    word = "link" if form == "link" else "comparison"
    own = order[among["own"].to_numpy()[order]]
    with st.popover("Change all shown", key=f"bulk-{form}", disabled=not len(own)):
        theme.quiet(
            f"For {theme.count(len(own), word)}: all that the choice at the left shows, on every "
            "page of the table. One undo takes it back."
        )
        low = -1.0 if form == "link" else 0.05
        weight = st.slider(
            "Weight", low, 1.0, 0.5, 0.05, key=f"bulk-weight-{form}",
            help="From −1, apart, to 1, together." if form == "link" else None,
        )  # fmt: skip
        with st.container(horizontal=True):
            st.button(
                "Set the weight",
                key=f"bulk-set-{form}",
                disabled=weight == 0,
                on_click=_edit,
                args=(among, own, "weight", weight),
            )
            st.button(
                f"Remove {theme.count(len(own), word)}",
                key=f"bulk-remove-{form}",
                on_click=_remove,
                args=(among, own),
            )
        note = st.text_input("Note", max_chars=500, key=f"bulk-note-{form}")
        st.button(
            "Write the note",
            key=f"bulk-note-do-{form}",
            disabled=not note.strip(),
            on_click=_edit,
            args=(among, own, "note", note.strip()),
        )


def _edit(among: pd.DataFrame, own: Ints, column: str, value: object) -> None:
    keys = among["key"].to_numpy()[own].tolist()
    session.do(EditStatements({key: {column: value} for key in keys}))


def _remove(among: pd.DataFrame, own: Ints) -> None:
    session.do(DropStatements(among["key"].to_numpy()[own].tolist()))

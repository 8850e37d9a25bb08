"""Effects of the last statements on the map, with similar items to add."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from hetviz._types import Floats
from hetviz.core.layout.spread import stands_out
from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.metrics.fit.displacement import displacements
from hetviz.metrics.trust.consequences import consequences_from_dict
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import rows_of_ids
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.statements.statement_draft import StatementState
from hetviz.ui.widgets import charts
from hetviz.ui.widgets.select_buttons import show_select_button
from hetviz.workspace import MapResult, State

_MAX_FOLLOWERS = 6
MIN_SHIFT = 0.05
"""Share of the map's extent above which an item counts as moved."""
_MAX_MOVED = 8
_EVIDENCE = {
    "statements": theme.evidence_key("changed"),
    "neighbours": theme.evidence_key("changed-neighbours"),
    "links": theme.evidence_key("changed"),
    "moved": theme.evidence_key("moved", "others"),
}
"""Key of the evidence of each topic of `Consequences.sentences_by_topic`."""


def show_consequences(state: State, run: MapResult, place: str = "") -> None:
    """Show the effects of the last statements until they are dismissed or others are made."""
    # `place` makes the widget keys unique where it is shown more than once.
    stored = (run.figures or {}).get("consequences")
    if not stored or state_of(StatementState).dismissed == run.id or not state.is_current(run):
        return
    consequences = consequences_from_dict(stored)
    with st.container(border=True, key=f"outcome{place}", gap="small"):
        theme.show_section("What changed")
        if consequences.has_more_false_neighbors:
            st.html(
                '<p class="hv-draft-warning" role="status">The map got less reliable here: fewer '
                "of the neighbours of these items are similar to them in the data.</p>"
            )
        keys = _EVIDENCE if (run.figures or {}).get("said") and run.before is not None else {}
        topics = consequences.sentences_by_topic()
        first = [("statements", topics["statements"][0]), *(("links", t) for t in topics["links"])]
        details = [
            pair
            for t, texts in topics.items()
            for text in texts
            if (pair := (t, text)) not in first
        ]
        st.html(
            f'<p class="hv-outcome">{" ".join(_sentence_html(keys, *one) for one in first)}</p>'
        )
        with st.expander("Details"):
            lines = "".join(f"<li>{_sentence_html(keys, *one)}</li>" for one in details)
            st.html(f'<ul class="hv-reasons">{lines}</ul>')
        with st.container(horizontal=True, gap="small"):
            st.button("Keep", key=f"outcome-keep{place}", on_click=_dismiss, args=(run.id,))
            if session.workspace().steps == state_of(StatementState).statement_step:
                st.button("Undo", key=f"outcome-back{place}", on_click=_undo)
        if state.data is not None:
            _show_followers(state.data, run)


def _sentence_html(keys: Mapping[str, str], topic: str, text: str) -> str:
    return theme.evidence_html(theme.escape_html(text), keys.get(topic, ""))


def learned_groups(run: MapResult) -> list[Mapping[str, Any]]:
    """Return the group that the map learned from each statement."""
    return list((run.figures or {}).get("learned") or [])


def _show_followers(data: HeteroData, run: MapResult) -> None:
    """Show items similar to each named group."""
    selected = set(selection.selected_rows(session.workspace().state).tolist())
    for group in learned_groups(run):
        name = str(group["dataset"])
        if name not in data.datasets:
            continue
        if selected and selected.isdisjoint(rows_of_ids(data, name, group["named"])):
            continue
        rows = rows_of_ids(data, name, group["followers"])[:_MAX_FOLLOWERS]
        if not rows:
            theme.show_note(
                f"No similar items found. The {int(group['n_named'])} items that you named are "
                "no more alike than random ones, so only they moved."
            )
            continue
        theme.show_section("You might also add", f"about {int(group['n_followers']):,} more")
        item_chip.show_named(data, rows)
        theme.show_note("Ask me, under Guidance, asks about them one at a time.")


def _dismiss(run: str) -> None:
    state_of(StatementState).dismissed = run


def _undo() -> None:
    session.undo()


def show_moved(state: State, run: MapResult) -> bool:
    """Show the items that moved clearly more than the rest; return False without a move."""
    # A map that the data changed after shows nothing.
    shift = moved_distances(state, run)
    if shift is None or state.data is None or not state.is_current(run):
        return False
    placed = np.flatnonzero(np.isfinite(shift))
    if not len(placed):
        return False
    rows = np.flatnonzero(stands_out(shift) & (shift >= MIN_SHIFT))
    rows = rows[np.argsort(-shift[rows], kind="stable")]
    theme.show_section(
        "What moved most", f"{len(rows):,} of {len(placed):,}", theme.evidence_key("moved")
    )
    if len(rows):
        item_chip.show_named(state.data, rows[:_MAX_MOVED].tolist())
    else:
        theme.show_note("No item moved clearly more than the others.")
    half = _percent_text(float(np.median(shift[placed])))
    theme.show_note(f"Half of the items moved less than {half} of the width of the map.")
    if len(rows):
        show_select_button(state, "Select what moved", "pick-moved", rows.tolist())
    return True


def moved_distances(state: State, run: MapResult) -> Floats | None:
    """Return how far each row moved, or None if the map was not made from another."""
    before, after = run.before, charts.embedding_of(state, run)
    if before is None or after is None:
        return None

    def measured() -> Floats | None:
        try:
            return displacements(before, after)
        except HetvizError:
            # Rows were added or removed.
            return None

    return session.get_or_compute(("moved", id(state.data), id(run)), (state.data, run), measured)


def _percent_text(share: float) -> str:
    return f"{share:.1%}".replace(".0%", "%").replace("%", " %")

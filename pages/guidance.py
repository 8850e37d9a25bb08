"""Guidance: all that was said of how items relate, how far the map keeps it, and saying more."""

import streamlit as st

from hetviz.ui.guidance import (
    add,
    ask_me,
    conflicts,
    curves,
    headline,
    label_table,
    reach,
    sets,
    table,
)
from hetviz.ui.guidance import file as guidance_file
from hetviz.ui.guidance.ledger import ledger_of
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES

state = session.workspace().state
data = state.data

if data is None:
    theme.headline("Nothing to guide yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page")
    st.stop()

if guidance_file.waits():
    guidance_file.account(data)
    st.stop()
ledger = ledger_of(state)
headline.headline(state, data, ledger)
counts = {
    "link": ("Links", len(ledger.links)),
    "comparison": ("Comparisons", len(ledger.comparisons)),
    "label": ("Labels", label_table.count(data)),
}
left, right = st.columns([2.25, 1], gap="large")
with left:
    with st.container(horizontal=True, vertical_alignment="center", key="guidance-tools"):
        form = st.segmented_control(
            "What was said",
            list(counts),
            format_func=lambda key: f"{counts[key][0]} {counts[key][1]:,}",
            default="link",
            required=True,
            key="guidance-form",
            label_visibility="collapsed",
        )
        st.space("stretch")
        headline.refit(state)
        add.offer(data)
        guidance_file.offer(data)
    if form == "label":
        label_table.show(data)
    else:
        table.show(data, ledger, form)
    if state.run is not None and form != "label":
        one, other = st.columns(2, gap="large")
        with one:
            read = curves.measured(state, data, form)
        with other:
            curves.broken(state, data, ledger, form, read)
with right:
    ask_me.card(state)
    conflicts.show(state.guided or data, ledger)
    sets.show(ledger)
    reach.show(data)
    recent.remember()

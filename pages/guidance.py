"""Guidance: all that was said of how items relate, how far the map keeps it, and saying more."""

import streamlit as st

from hetviz.ui import (
    ask_me,
    guidance_add,
    guidance_conflicts,
    guidance_curves,
    guidance_file,
    guidance_head,
    guidance_labels,
    guidance_reach,
    guidance_sets,
    guidance_table,
    look,
    recent,
    session,
)
from hetviz.ui.guidance_ledger import ledger_of
from hetviz.ui.places import PAGES

state = session.workspace().state
data = state.data

if data is None:
    look.headline("Nothing to guide yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page")
    st.stop()

if guidance_file.waits():
    guidance_file.account(data)
    st.stop()
ledger = ledger_of(state)
guidance_head.headline(state, data, ledger)
counts = {
    "link": ("Links", len(ledger.links)),
    "comparison": ("Comparisons", len(ledger.comparisons)),
    "label": ("Labels", guidance_labels.count(data)),
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
        guidance_head.refit(state)
        guidance_add.offer(data)
        guidance_file.offer(data)
    if form == "label":
        guidance_labels.show(data)
    else:
        guidance_table.show(data, ledger, form)
    if state.run is not None and form != "label":
        one, other = st.columns(2, gap="large")
        with one:
            read = guidance_curves.measured(state, data, form)
        with other:
            guidance_curves.broken(state, data, ledger, form, read)
with right:
    ask_me.card(state)
    guidance_conflicts.show(state.guided or data, ledger)
    guidance_sets.show(ledger)
    guidance_reach.show(data)
    recent.remember()

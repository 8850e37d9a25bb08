"""Sentences about the reliability of the map around an item."""

from __future__ import annotations

import streamlit as st

from hetviz.runs.evidence.guidance import item_guidance_evidence
from hetviz.ui.map_data import spread
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import MapResult, State


def show_item_trust(state: State, run: MapResult, row: int) -> None:
    """Show how reliable the map is around an item."""
    data, embedding = state.guided, charts.embedding_of(state, run)
    if data is None or embedding is None:
        return
    guidance = session.get_or_compute(
        ("item guidance", id(data), id(run), row),
        (data, run),
        lambda: item_guidance_evidence(data, embedding, row),
    )
    measured = spread.find(state, run)
    spread_text = "" if measured is None else measured.sentence_of(row)
    is_running = measured is None and background.is_spread_running()
    can_measure = measured is None and not is_running and spread.can_measure(run)
    has_guidance = len(guidance.table) > 0
    if has_guidance or spread_text or is_running or can_measure:
        theme.show_section("How reliable is this spot?")
    if has_guidance:
        text = f"Your guidance about it: {guidance.statement}"
        theme.show_note(text, theme.evidence_key("item-guidance", row))
    if spread_text:
        theme.show_note(spread_text, theme.evidence_key("spread"))
    if is_running:
        theme.show_note("How stable positions are is being measured, by refits.")
    if can_measure:
        st.button(
            "Measure how stable positions are",
            type="tertiary",
            key="measure-spread",
            disabled=background.running_job() is not None,
            on_click=background.measure_spread,
            args=(state,),
            help="Refits the map several times with resampled links. Takes up to three times as "
            "long as making the map.",
        )

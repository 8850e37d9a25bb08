"""Sentences about the reliability of the map around an item."""

from __future__ import annotations

import math

import streamlit as st

from hetviz.metrics.trust.trust import Trust
from hetviz.ui.map_data import spread, worker_results
from hetviz.ui.shell import background, theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import charts, failure
from hetviz.workspace import MapResult, State


def show_item_trust(state: State, run: MapResult, row: int) -> None:
    """Show how reliable the map is around an item."""
    data, embedding = state.guided, charts.embedding_of(state, run)
    if data is None or embedding is None:
        return
    result = None
    with failure.show_failure("item-trust"):
        result = worker_results.fetch_from_worker(
            project_id(),
            data,
            ("item trust", id(run), row),
            "item-trust",
            {"embedding": embedding, "row": row},
            run,
        )
    texts = None if result is None else trust_sentences(result[0], row, result[1], result[2])
    measured = spread.find(state, run)
    spread_text = "" if measured is None else measured.sentence_of(row)
    is_running = measured is None and background.is_spread_running()
    can_measure = measured is None and not is_running and spread.can_measure(run)
    if texts or spread_text or is_running or can_measure:
        theme.show_section("How reliable is this spot?")
    if texts:
        theme.show_note(" ".join([*texts[0], *texts[1]]))
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


def trust_sentences(
    trust: Trust, row: int, broken: int, n_statements: int
) -> tuple[list[str], list[str]] | None:
    """Return sentences about errors and about what the map follows, of a row, or None."""
    # Neighbours without support are marked one by one in the list of nearest items.
    wrong: list[str] = []
    right: list[str] = []

    def count(name: str) -> float:
        return float(getattr(trust, name)[row])

    if math.isfinite(count("of_across")):
        k, missing = round(count("of_across")), round(count("missing_across"))
        if missing:
            wrong.append(
                f"{_share_text(missing, k)} of the items linked to it or to similar items are far "
                "away."
            )
    if n_statements:
        if broken:
            n_text = theme.count(n_statements, "statement")
            wrong.append(f"The map contradicts {broken:,} of {n_text} about it.")
        else:
            n_text = "the statement" if n_statements == 1 else f"all {n_statements:,} statements"
            right.append(f"The map follows {n_text} about it.")
    return (wrong, right) if wrong or right else None


def _share_text(count: int, k: int) -> str:
    return "Nearly all" if count >= k else f"About {100 * count / k:.0f} %"

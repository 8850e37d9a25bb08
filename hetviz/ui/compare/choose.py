"""Choosing what to compare: a card for each method, how often, and the button that starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from hetviz._text import in_seconds
from hetviz.algorithms.cost import known_seconds
from hetviz.data import HeteroData
from hetviz.ui.map import new_map
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import State

if TYPE_CHECKING:
    from hetviz.algorithms.registry import Verdict

_FIRST, _BASELINE = 4, "pca"
_LONG_S = 60.0
_SPLITS = (1, 3, 5)
_HOLD_OUT, _NEW_ITEMS = 0.2, 0.1


def show(state: State) -> None:
    """Show the cards and the button."""
    data = state.guided
    if data is None:
        return
    verdicts = new_map.verdicts(state)
    suitable = [verdict for verdict in verdicts if verdict.suits]
    if not suitable:
        theme.quiet("No method suits these data yet: they have neither features nor links.")
        return
    # The verdicts may be from before times were measured here.
    seconds = {v.card.key: known_seconds(v.card.key, data) or v.seconds for v in suitable}
    picked = _preset(suitable, seconds)
    _start(data, suitable, seconds)
    with st.grid(3, min_column_width=270, gap="small"):
        for verdict in suitable:
            _card(verdict, seconds[verdict.card.key], verdict.card.key in picked)
    others = [verdict for verdict in verdicts if not verdict.suits]
    if others:
        with st.expander(f"{theme.count(len(others), 'method')} that do not suit these data"):
            for verdict in others:
                reasons = "".join(f"<li>{theme.esc(reason)}</li>" for reason in verdict.reasons)
                theme.section(verdict.card.title)
                st.html(f'<ul class="hv-reasons no">{reasons}</ul>')


def chosen(suitable: list[Verdict]) -> list[str]:
    """Return the keys that are ticked."""
    return [v.card.key for v in suitable if st.session_state.get(_tick(v.card.key), False)]


def _preset(suitable: list[Verdict], seconds: dict[str, float | None]) -> set[str]:
    """Return what is ticked at first: what uses most of what is known, and a baseline."""
    quick = [v.card.key for v in suitable if (seconds[v.card.key] or 0.0) <= _LONG_S]
    return {*quick[:_FIRST], *({_BASELINE} & set(quick))}


def _card(verdict: Verdict, seconds: float | None, ticked: bool) -> None:
    card = verdict.card
    key = _tick(card.key)
    cost = "Time not measured yet" if seconds is None else f"About {in_seconds(seconds)} a fit"
    with st.container(border=True, key=f"card-{key}", gap="xsmall"):
        st.session_state.setdefault(key, ticked)
        st.checkbox(theme.plain(card.title), key=key, persist_state="session")
        summary = card.summary.split(". ")[0].rstrip(".") + "."
        st.html(
            f'<p class="hv-quiet">{theme.esc(summary)}</p>'
            f'<p class="hv-cost">{theme.esc(" ".join(verdict.reasons))}</p>'
            f'<p class="hv-cost"><b>{theme.esc(cost)}</b></p>'
        )


def _start(data: HeteroData, suitable: list[Verdict], seconds: dict[str, float | None]) -> None:
    """Show how often to fit, how long it may take, and the buttons."""
    busy = background.live() is not None
    with st.container(horizontal=True, vertical_alignment="bottom", key="compare-start"):
        splits = st.segmented_control(
            "Splits",
            _SPLITS,
            default=3,
            required=True,
            key="compare-splits",
            help="Every method is fitted once for each split, with another fifth held out. Only "
            "from several splits can one tell a difference from chance.",
        )
        new = st.toggle(
            "Also leave out whole items",
            key="compare-new",
            disabled=not data.links,
            help="A tenth of the items is left out and placed afterwards by the methods that can. "
            "Takes twice as long.",
        )
        st.space("stretch")
        st.button(
            "Measure times",
            key="compare-times",
            type="tertiary",
            disabled=busy,
            on_click=_measure,
            args=([v.card.key for v in suitable],),
            help="Fits each method to 200 and 400 items and tells how long all items would take.",
        )
        with st.container(key="primary_compare", width="content"):
            st.button(
                "Compare",
                key="compare-run",
                type="primary",
                disabled=busy,
                on_click=_run,
                args=(suitable, int(splits), bool(new)),
            )
    keys = chosen(suitable) or list(_preset(suitable, seconds))
    theme.quiet(_plan(data, keys, seconds, int(splits) * (2 if new else 1)))


def _plan(data: HeteroData, keys: list[str], seconds: dict[str, float | None], times: int) -> str:
    """Say what will be done and how long it may take."""
    known = [seconds[key] for key in keys if seconds.get(key) is not None]
    total = times * sum(value for value in known if value is not None)
    words = f"{theme.count(len(keys), 'method')}, {theme.count(times, 'fit')} each"
    if known:
        least = "about" if len(known) == len(keys) else "at least"
        words += f": {least} {in_seconds(total)}"
    compared = data.comparisons is not None and len(data.comparisons) > 0
    said = [*(["links"] if data.links else []), *(["comparisons"] if compared else [])]
    if not said:
        return f"{words}. There are no links or comparisons to hold out; neighbours decide."
    return f"{words}. Every fifth of the {' and '.join(said)} is held back from all methods."


def _run(suitable: list[Verdict], splits: int, new: bool) -> None:
    keys = chosen(suitable)
    if not keys:
        session.tell("Tick at least one method to compare.")
        return
    arguments = {
        "methods": keys,
        "seeds": splits,
        "hold_out": _HOLD_OUT,
        "new_items": _NEW_ITEMS if new else 0.0,
    }
    background.find("Comparison", "hetviz.jobs.tasks.compare:compare_methods", arguments)
    st.session_state["compare-view"] = "Results"


def _measure(keys: list[str]) -> None:
    background.find("Times", "hetviz.jobs.tasks.compare:measure_costs", {"methods": keys})


def _tick(key: str) -> str:
    return f"compare-{key}"

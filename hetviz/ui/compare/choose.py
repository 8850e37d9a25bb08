"""The table of methods: what has run is told, what has not is ticked, and a button starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from hetviz._text import in_seconds
from hetviz.algorithms.cost import known_seconds
from hetviz.algorithms.room import in_words
from hetviz.data import HeteroData
from hetviz.ui.compare import board
from hetviz.ui.compare.results import comparison_of, is_current
from hetviz.ui.map import new_map
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import Finding, State

if TYPE_CHECKING:
    from hetviz.algorithms.registry import Verdict

_FIRST, _BASELINE = 4, "pca"
_LONG_S = 60.0
_SPLITS = (1, 3, 5)
_HOLD_OUT, _NEW_ITEMS = 0.2, 0.1


def show(state: State, kept: Finding | None) -> dict[str, str]:
    """Show the table of methods that have run, those that can be ticked, and the button.

    Returns
    -------
    dict of str to str
        Of each method that is ticked, its title and how long it may take.
    """
    data = state.guided
    if data is None:
        return {}
    verdicts = new_map.verdicts(state)
    suitable = [verdict for verdict in verdicts if verdict.suits]
    if not suitable:
        theme.quiet("No method suits these data yet: they have neither features nor links.")
        return {}
    # The verdicts may be from before times were measured here.
    seconds = {v.card.key: known_seconds(v.card.key, data) or v.seconds for v in suitable}
    done = _done(state, kept)
    waiting = [verdict for verdict in suitable if verdict.card.key not in done]
    picked = set() if done else _preset(suitable, seconds)
    # Above the table, so that what comes of it is in sight.
    _start(data, waiting, seconds, bool(done))
    board.show(state, kept, suitable)
    with st.container(key="compare-methods", gap=None):
        for verdict in waiting:
            _row(verdict, seconds[verdict.card.key], verdict.card.key in picked)
    _about(suitable, verdicts, seconds)
    ticked = set(chosen(waiting))
    return {
        v.card.title: f"not run; {_cost(seconds[v.card.key]).lower()}"
        for v in waiting
        if v.card.key in ticked
    }


def _done(state: State, kept: Finding | None) -> set[str]:
    """Return the methods that have a row of their own: on these data and these splits."""
    if kept is None or not is_current(state, kept):
        return set()
    found = comparison_of(kept)
    if len(found.seeds) != st.session_state.get("compare-splits", len(found.seeds)):
        return set()
    measured = {fit.key for fit in found.fits}
    return {c.method for c in found.candidates if c.key in measured and not c.params}


def chosen(suitable: list[Verdict]) -> list[str]:
    """Return the keys that are ticked."""
    return [v.card.key for v in suitable if st.session_state.get(_tick(v.card.key), False)]


def _preset(suitable: list[Verdict], seconds: dict[str, float | None]) -> set[str]:
    """Return what is ticked at first: what uses most of what is known, and a baseline."""
    quick = [v.card.key for v in suitable if (seconds[v.card.key] or 0.0) <= _LONG_S]
    return {*quick[:_FIRST], *({_BASELINE} & set(quick))}


def _row(verdict: Verdict, seconds: float | None, ticked: bool) -> None:
    """Show a method that has not run: a tick, and how long it may take."""
    card = verdict.card
    key = _tick(card.key)
    cost = _cost(seconds)
    with st.container(key=f"method-{card.key}", gap=None):
        st.session_state.setdefault(key, ticked)
        st.checkbox(theme.plain(card.title), key=key, persist_state="session", width=430)
        summary = card.summary.split(". ")[0].rstrip(".") + "."
        st.html(
            f'<p class="hv-unrun"><span title="{theme.esc(summary)}">{theme.esc(summary)}</span>'
            f"<b>{theme.esc(cost)}</b></p>"
        )


def _cost(seconds: float | None) -> str:
    return "Time not measured yet" if seconds is None else f"About {in_seconds(seconds)} a fit"


def _about(
    suitable: list[Verdict], verdicts: list[Verdict], seconds: dict[str, float | None]
) -> None:
    """Say what each method is and why it suits these data, or why not."""
    with st.expander("What the methods are, and why they suit"):
        rows = []
        for verdict in suitable:
            cost = seconds[verdict.card.key]
            words = "not measured yet" if cost is None else in_seconds(cost)
            summary = verdict.card.summary.split(". ")[0].rstrip(".") + "."
            memory = "" if verdict.n_bytes is None else in_words(verdict.n_bytes)
            rows.append([verdict.card.title, summary, " ".join(verdict.reasons), words, memory])
        heads = ["Method", "What it does", "Why it suits", "A fit", "Memory, at most"]
        theme.table(heads, rows, words=True)
    others = [verdict for verdict in verdicts if not verdict.suits]
    if others:
        with st.expander(f"{theme.count(len(others), 'method')} that do not suit these data"):
            for verdict in others:
                reasons = "".join(f"<li>{theme.esc(reason)}</li>" for reason in verdict.reasons)
                theme.section(verdict.card.title)
                st.html(f'<ul class="hv-reasons no">{reasons}</ul>')


def _start(
    data: HeteroData, suitable: list[Verdict], seconds: dict[str, float | None], more: bool
) -> None:
    """Show how often to fit, how long it may take, and the buttons; `more` add to the table."""
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
        with st.container(key="more_compare" if more else "primary_compare", width="content"):
            st.button(
                "Run what is ticked" if more else "Compare",
                key="compare-run",
                type="secondary" if more else "primary",
                disabled=busy or not suitable,
                on_click=_run,
                args=(suitable, int(splits), bool(new)),
            )
    keys = chosen(suitable) or ([] if more else list(_preset(suitable, seconds)))
    if not keys:
        return
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
    return f"{words}. Every fifth of the {' and '.join(said)} is held out."


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


def _measure(keys: list[str]) -> None:
    background.find("Times", "hetviz.jobs.tasks.compare:measure_costs", {"methods": keys})


def _tick(key: str) -> str:
    return f"compare-{key}"

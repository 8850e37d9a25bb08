"""Table of methods to compare, with checkboxes and a start button."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from hetviz._text import format_seconds
from hetviz.algorithms.cost import stored_seconds
from hetviz.algorithms.memory import format_bytes
from hetviz.data import HeteroData
from hetviz.ui.compare import board, leaderboard
from hetviz.ui.map import new_map
from hetviz.ui.shell import background, theme
from hetviz.ui.shell.comparison_results import comparison_of, is_current
from hetviz.workspace import Finding, State

if TYPE_CHECKING:
    from hetviz.algorithms.registry import Verdict

_N_PRESET, _BASELINE = 4, "pca"
_MAX_PRESET_S = 60.0
_SPLIT_OPTIONS, _N_SPLITS = (1, 3, 5), 3
_HOLD_OUT, _NEW_ITEMS = 0.2, 0.1


def question_text(state: State) -> str:
    """Say how maps are compared on the data of the page."""
    kinds = "" if state.guided is None else held_out_kinds(state.guided)
    if not kinds:
        return "Every method makes its map. The best one keeps similar items close."
    return (
        f"Every method makes its map without a fifth of the {kinds}. The best map agrees with most "
        "of these."
    )


def show_methods(state: State, finding: Finding | None) -> None:
    """Show the start button, the ranking, and the methods to choose from."""
    data = state.guided
    if data is None:
        return
    verdicts = new_map.rank_methods(state)
    suitable = [verdict for verdict in verdicts if verdict.suits]
    if not suitable:
        theme.show_note("No method suits these data yet, as they have neither features nor links.")
        return
    # Times measured here are newer than those of the verdicts.
    seconds = {v.card.key: stored_seconds(v.card.key, data) or v.seconds for v in suitable}
    compared = _compared_methods(state, finding)
    not_compared = [verdict for verdict in suitable if verdict.card.key not in compared]
    preset = set() if compared else _preset_methods(suitable, seconds)
    for verdict in not_compared:
        is_preset = verdict.card.key in preset
        st.session_state.setdefault(_tick_key(verdict.card.key), is_preset)
    if not compared:
        _start_button(data, not_compared, seconds, is_main=True)
        _show_chosen(not_compared)
    if finding is not None:
        board.show_ranking(state, finding, suitable)
        leaderboard.show_advice(state, finding)
    with st.expander("Compare more methods" if compared else "Choose methods and splits"):
        _choose_splits(data, not_compared)
        with st.container(key="compare-methods", gap=None):
            for verdict in not_compared:
                _method_row(verdict, seconds[verdict.card.key])
        if compared:
            _start_button(data, not_compared, seconds, is_main=False)
    _show_descriptions(suitable, verdicts, seconds)


def _compared_methods(state: State, finding: Finding | None) -> set[str]:
    """Return the methods that were compared on these data and splits."""
    if finding is None or not is_current(state, finding):
        return set()
    comparison = comparison_of(finding)
    if len(comparison.seeds) != st.session_state.get("compare-splits", len(comparison.seeds)):
        return set()
    measured = {fit.key for fit in comparison.fits}
    return {c.method for c in comparison.candidates if c.key in measured and not c.params}


def ticked_methods(suitable: list[Verdict]) -> list[str]:
    """Return the keys of the ticked methods."""
    return [v.card.key for v in suitable if st.session_state.get(_tick_key(v.card.key), False)]


def _preset_methods(suitable: list[Verdict], seconds: dict[str, float | None]) -> set[str]:
    """Return the methods ticked by default: the first fast ones and a baseline."""
    fast = [v.card.key for v in suitable if (seconds[v.card.key] or 0.0) <= _MAX_PRESET_S]
    return {*fast[:_N_PRESET], *({_BASELINE} & set(fast))}


def _method_row(verdict: Verdict, seconds: float | None) -> None:
    """Show a method that was not compared, with a checkbox and its estimated time."""
    card = verdict.card
    key = _tick_key(card.key)
    cost = _cost_text(seconds)
    with st.container(key=f"method-{card.key}", gap=None):
        st.checkbox(theme.escape_markdown(card.title), key=key, persist_state="session", width=430)
        summary = card.first_sentence
        st.html(
            '<p class="hv-no-result"><span '
            f'title="{theme.escape_html(summary)}">{theme.escape_html(summary)}</span>'
            f"<b>{theme.escape_html(cost)}</b></p>"
        )


def _cost_text(seconds: float | None) -> str:
    return (
        "Time not measured yet" if seconds is None else f"About {format_seconds(seconds)} per fit"
    )


def _show_descriptions(
    suitable: list[Verdict], verdicts: list[Verdict], seconds: dict[str, float | None]
) -> None:
    """Show what each method does and why it suits these data or not."""
    with st.expander("About the methods"):
        rows = []
        for verdict in suitable:
            cost = seconds[verdict.card.key]
            time_text = "not measured yet" if cost is None else format_seconds(cost)
            summary = verdict.card.first_sentence
            memory = "" if verdict.n_bytes is None else format_bytes(verdict.n_bytes)
            rows.append([verdict.card.title, summary, " ".join(verdict.reasons), time_text, memory])
        heads = ["Method", "What it does", "Why it suits", "Time per fit", "Maximum memory"]
        theme.show_table(heads, rows, is_text=True)
    unsuitable = [verdict for verdict in verdicts if not verdict.suits]
    if unsuitable:
        with st.expander(f"{theme.count(len(unsuitable), 'method')} that do not suit these data"):
            for verdict in unsuitable:
                reasons = "".join(
                    f"<li>{theme.escape_html(reason)}</li>" for reason in verdict.reasons
                )
                theme.show_section(verdict.card.title)
                st.html(f'<ul class="hv-reasons no">{reasons}</ul>')


def _show_chosen(suitable: list[Verdict]) -> None:
    """List the ticked methods with what they do."""
    keys = ticked_methods(suitable)
    lines = "".join(
        f'<li><i aria-hidden="true">•</i><b>{theme.escape_html(verdict.card.title)}</b>'
        f"<span>{theme.escape_html(verdict.card.first_sentence)}</span></li>"
        for verdict in suitable
        if verdict.card.key in keys
    )
    st.html(f'<ul class="hv-guide-summary" aria-label="Methods to compare">{lines}</ul>')


def _choose_splits(data: HeteroData, suitable: list[Verdict]) -> None:
    """Show the number of splits, and a button that measures times."""
    kinds = held_out_kinds(data)
    hidden = f", with another fifth of the {kinds} hidden" if kinds else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key="compare-start"):
        st.segmented_control(
            "Splits",
            _SPLIT_OPTIONS,
            default=_N_SPLITS,
            required=True,
            key="compare-splits",
            help=f"Every method is fitted once for each split{hidden}. Several splits are needed "
            "to tell a difference from chance.",
        )
        st.toggle(
            "Also hide whole items",
            key="compare-new",
            disabled=not data.links,
            help="A tenth of the items is hidden and placed afterwards by the methods that can. "
            "Takes twice as long.",
        )
        st.space("stretch")
        st.button(
            "Measure times",
            key="compare-times",
            type="tertiary",
            disabled=background.running_job() is not None,
            on_click=_measure_times,
            args=([v.card.key for v in suitable],),
            help="Fits each method to 200 and 400 items and estimates the time for all items.",
        )


def _start_button(
    data: HeteroData, suitable: list[Verdict], seconds: dict[str, float | None], *, is_main: bool
) -> None:
    """Show the button that compares the ticked methods, with its estimated time."""
    splits = int(st.session_state.get("compare-splits") or _N_SPLITS)
    with_new_items = bool(st.session_state.get("compare-new"))
    keys = ticked_methods(suitable)
    n_fits = splits * (2 if with_new_items else 1)
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        key="primary_compare" if is_main else "more_compare",
    ):
        st.button(
            f"Compare {theme.count(len(keys), 'method')}",
            key="compare-run",
            type="primary" if is_main else "secondary",
            disabled=background.running_job() is not None or not keys,
            on_click=_run_comparison,
            args=(suitable, splits, with_new_items),
        )
        theme.show_note(
            _plan_text(keys, seconds, n_fits) if keys else "Tick a method to compare it."
        )


def held_out_kinds(data: HeteroData) -> str:
    """Return what a comparison hides, as "links and comparisons", or "" without any."""
    has_comparisons = data.comparisons is not None and len(data.comparisons) > 0
    kinds = [*(["links"] if data.links else []), *(["comparisons"] if has_comparisons else [])]
    return theme.join_words(kinds) if kinds else ""


def _plan_text(keys: list[str], seconds: dict[str, float | None], n_fits: int) -> str:
    """Return how long the comparison may take."""
    times_known = [value for key in keys if (value := seconds.get(key)) is not None]
    plan = f"{theme.count(n_fits, 'fit')} each"
    if not times_known:
        return f"{plan}, time not measured yet"
    qualifier = "about" if len(times_known) == len(keys) else "at least"
    return f"{plan}, {qualifier} {format_seconds(n_fits * sum(times_known))}"


def _run_comparison(suitable: list[Verdict], splits: int, with_new_items: bool) -> None:
    arguments = {
        "methods": ticked_methods(suitable),
        "seeds": splits,
        "hold_out": _HOLD_OUT,
        "new_items": _NEW_ITEMS if with_new_items else 0.0,
    }
    background.start_task("compare-methods", arguments)


def _measure_times(keys: list[str]) -> None:
    background.start_task("measure-costs", {"methods": keys})


def _tick_key(key: str) -> str:
    return f"compare-{key}"

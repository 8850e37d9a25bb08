"""Result of a comparison in words, as a table and as curves."""

from __future__ import annotations

import math

import streamlit as st

from hetviz._text import format_seconds, per_hundred
from hetviz.plots.overlaid import overlaid_alt, overlaid_figure
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES
from hetviz.ui.shell import background, session, theme
from hetviz.ui.shell.comparison_results import (
    comparison_of,
    deciding_measures,
    is_current,
    run_of,
    short_title,
)
from hetviz.ui.widgets import charts
from hetviz.workspace import ChooseRun, Finding, State

_OTHER_MEASURES = (
    "links_kept_held_out",
    "link_score_precision_held_out",
    "comparison_accuracy_held_out",
    "trustworthiness",
    "label_knn_accuracy",
    "degree_auc_held_out",
    "links_kept",
)
_MAX_OTHERS = 4
_MAX_ROWS_WITH_VARIANT = 6


def show_headline(state: State, finding: Finding) -> None:
    """Show which method is best and what the score means."""
    comparison = comparison_of(finding)
    measure = deciding_measure(comparison)
    best = comparison.best(measure)
    if measure is None or best is None:
        theme.show_headline("Nothing could be measured", "The reasons are listed below.")
        return
    measure_text = comparison.texts(measure)
    value = per_hundred(comparison.mean(best, measure))
    title = short_title(comparison.candidate(best).title)
    tied = next(iter(comparison.places(measure)), [best])
    if len(tied) > 1:
        names = [short_title(comparison.candidate(key).title) for key in tied]
        winners = theme.join_words(names) if len(names) <= 3 else f"{len(names)} methods"
        headline_text = f"{winners} tie: {value} %"
    else:
        headline_text = f"{title} is best at {measure_text.does}: {value} %"
    chance = comparison.chance(measure)
    if chance is not None:
        headline_text += f" (chance: {per_hundred(chance)} %)"
    theme.show_headline(
        headline_text, f"{_method_text(comparison, measure)}", theme.evidence_key("compared")
    )
    theme.show_note(comparison.limits(measure))
    if not is_current(state, finding):
        theme.show_note("Found before the data changed. Compare again to use the new data.")
    elif not comparison.complete:
        theme.show_note("Stopped early. Only finished fits are shown.")


def show_advice(state: State, finding: Finding) -> None:
    """Show which map to trust, and why."""
    comparison = comparison_of(finding)
    measure = deciding_measure(comparison)
    if measure is not None:
        _show_advice(state, finding, comparison, measure)


def show_details(finding: Finding) -> None:
    """Show all measures, the curves and the notes of the methods."""
    comparison = comparison_of(finding)
    measure = deciding_measure(comparison)
    if measure is not None:
        with st.expander("All measures and curves"):
            st.html(f'<div class="hv-wide" tabindex="0">{table_html(comparison, measure)}</div>')
            if comparison.link_prediction_note:
                theme.show_note(comparison.link_prediction_note)
            _show_curves(comparison, measure)
    _show_failures(comparison)


def deciding_measure(comparison: Comparison) -> str | None:
    """Return the measure to rank by: the chosen one, else the most informative."""
    options = deciding_measures(comparison)
    chosen = st.session_state.get("compare-measure")
    return chosen if chosen in options else next(iter(options), None)


def table_html(comparison: Comparison, measure: str) -> str:
    """Return the leaderboard as HTML, ranked by a measure."""
    rows = comparison.table[comparison.table["n_fits"] > 0]
    rows = rows.sort_values(measure, ascending=False, kind="stable", na_position="last")
    other_measures = [
        key for key in _OTHER_MEASURES if key in comparison.measures and key != measure
    ][:_MAX_OTHERS]
    best = {key: rows[key].max() for key in [measure, *other_measures]}
    longest = max(float(best[measure]), 1e-9)
    heads = [
        f"{MEASURES[measure].label}, in %",
        *(MEASURES[key].label for key in other_measures),
        "Time",
    ]
    head = "".join(f'<th scope="col">{theme.escape_html(words)}</th>' for words in heads)
    body = ""
    for key, row in rows.iterrows():
        candidate = comparison.candidate(str(key))
        name, _, variant = candidate.title.rstrip(")").partition(" (")
        small = (
            f"<small>{theme.escape_html(variant)}</small>"
            if variant and len(rows) <= _MAX_ROWS_WITH_VARIANT
            else ""
        )
        cells = [
            _bar_html(row[measure], row[f"{measure}_se"], longest, row[measure] == best[measure])
        ]
        cells += [
            _value_html(row[other], row[f"{other}_se"], row[other] == best[other])
            for other in other_measures
        ]
        cells.append(theme.escape_html(format_seconds(row["seconds"])))
        inner = "".join(f"<td>{cell}</td>" for cell in cells)
        body += f'<tr><th scope="row">{theme.escape_html(name)}{small}</th>{inner}</tr>'
    limits = [
        ("Best possible on these data", comparison.ceiling),
        ("Smallest detectable difference", comparison.resolution),
    ]
    for words, limit in limits:
        inner = "".join(f"<td>{_limit_html(limit(key))}</td>" for key in [measure, *other_measures])
        body += f'<tr class="limit"><th scope="row">{words}</th>{inner}<td></td></tr>'
    return (
        f'<table class="hv-score-table"><thead><tr><th scope="col">Method</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _limit_html(value: float) -> str:
    return "–" if math.isnan(value) else f"<em>{per_hundred(value)}</em>"


def _bar_html(value: float, error: float, longest: float, is_best: bool) -> str:
    # The rest of the cell is for the number at the end of the bar.
    width = 0.0 if math.isnan(value) else 60 * max(value, 0.0) / longest
    value_html = _value_html(value, error, is_best)
    return f'<div class="bar"><i style="width:{width:.1f}%"></i>{value_html}</div>'


def _value_html(value: float, error: float, is_best: bool) -> str:
    if math.isnan(value):
        return "–"
    score = per_hundred(value)
    number = f"<b>{score}</b>" if is_best else f"<em>{score}</em>"
    return number if math.isnan(error) else f"{number}<small>± {100 * error:.1f}</small>"


def _method_text(comparison: Comparison, measure: str) -> str:
    """Return in one line how the score was measured."""
    splits = len(comparison.seeds)
    if not measure.endswith("_held_out"):
        return f"Mean of {theme.count(splits, 'split')}. {comparison.texts(measure).meaning}"
    share_word = {0.2: "A fifth", 0.1: "A tenth", 0.5: "Half"}.get(comparison.hold_out)
    noun = "link" if "links" in measure else "statement"
    if "comparison" in measure:
        noun = "comparison"
    share = (
        f"{share_word} of the {noun}s"
        if share_word
        else f"{100 * comparison.hold_out:.0f} % of the {noun}s"
    )
    times = "" if splits == 1 else f", {splits} times"
    return f"{share} is hidden{times}. {comparison.texts(measure).meaning}"


def choose_measure(finding: Finding) -> None:
    """Show the choice of the measure to rank by."""
    options = deciding_measures(comparison_of(finding))
    if not options:
        return
    st.session_state.setdefault("compare-measure", options[0])
    if st.session_state["compare-measure"] not in options:
        st.session_state["compare-measure"] = options[0]
    st.selectbox(
        "Ranked by",
        options,
        format_func=lambda key: f"Ranked by: {MEASURES[key].label.lower()}",
        key="compare-measure",
        persist_state="session",
        label_visibility="collapsed",
        width=300,
    )


def _show_advice(state: State, finding: Finding, comparison: Comparison, measure: str) -> None:
    advice = comparison.recommend(measure)
    run = None if advice.method is None else run_of(state, finding, advice.method)
    text_column, button_column = st.columns([3.6, 1], vertical_alignment="center")
    with text_column:
        st.html(f'<p class="hv-advice">{theme.escape_html(advice.sentence)}</p>')
    with button_column:
        if run is not None:
            use_map_button(state, run.id, "Use this map", "use-advised", primary=True)


def use_map_button(state: State, id: str, label: str, key: str, *, primary: bool = False) -> None:
    """Show the button that makes a map the working map."""
    is_chosen = id == state.chosen
    with st.container(key=f"primary_{key}" if primary else f"box-{key}", width="content"):
        st.button(
            "Working map" if is_chosen else label,
            key=key,
            type="primary" if primary else "secondary",
            disabled=is_chosen,
            on_click=session.on_command,
            args=(ChooseRun(id),),
            help="All pages then use this map.",
        )


def _show_curves(comparison: Comparison, measure: str) -> None:
    kind = "given" if measure == "links_kept" else "held_out"
    curves = {
        short_title(comparison.candidate(key).title): parts[kind]
        for key, parts in comparison.curves.items()
        if kind in parts
    }
    best = comparison.best(measure)
    if not curves or best is None:
        return
    theme.show_section("Links close" if kind == "given" else "Hidden links found again")
    charts.show_figure(
        overlaid_figure(curves, short_title(comparison.candidate(best).title), session.theme()),
        "compare-curves",
        overlaid_alt(curves),
    )


def _show_failures(comparison: Comparison) -> None:
    if background.running_job() is not None:
        return
    method_notes = {
        key: " ".join(notes)
        for key, notes in comparison.notes.items()
        if key not in comparison.failures
    }
    n_refused, n_errors = len(comparison.refusals), len(comparison.errors)
    sections = (
        (f"{theme.count(n_refused, 'method')} do not fit these data", comparison.refusals),
        (f"{theme.count(n_errors, 'method')} failed", comparison.errors),
        ("Notes of the methods", method_notes),
    )
    for title, reasons in sections:
        if reasons:
            with st.expander(title):
                rows = [
                    [comparison.candidate(key).title, reason] for key, reason in reasons.items()
                ]
                theme.show_table(["Method", "Message"], rows, is_text=True)

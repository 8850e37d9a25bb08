"""The leaderboard: what was found, in words, as a table and as curves."""

from __future__ import annotations

import math

import streamlit as st

from hetviz._text import in_seconds, per_hundred
from hetviz.plots.overlaid import overlaid_alt, overlaid_figure
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES
from hetviz.ui.compare.results import comparison_of, deciding, is_current, run_of, short_title
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import ChooseRun, Finding, State

_OTHERS = (
    "links_kept_held_out",
    "link_score_precision_held_out",
    "comparison_accuracy_held_out",
    "trustworthiness",
    "label_knn_accuracy",
    "degree_auc_held_out",
    "links_kept",
)
_MOST_OTHERS = 4
_ROOMY = 6


def headline(state: State, kept: Finding) -> None:
    """Say what was found, and what the number means."""
    found = comparison_of(kept)
    measure = judged_by(found)
    best = found.best(measure)
    if measure is None or best is None:
        theme.headline("Nothing could be measured", "The reasons are listed below.")
        return
    said = MEASURES[measure]
    value = per_hundred(found.mean(best, measure))
    title = short_title(found.candidate(best).title)
    tied = found.tied(measure)
    if len(tied) > 1:
        names = [short_title(found.candidate(key).title) for key in tied]
        who = theme.listed(names) if len(names) <= 3 else f"{len(names)} methods"
        words = f"{who} tie: {value} in 100"
    else:
        words = f"{title} {said.does} best: {value} in 100"
    if said.chance is not None:
        words += f", against {per_hundred(said.chance)} by chance"
    theme.headline(words, f"{_line(found, measure)}{_alike(found, measure)}")
    theme.quiet(found.limits(measure))
    if not is_current(state, kept):
        theme.quiet("Found before the data changed. Compare again to use what was said since.")
    elif not found.complete:
        theme.quiet("Stopped early: only what was complete by then is shown.")


def advice(state: State, kept: Finding) -> None:
    """Show which map to take, and why."""
    found = comparison_of(kept)
    measure = judged_by(found)
    if measure is not None:
        _advice(state, kept, found, measure)


def more(kept: Finding) -> None:
    """Show every measure, the curves, and what methods said."""
    found = comparison_of(kept)
    measure = judged_by(found)
    if measure is not None:
        with st.expander("All measures, and the curves"):
            st.html(f'<div class="hv-wide" tabindex="0">{table(found, measure)}</div>')
            if found.told_of_links:
                theme.quiet(found.told_of_links)
            _curves(found, measure)
    _failures(found)


def _alike(found: Comparison, measure: str) -> str:
    """Say which others the splits do not tell apart from the best one."""
    first = next(iter(found.places(measure)), [])
    names = [short_title(found.candidate(key).title) for key in first]
    if len(names) < 2 or len(found.seeds) < 2:
        return ""
    who = theme.listed(names) if len(names) <= 3 else f"The first {len(names)}"
    return f" {who} cannot be told apart by these {len(found.seeds)} splits."


def judged_by(found: Comparison) -> str | None:
    """Return the measure that decides: the visitor's, else the most telling one."""
    options = deciding(found)
    wanted = st.session_state.get("compare-measure")
    return wanted if wanted in options else next(iter(options), None)


def table(found: Comparison, measure: str) -> str:
    """Return the leaderboard as HTML, ranked by a measure."""
    rows = found.table[found.table["n_fits"] > 0]
    rows = rows.sort_values(measure, ascending=False, kind="stable", na_position="last")
    others = [key for key in _OTHERS if key in found.measures and key != measure][:_MOST_OTHERS]
    top = {key: rows[key].max() for key in [measure, *others]}
    longest = max(float(top[measure]), 1e-9)
    heads = [f"{MEASURES[measure].label}, in 100", *(MEASURES[key].label for key in others), "Time"]
    head = "".join(f'<th scope="col">{theme.esc(words)}</th>' for words in heads)
    body = ""
    for key, row in rows.iterrows():
        candidate = found.candidate(str(key))
        name, _, aside = candidate.title.rstrip(")").partition(" (")
        small = f"<small>{theme.esc(aside)}</small>" if aside and len(rows) <= _ROOMY else ""
        cells = [_bar(row[measure], row[f"{measure}_se"], longest, row[measure] == top[measure])]
        cells += [
            _value(row[other], row[f"{other}_se"], row[other] == top[other]) for other in others
        ]
        cells.append(theme.esc(in_seconds(row["seconds"])))
        inner = "".join(f"<td>{cell}</td>" for cell in cells)
        body += f'<tr><th scope="row">{theme.esc(name)}{small}</th>{inner}</tr>'
    limits = [
        ("At most, on these data", found.ceiling),
        ("Smallest difference told", found.resolution),
    ]
    for words, limit in limits:
        inner = "".join(f"<td>{_limit(limit(key))}</td>" for key in [measure, *others])
        body += f'<tr class="limit"><th scope="row">{words}</th>{inner}<td></td></tr>'
    return (
        f'<table class="hv-board"><thead><tr><th scope="col">Method</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _limit(value: float) -> str:
    return "–" if math.isnan(value) else f"<em>{per_hundred(value)}</em>"


def _bar(value: float, error: float, longest: float, best: bool) -> str:
    # What is left of the cell is for the number at the end of the bar.
    width = 0.0 if math.isnan(value) else 60 * max(value, 0.0) / longest
    words = _value(value, error, best)
    return f'<div class="bar"><i style="width:{width:.1f}%"></i>{words}</div>'


def _value(value: float, error: float, best: bool) -> str:
    if math.isnan(value):
        return "–"
    words = per_hundred(value)
    number = f"<b>{words}</b>" if best else f"<em>{words}</em>"
    return number if math.isnan(error) else f"{number}<small>± {100 * error:.1f}</small>"


def _line(found: Comparison, measure: str) -> str:
    """Say how it was measured, in one line."""
    splits = len(found.seeds)
    if not measure.endswith("_held_out"):
        return f"Mean of {theme.count(splits, 'split')}. {MEASURES[measure].meaning}"
    often = {0.2: "Every fifth", 0.1: "Every tenth", 0.5: "Every second"}.get(found.hold_out)
    what = "link" if "links" in measure else "statement"
    if "comparison" in measure:
        what = "comparison"
    share = f"{often} {what}" if often else f"{100 * found.hold_out:.0f} % of the {what}s"
    verb = "was" if often else "were"
    times = "" if splits == 1 else f", {splits} times over"
    return f"{share} {verb} held out{times}. {MEASURES[measure].meaning}"


def measure_choice(kept: Finding) -> None:
    """Show the choice of the measure that decides."""
    options = deciding(comparison_of(kept))
    if not options:
        return
    st.session_state.setdefault("compare-measure", options[0])
    if st.session_state["compare-measure"] not in options:
        st.session_state["compare-measure"] = options[0]
    st.selectbox(
        "Judged by",
        options,
        format_func=lambda key: f"Judged by: {MEASURES[key].label.lower()}",
        key="compare-measure",
        persist_state="session",
        label_visibility="collapsed",
        width=300,
    )


def _advice(state: State, kept: Finding, found: Comparison, measure: str) -> None:
    advice = found.recommend(measure)
    run = None if advice.method is None else run_of(state, kept, advice.method)
    words, button = st.columns([3.6, 1], vertical_alignment="center")
    with words:
        st.html(f'<p class="hv-advice">{theme.esc(advice.sentence)}</p>')
    with button:
        if run is not None:
            use_button(state, run.id, "Use this map", "use-advised", primary=True)


def use_button(state: State, id: str, label: str, key: str, *, primary: bool = False) -> None:
    """Show the button that makes a map the one to work with."""
    now = id == state.chosen
    with st.container(key=f"primary_{key}" if primary else f"box-{key}", width="content"):
        st.button(
            "Working map" if now else label,
            key=key,
            type="primary" if primary else "secondary",
            disabled=now,
            on_click=_use,
            args=(id,),
            help="The Map page and all others then work with it.",
        )


def _use(id: str) -> None:
    session.do(ChooseRun(id))


def _curves(found: Comparison, measure: str) -> None:
    kind = "given" if measure == "links_kept" else "held_out"
    curves = {
        short_title(found.candidate(key).title): parts[kind]
        for key, parts in found.curves.items()
        if kind in parts
    }
    best = found.best(measure)
    if not curves or best is None:
        return
    theme.section("Given links kept" if kind == "given" else "Held-out links kept")
    st.plotly_chart(
        overlaid_figure(curves, short_title(found.candidate(best).title), session.theme()),
        key="compare-curves",
        theme=None,
        config={"displayModeBar": False},
        alt=overlaid_alt(curves),
    )


def _failures(found: Comparison) -> None:
    if background.live() is not None:
        return
    noted = {
        key: " ".join(notes) for key, notes in found.notes.items() if key not in found.failures
    }
    refused, wrong = len(found.refusals), len(found.errors)
    parts = (
        (f"{theme.count(refused, 'method')} refused these data", found.refusals),
        (f"{theme.count(wrong, 'method')} went wrong", found.errors),
        ("Notes of the methods", noted),
    )
    for title, said in parts:
        if said:
            with st.expander(title):
                rows = [[found.candidate(key).title, reason] for key, reason in said.items()]
                theme.table(["Method", "What it said"], rows, words=True)

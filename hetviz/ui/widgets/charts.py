"""Curves, colours and measures of a map, shared by several pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from hetviz._text import percent, round_percent
from hetviz.data import Embedding
from hetviz.plots.curve import (
    Curve,
    chance_of,
    curve_alt,
    curve_figure,
    has_close_level,
    pair_share_of,
    share_close_at,
)
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.shell import session
from hetviz.ui.shell import theme as look
from hetviz.workspace import MapResult, State

if TYPE_CHECKING:
    import plotly.graph_objects as go

_CURVE_TITLES = {
    "links": "Links (together)",
    "apart": "Links (apart)",
    "comparisons": "Comparisons",
}
_CURVE_NOUNS = {"links": "links", "apart": "apart links", "comparisons": "comparisons"}


def embedding_of(state: State, run: MapResult) -> Embedding | None:
    """Return the run's coordinates of the rows in the open data."""
    return session.get_or_compute(
        ("places", id(state.data), id(run)), (state.data, run), lambda: state.embedding(run)
    )


def run_figures(state: State, run: MapResult) -> Mapping[str, Any]:
    """Return a run's measures and curves, measured now where none are stored."""
    stored = run.figures or {}
    # A map that was stopped during measuring has only part of its figures, and maps of earlier
    # versions have another definition of close.
    if "curves" in stored and all(map(has_close_level, stored["curves"].values())):
        return stored
    # Imported late: it loads scikit-learn.
    from hetviz.jobs.tasks.maps import figures_of

    data = state.opened()
    embedding = embedding_of(state, run)
    if embedding is None:
        return {"scores": {}, "curves": {}, **stored}
    # Measured on the data of the map, without later guidance.
    measured = RESULTS.get_or_compute(
        data,
        ("figures", id(run.embedding), id(state.held_out)),
        lambda: figures_of(data, embedding, state.held_out),
        (run.embedding, state.held_out),
    )
    return {**stored, **measured}


def close_text(figures: Mapping[str, Any]) -> str | None:
    """Return the share of links that are close next to chance, or None if it is not known."""
    curve = (figures.get("curves") or {}).get("given")
    # Curves of earlier versions have another definition of close.
    if curve is None or not has_close_level(curve):
        return None
    share, chance = round_percent(share_close_at(curve)), round_percent(chance_of(curve))
    return f"{share} of links are close (chance: {chance})"


def best_close_text(state: State, run: MapResult | None = None) -> str:
    """Return the largest share of links that are close on any map, in words, or "".

    `run`: a map to measure if it has no stored figures.
    """
    if run is not None and run.period is not None:
        # Maps of periods have other links each.
        return ""
    figures = [
        run_figures(state, other) if other is run else other.figures or {}
        for other in state.runs
        if other.period is None
    ]
    curves = [(stored.get("curves") or {}).get("given") for stored in figures]
    known = [curve for curve in curves if curve is not None and has_close_level(curve)]
    # Without the figures of each map it is unknown which is best.
    if not known or len(known) < len(figures):
        return ""
    return f"Best map so far: {round_percent(max(map(share_close_at, known)))}."


def curves_of(
    figures: Mapping[str, Any], form: str | None = None
) -> Mapping[str, Mapping[str, Curve]]:
    """Return a map's curves by kind, optionally only those of "link" or "comparison"."""
    kinds: Mapping[str, Mapping[str, Curve]] = figures.get("kinds") or {"links": figures["curves"]}
    if form is None:
        return kinds
    return {k: v for k, v in kinds.items() if (k == "comparisons") == (form == "comparison")}


def choose_curve(
    figures: Mapping[str, object], form: str | None = None, key_suffix: str = ""
) -> tuple[Mapping[str, Curve], str]:
    """Ask for one of a map's curves, if there are several, and return it with its kind."""
    kinds = curves_of(figures, form)
    blocks = [kind for kind in kinds if "|" in kind]
    all_links = [kind for kind in _CURVE_TITLES if kind in kinds]
    # A single block is all links.
    choices = {kind: kinds[kind] for kind in (*all_links, *(blocks if len(blocks) > 1 else ()))}
    if len(choices) < 2:
        kind = next(iter(choices), "links")
        return choices.get(kind, {}), kind
    kind = st.selectbox(
        "Curve of",
        list(choices),
        format_func=lambda kind: _CURVE_TITLES.get(kind) or kind.replace("|", " – "),
        key=f"curve-of{key_suffix}",
        label_visibility="collapsed",
    )
    return choices[kind], kind


def curve_type(kind: str) -> str:
    """Return how a kind of curves is drawn and read."""
    return kind if kind in _CURVE_TITLES else "links"


def show_curve(
    curves: Mapping[str, Curve],
    kind: str = "links",
    share: float | None = None,
    on_click: Callable[[str], None] | None = None,
    key_suffix: str = "",
    height: int | None = None,
) -> None:
    """Show curves of one kind, read at a share of all pairs; `on_click` gets the chart's key."""
    curve_kind = curve_type(kind)
    theme, clickable = session.theme(), on_click is not None
    # Cached: drawing takes half the time of a run of the Map page.
    figure = session.get_or_compute(
        ("curve", id(curves), theme, curve_kind, share, clickable, height),
        curves,
        lambda: curve_figure(curves, theme, curve_kind, share, clicked=clickable).update_layout(
            {} if height is None else {"height": height}
        ),
    )
    # With the same key the chart would keep its point, and a second click there would remove it.
    key = f"curve{key_suffix}-{kind}-{share}{'-clicked' if clickable else ''}"
    alt = curve_alt(curves, curve_kind)
    if on_click is None:
        show_figure(figure, key, alt)
        return
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        config={"displayModeBar": False},
        alt=alt,
        on_select=partial(on_click, key),
        selection_mode="points",
    )


def show_figure(figure: go.Figure, key: str, alt: str) -> None:
    """Show a figure of the app's own theme, without tools."""
    config = {"displayModeBar": False}
    st.plotly_chart(figure, key=key, theme=None, config=config, alt=alt)


def curve_sentence(
    curves: Mapping[str, Curve], kind: str = "links", at_share: float | None = None
) -> str:
    """Return in words what the curves show at a share of all pairs."""
    curve_kind = curve_type(kind)
    is_usual = at_share is None
    at_share = pair_share_of(curves, curve_kind) if at_share is None else at_share
    read_at = None if is_usual and curve_kind != "comparisons" else at_share
    shares = {key: round_percent(share_close_at(curve, read_at)) for key, curve in curves.items()}
    chance = round_percent(chance_of(next(iter(curves.values())))) if is_usual else None
    noun = _CURVE_NOUNS[curve_kind]
    hidden_note = f" Of the hidden ones it is {shares['held_out']}." if len(shares) > 1 else ""
    if "given" not in shares:
        noun = f"hidden {noun}"
    first = shares.get("given") or shares["held_out"]
    share = round_percent(at_share) if is_usual else percent(at_share)
    if curve_kind == "links":
        place = f"close, among the closest {share}" if is_usual else f"among the closest {share}"
        return (
            f"{first} of the {noun} are {place} of all pairs.{hidden_note} "
            f"By chance it would be {chance or share}."
        )
    if curve_kind == "apart":
        return (
            f"{first} of the {noun} are outside the closest {share} of all pairs.{hidden_note} "
            f"By chance it would be {chance or percent(1.0 - at_share)}."
        )
    if at_share < 1.0:
        return (
            f"In {first} of the {noun}, the close pair is at most {share} as long as the far "
            f"pair.{hidden_note}"
        )
    return (
        f"The map agrees with {first} of the {noun}.{hidden_note} By chance it would be 50 %. "
        "Further left, only comparisons count whose close pair is that much shorter."
    )


def curve_evidence(kind: str) -> str:
    """Return the key of the evidence of a curve."""
    if kind == "comparisons":
        return look.evidence_key("comparisons")
    return look.evidence_key("links", "-1" if kind == "apart" else "1")


def show_bars(
    rows: list[tuple[str, float, str, str]],
    full: float | None = None,
    marked: Sequence[bool] | None = None,
) -> None:
    """Show bars with a name, length, text and meaning each, scaled to the longest.

    `marked`: Bars in the colour of the theme; the others are grey.
    """
    longest = full or max((length for _, length, _, _ in rows), default=0.0) or 1.0
    marks = ["" if flag else " class=hv-unmarked" for flag in marked or [True] * len(rows)]
    cells = "".join(
        f'<dt title="{look.escape_html(meaning)}">{look.escape_html(name)}</dt>'
        f"<dd><span><i{mark} "
        f'style="width:{length / longest:.1%}"></i></span><b>{look.escape_html(text)}</b></dd>'
        for (name, length, text, meaning), mark in zip(rows, marks, strict=True)
    )
    st.html(f'<dl class="hv-bars">{cells}</dl>')


def show_histogram(
    counts: Sequence[int], marked: tuple[float, float], ends: tuple[str, str]
) -> None:
    """Show counts per bin above the ends of their axis, with a marked range.

    `marked`: Its ends as shares of the axis.
    """
    n, highest = len(counts), max(counts, default=0) or 1
    # Where the range begins and ends in each bar.
    parts = [[min(max(end * n - place, 0.0), 1.0) for end in marked] for place in range(n)]
    bars = "".join(
        f'<i style="height:{count / highest:.1%};--from:{first:.0%};--to:{last:.0%}"></i>'
        for count, (first, last) in zip(counts, parts, strict=True)
    )
    low, high = map(look.escape_html, ends)
    mark = f'<u style="left:{marked[0]:.1%};right:{1 - marked[1]:.1%}"></u>'
    line = mark if marked != (0.0, 1.0) else ""
    st.html(
        f'<figure class="hv-bins"><div role="img" aria-label="{sum(counts):,} values from '
        f'{low} to {high}, at most {highest:,} in one bar">{bars}{line}</div>'
        f"<figcaption><span>{low}</span><span>{high}</span></figcaption></figure>"
    )

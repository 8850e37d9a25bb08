"""Curves, colours and measures of a map, shared by several pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from hetviz._text import percent
from hetviz.data import Embedding, HeteroData
from hetviz.plots import Colouring
from hetviz.plots.curve import Curve, curve_alt, curve_figure, kept_at, usual_place
from hetviz.ui.map import layers
from hetviz.ui.shell import session
from hetviz.workspace import Run, State

_CURVE_TITLES = {
    "links": "All links that say together",
    "apart": "Links that say apart",
    "comparisons": "Comparisons",
}


def embedding_of(state: State, run: Run) -> Embedding | None:
    """Return the run's coordinates of the rows in the open data."""
    return session.get_or_compute(
        ("places", id(state.data), id(run)), (state.data, run), lambda: state.embedding(run)
    )


def colouring_of(state: State) -> Colouring:
    """Return the colouring of the shown map."""
    return layers.colours_of(state, state.run)


def run_figures(state: State, run: Run) -> Mapping[str, Any]:
    """Return a run's measures and curves, measured now where none are stored."""
    stored = run.figures or {}
    # Of a map that was stopped while it was measured only what was known before is kept with it.
    if "curves" in stored:
        return stored
    # It loads scikit-learn, which nothing before the first map needs.
    from hetviz.jobs.tasks.maps import figures_of

    data = _data(state)
    embedding = embedding_of(state, run)
    if embedding is None:
        return {"scores": {}, "curves": {}, **stored}
    # Of the map as it came: what is said since is not what it was made from.
    measured = session.get_or_compute(
        ("figures", id(run.embedding)),
        run.embedding,
        lambda: figures_of(data, embedding, state.held_out),
    )
    return {**measured, **stored}


def curves_of(
    figures: Mapping[str, Any], form: str | None = None
) -> Mapping[str, Mapping[str, Curve]]:
    """Return a map's curves by kind; `form` leaves only those of "link" or "comparison"."""
    kinds: Mapping[str, Mapping[str, Curve]] = figures.get("kinds") or {"links": figures["curves"]}
    if form is None:
        return kinds
    return {k: v for k, v in kinds.items() if (k == "comparisons") == (form == "comparison")}


def choose_curve(
    figures: Mapping[str, object], form: str | None = None, key_suffix: str = ""
) -> tuple[Mapping[str, Curve], str]:
    """Let the user choose among a map's curves; return the curves and the kind of statements.

    Nothing is asked where there is only one. `key_suffix` tells apart where on the page it stands.
    """
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
    """Show satisfaction curves of one kind, read off at a share of all pairs.

    A click on them calls `on_click` with the key of the chart, whose state holds the point.
    `key_suffix` tells apart where on the page they stand; `height` is in pixels.
    """
    curve_kind = curve_type(kind)
    theme, clickable = session.theme(), on_click is not None
    # To draw it takes half of what a run of the Map page takes.
    figure = session.get_or_compute(
        ("curve", id(curves), theme, curve_kind, share, clickable, height),
        curves,
        lambda: curve_figure(curves, theme, curve_kind, share, clicked=clickable).update_layout(
            {} if height is None else {"height": height}
        ),
    )
    # A chart that keeps its key keeps its point too, and a second click there would take it back.
    key = f"curve{key_suffix}-{kind}-{share}"
    config = {"displayModeBar": False}
    alt = curve_alt(curves, curve_kind)
    if on_click is None:
        st.plotly_chart(figure, key=key, theme=None, config=config, alt=alt)
        return
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        config=config,
        alt=alt,
        on_select=partial(on_click, key),
        selection_mode="points",
    )


def curve_sentence(
    curves: Mapping[str, Curve], kind: str = "links", at_share: float | None = None
) -> str:
    """Return in words what the curves show at a share of all pairs."""
    curve_kind = curve_type(kind)
    at_share = usual_place(curve_kind) if at_share is None else at_share
    kept = {
        key: f"{kept_at(curve, at_share):.0%}".replace("%", " %") for key, curve in curves.items()
    }
    held = f" and {kept['held_out']} of those held out" if len(kept) > 1 else ""
    said = kept.get("given") or f"{kept['held_out']} (held out)"
    share = percent(at_share)
    if curve_kind == "links":
        return (
            f"The nearest {share} of all pairs hold {said} of the links{held}; by chance {share}."
        )
    if curve_kind == "apart":
        return (
            f"Not among the nearest {share} of all pairs: {said} of those said to be apart{held}; "
            f"by chance {percent(1.0 - at_share)}."
        )
    if at_share < 1.0:
        return (
            f"In {said} of the comparisons{held} the near pair is at most {share} as long as the "
            "far pair."
        )
    return (
        f"The map agrees with {said} of the comparisons{held}; by chance 50 %. Farther left "
        "count only those whose near pair is so much shorter."
    )


def _data(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - asked for only where data are open
    return state.data

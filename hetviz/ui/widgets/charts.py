"""What charts and panels show of a map: its places, colours, measures and the curve."""

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

_KINDS = {
    "links": "All links that say together",
    "apart": "Links that say apart",
    "comparisons": "Comparisons",
}


def embedding_of(state: State, run: Run) -> Embedding | None:
    """Return the run's places of the rows that are there now."""
    return session.cached(
        ("places", id(state.data), id(run)), (state.data, run), lambda: state.embedding(run)
    )


def colours(state: State) -> Colouring:
    """Return the colouring that the view asks for."""
    return layers.colours_of(state, state.run)


def figures(state: State, run: Run) -> Mapping[str, Any]:
    """Return a run's measures and curves; taken now where they never were."""
    known = run.figures or {}
    # Of a map that was stopped while it was measured only what was known before is kept with it.
    if "curves" in known:
        return known
    # It loads scikit-learn, which nothing before the first map needs.
    from hetviz.jobs.tasks.maps import figures_of

    data = _data(state)
    embedding = embedding_of(state, run)
    if embedding is None:
        return {"scores": {}, "curves": {}, **known}
    # Of the map as it came: what is said since is not what it was made from.
    taken = session.cached(
        ("figures", id(run.embedding)),
        run.embedding,
        lambda: figures_of(data, embedding, state.held_out),
    )
    return {**taken, **known}


def curves_of(
    figures: Mapping[str, Any], form: str | None = None
) -> Mapping[str, Mapping[str, Curve]]:
    """Return a map's curves by kind; `form` leaves only those of "link" or "comparison"."""
    kinds: Mapping[str, Mapping[str, Curve]] = figures.get("kinds") or {"links": figures["curves"]}
    if form is None:
        return kinds
    return {k: v for k, v in kinds.items() if (k == "comparisons") == (form == "comparison")}


def choose_curve(
    figures: Mapping[str, object], form: str | None = None, place: str = ""
) -> tuple[Mapping[str, Curve], str]:
    """Let the user choose among a map's curves; return the curves and the kind of statements.

    Nothing is asked where there is only one. `place` tells apart where on the page it stands.
    """
    kinds = curves_of(figures, form)
    blocks = [kind for kind in kinds if "|" in kind]
    sorts = [kind for kind in _KINDS if kind in kinds]
    # A single block is all links.
    offered = {kind: kinds[kind] for kind in (*sorts, *(blocks if len(blocks) > 1 else ()))}
    if len(offered) < 2:
        kind = next(iter(offered), "links")
        return offered.get(kind, {}), kind
    kind = st.selectbox(
        "Curve of",
        list(offered),
        format_func=lambda kind: _KINDS.get(kind) or kind.replace("|", " – "),
        key=f"curve-of{place}",
        label_visibility="collapsed",
    )
    return offered[kind], kind


def sort_of(kind: str) -> str:
    """Return how the curves of a kind are drawn and read."""
    return kind if kind in _KINDS else "links"


def show_curve(
    curves: Mapping[str, Curve],
    kind: str = "links",
    at: float | None = None,
    clicked: Callable[[str], None] | None = None,
    place: str = "",
    height: int | None = None,
) -> None:
    """Show satisfaction curves of one kind, read off at a share of all pairs.

    A click on them calls `clicked` with the key of the chart, whose state holds the point.
    `place` tells apart where on the page they stand; `height` is in pixels.
    """
    sort = sort_of(kind)
    theme, clickable = session.theme(), clicked is not None
    # To draw it takes half of what a run of the Map page takes.
    figure = session.cached(
        ("curve", id(curves), theme, sort, at, clickable, height),
        curves,
        lambda: curve_figure(curves, theme, sort, at, clicked=clickable).update_layout(
            {} if height is None else {"height": height}
        ),
    )
    # A chart that keeps its key keeps its point too, and a second click there would take it back.
    key = f"curve{place}-{kind}-{at}"
    config = {"displayModeBar": False}
    alt = curve_alt(curves, sort)
    if clicked is None:
        st.plotly_chart(figure, key=key, theme=None, config=config, alt=alt)
        return
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        config=config,
        alt=alt,
        on_select=partial(clicked, key),
        selection_mode="points",
    )


def curve_words(curves: Mapping[str, Curve], kind: str = "links", at: float | None = None) -> str:
    """Say in one sentence what the curves show where they are read off."""
    sort = sort_of(kind)
    at = usual_place(sort) if at is None else at
    kept = {key: f"{kept_at(curve, at):.0%}".replace("%", " %") for key, curve in curves.items()}
    held = f" and {kept['held_out']} of those held out" if len(kept) > 1 else ""
    said = kept.get("given") or f"{kept['held_out']} (held out)"
    share = percent(at)
    if sort == "links":
        return (
            f"The nearest {share} of all pairs hold {said} of the links{held}; by chance {share}."
        )
    if sort == "apart":
        return (
            f"Not among the nearest {share} of all pairs: {said} of those said to be apart{held}; "
            f"by chance {percent(1.0 - at)}."
        )
    if at < 1.0:
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

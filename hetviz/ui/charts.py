"""What charts and panels show of a map: its places, colours, measures and the curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from hetviz.data import Embedding, HeteroData
from hetviz.plots import Colouring, curve_alt, curve_figure
from hetviz.plots.curve import LOOK_AT, kept_at
from hetviz.ui import map_layers, session
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
    return map_layers.colours_of(state, state.run)


def figures(state: State, run: Run) -> Mapping[str, Any]:
    """Return a run's measures and curves; taken now where they never were."""
    if run.figures is not None:
        return run.figures
    # It loads scikit-learn, which nothing before the first map needs.
    from hetviz.jobs.tasks import figures_of

    data = _data(state)
    embedding = embedding_of(state, run)
    if embedding is None:
        return {"scores": {}, "curves": {}}
    # Of the map as it came: what is said since is not what it was made from.
    return session.cached(
        ("figures", id(run.embedding)),
        run.embedding,
        lambda: figures_of(data, embedding, state.held_out),
    )


def choose_curve(figures: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Let the user choose among a map's curves; return the curves and what sort they are of.

    Nothing is asked where there is only one.
    """
    kinds: Mapping[str, Any] = figures.get("kinds") or {"links": figures["curves"]}
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
        key="curve-of",
        label_visibility="collapsed",
    )
    return offered[kind], kind if kind in _KINDS else "links"


def show_curve(curves: Mapping[str, Any], sort: str = "links") -> None:
    """Show satisfaction curves of one sort."""
    st.plotly_chart(
        curve_figure(curves, session.theme(), sort),
        key="curve",
        theme=None,
        config={"displayModeBar": False},
        alt=curve_alt(curves, sort),
    )


def curve_words(curves: Mapping[str, Any], sort: str = "links") -> str:
    """Say in one sentence what the curves show where they are read off."""
    if sort != "links":
        return _other_words(curves, sort)
    kept = {key: f"{kept_at(curve):.0%}".replace("%", " %") for key, curve in curves.items()}
    held = f" and {kept['held_out']} of those held out" if "held_out" in kept else ""
    first = kept.get("given", "")
    share = f"{LOOK_AT:.0%}".replace("%", " %")
    if not first:
        return f"The nearest {share} of all pairs hold {kept['held_out']} of the held-out links."
    return f"The nearest {share} of all pairs hold {first} of the links{held}; by chance {share}."


def _other_words(curves: Mapping[str, Any], sort: str) -> str:
    at = 1.0 if sort == "comparisons" else LOOK_AT
    kept = {key: f"{100 * kept_at(curve, at):.0f} %" for key, curve in curves.items()}
    said = kept.get("given") or f"{kept['held_out']} (held out)"
    held = f", and {kept['held_out']} of those held out" if len(kept) > 1 else ""
    if sort == "comparisons":
        return (
            f"The map agrees with {said} of the comparisons{held}; by chance 50 %. Farther left "
            "count only those whose near pair is so much shorter."
        )
    share = f"{100 * LOOK_AT:.0f} %"
    return (
        f"Not among the nearest {share} of all pairs: {said} of those said to be apart{held}; by "
        f"chance {100 - 100 * LOOK_AT:.0f} %."
    )


def _data(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - asked for only where data are open
    return state.data

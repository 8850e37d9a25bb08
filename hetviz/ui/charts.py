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


def show_curve(curves: Mapping[str, Any]) -> None:
    """Show satisfaction curves."""
    st.plotly_chart(
        curve_figure(curves, session.theme()),
        key="curve",
        theme=None,
        config={"displayModeBar": False},
        alt=curve_alt(curves),
    )


def curve_words(curves: Mapping[str, Any]) -> str:
    """Say in one sentence what the curves show where they are read off."""
    kept = {key: f"{kept_at(curve):.0%}".replace("%", " %") for key, curve in curves.items()}
    held = f" and {kept['held_out']} of those held out" if "held_out" in kept else ""
    first = kept.get("given", "")
    share = f"{LOOK_AT:.0%}".replace("%", " %")
    if not first:
        return f"The nearest {share} of all pairs hold {kept['held_out']} of the held-out links."
    return f"The nearest {share} of all pairs hold {first} of the links{held}; by chance {share}."


def _data(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - asked for only where data are open
    return state.data

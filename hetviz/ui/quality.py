"""How well a map does: its satisfaction curve and its figures, each said in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from hetviz.ui import charts, look
from hetviz.workspace import Run, State

_MEASURES = {
    "guidance_area": (
        "Together, kept together",
        "How much nearer linked items lie than other pairs: the area under the curve above. "
        "It is the mean share of all pairs that lie farther apart than a linked one.",
    ),
    "negative_guidance_area": (
        "Apart, kept apart",
        "The mean share of all pairs that lie closer than a pair said to be apart.",
    ),
    "comparison_accuracy": (
        "Comparisons kept",
        "The share of the statements “a is nearer to b than to c” that the map agrees with.",
    ),
    "trustworthiness": (
        "Neighbours that are true",
        "Whether an item's 10 nearest neighbours on the map, within its dataset, are near by its "
        "features too.",
    ),
}
_COLUMNS = {
    "given": "Links that the method was shown.",
    "held out": "Links kept from the method. Only these tell whether the map would be right about "
    "links that nobody has given yet.",
}


def show(state: State, run: Run) -> None:
    """Show the satisfaction curve and the figures of a map."""
    if state.data is None:
        return
    figures = charts.figures(state, run)
    links = sum(int((group.weight > 0).sum()) for group in state.data.links)
    if figures["curves"]:
        look.section("Links the map keeps", look.count(links, "link"))
        charts.show_curve(figures["curves"])
        look.quiet(charts.curve_words(figures["curves"]))
    else:
        look.section("How well it does")
        look.quiet("No links yet that say together, so there are none to keep.")
    _figures(figures["scores"])
    for note in figures.get("notes", ()):
        look.quiet(str(note))


def _figures(scores: Mapping[str, Any]) -> None:
    known = [key for key in _MEASURES if key in scores]
    if not known:
        return
    endings = [""] + (["_held_out"] if any(f"{key}_held_out" in scores for key in known) else [])
    rows = [
        [_MEASURES[key][0]]
        + [f"{scores[key + end]:.2f}" if key + end in scores else "" for end in endings]
        for key in known
    ]
    columns = list(_COLUMNS)[: len(endings)]
    look.table(["0.5 is chance, 1 is best", *columns], rows)
    with st.expander("What these figures say"):
        said = [_MEASURES[key] for key in known] + [(name, _COLUMNS[name]) for name in columns]
        terms = "".join(
            f"<dt>{look.esc(name)}</dt><dd>{look.esc(words)}</dd>" for name, words in said
        )
        st.html(f'<dl class="hv-said">{terms}</dl>')

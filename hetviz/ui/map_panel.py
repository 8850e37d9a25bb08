"""The panel beside the map: what is selected, how well the map does, and making another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from hetviz.data import HeteroData
from hetviz.plots.palette import shape_of
from hetviz.ui import charts, look, pictures, session, work
from hetviz.ui.param_form import param_form
from hetviz.workspace import Run, State

if TYPE_CHECKING:
    from hetviz.registry import Verdict

_MOST = 30
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


def selection(state: State, rows: tuple[int, ...]) -> None:
    """Show the selected items: pictures and names of up to 30."""
    data = _open(state)
    with st.container(horizontal=True, vertical_alignment="center"):
        look.section(f"{len(rows):,} selected", "" if len(rows) <= _MOST else f"first {_MOST}")
        st.button("Clear", type="tertiary", key="clear", on_click=charts.clear_selection)
    st.html(f'<div class="hv-items">{"".join(_item(data, row) for row in rows[:_MOST])}</div>')


def quality(state: State, run: Run) -> None:
    """Show the satisfaction curve and the figures of a map."""
    figures = charts.figures(state, run)
    links = sum(int((group.weight > 0).sum()) for group in _open(state).links)
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


def maker(state: State) -> None:
    """Show the choice of method, its form, and the button that makes a map."""
    # The catalogue loads the numerical libraries; the map is drawn by then.
    from hetviz.registry import get_method

    by_key = {verdict.card.key: verdict for verdict in verdicts(state)}
    data = _open(state)
    look.section("Make another map" if state.run else "Make a map")
    key = st.selectbox(
        "Method",
        list(by_key),
        format_func=lambda key: _method_title(by_key[key].card.title, by_key[key].suits),
        key="method",
        label_visibility="collapsed",
    )
    verdict = by_key[key]
    look.quiet(verdict.card.summary.split(". ")[0].rstrip(".") + ".")
    reasons = "".join(f"<li>{look.esc(reason)}</li>" for reason in verdict.reasons)
    if not verdict.suits:
        st.html(f'<ul class="hv-reasons no">{reasons}</ul>')
    with st.expander("Settings"):
        if verdict.suits and reasons:
            st.html(f'<ul class="hv-reasons">{reasons}</ul>')
        values = param_form(key, get_method(key).params, list(data.datasets))
        seed = int(
            st.number_input(
                "Seed", 0, 2**31 - 1, 0, key="seed", help="The same seed gives the same map."
            )
        )
    hold = 0.0
    if data.links:
        held = st.toggle(
            "Hold out 20 % of the links",
            key="hold",
            help="The method does not see them; how many the map keeps anyway tells how far to "
            "trust it.",
        )
        hold = 0.2 if held else 0.0
    with st.container(key="primary_run"):
        st.button(
            "Make map",
            type="primary",
            key="run",
            width="stretch",
            disabled=not verdict.suits or work.live() is not None,
            on_click=work.make_map,
            args=(key, verdict.card.title, values, seed, hold),
        )


def verdicts(state: State) -> list[Verdict]:
    """Return what each method says of the open data, the best first."""
    from hetviz.registry import suggest

    data = _open(state)
    found: list[Verdict] = session.cached(("verdicts", id(data)), data, lambda: suggest(data))
    return found


def no_map(state: State) -> None:
    """Say why there is no map, and what to do."""
    if any(verdict.suits for verdict in verdicts(state)):
        look.headline("No map yet", "Choose a method at the right and make one.")
    else:
        look.headline(
            "These data cannot be mapped yet",
            "A map needs at least two items that differ in a column of numbers or words, or links "
            "that say which items belong together. Add a file on the Data page, or open other data "
            "on the Start page.",
        )


def _method_title(title: str, suits: bool) -> str:
    return title if suits else f"{title} (does not suit)"


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


def _item(data: HeteroData, row: int) -> str:
    starts = [rows.start for rows in data.offsets.values()]
    place = int(np.searchsorted(starts, row, side="right")) - 1
    name = list(data.datasets)[place]
    dataset = data[name]
    within = row - starts[place]
    source = pictures.address(str(st.session_state["sid"]), data, name, within)
    face = f'<img src="{look.esc(source)}" alt="">' if source else f"<i>{shape_of(place)[1]}</i>"
    title = look.esc(dataset.titles[within])
    return f'<div title="{title}">{face}{title}</div>'


def _open(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - the page asks only where data are open
    return state.data

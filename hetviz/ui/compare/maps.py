"""Two to four maps side by side, turned to fit the first, with one selection in all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from hetviz._text import per_hundred, short
from hetviz._types import Floats, Ints
from hetviz.core.layout.procrustes import align
from hetviz.data import Embedding, HeteroData
from hetviz.errors import HetvizError
from hetviz.metrics.fit.moved import moved
from hetviz.plots.colour import spoken
from hetviz.plots.palette import shape_of
from hetviz.plots.planar import drawn
from hetviz.runs.compare.measures import LOOK_AT
from hetviz.ui.compare import leaderboard
from hetviz.ui.compare.results import comparison_of, maps_of, run_of, short_title
from hetviz.ui.map import description, selection_codec
from hetviz.ui.map.component import component
from hetviz.ui.shell import selection, session
from hetviz.ui.shell import theme as look
from hetviz.ui.widgets import charts, item_chip
from hetviz.workspace import Finding, Run, State

_MOST = 4
_HEIGHT = "235px"
_ROOM = 0.04
_PICKED = "compare-maps"
_ITEMS, _NEAR = 12, 10
_TITLE = 24


def show(state: State, kept: Finding | None, to_come: Mapping[str, str] | None = None) -> None:
    """Show the choice of maps, the maps, and the items that moved most.

    Parameters
    ----------
    state : State
    kept : Finding or None
        What was compared so far.
    to_come : mapping of str to str, optional
        Title and expected time of the methods that are ticked: as long as nothing was compared, a
        frame waits for the map of each.
    """
    if len(state.runs) < 2:
        if kept is None:
            _first_of_all(state, to_come or {})
        return
    titles = _titles(state)
    with st.container(horizontal=True, vertical_alignment="center", key="compare-maps-head"):
        place = st.empty()
        with st.popover("Choose maps"):
            ids = _choice(state, kept, titles)
    with place:
        many = ("two", "three", "four")[max(len(ids) - 2, 0)]
        look.section(f"The same items on {many} maps", "Shift + drag selects, Ctrl + scroll zooms")
    runs = [run for id in ids for run in state.runs if run.id == id]
    if len(runs) < 2:
        look.quiet("Two to four maps can stand side by side.")
        return
    shown = session.cached(
        ("aligned", id(state.data), *(id(run) for run in runs)),
        (state.data, runs),
        lambda: aligned(state, runs),
    )
    _live(state, shown, titles, kept)
    _moved_most(state, shown, titles)


def _first_of_all(state: State, to_come: Mapping[str, str]) -> None:
    """Show the one map that there is, and a frame for each that the ticked methods will make."""
    look.section("The same items on small maps", "turned alike; selected in all")
    titles = _titles(state)
    runs = list(state.runs)
    shown = session.cached(
        ("aligned", id(state.data), *map(id, runs)),
        (state.data, runs),
        lambda: aligned(state, runs) if runs else [],
    )
    _live(state, shown, titles, None, to_come)


def _titles(state: State) -> dict[str, str]:
    """Return what to call each map: its title, numbered where several have the same."""
    found: dict[str, str] = {}
    taken: dict[str, int] = {}
    for run in state.runs:
        title = short_title(run.title)
        taken[title] = taken.get(title, 0) + 1
        found[run.id] = title if taken[title] == 1 else f"{title} ({taken[title]})"
    return found


def _choice(state: State, kept: Finding | None, titles: dict[str, str]) -> list[str]:
    first = _first(state, kept)
    known: Any = st.session_state.get(_PICKED)
    # Maps that went away leave the choice; a new comparison makes a new one.
    told = () if kept is None else kept.runs
    if known is None or st.session_state.get("compare-maps-of") != told:
        st.session_state[_PICKED] = first
        st.session_state["compare-maps-of"] = told
    else:
        st.session_state[_PICKED] = [id for id in known if id in titles]
    picked: list[str] = st.multiselect(
        "Maps side by side",
        list(titles),
        format_func=lambda id: titles[id],
        max_selections=_MOST,
        key=_PICKED,
        persist_state="session",
        help="The maps of this comparison and all that were made before; the others are turned and "
        "mirrored to fit the first.",
    )
    return picked


def _first(state: State, kept: Finding | None) -> list[str]:
    """Return the best maps of the comparison, else the shown map and the newest others."""
    if kept is not None:
        found = comparison_of(kept)
        runs = [run_of(state, kept, str(key)) for key in found.table.index]
        best = [run.id for run in runs if run is not None][:_MOST]
        if len(best) > 1:
            return best
    chosen = [] if state.chosen is None else [state.chosen]
    newest = [run.id for run in reversed(state.runs) if run.id != state.chosen]
    return [*chosen, *newest][:_MOST]


def aligned(state: State, runs: list[Run]) -> list[Run]:
    """Return the runs with their places as drawn, turned to fit those of the first, and as wide.

    The scale of best fit would draw a map the smaller, the less it agrees.
    """
    points = []
    for run in runs:
        embedding = state.embedding(run)
        assert embedding is not None  # noqa: S101 - data are open
        points.append((embedding, drawn(embedding).points))
    reference = points[0][1]
    shown = []
    for run, (embedding, Y) in zip(runs, points, strict=True):
        fit = align(Y, reference)
        fitted = Y if Y is reference else replace(fit, scale=_spread(reference) / _spread(Y))(Y)
        parts = np.split(fitted, np.cumsum([len(p) for p in embedding.coordinates.values()])[:-1])
        flat = Embedding(
            dict(zip(embedding.coordinates, parts, strict=True)),
            embedding.ids,
            embedding.entity,
            components=embedding.components,
            note=embedding.note,
        )
        shown.append(replace(run, embedding=flat))
    return shown


def _spread(Y: Floats) -> float:
    """Return the median distance from the middle; 1 where all lie there."""
    middle = np.nanmedian(Y, axis=0)
    return float(np.nanmedian(np.linalg.norm(Y - middle, axis=1))) or 1.0


def _live(
    state: State,
    shown: list[Run],
    titles: dict[str, str],
    kept: Finding | None,
    to_come: Mapping[str, str] | None = None,
) -> None:
    workspace = session.workspace()
    specs = [
        description.spec(
            state,
            run,
            session=str(st.session_state["sid"]),
            mode="work",
            selection=workspace.glance.selection,
            version=workspace.selection_version,
        )
        for run in shown
    ]
    frame = _common([spec["frame"] for spec in specs]) if specs else {}
    _colours(state)
    grid = st.grid(2, min_column_width=200, gap="small", key="compare-grid")
    for place, (run, spec) in enumerate(zip(shown, specs, strict=True)):
        with grid, st.container(key=f"compare-cell-{place}", gap="xsmall"):
            _head(state, run, titles, kept)
            name = f"compare-map-{place}"
            with st.container(key=name, border=False):
                component.draw(
                    {**spec, "frame": frame, "names": [], "together": "compare"},
                    f"{name}-{st.session_state['sid'].encode().hex()[:16]}",
                    height=_HEIGHT,
                    on_selection=partial(_selected, place, run),
                )
            leaderboard.use_button(state, run.id, "Use this map", f"use-{run.id}")
    for title, words in (to_come or {}).items():
        with grid:
            st.html(
                f'<div class="hv-to-come"><b>{look.esc(title)}</b>'
                f"<span>{look.esc(words)}</span></div>"
            )


def _head(state: State, run: Run, titles: dict[str, str], kept: Finding | None) -> None:
    """Name a map, with its number in the table, or how many links it keeps."""
    words = ""
    known = {} if kept is None else {id: key for key, id in maps_of(kept).items()}
    if kept is not None and run.id in known:
        found = comparison_of(kept)
        measure = leaderboard.judged_by(found)
        key = known[run.id]
        if measure is not None:
            words = f"{per_hundred(found.mean(key, measure))} in 100"
    else:
        real = next(one for one in state.runs if one.id == run.id)
        curves = charts.figures(state, real)["curves"]
        kind = "held_out" if "held_out" in curves else "given"
        if kind in curves:
            share = per_hundred(float(np.interp(LOOK_AT, *curves[kind])))
            words = f"{share} in 100 {'held-out' if kind == 'held_out' else 'given'} links"
    st.html(
        f'<div class="hv-map-head"><b>{look.esc(titles[run.id])}</b>'
        f"<span>{look.esc(words)}</span></div>"
    )


def _colours(state: State) -> None:
    """Say what the colours and shapes mean: there is no room for names on small maps."""
    colours = charts.colours(state)
    marks = [
        f'<span><b style="color:{colour}">●</b> {look.esc(spoken(name))}</span>'
        for colour, name in zip(look.category_colours(colours), colours.categories, strict=True)
    ]
    shapes = [
        f"<span><b>{shape_of(place)[1]}</b> {look.esc(name)}</span>"
        for place, name in enumerate(state.opened().datasets)
    ]
    st.html(f'<div class="hv-told">{"".join([*shapes, *marks])}</div>')


def _common(frames: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the frame round all frames, at one scale for both axes."""
    ends = {}
    for axis in ("x", "y"):
        low, high = min(f[axis][0] for f in frames), max(f[axis][1] for f in frames)
        room = _ROOM * (high - low)
        ends[axis] = [low - room, high + room]
    return {**ends, "stretch": 1.0}


def _selected(place: int, run: Run) -> None:
    key = f"compare-map-{place}-{st.session_state['sid'].encode().hex()[:16]}"
    result = st.session_state.get(key)
    value = None if result is None else result.get("selection")
    workspace = session.workspace()
    state = workspace.state
    if not isinstance(value, dict) or state.data is None:
        return
    try:
        rows = selection_codec.rows_of_message(value, state.data)
        workspace.set_glance(selection=rows, heard=int(value.get("version", 0)))
    except HetvizError:
        # Made on data that are no longer there: the browser is told what is selected now.
        workspace.set_glance(selection=workspace.glance.selection)


def _moved_most(state: State, shown: list[Run], titles: dict[str, str]) -> None:
    """Show the list; a click selects an item on all maps."""
    data = state.opened()
    first, others = shown[0], shown[1:]
    with st.container(horizontal=True, vertical_alignment="center", key="compare-moved-head"):
        look.section("Moved most")
        names = {run.id: titles[run.id] for run in others}
        after = others[0].id
        if len(others) > 1:
            after = st.segmented_control(
                f"Between {titles[first.id]} and",
                list(names),
                format_func=lambda id: look.plain(names[id]),
                default=after,
                required=True,
                key=f"compare-moved-{'-'.join(names)}",
                label_visibility="collapsed",
            )
    other = next(run for run in others if run.id == after)
    rows, shares = session.cached(
        ("moved", id(data), id(first), id(other)),
        (data, first, other),
        lambda: _movers(first, other),
    )
    if not len(rows):
        look.quiet("No item has a place on both maps.")
        return
    look.quiet(
        f"From {titles[first.id]} to {titles[other.id]}, as a share of the map's width; a click "
        "selects the item on all maps."
    )
    chosen = set(selection.chosen(state).tolist())
    with st.grid(6, min_column_width=200, gap="small", key="compare-moved"):
        for row, share in zip(rows, shares, strict=True):
            _item(data, int(row), float(share), int(row) in chosen)


def _movers(first: Run, other: Run) -> tuple[Ints, Floats]:
    distance = moved(first.embedding, other.embedding)
    there = np.flatnonzero(np.isfinite(distance))
    rows = there[np.argsort(-distance[there], kind="stable")][:_ITEMS]
    return rows, distance[rows]


def _item(data: HeteroData, row: int, share: float, chosen: bool) -> None:
    item = item_chip.item_at(data, row)
    source = item_chip.picture_of(data, item)
    face = (
        f'<img src="{look.esc(source)}" alt="" loading="lazy">'
        if source
        else f"<i>{item.glyph}</i>"
    )
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key=f"moved-box-{row}"
    ):
        st.html(f'<span class="hv-moved">{face}</span>', width="content")
        st.button(
            look.plain(f"{short(item.title, _TITLE)}, {100 * share:.0f} %"),
            key=f"moved-{row}",
            type="tertiary",
            disabled=chosen,
            on_click=selection.choose,
            args=([row],),
        )

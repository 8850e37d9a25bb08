"""Two to four maps side by side, aligned with the first and sharing one selection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from hetviz._text import join_words, per_hundred, shorten
from hetviz._types import Floats, Ints
from hetviz.core.layout.procrustes import align
from hetviz.data import Embedding, HeteroData
from hetviz.errors import HetvizError
from hetviz.metrics.fit.displacement import displacements
from hetviz.plots.colour import display_name
from hetviz.plots.palette import shape_of
from hetviz.plots.planar import points_to_draw
from hetviz.ui.compare import leaderboard
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.map import description
from hetviz.ui.map.component import component
from hetviz.ui.map.component.messages import FrameSpec
from hetviz.ui.map_data import layers, selection_codec
from hetviz.ui.shell import selection, session
from hetviz.ui.shell import theme as look
from hetviz.ui.shell.comparison_results import comparison_of, maps_of, run_of, short_title
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, MapResult, State

_MAX_MAPS = 4
_MAP_HEIGHT, _SINGLE_HEIGHT = "235px", "clamp(300px, calc(100vh - 440px), 640px)"
_MARGIN = 0.04
_CHOICE_KEY = "compare-maps"
_MAX_ITEMS, _MAX_RINGED = 12, 3
_TITLE_CHARS = 24


@dataclass
class SideBySide:
    """Maps of the comparison that the choice of maps was made for."""

    maps_of: tuple[str, ...] | None = None


def show_maps(state: State, finding: Finding | None) -> None:
    """Show the choice of maps, the maps, and the items that moved most."""
    if len(state.runs) < 2:
        if finding is None and state.runs:
            look.show_section("The map you have")
            _show_grid(state, list(state.runs), _titles(state), None)
        return
    titles = _titles(state)
    with st.container(horizontal=True, vertical_alignment="center", key="compare-maps-head"):
        title_box = st.empty()
        with st.popover("Choose maps"):
            ids = _choose_maps(state, finding, titles)
    with title_box:
        number_word = ("two", "three", "four")[max(len(ids) - 2, 0)]
        look.show_section(
            f"The same items on {number_word} maps", "Shift + drag selects, Ctrl + scroll zooms"
        )
    runs = [run for id in ids for run in state.runs if run.id == id]
    if len(runs) < 2:
        look.show_note("Choose two to four maps.")
        return
    runs_shown = session.get_or_compute(
        ("aligned", id(state.data), *(id(run) for run in runs)),
        (state.data, runs),
        lambda: aligned_runs(state, runs),
    )
    _show_grid(state, runs_shown, titles, finding)
    _show_most_moved(state, runs_shown, titles)


def _titles(state: State) -> dict[str, str]:
    """Return a title for each map, numbered if several are equal."""
    titles: dict[str, str] = {}
    counts: dict[str, int] = {}
    for run in state.runs:
        title = short_title(run.title)
        counts[title] = counts.get(title, 0) + 1
        titles[run.id] = title if counts[title] == 1 else f"{title} ({counts[title]})"
    return titles


def _choose_maps(state: State, finding: Finding | None, titles: dict[str, str]) -> list[str]:
    defaults = _default_maps(state, finding)
    previous: Any = st.session_state.get(_CHOICE_KEY)
    # Removed maps leave the choice, and a new comparison replaces it.
    finding_runs = () if finding is None else finding.runs
    if previous is None or state_of(SideBySide).maps_of != finding_runs:
        st.session_state[_CHOICE_KEY] = defaults
        state_of(SideBySide).maps_of = finding_runs
    else:
        st.session_state[_CHOICE_KEY] = [id for id in previous if id in titles]
    picked: list[str] = st.multiselect(
        "Maps side by side",
        list(titles),
        format_func=lambda id: titles[id],
        max_selections=_MAX_MAPS,
        key=_CHOICE_KEY,
        persist_state="session",
        help="Maps of this comparison and all earlier ones. They are rotated and mirrored to match "
        "the first.",
    )
    return picked


def _default_maps(state: State, finding: Finding | None) -> list[str]:
    """Return the best maps of the comparison, else the shown map and the newest others."""
    if finding is not None:
        comparison = comparison_of(finding)
        runs = [run_of(state, finding, str(key)) for key in comparison.table.index]
        best = [run.id for run in runs if run is not None][:_MAX_MAPS]
        if len(best) > 1:
            return best
    chosen = [] if state.chosen is None else [state.chosen]
    newest = [run.id for run in reversed(state.runs) if run.id != state.chosen]
    return [*chosen, *newest][:_MAX_MAPS]


def aligned_runs(state: State, runs: list[MapResult]) -> list[MapResult]:
    """Return the runs with their drawn coordinates aligned with the first, at equal spread."""
    # The scale of the best fit would shrink maps that agree less.
    points = []
    for run in runs:
        embedding = state.embedding(run)
        assert embedding is not None  # noqa: S101 - data are open
        points.append((embedding, points_to_draw(embedding).points))
    reference = points[0][1]
    fitted_runs = []
    for run, (embedding, Y) in zip(runs, points, strict=True):
        fit = align(Y, reference)
        fitted = (
            Y
            if Y is reference
            else replace(fit, scale=_median_radius(reference) / _median_radius(Y))(Y)
        )
        parts = np.split(fitted, np.cumsum([len(p) for p in embedding.coordinates.values()])[:-1])
        flat = Embedding(
            dict(zip(embedding.coordinates, parts, strict=True)),
            embedding.ids,
            embedding.entity,
            components=embedding.components,
            note=embedding.note,
        )
        fitted_runs.append(replace(run, embedding=flat))
    return fitted_runs


def _median_radius(Y: Floats) -> float:
    """Return the median distance from the centre, or 1 if all points coincide."""
    middle = np.nanmedian(Y, axis=0)
    return float(np.nanmedian(np.linalg.norm(Y - middle, axis=1))) or 1.0


def _show_grid(
    state: State, runs: list[MapResult], titles: dict[str, str], finding: Finding | None
) -> None:
    workspace = session.workspace()
    specs = [
        description.map_spec(
            state,
            run,
            session=project_id(),
            mode="work",
            selection=workspace.view_state.selection,
            version=workspace.selection_version,
        )
        for run in runs
    ]
    _show_legend(state)
    is_single = len(runs) == 1
    grid = st.container(key="compare-grid")
    for number, (run, spec) in enumerate(zip(runs, specs, strict=True)):
        with grid, st.container(key=f"compare-cell-{number}", gap="xsmall"):
            _show_head(state, run, titles, finding)
            name = f"compare-map-{number}"
            with st.container(key=name, border=False):
                component.draw_map(
                    {
                        **spec,
                        "frame": _common_frame([other["frame"] for other in specs]),
                        "names": [],
                        "linked_group": "compare",
                        # Several small maps have no room for names.
                        "regions": is_single,
                    },
                    f"{name}-{project_id().encode().hex()[:16]}",
                    height=_SINGLE_HEIGHT if is_single else _MAP_HEIGHT,
                    on_selection=partial(_on_selection, number, run),
                )
            if not is_single:
                leaderboard.use_map_button(state, run.id, "Use this map", f"use-{run.id}")


def _show_head(
    state: State, run: MapResult, titles: dict[str, str], finding: Finding | None
) -> None:
    score_text = ""
    key_of_run = {} if finding is None else {id: key for key, id in maps_of(finding).items()}
    if finding is not None and run.id in key_of_run:
        comparison = comparison_of(finding)
        measure = leaderboard.deciding_measure(comparison)
        key = key_of_run[run.id]
        if measure is not None:
            score_text = f"{per_hundred(comparison.mean(key, measure))} %"
    else:
        original = next(candidate for candidate in state.runs if candidate.id == run.id)
        score_text = charts.close_text(charts.run_figures(state, original)) or ""
    st.html(
        f'<div class="hv-map-head"><b>{look.escape_html(titles[run.id])}</b>'
        f"<span>{look.escape_html(score_text)}</span></div>"
    )


def _show_legend(state: State) -> None:
    """Show what colours and shapes mean, as small maps have no names."""
    colours = layers.colours_of(state, state.run)
    marks = [
        f'<span><b style="color:{colour}">●</b> {look.escape_html(display_name(name))}</span>'
        for colour, name in zip(look.category_colours(colours), colours.categories, strict=True)
    ]
    shapes = [
        f"<span><b>{shape_of(number)[1]}</b> {look.escape_html(name)}</span>"
        for number, name in enumerate(state.opened().datasets)
    ]
    st.html(f'<div class="hv-summary">{"".join([*shapes, *marks])}</div>')
    rows = selection.selected_rows(state).tolist()
    if rows:
        names = [find_item(state.opened(), row).title for row in rows[:_MAX_RINGED]]
        more = len(rows) - len(names)
        names += [f"{more:,} more"] if more else []
        look.show_note(f"Ringed: {join_words(names)}.")


def _common_frame(frames: list[FrameSpec]) -> FrameSpec:
    """Return the frame that contains all frames, with equal scales of both axes."""
    x, y = (_widened([end for frame in frames for end in frame[axis]]) for axis in ("x", "y"))
    return {"x": x, "y": y, "stretch": 1.0}


def _widened(ends: list[float]) -> list[float]:
    low, high = min(ends), max(ends)
    margin = _MARGIN * (high - low)
    return [low - margin, high + margin]


def _on_selection(number: int, run: MapResult) -> None:
    key = f"compare-map-{number}-{project_id().encode().hex()[:16]}"
    result = st.session_state.get(key)
    value = None if result is None else result.get("selection")
    workspace = session.workspace()
    state = workspace.state
    if not isinstance(value, dict) or state.data is None:
        return
    try:
        rows = selection_codec.read_selection(value, state.data)
        workspace.set_view_state(selection=rows, browser_version=int(value.get("version", 0)))
    except HetvizError:
        # Made on other data: the browser gets the current selection.
        workspace.set_view_state(selection=workspace.view_state.selection)


def _show_most_moved(state: State, runs_shown: list[MapResult], titles: dict[str, str]) -> None:
    """Show the items that moved most, each a button that selects it on all maps."""
    data = state.opened()
    first, others = runs_shown[0], runs_shown[1:]
    with st.container(horizontal=True, vertical_alignment="center", key="compare-moved-head"):
        look.show_section("Moved most")
        names = {run.id: titles[run.id] for run in others}
        other_id = others[0].id
        if len(others) > 1:
            other_id = st.segmented_control(
                f"Between {titles[first.id]} and",
                list(names),
                format_func=lambda id: look.escape_markdown(names[id]),
                default=other_id,
                required=True,
                key=f"compare-moved-{'-'.join(names)}",
                label_visibility="collapsed",
            )
    other = next(run for run in others if run.id == other_id)
    rows, shares = session.get_or_compute(
        ("moved", id(data), id(first), id(other)),
        (data, first, other),
        lambda: _most_moved(first, other),
    )
    if not len(rows):
        look.show_note("No item is on both maps.")
        return
    look.show_note(
        f"From {titles[first.id]} to {titles[other.id]}, as a share of the map's width. Click an "
        "item to select it on all maps."
    )
    chosen = set(selection.selected_rows(state).tolist())
    with st.container(key="compare-moved"):
        for row, share in zip(rows, shares, strict=True):
            _show_item(data, int(row), float(share), int(row) in chosen)


def _most_moved(first: MapResult, other: MapResult) -> tuple[Ints, Floats]:
    distance = displacements(first.embedding, other.embedding)
    present = np.flatnonzero(np.isfinite(distance))
    rows = present[np.argsort(-distance[present], kind="stable")][:_MAX_ITEMS]
    return rows, distance[rows]


def _show_item(data: HeteroData, row: int, share: float, is_selected: bool) -> None:
    item = find_item(data, row)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key=f"moved-box-{row}"
    ):
        st.html(
            f'<span class="hv-moved">{item_chip.small_face(data, item)}</span>', width="content"
        )
        label = look.escape_markdown(f"{shorten(item.title, _TITLE_CHARS)}, {100 * share:.0f} %")
        # Also of a selected item a click does something: it selects this one alone.
        st.button(
            f"**{label}**" if is_selected else label,
            key=f"moved-{row}",
            type="tertiary",
            on_click=selection.select_rows,
            args=([row],),
        )

"""Saved views of the map: their list, and the view that is presented."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import streamlit as st

from hetviz._types import Bools
from hetviz.data import SavedView
from hetviz.data.queries.saved_views import MAX_SENTENCE, digest_of_map
from hetviz.errors import HetvizError, ParameterError
from hetviz.exports.figures import colouring_of
from hetviz.plots.colour import LAYERS, Colouring, find_option
from hetviz.plots.saved_views import ResolvedView, digest_of_colours, resolve_view
from hetviz.ui.map.component.messages import StorySpec
from hetviz.ui.map_data import layers
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.map_data.parts import get_geometry
from hetviz.ui.shell import people, session, theme
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.workspace import (
    Act,
    ChooseRun,
    Command,
    DropView,
    MapResult,
    MoveView,
    SaveView,
    SetFilters,
    SetView,
    State,
)


@dataclass
class StoryState:
    """The view that is presented, and what the browser showed when the list was opened."""

    at: int | None = None  # Position of the presented view, from 0.
    number: int = 0  # Number of views shown so far.
    shown: ResolvedView | None = None  # The last one.
    seen: dict[str, Any] = field(default_factory=dict)
    n_saved: int = 0  # Part of the key of the field for a sentence.


def presented(state: State) -> tuple[State, ResolvedView] | None:
    """Return what the map shows in place of the state of the project, None without a view."""
    story = state_of(StoryState)
    if story.at is None or state.run is None or state.data is None:
        return None
    if story.at >= len(state.saved_views):
        # Another tab has removed it.
        story.at = None
        return None
    resolved = _resolve(state, state.saved_views[story.at])
    story.shown = resolved
    return _state_of(state, resolved), resolved


def story_spec(state: State) -> StorySpec | None:
    """Return the last view that was shown, for the browser."""
    story = state_of(StoryState)
    if story.shown is None:
        return None
    legend, camera = story.shown.legend, story.shown.camera
    ranges = None if camera is None else {axis: list(camera[axis]) for axis in ("x", "y")}
    return {
        "number": story.number,
        "at": story.at,
        "n": len(state.saved_views),
        "text": story.shown.view.text,
        "facts": story.shown.facts,
        "notes": list(story.shown.notes),
        "camera": None if ranges is None else {"x": ranges["x"], "y": ranges["y"]},
        "legend": {
            "hidden": legend.hidden,
            "only": legend.only,
            "datasets": legend.datasets,
            "range": None if legend.range is None else list(legend.range),
        },
    }


def on_seen(value: object) -> None:
    """Remember the camera and the legend of the browser."""
    if isinstance(value, dict):
        state_of(StoryState).seen = value


def on_present(value: object) -> None:
    """Present another view, or end the presentation."""
    state, at = session.workspace().state, value.get("at") if isinstance(value, dict) else None
    if isinstance(at, int) and 0 <= at < len(state.saved_views):
        _present(at)
    else:
        _end()


def page_views(state: State, hidden: tuple[str, ...], sid: str) -> list[ResolvedView]:
    """Return the saved views as the page of the shown map has them; `sid` is the project."""
    run = state.run
    if run is None:
        return []
    placed = get_geometry(state, run).placed.copy()
    for name in hidden:
        placed[state.opened().offsets[name]] = False
    return [_resolve(state, view, sid, run, placed) for view in state.saved_views]


def show_list(state: State) -> None:
    """Show the form for a new view and the list of views."""
    views = state.saved_views
    can_edit = people.get_role(project_id()) != "look"
    with st.container(horizontal=True, vertical_alignment="center"):
        theme.show_section("Saved views", f"{len(views):,}" if views else "")
        if views:
            st.button("Present", type="primary", key="present", on_click=_present, args=(0,))
    if can_edit:
        _show_form(state)
    elif not views:
        theme.show_note("This project has no saved views.")
    with st.container(border=False, key="view-list", gap="small"):
        for at, view in enumerate(views):
            _show_view(state, view, at, can_edit)


def _show_form(state: State) -> None:
    story = state_of(StoryState)
    if story.seen.get("geography"):
        theme.show_note("Views are saved on the map. Switch from Geography to Map first.")
        return
    key = f"view-text-{story.n_saved}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "What does the map show now?",
            key=key,
            max_chars=MAX_SENTENCE,
            placeholder="One sentence",
        )
        st.button("Save view", key="save-view", on_click=_save, args=(key,))
    theme.show_note(f"Saved with it: {_summary(state, _sketch(state, '…'))}.")


def _show_view(state: State, view: SavedView, at: int, can_edit: bool) -> None:
    is_last = at == len(state.saved_views) - 1
    with st.container(key=f"view-{view.id}", gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button(
                f"{at + 1}",
                key=f"view-go-{view.id}",
                help="Show this view",
                on_click=_go if can_edit else _present,
                args=(view.id if can_edit else at,),
            )
            if not can_edit:
                st.text(view.text)
            else:
                key = f"view-text-{view.id}-{view.text}"
                st.text_input(
                    f"Sentence of view {at + 1}",
                    value=view.text,
                    max_chars=MAX_SENTENCE,
                    key=key,
                    label_visibility="collapsed",
                    on_change=_rename,
                    args=(view.id, key),
                )
                up, down = MoveView(view.id, at - 1), MoveView(view.id, at + 1)
                _icon_button("arrow_upward", f"view-up-{view.id}", "Move up", up, at == 0)
                _icon_button("arrow_downward", f"view-down-{view.id}", "Move down", down, is_last)
                st.button(
                    "",
                    icon=":material/sync:",
                    key=f"view-update-{view.id}",
                    type="tertiary",
                    help="Replace it by what the map shows now. The sentence stays.",
                    on_click=_update,
                    args=(view.id,),
                )
                _icon_button("close", f"view-drop-{view.id}", "Remove", DropView(view.id))
        # Each run of the page needs them, also while the list is closed.
        notes = () if view.colour in LAYERS else _notes_of(state, view)
        theme.show_note(" ".join([f"{_summary(state, view)}.", *notes]))


def _notes_of(state: State, view: SavedView) -> tuple[str, ...]:
    ids = id(view), id(state.run), id(state.runs), id(state.clustering)
    key = ("notes of view", *ids, state.view.colour)
    keep_alive = (view, state.run, state.runs, state.clustering)
    notes: tuple[str, ...] = RESULTS.get_or_compute(
        state.opened(), key, lambda: _resolve(state, view).notes, keep_alive
    )
    return notes


def _icon_button(icon: str, key: str, help: str, command: Command, disabled: bool = False) -> None:
    st.button(
        "",
        icon=f":material/{icon}:",
        key=key,
        type="tertiary",
        help=help,
        disabled=disabled,
        on_click=session.on_command,
        args=(command,),
    )


def _summary(state: State, view: SavedView) -> str:
    """Return what a view holds, in words."""
    option = find_option(state.opened(), view.colour) or LAYERS.get(view.colour)
    title = option.title if option else view.colour or "as it is"
    parts = ["Whole map" if view.camera is None else "Part of the map", f"colour {title}"]
    if view.filters:
        parts.append(theme.count(len(view.filters), "filter"))
    if view.hidden:
        parts.append(f"without {theme.join_words(list(view.hidden))}")
    if view.legend:
        parts.append("parts of the legend")
    selected = sum(map(len, view.selection.values()))
    if selected:
        parts.append(f"{selected:,} selected")
    return ", ".join(parts)


def _view_now(state: State, text: str) -> SavedView:
    """Return a view of what the map shows, with what tells later whether that has changed."""
    view, run = _sketch(state, text), state.run
    colours = layers.colours_of(state, run, project_id())
    digest = "" if view.colour in LAYERS else digest_of_colours(colours)
    n_shown = int(_resolve(state, view).shown.sum())
    return replace(view, map="" if run is None else _digest(run), colours=digest, n_shown=n_shown)


def _sketch(state: State, text: str) -> SavedView:
    """Return what the map shows."""
    data, run, workspace = state.opened(), state.run, session.workspace()
    seen = state_of(StoryState).seen
    colours = layers.colours_of(state, run, project_id())
    is_layer = state.view.colour in LAYERS
    codes = seen.get("legend") or {}
    legend = {
        part: [
            colours.categories[code]
            for code in codes.get(part, ())
            if code < len(colours.categories)
        ]
        for part in ("hidden", "only")
    } | {part: codes.get(part) or [] for part in ("datasets", "range")}
    rows = workspace.view_state.selection
    selection = {
        name: data[name].ids[rows[(rows >= span.start) & (rows < span.stop)] - span.start].tolist()
        for name, span in data.offsets.items()
    }
    return SavedView(
        text,
        map_title="" if run is None else run.title,
        camera=seen.get("camera"),
        colour=str(state.view.colour) if is_layer else colours.option.key,
        filters=state.filters,
        hidden=state.view.hidden,
        selection=selection,
        legend=legend,
    )


def _resolve(
    state: State,
    view: SavedView,
    sid: str | None = None,
    run: MapResult | None = None,
    placed: Bools | None = None,
) -> ResolvedView:
    """Return a view on its map, if that is still there, or on the given or shown one."""
    data, sid = state.opened(), project_id() if sid is None else sid
    run = run or _map_of(state, view) or state.run
    if run is None:
        raise HetvizError("There is no map yet.")
    embedding = state.embedding(run)
    layer_keys = {option.key for option in layers.layer_options(state, run)}

    def colours_of(key: str | None) -> Colouring:
        shown = replace(state, view=replace(state.view, colour=key))
        return layers.colours_of(shown, run, sid)

    def find_colours(key: str) -> Colouring | None:
        if find_option(data, key) is not None or key in layer_keys:
            return colours_of(key)
        try:
            # Views of the library may name a title.
            return (
                None
                if embedding is None
                else colours_of(colouring_of(data, embedding, key).option.key)
            )
        except ParameterError:
            return None

    return resolve_view(
        data,
        view,
        (_digest(run), run.title),
        get_geometry(state, run).placed if placed is None else placed,
        find_colours,
        colours_of(state.view.colour),
    )


def _map_of(state: State, view: SavedView) -> MapResult | None:
    """Return the map that a view was saved on, the shown one if it was saved on none."""
    if not view.map:
        return state.run
    return next((run for run in state.runs if _digest(run) == view.map), None)


def _digest(run: MapResult) -> str:
    digest: str = RESULTS.get_or_compute(
        run.embedding, "digest", lambda: digest_of_map(run.embedding)
    )
    return digest


def _state_of(state: State, resolved: ResolvedView) -> State:
    """Return the state that shows a view."""
    view = resolved.view
    run = _map_of(state, view)
    key = view.colour if view.colour in LAYERS else resolved.colours.option.key
    settings = replace(state.view, colour=key, hidden=resolved.hidden)
    chosen = state.chosen if run is None else run.id
    return replace(state, chosen=chosen, view=settings, filters=resolved.filters)


def _save(key: str) -> None:
    text = str(st.session_state[key])
    if not text.strip():
        session.add_message("Write a sentence about the view first.", "note")
        return
    state = session.workspace().state
    if session.run_command(SaveView(_view_now(state, text))):
        state_of(StoryState).n_saved += 1


def _rename(id: str, key: str) -> None:
    view = _find(id)
    text = str(st.session_state[key]).strip()
    # Enter and leaving the field may report the same change twice.
    if view is not None and text and text != view.text:
        session.run_command(SaveView(replace(view, text=text)))


def _update(id: str) -> None:
    view = _find(id)
    if view is not None:
        now = _view_now(session.workspace().state, view.text)
        session.run_command(SaveView(replace(now, id=id)))


def _find(id: str) -> SavedView | None:
    views = session.workspace().state.saved_views
    return next((view for view in views if view.id == id), None)


def _go(id: str) -> None:
    """Show a view as the state of the project, as one step."""
    workspace, view = session.workspace(), _find(id)
    if view is None:
        return
    state, story = workspace.state, state_of(StoryState)
    resolved = _resolve(state, view)
    after = _state_of(state, resolved)
    steps: list[Command] = []
    if after.chosen not in (state.chosen, None):
        steps.append(ChooseRun(str(after.chosen)))
    if (after.view.colour, after.view.hidden) != (state.view.colour, state.view.hidden):
        steps.append(SetView(colour=after.view.colour, hidden=after.view.hidden))
    if after.filters != state.filters:
        steps.append(SetFilters(after.filters))
    if steps and not session.run_command(Act(steps, "view")):
        return
    workspace.set_view_state(selection=np.array(resolved.rows))
    story.at, story.number, story.shown = None, story.number + 1, resolved
    for note in resolved.notes:
        session.add_message(note, "note")


def _present(at: int) -> None:
    story = state_of(StoryState)
    story.at, story.number = at, story.number + 1


def _end() -> None:
    story, workspace = state_of(StoryState), session.workspace()
    if story.at is None:
        return
    story.at, story.number = None, story.number + 1
    # The browser takes the selection of the project again.
    version = workspace.selection_version + story.number + 2
    workspace.set_view_state(selection=workspace.view_state.selection, browser_version=version)

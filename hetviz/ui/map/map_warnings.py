"""Warnings about data, joins and maps, each with an action that fixes the problem."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import streamlit as st

from hetviz._text import format_score, per_hundred, round_percent
from hetviz.data.queries.reach import LinkWarning, Reach, link_reach
from hetviz.plots.colour import colour_options
from hetviz.plots.planar import unconnected_note
from hetviz.ui.map_data import parts
from hetviz.ui.shell import background, navigation, selection, session, theme
from hetviz.workspace import (
    Act,
    ChooseRun,
    Command,
    DropDataset,
    LeaveLinks,
    LeaveUnlinked,
    MapResult,
    SetView,
    State,
)

MAX_SHARE_CHANGED = 0.2
"""If more of the data changed, *Make it again* chooses the method again."""

WarningKind = Literal[
    "stale",
    "unjoined",
    "unlinked",
    "crowded",
    "crowded-join",
    "not-joined",
    "unplaced",
    "enlarged",
    "poor-colour",
    "better-neighbours",
    "note",
    "unsettled",
]


@dataclass(frozen=True)
class MapWarning:
    """A warning with an action, or with the page that has one."""

    kind: WarningKind
    # text, label: Message and label of the action.
    text: str
    label: str
    action: Callable[[], None] | None = None
    page: str = ""  # Name of a page, if there is no `action`
    subject: str = ""  # Distinguishes warnings of the same kind
    evidence: str = ""  # Key of the rows behind the text

    def __post_init__(self) -> None:
        if (self.action is None) == (not self.page):
            raise ValueError(f"{self.kind}: a warning needs either an action or a page")


def show_warnings(warnings: Iterable[MapWarning], place: str = "") -> None:
    """Show warnings with their actions; `place` makes the widget keys unique."""
    for warning in warnings:
        text = theme.evidence_html(theme.escape_html(warning.text), warning.evidence)
        st.html(f'<div class="hv-conflict"><p>{text}</p></div>')
        if warning.action is None:
            navigation.show_link(warning.page, theme.escape_markdown(warning.label))
        else:
            key = "-".join(filter(None, ("mend", warning.kind, warning.subject, place)))
            st.button(theme.escape_markdown(warning.label), key=key, on_click=warning.action)


def link_warnings(state: State) -> list[MapWarning]:
    """Return warnings about the links of the open data."""
    data = state.data
    if data is None or not data.links:
        return []
    links_reach = session.get_or_compute(("reach", id(data)), data, lambda: link_reach(data))
    return [_caution_warning(links_reach, caution) for caution in links_reach.link_warnings]


def _caution_warning(link_reach: Reach, caution: LinkWarning) -> MapWarning:
    name = caution.dataset
    if caution.kind == "crowded":
        act, label = LeaveLinks(name, caution.id), "Remove its links"
        return MapWarning("crowded", caution.words, label, _run_on_click(act), subject=name)
    if link_reach.linked[name]:
        label = f"Leave {link_reach.n_unlinked(name):,} {name} out"
        return MapWarning(
            "unlinked",
            caution.words,
            label,
            _run_on_click(LeaveUnlinked(name)),
            subject=name,
            evidence=theme.evidence_key("unlinked", name),
        )
    label = f"Leave {name} out"
    return MapWarning(
        "unlinked", caution.words, label, _run_on_click(DropDataset(name)), subject=name
    )


def join_warnings(command: Command, link_reach: Reach, about: str) -> list[MapWarning]:
    """Return warnings about the links that a command would make."""
    return [
        MapWarning(
            "crowded-join",
            caution.words,
            "Link all others",
            _run_on_click(
                Act(
                    [command, LeaveLinks(caution.dataset, caution.id)],
                    name=command.undo_label,
                )
            ),
            subject=about,
        )
        for caution in link_reach.hub_warnings
    ]


def unjoinable_warning(text: str, ticks: Iterable[str]) -> MapWarning:
    """Return a warning about ticked columns that cannot be joined."""

    def untick() -> None:
        for key in ticks:
            st.session_state[key] = False

    return MapWarning("not-joined", text, "Clear all ticks", untick)


def map_warnings(state: State, run: MapResult, figures: Mapping[str, object]) -> list[MapWarning]:
    """Return warnings about a map, the most important first."""
    if state.data is None:
        return []
    links = link_warnings(state)
    unplaced = _unplaced_warnings(
        state, run, {warning.subject for warning in links if warning.kind == "unlinked"}
    )
    notes, unjoined = _note_warnings(figures), _unjoined_warnings(state, run)
    # Another warning with an action says these already.
    repeated = [
        *(["left off the map."] if unplaced or links else []),
        *(["positions cannot be compared."] if unjoined else []),
    ]
    notes = [warning for warning in notes if not warning.text.endswith(tuple(repeated))]
    return [
        *_stale_warnings(state, run),
        *unjoined,
        *links,
        *unplaced,
        *_colour_warnings(state, run, figures),
        *_enlarged_warnings(state, run),
        *_neighbour_warnings(state, run, figures),
        *notes,
    ]


def _stale_warnings(state: State, run: MapResult) -> list[MapWarning]:
    if state.is_current(run) or background.running_job() is not None:
        return []
    return [
        MapWarning(
            "stale", "The data changed since this map was made.", "Make it again", make_map_again
        )
    ]


def make_map_again() -> None:
    """Refit the shown map, or choose its method again if much of the data changed."""
    state = session.workspace().state
    share = None if state.run is None else state.share_changed_since(state.run)
    if share is not None and share > MAX_SHARE_CHANGED:
        session.add_message(
            f"{round_percent(share)} of the data changed since the map was made, so the method is "
            "chosen again.",
            "note",
        )
    elif background.refit(state, requested=True):
        return
    # The method of the original map may be unknown.
    background.make_first_map()


def _unjoined_warnings(state: State, run: MapResult) -> list[MapWarning]:
    embedding = state.embedding(run)
    texts = [] if embedding is None else unconnected_note(embedding, state.view.hidden)
    return [MapWarning("unjoined", text, "Link them", page="data") for text in texts]


def _unplaced_warnings(state: State, run: MapResult, reported: Collection[str]) -> list[MapWarning]:
    """Return a warning about items without a position, except in reported datasets."""
    data = state.data
    # A map of selected items leaves out the others on purpose.
    if data is None or run.only is not None:
        return []
    mask = parts.visible_mask(state) & ~parts.get_geometry(state, run).placed
    for name in reported:
        mask[data.offsets[name]] &= not data[name].is_featureless
    rows = np.flatnonzero(mask)
    if not len(rows):
        return []
    have = "has" if len(rows) == 1 else "have"
    text = f"{theme.count(len(rows), 'item')} {have} no position on this map."
    return [
        MapWarning(
            "unplaced",
            text,
            "Select them",
            partial(selection.select_rows, rows.tolist()),
            evidence=theme.evidence_key("unplaced"),
        )
    ]


def _colour_warnings(
    state: State, run: MapResult, figures: Mapping[str, object]
) -> list[MapWarning]:
    """Return a warning if neighbours differ in the current colour, with a better colour."""
    # Imported here because it loads scikit-learn.
    from hetviz.metrics.color_choice import MIN_COLOR_SCORE, color_agreement

    data, current, best = state.data, state.view.colour, figures.get("colour")
    if data is None or current is None or best is None or current == best:
        return []
    titles = {option.key: option.title for option in colour_options(data)}
    if current not in titles or best not in titles:
        return []
    score = session.get_or_compute(
        ("tells", id(data), id(run), current),
        (data, run),
        lambda: color_agreement(data, run.embedding, current),
    )
    if score >= MIN_COLOR_SCORE:
        return []
    text = f"“{titles[current]}” does not match this map: neighbours share it as if by chance."
    return [
        MapWarning(
            "poor-colour", text, f"Colour by “{titles[best]}”", _run_on_click(SetView(colour=best))
        )
    ]


def _neighbour_warnings(
    state: State, run: MapResult, figures: Mapping[str, Any]
) -> list[MapWarning]:
    """Return a warning if another map has better neighbours, with the links it loses."""
    best = figures.get("best_neighbours") or {}
    # Maps of earlier versions lack the parameters of the other map.
    if not best.get("offered"):
        return []
    text = (
        "When methods were tried, neighbours were more similar in the data on another map, "
        f"{best['title']} ({format_score(best['score'])}), than with the method of this one "
        f"({format_score(best['chosen'])})."
    )
    other_share, share = best.get("kept"), best.get("chosen_kept")
    if other_share is not None and share is not None:
        text += (
            f" This method found {per_hundred(share)} % of the hidden links again. The other one "
            f"found {per_hundred(other_share)} %."
        )
    existing = [
        other
        for other in state.runs
        if other.method == best["method"]
        and _settings(other.method, other.params) == _settings(best["method"], best["params"])
        and state.is_current(other)
    ]
    if existing:
        return [
            MapWarning(
                "better-neighbours",
                text,
                "Show that map",
                _run_on_click(ChooseRun(existing[-1].id)),
            )
        ]

    def make() -> None:
        args = best["method"], best["title"], best["params"]
        background.make_map(*args, run.seed, run.hold_out)

    return [MapWarning("better-neighbours", text, "Make that map", make)]


def _settings(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a method; stored ones may lack the defaults."""
    from hetviz.algorithms.registry import get_method

    defaults = {name: param.default for name, param in get_method(method).params.items()}
    return defaults | dict(params)


def _enlarged_warnings(state: State, run: MapResult) -> list[MapWarning]:
    return [
        MapWarning("enlarged", text, "Try another method", page="compare")
        for text in parts.get_geometry(state, run).notes
    ]


def _note_warnings(figures: Mapping[str, Any]) -> list[MapWarning]:
    early = set(figures.get("unsettled", ()))
    return [
        MapWarning("unsettled", str(text), "Try another method", page="compare")
        if text in early
        else MapWarning("note", str(text), "See the data", page="data")
        for text in figures.get("notes", ())
    ]


def _run_on_click(command: Command) -> Callable[[], None]:
    def do() -> None:
        session.run_command(command)

    return do

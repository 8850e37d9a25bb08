"""List of maps: choose, rename, star and remove them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

import streamlit as st

from hetviz._text import round_percent
from hetviz.data import HeteroData
from hetviz.errors import ParameterError
from hetviz.params import Choice, Param, PerDataset, PinList
from hetviz.ui.item import item_text
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import charts, weights
from hetviz.workspace import ChooseRun, DropRun, MapResult, RenameRun, StarRun, State

_MAX_TITLE_CHARS = 80
_MIN_RUNS_SCROLLED = 4
_LIST_HEIGHT = 300


def show_history(state: State) -> None:
    """Show the list of maps."""
    if not state.runs:
        return
    theme.show_section("Maps", f"{len(state.runs):,}")
    runs = sort_runs(state)
    height: int | Literal["content"] = (
        _LIST_HEIGHT if len(runs) >= _MIN_RUNS_SCROLLED else "content"
    )
    with st.container(height=height, border=False, key="map-list"):
        for run in runs:
            _show_run(state, run)


def sort_runs(state: State) -> list[MapResult]:
    """Return the maps, starred ones first, then the newest."""
    newest = list(reversed(state.runs))
    return [run for run in newest if run.starred] + [run for run in newest if not run.starred]


def _show_run(state: State, run: MapResult) -> None:
    with st.container(border=True, key=f"map-{run.id}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            key = f"map-name-{run.id}-{run.title}"
            st.text_input(
                "Name of this map",
                value=run.title,
                max_chars=_MAX_TITLE_CHARS,
                key=key,
                label_visibility="collapsed",
                on_change=_rename_run,
                args=(run.id, key),
            )
            is_shown = run.id == state.chosen
            _run_button(
                "Shown" if is_shown else "Show",
                f"show-{run.id}",
                ChooseRun(run.id),
                disabled=is_shown,
            )
            star = ("★", "Remove the star") if run.starred else ("☆", "Keep at the top")
            _run_button(star[0], f"star-{run.id}", StarRun(run.id, not run.starred), star[1])
            _run_button("×", f"drop-{run.id}", DropRun(run.id), "Remove this map. You can undo it.")
        theme.show_note(" · ".join(run_facts(state, run)))


def _run_button(
    label: str,
    key: str,
    command: ChooseRun | StarRun | DropRun,
    help: str | None = None,
    disabled: bool = False,
) -> None:
    kind: Literal["secondary", "tertiary"] = "secondary" if help is None else "tertiary"
    st.button(
        label,
        key=key,
        type=kind,
        help=help,
        disabled=disabled,
        on_click=session.on_command,
        args=(command,),
    )


def run_facts(state: State, run: MapResult) -> list[str]:
    """Return short texts about the origin and the scores of a map."""
    method = _find_method(run.method)
    texts = [] if method is None or method[0] == run.title else [method[0]]
    texts += [time_text(run.when)] if run.when else ["original map"]
    figures = run.figures or {}
    score = charts.close_text(figures)
    if score is not None:
        texts.append(score)
        hidden_score = figures.get("scores", {}).get("links_kept_held_out")
        if hidden_score is not None:
            texts.append(f"{round_percent(hidden_score)} of hidden links are close")
    placed = sum(int(mask.sum()) for mask in run.embedding.placed.values())
    texts.append(theme.count(placed, "item"))
    if not state.is_current(run):
        texts.append("data changed since")
    return texts + changed_settings(state.data, run)


def changed_settings(data: HeteroData | None, run: MapResult) -> list[str]:
    """Return texts about the parameters that differ from their defaults."""
    method = _find_method(run.method)
    declared = {} if method is None else method[1]
    texts = [
        f"{(param.label or name).lower()}: {_value_text(param, run.params[name])}"
        for name, param in declared.items()
        if name in run.params and run.params[name] != param.default and name != "random_state"
    ]
    if run.hold_out:
        texts.append(f"{item_text.share_text(run.hold_out)} of the links hidden")
    for key, factor in run.weights.items():
        kind = key if data is None else weights.kind_title(data, key)
        texts.append(f"without {kind}" if factor == 0 else f"{kind} × {factor:g}")
    if run.seed:
        texts.append(f"seed {run.seed}")
    return texts


def _find_method(key: str) -> tuple[str, dict[str, Param]] | None:
    from hetviz.algorithms.registry import get_method

    try:
        method = get_method(key)
    except ParameterError:
        # The original map may have a method that this version lacks.
        return None
    return method.card.title, dict(method.params)


def _value_text(param: Param, value: object) -> str:
    if isinstance(param, PerDataset) and isinstance(value, dict):
        return ", ".join(
            f"{name} {_value_text(param.inner, inner)}" for name, inner in value.items()
        )
    if isinstance(param, PerDataset):
        return _value_text(param.inner, value)
    if isinstance(param, Choice) and value in param.options:
        return str(param.options[value] or value)
    if isinstance(param, PinList) and isinstance(value, list):
        return str(len(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def time_text(text: str) -> str:
    """Return a time in the time zone of the visitor."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    year = "" if moment.year == datetime.now(UTC).year else f" {moment.year}"
    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError):
        return f"{moment:%-d %B}{year}, {moment:%H:%M} UTC"
    here = moment.astimezone(zone)
    return f"{here:%-d %B}{year}, {here:%H:%M}"


def _rename_run(run: str, key: str) -> None:
    session.run_command(RenameRun(run, str(st.session_state[key])))

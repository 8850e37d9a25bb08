"""Slider between features and links for the shown joint map."""

from __future__ import annotations

import streamlit as st

from hetviz.algorithms.ranking import shape_of
from hetviz.algorithms.registry import get_method
from hetviz.data import HeteroData
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import MapResult, State

_METHOD, _PARAM = "joint-map", "links_over_features"
_STEP = 0.05


def show_balance(state: State, run: MapResult) -> None:
    """Show the slider if it has an effect on this map."""
    position = slider_position(state, run)
    if position is None:
        return
    others = other_end(state.opened())
    theme.show_section(f"Features or {others}")
    # The key holds the map, so that the slider shows the position of a map that undo brings back.
    key = f"balance-{run.id}"
    st.slider(
        f"Places follow features (0 %) or {others} (100 %)",
        0.0,
        1.0,
        position,
        _STEP,
        format="percent",
        key=key,
        disabled=background.running_job() is not None,
        help="Moves this map. 50 % is the standard balance. Undo brings the earlier map back.",
        on_change=_refit,
        args=(key,),
    )


def other_end(data: HeteroData) -> str:
    """Return what holds datasets together: links, or the items that tables share."""
    return "links" if data.links else "shared items"


def slider_position(state: State, run: MapResult) -> float | None:
    """Return the position of a map, from 0 (features) to 1 (links); None without a slider."""
    if state.data is None or run.method != _METHOD:
        return None
    if shape_of(state.data) not in ("linked", "network"):
        return None
    position = run.params.get(_PARAM)
    if position is not None:
        return float(position)
    # The other two parameters were set one by one.
    declared = get_method(_METHOD).params
    single = ("own_share", "link_strength")
    is_default = all(
        run.params.get(name, declared[name].default) == declared[name].default for name in single
    )
    return 0.5 if is_default else None


def _refit(key: str) -> None:
    # Imported late because it loads the numerical libraries.
    from hetviz.algorithms.joint_map import NEW_BALANCE

    state = session.workspace().state
    params = {_PARAM: float(st.session_state[key])}
    background.refit(state, requested=True, params=params, start_note=NEW_BALANCE)

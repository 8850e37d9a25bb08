"""What the browser wishes of groups on the map: keys pressed there, an item let go elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from hetviz.errors import HetvizError
from hetviz.ui.map import selection_codec
from hetviz.ui.map.array_cache import ARRAY_CACHE, PackedArray
from hetviz.ui.map.parts import get_geometry, visible_mask
from hetviz.ui.shell import session
from hetviz.ui.statements import actions, preview, statement_draft
from hetviz.ui.statements.statement_draft import KIND_TITLES
from hetviz.workspace import State

_N_PROPOSED = 4
_LAST_HANDLED = "acts-heard"


def handle_requests(value: object) -> None:
    """Do what the browser wished, each wish once; what does not fit is passed over.

    A message holds the wishes that the browser does not know to be heard, in order.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("wishes"), list):
        return
    if value.get("rows") != session.workspace().view_state.fingerprint:
        return
    for wish in value["wishes"]:
        number = wish.get("n") if isinstance(wish, Mapping) else None
        if isinstance(number, int) and number > last_handled():
            st.session_state[_LAST_HANDLED] = number
            try:
                _handle_request(wish)
            except HetvizError as error:
                session.add_message(str(error))


def last_handled() -> int:
    """Return the number of the last wish that was heard."""
    return int(st.session_state.get(_LAST_HANDLED, 0))


def _handle_request(wish: Mapping[str, Any]) -> None:
    state = session.workspace().state
    match wish.get("what"):
        case "group":
            rows = selection_codec.unpack_rows(wish.get("packed"), state.opened().n_rows)
            statement_draft.set_group(str(wish.get("group")), rows)
        case "say" if wish.get("how") in KIND_TITLES:
            _choose_or_add(state, wish["how"])
        case "drop":
            _on_drop(state, wish)
        case "forget":
            statement_draft.clear_groups()


def draft_spec(state: State, owner: str) -> dict[str, Any]:
    """Return what the map draws of it: keys of the groups' rows, pairs, a dropped item."""
    made = actions.get_draft(state)
    groups = statement_draft.get_groups(state)
    foreseen = None if made is None else preview.find_preview(state, made)
    return {
        "groups": {
            name: ARRAY_CACHE.put(owner, PackedArray.of(rows, "<i4"))
            for name, rows in groups.items()
        },
        "preview": [] if made is None else made.lines,
        "ghosts": [] if foreseen is None else foreseen.ghosts,
        "dropped": list(statement_draft.get_statement().dropped or ()) or None,
        "rows": session.workspace().view_state.fingerprint,
        "heard": last_handled(),
    }


def _choose_or_add(state: State, how: statement_draft.StatementKind) -> None:
    """Choose what to say; the second time, say it."""
    if statement_draft.get_statement().how == how and actions.get_draft(state) is not None:
        actions.add_statement()
    else:
        statement_draft.choose_kind(how)


def _on_drop(state: State, value: Mapping[str, Any]) -> None:
    """Take what lies where an item was let go for what it belongs with."""
    row, x, y = int(value["row"]), float(value["x"]), float(value["y"])
    form = get_geometry(state, state.run)
    if not (0 <= row < len(form.points) and math.isfinite(x) and math.isfinite(y)):
        return
    far = np.hypot(form.points[:, 0] - x, form.points[:, 1] - y)
    far[~(visible_mask(state) & form.placed)] = np.inf
    far[row] = np.inf
    near = np.argsort(far)[:_N_PROPOSED]
    near = near[np.isfinite(far[near])]
    statement_draft.clear_groups()
    statement_draft.set_group("A", np.array([row]))
    statement_draft.set_group("B", near)
    statement_draft.choose_kind("together")
    statement_draft.change_statement(dropped=(row, x, y), proposed=tuple(int(one) for one in near))

"""Requests of the browser about groups on the map: pressed keys and dropped items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hetviz.errors import HetvizError
from hetviz.ui.map.component.messages import DraftSpec
from hetviz.ui.map_data import selection_codec, spread
from hetviz.ui.map_data.array_cache import PackedArray, send_array
from hetviz.ui.map_data.parts import get_geometry, visible_mask
from hetviz.ui.shell import background, session
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.statements import actions, preview, statement_draft
from hetviz.ui.statements.statement_draft import NEEDED_GROUPS, StatementState
from hetviz.workspace import State

_N_PROPOSED = 4


def handle_requests(value: object) -> None:
    """Handle the requests of the browser once each and in order; invalid ones are ignored."""
    # A message repeats all requests that the browser has no acknowledgement for.
    if not isinstance(value, Mapping) or not isinstance(value.get("requests"), list):
        return
    if value.get("fingerprint") != session.workspace().view_state.fingerprint:
        return
    for request in value["requests"]:
        number = request.get("number") if isinstance(request, Mapping) else None
        if isinstance(number, int) and number > last_handled():
            state_of(StatementState).last_request = number
            try:
                _handle_request(request)
            except HetvizError as error:
                session.add_message(str(error))


def last_handled() -> int:
    """Return the number of the last request that was handled."""
    return state_of(StatementState).last_request


def _handle_request(request: Mapping[str, Any]) -> None:
    state = session.workspace().state
    match request.get("kind"):
        case "group":
            rows = selection_codec.unpack_rows(request.get("packed"), state.opened().n_rows)
            statement_draft.set_group(str(request.get("group")), rows)
        case "statement" if request.get("statement") in NEEDED_GROUPS:
            _choose_or_add(state, request["statement"])
        case "drop" if "onto" in request:
            _on_drop_onto(state, request)
        case "drop":
            _on_drop(state, request)
        case "cancel":
            statement_draft.clear_groups()
        case "spread" if spread.can_measure(state.run):
            background.measure_spread(state)


def draft_spec(state: State, owner: str) -> DraftSpec:
    """Return the groups, the preview and the dropped item for the map component."""
    draft = actions.get_draft(state)
    groups = statement_draft.get_groups(state)
    expected = None if draft is None else preview.find_preview(state, draft)
    return {
        "groups": {
            name: send_array(owner, PackedArray.pack(rows, "<i4")) for name, rows in groups.items()
        },
        "pairs": [] if draft is None else draft.lines,
        "count": "" if draft is None else f"{draft.n:,}",
        "moves": [] if expected is None else expected.moves,
        "dropped": list(statement_draft.get_statement().dropped or ()) or None,
        "fingerprint": session.workspace().view_state.fingerprint,
        "acknowledged": last_handled(),
    }


def _choose_or_add(state: State, kind: statement_draft.StatementKind) -> None:
    """Choose the kind of statement; the second press adds it."""
    if statement_draft.get_statement().kind == kind and actions.get_draft(state) is not None:
        actions.add_statement()
    else:
        statement_draft.choose_kind(kind)


def _on_drop_onto(state: State, value: Mapping[str, Any]) -> None:
    """Draft that an item belongs with the one that it was dropped onto."""
    rows = int(value["row"]), int(value["onto"])
    if rows[0] == rows[1] or not all(0 <= row < state.opened().n_rows for row in rows):
        return
    statement_draft.clear_groups()
    statement_draft.draft_together(rows[0], rows[1:])


def _on_drop(state: State, value: Mapping[str, Any]) -> None:
    """Propose the items nearest to where an item was dropped."""
    row, x, y = int(value["row"]), float(value["x"]), float(value["y"])
    form = get_geometry(state, state.run)
    if not (0 <= row < len(form.points) and math.isfinite(x) and math.isfinite(y)):
        return
    distance = np.hypot(form.points[:, 0] - x, form.points[:, 1] - y)
    distance[~(visible_mask(state) & form.placed)] = np.inf
    distance[row] = np.inf
    nearest = np.argsort(distance)[:_N_PROPOSED]
    nearest = nearest[np.isfinite(distance[nearest])]
    statement_draft.clear_groups()
    statement_draft.set_group("A", np.array([row]))
    statement_draft.set_group("B", nearest)
    statement_draft.choose_kind("together")
    statement_draft.change_statement(
        dropped=(row, x, y), proposed=tuple(int(nearest_row) for nearest_row in nearest)
    )

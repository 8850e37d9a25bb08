"""What the browser wishes of groups on the map: keys pressed there, an item let go elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from hetviz.errors import HetvizError
from hetviz.ui.map import selection_codec
from hetviz.ui.map.array_cache import SHELVES, Packed
from hetviz.ui.map.parts import geometry, seen
from hetviz.ui.shell import session
from hetviz.ui.statements import draft, preview, wording
from hetviz.ui.statements.wording import HOWS
from hetviz.workspace import State

_PROPOSED = 4
_HEARD = "acts-heard"


def acted(value: object) -> None:
    """Do what the browser wished, each wish once; what does not fit is passed over.

    A message holds the wishes that the browser does not know to be heard, in order.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("wishes"), list):
        return
    if value.get("rows") != session.workspace().glance.fingerprint:
        return
    for wish in value["wishes"]:
        number = wish.get("n") if isinstance(wish, Mapping) else None
        if isinstance(number, int) and number > heard():
            st.session_state[_HEARD] = number
            try:
                _one(wish)
            except HetvizError as error:
                session.tell(str(error))


def heard() -> int:
    """Return the number of the last wish that was heard."""
    return int(st.session_state.get(_HEARD, 0))


def _one(wish: Mapping[str, Any]) -> None:
    state = session.workspace().state
    match wish.get("what"):
        case "group":
            rows = selection_codec.rows_of_bits(wish.get("packed"), state.opened().n_rows)
            wording.set_group(str(wish.get("group")), rows)
        case "say" if wish.get("how") in HOWS:
            _say(state, wish["how"])
        case "drop":
            _dropped(state, wish)
        case "forget":
            wording.clear()


def spec(state: State, owner: str) -> dict[str, Any]:
    """Return what the map draws of it: keys of the groups' rows, pairs, a dropped item."""
    made = draft.draft(state)
    groups = wording.groups(state)
    foreseen = None if made is None else preview.of(state, made)
    return {
        "groups": {
            name: SHELVES.put(owner, Packed.of(rows, "<i4")) for name, rows in groups.items()
        },
        "preview": [] if made is None else made.lines,
        "ghosts": [] if foreseen is None else foreseen.ghosts,
        "dropped": list(wording.saying().dropped or ()) or None,
        "rows": session.workspace().glance.fingerprint,
        "heard": heard(),
    }


def _say(state: State, how: wording.How) -> None:
    """Choose what to say; the second time, say it."""
    if wording.saying().how == how and draft.draft(state) is not None:
        draft.add()
    else:
        wording.choose(how)


def _dropped(state: State, value: Mapping[str, Any]) -> None:
    """Take what lies where an item was let go for what it belongs with."""
    row, x, y = int(value["row"]), float(value["x"]), float(value["y"])
    form = geometry(state, state.run)
    if not (0 <= row < len(form.points) and math.isfinite(x) and math.isfinite(y)):
        return
    far = np.hypot(form.points[:, 0] - x, form.points[:, 1] - y)
    far[~(seen(state) & form.placed)] = np.inf
    far[row] = np.inf
    near = np.argsort(far)[:_PROPOSED]
    near = near[np.isfinite(far[near])]
    wording.clear()
    wording.set_group("A", np.array([row]))
    wording.set_group("B", near)
    wording.choose("together")
    wording.change(dropped=(row, x, y), proposed=tuple(int(one) for one in near))

"""What is about to be said on the map: of which groups, how, how strongly, over how many pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import streamlit as st

from hetviz._types import Ints
from hetviz.ui.shell import session
from hetviz.workspace import State

How = Literal["together", "apart", "closer", "label"]
HOWS: dict[How, str] = {
    "together": "Together",
    "apart": "Apart",
    "closer": "Closer",
    "label": "Label",
}
NEEDED: dict[How, str] = {"together": "A", "apart": "A", "closer": "ABC", "label": "A"}

_KEY = "saying"


@dataclass(frozen=True)
class Saying:
    """A statement on its way.

    Attributes
    ----------
    how : {"together", "apart", "closer", "label"}
    weight : float
        From -1 (apart) to 1 (together).
    most : int or None
        Pairs or comparisons to make at most; None leaves it to the thinning.
    dropped : (int, float, float) or None
        Row that was dragged, and where it was let go, in the map's coordinates.
    proposed : tuple of int
        Rows near that place.
    """

    how: How = "together"
    weight: float = 1.0
    most: int | None = None
    dropped: tuple[int, float, float] | None = None
    proposed: tuple[int, ...] = ()


def saying() -> Saying:
    """Return what is about to be said in this session."""
    kept: Saying = st.session_state.setdefault(_KEY, Saying())
    return kept


def change(**fields: object) -> Saying:
    """Change some of it and return it."""
    now = replace(saying(), **fields)  # type: ignore[arg-type]
    st.session_state[_KEY] = now
    return now


def choose(how: How) -> None:
    """Say it this way; the weight follows."""
    weight = saying().weight
    if how == "together":
        weight = abs(weight)
    elif how == "apart":
        weight = -abs(weight)
    change(how=how, weight=weight, most=None)


def weigh(weight: float) -> None:
    """Say it this strongly; below 0 is apart. 0 says nothing and is passed over."""
    if weight:
        change(weight=weight, how="together" if weight > 0 else "apart", most=saying().most)


def groups(state: State) -> dict[str, Ints]:
    """Return the groups that are set, by name."""
    return {} if state.data is None else dict(session.workspace().glance.groups)


def set_group(name: str, rows: Ints) -> None:
    """Make these global rows a group; no rows give it up."""
    session.workspace().set_glance(groups={name: rows})
    change(most=None, **({} if name == "B" else {"dropped": None, "proposed": ()}))


def clear(selection: bool = False) -> None:
    """Give up all groups, and the selection where wanted."""
    nothing = np.empty(0, dtype=np.int64)
    session.workspace().set_glance(
        groups=dict.fromkeys("ABC", nothing), selection=nothing if selection else None
    )
    change(most=None, dropped=None, proposed=())


def lacking(how: How, there: dict[str, Ints]) -> str:
    """Return the name of the first group that is needed and not set, or nothing."""
    if how in ("together", "apart") and "B" not in there and len(there.get("A", ())) == 1:
        return "B"
    return next((name for name in NEEDED[how] if name not in there), "")

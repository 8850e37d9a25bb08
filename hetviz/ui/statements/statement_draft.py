"""What is about to be said on the map: of which groups, how, how strongly, over how many pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import streamlit as st

from hetviz._types import Ints
from hetviz.ui.shell import session
from hetviz.workspace import State

StatementKind = Literal["together", "apart", "closer", "label"]
KIND_TITLES: dict[StatementKind, str] = {
    "together": "Together",
    "apart": "Apart",
    "closer": "Closer",
    "label": "Label",
}
NEEDED_GROUPS: dict[StatementKind, str] = {
    "together": "A",
    "apart": "A",
    "closer": "ABC",
    "label": "A",
}

_KEY = "saying"


@dataclass(frozen=True)
class StatementDraft:
    """A statement on its way.

    Attributes
    ----------
    kind : {"together", "apart", "closer", "label"}
    weight : float
        From -1 (apart) to 1 (together).
    max_pairs : int or None
        Pairs or comparisons to make at most; None leaves it to the thinning.
    dropped : (int, float, float) or None
        Row that was dragged, and where it was let go, in the map's coordinates.
    proposed : tuple of int
        Rows near that place.
    """

    kind: StatementKind = "together"
    weight: float = 1.0
    max_pairs: int | None = None
    dropped: tuple[int, float, float] | None = None
    proposed: tuple[int, ...] = ()


def get_statement() -> StatementDraft:
    """Return what is about to be said in this session."""
    statement: StatementDraft = st.session_state.setdefault(_KEY, StatementDraft())
    return statement


def change_statement(**fields: object) -> StatementDraft:
    """Change some of it and return it."""
    statement = replace(get_statement(), **fields)  # type: ignore[arg-type]
    st.session_state[_KEY] = statement
    return statement


def choose_kind(kind: StatementKind) -> None:
    """Say it this way; the weight follows."""
    weight = get_statement().weight
    if kind == "together":
        weight = abs(weight)
    elif kind == "apart":
        weight = -abs(weight)
    change_statement(kind=kind, weight=weight, max_pairs=None)


def set_weight(weight: float) -> None:
    """Say it this strongly; below 0 is apart. 0 says nothing and is passed over."""
    if weight:
        change_statement(
            weight=weight,
            kind="together" if weight > 0 else "apart",
            max_pairs=get_statement().max_pairs,
        )


def get_groups(state: State) -> dict[str, Ints]:
    """Return the groups that are set, by name."""
    return {} if state.data is None else dict(session.workspace().view_state.groups)


def set_group(name: str, rows: Ints) -> None:
    """Make these global rows a group; no rows give it up."""
    session.workspace().set_view_state(groups={name: rows})
    change_statement(max_pairs=None, **({} if name == "B" else {"dropped": None, "proposed": ()}))


def clear_groups(selection: bool = False) -> None:
    """Give up all groups, and the selection where wanted."""
    nothing = np.empty(0, dtype=np.int64)
    session.workspace().set_view_state(
        groups=dict.fromkeys("ABC", nothing), selection=nothing if selection else None
    )
    change_statement(max_pairs=None, dropped=None, proposed=())


def missing_group(kind: StatementKind, groups: dict[str, Ints]) -> str:
    """Return the name of the first group that is needed and not set, or nothing."""
    if kind in ("together", "apart") and "B" not in groups and len(groups.get("A", ())) == 1:
        return "B"
    return next((name for name in NEEDED_GROUPS[kind] if name not in groups), "")

"""Draft of a statement: its groups, kind, weight and number of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from hetviz._types import Ints
from hetviz.ui.shell import session
from hetviz.ui.shell.page_state import state_of
from hetviz.workspace import State

StatementKind = Literal["together", "apart", "closer", "label"]
NEEDED_GROUPS: dict[StatementKind, str] = {
    "together": "A",
    "apart": "A",
    "closer": "ABC",
    "label": "A",
}


@dataclass(frozen=True)
class StatementDraft:
    """A statement that was not added yet."""

    kind: StatementKind = "together"
    weight: float = 1.0  # From -1 (apart) to 1 (together)
    max_pairs: int | None = None  # Maximum number of pairs or comparisons; None for the default
    # Dragged row and where it was dropped, in map coordinates.
    dropped: tuple[int, float, float] | None = None
    proposed: tuple[int, ...] = ()  # Rows nearest to that position
    awaits: bool = False  # Whether the next selection completes the statement


@dataclass
class StatementState:
    """State of the statement bar."""

    draft: StatementDraft = field(default_factory=StatementDraft)
    last_request: int = 0  # Number of the last request of the browser that was handled
    auto_refit: bool = True  # Whether each change refits the map
    refit_rows: Ints | None = None  # Rows that may move freely in a requested refit
    # Keys of the statements that the map was not fitted with.
    new_statements: set[str] = field(default_factory=set)
    statement_step: int | None = None  # Number of steps at the last statement
    dismissed: str | None = None  # Map whose consequences were dismissed


def get_statement() -> StatementDraft:
    """Return the draft of this session."""
    return state_of(StatementState).draft


def change_statement(**fields: object) -> StatementDraft:
    """Change fields of the draft and return it."""
    statement = replace(get_statement(), **fields)  # type: ignore[arg-type]
    state_of(StatementState).draft = statement
    return statement


def choose_kind(kind: StatementKind) -> None:
    """Choose the kind of statement; the sign of the weight follows."""
    weight = get_statement().weight
    if kind == "together":
        weight = abs(weight)
    elif kind == "apart":
        weight = -abs(weight)
    change_statement(kind=kind, weight=weight, max_pairs=None)


def set_weight(weight: float) -> None:
    """Set the weight; below 0 is apart, 0 is ignored."""
    if weight:
        change_statement(
            weight=weight,
            kind="together" if weight > 0 else "apart",
            max_pairs=get_statement().max_pairs,
        )


def get_groups(state: State) -> dict[str, Ints]:
    """Return the rows of each group that is set."""
    return {} if state.data is None else dict(session.workspace().view_state.groups)


def set_group(name: str, rows: Ints) -> None:
    """Set a group to global rows; no rows clear it."""
    session.workspace().set_view_state(groups={name: rows})
    change_statement(max_pairs=None, **({} if name == "B" else {"dropped": None, "proposed": ()}))


def drop_group(name: str) -> None:
    """Clear a group."""
    set_group(name, np.empty(0, dtype=np.int64))
    change_statement(awaits=False)


def begin(kind: StatementKind, rows: Ints) -> None:
    """Begin a statement about global rows that the next selections complete."""
    set_group("A", rows)
    choose_kind(kind)
    change_statement(awaits=True)


def draft_together(row: int, others: Sequence[int]) -> None:
    """Draft that an item belongs with others."""
    set_group("A", np.array([row]))
    set_group("B", np.asarray(others, dtype=np.int64))
    choose_kind("together")


def take_awaited(groups: dict[str, Ints], picked: Ints) -> dict[str, Ints]:
    """Return the groups, with the selection as the one that a statement waits for."""
    statement = get_statement()
    missing = missing_group(statement.kind, groups)
    is_known = any(np.array_equal(picked, rows) for rows in groups.values())
    if not statement.awaits or "A" not in groups or not missing or is_known or not len(picked):
        return groups
    set_group(missing, picked)
    return {**groups, missing: picked}


def clear_groups(selection: bool = False) -> None:
    """Clear all groups, and the selection if wanted."""
    nothing = np.empty(0, dtype=np.int64)
    session.workspace().set_view_state(
        groups=dict.fromkeys("ABC", nothing), selection=nothing if selection else None
    )
    change_statement(max_pairs=None, dropped=None, proposed=(), awaits=False)


def missing_group(kind: StatementKind, groups: dict[str, Ints]) -> str:
    """Return the first needed group that is not set, or an empty text."""
    if kind in ("together", "apart") and "B" not in groups and len(groups.get("A", ())) == 1:
        return "B"
    return next((name for name in NEEDED_GROUPS[kind] if name not in groups), "")

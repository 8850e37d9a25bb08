"""Actions of the statement bar: add statements and refit the map."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import numpy as np
import streamlit as st

from hetviz._types import Ints
from hetviz.algorithms.contract import Capability
from hetviz.data import HeteroData
from hetviz.data.model.statements import (
    author_names,
    set_mask,
    statement_keys,
    statement_rows,
)
from hetviz.errors import HetvizError
from hetviz.ui.shell import background, people, selection, session
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.statements import commands, statement_draft
from hetviz.ui.statements.commands import DraftCommands
from hetviz.ui.statements.statement_draft import StatementState
from hetviz.workspace import State, SwitchPerson, SwitchSet

# Similar items are searched from this number of labelled items.
_MIN_LABELLED = 3


def get_draft(state: State) -> DraftCommands | None:
    """Return the statement in the bar, or None if a group is missing."""
    data, statement, groups = (
        state.data,
        statement_draft.get_statement(),
        statement_draft.get_groups(state),
    )
    if (
        data is None
        or statement.kind == "label"
        or statement_draft.missing_group(statement.kind, groups)
    ):
        return None
    make = commands.draft_comparisons if statement.kind == "closer" else commands.draft_pairs
    mark = hashlib.sha256(b"".join(name.encode() + groups[name].tobytes() for name in groups))
    key = (
        "draft",
        id(data),
        statement.kind,
        statement.weight,
        statement.max_pairs,
        mark.hexdigest(),
        people.author_name(),
    )

    def drafted() -> DraftCommands | None:
        try:
            return make(data, groups, statement)
        except HetvizError:
            # Two equal groups allow no statement.
            return None

    return session.get_or_compute(key, data, drafted)


def add_statement() -> None:
    """Add the statement in the bar."""
    state = session.workspace().state
    draft = get_draft(state)
    rows = np.unique(
        np.concatenate([*statement_draft.get_groups(state).values(), np.empty(0, np.int64)])
    )
    if draft is not None and session.run_command(draft.command()):
        statement_draft.clear_groups()
        # The named items stay selected while they move.
        selection.select_rows(rows)
        request_refit(state)


def add_labels(rows: Ints, column: str, value: str) -> None:
    """Label these global rows."""
    state = session.workspace().state
    draft = commands.draft_labels(state.opened(), rows, column, value)
    if session.run_command(draft.command()):
        st.session_state["label-value"] = ""
        statement_draft.clear_groups()
        selection.select_rows(rows)
        request_refit(state)
        if len(rows) >= _MIN_LABELLED and background.running_job() is None:
            arguments = {"column": column, "seed": 0}
            background.start_task("find-similar", arguments, title=f"More {value}")


def switch_set(name: str, on: bool) -> None:
    """Switch a set of statements on or off."""
    state = session.workspace().state
    if session.run_command(SwitchSet(name, on)):
        rows = np.empty(0, dtype=np.int64)
        if not on and state.data is not None:
            ends = statement_rows(state.data)[set_mask(state.data, name)]
            rows = np.unique(ends[ends >= 0])
        request_refit(state, rows)


def switch_person(name: str, on: bool) -> None:
    """Switch the statements of a person on or off."""
    state = session.workspace().state
    if session.run_command(SwitchPerson(name, on)):
        rows = np.empty(0, dtype=np.int64)
        if not on and state.data is not None:
            ends = statement_rows(state.data)[author_names(state.data) == name]
            rows = np.unique(ends[ends >= 0])
        request_refit(state, rows)


def is_auto_refit() -> bool:
    """Whether each change refits the map."""
    return state_of(StatementState).auto_refit


def request_refit(before: State, free_rows: Ints | None = None) -> None:
    """Request a refit for new statements, and start it unless refits are manual."""
    workspace = session.workspace()
    state = workspace.state
    if state.run is None or state.guided is before.guided or state.is_current(state.run):
        return
    new = [] if before.guided is None else new_statements(before.guided, state.guided)
    if new:
        state_of(StatementState).statement_step = workspace.steps
    can = method_capabilities(state)
    if free_rows is None and can is not None and not uses_new_statements(can, new):
        return
    statements = state_of(StatementState)
    statements.new_statements.update(new)
    pending = statements.refit_rows
    rows = np.empty(0, dtype=np.int64) if free_rows is None else free_rows
    statements.refit_rows = rows if pending is None else np.union1d(pending, rows)
    if is_auto_refit():
        refit_if_requested()


def refit_now() -> None:
    """Refit the map for the statements made while refits were manual."""
    statements = state_of(StatementState)
    if statements.refit_rows is None:
        statements.refit_rows = np.empty(0, dtype=np.int64)
    _start_refit()


def refit_if_requested() -> None:
    """Start a requested refit if refits are automatic."""
    if is_auto_refit():
        _start_refit()


def _start_refit() -> None:
    """Start the requested refit unless a job is running."""
    statements = state_of(StatementState)
    rows = statements.refit_rows
    state = session.workspace().state
    if rows is None:
        return
    if state.run is None or state.is_current(state.run):
        statements.refit_rows = None
    elif state.pending is not None and state.pending.outcome is not None:
        # The page reports a failed or stopped refit. It is not retried automatically.
        statements.refit_rows = None
    elif background.running_job() is None:
        keys = sorted(statements.new_statements)
        statements.new_statements.clear()
        background.refit(state, rows if len(rows) else None, keys)


def new_statements(before: HeteroData, after: HeteroData | None) -> list[str]:
    """Return the keys of the statements that are new or have another weight."""
    weights_before, weights_after = (
        _statement_weights(before),
        {} if after is None else _statement_weights(after),
    )
    return [key for key, weight in weights_after.items() if weights_before.get(key) != weight]


def _statement_weights(data: HeteroData) -> dict[str, float]:
    compared = [] if data.comparisons is None else [data.comparisons.weight]
    weights = np.concatenate([np.empty(0), *(links.weight for links in data.links), *compared])
    return dict(zip(statement_keys(data).tolist(), weights.tolist(), strict=True))


def uses_new_statements(can: Collection[Capability], new: Sequence[str]) -> bool:
    """Return whether a method uses the new statements, or labels if there are none."""
    if not new:
        return Capability.LABELS in can
    return Capability.COMPARISONS in can or any(key.startswith("link") for key in new)


def method_capabilities(state: State) -> frozenset[Capability] | None:
    """Return the capabilities of the method of the map, or None if it is unknown."""
    from hetviz.algorithms.registry import get_method

    try:
        return None if state.run is None else get_method(state.run.method).card.capabilities
    except HetvizError:
        return None


def unsupported_reason(state: State) -> str:
    """Return why the method ignores the statement in the bar, or an empty text."""
    run, can = state.run, method_capabilities(state)
    if run is None or can is None or statement_draft.get_statement().kind != "closer":
        return ""
    if Capability.COMPARISONS in can:
        return ""
    return (
        f"{run.title} does not use comparisons. The map does not move, but the comparisons are "
        "used to score it. Multiple-kernel partial order embedding (MKPOE) uses them."
    )

"""Datasets get another name, or go; all that names them follows."""

from __future__ import annotations

import json
from dataclasses import replace

from hetviz.data.edits.stating import without_sets
from hetviz.data.model.links import kind_key
from hetviz.errors import DataError, Problem
from hetviz.workspace.commands.commands import DropDataset, RenameDataset
from hetviz.workspace.state import State, View


def rename(state: State, command: RenameDataset) -> State:
    """Return the state in which a dataset has another name."""
    before = state.opened()
    new = command.new.strip()
    after = before.edit().rename(command.old, new)
    was = without_sets(before, state.off).fingerprint()
    now = without_sets(after, state.off).fingerprint()
    kinds = dict(zip(map(kind_key, before.links), map(kind_key, after.links), strict=True))
    runs = tuple(
        run.renamed(command.old, new, now if run.fingerprint == was else None, kinds)
        for run in state.runs
    )
    hidden = tuple(new if name == command.old else name for name in state.view.hidden)
    understood = tuple(
        replace(info, dataset=new) if info.dataset == command.old else info
        for info in state.understood
    )
    held_out = state.held_out and state.held_out.edit().rename(command.old, new)
    return replace(
        state,
        data=after,
        held_out=held_out,
        runs=runs,
        understood=understood,
        view=replace(state.view, hidden=hidden, colour=_moved(state.view, command.old, new)),
        filters=tuple(
            replace(filter, dataset=new) if filter.dataset == command.old else filter
            for filter in state.filters
        ),
        clustering=state.clustering and state.clustering.renamed(command.old, new),
    )


def _moved(view: View, old: str, new: str) -> str | None:
    """Return the view's colour key after a dataset was renamed."""
    if view.colour is None or not view.colour.startswith("["):
        return view.colour
    dataset, column = json.loads(view.colour)
    return json.dumps([new if dataset == old else dataset, column])


def drop(state: State, command: DropDataset) -> State:
    """Return the state without a dataset."""
    data = state.opened()
    if len(data.datasets) == 1:
        raise DataError(
            Problem(
                "last-dataset",
                f"dataset {command.name!r}",
                "it is the only one",
                remedy="Open other data instead.",
            )
        )
    hidden = tuple(name for name in state.view.hidden if name != command.name)
    return replace(
        state,
        data=data.edit().drop(command.name),
        held_out=state.held_out and state.held_out.edit().drop(command.name),
        understood=tuple(info for info in state.understood if info.dataset != command.name),
        view=replace(state.view, hidden=hidden),
        filters=tuple(filter for filter in state.filters if filter.dataset != command.name),
    )

"""New items of files join a dataset, and the map on which they were placed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hetviz.data import Embedding, HeteroData, Labels, Links
from hetviz.data.model.out_of_sample import NewLink
from hetviz.errors import DataError, Problem
from hetviz.features.rows_like import with_rows
from hetviz.runs.place.place_rows import new_rows_of
from hetviz.workspace.commands.placing_commands import KeepItems, LeaveItems, PlacingCommand
from hetviz.workspace.state import Run, State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import read_items

PLACED = "placed"
LISTED = "listed"


def place(state: State, command: PlacingCommand, blobs: BlobStore) -> State:
    """Return the state in which the items were kept or left.

    Raises
    ------
    hetviz.errors.DataError
        If they do not fit the data as they are now.
    """
    findings = {kind: kept for kind, kept in state.findings.items() if kind != PLACED}
    if isinstance(command, LeaveItems):
        return replace(state, findings=findings)
    return replace(_kept(state, command, blobs), findings=findings)


def _kept(state: State, command: KeepItems, blobs: BlobStore) -> State:
    data, name = state.opened(), command.dataset
    owner = data[name]
    files = {file: blobs.get(blob) for file, blob in command.files.items()}
    items = read_items(files, owner, command.choices, command.id_column, blobs.kept)
    notes = list(items.problems)
    new, listed = new_rows_of(data, owner, items.table, items.media, notes)
    if set(new.ids) != set(command.places):
        what = "the data have changed since the items were placed"
        raise DataError(Problem("other-data", "new items", what, remedy="Place them again."))
    joined = with_rows(owner, new)
    table = new.table
    before = {column.name: column for column in data.labels if column.dataset == name}
    after = data.edit().replace(joined)
    labels = [column for column in after.labels if column.dataset != name]
    for column, known in before.items():
        given = [None] * len(new) if table is None or column not in table else list(table[column])
        labels.append(Labels(name, column, [*known.values, *given]))
    after = HeteroData(after.datasets, after.links, after.comparisons, labels)
    after = _linked(after, listed)
    held_out = state.held_out
    if held_out is not None and name in held_out.datasets:
        held_out = held_out.edit().replace(joined)
    run = next((run for run in state.runs if run.id == command.run), None)
    runs = tuple(_with_places(one, command) if one is run else one for one in state.runs)
    return replace(
        state,
        data=after,
        held_out=held_out,
        runs=runs,
        understood=tuple(
            replace(info, n_rows=len(joined)) if info.dataset == name else info
            for info in state.understood
        ),
    )


def _linked(data: HeteroData, listed: Iterable[NewLink]) -> HeteroData:
    """Return the data with the links that columns of the file list."""
    ends: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for source, text, target, other, *_ in listed:
        pair = data[source].position(text), data[target].position(str(other))
        ends.setdefault((source, target), []).append(pair)
    links = [
        Links(source, target, *np.array(pairs, dtype=np.int64).T, kind=LISTED)
        for (source, target), pairs in ends.items()
    ]
    return data.edit().add(*links) if links else data


def _with_places(run: Run, command: KeepItems) -> Run:
    """Return a run with the new places; what was there stays, and so does what it was made from."""
    nowhere = [np.nan] * run.embedding.n_components
    Y = np.array([nowhere if at is None else at for at in command.places.values()], dtype=float)
    name = command.dataset
    new = Embedding({name: Y}, {name: list(command.places)}, {name: run.embedding.entity[name]})
    only = run.only
    if only is not None:
        sizes = [len(places) for places in run.embedding.coordinates.values()]
        behind = np.cumsum(sizes)[list(run.embedding.coordinates).index(name)]
        only = np.where(only >= behind, only + len(Y), only)
    return replace(run, embedding=run.embedding.joined(new), only=only, before=None)

"""New items of files join a dataset, and the map on which they were placed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from hetviz.data import Embedding, HeteroData, Labels, Links
from hetviz.data.model.out_of_sample import NewLink
from hetviz.errors import DataError, Problem
from hetviz.features.rows_like import with_rows
from hetviz.runs.place.place_rows import new_rows_of
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.state import Run, State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import read_items

PLACED = "placed"
LISTED = "listed"


@dataclass(frozen=True)
class KeepItems(Command):
    """Add the items of files to a dataset, at the places that they have on a map.

    Attributes
    ----------
    dataset : str
    files : mapping of str to str
        File name to blob.
    choices : mapping of str to mapping
        How to read each file, where the user said so.
    id_column : str or None
        See `hetviz.io.intake.new_items.read_new_items`.
    run : str
        The map.
    places : mapping of str to sequence of float or None
        Id to place on its axes; None without one.
    """

    op: ClassVar[str] = "keep-items"
    does: ClassVar[str] = "new items"
    dataset: str
    files: Mapping[str, str]
    run: str
    places: Mapping[str, Sequence[float] | None]
    choices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    id_column: str | None = None

    def apply(self, state: State, context: Context) -> State:
        return _without_placed(self._joined(state, context.blobs))

    def _joined(self, state: State, blobs: BlobStore) -> State:
        data, name = state.opened(), self.dataset
        owner = data[name]
        files = {file: blobs.get(blob) for file, blob in self.files.items()}
        items = read_items(files, owner, self.choices, self.id_column, blobs.read_cache)
        notes = list(items.problems)
        new, listed = new_rows_of(data, owner, items.table, items.media, notes)
        if set(new.ids) != set(self.places):
            what = "the data have changed since the items were placed"
            raise DataError(Problem("other-data", "new items", what, remedy="Place them again."))
        joined = with_rows(owner, new)
        table = new.table
        before = {column.name: column for column in data.labels if column.dataset == name}
        after = data.edit().replace(joined)
        labels = [column for column in after.labels if column.dataset != name]
        for column, known in before.items():
            given = (
                [None] * len(new) if table is None or column not in table else list(table[column])
            )
            labels.append(Labels(name, column, [*known.values, *given]))
        after = HeteroData(after.datasets, after.links, after.comparisons, labels)
        after = _linked(after, listed)
        held_out = state.held_out
        if held_out is not None and name in held_out.datasets:
            held_out = held_out.edit().replace(joined)
        run = next((run for run in state.runs if run.id == self.run), None)
        runs = tuple(_with_places(one, self) if one is run else one for one in state.runs)
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


@dataclass(frozen=True)
class LeaveItems(Command):
    """Forget the items that were placed."""

    op: ClassVar[str] = "leave-items"
    does: ClassVar[str] = "leaving of new items"

    def apply(self, state: State, context: Context) -> State:
        return _without_placed(state)


def _without_placed(state: State) -> State:
    findings = {kind: finding for kind, finding in state.findings.items() if kind != PLACED}
    return replace(state, findings=findings)


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

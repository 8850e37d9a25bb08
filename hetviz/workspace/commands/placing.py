"""Commands that add placed items to a dataset and its map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hetviz.data import Embedding, HeteroData, Labels, Links
from hetviz.data.model.out_of_sample import NewLink
from hetviz.errors import DataError
from hetviz.features.new_rows import append_rows
from hetviz.runs.embed.run import MapResult
from hetviz.runs.place.place_rows import new_rows_of
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import read_items

PLACED = "placed"
LISTED = "listed"


@dataclass(frozen=True)
class KeepItems(Command, op="keep-items", label="new items"):
    """Add the items of files to a dataset, at their positions on a map."""

    dataset: str
    files: Mapping[str, str]  # Blob by file name.
    run: str  # The map.
    # Coordinates by id; None for items without a position.
    places: Mapping[str, Sequence[float] | None]
    # Choices of the user on how to read each file.
    choices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    id_column: str | None = None  # See `hetviz.io.intake.new_items.read_new_items`.

    def apply(self, state: State, context: Context) -> State:
        return _without_placed(self._with_items(state, context.blobs))

    def _with_items(self, state: State, blobs: BlobStore) -> State:
        data, name = state.opened(), self.dataset
        owner = data[name]
        files = {file: blobs.get(blob) for file, blob in self.files.items()}
        items = read_items(files, owner, self.choices, self.id_column, blobs.read_cache)
        notes = list(items.problems)
        new, listed = new_rows_of(data, owner, items.table, items.media, notes)
        if set(new.ids) != set(self.places):
            message = "the data changed after the items were placed"
            raise DataError.of("other-data", "new items", message, remedy="Place them again.")
        joined = append_rows(owner, new)
        table = new.table
        label_columns = {column.name: column for column in data.labels if column.dataset == name}
        after = data.edit().replace(joined)
        labels = [column for column in after.labels if column.dataset != name]
        for column, label in label_columns.items():
            values = (
                [None] * len(new) if table is None or column not in table else list(table[column])
            )
            labels.append(Labels(name, column, [*label.values, *values]))
        after = HeteroData(after.datasets, after.links, after.comparisons, labels)
        after = _with_listed_links(after, listed)
        held_out = state.held_out
        if held_out is not None and name in held_out.datasets:
            held_out = held_out.edit().replace(joined)
        run = next((run for run in state.runs if run.id == self.run), None)
        runs = tuple(
            _with_new_items(other, self) if other is run else other for other in state.runs
        )
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
class LeaveItems(Command, op="leave-items", label="discard new items"):
    """Discard the placed items."""

    def apply(self, state: State, context: Context) -> State:
        return _without_placed(state)


def _without_placed(state: State) -> State:
    findings = {kind: finding for kind, finding in state.findings.items() if kind != PLACED}
    return replace(state, findings=findings)


def _with_listed_links(data: HeteroData, listed: Iterable[NewLink]) -> HeteroData:
    """Return the data with the links listed in columns of the file."""
    ends: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for source, text, target, other, *_ in listed:
        pair = data[source].position(text), data[target].position(str(other))
        ends.setdefault((source, target), []).append(pair)
    links = [
        Links(source, target, *np.array(pairs, dtype=np.int64).T, kind=LISTED)
        for (source, target), pairs in ends.items()
    ]
    return data.edit().add(*links) if links else data


def _with_new_items(run: MapResult, command: KeepItems) -> MapResult:
    """Return a run with positions of the new items added."""
    no_position = [np.nan] * run.embedding.n_components
    Y = np.array([no_position if at is None else at for at in command.places.values()], dtype=float)
    name = command.dataset
    new = Embedding({name: Y}, {name: list(command.places)}, {name: run.embedding.entity[name]})
    only = run.only
    if only is not None:
        sizes = [len(places) for places in run.embedding.coordinates.values()]
        end = np.cumsum(sizes)[list(run.embedding.coordinates).index(name)]
        only = np.where(only >= end, only + len(Y), only)
    return replace(run, embedding=run.embedding.joined(new), only=only, before=None)

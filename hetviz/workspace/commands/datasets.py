"""Commands that rename, replace and remove datasets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hetviz.data import Embedding, Filter, SavedView
from hetviz.data.edits.statement_edits import without_sets
from hetviz.data.model.links import kind_key
from hetviz.errors import DataError
from hetviz.io import NewVersion, read_new_version
from hetviz.runs.embed.run import MapResult
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import ClusterAssignment, DisplaySettings, State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import cached_parser

T = TypeVar("T", ClusterAssignment, Embedding)
_BY_DATASET = {"coordinates", "ids", "entity", "placed", "components", "drawn", "codes"}


@dataclass(frozen=True)
class RenameDataset(Command, op="rename-dataset", label="rename"):
    """Rename a dataset."""

    old: str
    new: str

    def apply(self, state: State, context: Context) -> State:
        before, old, new = state.opened(), self.old, self.new.strip()
        after = before.edit().rename(old, new)
        was = without_sets(before, *state.excluded).fingerprint()
        now = without_sets(after, *state.excluded).fingerprint()
        kinds = dict(zip(map(kind_key, before.links), map(kind_key, after.links), strict=True))
        runs = tuple(
            _renamed_map(run, old, new, now if run.fingerprint == was else run.fingerprint, kinds)
            for run in state.runs
        )
        hidden = tuple(new if name == old else name for name in state.view.hidden)
        proposed = {
            (kind, new if source == old else source, new if target == old else target): links
            for (kind, source, target), links in state.proposed.items()
        }
        return replace(
            state,
            data=after,
            held_out=state.held_out and state.held_out.edit().rename(old, new),
            runs=runs,
            understood=tuple(
                replace(info, dataset=new) if info.dataset == old else info
                for info in state.understood
            ),
            view=replace(
                state.view,
                hidden=hidden,
                colour=state.view.colour and _renamed_key(state.view.colour, old, new),
                swatches=_renamed_swatches(state.view, old, new),
                charts=_renamed_charts(state.view, old, new),
            ),
            filters=tuple(
                replace(filter, dataset=new) if filter.dataset == old else filter
                for filter in state.filters
            ),
            clustering=state.clustering and _rename_keys(state.clustering, old, new),
            saved_views=tuple(_renamed_view(view, old, new) for view in state.saved_views),
            proposed=proposed,
        )


@dataclass(frozen=True)
class DropDataset(Command, op="drop-dataset", label="remove"):
    """Remove a dataset with its links."""

    name: str

    def apply(self, state: State, context: Context) -> State:
        data = state.opened()
        if len(data.datasets) == 1:
            raise DataError.of(
                "last-dataset",
                f"dataset {self.name!r}",
                "it is the only dataset",
                remedy="Open other data instead.",
            )
        hidden = tuple(name for name in state.view.hidden if name != self.name)
        return replace(
            state,
            data=data.edit().drop(self.name),
            held_out=state.held_out and state.held_out.edit().drop(self.name),
            understood=tuple(info for info in state.understood if info.dataset != self.name),
            view=replace(state.view, hidden=hidden),
            filters=tuple(filter for filter in state.filters if filter.dataset != self.name),
        )


@dataclass(frozen=True)
class ReplaceDataset(Command, op="replace-dataset", label="new version"):
    """Replace a dataset by a newer version of its file."""

    name: str  # The dataset. Rows are matched by id, and guidance about remaining rows is kept.
    blob: str
    filename: str
    leave_out: bool = False  # Skip invalid rows.

    def apply(self, state: State, context: Context) -> State:
        newer = self.preview(state, context.blobs)
        if newer.errors and not self.leave_out:
            raise DataError(newer.errors)
        held_out = state.held_out
        if held_out is not None and self.name in held_out.datasets:
            held_out = held_out.edit().replace(newer.data[self.name])
        others = tuple(info for info in state.understood if info.dataset != self.name)
        return replace(
            state,
            data=newer.data,
            held_out=held_out,
            understood=(*others, newer.info),
            problems=state.problems + newer.problems,
        )

    def preview(self, state: State, blobs: BlobStore) -> NewVersion:
        """Return the changes of the newer version without applying them."""
        info = next((info for info in state.understood if info.dataset == self.name), None)
        content, parse = blobs.get(self.blob), cached_parser(blobs.read_cache)
        return read_new_version(state.opened(), self.name, content, self.filename, info, parse)


def _rename_keys(value: T, old: str, new: str) -> T:
    """Return a dataclass with the key of a dataset renamed in its mappings by dataset."""
    by_dataset = {
        name: mapping
        for name, mapping in vars(value).items()
        if name in _BY_DATASET and mapping is not None
    }
    renamed: dict[str, Any] = {
        name: {(new if key == old else key): item for key, item in mapping.items()}
        for name, mapping in by_dataset.items()
    }
    return replace(value, **renamed)


def _renamed_map(
    run: MapResult, old: str, new: str, fingerprint: str, kinds: Mapping[str, str]
) -> MapResult:
    """Return a map with a dataset renamed; `kinds` maps old keys of kinds to new ones."""
    return replace(
        run,
        embedding=_rename_keys(run.embedding, old, new),
        fingerprint=fingerprint,
        before=None,
        start=run.start and _rename_keys(run.start, old, new),
        params={name: _renamed_keys(value, old, new) for name, value in run.params.items()},
        weights={kinds.get(key, key): factor for key, factor in run.weights.items()},
    )


def _renamed_keys(value: object, old: str, new: str) -> object:
    """Rename a dataset in a value for each dataset, or in pins."""
    if isinstance(value, Mapping):
        renamed = {new if key == old else key: item for key, item in value.items()}
        return {key: _renamed_keys(item, old, new) for key, item in renamed.items()}
    if isinstance(value, list):
        return [
            _renamed_keys(item, old, new) if isinstance(item, Mapping) else item for item in value
        ]
    return value


def _renamed_charts(
    view: DisplaySettings, old: str, new: str
) -> tuple[tuple[str, ...], ...] | None:
    if view.charts is None:
        return None
    names = {old: new}
    return tuple(
        (names.get(dataset, dataset), column, names.get(of, of), *y)
        for dataset, column, of, *y in view.charts
    )


def _renamed_swatches(
    view: DisplaySettings, old: str, new: str
) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (_renamed_key(key, old, new), new if (key, name) == ("dataset", old) else name, colour)
        for key, name, colour in view.swatches
    )


def _renamed_view(view: SavedView, old: str, new: str) -> SavedView:
    """Return a saved view after a dataset was renamed."""
    names = {old: new}
    legend = {
        part: [names.get(entry, entry) for entry in entries] if part == "datasets" else entries
        for part, entries in view.legend.items()
    }
    return replace(
        view,
        colour=_renamed_key(view.colour, old, new),
        hidden=[names.get(name, name) for name in view.hidden],
        filters=[
            replace(item, dataset=names.get(item.dataset, item.dataset))
            for item in view.filters
            if isinstance(item, Filter)
        ],
        selection={names.get(name, name): ids for name, ids in view.selection.items()},
        legend=legend,
    )


def _renamed_key(key: str, old: str, new: str) -> str:
    """Return a colour key after a dataset was renamed."""
    if not key.startswith("["):
        return key
    dataset, *column = json.loads(key)
    return json.dumps([new if dataset == old else dataset, *column])

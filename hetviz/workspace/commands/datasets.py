"""Commands that rename, replace and remove datasets."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import ClassVar

from hetviz.data.edits.statement_edits import without_sets
from hetviz.data.model.links import kind_key
from hetviz.errors import DataError, Problem
from hetviz.io import NewVersion, read_new_version
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import DisplaySettings, State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import cached_parser


@dataclass(frozen=True)
class RenameDataset(Command):
    """Rename a dataset."""

    op: ClassVar[str] = "rename-dataset"
    label: ClassVar[str] = "rename"
    old: str
    new: str

    def apply(self, state: State, context: Context) -> State:
        before, old, new = state.opened(), self.old, self.new.strip()
        after = before.edit().rename(old, new)
        was = without_sets(before, state.off).fingerprint()
        now = without_sets(after, state.off).fingerprint()
        kinds = dict(zip(map(kind_key, before.links), map(kind_key, after.links), strict=True))
        runs = tuple(
            run.renamed(old, new, now if run.fingerprint == was else None, kinds)
            for run in state.runs
        )
        hidden = tuple(new if name == old else name for name in state.view.hidden)
        return replace(
            state,
            data=after,
            held_out=state.held_out and state.held_out.edit().rename(old, new),
            runs=runs,
            understood=tuple(
                replace(info, dataset=new) if info.dataset == old else info
                for info in state.understood
            ),
            view=replace(state.view, hidden=hidden, colour=_colour_of(state.view, old, new)),
            filters=tuple(
                replace(filter, dataset=new) if filter.dataset == old else filter
                for filter in state.filters
            ),
            clustering=state.clustering and state.clustering.renamed(old, new),
        )


@dataclass(frozen=True)
class DropDataset(Command):
    """Remove a dataset with its links."""

    op: ClassVar[str] = "drop-dataset"
    label: ClassVar[str] = "remove"
    name: str

    def apply(self, state: State, context: Context) -> State:
        data = state.opened()
        if len(data.datasets) == 1:
            raise DataError(
                Problem(
                    "last-dataset",
                    f"dataset {self.name!r}",
                    "it is the only dataset",
                    remedy="Open other data instead.",
                )
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
class ReplaceDataset(Command):
    """Replace a dataset by a newer version of its file.

    Attributes
    ----------
    name : str
        The dataset. Rows are matched by id, and guidance about remaining rows is kept.
    blob, filename : str
    leave_out : bool
        Skip invalid rows.
    """

    op: ClassVar[str] = "replace-dataset"
    label: ClassVar[str] = "new version"
    name: str
    blob: str
    filename: str
    leave_out: bool = False

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


def _colour_of(view: DisplaySettings, old: str, new: str) -> str | None:
    """Return the colour key of the display settings after a dataset was renamed."""
    if view.colour is None or not view.colour.startswith("["):
        return view.colour
    dataset, column = json.loads(view.colour)
    return json.dumps([new if dataset == old else dataset, column])

"""The one place where state changes: ``apply(state, command, blobs) -> state``."""

from __future__ import annotations

import json
from dataclasses import replace

from hetviz.data import HeteroData
from hetviz.errors import DataError, Problem
from hetviz.io import Loaded
from hetviz.workspace import commands as c
from hetviz.workspace.blobs import BlobStore
from hetviz.workspace.content import read_files, read_sample, read_zip
from hetviz.workspace.packing import unpack_coordinates, unpack_figures
from hetviz.workspace.state import SHIPPED, Run, State, View

MAX_TITLE = 80


def apply(state: State, command: c.Command, blobs: BlobStore) -> State:
    """Return the state after `command`; the given state stays as it is.

    Raises
    ------
    hetviz.errors.HetvizError
        If the command cannot be carried out; nothing has changed then.
    """
    match command:
        case c.OpenSample():
            return _opened(read_sample(command.name), f"sample:{command.name}")
        case c.OpenBundle():
            loaded = read_zip(blobs.get(command.blob), command.filename)
            _refuse_errors(loaded, command.leave_out)
            return _opened(loaded, f"file:{command.filename}")
        case c.AddTables():
            return _tables(state, command, blobs)
        case c.RenameDataset():
            return _rename(state, command)
        case c.DropDataset():
            return _drop(state, command)
        case c.SetTitle():
            return replace(state, title=_title(command.title))
        case c.RecordRun():
            return _record(state, command, blobs)
        case c.ChooseRun():
            if all(run.id != command.run for run in state.runs):
                raise DataError(Problem("unknown-run", "maps", "there is no such map", command.run))
            return replace(state, chosen=command.run)
        case c.SetView():
            return replace(state, view=_view(state, command))
    raise DataError(Problem("unknown-operation", "journal", "no such operation", command.op))


def _opened(loaded: Loaded, source: str) -> State:
    runs: tuple[Run, ...] = ()
    if loaded.map is not None:
        runs = (
            Run(
                SHIPPED,
                loaded.map_method or "",
                "Map that came with the data",
                loaded.map,
                loaded.data.fingerprint(),
                dict(loaded.map_params),
                loaded.map_seed,
            ),
        )
    return State(
        title=_title((loaded.title or loaded.name)[:MAX_TITLE]),
        description=loaded.description,
        source=source,
        data=loaded.data,
        held_out=loaded.held_out,
        problems=loaded.problems,
        understood=loaded.understood,
        runs=runs,
        chosen=SHIPPED if runs else None,
    )


def _tables(state: State, command: c.AddTables, blobs: BlobStore) -> State:
    files = {name: blobs.get(key) for name, key in command.files.items()}
    base = None if command.fresh else state.data
    loaded = read_files(files, command.choices, base)
    _refuse_errors(loaded, command.leave_out)
    if base is None:
        return _opened(loaded, "files")
    return replace(
        state,
        data=loaded.data,
        problems=state.problems + loaded.problems,
        understood=state.understood + loaded.understood,
    )


def _refuse_errors(loaded: Loaded, leave_out: bool) -> None:
    if loaded.errors and not leave_out:
        raise DataError(loaded.errors)


def _data(state: State) -> HeteroData:
    if state.data is None:
        raise DataError(Problem("no-data", "project", "nothing is open", remedy="Open data first."))
    return state.data


def _rename(state: State, command: c.RenameDataset) -> State:
    before = _data(state)
    new = command.new.strip()
    after = before.edit().rename(command.old, new)
    was, now = before.fingerprint(), after.fingerprint()
    runs = tuple(
        run.renamed(command.old, new, now if run.fingerprint == was else None) for run in state.runs
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
    )


def _moved(view: View, old: str, new: str) -> str | None:
    """Return the view's colour key after a dataset was renamed."""
    if view.colour is None or not view.colour.startswith("["):
        return view.colour
    dataset, column = json.loads(view.colour)
    return json.dumps([new if dataset == old else dataset, column])


def _drop(state: State, command: c.DropDataset) -> State:
    data = _data(state)
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
    )


def _title(text: str) -> str:
    title = " ".join(text.split())
    if not 0 < len(title) <= MAX_TITLE:
        raise DataError(
            Problem(
                "bad-title",
                "project name",
                f"it needs 1 to {MAX_TITLE} characters",
                title[:MAX_TITLE],
            )
        )
    return title


def _record(state: State, command: c.RecordRun, blobs: BlobStore) -> State:
    data = _data(state)
    embedding = unpack_coordinates(blobs.get(command.coordinates), data, command.title)
    numbers = [int(run.id) for run in state.runs if run.id.isdigit()]
    run = Run(
        id=str(max(numbers, default=0) + 1),
        method=command.method,
        title=command.title,
        params=dict(command.params),
        seed=command.seed,
        hold_out=command.hold_out,
        fingerprint=command.fingerprint,
        embedding=embedding,
        figures=unpack_figures(blobs.get(command.figures)),
    )
    return replace(state, runs=(*state.runs, run), chosen=run.id)


def _view(state: State, command: c.SetView) -> View:
    view = state.view
    if command.colour is not None:
        view = replace(view, colour=command.colour)
    if command.hidden is not None:
        known = _data(state).datasets
        view = replace(view, hidden=tuple(name for name in command.hidden if name in known))
    return view

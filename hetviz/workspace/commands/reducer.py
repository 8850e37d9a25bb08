"""The one place where state changes: ``apply(state, command, blobs) -> state``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hetviz.data import Filter, passing
from hetviz.errors import DataError, Problem
from hetviz.io import Loaded
from hetviz.workspace.commands import commands as c
from hetviz.workspace.commands import joining, placing, renaming
from hetviz.workspace.commands.cluster_commands import ClusterCommand
from hetviz.workspace.commands.clustering import CLUSTERS, cluster, found_clusters
from hetviz.workspace.commands.features import SetFeatures, set_features
from hetviz.workspace.commands.guidance import guide
from hetviz.workspace.commands.guidance_commands import GuidanceCommand
from hetviz.workspace.commands.joining_commands import JoiningCommand
from hetviz.workspace.commands.placing_commands import PlacingCommand
from hetviz.workspace.state import OUTCOMES, SHIPPED, Kept, Pending, Run, State, View
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import read_files, read_sample, read_zip
from hetviz.workspace.store.packing import unpack_coordinates, unpack_json, unpack_rows

MAX_TITLE = 80


@dataclass(frozen=True)
class Stamp:
    """What a command's place in the log adds to it.

    Attributes
    ----------
    when : str
        When it was first carried out: ISO 8601, UTC.
    run : str
        Id of the run that it would make; no two commands of a log share one.
    """

    when: str = ""
    run: str = "1"


def apply(state: State, command: c.Command, blobs: BlobStore, stamp: Stamp | None = None) -> State:
    """Return the state after `command`; the given state stays as it is.

    Raises
    ------
    hetviz.errors.HetvizError
        If the command cannot be carried out; nothing has changed then.
    """
    if isinstance(command, ClusterCommand):
        return cluster(state, command, blobs)
    if isinstance(command, GuidanceCommand):
        return guide(state, command, (stamp or Stamp()).when, blobs)
    if isinstance(command, JoiningCommand):
        return joining.join(state, command)
    if isinstance(command, PlacingCommand):
        return placing.place(state, command, blobs)
    match command:
        case c.OpenSample():
            return _opened(state, read_sample(command.name), f"sample:{command.name}")
        case c.OpenBundle():
            loaded = read_zip(blobs.get(command.blob), command.filename, blobs.kept)
            _refuse_errors(loaded, command.leave_out)
            return _opened(state, loaded, f"file:{command.filename}")
        case c.AddTables():
            return _tables(state, command, blobs)
        case c.RenameDataset():
            return renaming.rename(state, command)
        case c.DropDataset():
            return renaming.drop(state, command)
        case c.SetEntity():
            return joining.set_entity(state, command)
        case c.LinkByKey():
            return joining.link_by_key(state, command)
        case SetFeatures():
            return set_features(state, command, blobs)
        case c.SetTitle():
            return replace(state, title=_title(command.title))
        case c.RecordRun():
            return _record(state, command, blobs, stamp or Stamp())
        case c.Act():
            for entry in command.steps:
                state = apply(state, c.from_dict(entry), blobs, stamp)
            return state
        case c.KeepFindings():
            return _keep(state, command, blobs, stamp or Stamp())
        case c.ChooseRun():
            return replace(state, chosen=_run(state, command.run).id)
        case c.RenameRun():
            return _with_run(state, command.run, title=_title(command.title, "name of the map"))
        case c.StarRun():
            return _with_run(state, command.run, starred=bool(command.starred))
        case c.DropRun():
            return _without_run(state, command.run)
        case c.SetView():
            return replace(state, view=_view(state, command))
        case c.SetFilters():
            return _filtered(state, command)
        case c.StartJob():
            pending = Pending(command.job, command.title, dict(command.note))
            return replace(state, pending=pending)
        case c.EndJob():
            return replace(state, pending=_ended(state.pending, command))
    raise DataError(Problem("unknown-operation", "journal", "no such operation", command.op))


def _opened(before: State, loaded: Loaded, source: str) -> State:
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
        pending=before.pending,
    )


def _tables(state: State, command: c.AddTables, blobs: BlobStore) -> State:
    files = {name: blobs.get(key) for name, key in command.files.items()}
    base = None if command.fresh else state.data
    loaded = read_files(files, command.choices, base, blobs.kept)
    _refuse_errors(loaded, command.leave_out)
    if base is None:
        return _opened(state, loaded, "files")
    return replace(
        state,
        data=loaded.data,
        problems=state.problems + loaded.problems,
        understood=state.understood + loaded.understood,
    )


def _refuse_errors(loaded: Loaded, leave_out: bool) -> None:
    if loaded.errors and not leave_out:
        raise DataError(loaded.errors)


def _title(text: str, of: str = "project name") -> str:
    title = " ".join(text.split())
    if not 0 < len(title) <= MAX_TITLE:
        what = f"it needs 1 to {MAX_TITLE} characters"
        raise DataError(Problem("bad-title", of, what, title[:MAX_TITLE]))
    return title


def _record(state: State, command: c.RecordRun, blobs: BlobStore, stamp: Stamp) -> State:
    run = _made(state, command, blobs, stamp.run, stamp.when)
    old = next((old for old in state.runs if old.id == command.replaces), None)
    if old is not None:
        run = replace(run, before=old.embedding)
    runs = tuple(
        kept for kept in state.runs if kept is not old or kept.starred or kept.id == SHIPPED
    )
    return replace(state, runs=(*runs, run), chosen=run.id, pending=_over(state, command.job))


def _made(state: State, command: c.RecordRun, blobs: BlobStore, id: str, when: str) -> Run:
    data = state.opened()
    only, note = command.only, command.note or command.title
    return Run(
        id=id,
        method=command.method,
        title=command.title,
        params=dict(command.params),
        seed=command.seed,
        hold_out=command.hold_out,
        fingerprint=command.fingerprint,
        embedding=unpack_coordinates(blobs.get(command.coordinates), data, note),
        figures=None if command.figures is None else unpack_json(blobs.get(command.figures)),
        weights=dict(command.weights),
        only=None if only is None else unpack_rows(blobs.get(only), data.n_rows),
        when=when,
    )


def _keep(state: State, command: c.KeepFindings, blobs: BlobStore, stamp: Stamp) -> State:
    made = tuple(
        _made(state, c.RecordRun(**fields), blobs, f"{stamp.run}.{place}", stamp.when)
        for place, fields in enumerate(command.maps, start=1)
    )
    kept = Kept(
        command.kind,
        command.title,
        unpack_json(blobs.get(command.content)),
        command.fingerprint,
        tuple(run.id for run in made),
        stamp.when,
    )
    if kept.kind == CLUSTERS:
        state = found_clusters(state, kept.content, state.chosen)
    # Maps of the findings before, unless somebody works with them or wants to keep them.
    before = state.findings.get(command.kind)
    gone = set() if before is None else set(before.runs) - {state.chosen}
    runs = tuple(run for run in state.runs if run.id not in gone or run.starred)
    return replace(
        state,
        runs=(*runs, *made),
        findings={**state.findings, kept.kind: kept},
        pending=_over(state, command.job),
    )


def _over(state: State, job: str | None) -> Pending | None:
    done = state.pending is not None and state.pending.job == job
    return None if done else state.pending


def _run(state: State, id: str) -> Run:
    for run in state.runs:
        if run.id == id:
            return run
    raise DataError(Problem("unknown-run", "maps", "there is no such map", id))


def _with_run(state: State, id: str, **fields: Any) -> State:
    changed = replace(_run(state, id), **fields)
    return replace(state, runs=tuple(changed if run.id == id else run for run in state.runs))


def _without_run(state: State, id: str) -> State:
    gone = _run(state, id)
    runs = tuple(run for run in state.runs if run is not gone)
    chosen = state.chosen if state.chosen != id else runs[-1].id if runs else None
    return replace(state, runs=runs, chosen=chosen)


def _filtered(state: State, command: c.SetFilters) -> State:
    filters = tuple(Filter.from_dict(dict(entry)) for entry in command.to_dict()["filters"])
    # Names what is not there, before it is kept.
    passing(state.opened(), filters)
    return replace(state, filters=filters)


def _ended(pending: Pending | None, command: c.EndJob) -> Pending | None:
    if pending is None or pending.job != command.job:
        return pending
    if command.outcome is None:
        return None
    if command.outcome not in OUTCOMES:
        what = "a job ends otherwise"
        raise DataError(Problem("bad-outcome", "job", what, str(command.outcome)))
    return replace(pending, outcome=command.outcome, message=command.message)


def _view(state: State, command: c.SetView) -> View:
    view = state.view
    if command.colour is not None:
        view = replace(view, colour=command.colour)
    if command.hidden is not None:
        known = state.opened().datasets
        view = replace(view, hidden=tuple(name for name in command.hidden if name in known))
    return view

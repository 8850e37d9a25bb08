"""Commands for jobs and their results: maps and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from hetviz.errors import DataError, Problem
from hetviz.workspace.commands.clusters import CLUSTERS, with_found_clusters
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import ORIGINAL_MAP, OUTCOMES, Finding, PendingJob, Run, State
from hetviz.workspace.commands.view import validate_title
from hetviz.workspace.store.packing import unpack_coordinates, unpack_json, unpack_rows


@dataclass(frozen=True)
class RecordRun(Command):
    """Record and show the result of a run.

    Attributes
    ----------
    method, title : str
        Key of the method and title of the run.
    params : mapping
    seed : int
    hold_out : float
        Share of the links hidden from the method.
    fingerprint : str
        Of the data it was made from.
    coordinates, figures : str
        Blobs, see `hetviz.workspace.store.packing`; no figures if the map was not measured.
    weights : mapping of str to float
        Factor of the link weights by key of the kind.
    only : str or None
        Blob of the packed rows used by the method; None for all.
    job : str or None
        The job that made it.
    note : str
        Origin of the coordinates, with remarks after a colon.
    replaces : str or None
        A run that it replaces, unless that one is starred.
    """

    op: ClassVar[str] = "record-run"
    label: ClassVar[str] = "new map"
    method: str
    title: str
    params: Mapping[str, Any]
    seed: int
    hold_out: float
    fingerprint: str
    coordinates: str
    figures: str | None
    weights: Mapping[str, float] = field(default_factory=dict)
    only: str | None = None
    job: str | None = None
    note: str = ""
    replaces: str | None = None

    @property
    def is_step(self) -> bool:
        """A refitted map is undone together with the edit that caused it."""
        return self.replaces is None

    def apply(self, state: State, context: Context) -> State:
        run = self.run(state, context, context.run)
        old = next((old for old in state.runs if old.id == self.replaces), None)
        if old is not None:
            # Colours stay: only the first map chooses a colour column.
            colour = (old.figures or {}).get("colour")
            figures = {"colour": colour, **(run.figures or {})} if colour else run.figures
            run = replace(run, before=old.embedding, figures=figures)
        runs = tuple(
            other
            for other in state.runs
            if other is not old or other.starred or other.id == ORIGINAL_MAP
        )
        pending = _pending_without(state, self.job)
        return replace(state, runs=(*runs, run), chosen=run.id, pending=pending)

    def run(self, state: State, context: Context, id: str) -> Run:
        """Return the run, read from the blobs."""
        data, blobs = state.opened(), context.blobs
        only, note = self.only, self.note or self.title
        return Run(
            id=id,
            method=self.method,
            title=self.title,
            params=dict(self.params),
            seed=self.seed,
            hold_out=self.hold_out,
            fingerprint=self.fingerprint,
            embedding=unpack_coordinates(blobs.get(self.coordinates), data, note),
            figures=None if self.figures is None else unpack_json(blobs.get(self.figures)),
            weights=dict(self.weights),
            only=None if only is None else unpack_rows(blobs.get(only), data.n_rows),
            when=context.when,
        )


@dataclass(frozen=True)
class KeepFindings(Command):
    """Record findings about the data and their maps.

    Attributes
    ----------
    kind, title : str
        Only the latest findings of a kind are kept.
    fingerprint : str
        Fingerprint of the data.
    content : str
        Blob of the findings.
    maps : sequence of mapping
        Fields of `RecordRun` for each map. None of them is shown.
    job : str or None
        The job that made them.
    """

    op: ClassVar[str] = "keep-findings"
    label: ClassVar[str] = "result"
    kind: str
    title: str
    fingerprint: str
    content: str
    maps: Sequence[Mapping[str, Any]] = ()
    job: str | None = None

    @property
    def undo_label(self) -> str:
        """The text after "Undo": clusters are named as such."""
        return self.kind if self.kind == "clusters" else self.label

    def apply(self, state: State, context: Context) -> State:
        new_runs = tuple(
            RecordRun(**fields).run(state, context, f"{context.run}.{number}")
            for number, fields in enumerate(self.maps, start=1)
        )
        content = unpack_json(context.blobs.get(self.content))
        # A comparison that continues an earlier one includes the maps of that one.
        earlier = content.get("earlier")
        earlier_runs = set(earlier.values()) if isinstance(earlier, dict) else set()
        finding = Finding(
            self.kind,
            self.title,
            content,
            self.fingerprint,
            (
                *(run.id for run in state.runs if run.id in earlier_runs),
                *(run.id for run in new_runs),
            ),
            context.when,
        )
        if finding.kind == CLUSTERS:
            state = with_found_clusters(state, finding.content, state.chosen)
        # Maps of the previous findings are removed unless shown or starred.
        previous = state.findings.get(self.kind)
        outdated = set() if previous is None else set(previous.runs) - {*finding.runs, state.chosen}
        runs = tuple(run for run in state.runs if run.id not in outdated or run.starred)
        return replace(
            state,
            runs=(*runs, *new_runs),
            findings={**state.findings, finding.kind: finding},
            pending=_pending_without(state, self.job),
        )


@dataclass(frozen=True)
class ChooseRun(Command):
    """Show an earlier run."""

    op: ClassVar[str] = "choose-run"
    label: ClassVar[str] = "choose map"
    run: str

    def apply(self, state: State, context: Context) -> State:
        return replace(state, chosen=_run(state, self.run).id)


@dataclass(frozen=True)
class RenameRun(Command):
    """Rename a run."""

    op: ClassVar[str] = "rename-run"
    label: ClassVar[str] = "rename map"
    run: str
    title: str

    def apply(self, state: State, context: Context) -> State:
        return _with_run(state, self.run, title=validate_title(self.title, "name of the map"))


@dataclass(frozen=True)
class StarRun(Command):
    """Star or unstar a run."""

    op: ClassVar[str] = "star-run"
    label: ClassVar[str] = "star"
    run: str
    starred: bool

    def apply(self, state: State, context: Context) -> State:
        return _with_run(state, self.run, starred=bool(self.starred))


@dataclass(frozen=True)
class DropRun(Command):
    """Remove a run. If it was shown, the newest remaining run is shown."""

    op: ClassVar[str] = "drop-run"
    label: ClassVar[str] = "remove map"
    run: str

    def apply(self, state: State, context: Context) -> State:
        dropped = _run(state, self.run)
        runs = tuple(run for run in state.runs if run is not dropped)
        chosen = state.chosen if state.chosen != self.run else runs[-1].id if runs else None
        return replace(state, runs=runs, chosen=chosen)


@dataclass(frozen=True)
class StartJob(Command):
    """Record the start of a job, so that it is known after a restart.

    Attributes
    ----------
    job, title : str
        Id and title.
    note : mapping
        The arguments needed to start it again; JSON-ready.
    """

    op: ClassVar[str] = "start-job"
    label: ClassVar[str] = "start"
    undoable: ClassVar[bool] = False
    job: str
    title: str
    note: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, state: State, context: Context) -> State:
        return replace(state, pending=PendingJob(self.job, self.title, dict(self.note)))


@dataclass(frozen=True)
class EndJob(Command):
    """Record the end of a job without a result.

    Attributes
    ----------
    job : str
        Ignored unless it is the pending job.
    outcome : {"interrupted", "failed", "cancelled", None}
        None clears the job, after the user has seen its end.
    message : str
        In plain words.
    """

    op: ClassVar[str] = "end-job"
    label: ClassVar[str] = "end"
    undoable: ClassVar[bool] = False
    job: str
    outcome: str | None = None
    message: str = ""

    def apply(self, state: State, context: Context) -> State:
        pending = state.pending
        if pending is None or pending.job != self.job:
            return state
        if self.outcome is None:
            return replace(state, pending=None)
        if self.outcome not in OUTCOMES:
            message = "unknown outcome"
            raise DataError(Problem("bad-outcome", "job", message, str(self.outcome)))
        ended = replace(pending, outcome=self.outcome, message=self.message)
        return replace(state, pending=ended)


def _pending_without(state: State, job: str | None) -> PendingJob | None:
    done = state.pending is not None and state.pending.job == job
    return None if done else state.pending


def _run(state: State, id: str) -> Run:
    for run in state.runs:
        if run.id == id:
            return run
    raise DataError(Problem("unknown-run", "maps", "unknown map", id))


def _with_run(state: State, id: str, **fields: Any) -> State:
    changed = replace(_run(state, id), **fields)
    return replace(state, runs=tuple(changed if run.id == id else run for run in state.runs))

"""Jobs, and what they give: maps and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from hetviz.errors import DataError, Problem
from hetviz.workspace.commands.clusters import CLUSTERS, found_clusters
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.view import checked_title
from hetviz.workspace.state import OUTCOMES, SHIPPED, Finding, Pending, Run, State
from hetviz.workspace.store.packing import unpack_coordinates, unpack_json, unpack_rows


@dataclass(frozen=True)
class RecordRun(Command):
    """Keep the result of a run and show it.

    Attributes
    ----------
    method, title : str
        Key of the method and what to call the run.
    params : mapping
    seed : int
    hold_out : float
        Share of the links that the method did not see.
    fingerprint : str
        Of the data it was made from.
    coordinates, figures : str
        Blobs: see `hetviz.workspace.store.packing`; no figures where the map was not measured.
    weights : mapping of str to float
        Key of a kind of links to what its weights were multiplied by.
    only : str or None
        Blob of the packed rows that the method saw; None if it saw all.
    job : str or None
        The job that made it; it is pending no longer.
    note : str
        How the coordinates came about; what must be said of the map follows a colon.
    replaces : str or None
        A run that it takes the place of, unless that one is starred.
    """

    op: ClassVar[str] = "record-run"
    does: ClassVar[str] = "new map"
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
        """A map made again belongs to the edit that it answers, and goes back with it."""
        return self.replaces is None

    def apply(self, state: State, context: Context) -> State:
        run = self.run(state, context, context.run)
        old = next((old for old in state.runs if old.id == self.replaces), None)
        if old is not None:
            # The colours stay what they were: only the first map looks for what they shall tell.
            told = (old.figures or {}).get("colour")
            figures = {"colour": told, **(run.figures or {})} if told else run.figures
            run = replace(run, before=old.embedding, figures=figures)
        runs = tuple(
            kept for kept in state.runs if kept is not old or kept.starred or kept.id == SHIPPED
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
    """Keep what was found out about the data, and the maps made on the way.

    Attributes
    ----------
    kind, title : str
        The latest of each kind is kept.
    fingerprint : str
        Of the data that it is about.
    content : str
        Blob of what was found.
    maps : sequence of mapping
        Fields of `RecordRun` of each map; none of them is shown by this.
    job : str or None
        The job that found it; it is pending no longer.
    """

    op: ClassVar[str] = "keep-findings"
    does: ClassVar[str] = "result"
    kind: str
    title: str
    fingerprint: str
    content: str
    maps: Sequence[Mapping[str, Any]] = ()
    job: str | None = None

    @property
    def named(self) -> str:
        """What this very command does: clusters are seen as such."""
        return self.kind if self.kind == "clusters" else self.does

    def apply(self, state: State, context: Context) -> State:
        made = tuple(
            RecordRun(**fields).run(state, context, f"{context.run}.{place}")
            for place, fields in enumerate(self.maps, start=1)
        )
        content = unpack_json(context.blobs.get(self.content))
        # A comparison that went on with an earlier one still has the maps of that.
        earlier = content.get("earlier")
        still = set(earlier.values()) if isinstance(earlier, dict) else set()
        finding = Finding(
            self.kind,
            self.title,
            content,
            self.fingerprint,
            (
                *(run.id for run in state.runs if run.id in still),
                *(run.id for run in made),
            ),
            context.when,
        )
        if finding.kind == CLUSTERS:
            state = found_clusters(state, finding.content, state.chosen)
        # Maps of the findings before, unless somebody works with them or wants to keep them.
        before = state.findings.get(self.kind)
        gone = set() if before is None else set(before.runs) - {*finding.runs, state.chosen}
        runs = tuple(run for run in state.runs if run.id not in gone or run.starred)
        return replace(
            state,
            runs=(*runs, *made),
            findings={**state.findings, finding.kind: finding},
            pending=_pending_without(state, self.job),
        )


@dataclass(frozen=True)
class ChooseRun(Command):
    """Show an earlier run."""

    op: ClassVar[str] = "choose-run"
    does: ClassVar[str] = "choice of map"
    run: str

    def apply(self, state: State, context: Context) -> State:
        return replace(state, chosen=_run(state, self.run).id)


@dataclass(frozen=True)
class RenameRun(Command):
    """Call a run something else."""

    op: ClassVar[str] = "rename-run"
    does: ClassVar[str] = "name of map"
    run: str
    title: str

    def apply(self, state: State, context: Context) -> State:
        return _with_run(state, self.run, title=checked_title(self.title, "name of the map"))


@dataclass(frozen=True)
class StarRun(Command):
    """Mark a run as one to find again, or take the mark away."""

    op: ClassVar[str] = "star-run"
    does: ClassVar[str] = "star"
    run: str
    starred: bool

    def apply(self, state: State, context: Context) -> State:
        return _with_run(state, self.run, starred=bool(self.starred))


@dataclass(frozen=True)
class DropRun(Command):
    """Remove a run; where it was shown, the newest of the others is."""

    op: ClassVar[str] = "drop-run"
    does: ClassVar[str] = "remove map"
    run: str

    def apply(self, state: State, context: Context) -> State:
        gone = _run(state, self.run)
        runs = tuple(run for run in state.runs if run is not gone)
        chosen = state.chosen if state.chosen != self.run else runs[-1].id if runs else None
        return replace(state, runs=runs, chosen=chosen)


@dataclass(frozen=True)
class StartJob(Command):
    """Note that a job was started, so that it is known after a restart.

    Attributes
    ----------
    job, title : str
        Its id, and what it is called.
    note : mapping
        What is needed to start it again; JSON-ready.
    """

    op: ClassVar[str] = "start-job"
    does: ClassVar[str] = "start"
    undoable: ClassVar[bool] = False
    job: str
    title: str
    note: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, state: State, context: Context) -> State:
        return replace(state, pending=Pending(self.job, self.title, dict(self.note)))


@dataclass(frozen=True)
class EndJob(Command):
    """Note how a job ended that gave no map.

    Attributes
    ----------
    job : str
        Nothing happens unless it is the pending one.
    outcome : {"interrupted", "failed", "cancelled", None}
        None forgets the job, once the user has seen how it ended.
    message : str
        In plain words.
    """

    op: ClassVar[str] = "end-job"
    does: ClassVar[str] = "end"
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
            what = "a job ends otherwise"
            raise DataError(Problem("bad-outcome", "job", what, str(self.outcome)))
        ended = replace(pending, outcome=self.outcome, message=self.message)
        return replace(state, pending=ended)


def _pending_without(state: State, job: str | None) -> Pending | None:
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

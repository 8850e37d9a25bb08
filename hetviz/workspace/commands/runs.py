"""Commands for jobs and their results: maps and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from hetviz.data import HeteroData
from hetviz.data.queries.periods import PERIODS
from hetviz.errors import DataError
from hetviz.runs.embed.run import MapOrigin, MapResult
from hetviz.workspace.commands.clusters import CLUSTERS, with_found_clusters
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import ORIGINAL_MAP, OUTCOMES, Finding, PendingJob, State
from hetviz.workspace.commands.view import validate_title
from hetviz.workspace.store.maps import earlier_map, unpack_map
from hetviz.workspace.store.packing import unpack_json

# Findings whose maps earlier versions stored with incomplete settings.
_PREDICTIONS = ("labels", "links")
_UNDO_LABELS = {CLUSTERS: "clusters", PERIODS: "maps of periods"}


@dataclass(frozen=True)
class RecordMap(Command, op="record-map", label="new map"):
    """Record and show a map."""

    map: str  # Blob, see `hetviz.workspace.store.maps.pack_map`.
    job: str | None = None  # The job that made it.
    replaces: str | None = None  # A map that it replaces, unless that one is starred.
    requested: bool = False  # Whether the user asked for it, and not an edit of the data.

    @property
    def is_step(self) -> bool:
        """A map that is refitted for an edit is undone together with the edit."""
        return self.replaces is None or self.requested

    def apply(self, state: State, context: Context) -> State:
        content, is_refit = context.blobs.get(self.map), self.replaces is not None
        result = _unpack(state, self.job, lambda data: unpack_map(content, data, is_refit))
        return _with_map(state, result, context, self.job, self.replaces)


@dataclass(frozen=True)
class RecordRun(Command, op="record-run", label="new map"):
    """A map as earlier versions recorded it: its settings, and keys of blobs."""

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
        return self.replaces is None

    def apply(self, state: State, context: Context) -> State:
        get = context.blobs.get
        result = _unpack(state, self.job, lambda data: earlier_map(vars(self), data, get))
        return _with_map(state, result, context, self.job, self.replaces)


def _with_map(
    state: State, result: MapResult, context: Context, job: str | None, replaces: str | None
) -> State:
    result = replace(result, id=context.run, when=context.when)
    old = next((old for old in state.runs if old.id == replaces), None)
    if old is not None:
        # Colours stay: only the first map chooses a colour column.
        colour = (old.figures or {}).get("colour")
        figures = {"colour": colour, **(result.figures or {})} if colour else result.figures
        result = replace(result, before=old.embedding, figures=figures)
    runs = tuple(
        other
        for other in state.runs
        if other is not old or other.starred or other.id == ORIGINAL_MAP
    )
    pending = _pending_without(state, job)
    return replace(state, runs=(*runs, result), chosen=result.id, pending=pending)


@dataclass(frozen=True)
class KeepFindings(Command, op="keep-findings", label="result"):
    """Record findings about the data and their maps."""

    # `kind`, `title`: only the latest findings of a kind are kept.
    kind: str
    title: str
    fingerprint: str  # Fingerprint of the data.
    content: str  # Blob of the findings.
    # Blobs of the maps, none of which is shown, except the last one of periods. Earlier versions
    # have the fields of `RecordRun`.
    maps: Sequence[str | Mapping[str, Any]] = ()
    job: str | None = None  # The job that made them.
    automatic: bool = False  # Whether they were computed automatically.

    @property
    def undo_label(self) -> str:
        """The text after "Undo"."""
        return _UNDO_LABELS.get(self.kind, self.label)

    @property
    def is_step(self) -> bool:
        """Findings computed automatically are no step."""
        return not self.automatic

    def apply(self, state: State, context: Context) -> State:
        def unpack(stored: str | Mapping[str, Any], data: HeteroData) -> MapResult:
            if isinstance(stored, str):
                content = context.blobs.get(stored)
                return unpack_map(content, data, self.kind in _PREDICTIONS)
            return earlier_map(vars(RecordRun(**stored)), data, context.blobs.get)

        new_runs = tuple(
            replace(
                _unpack(state, self.job, partial(unpack, stored)),
                id=f"{context.run}.{number}",
                when=context.when,
            )
            for number, stored in enumerate(self.maps, start=1)
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
        if finding.kind == PERIODS and new_runs:
            state = replace(state, chosen=new_runs[-1].id)
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
class ChooseRun(Command, op="choose-run", label="choose map"):
    """Show an earlier run."""

    run: str
    is_period: bool = False  # Whether it is the next of several periods, which undo skips.

    @property
    def is_step(self) -> bool:
        return not self.is_period

    def apply(self, state: State, context: Context) -> State:
        return replace(state, chosen=_run(state, self.run).id)


@dataclass(frozen=True)
class RenameRun(Command, op="rename-run", label="rename map"):
    """Rename a run."""

    run: str
    title: str

    def apply(self, state: State, context: Context) -> State:
        return _with_run(state, self.run, title=validate_title(self.title, "name of the map"))


@dataclass(frozen=True)
class StarRun(Command, op="star-run", label="star"):
    """Star or unstar a run."""

    run: str
    starred: bool

    def apply(self, state: State, context: Context) -> State:
        return _with_run(state, self.run, starred=bool(self.starred))


@dataclass(frozen=True)
class DropRun(Command, op="drop-run", label="remove map"):
    """Remove a run. If it was shown, the newest remaining run is shown."""

    run: str

    def apply(self, state: State, context: Context) -> State:
        dropped = _run(state, self.run)
        runs = tuple(run for run in state.runs if run is not dropped)
        chosen = state.chosen if state.chosen != self.run else runs[-1].id if runs else None
        return replace(state, runs=runs, chosen=chosen)


@dataclass(frozen=True)
class StartJob(Command, op="start-job", label="start", undoable=False):
    """Record the start of a job, so that it is known after a restart."""

    # `job`, `title`: id and title.
    job: str
    title: str
    # The arguments needed to start it again; JSON-ready.
    note: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, state: State, context: Context) -> State:
        pending = PendingJob(self.job, self.title, dict(self.note), data=state.guided)
        return replace(state, pending=pending)


@dataclass(frozen=True)
class EndJob(Command, op="end-job", label="end", undoable=False):
    """Record the end of a job without a result."""

    job: str  # Ignored unless it is the pending job.
    # One of {"interrupted", "failed", "cancelled", None}. None clears the job, after the user has
    # seen its end.
    outcome: str | None = None
    message: str = ""  # In plain words.

    def apply(self, state: State, context: Context) -> State:
        pending = state.pending
        if pending is None or pending.job != self.job:
            return state
        if self.outcome is None:
            return replace(state, pending=None)
        if self.outcome not in OUTCOMES:
            message = "unknown outcome"
            raise DataError.of("bad-outcome", "job", message, str(self.outcome))
        ended = replace(pending, outcome=self.outcome, message=self.message)
        return replace(state, pending=ended)


def _unpack(state: State, job: str | None, unpack: Callable[[HeteroData], MapResult]) -> MapResult:
    """Return a new map with its origin, if the data that it was made from are known."""
    result = unpack(state.opened())
    # The data may have changed since the job started.
    pending = state.pending
    data = pending.data if pending is not None and pending.job == job else None
    if data is None and state.is_current(result):
        data = state.guided
    if data is None:
        return result
    original = result if data.datasets == state.opened().datasets else unpack(data)
    return replace(result, origin=MapOrigin(data, original))


def _pending_without(state: State, job: str | None) -> PendingJob | None:
    done = state.pending is not None and state.pending.job == job
    return None if done else state.pending


def _run(state: State, id: str) -> MapResult:
    for run in state.runs:
        if run.id == id:
            return run
    raise DataError.of("unknown-run", "maps", "unknown map", id)


def _with_run(state: State, id: str, **fields: Any) -> State:
    changed = replace(_run(state, id), **fields)
    return replace(state, runs=tuple(changed if run.id == id else run for run in state.runs))

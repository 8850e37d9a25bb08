"""Everything a user can do to a workspace, as plain values that go to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from hetviz.data import Filter
from hetviz.errors import DataError, Problem

_KINDS: dict[str, type[Command]] = {}


@dataclass(frozen=True)
class Command:
    """One change, named by `op`.

    Attributes
    ----------
    op : str
        Name in the journal; stable across versions.
    does : str
        What it does, for "Undo ...".
    undoable : bool
        Whether it is a step of its own for undo.
    """

    op: ClassVar[str] = ""
    does: ClassVar[str] = ""
    undoable: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        _KINDS[cls.op] = cls

    @property
    def named(self) -> str:
        """What this very command does, for "Undo ..."."""
        return self.does

    @property
    def is_step(self) -> bool:
        """Whether undo takes it back by itself."""
        return self.undoable

    def to_dict(self) -> dict[str, Any]:
        """Return the command as a JSON-ready dictionary."""
        return {"op": self.op, **asdict(self)}


def from_dict(entry: Mapping[str, Any]) -> Command:
    """Return the command that `entry` describes; its time, ``at``, is no part of that.

    Raises
    ------
    hetviz.errors.DataError
        If the operation is unknown or its fields do not fit.
    """
    fields = {key: value for key, value in entry.items() if key not in ("op", "at")}
    kind = _KINDS.get(str(entry.get("op")))
    if kind is None:
        raise DataError(
            Problem(
                "unknown-operation",
                "journal",
                "there is no such operation",
                str(entry.get("op")),
                "It was written by another version of hetviz.",
            )
        )
    try:
        return kind(**fields)
    except TypeError as error:
        raise DataError(
            Problem("bad-operation", f"journal, {kind.op}", "its fields do not fit", str(error))
        ) from None


@dataclass(frozen=True)
class OpenSample(Command):
    """Open a sample that comes with hetviz; what was open is replaced."""

    op: ClassVar[str] = "open-sample"
    does: ClassVar[str] = "open sample"
    name: str


@dataclass(frozen=True)
class OpenBundle(Command):
    """Open a bundle (zip) kept as a blob; what was open is replaced."""

    op: ClassVar[str] = "open-bundle"
    does: ClassVar[str] = "open file"
    blob: str
    filename: str
    leave_out: bool = False


@dataclass(frozen=True)
class AddTables(Command):
    """Read tables kept as blobs, as datasets or links.

    Attributes
    ----------
    files : mapping of str to str
        File name to blob.
    choices : mapping
        How to read each file, where the user said so.
    leave_out : bool
        Go on without the rows that are wrong.
    fresh : bool
        Replace what was open instead of adding to it.
    """

    op: ClassVar[str] = "add-tables"
    does: ClassVar[str] = "add files"
    files: Mapping[str, str]
    choices: Mapping[str, Any] = field(default_factory=dict)
    leave_out: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class RenameDataset(Command):
    """Give a dataset another name."""

    op: ClassVar[str] = "rename-dataset"
    does: ClassVar[str] = "rename"
    old: str
    new: str


@dataclass(frozen=True)
class DropDataset(Command):
    """Remove a dataset with its links."""

    op: ClassVar[str] = "drop-dataset"
    does: ClassVar[str] = "remove"
    name: str


@dataclass(frozen=True)
class SetEntity(Command):
    """Say what the rows of a dataset are: datasets of one entity show the same things."""

    op: ClassVar[str] = "set-entity"
    does: ClassVar[str] = "same things"
    dataset: str
    entity: str


@dataclass(frozen=True)
class LinkByKey(Command):
    """Link the items of two datasets that share a key.

    Attributes
    ----------
    source, target : str
    source_column, target_column : str
        Columns of their tables; empty for the ids.
    kind : str
        What to call the links.
    loose : bool
        Whether upper and lower case, blanks and Unicode forms do not count.
    """

    op: ClassVar[str] = "link-by-key"
    does: ClassVar[str] = "links by key"
    source: str
    source_column: str
    target: str
    target_column: str
    kind: str
    loose: bool = False


@dataclass(frozen=True)
class SetTitle(Command):
    """Name the project."""

    op: ClassVar[str] = "set-title"
    does: ClassVar[str] = "project name"
    title: str


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


@dataclass(frozen=True)
class Act(Command):
    """Several changes as one step.

    Attributes
    ----------
    steps : sequence of mapping
        Commands as dictionaries, carried out in this order.
    name : str
        What they do together.
    """

    op: ClassVar[str] = "act"
    does: ClassVar[str] = "change"
    steps: Sequence[Mapping[str, Any]]
    name: str = ""

    @property
    def named(self) -> str:
        """What the steps do together."""
        return self.name or self.does


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


@dataclass(frozen=True)
class ChooseRun(Command):
    """Show an earlier run."""

    op: ClassVar[str] = "choose-run"
    does: ClassVar[str] = "choice of map"
    run: str


@dataclass(frozen=True)
class RenameRun(Command):
    """Call a run something else."""

    op: ClassVar[str] = "rename-run"
    does: ClassVar[str] = "name of map"
    run: str
    title: str


@dataclass(frozen=True)
class StarRun(Command):
    """Mark a run as one to find again, or take the mark away."""

    op: ClassVar[str] = "star-run"
    does: ClassVar[str] = "star"
    run: str
    starred: bool


@dataclass(frozen=True)
class DropRun(Command):
    """Remove a run; where it was shown, the newest of the others is."""

    op: ClassVar[str] = "drop-run"
    does: ClassVar[str] = "remove map"
    run: str


@dataclass(frozen=True)
class SetFilters(Command):
    """Replace the filters by these, given as `Filter` or as its dictionary."""

    op: ClassVar[str] = "set-filters"
    does: ClassVar[str] = "filter"
    filters: Sequence[Filter | Mapping[str, Any]]

    def __post_init__(self) -> None:
        plain = [
            entry.to_dict() if isinstance(entry, Filter) else dict(entry) for entry in self.filters
        ]
        object.__setattr__(self, "filters", plain)


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


@dataclass(frozen=True)
class SetView(Command):
    """Change how the map is shown; absent fields stay.

    Attributes
    ----------
    colour : str or None
        See `hetviz.plots.colour`.
    hidden : sequence of str or None
        Datasets not drawn.
    """

    op: ClassVar[str] = "set-view"
    does: ClassVar[str] = "view"
    undoable: ClassVar[bool] = False
    colour: str | None = None
    hidden: tuple[str, ...] | list[str] | None = None

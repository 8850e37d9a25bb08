"""Base class of commands: JSON values that change the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from hetviz.errors import DataError, Problem
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.blobs import BlobStore

_COMMANDS: dict[str, type[Command]] = {}


@dataclass(frozen=True)
class Context:
    """Context of a command: blobs, time and run id.

    Attributes
    ----------
    blobs : BlobStore
        Bytes that the command refers to.
    when : str
        Time of the first execution: ISO 8601, UTC.
    run : str
        Id of the run that it creates, unique in a log.
    """

    blobs: BlobStore
    when: str = ""
    run: str = "1"


@dataclass(frozen=True)
class Command:
    """A change of the state.

    Attributes
    ----------
    op : str
        Name in the journal; stable across versions.
    label : str
        Text after "Undo".
    undoable : bool
        Whether undo reverts it separately.
    """

    op: ClassVar[str] = ""
    label: ClassVar[str] = ""
    undoable: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        _COMMANDS[cls.op] = cls

    @property
    def undo_label(self) -> str:
        """The text after "Undo" for this command."""
        return self.label

    @property
    def is_step(self) -> bool:
        """Whether undo reverts it separately."""
        return self.undoable

    def to_dict(self) -> dict[str, Any]:
        """Return the command as a JSON-ready dictionary."""
        return {"op": self.op, **asdict(self)}

    def apply(self, state: State, context: Context) -> State:
        """Return the state after this command."""
        raise NotImplementedError


def from_dict(entry: Mapping[str, object]) -> Command:
    """Return the command that a log entry describes. Its time, ``at``, is ignored."""
    fields = {key: value for key, value in entry.items() if key not in ("op", "at")}
    kind = _COMMANDS.get(str(entry.get("op")))
    if kind is None:
        raise DataError(
            Problem(
                "unknown-operation",
                "journal",
                "unknown operation",
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
class Act(Command):
    """Several commands as one step.

    Attributes
    ----------
    steps : sequence of mapping
        Commands as dictionaries, in this order.
    name : str
        Name of the combined step.
    """

    op: ClassVar[str] = "act"
    label: ClassVar[str] = "change"
    steps: Sequence[Mapping[str, Any]]
    name: str = ""

    @property
    def undo_label(self) -> str:
        """Name of the combined steps."""
        return self.name or self.label

    def apply(self, state: State, context: Context) -> State:
        for entry in self.steps:
            state = from_dict(entry).apply(state, context)
        return state

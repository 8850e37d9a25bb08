"""Base class of commands: JSON values that change the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from hetviz.errors import DataError
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.blobs import BlobStore

_COMMANDS: dict[str, type[Command]] = {}


@dataclass(frozen=True)
class Context:
    """Context of a command: blobs, time and run id."""

    blobs: BlobStore  # Bytes that the command refers to.
    when: str = ""  # Time of the first execution: ISO 8601, UTC.
    run: str = "1"  # Id of the run that it creates, unique in a log.
    who: str = ""  # Name of the person, empty if unknown.


@dataclass(frozen=True)
class Command:
    """A change of the state."""

    op: ClassVar[str] = ""  # Name in the journal; stable across versions.
    label: ClassVar[str] = ""  # Text after "Undo".
    undoable: ClassVar[bool] = True  # Whether undo reverts it separately.

    def __init_subclass__(cls, op: str = "", label: str = "", undoable: bool = True) -> None:
        cls.op, cls.label, cls.undoable = op, label, undoable
        if op:
            _COMMANDS[op] = cls

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
    """Return the command of a log entry. Its time, ``at``, and person, ``by``, are ignored."""
    fields = {key: value for key, value in entry.items() if key not in ("op", "at", "by")}
    kind = _COMMANDS.get(str(entry.get("op")))
    if kind is None:
        raise DataError.of(
            "unknown-operation",
            "journal",
            "unknown operation",
            str(entry.get("op")),
            "It was written by another version of hetviz.",
        )
    try:
        return kind(**fields)
    except TypeError as error:
        raise DataError.of(
            "bad-operation", f"journal, {kind.op}", "its fields do not fit", str(error)
        ) from None


@dataclass(frozen=True)
class Act(Command, op="act", label="change"):
    """Several commands as one step."""

    # Commands, or as dictionaries in a journal, in this order.
    steps: Sequence[Command | Mapping[str, Any]]
    name: str = ""  # Name of the combined step.

    @property
    def undo_label(self) -> str:
        """Name of the combined steps."""
        return self.name or self.label

    def to_dict(self) -> dict[str, Any]:
        steps = [step.to_dict() if isinstance(step, Command) else step for step in self.steps]
        return {"op": self.op, "steps": steps, "name": self.name}

    def apply(self, state: State, context: Context) -> State:
        for step in self.steps:
            command = step if isinstance(step, Command) else from_dict(step)
            state = command.apply(state, context)
        return state

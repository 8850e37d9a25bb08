"""What every command is: a plain value that goes to JSON and back, and a change of the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from hetviz.errors import DataError, Problem
from hetviz.workspace.state import State
from hetviz.workspace.store.blobs import BlobStore

_KINDS: dict[str, type[Command]] = {}


@dataclass(frozen=True)
class Context:
    """What a command finds beside the state.

    Attributes
    ----------
    blobs : BlobStore
        The bytes that it names.
    when : str
        When it was first carried out: ISO 8601, UTC.
    run : str
        Id of the run that it would make; no two commands of a log share one.
    """

    blobs: BlobStore
    when: str = ""
    run: str = "1"


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

    def apply(self, state: State, context: Context) -> State:
        """Return the state after this command; the given state stays as it is.

        Raises
        ------
        hetviz.errors.HetvizError
            If the command cannot be carried out; nothing has changed then.
        """
        raise NotImplementedError


def from_dict(entry: Mapping[str, object]) -> Command:
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

    def apply(self, state: State, context: Context) -> State:
        for entry in self.steps:
            state = from_dict(entry).apply(state, context)
        return state

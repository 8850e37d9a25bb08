"""New items that were placed on a map, as commands: keep them in the data, or leave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hetviz.workspace.commands.commands import Command


@dataclass(frozen=True)
class KeepItems(Command):
    """Add the items of files to a dataset, at the places that they have on a map.

    Attributes
    ----------
    dataset : str
    files : mapping of str to str
        File name to blob.
    choices : mapping of str to mapping
        How to read each file, where the user said so.
    id_column : str or None
        See `hetviz.io.intake.new_items.read_new_items`.
    run : str
        The map.
    places : mapping of str to sequence of float or None
        Id to place on its axes; None without one.
    """

    op: ClassVar[str] = "keep-items"
    does: ClassVar[str] = "new items"
    dataset: str
    files: Mapping[str, str]
    run: str
    places: Mapping[str, Sequence[float] | None]
    choices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    id_column: str | None = None


@dataclass(frozen=True)
class LeaveItems(Command):
    """Forget the items that were placed."""

    op: ClassVar[str] = "leave-items"
    does: ClassVar[str] = "leaving of new items"


PlacingCommand = KeepItems | LeaveItems

"""What joins datasets besides a shared key, as commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hetviz.workspace.commands.commands import Command


@dataclass(frozen=True)
class LinkByList(Command):
    """Link items with those that a column of theirs lists.

    Attributes
    ----------
    source, column : str
        Whose cells list entries.
    target : str
        A dataset; with `make` the name of a new one, of the distinct entries.
    target_column : str
        What the entries name; empty for the ids.
    kind : str
        What to call the links.
    separator : str
    loose : bool
        Whether upper and lower case, blanks and Unicode forms do not count.
    weight : {"rare", "same"}
        See `hetviz.links_by_list`.
    make : bool
    """

    op: ClassVar[str] = "link-by-list"
    does: ClassVar[str] = "links by list"
    source: str
    column: str
    target: str
    target_column: str
    kind: str
    separator: str = ";"
    loose: bool = True
    weight: str = "rare"
    make: bool = False


@dataclass(frozen=True)
class LinkByNearness(Command):
    """Link items with those that lie nearest on the globe.

    Attributes
    ----------
    source, target : str
    kind : str
        What to call the links.
    k, km : int, float or None
        See `hetviz.links_by_nearness`.
    """

    op: ClassVar[str] = "link-by-nearness"
    does: ClassVar[str] = "links by nearness"
    source: str
    target: str
    kind: str = "near"
    k: int | None = None
    km: float | None = None


JoiningCommand = LinkByList | LinkByNearness

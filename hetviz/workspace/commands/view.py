"""How a project is called, coloured and filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hetviz.data import Filter, passing
from hetviz.errors import DataError, Problem
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.state import State

MAX_TITLE = 80


@dataclass(frozen=True)
class SetTitle(Command):
    """Name the project."""

    op: ClassVar[str] = "set-title"
    does: ClassVar[str] = "project name"
    title: str

    def apply(self, state: State, context: Context) -> State:
        return replace(state, title=checked_title(self.title))


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

    def apply(self, state: State, context: Context) -> State:
        view = state.view
        if self.colour is not None:
            view = replace(view, colour=self.colour)
        if self.hidden is not None:
            known = state.opened().datasets
            view = replace(view, hidden=tuple(name for name in self.hidden if name in known))
        return replace(state, view=view)


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

    def apply(self, state: State, context: Context) -> State:
        filters = tuple(Filter.from_dict(dict(entry)) for entry in self.to_dict()["filters"])
        # Names what is not there, before it is kept.
        passing(state.opened(), filters)
        return replace(state, filters=filters)


def checked_title(text: str, of: str = "project name") -> str:
    """Return a title on one line.

    Raises
    ------
    hetviz.errors.DataError
        If nothing is left of it, or more than 80 characters.
    """
    title = " ".join(text.split())
    if not 0 < len(title) <= MAX_TITLE:
        what = f"it needs 1 to {MAX_TITLE} characters"
        raise DataError(Problem("bad-title", of, what, title[:MAX_TITLE]))
    return title

"""Commands for the saved views of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hetviz.data import SavedView
from hetviz.errors import DataError
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import State

MAX_VIEWS = 100


@dataclass(frozen=True)
class SaveView(Command, op="save-view", label="saved view"):
    """Add a view, or replace the one with its id. Given as `SavedView` or dictionary."""

    view: SavedView | Mapping[str, Any]

    def __post_init__(self) -> None:
        plain = self.view.to_dict() if isinstance(self.view, SavedView) else dict(self.view)
        object.__setattr__(self, "view", plain)

    def apply(self, state: State, context: Context) -> State:
        state.opened()
        view = SavedView.from_dict(dict(self.to_dict()["view"]))
        views = state.saved_views
        if view.id:
            _position(state, view.id)
            changed = tuple(view if other.id == view.id else other for other in views)
            return replace(state, saved_views=changed)
        if len(views) >= MAX_VIEWS:
            message = f"a project can have at most {MAX_VIEWS} saved views"
            raise DataError.of("too-many-views", "saved views", message)
        number = max((int(other.id) for other in views), default=0) + 1
        return replace(state, saved_views=(*views, replace(view, id=str(number))))


@dataclass(frozen=True)
class MoveView(Command, op="move-view", label="order of views"):
    """Move a view to another position, from 0."""

    id: str
    to: int

    def apply(self, state: State, context: Context) -> State:
        views = list(state.saved_views)
        view = views.pop(_position(state, self.id))
        views.insert(min(max(int(self.to), 0), len(views)), view)
        return replace(state, saved_views=tuple(views))


@dataclass(frozen=True)
class DropView(Command, op="drop-view", label="remove view"):
    """Remove a view."""

    id: str

    def apply(self, state: State, context: Context) -> State:
        at = _position(state, self.id)
        views = state.saved_views
        return replace(state, saved_views=views[:at] + views[at + 1 :])


def _position(state: State, id: str) -> int:
    for at, view in enumerate(state.saved_views):
        if view.id == id:
            return at
    raise DataError.of("unknown-view", "saved views", "unknown view", id)

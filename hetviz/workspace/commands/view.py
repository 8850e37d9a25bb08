"""Commands for title, display settings and filters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hetviz.data import Filter, passing
from hetviz.errors import DataError
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import State

MAX_TITLE = 80
MAX_CHARTS = 12


@dataclass(frozen=True)
class SetTitle(Command, op="set-title", label="project name"):
    """Name the project."""

    title: str
    automatic: bool = False  # Whether the app chose it, so that undo skips it.

    @property
    def is_step(self) -> bool:
        return not self.automatic

    def apply(self, state: State, context: Context) -> State:
        return replace(state, title=validate_title(self.title))


@dataclass(frozen=True)
class SetView(Command, op="set-view", label="view", undoable=False):
    """Change the display settings. Absent fields stay."""

    colour: str | None = None  # See `hetviz.plots.colour`.
    hidden: tuple[str, ...] | list[str] | None = None  # Hidden datasets.
    terrain: bool | None = None  # Whether the map shows density below its points.
    # Charts below the map, see `DisplaySettings`.
    charts: Sequence[Sequence[str]] | None = None
    has_charts: bool | None = None  # Whether they are open.
    has_table: bool | None = None  # Whether the table is in their place.
    has_time: bool | None = None  # Whether dates are shown while they are closed.
    # As `SetSwatch`, which can be undone. Journals of earlier projects have it.
    swatch: tuple[str, str, str] | list[str] | None = None

    def apply(self, state: State, context: Context) -> State:
        view = state.view
        if self.colour is not None:
            view = replace(view, colour=self.colour)
        if self.hidden is not None:
            datasets = state.opened().datasets
            view = replace(view, hidden=tuple(name for name in self.hidden if name in datasets))
        if self.terrain is not None:
            view = replace(view, terrain=self.terrain)
        if self.charts is not None:
            view = replace(view, charts=_validate_charts(self.charts))
        if self.has_charts is not None:
            view = replace(view, has_charts=self.has_charts)
        if self.has_table is not None:
            view = replace(view, has_table=self.has_table)
        if self.has_time is not None:
            view = replace(view, has_time=self.has_time)
        if self.swatch is not None:
            view = replace(view, swatches=_set_swatch(view.swatches, *self.swatch))
        return replace(state, view=view)


def _validate_charts(charts: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    texts = [tuple(map(str, chart)) for chart in charts]
    if len(texts) > MAX_CHARTS or any(len(chart) not in (3, 4) for chart in texts):
        message = (
            f"at most {MAX_CHARTS} charts, each of dataset, column and linked dataset, "
            "a scatter with a second column"
        )
        raise DataError.of("bad-charts", "charts", message, repr(charts)[:80])
    # The same chart twice has no use.
    return tuple(dict.fromkeys(texts))


def _set_swatch(
    swatches: Sequence[tuple[str, str, str]], key: str, category: str, colour: str
) -> tuple[tuple[str, str, str], ...]:
    if colour and not re.fullmatch("#[0-9a-f]{6}", colour):
        raise DataError.of("bad-colour", "colour", "it must look like #1d5c63", colour[:20])
    others = tuple(
        swatch for swatch in swatches if swatch[0] != key or (category and swatch[1] != category)
    )
    return (*others, (key, category, colour)) if category and colour else others


@dataclass(frozen=True)
class SetSwatch(Command, op="set-swatch", label="colour"):
    """Choose the colour of a category; an empty colour or category resets one or all."""

    option: str  # Colour key, see `hetviz.plots.colour`.
    category: str
    colour: str

    def apply(self, state: State, context: Context) -> State:
        swatches = _set_swatch(state.view.swatches, self.option, self.category, self.colour)
        return replace(state, view=replace(state.view, swatches=swatches))


@dataclass(frozen=True)
class SetFilters(Command, op="set-filters", label="filter"):
    """Replace the filters, given as `Filter` or dictionaries."""

    filters: Sequence[Filter | Mapping[str, Any]]

    def __post_init__(self) -> None:
        plain = [
            entry.to_dict() if isinstance(entry, Filter) else dict(entry) for entry in self.filters
        ]
        object.__setattr__(self, "filters", plain)

    def apply(self, state: State, context: Context) -> State:
        filters = tuple(Filter.from_dict(dict(entry)) for entry in self.to_dict()["filters"])
        # Raises an error for unknown datasets and columns.
        passing(state.opened(), filters)
        return replace(state, filters=filters)


def validate_title(text: str, where: str = "project name") -> str:
    """Return a title on one line."""
    title = " ".join(text.split())
    if not 0 < len(title) <= MAX_TITLE:
        message = f"it needs 1 to {MAX_TITLE} characters"
        raise DataError.of("bad-title", where, message, title[:MAX_TITLE])
    return title

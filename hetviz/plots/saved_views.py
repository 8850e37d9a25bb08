"""Saved views on the present data: what they show, and what is gone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._text import count, shorten
from hetviz._types import Bools, Ints
from hetviz.data import Filter, HeteroData, SavedView, passing
from hetviz.data.queries.saved_views import present_filters, present_rows
from hetviz.plots.colour import CLUSTER, LAYERS, Colouring, display_name
from hetviz.plots.filter_text import filter_words

_MAX_FACT = 80  # Characters.


@dataclass(frozen=True)
class LegendState:
    """State of the legend of a view."""

    hidden: list[int]  # Codes of hidden categories.
    only: list[int]  # Codes of the categories that alone stay in colour; empty for all.
    datasets: list[str]  # Likewise.
    range: tuple[float, float] | None  # Numbers that alone stay in colour.


@dataclass(frozen=True, eq=False)
class ResolvedView:
    """A saved view as the present data show it."""

    view: SavedView
    # Which items are shown, empty for all, and what the filters are, in words.
    facts: str
    notes: tuple[str, ...]  # What differs from the view that was saved.
    colours: Colouring
    filters: tuple[Filter, ...]
    hidden: tuple[str, ...]
    rows: Ints  # Selected global rows, in order.
    legend: LegendState
    shown: Bools  # Shape (n_rows,). Rows that the map shows.
    camera: Mapping[str, Sequence[float]] | None  # None for the whole map.


def resolve_view(
    data: HeteroData,
    view: SavedView,
    map: tuple[str, str],
    placed: Bools,
    colour_of: Callable[[str], Colouring | None],
    usual: Colouring,
) -> ResolvedView:
    """Return what is left of a view on the present data.

    `map`: digest and title of the map that shows it.
    `placed` (n_rows,): rows with a position.
    `colour_of`: the colouring of a key or title, None if it does not exist.
    `usual`: the colouring of a view without one.
    """
    notes: list[str] = []
    is_same_map = view.map in ("", map[0])
    if not is_same_map:
        before = f"another map, “{view.map_title}”" if view.map_title else "another map"
        here = f"the map “{map[1]}”" if map[1] else "this map"
        notes.append(f"It was saved on {before}. All of {here} is shown instead.")
    filters, filter_notes = present_filters(data, view)
    notes += filter_notes
    rows, row_notes = present_rows(data, view)
    colours = colour_of(view.colour) if view.colour else usual
    if colours is None:
        name, colours = _title_of(view.colour), usual
        notes.append(f"The colour “{name}” was removed. “{usual.option.title}” is shown instead.")
    elif view.colours and view.colours != digest_of_colours(colours):
        notes.append(f"The values of the colour “{colours.option.title}” have changed.")
    hidden = tuple(name for name in view.hidden if name in data.datasets)
    legend, legend_notes = _legend_of(data, view, colours)
    shown = placed & passing(data, filters)
    for name in hidden:
        shown[data.offsets[name]] = False
    is_pale = colours.is_pale
    is_hidden = np.isin(colours.code, legend.hidden)
    shown &= ~(is_hidden if is_pale is None else is_hidden & ~is_pale)
    notes += [*row_notes, *legend_notes]
    number = int(shown.sum())
    if view.n_shown is not None and view.n_shown != number:
        then = count(view.n_shown, "item")
        notes.append(f"It showed {then} when it was saved, and shows {number:,} now.")
    return ResolvedView(
        view,
        _filter_facts(data, filters, number),
        tuple(notes),
        colours,
        filters,
        hidden,
        rows,
        legend,
        shown,
        view.camera if is_same_map else None,
    )


def in_focus(data: HeteroData, resolved: ResolvedView) -> Bools | None:
    """Return which rows the legend leaves in colour, shape (n_rows,), or None for all."""
    legend, colours = resolved.legend, resolved.colours
    if not (legend.only or legend.datasets or legend.range):
        return None
    flags = np.ones(data.n_rows, dtype=bool)
    if legend.datasets:
        for name, span in data.offsets.items():
            flags[span] = name in legend.datasets
    if legend.only:
        flags &= np.isin(colours.code, legend.only)
    if legend.range is not None:
        low, high = legend.range
        value = colours.scaled[0]
        flags &= (value >= low) & (value <= high)
        if colours.is_pale is not None:
            flags &= ~colours.is_pale
    return flags


def digest_of_colours(colours: Colouring) -> str:
    """Return a digest of the items' own values, without those that come with links."""
    digest = hashlib.sha256(json.dumps(colours.categories).encode())
    digest.update(np.ascontiguousarray(colours.own_code, dtype="<i4").tobytes())
    value = colours.value
    if colours.is_borrowed is not None:
        value = np.where(colours.is_borrowed, np.nan, value)
    digest.update(np.ascontiguousarray(value, dtype="<f8").tobytes())
    return digest.hexdigest()[:24]


def _legend_of(
    data: HeteroData, view: SavedView, colours: Colouring
) -> tuple[LegendState, list[str]]:
    """Return the state of the legend with codes, and a note about what is gone."""
    code_of = {name: code for code, name in enumerate(colours.categories)}
    saved = {
        part: list(map(str, view.legend.get(part, ()))) for part in ("hidden", "only", "datasets")
    }
    hidden, only = (
        [code_of[name] for name in saved[part] if name in code_of] for part in ("hidden", "only")
    )
    gone = [name for name in saved["hidden"] + saved["only"] if name not in code_of]
    gone += [name for name in saved["datasets"] if name not in data.datasets]
    ends = [float(str(end)) for end in view.legend.get("range", ())]
    is_number = colours.option.kind == "numbers" and len(ends) == 2
    legend = LegendState(
        hidden,
        only,
        [name for name in saved["datasets"] if name in data.datasets],
        (ends[0], ends[1]) if is_number else None,
    )
    listed = ", ".join(f"“{display_name(name)}”" for name in gone)
    return legend, [f"Not in the legend any more: {listed}."] if gone else []


def _filter_facts(data: HeteroData, filters: Sequence[Filter], n_shown: int) -> str:
    if not filters:
        return ""
    words = [shorten(filter_words(data, item), _MAX_FACT) for item in filters]
    return " · ".join([f"{n_shown:,} of {count(data.n_rows, 'item')}", *words])


def _title_of(key: str) -> str:
    if not key.startswith("["):
        return {**LAYERS, CLUSTER.key: CLUSTER}[key].title if key in {*LAYERS, CLUSTER.key} else key
    dataset, column, *category = json.loads(key)
    return f"{': '.join(map(display_name, (column, *category)))} of {dataset}"

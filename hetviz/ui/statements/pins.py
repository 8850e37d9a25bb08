"""Pins of the shown map: places to choose from with their price, and the list of pins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._text import count, round_percent, shorten
from hetviz._types import Floats, Ints
from hetviz.algorithms.registry import get_method, is_method
from hetviz.data import HeteroData
from hetviz.features.spaces.pins import make_pin, pinned_rows, place_in_box
from hetviz.metrics.conflicts.pin_prices import pin_prices
from hetviz.params import PinSpec
from hetviz.runs.embed.run import no_pins_reason
from hetviz.ui.map_data.parts import get_geometry, link_reach
from hetviz.ui.shell import background, selection, session, theme
from hetviz.ui.statements import statement_draft
from hetviz.ui.statements.commands import group_text
from hetviz.ui.widgets.folded import needs_content
from hetviz.workspace import MapResult, State

_HERE = "here"
_GRID = (
    ("top left", "top", "top right"),
    ("left", _HERE, "right"),
    ("bottom left", "bottom", "bottom right"),
)
_MAX_NAME_CHARS = 18
_MAX_MET = 0.02
"""Largest distance from the target, as a share of the map's width, that counts as met."""


def pins_of(run: MapResult | None) -> list[PinSpec]:
    """Return the pins that a map was made with."""
    return [] if run is None else list(run.params.get("pins") or [])


def show_pin_button(state: State, rows: Ints) -> None:
    """Show the button that pins items to a place."""
    data, run = state.data, state.run
    if data is None or run is None or (Y := _positions(state, run)) is None:
        return
    rows = rows[np.isfinite(Y[rows]).all(axis=1)]
    if not len(rows):
        return
    # A new key closes it when the map has moved.
    popover = st.popover("Pin", icon=":material/keep:", key=f"pin-{run.id}", on_change="rerun")
    if not needs_content(popover):
        return
    with popover:
        if reason := _no_pins_reason(run):
            theme.show_note(reason)
            return
        others = _pins_without(data, run, rows)
        here = place_in_box(data, Y, [*others, make_pin(data, rows, "left")], Y[rows].mean(axis=0))
        places = {name: here if name == _HERE else name for line in _GRID for name in line}
        pins = [make_pin(data, rows, place) for place in places.values()]
        prices = _prices(state, run, Y, [*others, *pins]).iloc[len(others) :]
        noun = "it" if len(rows) == 1 else "them"
        n_links = int(prices["links"].iloc[0])
        broken = dict(zip(places, prices["broken"].tolist(), strict=True))
        with st.container(key="pin-places", gap="xsmall"):
            theme.show_note(f"Where on the map should {noun} go?")
            for number, line in enumerate(_GRID):
                with st.container(horizontal=True, gap="xsmall", key=f"pin-line-{number}"):
                    for name in line:
                        _show_place(name, rows, places[name], broken[name] if n_links else None)
            if n_links:
                theme.show_note(
                    f"Numbers: how many of {count(n_links, 'close link')} would break if only "
                    f"{noun} moved. Linked items may follow on the new map."
                )


def _show_place(name: str, rows: Ints, place: str | list[float], broken: int | None) -> None:
    number = "" if broken is None else f" · {broken:,}"
    st.button(
        name.capitalize() + number,
        key=f"pin-{name.replace(' ', '-')}",
        width="stretch",
        disabled=background.running_job() is not None,
        on_click=_pin,
        args=(rows, place),
    )


def show_drop_button(state: State, row: int, x: float, y: float) -> None:
    """Show the button that pins an item where it was dropped."""
    data, run = state.data, state.run
    if data is None or run is None or _no_pins_reason(run):
        return
    if (Y := _positions(state, run)) is None:
        return
    rows = np.array([row])
    others = _pins_without(data, run, rows)
    here = make_pin(data, rows, "left")
    drawn = np.asarray(get_geometry(state, run).points, dtype=np.float64)
    place = place_in_box(data, drawn, [*others, here], np.array([x, y]))
    price = _prices(state, run, Y, [*others, make_pin(data, rows, place)]).iloc[-1]
    breaks = f", breaks {count(int(price['broken']), 'link')}" if price["links"] else ""
    st.button(
        f"Pin here{breaks}",
        icon=":material/keep:",
        key="pin-dropped",
        help="Keeps the item at this place of the map. Links that break are counted on this map, "
        "as if only the item moved.",
        disabled=background.running_job() is not None,
        on_click=_pin,
        args=(rows, place),
    )


def show_pins(state: State, run: MapResult) -> None:
    """Show the pins of the map, each with its distance from the target."""
    data, pins = state.data, pins_of(run)
    if data is None or not pins or (Y := _positions(state, run)) is None:
        return
    theme.show_section("Pins", f"{len(pins):,}")
    prices = _prices(state, run, Y, pins)
    with st.container(key="pin-list", gap="xsmall"):
        for number, (pin, distance) in enumerate(zip(pins, prices["distance"], strict=True)):
            _show_pin(data, pins, number, pin, distance)


def _show_pin(
    data: HeteroData, pins: list[PinSpec], number: int, pin: PinSpec, distance: float
) -> None:
    rows = pinned_rows(data, pin)
    place = pin["place"].capitalize() if isinstance(pin["place"], str) else "Where you put it"
    # Items that are not on the map have no distance.
    is_far = distance > _MAX_MET
    away = f", {round_percent(distance)} of the width away" if is_far else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            shorten(group_text(data, rows), _MAX_NAME_CHARS) or "Items that are gone",
            key=f"pin-select-{number}",
            type="tertiary",
            icon=":material/keep:",
            help="Select",
            disabled=not len(rows),
            on_click=selection.select_rows,
            args=(rows,),
        )
        theme.show_note("Not on this map" if np.isnan(distance) else place + away)
        st.space("stretch")
        st.button(
            "×",
            key=f"pin-remove-{number}",
            type="tertiary",
            help="Remove this pin and move the map. You can undo it.",
            disabled=background.running_job() is not None,
            on_click=_refit,
            args=(pins[:number] + pins[number + 1 :],),
        )


def _no_pins_reason(run: MapResult) -> str:
    if not is_method(run.method):
        return "These positions came with the data, so they stay. Make a new map to pin items."
    return no_pins_reason(get_method(run.method))


def _positions(state: State, run: MapResult) -> Floats | None:
    embedding = state.embedding(run)
    if embedding is None:
        return None
    return np.vstack([embedding.coordinates[name] for name in state.opened().datasets])


def _prices(state: State, run: MapResult, Y: Floats, pins: Sequence[PinSpec]) -> pd.DataFrame:
    limits = link_reach(state, run)
    assert limits is not None  # noqa: S101 - the map has positions
    return pin_prices(state.guided or state.opened(), Y, pins, limits)


def _pins_without(data: HeteroData, run: MapResult, rows: Ints) -> list[PinSpec]:
    """Return the pins of a map without the items of these rows."""
    rest = [(np.setdiff1d(pinned_rows(data, pin), rows), pin["place"]) for pin in pins_of(run)]
    return [make_pin(data, left, place) for left, place in rest if len(left)]


def _pin(rows: Ints, place: str | list[float]) -> None:
    state = session.workspace().state
    if state.run is not None:
        others = _pins_without(state.opened(), state.run, rows)
        _refit([*others, make_pin(state.opened(), rows, place)])
        statement_draft.clear_groups()
        selection.select_rows(rows)


def _refit(pins: list[PinSpec]) -> None:
    background.refit(session.workspace().state, requested=True, params={"pins": pins or None})

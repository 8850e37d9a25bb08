"""Pins of a parameter as points of a layout."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetviz._text import count
from hetviz._types import Bools, Floats, Ints
from hetviz.core.layout.pins import Pin, Pins
from hetviz.data import HeteroData
from hetviz.errors import DataWarning
from hetviz.params import PinList, PinSpec


def pinned_rows(data: HeteroData, pin: PinSpec) -> Ints:
    """Return the sorted global rows of a pin; items that are not in the data are left out."""
    rows = [np.empty(0, dtype=np.int64)]
    for name in pin["items"].keys() & data.datasets.keys():
        at = data[name].find(map(str, pin["items"][name]))
        rows.append(at[at >= 0] + data.offsets[name].start)
    return np.unique(np.concatenate(rows))


def all_pinned_rows(data: HeteroData, pins: Sequence[PinSpec] | None) -> Ints:
    """Return the sorted global rows of all pins of a parameter."""
    rows = [pinned_rows(data, pin) for pin in pins or []]
    return np.unique(np.concatenate(rows)) if rows else np.empty(0, dtype=np.int64)


def make_pin(data: HeteroData, rows: Ints, place: str | Sequence[float]) -> PinSpec:
    """Return the pin of global rows, as the parameter of methods has it."""
    items = {
        name: data[name].ids[rows[(rows >= at.start) & (rows < at.stop)] - at.start].tolist()
        for name, at in data.offsets.items()
    }
    return {"place": place, "items": {name: ids for name, ids in items.items() if ids}}


def pin_note(data: HeteroData, params: Mapping[str, Any], row: int) -> str:
    """Return where parameters pin the item of a global row, as a sentence, or an empty text."""
    for pin in params.get("pins") or []:
        if row in pinned_rows(data, pin):
            place = f"to the {pin['place']}" if isinstance(pin["place"], str) else "to a place"
            return f"It is pinned {place}. The reasons do not count the pin."
    return ""


def find_pins(
    data: HeteroData, pins: Sequence[Mapping[str, object]] | None, strength: float, mask: Bools
) -> Pins | None:
    """Return the pins of the placed rows in `mask`, as numbers of placed rows; None without any."""
    if not pins or not strength:
        return None
    number, found, n_missing = np.cumsum(mask) - 1, [], 0
    for pin in PinList().check(pins) or []:
        rows = pinned_rows(data, pin)
        rows = rows[mask[rows]]
        n_missing += len({(name, str(key)) for name in pin["items"] for key in pin["items"][name]})
        n_missing -= len(rows)
        if len(rows):
            found.append(Pin.at(number[rows], pin["place"]))
    if n_missing:
        verb = "is" if n_missing == 1 else "are"
        message = f"{count(n_missing, 'pinned item')} {verb} not on this map."
        warnings.warn(message, DataWarning, stacklevel=2)
    return Pins(tuple(found), strength) if found else None


def place_in_box(data: HeteroData, Y: Floats, pins: Sequence[PinSpec], at: Floats) -> list[float]:
    """Return a position of a map (n_rows, k) as a place for pins, next to these pins."""
    placed: Bools = np.asarray(np.isfinite(Y).all(axis=1))
    free = placed.copy()
    free[np.concatenate([np.empty(0, np.int64), *(pinned_rows(data, pin) for pin in pins)])] = False
    points = Y[free if free.any() else placed]
    low, high = points.min(axis=0), points.max(axis=0)
    shares = np.clip((at - low) / np.where(high > low, high - low, 1.0), -1.0, 2.0)
    return list(map(float, shares[:2]))


class PricedPin(NamedTuple):
    """Placed rows of a pin, how far each is from the target, and where they would move."""

    rows: Ints
    offsets: Floats
    moved: Floats


def pins_on_map(
    data: HeteroData, Y: Floats, pins: Sequence[PinSpec]
) -> tuple[list[PricedPin], float]:
    """Return the pins on a map (n_rows, k), and its width without the items of these pins."""
    placed: Bools = np.asarray(np.isfinite(Y).all(axis=1))
    number = np.cumsum(placed) - 1
    rows = [rows[placed[rows]] for rows in (pinned_rows(data, pin) for pin in pins)]
    targets = [Pin.at(number[at], pin["place"]) for at, pin in zip(rows, pins, strict=True)]
    box = Pins(tuple(targets), 1.0).box(Y[placed])
    found = [
        PricedPin(at, target.offsets(Y[at], box), target.moved(Y[at], box))
        if len(at)
        else PricedPin(at, Y[at], Y[at])
        for at, target in zip(rows, targets, strict=True)
    ]
    return found, float(box.size[0])

"""Spread of the positions of the shown map, and which positions are faded."""

from __future__ import annotations

from hetviz._text import round_percent
from hetviz.algorithms.registry import is_method
from hetviz.metrics.trust.spread import SPREAD, Spread
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray
from hetviz.ui.map_data.periods import spread_content
from hetviz.workspace import MapResult, State


def can_measure(run: MapResult | None) -> bool:
    """Return whether the spread of a map can be measured: hetviz made it."""
    return run is not None and is_method(run.method)


def find(state: State, run: MapResult | None) -> Spread | None:
    """Return the spread of a map if it was measured for the current items."""
    finding, data = state.findings.get(SPREAD), state.opened()
    if run is None:
        return None
    content = spread_content(state, run)
    if finding is not None and finding.content["map"] == run.id:
        content = finding.content
    if content is None:
        return None
    stored = content

    def read() -> Spread | bool:
        if stored["items"] != data.digest_of_items().hexdigest():
            return False
        return Spread.from_dict(
            stored, {name: dataset.ids for name, dataset in data.datasets.items()}
        )

    spread = RESULTS.get_or_compute(data, (SPREAD, id(stored["share"])), read, stored)
    return spread if isinstance(spread, Spread) else None


def unstable_flags(state: State, spread: Spread) -> PackedArray:
    """Return which rows have an unstable position, for the browser."""
    return RESULTS.get_or_compute(
        state.opened(),
        ("unstable", id(spread)),
        lambda: PackedArray.pack(spread.is_unstable, "|u1"),
        spread,
    )


def faded_text(spread: Spread) -> str:
    """Return which items are faded, "" for none; the panel of an item has the details."""
    n = int(spread.is_unstable.sum())
    if not n:
        return ""
    items, them = ("item", "it") if n == 1 else ("items", "them")
    return (
        f"Faded: {n:,} {items} without a stable place. "
        f"Refits moved {them} by more than {round_percent(spread.limit)} of the map."
    )

"""Evidence of statements about one item."""

from __future__ import annotations

from hetviz.runs.evidence.evidence import Evidence
from hetviz.runs.evidence.guidance import item_guidance_evidence
from hetviz.runs.evidence.neighbors import (
    alike_evidence,
    item_link_evidence,
    nearest_evidence,
    why_evidence,
)
from hetviz.ui.evidence.sources import check_row, outdated, places_of, run_of, source
from hetviz.ui.item import item_head, item_why
from hetviz.ui.shell import session
from hetviz.workspace import State


@source("item-links")
def item_links(state: State, row: str, dataset: str) -> Evidence:
    """Return the items of a dataset that an item is linked with."""
    number = check_row(state.opened(), row)
    items = item_head.nearest_items(state, run_of(state), number).get(dataset)
    if items is None:
        raise outdated()
    return item_link_evidence(state.opened(), number, dataset, items)


@source("nearest")
def nearest_items(state: State, row: str, dataset: str) -> Evidence:
    """Return the items of a dataset by their distance from an item."""
    data = state.opened()
    number = check_row(data, row)
    return nearest_evidence(data, places_of(state, run_of(state)), number, dataset)


@source("alike")
def alike(state: State, row: str, by: str) -> Evidence:
    """Return the items that are most alike to an item, or the nearest with their support."""
    data = state.opened()
    return alike_evidence(data, places_of(state, run_of(state)), check_row(data, row), by)


@source("item-guidance")
def item_guidance(state: State, row: str) -> Evidence:
    """Return the guidance of people about an item."""
    data = state.guided or state.opened()
    places = places_of(state, run_of(state))
    return item_guidance_evidence(data, places, check_row(data, row))


@source("why")
def why(state: State, row: str) -> Evidence:
    """Return the reasons for the position of an item."""
    data = state.guided or state.opened()
    explanation = item_why.explain(session.workspace(), run_of(state), check_row(data, row))
    return why_evidence(data, explanation)

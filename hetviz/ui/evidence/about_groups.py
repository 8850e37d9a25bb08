"""Evidence of statements about groups: selections, regions, clusters and colours."""

from __future__ import annotations

import numpy as np

from hetviz._types import Bools, Ints, Texts
from hetviz.metrics.contrast import find_differences
from hetviz.runs.cluster.regions import RegionLevel
from hetviz.runs.evidence.evidence import Evidence
from hetviz.runs.evidence.groups import (
    difference_evidence,
    label_evidence,
    links_inside_evidence,
    members_evidence,
    name_evidence,
)
from hetviz.ui.clusters.cards import cards_of
from hetviz.ui.evidence.sources import outdated, run_of, source
from hetviz.ui.item import item_text
from hetviz.ui.map import filters
from hetviz.ui.map_data import layers
from hetviz.ui.shell import selection
from hetviz.ui.shell.page_state import project_id
from hetviz.workspace import State


@source("selection")
def selected(state: State, dataset: str = "") -> Evidence:
    """Return the selected items, or those of one dataset."""
    data, rows = state.opened(), selection.selected_rows(state)
    if dataset:
        span = data.offsets[dataset]
        rows = rows[(rows >= span.start) & (rows < span.stop)]
    return members_evidence(data, rows, "Selected")


@source("selection-links")
def selected_links(state: State) -> Evidence:
    """Return the links of the selected items."""
    return links_inside_evidence(state.opened(), selection.selected_rows(state), "Selected")


@source("difference")
def difference(
    state: State, dataset: str, column: str, value: str = "", with_hidden: str = ""
) -> Evidence:
    """Return the items of a dataset by a column in which the selection differs."""
    data, rows = state.opened(), selection.selected_rows(state)
    span = data.offsets[dataset]
    chosen: Bools = np.zeros(len(data[dataset]), dtype=bool)
    chosen[rows[(rows >= span.start) & (rows < span.stop)] - span.start] = True
    shown = filters.shown_rows(state)[span]
    among = np.ones_like(shown) if with_hidden else shown
    for found in find_differences(item_text.columns_of(data, dataset), chosen, among=among):
        if found.column == column and (found.value or "") == value:
            return difference_evidence(data, dataset, chosen, among, found)
    raise outdated()


def _region(state: State, level: str, code: str) -> tuple[RegionLevel, int, Ints]:
    levels = layers.find_regions(state, run_of(state), project_id())
    if not levels:
        raise outdated()
    found, number = levels[int(level)], int(code)
    if not 0 <= number < len(found.details):
        raise outdated()
    return found, number, np.flatnonzero(found.codes == number)


@source("region")
def region(state: State, level: str, code: str) -> Evidence:
    """Return the members of a region, those that its name is true of first."""
    found, number, rows = _region(state, level, code)
    return name_evidence(state.opened(), found.details[number], rows)


@source("region-links")
def region_links(state: State, level: str, code: str) -> Evidence:
    """Return the links of a region, those that stay inside first."""
    found, number, rows = _region(state, level, code)
    return links_inside_evidence(
        state.opened(), rows, found.names[number] or f"Region {number + 1}"
    )


def _cluster_rows(state: State, number: str) -> tuple[str, Ints]:
    clustering = state.clustering
    if clustering is None or not 1 <= int(number) <= len(clustering.names):
        raise outdated()
    rows = np.flatnonzero(clustering.of(state.opened()) == int(number) - 1)
    return clustering.names[int(number) - 1], rows


@source("cluster")
def cluster(state: State, number: str) -> Evidence:
    """Return the members of a cluster."""
    name, rows = _cluster_rows(state, number)
    return members_evidence(state.opened(), rows, f"“{name}”")


@source("cluster-label")
def cluster_label(state: State, number: str) -> Evidence:
    """Return the labelled members of a cluster, those with the most common label first."""
    _, rows = _cluster_rows(state, number)
    card = cards_of(state)[int(number) - 1]
    best: tuple[str, Texts] | None = None
    n_best = 0
    for label in layers.get_contrasts(state.opened()).labels:
        n = sum(value is not None for value in label.values[rows])
        if n > n_best:
            best, n_best = (label.column, label.values), n
    if best is None or card.label is None:
        raise outdated()
    return label_evidence(state.opened(), rows, *best)


@source("dataset")
def dataset(state: State, name: str) -> Evidence:
    """Return the items of a dataset."""
    span = state.opened().offsets[name]
    return members_evidence(state.opened(), np.arange(span.start, span.stop), "Dataset")


@source("category")
def category(state: State, code: str) -> Evidence:
    """Return the items of a category of the colour of the map."""
    data, colours = state.opened(), layers.colours_of(state, state.run, project_id())
    number = int(code)
    if not 0 <= number < len(colours.categories):
        raise outdated()
    rows = np.flatnonzero(colours.code == number)
    title = f"{colours.option.title}: {colours.categories[number]}"
    is_borrowed = None if colours.is_borrowed is None else colours.is_borrowed[rows]
    return members_evidence(data, rows, title, is_borrowed)

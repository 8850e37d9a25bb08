"""Evidence of statements about a whole map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hetviz.data import Embedding, HeteroData
from hetviz.metrics.trust.consequences import named_rows
from hetviz.runs.evidence.evidence import Evidence, item_table
from hetviz.runs.evidence.guidance import (
    changed_evidence,
    comparison_evidence,
    link_evidence,
    true_neighbor_evidence,
)
from hetviz.runs.evidence.neighbors import (
    label_neighbor_evidence,
    moved_evidence,
    trust_evidence,
    unlinked_evidence,
    unplaced_evidence,
)
from hetviz.ui.evidence.sources import MeasuredData, outdated, places_of, run_of, source
from hetviz.ui.map_data import spread
from hetviz.ui.statements import consequences
from hetviz.workspace import State


@source("links")
def links(state: State, sign: str = "1", part: str = "given", run: str = "") -> Evidence:
    """Return the links of a map, the closest first."""
    shown = run_of(state, run)
    measured = MeasuredData(state, shown)
    is_hidden = part == "hidden"
    data = measured.held_out if is_hidden else measured.data
    if data is None:
        raise outdated()
    others = measured.data if is_hidden else measured.held_out
    evidence = link_evidence(
        data, places_of(state, shown), others=others, sign=int(sign), is_hidden=is_hidden
    )
    return measured.to_open_rows(evidence)


@source("comparisons")
def comparisons(state: State, part: str = "given") -> Evidence:
    """Return the comparisons, those that the map contradicts first."""
    shown = run_of(state)
    measured = MeasuredData(state, shown)
    data = measured.held_out if part == "hidden" else measured.data
    if data is None:
        raise outdated()
    evidence = comparison_evidence(data, places_of(state, shown), is_hidden=part == "hidden")
    return measured.to_open_rows(evidence)


@source("neighbours")
def neighbours(state: State) -> Evidence:
    """Return the false and missing neighbours of every item."""
    shown = run_of(state)
    measured = MeasuredData(state, shown)
    return measured.to_open_rows(trust_evidence(measured.data, places_of(state, shown)))


@source("labels")
def labels(state: State) -> Evidence:
    """Return the labelled items, and whether their neighbours have the same label."""
    shown = run_of(state)
    measured = MeasuredData(state, shown)
    return measured.to_open_rows(label_neighbor_evidence(measured.data, places_of(state, shown)))


@source("unplaced")
def unplaced(state: State) -> Evidence:
    """Return the items without a position."""
    return unplaced_evidence(state.opened(), places_of(state, run_of(state)))


@source("unlinked")
def unlinked(state: State, dataset: str = "") -> Evidence:
    """Return the items of a dataset without links."""
    return unlinked_evidence(state.opened(), dataset or None)


@source("moved")
def moved(state: State, part: str = "all") -> Evidence:
    """Return the items by how far they moved from the earlier map, all or without named ones."""
    run = run_of(state)
    shift = consequences.moved_distances(state, run)
    if shift is None:
        raise outdated()
    if part == "others":
        data, _, _, said = _two_maps(state)
        shift = shift.copy()
        shift[named_rows(data, said)] = np.nan
    return moved_evidence(state.opened(), shift)


@source("changed")
def changed(state: State) -> Evidence:
    """Return the last statements and the links that follow only one of both maps."""
    return changed_evidence(*_two_maps(state))


@source("changed-neighbours")
def changed_neighbours(state: State) -> Evidence:
    """Return the items of the last statements with their share of true neighbours."""
    return true_neighbor_evidence(*_two_maps(state))


def _two_maps(state: State) -> tuple[HeteroData, Embedding, Embedding, list[str]]:
    """Return the data, the map before and after the last statements, and their keys."""
    run = run_of(state)
    said = (run.figures or {}).get("said")
    if not said or run.before is None or state.guided is None or not state.is_current(run):
        raise outdated()
    return state.guided, run.before, places_of(state, run), list(said)


@source("spread")
def spread_of_items(state: State) -> Evidence:
    """Return the items by the spread of their positions over refits."""
    measured = spread.find(state, run_of(state))
    if measured is None:
        raise outdated()
    rows = np.flatnonzero(np.isfinite(measured.share))
    rows = rows[np.argsort(-measured.share[rows], kind="stable")]
    table = item_table(
        state.opened(),
        rows,
        {
            "spread, % of the width": np.round(100 * measured.share[rows], 2),
            "standard error": np.round(100 * measured.error[rows], 2),
            "refits": measured.n_placed[rows],
        },
    )
    return Evidence(
        measured.sentence,
        "Mean distance between the position on the map and those in the refits with resampled "
        "links, relative to the longer side of the map.",
        f"{len(rows):,} items, {measured.n_refits} refits.",
        f"Two random items are {100 * measured.chance:.0f} % of the width apart.",
        table,
        rows,
    )


@source("measure")
def measure(state: State, name: str, part: str = "given") -> Evidence:
    """Return the rows that a measure of the map was computed from."""
    from hetviz.metrics.fit.measured_map import MeasuredMap
    from hetviz.metrics.measure_names import HELD_OUT, MEASURE_TEXTS, rows_of_measure
    from hetviz.runs.evidence.measures import measure_evidence
    from hetviz.ui.widgets.charts import run_figures

    about, shown = rows_of_measure(name), run_of(state)
    if about in ("links", "apart"):
        evidence = links(state, "1" if about == "links" else "-1", part)
    elif about == "comparisons":
        evidence = comparisons(state, part)
    elif about in ("neighbours", "labels"):
        evidence = neighbours(state) if about == "neighbours" else labels(state)
    elif about:
        measured = MeasuredData(state, shown)
        places = MeasuredMap(measured.data, places_of(state, shown), measured.held_out)
        key = about + HELD_OUT if part == "hidden" else about
        return measured.to_open_rows(measure_evidence(places, key))
    else:
        raise outdated()
    text = MEASURE_TEXTS[name]
    value = run_figures(state, shown)["scores"].get(name)
    if value is None or text.percent:
        return evidence
    return replace(
        evidence,
        statement=f"{text.name}: {value:.2f}. {evidence.statement}",
        rule=f"{text.meaning} {evidence.rule}",
    )

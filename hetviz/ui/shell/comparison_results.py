"""Access to the findings of the last comparison."""

from __future__ import annotations

from hetviz.runs.compare.comparison import Comparison, maps_by_candidate
from hetviz.runs.compare.measures import MEASURES
from hetviz.ui.shell import session
from hetviz.workspace import Finding, MapResult, State

COMPARE, SWEEP = "compare", "sweep"


def comparison_of(finding: Finding) -> Comparison:
    """Return findings as a comparison, without embeddings."""
    return session.get_or_compute(
        ("comparison", id(finding)), finding, lambda: Comparison.from_dict(finding.content)
    )


def is_current(state: State, finding: Finding) -> bool:
    """Return whether the findings are about the open data."""
    return state.guided is not None and finding.fingerprint == state.guided.fingerprint()


def deciding_measures(comparison: Comparison) -> list[str]:
    """Return the measures to rank by, the most informative first."""
    return [key for key in comparison.measures if key in MEASURES]


def run_of(state: State, finding: Finding, key: str) -> MapResult | None:
    """Return the map of a candidate, or None if it was removed."""
    ids = maps_of(finding)
    return next((run for run in state.runs if run.id == ids.get(key)), None)


def short_title(title: str) -> str:
    """Return a method's title without the part in brackets."""
    return title.split(" (", maxsplit=1)[0]


def maps_of(finding: Finding) -> dict[str, str]:
    """Return the map id of each candidate, including earlier runs of the table."""
    return maps_by_candidate(finding.content, finding.runs)

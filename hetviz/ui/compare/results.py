"""What the last comparison found, read back from the project."""

from __future__ import annotations

from hetviz.runs.compare.comparison import Comparison, maps_by_candidate
from hetviz.runs.compare.measures import MEASURES
from hetviz.ui.shell import session
from hetviz.workspace import Finding, Run, State

COMPARE, SWEEP = "compare", "sweep"


def kept_of(state: State, kind: str = COMPARE) -> Finding | None:
    """Return the findings of that kind, if any."""
    return state.findings.get(kind)


def comparison_of(kept: Finding) -> Comparison:
    """Return findings as a comparison, without embeddings."""
    return session.cached(
        ("comparison", id(kept)), kept, lambda: Comparison.from_dict(kept.content)
    )


def is_current(state: State, kept: Finding) -> bool:
    """Whether it is about the data as they are now."""
    return state.guided is not None and kept.fingerprint == state.guided.fingerprint()


def deciding(found: Comparison) -> list[str]:
    """Return the measures that may decide, the most telling first."""
    return [key for key in found.measures if key in MEASURES]


def run_of(state: State, kept: Finding, key: str) -> Run | None:
    """Return the map of a candidate, if it is still there."""
    ids = maps_of(kept)
    return next((run for run in state.runs if run.id == ids.get(key)), None)


def short_title(title: str) -> str:
    """Return a method's title without what stands in brackets."""
    return title.split(" (", maxsplit=1)[0]


def maps_of(kept: Finding) -> dict[str, str]:
    """Return the id of the map of each candidate, those of earlier runs of the table too."""
    return maps_by_candidate(kept.content, kept.runs)

"""Task that finds items similar to labelled ones."""

from __future__ import annotations

from hetviz.data import HeteroData
from hetviz.progress import Progress
from hetviz.runs.ask.learned import learned_from
from hetviz.runs.findings import Findings

LIKE = "more like these"


def more_like(data: HeteroData, column: str, seed: int, progress: Progress) -> Findings:
    """Find items similar to those of each label of a column."""
    groups = learned_from(data, label=column, random_state=seed, progress=progress)
    return Findings(LIKE, {"groups": [group.to_dict() for group in groups]})

"""What the pages show of data and a map that depends on all items or links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from hetviz._types import Floats
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.conflicts.guidance_report import GuidanceReport, guidance_report
from hetviz.metrics.conflicts.pricing import price
from hetviz.metrics.trust.trust import trust
from hetviz.progress import Progress
from hetviz.runs.ask.questions import Question, suggest_questions
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.regions import Level, regions


def trust_of_rows(data: HeteroData, embedding: Embedding, progress: Progress) -> Floats:
    """Return how far the surroundings of each row can be believed, see `hetviz.trust`."""
    progress(0.0, "Looking at neighbours")
    return trust(data, embedding).score


def regions_of_map(data: HeteroData, places: Floats, progress: Progress) -> tuple[Level, ...]:
    """Return the regions of a map, see `hetviz.runs.cluster.regions.regions`."""
    progress(0.0, "Reading the regions of the map")
    return regions(Contrasts(data), places)


def report(data: HeteroData, progress: Progress) -> GuidanceReport:
    """Return the look at what was said, see `hetviz.guidance_report`."""
    progress(0.0, "Looking for contradictions")
    return guidance_report(data)


def prices(
    data: HeteroData,
    embedding: Embedding,
    near: float,
    keys: Collection[str],
    progress: Progress,
) -> dict[str, str]:
    """Return, by key, what keeping a statement would break, see `hetviz.price`."""
    progress(0.0, "Pricing what is not kept")
    table = price(data, embedding, near=near, keys=keys)
    return dict(zip(table["key"], table["sentence"], strict=True))


def questions(
    data: HeteroData, embedding: Embedding, n: int, progress: Progress, **choice: Any
) -> Sequence[Question]:
    """Return the next questions worth asking, see `hetviz.suggest_questions`."""
    progress(0.0, "Looking for what is in doubt")
    return suggest_questions(data, embedding, n, **choice)

"""Results for pages that depend on all items or links, computed in a worker."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.sentence_vectors import Model, text_vectors
from hetviz.data import Embedding, HeteroData
from hetviz.data.joins.near_rows import By
from hetviz.data.joins.proposals import Proposal, propose_joins
from hetviz.data.joins.similar_rows import propose_links, texts_to_read
from hetviz.errors import DataError
from hetviz.features.columns.options import FeatureRecipe
from hetviz.features.columns.types import Column
from hetviz.features.interpretation import column_effects
from hetviz.features.item_columns import item_columns
from hetviz.features.item_search import item_vectors
from hetviz.features.recipe import make_features_with_notes, recipe_of
from hetviz.metrics.conflicts.guidance_report import GuidanceReport, guidance_report
from hetviz.metrics.conflicts.pricing import price
from hetviz.metrics.map_reasons import MapReasons, map_reasons
from hetviz.metrics.trust.trust import trust
from hetviz.progress import Progress
from hetviz.runs.ask.questions import Question, suggest_questions
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.regions import RegionLevel, find_regions

# Texts that are read between two reports of progress, about a third of a second.
_MAX_CHARS_AT_ONCE = 3_000


def proposals(data: HeteroData, progress: Progress) -> list[Proposal]:
    """Return proposed joins of the datasets, see `hetviz.propose_joins`."""
    progress(0.0, "Comparing ids, columns and places")
    return propose_joins(data)


def similar_pairs(
    data: HeteroData,
    source: str,
    target: str,
    by: By,
    model: Model,
    km: float | None,
    days: float | None,
    progress: Progress,
) -> list[tuple[str, str, float]]:
    """Return ids and similarities of proposed pairs, see `hetviz.propose_links`."""
    progress(0.0, "Comparing the rows")
    if by == "meaning":
        _read_texts(data, source, target, model, progress)
    frame = propose_links(data, source, target, by=by, model=model, km=km, days=days)
    columns = (frame["source_id"], frame["target_id"], frame["similarity"].astype(float))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _read_texts(
    data: HeteroData, source: str, target: str, model: Model, progress: Progress
) -> None:
    """Compute the vectors of all texts, which are cached, with reports of progress."""
    texts = sorted({*texts_to_read(data, source), *texts_to_read(data, target)}, key=len)
    sizes = np.cumsum([len(text) for text in texts])
    read, n_read = 0, 0
    while n_read < len(texts):
        progress(0.9 * read / max(1, sizes[-1]), f"{n_read:,} of {len(texts):,} texts read")
        end = max(n_read + 1, int(np.searchsorted(sizes, read + _MAX_CHARS_AT_ONCE)))
        text_vectors(texts[n_read:end], model)
        read, n_read = int(sizes[end - 1]), end
    progress(0.9, "Comparing the rows")


def recipe_of_features(
    data: HeteroData, dataset: str, progress: Progress
) -> FeatureRecipe | Literal[False]:
    """Return the proposed feature recipe of a dataset, or False if there is none."""
    progress(0.0, "Reading columns")
    labels = [column.name for column in data.labels if column.dataset == dataset]
    try:
        return recipe_of(make_features_with_notes(data[dataset], {}, None, labels)[0])
    except DataError:
        return False


def effects(
    data: HeteroData, dataset: str, recipe: FeatureRecipe, places: Floats, progress: Progress
) -> dict[str, float]:
    """Return how well a map shows each column, see `hetviz.features.meaning.column_effects`."""
    progress(0.0, "Comparing columns with the map")
    part = data[dataset]
    dataset_with_recipe = replace(part, recipe={**(part.recipe or {}), "features": recipe})
    return column_effects(dataset_with_recipe, places)


def trust_of_rows(data: HeteroData, embedding: Embedding, progress: Progress) -> Floats:
    """Return the trust score of each row, see `hetviz.trust`."""
    progress(0.0, "Checking neighbours")
    return trust(data, embedding).score


def reasons_of_map(data: HeteroData, embedding: Embedding, progress: Progress) -> MapReasons:
    """Return the columns and links that explain a map, see `hetviz.why`."""
    progress(0.0, "Comparing the columns with the map")
    return map_reasons(data, embedding)


def regions_of_map(
    data: HeteroData,
    places: Floats,
    progress: Progress,
    before: Sequence[tuple[Ints, Sequence[str]]] = (),
    places_before: Floats | None = None,
) -> tuple[RegionLevel, ...]:
    """Return the regions of a map, see `hetviz.runs.cluster.regions.find_regions`."""
    progress(0.0, "Finding regions of the map")
    contrasts = Contrasts(data)
    if not before and places_before is not None:
        earlier = find_regions(contrasts, places_before)
        before = [(level.codes, level.names) for level in earlier]
    return find_regions(contrasts, places, before)


def columns(data: HeteroData, dataset: str, progress: Progress) -> dict[str, Column]:
    """Return the columns of a dataset, see `hetviz.features.item_columns.item_columns`."""
    progress(0.0, "Reading columns")
    return item_columns(data, dataset)


def meanings(data: HeteroData, dataset: str, progress: Progress) -> Floats:
    """Return the sentence vector of each item of a dataset."""
    progress(0.0, "Reading texts")
    return item_vectors(data[dataset])


def report(data: HeteroData, progress: Progress) -> GuidanceReport:
    """Return the report on the guidance, see `hetviz.guidance_report`."""
    progress(0.0, "Looking for contradictions")
    return guidance_report(data)


def prices(
    data: HeteroData,
    embedding: Embedding,
    near: float | None,
    keys: Collection[str],
    progress: Progress,
) -> dict[str, str]:
    """Return the cost of satisfying each statement, by key, see `hetviz.price`."""
    progress(0.0, "Checking the cost of each statement")
    table = price(data, embedding, near=near, keys=keys)
    return dict(zip(table["key"], table["sentence"], strict=True))


def questions(
    data: HeteroData, embedding: Embedding, n: int, progress: Progress, **choice: Any
) -> Sequence[Question]:
    """Return suggested questions, see `hetviz.suggest_questions`."""
    progress(0.0, "Looking for uncertain items")
    return suggest_questions(data, embedding, n, **choice)

"""What was made of the data, as sentences: ids, names, labels, features and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import count, join_first, join_words, percent
from hetviz.data.model.dataset import MADE_IDS, REPEATED_ID, Dataset
from hetviz.data.model.labels import Labels
from hetviz.data.model.links import Links

_MAX_NAMED = 8


def account_of(
    datasets: Iterable[Dataset], labels: Iterable[Labels], links: Iterable[Links]
) -> list[str]:
    """Return one line for each dataset and each group of links."""
    lines = []
    all_labels = list(labels)
    for dataset in datasets:
        name = dataset.name
        own = [column.name for column in all_labels if column.dataset == name]
        lines.append(f"{name}: {count(len(dataset), 'row')}. {' '.join(_of(dataset, own))}")
    lines += [_of_links(group) for group in links]
    return lines


def _of(dataset: Dataset, labels: list[str]) -> Iterable[str]:
    recipe: Mapping[str, Any] = dataset.recipe or {}
    features: Mapping[str, Any] = recipe.get("features") or {}
    if dataset.entity != dataset.name:
        yield f"A view of {dataset.entity}."
    yield _ids(recipe)
    if dataset.title_column is not None:
        yield f"Names: {dataset.title_column}."
    if labels:
        yield f"Labels, which are no features: {join_first(labels, _MAX_NAMED)}."
    used = [entry for entry in features.get("columns", ()) if entry.get("use")]
    if used:
        parts = [f"{_columns(entry)} ({_kind(dataset, entry)})" for entry in used]
        yield f"Features: {join_first(parts, _MAX_NAMED)}."
    X = None if used else dataset.X
    matrices = [] if X is None else [f"a matrix of {count(X.shape[1], 'column')}"]
    squares = [word for word in ("distance", "kernel") if getattr(dataset, word) is not None]
    matrices += [f"a {word} matrix" for word in squares]
    if matrices:
        yield f"Features: {join_words(matrices)}."
    elif not used:
        yield "No features."
    filled = [entry for entry in used if entry.get("share_missing") and entry["impute"] != "none"]
    if filled:
        parts = [
            f"{_columns(entry)} ({percent(entry['share_missing'])}, by the {entry['impute']})"
            for entry in filled
        ]
        yield f"Missing cells filled in: {join_first(parts, _MAX_NAMED)}."
    left_out = [
        f"{_columns(entry)} ({entry['why']})"
        for entry in features.get("left_out", ())
        if entry["why"] not in ("title", "label")
    ]
    if left_out:
        yield f"Left out of the features: {join_first(left_out, _MAX_NAMED)}."


def _ids(recipe: Mapping[str, Any]) -> str:
    if REPEATED_ID in recipe:
        return f"Ids: row numbers, because {recipe[REPEATED_ID]} repeats or has empty cells."
    if recipe.get(MADE_IDS):
        return "Ids: made, as no column is an id."
    return f"Ids: {recipe['id']}." if recipe.get("id") else "Ids: as given."


def _kind(dataset: Dataset, entry: Mapping[str, Any]) -> str:
    column = entry.get("column")
    known = dataset.table is not None and column in dataset.table
    is_duration = known and dataset.table[column].dtype.kind == "m"  # type: ignore[index]
    return f"{entry['kind']}, from a duration" if is_duration else str(entry["kind"])


def _columns(entry: Mapping[str, Any]) -> str:
    return " and ".join(entry.get("columns") or [entry["column"]])


def _of_links(links: Links) -> str:
    weight = links.weight
    parts = [f"{links.source} - {links.target}, {links.kind}: {count(len(links), 'link')}"]
    if negative := int((weight < 0).sum()):
        parts.append(f"{negative:,} negative")
    i, j = np.asarray(links.i), np.asarray(links.j)
    if links.source == links.target:
        i, j = np.minimum(i, j), np.maximum(i, j)
    pairs = pd.DataFrame({"i": i, "j": j})
    if repeated := int(pairs.duplicated().sum()):
        parts.append(f"{repeated:,} of a pair that has one already")
        signs = pd.Series(np.sign(weight)).groupby([i, j]).nunique()
        if contradicting := int((signs > 1).sum()):
            parts.append(f"{count(contradicting, 'pair')} with both signs")
    return f"{', '.join(parts)}."

"""Items whose missing labels are the most informative to ask for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from hetviz._types import Bools
from hetviz.core.prediction.active import (
    choose_informative,
    class_probabilities,
    label_uncertainty,
    neighbor_similarity,
)
from hetviz.data import HeteroData, Labels
from hetviz.data.edits.labelling import LabelValue
from hetviz.data.model.labels import OWN_LABEL_PREFIX, is_own_label
from hetviz.errors import ParameterError
from hetviz.features.spaces.learned_groups import axes_without_user_links
from hetviz.runs.ask.learned import plain_graph

MIN_CLASSES, MAX_CLASSES = 2, 100


@dataclass(frozen=True)
class LabelCandidate:
    """An item with a missing label worth asking for."""

    row: int  # Global row.
    # The labels known so far with the probability of each, the likeliest first.
    labels: tuple[tuple[LabelValue, float], ...]
    gain: float  # Number of uncertain items that its label would inform about.


def columns_to_ask(
    data: HeteroData, requested: Sequence[tuple[str, str]] | None = None
) -> list[Labels]:
    """Return partly filled label columns: the requested ones, or all that a person fills."""
    columns = {(labels.dataset, labels.name): labels for labels in data.labels}
    for name in requested or ():
        if tuple(name) not in columns:
            listed = ", ".join(f"{dataset}:{column}" for dataset, column in columns) or "none"
            raise ParameterError(
                f"labels: there is no label column {':'.join(name)!r}. Available: {listed}."
            )
        if not _is_partly_filled(columns[name[0], name[1]]):
            raise ParameterError(
                f"labels: {':'.join(name)!r} cannot be asked for. Some items must have a label and "
                f"some none, with {MIN_CLASSES} to {MAX_CLASSES} different labels."
            )
    if requested is not None:
        return [columns[dataset, column] for dataset, column in requested]
    return [
        labels
        for labels in columns.values()
        if is_own_label(labels.name) and _is_partly_filled(labels)
    ]


def partly_filled_columns(data: HeteroData) -> list[Labels]:
    """Return the partly filled label columns of the data, most missing labels first."""
    columns = [
        labels
        for labels in data.labels
        if not is_own_label(labels.name) and _is_partly_filled(labels)
    ]
    return sorted(columns, key=lambda labels: int(labels.known.sum()) - len(labels))


def new_label_name(data: HeteroData) -> str:
    """Return an unused name for a label column of the user."""
    names = {labels.name for labels in data.labels}
    tables = (dataset.table for dataset in data.datasets.values() if dataset.table is not None)
    names |= {str(name) for table in tables for name in table.columns}
    number = 1
    while f"{OWN_LABEL_PREFIX}{number}" in names:
        number += 1
    return f"{OWN_LABEL_PREFIX}{number}"


def _is_partly_filled(column: Labels) -> bool:
    return not column.known.all() and MIN_CLASSES <= len(column.classes) <= MAX_CLASSES


def label_candidates(
    data: HeteroData,
    column: Labels,
    n: int,
    *,
    allowed: Bools | None = None,
    skipped: Collection[int] = (),
    random_state: int = 0,
) -> list[LabelCandidate]:
    """Return items whose labels would inform most about other items, the best first."""
    span = data.offsets[column.dataset]
    Z = axes_without_user_links(data, plain_graph(data, random_state), random_state=random_state)[
        span
    ]
    present = (Z != 0).any(axis=1)
    rows = np.flatnonzero(present)
    labelled = np.flatnonzero(column.known[rows])
    classes = cast(list[LabelValue], column.classes)
    code_of = {value: code for code, value in enumerate(classes)}
    y = np.full(len(rows), -1, dtype=np.int64)
    y[labelled] = [code_of[column.values[row]] for row in rows[labelled]]
    if len(np.unique(y[labelled])) < MIN_CLASSES:
        return []
    P = class_probabilities(Z[rows], y, len(code_of))
    can_ask = np.ones(len(rows), dtype=bool) if allowed is None else allowed[span][rows]
    can_ask &= ~np.isin(rows + span.start, np.array(sorted(skipped), dtype=np.int64))
    S = neighbor_similarity(Z[rows], random_state=random_state)
    chosen, gain = choose_informative(S, label_uncertainty(P), labelled, can_ask, n)
    return [
        LabelCandidate(
            int(rows[at]) + span.start,
            tuple(
                (classes[code], float(P[at, code])) for code in np.argsort(-P[at], kind="stable")
            ),
            float(worth),
        )
        for at, worth in zip(chosen, gain, strict=True)
    ]

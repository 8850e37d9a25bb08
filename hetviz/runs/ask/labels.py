"""Whose label to ask for: where a column is known in part, the items that would tell most."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from hetviz._types import Bools
from hetviz.core.prediction.active import (
    class_chances,
    most_telling,
    neighbour_likeness,
    openness,
)
from hetviz.data import HeteroData, Labels
from hetviz.data.edits.labelling import LabelValue
from hetviz.data.model.labels import OWN, is_own
from hetviz.errors import ParameterError
from hetviz.features.spaces.taught import unsaid_axes
from hetviz.runs.ask.learned import plain_graph

LEAST_CLASSES, MOST_CLASSES = 2, 100


@dataclass(frozen=True)
class LabelDoubt:
    """An item whose label is worth asking for.

    Attributes
    ----------
    row : int
        Global row.
    labels : tuple of (label, float)
        Those known so far with the chance of each, the likeliest first.
    gain : float
        How much of what is open its label would speak for, in items.
    """

    row: int
    labels: tuple[tuple[LabelValue, float], ...]
    gain: float


def columns_to_ask(
    data: HeteroData, wanted: Sequence[tuple[str, str]] | None = None
) -> list[Labels]:
    """Return label columns known in part: those wanted, or all that a person fills.

    Raises
    ------
    hetviz.errors.ParameterError
        If a wanted one is not there, or cannot be asked for.
    """
    there = {(one.dataset, one.name): one for one in data.labels}
    for name in wanted or ():
        if tuple(name) not in there:
            found = ", ".join(f"{dataset}:{column}" for dataset, column in there) or "none"
            raise ParameterError(
                f"labels: there is no label column {':'.join(name)!r}; there are: {found}."
            )
        if not _in_part(there[name[0], name[1]]):
            raise ParameterError(
                f"labels: {':'.join(name)!r} cannot be asked for. Some items must have a label and "
                f"some none, and there must be {LEAST_CLASSES} to {MOST_CLASSES} different ones."
            )
    if wanted is not None:
        return [there[dataset, column] for dataset, column in wanted]
    return [one for one in there.values() if is_own(one.name) and _in_part(one)]


def columns_known_in_part(data: HeteroData) -> list[Labels]:
    """Return the label columns that came with the data and can be asked for, most missing first."""
    found = [one for one in data.labels if not is_own(one.name) and _in_part(one)]
    return sorted(found, key=lambda one: int(one.known.sum()) - len(one))


def beside(data: HeteroData) -> str:
    """Return the name of a new column of a person's own."""
    names = {one.name for one in data.labels}
    tables = (part.table for part in data.datasets.values() if part.table is not None)
    names |= {str(name) for table in tables for name in table.columns}
    number = 1
    while f"{OWN}{number}" in names:
        number += 1
    return f"{OWN}{number}"


def _in_part(column: Labels) -> bool:
    return not column.known.all() and LEAST_CLASSES <= len(column.classes) <= MOST_CLASSES


def label_doubts(
    data: HeteroData,
    column: Labels,
    n: int,
    *,
    allowed: Bools | None = None,
    passed: Collection[int] = (),
    random_state: int = 0,
) -> list[LabelDoubt]:
    """Return items whose labels would tell most of others, the best first.

    Parameters
    ----------
    data : HeteroData
    column : Labels
        Known in part.
    n : int
        Most to return.
    allowed : ndarray of bool, shape (n_rows,), optional
        Global rows to ask about.
    passed : collection of int
        Global rows not to ask about, of which nobody could say.
    random_state : int

    Notes
    -----
    On the joint axes of `hetviz.learned_from`; see `hetviz.core.prediction.active`. Items of which
    nothing is known are not asked about. Costs the joint axes, remembered while only what a person
    says changes, and O(n (k + axes classes)).
    """
    span = data.offsets[column.dataset]
    Z = unsaid_axes(data, plain_graph(data, random_state), random_state=random_state)[span]
    there = (Z != 0).any(axis=1)
    rows = np.flatnonzero(there)
    known = np.flatnonzero(column.known[rows])
    classes = cast(list[LabelValue], column.classes)
    place = {value: code for code, value in enumerate(classes)}
    y = np.full(len(rows), -1, dtype=np.int64)
    y[known] = [place[column.values[row]] for row in rows[known]]
    if len(np.unique(y[known])) < LEAST_CLASSES:
        return []
    P = class_chances(Z[rows], y, len(place))
    fine = np.ones(len(rows), dtype=bool) if allowed is None else allowed[span][rows]
    fine &= ~np.isin(rows + span.start, np.array(sorted(passed), dtype=np.int64))
    S = neighbour_likeness(Z[rows], random_state=random_state)
    chosen, gain = most_telling(S, openness(P), known, fine, n)
    return [
        LabelDoubt(
            int(rows[at]) + span.start,
            tuple(
                (classes[code], float(P[at, code])) for code in np.argsort(-P[at], kind="stable")
            ),
            float(worth),
        )
        for at, worth in zip(chosen, gain, strict=True)
    ]

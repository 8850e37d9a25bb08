"""New rows of fitted datasets and their links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hetviz._types import Array, Floats, Ints, Texts
from hetviz.data.model.checks import ProblemCollector
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.immutable import Immutable

NewLink: TypeAlias = tuple[str, str, str, str] | tuple[str, str, str, str, float]


@dataclass(frozen=True, eq=False)
class NewRows(Immutable):
    """New rows of one fitted dataset, with their links to fitted rows."""

    dataset: Dataset  # The new rows only; a kernel has one column for each fitted row.
    row: Ints  # Shape (m,). New row of each link.
    to: Texts  # Shape (m,). Dataset at the other end of each link.
    to_row: Ints  # Shape (m,). Fitted row at the other end of each link.
    weight: Floats  # Shape (m,).


@dataclass(frozen=True, eq=False)
class _RowLinks:
    """Links from rows of one dataset to rows of another; -1 for unknown ids."""

    source: str
    target: str
    row: Ints
    to_row: Ints
    weight: Floats


def new_rows(
    fitted: Mapping[str, Dataset], new: HeteroData, links: Iterable[NewLink] = ()
) -> dict[str, NewRows]:
    """Return the rows of `new` with ids that were not fitted, by dataset, with their links."""
    gate = ProblemCollector()
    rows_of: dict[str, Ints] = {}
    for name, dataset in new.datasets.items():
        if name not in fitted:
            gate.refuse(
                "unknown-dataset",
                "new rows",
                "this dataset was not fitted",
                name,
                f"Fitted: {', '.join(fitted)}.",
            )
            continue
        rows_of[name] = np.flatnonzero(fitted[name].find(dataset.ids) < 0)
        if len(rows_of[name]):
            _check_same_columns(gate, fitted[name], dataset)
    gate.close()
    reduced = {
        name: _select_new_rows(new[name], rows, len(fitted[name]))
        for name, rows in rows_of.items()
        if len(rows)
    }
    row_links = [
        *_further_links(gate, fitted, reduced, links),
        *_links_within_new(fitted, new, reduced),
    ]
    gate.close()
    return {name: _collect_links(dataset, row_links) for name, dataset in reduced.items()}


def _select_new_rows(new: Dataset, rows: Ints, n_fitted: int) -> Dataset:
    if len(rows) == len(new):
        return new
    # A kernel of as many new as fitted rows is square and keeps one column per fitted row.
    return new.as_new(rows, np.arange(min(n_fitted, len(new))))


def _collect_links(dataset: Dataset, row_links: list[_RowLinks]) -> NewRows:
    own_links = [ends for ends in row_links if ends.source == dataset.name]
    valid_rows = [np.flatnonzero((ends.row >= 0) & (ends.to_row >= 0)) for ends in own_links]
    to = [
        np.full(len(rows), ends.target, object)
        for ends, rows in zip(own_links, valid_rows, strict=True)
    ]

    def joined(attribute: str, kind: type) -> Array:
        parts = [
            getattr(ends, attribute)[rows] for ends, rows in zip(own_links, valid_rows, strict=True)
        ]
        return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)

    return NewRows(
        dataset,
        joined("row", np.int64),
        np.concatenate(to) if to else np.zeros(0, object),
        joined("to_row", np.int64),
        joined("weight", np.float64),
    )


def _links_within_new(
    fitted: Mapping[str, Dataset], new: HeteroData, reduced: Mapping[str, Dataset]
) -> Iterator[_RowLinks]:
    """Yield the links of `new` in both directions."""
    row_of = {name: dataset.find(new[name].ids) for name, dataset in reduced.items()}
    fitted_row_of = {name: fitted[name].find(dataset.ids) for name, dataset in new.datasets.items()}
    for group in new.links:
        ends = (group.source, group.i), (group.target, group.j)
        for (source, i), (target, j) in (ends, ends[::-1]):
            if source in row_of:
                rows, to_rows = row_of[source][i], fitted_row_of[target][j]
                yield _RowLinks(source, target, rows, to_rows, group.weight)


def _further_links(
    gate: ProblemCollector,
    fitted: Mapping[str, Dataset],
    reduced: Mapping[str, Dataset],
    links: Iterable[NewLink],
) -> Iterator[_RowLinks]:
    """Yield the further links in both directions; report invalid links and unknown ids."""
    for position, link in enumerate(links):
        where = f"links of new rows, link {position + 1}"
        try:
            a, a_id, b, b_id, *weights = link
            weight = float(*weights) if weights else 1.0
            if not all(isinstance(text, str) for text in (a, a_id, b, b_id)):
                raise TypeError
        except (TypeError, ValueError):
            remedy = "Give (dataset, id, dataset, id) and optionally a weight."
            gate.refuse("bad-link", where, "this is not a link", repr(link), remedy, position)
            continue
        if not (0 < abs(weight) <= 1):
            message = "weights must be between -1 (apart) and 1 (together), and not 0"
            gate.refuse("weight-range", where, message, weight, row=position)
        new_row, old_row = [], []
        for name, text in ((a, a_id), (b, b_id)):
            new_row.append(_row_of(reduced, name, text))
            old_row.append(_row_of(fitted, name, text))
            if new_row[-1] < 0 and old_row[-1] < 0:
                message = "no new or fitted row of this dataset has this id"
                gate.refuse("unknown-id", f"{where}, {name}", message, text, row=position)
        for near, far, source, target in ((0, 1, a, b), (1, 0, b, a)):
            row, to_row = np.array([new_row[near]]), np.array([old_row[far]])
            yield _RowLinks(source, target, row, to_row, np.array([weight]))


def _row_of(datasets: Mapping[str, Dataset], name: str, text: str) -> int:
    return int(datasets[name].find([text])[0]) if name in datasets else -1


def _check_same_columns(gate: ProblemCollector, fitted: Dataset, new: Dataset) -> None:
    where = f"new rows of {fitted.name!r}"
    remedy = "Give the fitted columns in the same order."
    if fitted.X is not None:
        width = None if new.X is None else new.X.shape[1]
        names = fitted.feature_names or (), new.feature_names or ()
        if width != fitted.X.shape[1]:
            message = f"{fitted.X.shape[1]} features were fitted"
            gate.refuse("columns", where, message, "none" if width is None else width, remedy)
        elif all(names) and names[0] != names[1]:
            expected, actual = next((a, b) for a, b in zip(*names, strict=True) if a != b)
            gate.refuse(
                "columns", where, f"a column named {expected!r} is expected here", actual, remedy
            )
    for word in ("kernel", "distance"):
        matrix = getattr(new, word)
        is_needed = getattr(fitted, word) is not None
        if is_needed and (matrix is None or matrix.shape[1] != len(fitted)):
            gate.refuse(
                "bad-shape",
                f"{where}, {word}",
                f"one column for each of the {len(fitted)} fitted rows is needed",
                "none" if matrix is None else matrix.shape,
            )

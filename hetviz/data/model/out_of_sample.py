"""New rows of fitted datasets: which are new, whether they match, and what links them."""

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
    """New rows of one fitted dataset, with their links to fitted rows.

    Attributes
    ----------
    dataset : Dataset
        The new rows only; a kernel has one column for each fitted row.
    row : array of int, shape (m,)
        Link l leads from new row ``row[l]`` ...
    to : array of str, shape (m,)
        ... to dataset ``to[l]``, ...
    to_row : array of int, shape (m,)
        ... fitted row ``to_row[l]``, ...
    weight : array of shape (m,)
        ... with this weight.
    """

    dataset: Dataset
    row: Ints
    to: Texts
    to_row: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class _RowLinks:
    """Links from rows of one dataset to rows of another, ids looked up; -1 where there is none."""

    source: str
    target: str
    row: Ints
    to_row: Ints
    weight: Floats


def new_rows(
    fitted: Mapping[str, Dataset], new: HeteroData, links: Iterable[NewLink] = ()
) -> dict[str, NewRows]:
    """Return the rows of `new` whose ids were not fitted, by dataset, with their links.

    Parameters
    ----------
    fitted : mapping of str to Dataset
    new : HeteroData
        Rows of fitted datasets; its links may lead to fitted ids.
    links : iterable of (dataset, id, dataset, id[, weight])
        Further links. One that joins no new row to a fitted one has no effect.

    Raises
    ------
    hetviz.errors.DataError
        Listing every dataset, column and link that does not match.

    Notes
    -----
    Costs O(rows + links).
    """
    gate = ProblemCollector()
    fresh: dict[str, Ints] = {}
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
        fresh[name] = np.flatnonzero(fitted[name].find(dataset.ids) < 0)
        if len(fresh[name]):
            _check_same_columns(gate, fitted[name], dataset)
    gate.close()
    kept = {
        name: _select_new_rows(new[name], rows, len(fitted[name]))
        for name, rows in fresh.items()
        if len(rows)
    }
    wired = [*_further_links(gate, fitted, kept, links), *_links_within_new(fitted, new, kept)]
    gate.close()
    return {name: _collect_links(dataset, wired) for name, dataset in kept.items()}


def _select_new_rows(new: Dataset, rows: Ints, n_fitted: int) -> Dataset:
    if len(rows) == len(new):
        return new
    # a kernel of as many new as fitted rows is square, and keeps a column for each fitted row
    return new.as_new(rows, np.arange(min(n_fitted, len(new))))


def _collect_links(dataset: Dataset, wired: list[_RowLinks]) -> NewRows:
    mine = [ends for ends in wired if ends.source == dataset.name]
    found = [np.flatnonzero((ends.row >= 0) & (ends.to_row >= 0)) for ends in mine]
    to = [np.full(len(rows), ends.target, object) for ends, rows in zip(mine, found, strict=True)]

    def joined(attribute: str, kind: type) -> Array:
        parts = [getattr(ends, attribute)[rows] for ends, rows in zip(mine, found, strict=True)]
        return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)

    return NewRows(
        dataset,
        joined("row", np.int64),
        np.concatenate(to) if to else np.zeros(0, object),
        joined("to_row", np.int64),
        joined("weight", np.float64),
    )


def _links_within_new(
    fitted: Mapping[str, Dataset], new: HeteroData, kept: Mapping[str, Dataset]
) -> Iterator[_RowLinks]:
    """Return the links of `new` in both directions."""
    row_of = {name: dataset.find(new[name].ids) for name, dataset in kept.items()}
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
    kept: Mapping[str, Dataset],
    links: Iterable[NewLink],
) -> Iterator[_RowLinks]:
    """Return further links in both directions; refuse what they name that is not there."""
    for place, link in enumerate(links):
        where = f"links of new rows, link {place + 1}"
        try:
            a, a_id, b, b_id, *rest = link
            weight = float(*rest) if rest else 1.0
            if not all(isinstance(text, str) for text in (a, a_id, b, b_id)):
                raise TypeError
        except (TypeError, ValueError):
            remedy = "Give (dataset, id, dataset, id) and, if you like, a weight."
            gate.refuse("bad-link", where, "this is no link", repr(link), remedy, place)
            continue
        if not (0 < abs(weight) <= 1):
            what = "weights go from -1 (apart) to 1 (together), without 0"
            gate.refuse("weight-range", where, what, weight, row=place)
        new_row, old_row = [], []
        for name, text in ((a, a_id), (b, b_id)):
            new_row.append(_row_of(kept, name, text))
            old_row.append(_row_of(fitted, name, text))
            if new_row[-1] < 0 and old_row[-1] < 0:
                what = "neither a new nor a fitted row of this dataset has this id"
                gate.refuse("unknown-id", f"{where}, {name}", what, text, row=place)
        for near, far, source, target in ((0, 1, a, b), (1, 0, b, a)):
            row, to_row = np.array([new_row[near]]), np.array([old_row[far]])
            yield _RowLinks(source, target, row, to_row, np.array([weight]))


def _row_of(datasets: Mapping[str, Dataset], name: str, text: str) -> int:
    return int(datasets[name].find([text])[0]) if name in datasets else -1


def _check_same_columns(gate: ProblemCollector, fitted: Dataset, new: Dataset) -> None:
    where = f"new rows of {fitted.name!r}"
    same = "Give the same columns in the same order."
    if fitted.X is not None:
        width = None if new.X is None else new.X.shape[1]
        names = fitted.feature_names or (), new.feature_names or ()
        if width != fitted.X.shape[1]:
            what = f"{fitted.X.shape[1]} features were fitted"
            gate.refuse("columns", where, what, "none" if width is None else width, same)
        elif all(names) and names[0] != names[1]:
            here, there = next((a, b) for a, b in zip(*names, strict=True) if a != b)
            gate.refuse("columns", where, f"a column named {here!r} is expected here", there, same)
    for word in ("kernel", "distance"):
        given = getattr(new, word)
        wanted = getattr(fitted, word) is not None
        if wanted and (given is None or given.shape[1] != len(fitted)):
            gate.refuse(
                "bad-shape",
                f"{where}, {word}",
                f"one column for each of the {len(fitted)} fitted rows is needed",
                "none" if given is None else given.shape,
            )

"""Edits of a HeteroData: each returns a changed copy, and row positions follow."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetviz._types import Array, Ints
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.labels import Labels
from hetviz.data.model.links import Links, kind_key
from hetviz.data.model.meta import joined_meta
from hetviz.errors import DataError, Problem


@dataclass(frozen=True)
class Edit:
    """The edits of one HeteroData; the original stays as it is.

    Examples
    --------
    >>> from hetviz import Dataset, HeteroData, Links
    >>> a, b = Dataset("a", ["x", "y"]), Dataset("b", ["u", "v"])
    >>> data = HeteroData([a, b], [Links("a", "b", [0, 1], [1, 0])])
    >>> data.edit().subset({"a": ["y"]}).links[0].i.tolist()
    [0]
    """

    data: HeteroData

    def add(self, *parts: Dataset | Links | Comparisons | Labels) -> HeteroData:
        """Add datasets, links, comparisons or labels; rows already there keep their positions."""
        data = self.data
        datasets = [*data.datasets.values()]
        links, labels, comparisons = [*data.links], [*data.labels], data.comparisons
        given: Sequence[Any] = parts
        for part in given:
            if isinstance(part, Dataset):
                datasets.append(part)
            elif isinstance(part, Links):
                links.append(part)
            elif isinstance(part, Labels):
                labels.append(part)
            elif not isinstance(part, Comparisons):
                what = "only a Dataset, Links, Comparisons or Labels can be added"
                raise DataError(Problem("bad-part", "edit", what, repr(part)[:80]))
            else:
                comparisons = part if comparisons is None else _joined(comparisons, part)
        return HeteroData(datasets, links, comparisons, labels)

    def drop(self, *names: str) -> HeteroData:
        """Leave datasets out, with the links, comparisons and labels that name them."""
        gone = {self.data[name].name for name in names}
        kept = [dataset for name, dataset in self.data.datasets.items() if name not in gone]
        rows = {
            name: np.arange(0 if name in gone else len(dataset))
            for name, dataset in self.data.datasets.items()
        }
        return _rebuilt(self.data, kept, rows)

    def rename(self, old: str, new: str) -> HeteroData:
        """Give a dataset another name; an entity that was named after it follows."""
        dataset = self.data[old]
        if new != old and new in self.data.datasets:
            raise DataError(
                Problem(
                    "duplicate-name", f"dataset {old!r}", "two datasets would have one name", new
                )
            )
        entity = new if dataset.entity == old and len(self.data.views(old)) == 1 else dataset.entity
        datasets = [
            replace(part, name=new, entity=entity) if part.name == old else part
            for part in self.data.datasets.values()
        ]
        links = [
            group.between(
                new if group.source == old else group.source,
                new if group.target == old else group.target,
            )
            for group in self.data.links
        ]
        labels = [
            replace(column, dataset=new) if column.dataset == old else column
            for column in self.data.labels
        ]
        return HeteroData(datasets, links, self.data.comparisons, labels)

    def replace(self, dataset: Dataset) -> HeteroData:
        """Put a newer version of a dataset in its place; rows are matched by id.

        Links and comparisons that name a row that is gone go; new rows have no labels.
        """
        old = self.data[dataset.name]
        rows: dict[str, Ints] = {
            name: np.arange(len(part)) for name, part in self.data.datasets.items()
        }
        rows[old.name] = old.find(dataset.ids)
        datasets = [
            dataset if name == old.name else part for name, part in self.data.datasets.items()
        ]
        return _rebuilt(self.data, datasets, rows)

    def set_entity(self, name: str, entity: str) -> HeteroData:
        """Say what the rows of a dataset are; datasets of one entity are views of the same things.

        Ids, links and comparisons stay as they are.
        """
        self.data[name]
        datasets = [
            replace(part, entity=entity) if part.name == name else part
            for part in self.data.datasets.values()
        ]
        return HeteroData(datasets, self.data.links, self.data.comparisons, self.data.labels)

    def subset(self, rows: Mapping[str, Sequence[Any] | Array]) -> HeteroData:
        """Keep some rows of some datasets, given as ids, row positions or a mask.

        Links and comparisons that name a row left out are left out too.
        """
        taken = self._rows(rows)
        datasets = [
            dataset.subset(taken[name]) if name in rows else dataset
            for name, dataset in self.data.datasets.items()
        ]
        return _rebuilt(self.data, datasets, taken)

    def reorder(self, order: Sequence[str] | Mapping[str, Sequence[Any] | Array]) -> HeteroData:
        """Change the order of the datasets (a list of names), or of rows (name to ids or rows).

        Raises
        ------
        hetviz.errors.DataError
            Unless every dataset, or every row of a named one, occurs exactly once.
        """
        if isinstance(order, Mapping):
            taken = self._rows(order)
            for name in order:
                if not np.array_equal(np.sort(taken[name]), np.arange(len(self.data[name]))):
                    raise DataError(
                        Problem("bad-order", f"dataset {name!r}", "each row must occur once")
                    )
            return self.subset(order)
        if Counter(list(order)) != Counter(list(self.data.datasets)):
            raise DataError(Problem("bad-order", "datasets", "each must occur once", str(order)))
        everything = {name: np.arange(len(self.data[name])) for name in self.data.datasets}
        return _rebuilt(self.data, [self.data[name] for name in order], everything)

    def weigh(self, factors: Mapping[str, float]) -> HeteroData:
        """Scale the weights of kinds of links; scores stay as they are.

        Parameters
        ----------
        factors : mapping of str to float
            Key of a kind (see `hetviz.data.model.links.kind_key`) to a number from 0 to 1; 0 leaves
            its links out, and kinds that are not named stay as they are.

        Raises
        ------
        hetviz.errors.DataError
            For a key that no links have, or a factor out of range; all are listed at once.
        """
        known = dict.fromkeys(kind_key(group) for group in self.data.links)
        problems = []
        for key, factor in factors.items():
            given: Any = factor
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."
                what = "there are no such links"
                problems.append(Problem("unknown-links", "weights of links", what, str(key), hint))
            elif isinstance(given, bool) or not isinstance(given, (int, float, np.number)):
                problems.append(Problem("bad-factor", f"weight of {key}", "no number", repr(given)))
            elif not 0 <= given <= 1:
                what = "it must be from 0 to 1"
                problems.append(Problem("bad-factor", f"weight of {key}", what, f"{given:g}"))
        if problems:
            raise DataError(problems)
        links = []
        for group in self.data.links:
            factor = factors.get(kind_key(group), 1)
            if factor > 0:
                links.append(group if factor == 1 else group.weighed(float(factor)))
        return HeteroData(self.data.datasets, links, self.data.comparisons, self.data.labels)

    def _rows(self, rows: Mapping[str, Any]) -> dict[str, Ints]:
        out = {name: np.arange(len(dataset)) for name, dataset in self.data.datasets.items()}
        for name, chosen in rows.items():
            dataset = self.data[name]
            out[name] = rows_of(dataset, chosen)
        return out


def rows_of(dataset: Dataset, chosen: Sequence[Any] | Array) -> Ints:
    """Turn ids, row positions or a mask into row positions of a dataset."""
    array = np.asarray(chosen)
    if array.dtype == bool:
        if array.shape != (len(dataset),):
            what = f"a mask needs one entry for each of the {len(dataset)} rows"
            raise DataError(
                Problem("bad-shape", f"dataset {dataset.name!r}", what, str(len(array)))
            )
        return np.flatnonzero(array)
    if array.size and np.issubdtype(array.dtype, np.integer):
        if array.min() < 0 or array.max() >= len(dataset):
            raise DataError(
                Problem("unknown-row", f"dataset {dataset.name!r}", "no such row", str(array.max()))
            )
        return array.astype(np.int64)
    found = dataset.find(chosen)
    unknown = [
        Problem("unknown-id", f"dataset {dataset.name!r}", "there is no such id", str(text))
        for text, row in zip(chosen, found, strict=True)
        if row < 0
    ]
    if unknown:
        raise DataError(unknown)
    return found


def global_rows(rows: ArrayLike, n_rows: int) -> Ints:
    """Return global rows in order, each once.

    Raises
    ------
    hetviz.errors.DataError
        If they are not whole numbers from 0 to below `n_rows`.
    """
    array = np.asarray(rows)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise DataError(Problem("bad-rows", "rows", "row numbers are needed", repr(rows)[:40]))
    unique = np.unique(array).astype(np.int64)
    for row in (unique[0], unique[-1]):
        if not 0 <= row < n_rows:
            raise DataError(Problem("unknown-row", "rows", "there is no such row", str(row)))
    return unique


def _joined(first: Comparisons, second: Comparisons) -> Comparisons:
    if first.objects.shape[1] == second.objects.shape[1]:
        objects = np.vstack([first.objects, second.objects])
    else:
        objects = np.vstack([first.pairs, second.pairs])
    meta = joined_meta(first.meta, len(first), second.meta, len(second))
    return Comparisons(objects, np.concatenate([first.weight, second.weight]), meta=meta)


def _rebuilt(data: HeteroData, datasets: Sequence[Dataset], rows: Mapping[str, Ints]) -> HeteroData:
    """Rebuild `data` from `datasets`, where old row ``rows[name][r]`` became new row r.

    A row that was not there before has -1.
    """
    moved: dict[str, Ints] = {}
    for name, dataset in data.datasets.items():
        moved[name] = np.full(len(dataset), -1, dtype=np.int64)
        kept = np.flatnonzero(rows[name] >= 0)
        moved[name][rows[name][kept]] = kept
    names = {dataset.name for dataset in datasets}
    links = []
    for group in data.links:
        if group.source not in names or group.target not in names:
            continue
        i, j = moved[group.source][group.i], moved[group.target][group.j]
        kept = np.flatnonzero((i >= 0) & (j >= 0))
        links.append(group.moved(i[kept], j[kept], kept))
    labels = []
    for column in data.labels:
        if column.dataset in names:
            values = [None if row < 0 else column.values[row] for row in rows[column.dataset]]
            labels.append(Labels(column.dataset, column.name, values))
    return HeteroData(datasets, links, _moved(data, datasets, moved), labels)


def _moved(
    data: HeteroData, datasets: Sequence[Dataset], moved: Mapping[str, Ints]
) -> Comparisons | None:
    if data.comparisons is None:
        return None
    globally = np.full(data.n_rows, -1, dtype=np.int64)
    start = 0
    for dataset in datasets:
        old = moved[dataset.name]
        globally[data.offsets[dataset.name]] = np.where(old >= 0, old + start, -1)
        start += len(dataset)
    objects = globally[data.comparisons.objects]
    kept = np.flatnonzero((objects >= 0).all(axis=1))
    if not len(kept):
        return None
    left = data.comparisons.take(kept)
    return Comparisons(objects[kept], left.weight, meta=left.meta)

"""Labels: one column with the class or value of each item."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Array, Bools, Texts
from hetviz.data.model import checks
from hetviz.data.model.checks import ProblemCollector
from hetviz.data.model.immutable import Immutable

OWN_LABEL_PREFIX = "my label "
"""Prefix, before a number, of label columns that users create."""
_ANNOTATION = ("row", "value", "who", "when")


def is_own_label(name: str) -> bool:
    """Return whether a label column has a name of user labels, such as "my label 1"."""
    return re.fullmatch(OWN_LABEL_PREFIX + "[1-9][0-9]?", name) is not None


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Labels(Immutable):
    """One label column of one dataset; missing values allowed.

    Parameters
    ----------
    dataset : str
        Name of the dataset.
    name : str
        Name of the column.
    values : sequence of length n
        ``values[i]`` is the label of row i: text, a number, or missing (None or NaN).
    annotations : DataFrame, optional
        Labels that people gave, with their names, oldest first: columns row, value, who and when.
        The value of a row is its last one. A label without a name has an empty `who`.

    Attributes
    ----------
    known : array of bool, shape (n,)
        False where the label is missing.
    """

    dataset: str
    name: str
    values: Texts
    annotations: pd.DataFrame | None = None

    def __init__(
        self,
        dataset: str,
        name: str,
        values: Iterable[object],
        annotations: pd.DataFrame | None = None,
    ) -> None:
        gate = ProblemCollector()
        checks.check_name(gate, "labels, dataset", dataset)
        checks.check_name(gate, "labels", name)
        gate.close()
        raw = _to_list(values)
        plain = np.empty(len(raw), dtype=object)
        if set(map(type, raw)) <= {str, type(None)}:
            plain[:] = raw
        else:
            for row, value in enumerate(raw):
                plain[row] = _plain_value(value)
        object.__setattr__(self, "dataset", dataset)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", checks.read_only(plain))
        is_empty = annotations is None or annotations.empty
        object.__setattr__(self, "annotations", None if is_empty else annotations)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Labels({self.dataset!r}, {self.name!r}, {len(self.classes)} classes)"

    @property
    def known(self) -> Bools:
        """Whether each row has a label, shape (n,)."""
        return np.array([value is not None for value in self.values], dtype=bool)

    @property
    def classes(self) -> list[Hashable]:
        """The distinct labels, in order of their text."""
        return sorted({value for value in self.values if value is not None}, key=str)

    def take(self, rows: Array) -> Labels:
        """Return the labels of the given rows; -1 is a row without a label."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows, dtype=np.int64)
        values = [None if row < 0 else self.values[row] for row in rows.tolist()]
        annotations = self.annotations
        if annotations is not None:
            new_row = {row: at for at, row in reversed([*enumerate(rows.tolist())])}
            moved = annotations["row"].map(new_row)
            annotations = annotations[moved.notna()].reset_index(drop=True)
            annotations["row"] = moved.dropna().astype(np.int64).to_numpy()
        return Labels(self.dataset, self.name, values, annotations)

    def entries(self) -> Iterator[tuple[int, Hashable, str, str]]:
        """Yield each label as (row, value, who, when), by row and oldest first."""
        rows: dict[int, list[tuple[Hashable, str, str]]] = {}
        if self.annotations is not None:
            for row, *rest in self.annotations[[*_ANNOTATION]].itertuples(index=False):
                rows.setdefault(row, []).append((rest[0], rest[1], rest[2]))
        for row in np.flatnonzero(self.known).tolist():
            for value, who, when in rows.get(row, [(self.values[row], "", "")]):
                yield row, value, who, when

    def annotated(self, entries: Iterable[tuple[int, Hashable, str, str]]) -> Labels:
        """Return the labels after people labelled rows: (row, value, who, when).

        A label replaces the earlier one of the same person. Without a value, the label of that
        person is removed, or all of the row if `who` is empty.
        """
        values = self.values.copy()
        by_row: dict[int, dict[str, tuple[Hashable, str]]] = {}
        if self.annotations is not None:
            for row, value, who, when in self.annotations[[*_ANNOTATION]].itertuples(index=False):
                by_row.setdefault(row, {})[who] = (value, when)
        for row, value, who, when in entries:
            by_person = by_row.setdefault(row, {})
            if not by_person and values[row] is not None:
                by_person[""] = (values[row], "")
            by_person.pop(who, None)
            if value is not None:
                by_person[who] = (_plain_value(value), when)
            elif not who:
                by_person.clear()
            values[row] = [*by_person.values()][-1][0] if by_person else None
        rows = [
            (row, value, who, when)
            for row, by_person in sorted(by_row.items())
            if any(by_person)
            for who, (value, when) in by_person.items()
        ]
        return Labels(self.dataset, self.name, values, pd.DataFrame(rows, columns=[*_ANNOTATION]))

    def without_people(self, names: Collection[str]) -> Labels:
        """Return the labels without those that these people gave."""
        if self.annotations is None or not self.annotations["who"].isin(list(names)).any():
            return self
        removed = self.annotations[self.annotations["who"].isin(list(names))]
        ends = zip(removed["row"], removed["who"], strict=True)
        return self.annotated((row, None, who, "") for row, who in ends)


def _to_list(values: Iterable[object]) -> list[object]:
    """Return values as a list, missing text as None."""
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.StringDtype):
        return values.astype(object).where(values.notna(), None).tolist()
    return list(values)


def _plain_value(value: object) -> Hashable:
    missing = value is None or value is pd.NA or value is pd.NaT or value != value
    return None if missing else value.item() if isinstance(value, np.generic) else value

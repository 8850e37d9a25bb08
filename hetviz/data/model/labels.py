"""Labels: one column with the class or value of each item."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Array, Bools, Texts
from hetviz.data.model import checks
from hetviz.data.model.checks import ProblemCollector
from hetviz.data.model.immutable import Immutable

OWN_LABEL_PREFIX = "my label "
"""Prefix, before a number, of label columns that users create."""


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

    Attributes
    ----------
    known : array of bool, shape (n,)
        False where the label is missing.
    """

    dataset: str
    name: str
    values: Texts

    def __init__(self, dataset: str, name: str, values: Iterable[object]) -> None:
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
        """Return the labels of the given rows."""
        return Labels(self.dataset, self.name, self.values[rows])


def _to_list(values: Iterable[object]) -> list[object]:
    """Return values as a list, missing text as None."""
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.StringDtype):
        return values.astype(object).where(values.notna(), None).tolist()
    return list(values)


def _plain_value(value: object) -> Hashable:
    missing = value is None or value is pd.NA or value is pd.NaT or value != value
    return None if missing else value.item() if isinstance(value, np.generic) else value

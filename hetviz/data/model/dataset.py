"""Dataset of items of one kind, with their features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._html import html_table
from hetviz._types import Array, Ints, Matrix, Reals, Texts, is_sparse
from hetviz.data.model import checks
from hetviz.data.model.checks import ProblemCollector
from hetviz.data.model.immutable import Immutable
from hetviz.errors import DataError, Problem
from hetviz.memo import Memo

ITEM_RESULTS = Memo(max_entries=64)
"""Results that depend on the items of a tuple of datasets alone, not on guidance or labels."""
MADE_IDS = "made_ids"
# Recipe entry: a column named as an id whose cells repeat or are empty.
REPEATED_ID = "repeated_id"
"""Entry of the recipe of a dataset whose ids are row numbers or made of several columns."""
_TITLE_COLUMNS = ("title", "name", "label")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Dataset(Immutable):
    """Items of one kind with ids and, optionally, features, kernel, distance, table and media.

    Parameters
    ----------
    name : str
        Name of the dataset.
    ids : sequence of str, length n
        Unique, non-empty ids; ``ids[i]`` is the id of row i, stored unchanged.
    X : array or sparse matrix of shape (n, p), optional
        Finite features; ``X[i, c]`` is feature c of item i. Sparse input is stored as CSR.
    feature_names : sequence of str, length p, optional
    kernel, distance : array of shape (n, n), optional
        ``kernel[i, j]`` is the similarity (``distance[i, j]`` the distance) of items i and j. New
        rows have shape (n_new, n_fitted), with columns in the order of the fitted rows.
    table : DataFrame of n rows, optional
        Raw columns for hover, colour and labels; row i describes item i.
    media : sequence of n paths, bytes or None, optional
        Thumbnails.
    entity : str, optional
        Kind of object; default: `name`. Datasets of one entity are views: equal ids are the same
        object.
    recipe : dict, optional
        Use of the columns of the table or file (``id``, ``title``, ``text``, ``media``) and the
        fitted feature pipeline, as JSON-ready values.
    keys : sequence of n hashable values, optional
        Original keys of the rows, such as integers or times, for which `ids` are the text form.
        `position` and `find` accept both.

    Raises
    ------
    hetviz.errors.DataError
        Listing all bad rows.

    Notes
    -----
    A dataset without features, kernel and distance is featureless: its items are described by
    links only. Arrays are read-only copies.
    """

    name: str
    ids: Texts
    X: Matrix | None
    feature_names: tuple[str, ...] | None
    kernel: Reals | None
    distance: Reals | None
    table: pd.DataFrame | None
    media: tuple[Any, ...] | None
    entity: str
    recipe: dict[str, Any] | None
    keys: Texts | None = field(default=None, metadata={"saved": False})

    def __init__(
        self,
        name: str,
        ids: Iterable[str],
        X: ArrayLike | Matrix | None = None,
        *,
        feature_names: Iterable[str] | None = None,
        kernel: ArrayLike | None = None,
        distance: ArrayLike | None = None,
        table: pd.DataFrame | None = None,
        media: Iterable[object] | None = None,
        entity: str | None = None,
        recipe: dict[str, object] | None = None,
        keys: Iterable[Hashable] | None = None,
    ) -> None:
        gate = ProblemCollector()
        name = checks.check_name(gate, "dataset", name)
        where = f"dataset {name!r}"
        if isinstance(ids, str):
            gate.refuse("bad-ids", where, "ids must be a list of strings, not one string", ids)
            gate.close()
        if hasattr(ids, "columns") or (np.ndim(ids) if isinstance(ids, np.ndarray) else 1) > 1:
            remedy = f"Call HeteroData.from_frames({{{name!r}: table}}), which finds the ids."
            gate.refuse("bad-ids", where, "ids must be a list, not a table", remedy=remedy)
            gate.close()
        rows = checks.check_ids(gate, where, ids)
        n = len(rows)
        names = None if feature_names is None else tuple(map(str, feature_names))
        media_list = media if media is None else tuple(media)
        if media_list is not None and len(media_list) != n:
            gate.refuse("row-count", f"{where}, media", f"{len(media_list)} entries, but {n} ids")
        fields = {
            "name": name,
            "ids": checks.read_only(rows),
            "X": _features(gate, where, X, n, names),
            "feature_names": names,
            "kernel": _square(gate, f"{where}, kernel", kernel, n),
            "distance": _distances(gate, f"{where}, distance", distance, n),
            "table": _table(gate, f"{where}, table", table, n),
            "media": media_list,
            "entity": name if entity is None else checks.check_name(gate, where, entity),
            "recipe": recipe,
            "keys": _keys(gate, f"{where}, keys", keys, n),
        }
        gate.close()
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        parts = [f"{len(self):,} rows"]
        if self.X is not None:
            parts.append(f"{self.X.shape[1]:,} features")
        parts += [word for word in ("kernel", "distance") if getattr(self, word) is not None]
        if self.is_featureless:
            parts.append("featureless")
        if self.entity != self.name:
            parts.append(f"view of {self.entity!r}")
        return f"Dataset({self.name!r}: {', '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = [(self.ids[k], self.titles[k]) for k in range(min(5, len(self)))]
        more = f"and {len(self) - 5:,} more" if len(self) > 5 else ""
        return html_table(repr(self), rows, ("id", "title"), more)

    @property
    def n_rows(self) -> int:
        """Number of items."""
        return len(self.ids)

    @property
    def is_featureless(self) -> bool:
        """Whether the dataset has no features, kernel or distance."""
        return self.X is None and self.kernel is None and self.distance is None

    @cached_property
    def _row_of(self) -> dict[object, int]:
        keys = {} if self.keys is None else {key: row for row, key in enumerate(self.keys)}
        return keys | {text: row for row, text in enumerate(self.ids)}

    def position(self, id: str) -> int:
        """Return the row of an id, counted from 0 within this dataset.

        Raises
        ------
        hetviz.errors.DataError
            If the id is unknown.
        """
        row = self._row_of.get(id)
        if row is None:
            raise DataError.of(
                "unknown-id", f"dataset {self.name!r}", "this id does not exist", str(id)
            )
        return row

    def key(self, id: str) -> Hashable:
        """Return the original key of a row, or its id if that was text."""
        row = self.position(id)
        key: Hashable = self.ids[row] if self.keys is None else self.keys[row]
        return key

    def find(self, ids: Iterable[object]) -> Ints:
        """Return the row of each id or key, -1 if unknown."""
        lookup = self._row_of
        return np.array([lookup.get(text, -1) for text in ids], dtype=np.int64)

    @property
    def title_column(self) -> str | None:
        """The table column with the titles of the rows, if there is one."""
        if self.table is None:
            return None
        recipe = self.recipe or {}
        declared = recipe.get("title")
        if declared in self.table.columns:
            return str(declared)
        if "title" in recipe and declared is None:
            # The reader found no column that distinguishes the rows.
            return None
        return next((column for column in _TITLE_COLUMNS if column in self.table.columns), None)

    @property
    def units(self) -> dict[str, str]:
        """Units of numeric table columns, if known and not part of the name."""
        units = (self.recipe or {}).get("units")
        if self.table is None or not isinstance(units, Mapping):
            return {}
        columns = set(map(str, self.table.columns))
        return {str(name): str(unit) for name, unit in units.items() if name in columns}

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """Values of ordered categorical table columns, lowest first."""
        orders = (self.recipe or {}).get("orders")
        if self.table is None or not isinstance(orders, Mapping):
            return {}
        columns = set(map(str, self.table.columns))
        return {
            str(name): tuple(map(str, order)) for name, order in orders.items() if name in columns
        }

    @cached_property
    def has_row_numbers(self) -> bool:
        """Whether the ids are row numbers, because the file that was read has no id column."""
        return bool((self.recipe or {}).get(MADE_IDS)) and all(map(str.isdigit, self.ids))

    @cached_property
    def titles(self) -> Texts:
        """Title of each row, length n: the title, or the id if there is none."""
        out = self.ids.copy()
        if self.table is not None and self.title_column is not None:
            column = self.table[self.title_column]
            texts, missing = map(str, column.tolist()), column.isna().tolist()
            for row, (text, is_missing) in enumerate(zip(texts, missing, strict=True)):
                if not is_missing and text.strip():
                    out[row] = text
        return checks.read_only(out)

    @cached_property
    def display_names(self) -> Texts:
        """Name of each row for people, length n: the title, with the id if titles repeat.

        Rows with neither are called "row 17".
        """
        titles = self.titles
        if self.has_row_numbers and self.title_column is None:
            return checks.read_only(np.array([f"row {id}" for id in self.ids], dtype=titles.dtype))
        is_repeated = pd.Series(titles).duplicated(keep=False).to_numpy(dtype=bool)
        is_repeated = is_repeated & (titles != self.ids)
        if not is_repeated.any():
            return titles
        out = titles.copy()
        for row in np.flatnonzero(is_repeated).tolist():
            out[row] = f"{titles[row]} ({self.ids[row]})"
        return checks.read_only(out)

    def subset(self, rows: Sequence[int] | Ints) -> Dataset:
        """Return the given rows in the given order; a square kernel is reduced on both axes."""
        take = np.asarray(rows, dtype=np.int64)
        return self._rows(take, take)

    def as_new(self, rows: Ints, fitted: Ints) -> Dataset:
        """Return `rows` as new rows; kernel and distance have one column per `fitted` row."""
        return self._rows(rows, fitted)

    def _rows(self, rows: Ints, columns: Ints) -> Dataset:
        def block(matrix: Array | None) -> Array | None:
            if matrix is None:
                return None
            if matrix.shape[0] == matrix.shape[1]:
                return np.asarray(matrix[np.ix_(rows, columns)])
            return np.asarray(matrix[rows])

        return replace(
            self,
            ids=self.ids[rows],
            X=None if self.X is None else self.X[rows],
            kernel=block(self.kernel),
            distance=block(self.distance),
            table=None if self.table is None else self.table.iloc[rows],
            media=None if self.media is None else tuple(self.media[row] for row in rows),
            keys=None if self.keys is None else self.keys[rows],
        )


def features_of(dataset: Dataset) -> Matrix:
    """Return the features of a dataset; raise if it has none."""
    if dataset.X is None:
        where = f"dataset {dataset.name!r}"
        raise DataError.of("no-features", where, "features are needed, but it has none")
    return dataset.X


def rows_of(dataset: Dataset, chosen: Sequence[object] | Array) -> Ints:
    """Return row positions of a dataset for ids, row positions or a mask."""
    array = np.asarray(chosen)
    if array.dtype == bool:
        if array.shape != (len(dataset),):
            message = f"a mask needs one entry for each of the {len(dataset)} rows"
            raise DataError.of("bad-shape", f"dataset {dataset.name!r}", message, str(len(array)))
        return np.flatnonzero(array)
    if array.size and np.issubdtype(array.dtype, np.integer):
        if array.min() < 0 or array.max() >= len(dataset):
            raise DataError.of(
                "unknown-row", f"dataset {dataset.name!r}", "unknown row", str(array.max())
            )
        return array.astype(np.int64)
    rows = dataset.find(chosen)
    unknown = [
        Problem("unknown-id", f"dataset {dataset.name!r}", "this id does not exist", str(text))
        for text, row in zip(chosen, rows, strict=True)
        if row < 0
    ]
    if unknown:
        raise DataError(unknown)
    return rows


def _features(
    gate: ProblemCollector,
    where: str,
    values: ArrayLike | Matrix | None,
    n: int,
    names: tuple[str, ...] | None,
) -> Matrix | None:
    if values is None:
        if names is not None:
            gate.refuse("feature-names", where, "feature names without X", remedy="Give X as well.")
        return None
    shape = np.shape(values) if not is_sparse(values) else values.shape
    usable = names if names is not None and len(shape) == 2 and len(names) == shape[1] else None
    X = checks.check_matrix(gate, f"{where}, X", values, n, usable)
    if X is not None and names is not None and len(names) != X.shape[1]:
        gate.refuse(
            "feature-names",
            where,
            f"{len(names)} feature names for {X.shape[1]} columns",
            len(names),
            "Give one name for each column of X.",
        )
    return X


def _square(gate: ProblemCollector, where: str, values: object, n: int) -> Reals | None:
    if values is None:
        return None
    matrix = checks.check_matrix(gate, where, values.toarray() if is_sparse(values) else values, n)
    return None if matrix is None else np.asarray(matrix)


def _distances(gate: ProblemCollector, where: str, values: object, n: int) -> Reals | None:
    distance = _square(gate, where, values, n)
    if distance is not None:
        for row, column in np.argwhere(distance < 0):
            gate.refuse(
                "negative-distance",
                f"{where}, row {row + 1}, column {column + 1}",
                "distances must be 0 or more",
                distance[row, column],
                "If this is a similarity, give it as kernel.",
                int(row),
            )
    return distance


def _keys(
    gate: ProblemCollector, where: str, keys: Iterable[Hashable] | None, n: int
) -> Texts | None:
    if keys is None:
        return None
    key_list = list(keys)
    if len(key_list) != n:
        gate.refuse(
            "row-count", where, f"{len(key_list)} keys, but there are {n} ids", len(key_list)
        )
        return None
    out = np.empty(n, dtype=object)
    for row, key in enumerate(key_list):
        out[row] = key
        try:
            hash(key)
        except TypeError:
            kind = type(key).__name__
            gate.refuse("bad-key", f"{where}, row {row + 1}", "a key must be hashable", kind)
            return None
    return checks.read_only(out)


def _table(gate: ProblemCollector, where: str, table: object, n: int) -> pd.DataFrame | None:
    if table is None:
        return None
    if not isinstance(table, pd.DataFrame):
        gate.refuse("bad-table", where, "a pandas DataFrame is needed", type(table).__name__)
        return None
    if len(table) != n:
        gate.refuse("row-count", where, f"{len(table)} rows, but {n} ids", len(table))
        return None
    return table.reset_index(drop=True)

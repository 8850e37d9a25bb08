"""Tables, graphs and matrices of other libraries in one form: table, keys and matrix.

Objects of other libraries are recognised by their attributes, so no library is imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._text import count
from hetviz._types import Array, Matrix, Texts, is_sparse
from hetviz.data import Dataset
from hetviz.errors import DataError, DataWarning, Problem
from hetviz.io.formats.matrix_kinds import check_symmetric, matrix_kind
from hetviz.io.frames.graphs import Foreign, edges_of_graph, graph_of, is_graph

if TYPE_CHECKING:
    import pyarrow as pa
    from anndata import AnnData

_ACCEPTED = (
    "a DataFrame (pandas, polars, Arrow), AnnData, MuData, a graph of networkx or igraph, a "
    "dictionary of columns, a list of records or of ids, or a matrix"
)
_FALLBACK_PART = "X_pca"


@dataclass(eq=False)
class Rows:
    """The rows of one dataset in a common form."""

    name: str
    table: pd.DataFrame | None = None
    keys: Texts | None = None
    X: Matrix | None = None
    feature_names: Sequence[str] | None = None
    entity: str | None = None
    edges: list[tuple[str, pd.DataFrame]] = field(default_factory=list)
    dataset: Dataset | None = None
    orders: dict[str, list[str]] = field(default_factory=dict)
    """Values of each ordered categorical column, lowest first."""
    squares: dict[str, Array] = field(default_factory=dict)
    """Distances and kernel between the rows, by the name of the argument of `Dataset`."""

    @property
    def is_table(self) -> bool:
        """Whether only columns describe the rows."""
        return self.X is None and not self.squares

    def __len__(self) -> int:
        if self.keys is not None:
            return len(self.keys)
        if self.table is not None:
            return len(self.table)
        matrix = next(iter(self.squares.values()), self.X)
        return 0 if matrix is None else int(matrix.shape[0])


def rows_of_all(frames: object, features: Mapping[str, Parts]) -> list[Rows]:
    """Return the rows of each dataset passed to `HeteroData.from_frames`."""
    if isinstance(frames, Mapping):
        if not frames:
            raise _data_error("no-datasets", "frames", "there is no dataset", "Give at least one.")
        wrong = [name for name in frames if not isinstance(name, str)]
        if wrong:
            message = "the names of datasets are text"
            raise _data_error("bad-name", "frames", message, _EXAMPLE_CALL, repr(wrong[0]))
        return [rows for name, frame in frames.items() for rows in rows_of(name, frame, features)]
    if _is_mudata(frames) or _is_anndata(frames) or is_graph(frames):
        return rows_of("nodes" if is_graph(frames) else "cells", frames, features)
    if isinstance(frames, Dataset):
        return rows_of(frames.name, frames, features)
    if isinstance(frames, list | tuple) and frames and all(map(_is_view, frames)):
        return _of_views(frames, features)
    message = "datasets are given by name, as a dictionary"
    raise _data_error("no-names", "frames", message, _EXAMPLE_CALL, type(frames).__name__)


def _is_view(frame: object) -> bool:
    is_matrix = len(getattr(frame, "shape", ())) == 2
    return isinstance(frame, Dataset) or _is_anndata(frame) or is_matrix


def _of_views(frames: Sequence[object], features: Mapping[str, Parts]) -> list[Rows]:
    """Return datasets of a list: views of the same items, except for those with a name."""
    named = [
        (frame.name, frame) if isinstance(frame, Dataset) else (f"view {place}", frame)
        for place, frame in enumerate(frames, start=1)
    ]
    views = [rows for name, frame in named for rows in rows_of(name, frame, features)]
    for rows in views:
        rows.entity = None if rows.dataset is not None else VIEWED
    return views


VIEWED = "items"
"""Entity of the views that are given as a list."""
_EXAMPLE_CALL = "Call HeteroData.from_frames({'dishes': dishes, 'wines': wines}, links=pairs)."
Parts: TypeAlias = str | Sequence[str]
"""Chosen parts of an AnnData, or what a matrix is."""


def rows_of(name: str, frame: Foreign, features: Mapping[str, Parts]) -> list[Rows]:
    """Return the datasets of one entry: several for MuData, otherwise one."""
    if _is_mudata(frame):
        parts = [rows_of(str(of), modality, features) for of, modality in frame.mod.items()]
        return [replace(rows, entity=name) for part in parts for rows in part]
    chosen = features.get(name)
    if _is_anndata(frame):
        return [_of_anndata(name, frame, _listed(chosen))]
    if chosen is not None:
        return [_of_square(name, frame, chosen)]
    read = next(read for recognises, read in _ADAPTERS if recognises(frame))
    return [read(name, frame)]


def _listed(parts: Parts | None) -> list[str]:
    return [] if parts is None else [parts] if isinstance(parts, str) else list(parts)


def _refuse_text(name: str, frame: object) -> Rows:
    message = "this is text, not a table"
    remedy = "Read files with hetviz.load(path)."
    raise _data_error("not-a-frame", f"dataset {name!r}", message, remedy, str(frame))


def _refuse_lazy(name: str, frame: object) -> Rows:
    message, kind = "this table has not been computed yet", type(frame).__name__
    raise _data_error("lazy", f"dataset {name!r}", message, "Give frame.collect().", kind)


def _is_table(frame: object) -> bool:
    """Whether `as_frame` makes a table of an object."""
    protocols = ("__arrow_c_stream__", "__dataframe__")
    known = isinstance(frame, pd.DataFrame | pd.Series | Mapping)
    return not is_sparse(frame) and (known or any(hasattr(frame, name) for name in protocols))


def as_frame(where: str, frame: object) -> pd.DataFrame | None:
    """Return a table or dictionary of columns as pandas, None for anything else."""
    if isinstance(frame, pd.DataFrame):
        return frame
    if not _is_table(frame):
        return None
    if isinstance(frame, pd.Series):
        return frame.to_frame(frame.name if frame.name is not None else "value")
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__dataframe__"):
        return _of_arrow(frame)
    if isinstance(frame, Mapping):
        if not all(np.ndim(values) or hasattr(values, "__len__") for values in frame.values()):
            message = "a dictionary of columns is needed, each a list with a value for each row"
            raise _data_error("not-columns", where, message, "Give {'column': [values]}.")
        lengths = {str(column): len(values) for column, values in frame.items()}
        if len(set(lengths.values())) > 1:
            length_words = ", ".join(f"{column} {n:,}" for column, n in [*lengths.items()][:5])
            message = "the columns have different numbers of rows"
            raise _data_error(
                "row-count", where, message, "Give each a value for each row.", length_words
            )
        return pd.DataFrame({column: _column(values) for column, values in frame.items()})
    return None


def unknown_name_error(where: str, name: object, present: Sequence[str], message: str) -> DataError:
    """Return the error for an unknown name, listing the existing ones."""
    remedy = f"Available: {', '.join(map(str, present))}." if present else "None are available."
    return _data_error("unknown-name", where, message, remedy, str(name))


def _of_arrow(frame: object) -> pd.DataFrame:
    import pyarrow as pa

    table = pa.table(frame) if hasattr(frame, "__arrow_c_stream__") else None
    if table is None:
        from pyarrow.interchange import from_dataframe

        table = from_dataframe(frame)
    return pd.DataFrame({name: _of_chunks(table.column(name)) for name in table.column_names})


def _of_chunks(column: pa.ChunkedArray) -> pd.Series:
    import pyarrow as pa

    # pyarrow cannot convert every nested text type to pandas
    if pa.types.is_nested(column.type):
        return pd.Series(column.to_pylist(), dtype=object)
    series: pd.Series = column.to_pandas()
    return series


def _of_frame(name: str, frame: pd.DataFrame) -> Rows:
    double = frame.columns[frame.columns.duplicated()].unique()
    if len(double):
        raise DataError(
            Problem(
                "duplicate-column",
                f"dataset {name!r}",
                "two columns have this name",
                str(column),
                "Rename one.",
            )
            for column in double
        )
    keys: Texts | None = None
    if not (isinstance(frame.index, pd.RangeIndex) and frame.index.name is None):
        keys = _keys(frame.index)
    if frame.shape[1] and all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes):
        accessor: Any = frame.sparse
        X = sp.csr_array(accessor.to_coo())
        return Rows(name, None, keys, X, [str(column) for column in frame.columns])
    plain = frame.reset_index(drop=True)
    plain.columns = pd.Index([_words(column) for column in frame.columns], dtype=object)
    orders = {
        str(column): [str(value) for value in dtype.categories]
        for column, dtype in plain.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered
    }
    table = pd.DataFrame({c: _column(plain[c]) for c in plain.columns})
    if keys is not None and frame.index.equals(frame.columns):
        _warn_of_square(name, frame)
    return Rows(name, table, keys, orders=orders)


def _of_table(name: str, frame: object) -> Rows:
    table = as_frame(f"dataset {name!r}", frame)
    assert table is not None  # noqa: S101
    return _of_frame(name, table)


def _warn_of_square(name: str, frame: pd.DataFrame) -> None:
    """Warn that distances or similarities between the rows are read as features."""
    try:
        kind = matrix_kind(frame.to_numpy(np.float64))
    except (TypeError, ValueError):
        return
    if kind != "features":
        message = (
            f"dataset {name!r}: the columns are named as the rows and look like a {kind} matrix, "
            f"but are read as features. Write features={{{name!r}: {kind!r}}}."
        )
        warnings.warn(message, DataWarning, stacklevel=2)


def _of_square(name: str, frame: object, kind: Parts) -> Rows:
    """Return rows that are described by distances or similarities between them."""
    where = f"dataset {name!r}"
    if kind not in ("distance", "kernel"):
        message = "features= is 'distance' or 'kernel' for a square matrix, or a part of an AnnData"
        remedy = "Choose columns by columns=."
        raise _data_error("bad-choice", f"features of {name!r}", message, remedy, str(kind))
    keys: Texts | None = None
    if (table := as_frame(where, frame)) is not None:
        keys, frame = _square_table(table)
    matrix = _dense_square(where, kind, frame)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        message = f"a {kind} matrix has a column for each row"
        remedy = "Leave features= out if the columns are features."
        raise _data_error("bad-shape", where, message, remedy, str(matrix.shape))
    check_symmetric(f"{where}, {kind}", matrix)
    return Rows(name, None, keys, squares={kind: matrix})


def _square_table(table: pd.DataFrame) -> tuple[Texts | None, Array]:
    """Return names and cells of a square table, its columns in the order of its rows."""
    if table.shape[1] == len(table) + 1:
        table = table.set_index(table.columns[0])
    rows, columns = ([str(name) for name in axis] for axis in (table.index, table.columns))
    if rows != columns and {*rows} == {*columns}:
        table = table.iloc[:, [columns.index(name) for name in rows]]
    if not isinstance(table.index, pd.RangeIndex):
        return _keys(table.index), table.to_numpy()
    counts = columns == rows
    return None if counts else _keys(table.columns), table.to_numpy()


def _dense_square(where: str, kind: str, frame: object) -> Array:
    if is_sparse(frame):
        if kind == "distance":
            message = "a sparse matrix leaves most distances out"
            remedy = "Give all distances, or the neighbours as links."
            raise _data_error("sparse-distance", where, message, remedy)
        return frame.toarray()
    matrix = np.asarray(_matrix(where, frame))
    if matrix.ndim != 1:
        return matrix
    from scipy.spatial.distance import squareform

    try:
        return np.asarray(squareform(matrix))
    except ValueError as error:
        message = "a list of distances has one for each pair of rows"
        raise _data_error("bad-shape", where, message, "", str(error)) from None


def _keys(index: pd.Index) -> Texts:
    keys = np.empty(len(index), dtype=object)
    keys[:] = index.tolist()
    return keys


def _words(column: object) -> str:
    parts = column if isinstance(column, tuple) else (column,)
    return " / ".join(str(part) for part in parts)


def _column(values: object) -> object:
    """Return a column in which list cells are joined to text."""
    plain: object = values if isinstance(values, pd.Series) else detached(values)
    series: pd.Series = plain if isinstance(plain, pd.Series) else pd.Series(plain)
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(object if series.dtype.categories.dtype == object else "str")
    if isinstance(series.dtype, pd.PeriodDtype):
        series = pd.Series(series.dt.to_timestamp())
    if series.dtype == object:
        listing = [isinstance(cell, list | tuple | set | frozenset | np.ndarray) for cell in series]
        if any(listing):
            cells = [
                "; ".join(map(str, sorted(cell, key=str) if isinstance(cell, set) else cell))
                if is_list
                else cell
                for cell, is_list in zip(series, listing, strict=True)
            ]
            return pd.Series(cells, dtype=object)
    return series.reset_index(drop=True)


def _of_list(name: str, frame: Foreign) -> Rows:
    if isinstance(frame, set | frozenset):
        frame = sorted(frame, key=str)
    if frame and all(isinstance(row, Mapping) for row in frame):
        return _of_frame(name, pd.DataFrame.from_records(list(frame)))
    if any(isinstance(row, list | tuple | np.ndarray) for row in frame) or all(
        isinstance(row, int | float) for row in frame
    ):
        return _of_matrix(name, frame)
    keys = np.empty(len(frame), dtype=object)
    keys[:] = list(frame)
    return Rows(name, None, keys)


def _of_matrix(name: str, frame: object) -> Rows:
    where = f"dataset {name!r}"
    values = _matrix(where, frame)
    if values.ndim != 2:
        dimensions = count(values.ndim, "dimension")
        message = f"a matrix with rows and columns is needed, but this has {dimensions}"
        remedy = "Give x.reshape(-1, 1) for one column, x.reshape(len(x), -1) for pictures."
        raise _data_error("bad-shape", where, message, remedy, str(values.shape))
    return Rows(name, None, None, values)


def _matrix(where: str, frame: object) -> Foreign:
    """Return a matrix of any library as an array or a sparse array."""
    if is_sparse(frame):
        return sp.csr_array(frame)
    try:
        values = np.asarray(detached(frame))
    except (TypeError, ValueError) as error:
        raise _data_error("not-a-frame", where, f"{_ACCEPTED} is needed", str(error)) from error
    if values.dtype == object:
        values = _numbers(values)
    if values.dtype == object:
        kind = type(frame).__name__
        raise _data_error("not-a-frame", where, f"{_ACCEPTED} is needed", _EXAMPLE_CALL, kind)
    return values


def _numbers(values: Array) -> Array:
    """Return an object matrix as float if possible."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def detached(values: Foreign) -> Foreign:
    """Return a tensor with gradient or on a device as a plain array."""
    for step in ("detach", "cpu"):
        act: Callable[[], Any] | None = getattr(values, step, None)
        if callable(act):
            values = act()
    return np.asarray(values) if hasattr(values, "__array__") else values


def _is_mudata(frame: object) -> bool:
    return isinstance(getattr(frame, "mod", None), Mapping)


def _is_anndata(frame: object) -> bool:
    return all(hasattr(frame, name) for name in ("obs", "var", "obs_names", "X"))


def _of_anndata(name: str, adata: AnnData, chosen: list[str]) -> Rows:
    holders = {"obsm": adata.obsm, "layers": getattr(adata, "layers", {}), "obsp": adata.obsp}
    parts = {"X": adata.X} if adata.X is not None else {}
    for holder in holders.values():
        parts |= {str(part): holder[part] for part in holder if str(part) not in parts}
    where = f"dataset {name!r}"
    unknown = next((part for part in chosen if part not in parts), None)
    if unknown is not None:
        raise unknown_name_error(where, unknown, [*parts], "this part does not exist")
    pairwise = {part for part in parts if part in adata.obsp}
    used = [part for part in chosen if part not in pairwise]
    if len(used) > 1:
        message, remedy = "one part is the features", "Give others as further datasets, as views."
        raise _data_error("bad-choice", f"features of {name!r}", message, remedy, ", ".join(used))
    rows, keys = _of_frame(name, adata.obs), _keys(adata.obs_names)
    found = Rows(name, rows.table, keys, orders=rows.orders)
    if rows.table is not None and not rows.table.shape[1]:
        found.table = None
    usual = next((part for part in ("X", _FALLBACK_PART, *adata.obsm) if part in parts), None)
    squares = [part for part in chosen if part in pairwise and not is_sparse(parts[part])]
    found.squares = {
        ("kernel" if np.diag(parts[part]).any() else "distance"): np.asarray(parts[part])
        for part in squares
    }
    part = used[0] if used else None if squares else usual
    if part is not None:
        found.X, found.feature_names = _annotated_matrix(adata, part, parts[part])
    linking = [part for part in chosen if part in pairwise and part not in squares] or [
        part for part in adata.obsp if str(part).endswith("connectivities")
    ]
    edges = [(str(kind), _of_adjacency(keys, str(kind), parts[kind])) for kind in linking]
    found.edges = [group for group in edges if len(group[1])]
    return found


def _annotated_matrix(adata: AnnData, part: str, X: Foreign) -> tuple[Matrix, list[str] | None]:
    """Return a part of an AnnData as features, with the names of its columns."""
    names: Any = adata.var_names if part not in adata.obsm else None
    if isinstance(X, pd.DataFrame):
        X, names = X.to_numpy(), X.columns
    matrix = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    return matrix, None if names is None else [str(column) for column in names]


def _of_adjacency(keys: Texts, kind: str, K: Matrix) -> pd.DataFrame:
    """Return each pair of a neighbour matrix once, with its weight unless these are distances."""
    matrix = sp.csr_array(K)
    pairs = sp.triu(abs(matrix).maximum(abs(matrix).T), 1).tocoo()
    used = (pairs.data != 0) & np.isfinite(pairs.data)
    weight = pairs.data[used].astype(np.float64)
    column = "weight" if not len(weight) or weight.max() <= 1 else "score"
    row, col = pairs.coords
    edges = pd.DataFrame({"source": keys[row[used]], "target": keys[col[used]]})
    return edges if kind.endswith("distances") else edges.assign(**{column: weight})


def _of_graph(name: str, frame: object) -> Rows:
    graph = graph_of(frame)
    keys = np.empty(len(graph.nodes), dtype=object)
    keys[:] = [node for node, _ in graph.nodes]
    facts = pd.DataFrame.from_records([dict(facts) for _, facts in graph.nodes])
    table = _of_frame(name, facts).table if facts.shape[1] else None
    return Rows(name, table, keys, edges=edges_of_graph(graph))


_ADAPTERS: tuple[tuple[Callable[[Any], bool], Callable[[str, Any], Rows]], ...] = (
    (lambda frame: isinstance(frame, Dataset), lambda name, frame: Rows(name, dataset=frame)),
    (lambda frame: isinstance(frame, str | PurePath), _refuse_text),
    (is_graph, _of_graph),
    (
        lambda frame: hasattr(frame, "collect") and not isinstance(frame, pd.DataFrame),
        _refuse_lazy,
    ),
    (_is_table, _of_table),
    (
        lambda frame: (
            isinstance(frame, set | frozenset | Sequence) and not isinstance(frame, bytes)
        ),
        _of_list,
    ),
    (lambda frame: True, _of_matrix),
)
"""How objects of other libraries are recognised, and their reader, in this order."""


def _data_error(
    code: str, where: str, message: str, remedy: str = "", value: str = ""
) -> DataError:
    return DataError.of(code, where, message, value[:80], remedy)

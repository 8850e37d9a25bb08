"""Tables, graphs and matrices of other libraries in one form: table, keys and matrix.

Objects of other libraries are recognised by their attributes, so no library is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._text import count
from hetviz._types import Array, Matrix, Texts, is_sparse
from hetviz.data import Dataset
from hetviz.errors import DataError, Problem

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa
    from anndata import AnnData

_ACCEPTED = (
    "a DataFrame (pandas, polars, Arrow), AnnData, MuData, a networkx graph, a dictionary of "
    "columns, a list of records or of ids, or a matrix"
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

    def __len__(self) -> int:
        if self.keys is not None:
            return len(self.keys)
        if self.table is not None:
            return len(self.table)
        return 0 if self.X is None else int(self.X.shape[0])


def rows_of_all(frames: object, features: Mapping[str, str]) -> list[Rows]:
    """Return the rows of each dataset passed to `HeteroData.from_frames`."""
    if isinstance(frames, Mapping):
        if not frames:
            raise _data_error("no-datasets", "frames", "there is no dataset", "Give at least one.")
        wrong = [name for name in frames if not isinstance(name, str)]
        if wrong:
            message = "the names of datasets are text"
            raise _data_error("bad-name", "frames", message, _EXAMPLE_CALL, repr(wrong[0]))
        return [
            rows
            for name, frame in frames.items()
            for rows in rows_of(name, frame, _checked_features(name, frame, features))
        ]
    if _is_mudata(frames) or _is_anndata(frames) or is_graph(frames):
        return rows_of("nodes" if is_graph(frames) else "cells", frames, features)
    if isinstance(frames, Dataset):
        return [Rows(frames.name, dataset=frames)]
    message = "datasets are given by name, as a dictionary"
    raise _data_error("no-names", "frames", message, _EXAMPLE_CALL, type(frames).__name__)


def _checked_features(name: str, frame: object, features: Mapping[str, str]) -> Mapping[str, str]:
    """Refuse features= of anything but AnnData, whose parts it names."""
    if name in features and not (_is_mudata(frame) or _is_anndata(frame)):
        message = "features= chooses a part of an AnnData, and this is none"
        remedy = (
            "Choose columns by columns=. Distances and kernels belong into "
            "hetviz.Dataset(name, ids, kernel=...)."
        )
        raise _data_error("not-anndata", f"features of {name!r}", message, remedy, features[name])
    return features


_EXAMPLE_CALL = "Call HeteroData.from_frames({'dishes': dishes, 'wines': wines}, links=pairs)."


def rows_of(name: str, frame: Any, features: Mapping[str, str]) -> list[Rows]:
    """Return the datasets of one entry: several for MuData, otherwise one."""
    where = f"dataset {name!r}"
    if isinstance(frame, Dataset):
        return [Rows(name, dataset=frame)]
    if isinstance(frame, str | PurePath):
        message = "this is text, not a table"
        raise _data_error(
            "not-a-frame", where, message, "Read files with hetviz.load(path).", str(frame)
        )
    if _is_mudata(frame):
        return [
            part
            for modality, modality_data in frame.mod.items()
            for part in _of_anndata(str(modality), modality_data, features.get(str(modality)), name)
        ]
    if _is_anndata(frame):
        return _of_anndata(name, frame, features.get(name), None)
    if is_graph(frame):
        return [_of_graph(name, frame)]
    if hasattr(frame, "collect") and not isinstance(frame, pd.DataFrame):
        message = "this table has not been computed yet"
        raise _data_error("lazy", where, message, "Give frame.collect().", type(frame).__name__)
    table = None if is_sparse(frame) else as_frame(where, frame)
    if table is not None:
        return [_of_frame(name, table)]
    if isinstance(frame, set | frozenset):
        frame = sorted(frame, key=str)
    if isinstance(frame, Sequence) and not isinstance(frame, bytes):
        return [_of_list(name, where, frame)]
    return [_of_matrix(name, where, frame)]


def as_frame(where: str, frame: object) -> pd.DataFrame | None:
    """Return a table or dictionary of columns as pandas, None for anything else."""
    if isinstance(frame, pd.DataFrame):
        return frame
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
        keys = np.empty(len(frame), dtype=object)
        keys[:] = frame.index.tolist()
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
    return Rows(name, table, keys, orders=orders)


def _words(column: object) -> str:
    parts = column if isinstance(column, tuple) else (column,)
    return " / ".join(str(part) for part in parts)


def _column(values: object) -> object:
    """Return a column in which list cells are joined to text."""
    series = values if isinstance(values, pd.Series) else pd.Series(_detached(values))
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


def _of_list(name: str, where: str, frame: Sequence[Any]) -> Rows:
    if frame and all(isinstance(row, Mapping) for row in frame):
        return _of_frame(name, pd.DataFrame.from_records(list(frame)))
    if any(isinstance(row, list | tuple | np.ndarray) for row in frame) or all(
        isinstance(row, int | float) for row in frame
    ):
        return _of_matrix(name, where, frame)
    keys = np.empty(len(frame), dtype=object)
    keys[:] = list(frame)
    return Rows(name, None, keys)


def _of_matrix(name: str, where: str, frame: object) -> Rows:
    values = frame if is_sparse(frame) else _detached(frame)
    if not is_sparse(values):
        try:
            values = np.asarray(values)
        except (TypeError, ValueError) as error:
            raise _data_error("not-a-frame", where, f"{_ACCEPTED} is needed", str(error)) from error
        if values.dtype == object:
            values = _numbers(values)
        if values.dtype == object:
            kind = type(frame).__name__
            raise _data_error("not-a-frame", where, f"{_ACCEPTED} is needed", _EXAMPLE_CALL, kind)
    if values.ndim != 2:
        dimensions = count(values.ndim, "dimension")
        message = f"a matrix with rows and columns is needed, but this has {dimensions}"
        remedy = "Give x.reshape(-1, 1) for one column, x.reshape(len(x), -1) for pictures."
        raise _data_error("bad-shape", where, message, remedy, str(values.shape))
    return Rows(name, None, None, sp.csr_array(values) if is_sparse(values) else values)


def _numbers(values: Array) -> Array:
    """Return an object matrix as float if possible."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def _detached(values: object) -> object:
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


def _of_anndata(name: str, adata: AnnData, part: str | None, entity: str | None) -> list[Rows]:
    parts = ["X"] if adata.X is not None else []
    parts += list(adata.obsm.keys())
    usual = next((word for word in ("X", _FALLBACK_PART) if word in parts), None)
    used = part or usual or (parts[0] if parts else None)
    if used is not None and used not in parts:
        where = f"dataset {name!r}"
        raise unknown_name_error(where, used, parts, "these features do not exist")
    X: Any = None
    names: Sequence[str] | None = None
    if used is not None:
        X = adata.X if used == "X" else adata.obsm[used]
        if isinstance(X, pd.DataFrame):
            X, names = X.to_numpy(), [str(column) for column in X.columns]
        elif used == "X":
            names = [str(column) for column in adata.var_names]
        X = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    rows = _of_frame(name, adata.obs)
    keys = np.empty(len(adata.obs), dtype=object)
    keys[:] = adata.obs_names.tolist()
    edges = [
        (str(kind), _of_adjacency(keys, adata.obsp[kind]))
        for kind in adata.obsp
        if str(kind).endswith("connectivities")
    ]
    table = rows.table if rows.table is not None and rows.table.shape[1] else None
    used_edges = [group for group in edges if len(group[1])]
    return [Rows(name, table, keys, X, names, entity, used_edges, orders=rows.orders)]


def _of_adjacency(keys: Texts, K: Matrix) -> pd.DataFrame:
    """Return each pair of a neighbour matrix once, with its weight."""
    matrix = sp.csr_array(K)
    pairs = sp.triu(abs(matrix).maximum(abs(matrix).T), 1).tocoo()
    used = (pairs.data != 0) & np.isfinite(pairs.data)
    weight = pairs.data[used].astype(np.float64)
    column = "weight" if not len(weight) or weight.max() <= 1 else "score"
    row, col = pairs.coords
    ends = {"source": keys[row[used]], "target": keys[col[used]]}
    return pd.DataFrame({**ends, column: weight})


def is_graph(frame: object) -> bool:
    """Whether an object is a networkx graph or similar."""
    return all(callable(getattr(frame, name, None)) for name in ("is_directed", "number_of_edges"))


def _of_graph(name: str, graph: nx.Graph) -> Rows:
    nodes = list(graph.nodes)
    keys = np.empty(len(nodes), dtype=object)
    keys[:] = nodes
    facts = pd.DataFrame.from_records([dict(graph.nodes[node]) for node in nodes])
    table = _of_frame(name, facts).table if facts.shape[1] else None
    return Rows(name, table, keys, edges=edges_of_graph(graph))


def edges_of_graph(graph: nx.Graph) -> list[tuple[str, pd.DataFrame]]:
    """Return the edges of a networkx graph by kind, without self-loops."""
    edges_by_kind: dict[str, list[tuple[object, object, float]]] = {}
    for a, b, facts in graph.edges(data=True):
        if a != b:
            kind = str(facts.get("kind", "edge"))
            edges_by_kind.setdefault(kind, []).append((a, b, float(facts.get("weight", 1.0))))
    out = []
    for kind, rows in edges_by_kind.items():
        weight = np.array([row[2] for row in rows])
        within = bool((np.abs(weight) <= 1).all() and (weight != 0).all())
        frame = pd.DataFrame({"source": _objects(rows, 0), "target": _objects(rows, 1)})
        out.append((kind, frame.assign(**{"weight" if within else "score": weight})))
    return out


def _objects(rows: Sequence[tuple[object, ...]], place: int) -> Array:
    out = np.empty(len(rows), dtype=object)
    for at, row in enumerate(rows):
        out[at] = row[place]
    return out


def _data_error(
    code: str, where: str, message: str, remedy: str = "", value: str = ""
) -> DataError:
    return DataError.of(code, where, message, value[:80], remedy)

"""Whatever holds rows, as a table with keys and, where it has one, a matrix.

Other libraries are told by what their objects have, so none of them is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Array, Matrix, Texts, is_sparse
from hetviz.data import Dataset
from hetviz.errors import DataError, Problem

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa
    from anndata import AnnData

_KINDS = (
    "a DataFrame (pandas, polars, Arrow), AnnData, MuData, a networkx graph, a dictionary of "
    "columns, a list of records or of ids, or a matrix"
)
_INSTEAD = "X_pca"


@dataclass(eq=False)
class Rows:
    """What was found of one dataset.

    Attributes
    ----------
    name : str
    table : DataFrame of n rows or None
        Columns, without the ids.
    keys : array of n objects or None
        What the rows are called where they come from; None for rows without names.
    X : matrix of n rows or None
    feature_names : sequence of str or None
    entity : str or None
        Modalities of one MuData are views of one entity.
    edges : list of (kind, DataFrame)
        Links among the rows: columns source and target (keys), and weight or score.
    dataset : Dataset or None
        Where the rows are a dataset of hetviz already.
    """

    name: str
    table: pd.DataFrame | None = None
    keys: Texts | None = None
    X: Matrix | None = None
    feature_names: Sequence[str] | None = None
    entity: str | None = None
    edges: list[tuple[str, pd.DataFrame]] = field(default_factory=list)
    dataset: Dataset | None = None

    def __len__(self) -> int:
        if self.keys is not None:
            return len(self.keys)
        if self.table is not None:
            return len(self.table)
        return 0 if self.X is None else int(self.X.shape[0])


def rows_of_all(frames: object, features: Mapping[str, str]) -> list[Rows]:
    """Return the rows of each dataset of what `HeteroData.from_frames` was given.

    Raises
    ------
    hetviz.errors.DataError
        If it is none of what can be read; the message names what to give.
    """
    if isinstance(frames, Mapping):
        if not frames:
            raise _refused("no-datasets", "frames", "there is no dataset", "Give at least one.")
        wrong = [name for name in frames if not isinstance(name, str)]
        if wrong:
            message = "the names of datasets are text"
            raise _refused("bad-name", "frames", message, _CALL, repr(wrong[0]))
        return [rows for name, frame in frames.items() for rows in rows_of(name, frame, features)]
    if _is_mudata(frames) or _is_anndata(frames) or is_graph(frames):
        return rows_of("nodes" if is_graph(frames) else "cells", frames, features)
    if isinstance(frames, Dataset):
        return [Rows(frames.name, dataset=frames)]
    message = "datasets are given by name, as a dictionary"
    raise _refused("no-names", "frames", message, _CALL, type(frames).__name__)


_CALL = "Call HeteroData.from_frames({'dishes': dishes, 'wines': wines}, links=pairs)."


def rows_of(name: str, frame: Any, features: Mapping[str, str]) -> list[Rows]:
    """Return the rows of one entry: several datasets of a MuData, one of anything else."""
    where = f"dataset {name!r}"
    if isinstance(frame, Dataset):
        return [Rows(name, dataset=frame)]
    if isinstance(frame, str | PurePath):
        message = "this is text, not a table"
        raise _refused(
            "not-a-frame", where, message, "Read files with hetviz.load(path).", str(frame)
        )
    if _is_mudata(frame):
        return [
            part
            for modality, one in frame.mod.items()
            for part in _of_anndata(str(modality), one, features.get(str(modality)), name)
        ]
    if _is_anndata(frame):
        return _of_anndata(name, frame, features.get(name), None)
    if is_graph(frame):
        return [_of_graph(name, frame)]
    if hasattr(frame, "collect") and not isinstance(frame, pd.DataFrame):
        message = "this table has not been computed yet"
        raise _refused("lazy", where, message, "Give frame.collect().", type(frame).__name__)
    table = None if is_sparse(frame) else as_frame(where, frame)
    if table is not None:
        return [_of_frame(name, table)]
    if isinstance(frame, set | frozenset):
        frame = sorted(frame, key=str)
    if isinstance(frame, Sequence) and not isinstance(frame, bytes):
        return [_of_list(name, where, frame)]
    return [_of_matrix(name, where, frame)]


def as_frame(where: str, frame: object) -> pd.DataFrame | None:
    """Return a table of any library, or a dictionary of columns, as pandas; None for the rest."""
    if isinstance(frame, pd.DataFrame):
        return frame
    if isinstance(frame, pd.Series):
        return frame.to_frame(frame.name if frame.name is not None else "value")
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__dataframe__"):
        return _of_arrow(frame)
    if isinstance(frame, Mapping):
        if not all(np.ndim(values) or hasattr(values, "__len__") for values in frame.values()):
            message = "a dictionary of columns is needed, each a list with a value for each row"
            raise _refused("not-columns", where, message, "Give {'column': [values]}.")
        lengths = {str(column): len(values) for column, values in frame.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{column} {n:,}" for column, n in [*lengths.items()][:5])
            message = "the columns have different numbers of rows"
            raise _refused("row-count", where, message, "Give each a value for each row.", said)
        return pd.DataFrame({column: _column(values) for column, values in frame.items()})
    return None


def refuse_unknown(where: str, name: object, there: Sequence[str], message: str) -> DataError:
    """Return the refusal of a name, with what there is."""
    found = f"There are: {', '.join(map(str, there))}." if there else "There are none."
    return _refused("unknown-name", where, message, found, str(name))


def _of_arrow(frame: object) -> pd.DataFrame:
    import pyarrow as pa

    table = pa.table(frame) if hasattr(frame, "__arrow_c_stream__") else None
    if table is None:
        from pyarrow.interchange import from_dataframe

        table = from_dataframe(frame)
    return pd.DataFrame({name: _of_chunks(table.column(name)) for name in table.column_names})


def _of_chunks(column: pa.ChunkedArray) -> pd.Series:
    import pyarrow as pa

    # pyarrow does not turn each kind of nested text into pandas
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
    return Rows(name, pd.DataFrame({c: _column(plain[c]) for c in plain.columns}), keys)


def _words(column: object) -> str:
    parts = column if isinstance(column, tuple) else (column,)
    return " / ".join(str(part) for part in parts)


def _column(values: object) -> object:
    """Return a column whose cells that list several things list them as text."""
    series = values if isinstance(values, pd.Series) else pd.Series(_detached(values))
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(object if series.dtype.categories.dtype == object else "str")
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
            raise _refused("not-a-frame", where, f"{_KINDS} is needed", str(error)) from error
        if values.dtype == object:
            values = _numbers(values)
        if values.dtype == object:
            kind = type(frame).__name__
            raise _refused("not-a-frame", where, f"{_KINDS} is needed", _CALL, kind)
    if values.ndim != 2:
        message = f"a matrix has rows and columns; this has {values.ndim} dimension(s)"
        remedy = "Give x.reshape(-1, 1) for one column, x.reshape(len(x), -1) for pictures."
        raise _refused("bad-shape", where, message, remedy, str(values.shape))
    return Rows(name, None, None, sp.csr_array(values) if is_sparse(values) else values)


def _numbers(values: Array) -> Array:
    """Return numbers that lie in a matrix of objects as such; other objects as they are."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def _detached(values: object) -> object:
    """Return a tensor that a gradient hangs on, or that lies on a device, as a plain array."""
    for step in ("detach", "cpu"):
        act: Callable[[], Any] | None = getattr(values, step, None)
        if callable(act):
            values = act()
    return np.asarray(values) if hasattr(values, "__array__") else values


def _is_mudata(frame: object) -> bool:
    return isinstance(getattr(frame, "mod", None), Mapping)


def _is_anndata(frame: object) -> bool:
    return all(hasattr(frame, name) for name in ("obs", "var", "obs_names", "X"))


def _of_anndata(name: str, found: AnnData, part: str | None, entity: str | None) -> list[Rows]:
    there = ["X"] if found.X is not None else []
    there += list(found.obsm.keys())
    usual = next((word for word in ("X", _INSTEAD) if word in there), None)
    used = part or usual or (there[0] if there else None)
    if used is not None and used not in there:
        where = f"dataset {name!r}"
        raise refuse_unknown(where, used, there, "it has no such features")
    X: Any = None
    names: Sequence[str] | None = None
    if used is not None:
        X = found.X if used == "X" else found.obsm[used]
        if isinstance(X, pd.DataFrame):
            X, names = X.to_numpy(), [str(column) for column in X.columns]
        elif used == "X":
            names = [str(column) for column in found.var_names]
        X = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    rows = _of_frame(name, found.obs)
    keys = np.empty(len(found.obs), dtype=object)
    keys[:] = found.obs_names.tolist()
    edges = [
        (str(kind), _of_adjacency(keys, found.obsp[kind]))
        for kind in found.obsp
        if str(kind).endswith("connectivities")
    ]
    table = rows.table if rows.table is not None and rows.table.shape[1] else None
    return [Rows(name, table, keys, X, names, entity, [one for one in edges if len(one[1])])]


def _of_adjacency(keys: Texts, K: Matrix) -> pd.DataFrame:
    """Return the pairs that a matrix of neighbours lists, each once, with their weights."""
    matrix = sp.csr_array(K)
    pairs = sp.triu(abs(matrix).maximum(abs(matrix).T), 1).tocoo()
    used = (pairs.data != 0) & np.isfinite(pairs.data)
    weight = pairs.data[used].astype(np.float64)
    column = "weight" if not len(weight) or weight.max() <= 1 else "score"
    row, col = pairs.coords
    ends = {"source": keys[row[used]], "target": keys[col[used]]}
    return pd.DataFrame({**ends, column: weight})


def is_graph(frame: object) -> bool:
    """Whether something is a graph of networkx, or like one."""
    return all(callable(getattr(frame, name, None)) for name in ("is_directed", "number_of_edges"))


def _of_graph(name: str, graph: nx.Graph) -> Rows:
    nodes = list(graph.nodes)
    keys = np.empty(len(nodes), dtype=object)
    keys[:] = nodes
    facts = pd.DataFrame.from_records([dict(graph.nodes[node]) for node in nodes])
    table = _of_frame(name, facts).table if facts.shape[1] else None
    return Rows(name, table, keys, edges=edges_of_graph(graph))


def edges_of_graph(graph: nx.Graph) -> list[tuple[str, pd.DataFrame]]:
    """Return the edges of a networkx graph by kind; a loop says nothing of two items."""
    found: dict[str, list[tuple[object, object, float]]] = {}
    for a, b, facts in graph.edges(data=True):
        if a != b:
            kind = str(facts.get("kind", "edge"))
            found.setdefault(kind, []).append((a, b, float(facts.get("weight", 1.0))))
    out = []
    for kind, rows in found.items():
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


def _refused(code: str, where: str, message: str, remedy: str = "", value: str = "") -> DataError:
    return DataError(Problem(code, where, message, value[:80], remedy))

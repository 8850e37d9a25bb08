"""Coordinates, groups, neighbours and the selection as tables with the original ids."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._types import Floats, Ints, Texts
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.checks import check_global_rows
from hetviz.errors import ParameterError
from hetviz.io.bundle.coordinates import escape_formula
from hetviz.io.infer import cells
from hetviz.metrics.fit.rows import coordinates_of

TABLE_FORMATS = ("csv", "parquet")
_DEFAULT_NEIGHBORS = 10
_MAX_NEIGHBORS = 200


def coordinates_table(
    data: HeteroData, embedding: Embedding, codes: Mapping[str, ArrayLike] | None = None
) -> pd.DataFrame:
    """Return the coordinates of each row."""
    places = coordinates_of(data, embedding)
    parts = []
    for name, part in data.datasets.items():
        table = pd.DataFrame(places[name], columns=embedding.axis_names)
        table.insert(0, "title", list(map(str, part.titles)))
        table.insert(0, "id", list(map(str, part.ids)))
        table.insert(0, "dataset", name)
        parts.append(table)
    joined_table = pd.concat(parts, ignore_index=True)
    for name, values in (codes or {}).items():
        joined_table[name] = np.asarray(values)
    return joined_table


def selection_table(
    data: HeteroData,
    embedding: Embedding,
    rows: ArrayLike,
    codes: Mapping[str, ArrayLike] | None = None,
) -> pd.DataFrame:
    """Return `coordinates_table` of the given global rows, in order."""
    chosen = check_global_rows(rows, data.n_rows)
    return coordinates_table(data, embedding, codes).iloc[chosen].reset_index(drop=True)


def neighbors_table(
    data: HeteroData, embedding: Embedding, k: int = _DEFAULT_NEIGHBORS
) -> pd.DataFrame:
    """Return the nearest rows of each row on the map, by dataset."""
    if not 1 <= k <= _MAX_NEIGHBORS:
        raise ParameterError(f"k = {k} must be from 1 to {_MAX_NEIGHBORS}.")
    places = coordinates_of(data, embedding)
    parts = []
    for name in data.datasets:
        for other in data.datasets:
            nearest = _nearest(places[name], places[other], k, same=name == other)
            if nearest is not None:
                rows, neighbors, distances = nearest
                of, to = data[name], data[other]
                start = np.repeat(rows, neighbors.shape[1])
                parts.append(
                    pd.DataFrame(
                        {
                            "dataset": name,
                            "id": of.ids[start].astype(str),
                            "title": of.titles[start].astype(str),
                            "neighbor_dataset": other,
                            "neighbor_id": to.ids[neighbors.ravel()].astype(str),
                            "neighbor_title": to.titles[neighbors.ravel()].astype(str),
                            "rank": np.tile(np.arange(1, neighbors.shape[1] + 1), len(rows)),
                            "distance": distances.ravel(),
                        }
                    )
                )
    columns = ["dataset", "id", "title", "neighbor_dataset", "neighbor_id", "neighbor_title"]
    columns += ["rank", "distance"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _nearest(X: Floats, Y: Floats, k: int, same: bool) -> tuple[Ints, Ints, Floats] | None:
    from sklearn.neighbors import NearestNeighbors

    rows = np.flatnonzero(np.isfinite(X).all(axis=1))
    candidates = np.flatnonzero(np.isfinite(Y).all(axis=1))
    n_neighbors = min(k, len(candidates) - same)
    if not len(rows) or n_neighbors < 1:
        return None
    finder = NearestNeighbors(n_neighbors=n_neighbors).fit(Y[candidates])
    # Without a query, a point is never its own neighbour, even with ties.
    distances, neighbors = finder.kneighbors() if same else finder.kneighbors(X[rows])
    return rows, candidates[neighbors], distances


def atlas_table(
    data: HeteroData, embedding: Embedding, k: int = _DEFAULT_NEIGHBORS
) -> pd.DataFrame:
    """Return a table for Embedding Atlas."""
    # ``embedding-atlas FILE --x x --y y --text text --neighbors neighbors``
    form = embedding.planar()
    atlas = coordinates_table(data, form)
    atlas["text"] = np.concatenate([_item_texts(part) for part in data.datasets.values()])
    table_columns = _table_columns(data)
    atlas = pd.concat([atlas.drop(columns="title"), table_columns], axis=1)
    atlas = atlas[np.isfinite(atlas[["x", "y"]].to_numpy()).all(axis=1)].reset_index(drop=True)
    XY = atlas[["x", "y"]].to_numpy()
    if (nearest := _nearest(XY, XY, k, same=True)) is not None:
        pairs = zip(nearest[1].tolist(), nearest[2].tolist(), strict=True)
        atlas["neighbors"] = [{"ids": ids, "distances": far} for ids, far in pairs]
    first = ["id", "dataset", "text", "x", "y"]
    other_columns = [name for name in atlas.columns if name not in first]
    return pd.DataFrame({name: atlas[name] for name in [*first, *other_columns]})


def _item_texts(part: Dataset) -> Texts:
    out = np.empty(len(part), dtype=object)
    table = pd.DataFrame() if part.table is None else part.table
    named = (part.recipe or {}).get("text", ())
    columns = [name for name in named if name in table.columns and name != part.title_column]
    for row, title in enumerate(part.titles):
        words = [str(table[name].iloc[row]) for name in columns]
        out[row] = ". ".join([str(title), *(word for word in words if word.strip())])
    return out


def _table_columns(data: HeteroData) -> pd.DataFrame:
    many = len(data.datasets) > 1
    columns: dict[str, Texts] = {}
    for name, part in data.datasets.items():
        if part.table is None:
            continue
        for column in part.table.columns:
            title = f"{name}: {column}" if many else f"own: {column}"
            values = np.full(data.n_rows, None, dtype=object)
            cell_values = part.table[column]
            values[data.offsets[name]] = [
                None if missing else str(value)
                for value, missing in zip(
                    cell_values.tolist(), cell_values.isna().tolist(), strict=True
                )
            ]
            columns[title] = values
    return pd.DataFrame(columns, index=range(data.n_rows))


def table_bytes(table: pd.DataFrame, form: str = "csv", *, exact: bool = False) -> bytes:
    """Return a table as a file."""
    if form == "parquet":
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        return buffer.getvalue()
    if form != "csv":
        raise ParameterError(f"form = {form!r} must be one of {', '.join(TABLE_FORMATS)}.")

    def cell(value: object) -> str:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return ""
        if isinstance(value, float):
            return repr(float(value))
        if isinstance(value, (int, np.integer)):
            return str(value)
        text = json.dumps(value) if isinstance(value, (dict, list)) else str(value)
        return text if exact else escape_formula(text)

    columns = [list(map(cell, table[name].tolist())) for name in table.columns]
    head = [str(name) if exact else escape_formula(str(name)) for name in table.columns]
    return cells.csv_text(head, zip(*columns, strict=True)).encode()

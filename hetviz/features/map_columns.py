"""Maps from columns of tables: coordinates that were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.core.geography import Projection, choose_projection
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.diagnostics import Diagnostic, make_diagnostic
from hetviz.errors import DataError
from hetviz.features.columns.geographic import find_places, latlong_pairs
from hetviz.features.columns.names import words_of
from hetviz.features.columns.types import Column, infer
from hetviz.memo import cached_while_alive

_PROJECTION = "projection"
_POLE = 90.0
_PAIRS = (("x", "y"), ("1", "2"), ("0", "1"))
_NUMBERED = frozenset(
    ("axis", "component", "dim", "ica", "lda", "mds", "pacmap", "pc", "pca", "sne", "tsne", "umap")
)


def map_from_columns(
    data: HeteroData,
    x: str | None = None,
    y: str | None = None,
    *,
    on_earth: bool = False,
) -> Embedding:
    """Return the map that two columns of the tables are, such as one made by another tool.

    Parameters
    ----------
    data : HeteroData
    x, y : str, optional
        Names of the columns of coordinates. Default: columns such as ``x`` and ``y``, ``umap_1``
        and ``umap_2``, or longitude and latitude.
    on_earth : bool
        Project longitude and latitude in degrees to a plane, in kilometres: with Mercator, true
        to scale at the middle parallel, or Equal Earth if they span more than 120 degrees or
        reach the poles. Data on both sides of the date line stay together. Figures of the map show
        the land (`hetviz.export`). Default columns are then only those that are surely coordinates,
        by their names and values.

    Returns
    -------
    Embedding
        Items of all datasets with both columns; the others have no place, as have items with an
        empty cell.

    Raises
    ------
    hetviz.errors.DataError
        If no dataset has both columns as numbers.

    Examples
    --------
    >>> import hetviz, pandas as pd
    >>> towns = pd.DataFrame({"town": ["Graz", "Linz", "Wien"], "x": [1, 2, 3], "y": [0, 4, 1]})
    >>> data = hetviz.HeteroData.from_frames({"towns": towns})
    >>> hetviz.map_from_columns(data)["towns"].tolist()
    [[1.0, 0.0], [2.0, 4.0], [3.0, 1.0]]

    >>> towns["lon"], towns["lat"] = [15.4395, 14.2858, 16.3738], [47.0707, 48.3069, 48.2082]
    >>> data = hetviz.HeteroData.from_frames({"towns": towns})
    >>> hetviz.map_from_columns(data, on_earth=True)["towns"].round().tolist()
    [[8.0, 4003.0], [-78.0, 4141.0], [78.0, 4130.0]]
    """
    if on_earth:
        return _map_on_earth(data, x, y)
    if x is None or y is None:
        x, y = next(coordinate_columns(data), ("x", "y"))
    coordinates: dict[str, Floats] = {}
    for name, dataset in data.datasets.items():
        Y = np.full((len(dataset), 2), np.nan)
        for axis, column in enumerate((x, y)):
            table = dataset.table
            if table is not None and column in table.columns:
                values = infer(column, table[column])
                Y[:, axis] = values.values if values.kind == "number" else np.nan
        Y[~np.isfinite(Y).all(axis=1)] = np.nan
        coordinates[name] = Y
    if not any(np.isfinite(Y).any() for Y in coordinates.values()):
        raise DataError.of(
            "no-coordinates",
            "map",
            "no dataset has both columns as numbers",
            f"{x}, {y}",
            "Name two columns of numbers of a table.",
        )
    return _embedding(data, coordinates, f"{x} and {y}")


def _map_on_earth(data: HeteroData, x: str | None, y: str | None) -> Embedding:
    if x is not None and y is not None:
        degrees = dict(map_from_columns(data, x, y).coordinates)
    else:
        degrees = {}
        for name, dataset in data.datasets.items():
            places = find_places(number_columns(dataset))
            degrees[name] = np.full((len(dataset), 2), np.nan) if places is None else places
    together = np.concatenate([np.empty((0, 2)), *degrees.values()])
    placed = together[~np.isnan(together[:, 0])]
    if not len(placed) or np.abs(placed[:, 1]).max() > _POLE:
        raise DataError.of(
            "no-coordinates",
            "map",
            "no dataset has longitude and latitude in degrees",
            ", ".join(filter(None, (x, y))),
            "Name the columns of longitude and latitude, in this order.",
        )
    projection = choose_projection(placed)
    values = {"meridian": projection.meridian, "parallel": projection.parallel}
    says = "Middle meridian, and the parallel that is true to scale (Mercator; else Equal Earth)."
    return _embedding(
        data,
        {name: projection.project(places) for name, places in degrees.items()},
        "Longitude and latitude, projected to a plane in km",
        {_PROJECTION: make_diagnostic(_PROJECTION, "Projection", says, values, "degrees")},
    )


def projection_of(embedding: Embedding) -> Projection | None:
    """Return the projection of a map of the earth, or None for other maps."""
    if _PROJECTION not in embedding.diagnostics:
        return None
    values = embedding.diagnostics[_PROJECTION].values
    return Projection(values["meridian"], values.get("parallel"))


def is_on_earth(data: HeteroData, x: str, y: str) -> bool:
    """Return whether two columns are surely longitude and latitude."""
    tables = [number_columns(dataset) for dataset in data.datasets.values()]
    return any(
        (y, x) in latlong_pairs(columns) and find_places(columns) is not None for columns in tables
    )


def _embedding(
    data: HeteroData,
    coordinates: Mapping[str, Floats],
    note: str,
    diagnostics: Mapping[str, Diagnostic] | None = None,
) -> Embedding:
    return Embedding(
        coordinates,
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
        note=note,
        diagnostics=diagnostics,
    )


def coordinate_columns(data: HeteroData) -> Iterator[tuple[str, str]]:
    """Yield pairs of columns of numbers that are named like coordinates."""
    for dataset in data.datasets.values():
        columns = number_columns(dataset)
        by_words = {tuple(words_of(column.name)): column.name for column in reversed(columns)}
        for words, column in reversed(by_words.items()):
            for first, second in _PAIRS:
                partner = by_words.get((*words[:-1], second))
                is_named = first == "x" or _NUMBERED & set(words)
                if words[-1:] == (first,) and is_named and partner is not None:
                    yield column, partner
        yield from ((x, y) for y, x in latlong_pairs(columns))


@cached_while_alive
def number_columns(dataset: Dataset) -> list[Column]:
    """Return the columns of numbers of a dataset."""
    table = pd.DataFrame() if dataset.table is None else dataset.table
    columns = (infer(str(column), table[column]) for column in table.columns)
    return [column for column in columns if column.kind == "number"]

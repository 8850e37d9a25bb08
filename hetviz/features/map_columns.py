"""Maps from columns of tables: coordinates that were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError
from hetviz.features.columns.geographic import latlong_pairs
from hetviz.features.columns.names import words_of
from hetviz.features.columns.types import Column, infer
from hetviz.memo import cached_while_alive

_PAIRS = (("x", "y"), ("1", "2"), ("0", "1"))
_NUMBERED = frozenset(
    ("axis", "component", "dim", "ica", "lda", "mds", "pacmap", "pc", "pca", "sne", "tsne", "umap")
)


def map_from_columns(data: HeteroData, x: str | None = None, y: str | None = None) -> Embedding:
    """Return the map that two columns of the tables are, such as one made by another tool.

    Parameters
    ----------
    data : HeteroData
    x, y : str, optional
        Names of the columns of coordinates. Default: columns such as ``x`` and ``y``, ``umap_1``
        and ``umap_2``, or longitude and latitude.

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
    """
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
    return Embedding(
        coordinates,
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
        note=f"{x} and {y}",
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

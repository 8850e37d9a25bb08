"""Places in a table: latitude and longitude, in two columns or written in one."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.data.joins.column_cache import kept
from hetviz.data.joins.keys import cells_of, column_keys
from hetviz.data.model.dataset import Dataset
from hetviz.errors import DataError, ParameterError, Problem

_LATITUDE = frozenset({"lat", "latitude", "breite", "breitengrad"})
_LONGITUDE = frozenset({"lon", "lng", "long", "longitude", "länge", "laenge", "längengrad"})
_STRAY = 0.1
_NUMBER = r"([+-]?\d{1,3}(?:[.,](\d+))?)"
_PLACE = re.compile(rf"\(?\s*{_NUMBER}(?:\s*[,;]\s*|\s+){_NUMBER}\s*\)?")


def place_columns(dataset: Dataset) -> tuple[str, ...] | None:
    """Return the columns of latitude and longitude, or the one column of both, or None.

    Two are told by their names. One is told by its cells, as in "59.91, 10.75": nine of ten
    different ones must be two numbers, and half of them have two decimals in both unless the column
    is called latitude and longitude.

    Notes
    -----
    O(rows), once a dataset.
    """
    return kept(dataset, "place columns", lambda: _place_columns(dataset), lambda _: 0)


def _place_columns(dataset: Dataset) -> tuple[str, ...] | None:
    table = dataset.table
    if table is None:
        return None
    names = list(map(str, table.columns))
    found = [
        next((column for column in names if _words(column) & words), None)
        for words in (_LATITUDE, _LONGITUDE)
    ]
    lat, lon = found
    if lat is not None and lon is not None and lat != lon:
        return lat, lon
    texts = table.select_dtypes(exclude=["number", "bool", "datetime", "timedelta"]).columns
    return next(((column,) for column in map(str, texts) if _are_places(dataset, column)), None)


def _are_places(dataset: Dataset, column: str) -> bool:
    cells = column_keys(dataset, column).different.tolist()
    named = _words(column) & _LATITUDE and _words(column) & _LONGITUDE
    wrong = precise = 0
    for cell in cells:
        place = _PLACE.fullmatch(cell)
        if place is None:
            wrong += 1
            if wrong > _STRAY * len(cells):
                return False
        else:
            precise += min(len(place[2] or ""), len(place[4] or "")) > 1
    return bool(cells and (named or 2 * precise >= len(cells)))


def places_of(dataset: Dataset, columns: tuple[str, ...] | None = None) -> tuple[Floats, int]:
    """Return latitude and longitude in degrees, shape (n, 2), NaN where there are none.

    The second value counts the rows whose numbers lie nowhere on the globe.

    Raises
    ------
    hetviz.errors.DataError
        If there are no such columns.
    hetviz.errors.ParameterError
        Unless `columns` are one or two.
    """
    columns = columns or place_columns(dataset)
    where = f"dataset {dataset.name!r}"
    if columns is None:
        what = "no columns are called latitude and longitude, and none holds both"
        raise DataError(Problem("no-places", where, what, remedy="Name the two columns."))
    if len(columns) not in (1, 2):
        raise ParameterError(
            f"columns = {columns!r}; name two, (latitude, longitude), or one that holds both."
        )
    if len(columns) == 1:
        P = _pairs(dataset, columns[0])
    else:
        P = np.column_stack([_numbers(dataset, column) for column in columns])
    P[~np.isfinite(P).all(axis=1)] = np.nan
    wrong = (np.abs(P[:, 0]) > 90) | (np.abs(P[:, 1]) > 360)
    P[wrong] = np.nan
    return P, int(wrong.sum())


def _pairs(dataset: Dataset, column: str) -> Floats:
    """Return the places that cells like "59.91, 10.75" name, NaN where they name none."""
    keys = column_keys(dataset, column)
    # Where there is no text, -1 takes the last.
    P = np.full((len(keys.different) + 1, 2), np.nan)
    for row, cell in enumerate(keys.different.tolist()):
        place = _PLACE.fullmatch(cell)
        if place is not None:
            P[row] = [float(place[at].replace(",", ".")) for at in (1, 3)]
    P = P[keys.at]
    order = [word for word in _split(column) if word in _LATITUDE | _LONGITUDE]
    return P[:, ::-1].copy() if order and order[0] in _LONGITUDE else P


def _split(column: str) -> list[str]:
    return re.split(r"[^a-zäöü]+", column.casefold())


def _words(column: str) -> set[str]:
    return set(_split(column))


def _numbers(dataset: Dataset, column: str) -> Floats:
    """Return a column as numbers, with a decimal point or comma, NaN where there is none."""
    table = dataset.table
    if table is not None and column in table and pd.api.types.is_numeric_dtype(table[column].dtype):
        return table[column].to_numpy(np.float64, na_value=np.nan)
    cells = [cell.replace(",", ".") for cell in cells_of(dataset, column)]
    return pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(np.float64)

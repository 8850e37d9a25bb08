"""Geographic places: their columns, and links by distance."""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints, Texts
from hetviz.core.threads import one_thread
from hetviz.data.joins.keys import cell_texts, column_keys
from hetviz.data.joins.matching import (
    MAX_PAIRS,
    Match,
    check_two_datasets,
    make_match,
    raise_too_many_pairs,
)
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError, ParameterError
from hetviz.memo import cached_while_alive

_LATITUDE = frozenset({"lat", "latitude", "breite", "breitengrad"})
_LONGITUDE = frozenset({"lon", "lng", "long", "longitude", "länge", "laenge", "längengrad"})
_MAX_WRONG_SHARE = 0.1
_NUMBER = r"([+-]?\d{1,3}(?:[.,](\d+))?)"
_PLACE = re.compile(rf"\(?\s*{_NUMBER}(?:\s*[,;]\s*|\s+){_NUMBER}\s*\)?")

EARTH_KM = 6371.0088
DEFAULT_NEAREST = 3
_MIN_WEIGHT = 0.01


@cached_while_alive
def place_columns(dataset: Dataset) -> tuple[str, ...] | None:
    """Return the columns of latitude and longitude, or the one column of both, or None.

    Two columns are recognised by their names. One column is recognised by cells like
    "59.91, 10.75": nine of ten distinct cells must have two numbers. Half of them must have two
    decimals in both, unless the column is named after latitude and longitude.
    """
    table = dataset.table
    if table is None:
        return None
    names = list(map(str, table.columns))
    columns = [
        next((column for column in names if _word_set(column) & words), None)
        for words in (_LATITUDE, _LONGITUDE)
    ]
    lat, lon = columns
    if lat is not None and lon is not None and lat != lon:
        return lat, lon
    texts = table.select_dtypes(exclude=["number", "bool", "datetime", "timedelta"]).columns
    return next(
        ((column,) for column in map(str, texts) if _is_place_column(dataset, column)), None
    )


def _is_place_column(dataset: Dataset, column: str) -> bool:
    cells = column_keys(dataset, column).distinct.tolist()
    named = _word_set(column) & _LATITUDE and _word_set(column) & _LONGITUDE
    wrong = precise = 0
    for cell in cells:
        place = _PLACE.fullmatch(cell)
        if place is None:
            wrong += 1
            if wrong > _MAX_WRONG_SHARE * len(cells):
                return False
        else:
            precise += min(len(place[2] or ""), len(place[4] or "")) > 1
    return bool(cells and (named or 2 * precise >= len(cells)))


def places_of(dataset: Dataset, columns: tuple[str, ...] | None = None) -> tuple[Floats, int]:
    """Return latitude and longitude in degrees, shape (n, 2), and the number of invalid rows."""
    columns = columns or place_columns(dataset)
    where = f"dataset {dataset.name!r}"
    if columns is None:
        message = "there are no columns of latitude and longitude"
        raise DataError.of("no-places", where, message, remedy="Name the two columns.")
    if len(columns) not in (1, 2):
        raise ParameterError(
            f"columns = {columns!r}. Give (latitude, longitude), or one column with both."
        )
    if len(columns) == 1:
        P = _places_in_column(dataset, columns[0])
    else:
        P = np.column_stack([_numbers(dataset, column) for column in columns])
    P[~np.isfinite(P).all(axis=1)] = np.nan
    wrong = (np.abs(P[:, 0]) > 90) | (np.abs(P[:, 1]) > 360)
    P[wrong] = np.nan
    return P, int(wrong.sum())


def _places_in_column(dataset: Dataset, column: str) -> Floats:
    """Return the places of cells like "59.91, 10.75", NaN for other cells."""
    keys = column_keys(dataset, column)
    # Code -1 (no text) selects the appended last entry.
    P = np.full((len(keys.distinct) + 1, 2), np.nan)
    for row, cell in enumerate(keys.distinct.tolist()):
        if (place := _PLACE.fullmatch(cell)) is not None:
            P[row] = [float(place[at].replace(",", ".")) for at in (1, 3)]
    P = P[keys.at]
    order = [word for word in _split_words(column) if word in _LATITUDE | _LONGITUDE]
    return P[:, ::-1].copy() if order and order[0] in _LONGITUDE else P


def _split_words(column: str) -> list[str]:
    return re.split(r"[^a-zäöü]+", column.casefold())


def _word_set(column: str) -> set[str]:
    return set(_split_words(column))


def _numbers(dataset: Dataset, column: str) -> Floats:
    """Return a column as numbers, with a decimal point or comma; NaN if there is none."""
    table = dataset.table
    if table is not None and column in table and pd.api.types.is_numeric_dtype(table[column].dtype):
        return table[column].to_numpy(np.float64, na_value=np.nan)
    cells = [cell.replace(",", ".") for cell in cell_texts(dataset, column)]
    return pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(np.float64)


def match_by_nearness(
    data: HeteroData,
    source: str,
    target: str,
    *,
    k: int | None = None,
    km: float | None = None,
    source_columns: tuple[str, ...] | None = None,
    target_columns: tuple[str, ...] | None = None,
) -> Match:
    """Match items with the geographically nearest items of another dataset."""
    where = f"links {source} - {target} by nearness"
    k, km = _check_limits(k, km)
    check_two_datasets(source, target, where)
    S, wrong_s = places_of(data[source], source_columns)
    T, wrong_t = places_of(data[target], target_columns)
    for name, P in ((source, S), (target, T)):
        if np.isnan(P).all():
            message = "no row has a latitude and a longitude"
            raise DataError.of(
                "no-places", f"dataset {name!r}", message, remedy="Choose other columns."
            )
    i, j, d = _nearest_pairs(S, T, data[target].ids, k, km, where)
    half = km / 2 if km is not None else float(np.median(d)) if len(d) else 0.0
    weight = np.maximum(0.5 ** (d / half), _MIN_WEIGHT) if half > 0 else np.ones(len(d))
    messages = []
    if len(d) and half > 0:
        messages.append(
            f"A pair at the same place has weight 1. The weight halves every "
            f"{distance_text(half)}. The farthest pair is {distance_text(float(d.max()))} apart."
        )
    for name, wrong in ((source, wrong_s), (target, wrong_t)):
        if wrong:
            messages.append(
                f"{wrong:,} {name} have invalid coordinates. Latitude ranges from -90 to 90. Are "
                "latitude and longitude swapped?"
            )
    return make_match(
        data, source, target, i, j, weight=weight, kind="near", messages=tuple(messages)
    )


@one_thread()
def links_by_nearness(
    data: HeteroData,
    source: str,
    target: str,
    *,
    k: int | None = None,
    km: float | None = None,
    source_columns: tuple[str, ...] | None = None,
    target_columns: tuple[str, ...] | None = None,
    kind: str = "near",
) -> Links:
    """Link items with the geographically nearest items of another dataset.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Two different datasets.
    k : int, optional
        Link each item of `source` with its k nearest items; 3 if neither `k` nor `km` is given.
        Ties are broken by place and id.
    km : float, optional
        Largest distance of a pair in kilometres.
    source_columns, target_columns : (str, str) or (str,), optional
        Columns of latitude and longitude in degrees, or one column with both as in
        "59.91, 10.75". Default: see `hetviz.data.joins.places.place_columns`.
    kind : str

    Returns
    -------
    Links
        Weight 2^(-d / h) for a great-circle distance of d km, at least 0.01. h is half of `km`, or
        the median d of the pairs if `km` is not given. Role "relation".

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, no row has a place, or there are more than
        1,000,000 pairs, which are counted first.
    hetviz.errors.ParameterError
        If `k` is not a whole number of 1 or more, `km` is not above 0, or the columns are not one
        or two.

    Notes
    -----
    Haversine distances on a sphere of radius 6,371 km. A k-d tree of the points in space finds the
    same neighbours, because chords grow with great circles: O((n + m) log m + links).
    """
    match = match_by_nearness(
        data,
        source,
        target,
        k=k,
        km=km,
        source_columns=source_columns,
        target_columns=target_columns,
    )
    return match.links(kind)


def nearest_km(S: Floats, T: Floats) -> Floats:
    """Return the distance in km of each place in S, shape (n, 2), to the nearest in T."""
    # Imported late, so that processes that only read files start faster.
    from scipy.spatial import cKDTree

    _, at = cKDTree(on_sphere(T)).query(on_sphere(S))
    return km_between(S, T[at])


def km_between(S: Floats, T: Floats) -> Floats:
    """Return great-circle distances in km of places in degrees, last axis (lat, long)."""
    a, b = np.radians(S), np.radians(T)
    half = np.sin((a - b) / 2) ** 2
    h = half[..., 0] + np.cos(a[..., 0]) * np.cos(b[..., 0]) * half[..., 1]
    return np.asarray(2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(h, 1))))


def _check_limits(k: object, km: object) -> tuple[int | None, float | None]:
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise ParameterError(f"k = {k!r} must be a whole number of 1 or more.")
    if km is not None and not (isinstance(km, int | float) and np.isfinite(km) and km > 0):
        raise ParameterError(f"km = {km!r} must be a number above 0.")
    return (DEFAULT_NEAREST if k is None and km is None else k), km


def _nearest_pairs(
    S: Floats, T: Floats, ids: Texts, k: int | None, km: float | None, where: str
) -> tuple[Ints, Ints, Floats]:
    """Return the pairs, ordered by row of S, then of T, and their distances in km."""
    from scipy.spatial import cKDTree

    rows = np.flatnonzero(~np.isnan(S[:, 0]))
    # Sorted by place and id, so that ties do not depend on the order of the rows.
    placed = np.flatnonzero(~np.isnan(T[:, 0]))
    placed = placed[np.lexsort((ids[placed].astype(str), T[placed, 1], T[placed, 0]))]
    tree = cKDTree(on_sphere(T[placed]))
    Q = on_sphere(S[rows])
    # Slightly enlarged because of rounding; pairs beyond `km` are removed below.
    chord = 0.0 if km is None else 2 * np.sin(min(km / EARTH_KM, np.pi) / 2) * (1 + 1e-9) + 1e-12
    if k is not None:
        k = min(k, len(placed))
        pairs = len(rows) * k
    else:
        pairs = int(tree.query_ball_point(Q, chord, return_length=True).sum())
    if pairs > MAX_PAIRS:
        counted = f"{pairs:,} pairs of {len(S):,} and {len(T):,} rows are within this distance"
        raise_too_many_pairs(where, counted, "Choose fewer nearest items or fewer kilometres.")
    if k is not None:
        i, j = np.repeat(rows, k), placed[tree.query(Q, k=range(1, k + 1))[1].ravel()]
    else:
        neighbors: list[list[int]] = np.asarray(tree.query_ball_point(Q, chord)).tolist()
        i = np.repeat(rows, [len(row_neighbors) for row_neighbors in neighbors])
        j = placed[np.fromiter(chain.from_iterable(neighbors), np.int64, len(i))]
    d = km_between(S[i], T[j])
    order = np.lexsort((j, i))
    if km is not None:
        order = order[d[order] <= km]
    return i[order].astype(np.int64), j[order].astype(np.int64), d[order]


def on_sphere(P: Floats) -> Floats:
    """Return places as points of the unit sphere, whose chords grow with great circles."""
    lat, lon = np.radians(P).T
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def distance_text(distance: float) -> str:
    """Return kilometres as "12 km", "1.2 km" or "340 m"."""
    if distance < 1:
        return f"{1000 * distance:,.0f} m"
    return f"{distance:,.0f} km" if distance >= 10 else f"{distance:.2g} km"

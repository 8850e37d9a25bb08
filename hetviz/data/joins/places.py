"""Places on the globe: the columns that hold them, and links by nearness."""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints, Texts
from hetviz.core.threads import one_thread
from hetviz.data.joins.keys import cells_of, column_keys, kept
from hetviz.data.joins.matching import MOST_PAIRS, Match, paired, too_many_pairs, two_datasets
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError, ParameterError, Problem

_LATITUDE = frozenset({"lat", "latitude", "breite", "breitengrad"})
_LONGITUDE = frozenset({"lon", "lng", "long", "longitude", "länge", "laenge", "längengrad"})
_STRAY = 0.1
_NUMBER = r"([+-]?\d{1,3}(?:[.,](\d+))?)"
_PLACE = re.compile(rf"\(?\s*{_NUMBER}(?:\s*[,;]\s*|\s+){_NUMBER}\s*\)?")

EARTH_KM = 6371.0088
NEAREST = 3
_LEAST_WEIGHT = 0.01


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
    """Pair items with those of another dataset that lie nearest.

    Parameters
    ----------
    data, source, target, k, km, source_columns, target_columns
        As of `links_by_nearness`.

    Raises
    ------
    hetviz.errors.DataError, hetviz.errors.ParameterError
        As `links_by_nearness`.
    """
    where = f"links {source} - {target} by nearness"
    k, km = _checked(k, km)
    two_datasets(source, target, where)
    S, wrong_s = places_of(data[source], source_columns)
    T, wrong_t = places_of(data[target], target_columns)
    for name, P in ((source, S), (target, T)):
        if np.isnan(P).all():
            what = "no row has a latitude and a longitude"
            raise DataError(
                Problem("no-places", f"dataset {name!r}", what, remedy="Choose other columns.")
            )
    i, j, d = _nearest(S, T, data[target].ids, k, km, where)
    half = km / 2 if km is not None else float(np.median(d)) if len(d) else 0.0
    weight = np.maximum(0.5 ** (d / half), _LEAST_WEIGHT) if half > 0 else np.ones(len(d))
    told = []
    if len(d) and half > 0:
        told.append(
            f"A pair at one place weighs 1, a pair {_km(half)} apart 0.5, {_km(2 * half)} 0.25. "
            f"The farthest pair is {_km(float(d.max()))} apart."
        )
    for name, wrong in ((source, wrong_s), (target, wrong_t)):
        if wrong:
            told.append(
                f"{wrong:,} {name} lie nowhere on the globe (latitude goes from -90 to 90): are "
                "latitude and longitude exchanged?"
            )
    return paired(data, source, target, i, j, weight=weight, kind="near", told=tuple(told))


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
    """Link items with those of another dataset that lie nearest on the globe.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Two different datasets.
    k : int, optional
        Each item of `source` is linked with its k nearest; 3 where neither `k` nor `km` is given.
        Of several at the same distance those come first whose place and id do.
    km : float, optional
        Only pairs at most so many kilometres apart.
    source_columns, target_columns : (str, str) or (str,), optional
        Columns of latitude and longitude in degrees, or the one that holds both as in
        "59.91, 10.75"; found as `hetviz.data.joins.places.place_columns` does unless given.
    kind : str

    Returns
    -------
    Links
        Weight 2^(-d / h) for d km along the great circle, at least 0.01, where h is half of `km`,
        or the median d of the pairs where `km` is not given; role "relation".

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, no row has a place, or there would be more than
        1,000,000 pairs, which are counted before any is made.
    hetviz.errors.ParameterError
        Unless `k` is a whole number of 1 or more, `km` above 0 and the columns are one or two.

    Notes
    -----
    Haversine distances on a sphere of radius 6,371 km; a tree of the places as points in space
    finds the same nearest, as chords grow with great circles: O((n + m) log m + links).
    """
    found = match_by_nearness(
        data,
        source,
        target,
        k=k,
        km=km,
        source_columns=source_columns,
        target_columns=target_columns,
    )
    return found.links(kind)


def nearest_km(S: Floats, T: Floats) -> Floats:
    """Return the distance in km of each place in S, shape (n, 2), to the nearest in T."""
    # Loaded only where there are places: processes that read files start without it.
    from scipy.spatial import cKDTree

    _, at = cKDTree(_on_sphere(T)).query(_on_sphere(S))
    return km_between(S, T[at])


def km_between(S: Floats, T: Floats) -> Floats:
    """Return great-circle distances in km of places in degrees, last axis (lat, long)."""
    a, b = np.radians(S), np.radians(T)
    half = np.sin((a - b) / 2) ** 2
    h = half[..., 0] + np.cos(a[..., 0]) * np.cos(b[..., 0]) * half[..., 1]
    return np.asarray(2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(h, 1))))


def _checked(k: object, km: object) -> tuple[int | None, float | None]:
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise ParameterError(f"k = {k!r}; it must be a whole number of 1 or more.")
    if km is not None and not (isinstance(km, int | float) and np.isfinite(km) and km > 0):
        raise ParameterError(f"km = {km!r}; it must be a number above 0.")
    return (NEAREST if k is None and km is None else k), km


def _nearest(
    S: Floats,
    T: Floats,
    ids: Texts,
    k: int | None,
    km: float | None,
    where: str,
) -> tuple[Ints, Ints, Floats]:
    """Return the pairs, ordered by row of S, then of T, with their distance in km."""
    from scipy.spatial import cKDTree

    rows = np.flatnonzero(~np.isnan(S[:, 0]))
    # In an order of their own, so that ties fall alike whatever the order of the rows.
    placed = np.flatnonzero(~np.isnan(T[:, 0]))
    placed = placed[np.lexsort((ids[placed].astype(str), T[placed, 1], T[placed, 0]))]
    tree = cKDTree(_on_sphere(T[placed]))
    Q = _on_sphere(S[rows])
    # A little more than asked, as the chord is rounded; what lies beyond goes below.
    chord = 0.0 if km is None else 2 * np.sin(min(km / EARTH_KM, np.pi) / 2) * (1 + 1e-9) + 1e-12
    if k is not None:
        k = min(k, len(placed))
        pairs = len(rows) * k
    else:
        pairs = int(tree.query_ball_point(Q, chord, return_length=True).sum())
    if pairs > MOST_PAIRS:
        counted = f"{pairs:,} pairs of {len(S):,} and {len(T):,} rows lie as near as that"
        too_many_pairs(where, counted, "Ask for fewer nearest items, or fewer kilometres.")
    if k is not None:
        i, j = np.repeat(rows, k), placed[tree.query(Q, k=range(1, k + 1))[1].ravel()]
    else:
        found: list[list[int]] = np.asarray(tree.query_ball_point(Q, chord)).tolist()
        i = np.repeat(rows, [len(near) for near in found])
        j = placed[np.fromiter(chain.from_iterable(found), np.int64, len(i))]
    d = km_between(S[i], T[j])
    order = np.lexsort((j, i))
    if km is not None:
        order = order[d[order] <= km]
    return i[order].astype(np.int64), j[order].astype(np.int64), d[order]


def _on_sphere(P: Floats) -> Floats:
    """Return places as points of the unit sphere, whose chords grow with great circles."""
    lat, lon = np.radians(P).T
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def _km(distance: float) -> str:
    return f"{distance:,.0f} km" if distance >= 10 else f"{distance:.2g} km"

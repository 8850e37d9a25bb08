"""Rows of two datasets that are each other's nearest one: by place, by date or by picture."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._higher_layers import call_implementation
from hetviz._text import count
from hetviz._types import Floats, Ints, Rng
from hetviz.core.measures.specific_rows import RowVectors, specific_rows
from hetviz.data.joins.keys import cell_texts
from hetviz.data.joins.places import EARTH_KM, distance_text, km_between, on_sphere, places_of
from hetviz.data.model.dataset import Dataset
from hetviz.errors import DataError, ParameterError

By = Literal["words", "meaning", "pictures", "place", "date"]
SIMILAR_WORDS, SIMILAR_MEANING = "similar words", "similar meaning"
PROPOSED_KINDS = (
    SIMILAR_WORDS, SIMILAR_MEANING, "similar pictures", "near places", "near dates"
)  # fmt: skip
"""Kinds of proposed links."""
N_NULLS = 5
# A date or place of several rows does not say which of them is meant.
_MAX_SHARED = 0.5
_MIN_DATES = 0.9
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOOKS = {"edges": "edges and colours", "encoder": "what they show"}


@dataclass(frozen=True, eq=False)
class NearRows:
    """Pairs of rows that are each other's only nearest row."""

    i: Ints
    j: Ints
    similarity: Floats
    null: Floats
    reasons: list[str]
    n_nulls: int = N_NULLS


@dataclass(frozen=True)
class Limits:
    """Largest distance of a pair; None if it is not limited."""

    km: float | None = None
    days: float | None = None

    def check(self) -> None:
        for name, value in (("km", self.km), ("days", self.days)):
            if value is not None and not (np.isfinite(value) and value >= 0):
                raise ParameterError(f"propose_links: {name} = {value}; it is 0 or more.")


def near_places(first: Dataset, second: Dataset, limits: Limits, rng: Rng) -> NearRows:
    """Return rows whose places are nearest to each other, at most `limits.km` apart."""
    km = limits.km
    if not km:
        raise ParameterError(
            'propose_links: by = "place" needs km, the largest distance of a pair.'
        )
    P, Q = (places_of(dataset)[0] for dataset in (first, second))
    half = km / 2

    def pairs(Q: Floats) -> tuple[Ints, Ints, Floats]:
        # Chords grow with great circles.
        i, j = _only_nearest(on_sphere(P), on_sphere(Q))
        d = km_between(P[i], Q[j])
        return i[d <= km], j[d <= km], d[d <= km]

    i, j, d = pairs(Q)
    null = []
    for _ in range(N_NULLS):
        # Each place moves three times as far as a pair may be apart, in any direction.
        angle = rng.uniform(0, 2 * np.pi, len(Q))
        north = np.degrees(3 * km / EARTH_KM) * np.sin(angle)
        east = (
            np.degrees(3 * km / EARTH_KM) * np.cos(angle) / np.cos(np.radians(Q[:, 0])).clip(0.01)
        )
        moved = np.column_stack([np.clip(Q[:, 0] + north, -90, 90), Q[:, 1] + east])
        null.append(0.5 ** (pairs(moved)[2] / half))
    reasons = km_apart(first, second, i, j)[1]
    return NearRows(i, j, 0.5 ** (d / half), np.concatenate(null), reasons)


def near_dates(first: Dataset, second: Dataset, limits: Limits, rng: Rng) -> NearRows:
    """Return rows with the same day, or the nearest one up to `limits.days` apart."""
    days = limits.days or 0.0
    D, E = (_distinct_days(dataset) for dataset in (first, second))

    def pairs(E: Floats) -> tuple[Ints, Ints, Floats]:
        i, j = _only_nearest(D[:, None], E[:, None])
        d = np.abs(D[i] - E[j])
        return i[d <= days], j[d <= days], d[d <= days]

    i, j, d = pairs(E)
    half = max(days / 2, 0.5)
    null = []
    for _ in range(N_NULLS):
        away = 3 * days + rng.integers(1, 8, len(E))
        null.append(0.5 ** (pairs(E + away * rng.choice([-1, 1], len(E)))[2] / half))
    reasons = days_apart(first, second, i, j)[1]
    return NearRows(i, j, 0.5 ** (d / half), np.concatenate(null), reasons)


def _distinct_days(dataset: Dataset) -> Floats:
    """Return the days of a dataset; raise DataError if most rows share theirs with others."""
    days = _days(dataset)
    known = days[~np.isnan(days)]
    _, counts = np.unique(known, return_counts=True)
    n_shared = int(counts[counts > 1].sum())
    if n_shared > _MAX_SHARED * len(known):
        raise DataError.of(
            "dates-repeat",
            f"dataset {dataset.name!r}",
            f"{n_shared:,} of {len(known):,} rows share their day with another row, so a date "
            "alone does not show which rows belong together",
            remedy='Propose by words or meaning and give days, such as by="words", days=1.',
        )
    return days


def near_pictures(first: Dataset, second: Dataset, limits: Limits, rng: Rng) -> NearRows:
    """Return rows whose pictures are most similar to each other, by what Data compares them by."""
    model = _common_picture_model(first, second)
    V, U = _picture_vectors(first, model), _picture_vectors(second, model)
    i, j, half = specific_rows(V, U, 1)
    back = np.full(len(second), -1)
    of_second, of_first, _ = specific_rows(U, V, 1)
    back[of_second] = of_first
    mutual = (back[j] == i) & (half > 0)
    # Another picture of the own dataset shows how similar different things look.
    smaller = V if len(first) < len(second) else U
    null = 2 * specific_rows(smaller, smaller, 2)[2][1::2]
    reasons = pictures_alike(first, second, i[mutual])
    return NearRows(i[mutual], j[mutual], 2 * half[mutual], null, reasons, n_nulls=1)


def _common_picture_model(first: Dataset, second: Dataset) -> str:
    models = {_picture_model(dataset) for dataset in (first, second)}
    return "encoder" if "encoder" in models else "edges"


def pictures_alike(first: Dataset, second: Dataset, i: Ints) -> list[str]:
    """Return the reason of each pair of similar pictures."""
    return [f"look alike by {_LOOKS[_common_picture_model(first, second)]}"] * len(i)


def _picture_model(dataset: Dataset) -> str:
    steps = ((dataset.recipe or {}).get("features") or {}).get("columns", ())
    models = (step.get("model") for step in steps if step["kind"] == "picture")
    return next(models, None) or "edges"


def _picture_vectors(dataset: Dataset, model: str) -> RowVectors:
    """Return the vectors of pictures minus their mean, of length 1; 0 without a picture."""
    D = None if dataset.media is None else call_implementation("describe", dataset.media, model)
    if D is None or not D.shape[1]:
        where, remedy = f"dataset {dataset.name!r}", "Choose datasets with pictures."
        raise DataError.of("no-pictures", where, "it has no pictures", remedy=remedy)
    X = np.nan_to_num(D - np.nanmean(D, axis=0))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True).clip(1e-9)
    return unit.astype(np.float32), sp.csr_array(np.zeros((len(X), 1), dtype=np.float32))


def _only_nearest(P: Floats, Q: Floats) -> tuple[Ints, Ints]:
    """Return the rows of P and Q that are each other's nearest row, without equally near ones."""
    from scipy.spatial import cKDTree

    rows = [np.flatnonzero(~np.isnan(of).any(axis=1)) for of in (P, Q)]
    if not all(map(len, rows)):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    points = P[rows[0]], Q[rows[1]]
    nearest = []
    for of, other in (points, points[::-1]):
        d, at = map(np.asarray, cKDTree(other).query(of, k=2))
        nearest.append(np.where(d[:, 1] > d[:, 0], at[:, 0], -1))
    i = np.flatnonzero(nearest[0] >= 0)
    i = i[nearest[1][nearest[0][i]] == i]
    return rows[0][i].astype(np.int64), rows[1][nearest[0][i]].astype(np.int64)


def km_apart(first: Dataset, second: Dataset, i: Ints, j: Ints) -> tuple[Floats, list[str]]:
    """Return the distances of pairs in km, and as text."""
    d = km_between(places_of(first)[0][i], places_of(second)[0][j])
    return d, [f"{distance_text(km)} apart" for km in d.tolist()]


def days_apart(first: Dataset, second: Dataset, i: Ints, j: Ints) -> tuple[Floats, list[str]]:
    """Return the distances of pairs in days, and as text."""
    d = np.abs(_days(first)[i] - _days(second)[j])
    return d, [f"{count(int(days), 'day')} apart" if days else "same day" for days in d.tolist()]


def _days(dataset: Dataset) -> Floats:
    """Return the day of the first column of dates, as a number; NaN if there is none."""
    table = pd.DataFrame() if dataset.table is None else dataset.table
    for name in map(str, table.columns):
        dates = table[name]
        if not pd.api.types.is_datetime64_any_dtype(dates.dtype):
            cells = cell_texts(dataset, name)
            is_date = sum(_DATE.match(cell) is not None for cell in cells)
            if not is_date or is_date < _MIN_DATES * sum(map(bool, cells)):
                continue
            dates = pd.to_datetime(pd.Series(cells), errors="coerce", format="ISO8601", utc=True)
        naive = dates if dates.dt.tz is None else dates.dt.tz_convert(None)
        days = naive.dt.floor("D") - pd.Timestamp(0)
        return np.asarray(days.dt.days.to_numpy(np.float64, na_value=np.nan))
    where, remedy = f"dataset {dataset.name!r}", "Write dates as in 2024-05-31."
    raise DataError.of("no-dates", where, "there is no column of dates", remedy=remedy)


def reasons_of(by: str, first: Dataset, second: Dataset, i: Ints, j: Ints) -> list[str]:
    """Return why pairs by place, date or pictures belong together; empty for other pairs."""
    if by == "place":
        return km_apart(first, second, i, j)[1]
    if by == "date":
        return days_apart(first, second, i, j)[1]
    return pictures_alike(first, second, i) if by == "pictures" else []


def comparable_parts(dataset: Dataset, by: str) -> list[object]:
    """Return what rows are compared by: places, days or hashes of pictures, by row."""
    if by == "place":
        return list(places_of(dataset)[0].tolist())
    if by == "date":
        return list(_distinct_days(dataset).tolist())
    media = dataset.media or ()
    if not any(media):
        raise DataError.of("no-pictures", f"dataset {dataset.name!r}", "it has no pictures")
    hashes = [sha256(one).hexdigest() if isinstance(one, bytes) else str(one) for one in media]
    return [_picture_model(dataset), *hashes]


NEAR: dict[str, tuple[Callable[[Dataset, Dataset, Limits, Rng], NearRows], str]] = {
    "place": (near_places, "near places"),
    "date": (near_dates, "near dates"),
    "pictures": (near_pictures, "similar pictures"),
}
"""How rows can be near to each other, with the kind of their links."""

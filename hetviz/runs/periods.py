"""Maps of periods, each tied to the one before, and the items that moved most between two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from hetviz._text import join_words
from hetviz._types import Floats, Texts
from hetviz.algorithms.registry import get_method, methods
from hetviz.core.layout.spread import moved_clearly, moved_shares, spread_of_move
from hetviz.core.threads import limit_threads, one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.periods import (
    Dates,
    Period,
    PeriodRecord,
    find_dates,
    find_periods,
    rows_in,
)
from hetviz.errors import DataError, NotApplicableError, ParameterError
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.progress import Progress, ProgressPart, as_progress
from hetviz.runs.embed.run import EmbeddingOrigin, FittedRun, fit_run
from hetviz.runs.place.spread import spread

TIE = 0.01
"""Default strength of the ties, see `benchmarks/periods.md`."""


@dataclass(frozen=True, eq=False, repr=False)
class PeriodMaps:
    """Aligned maps of periods. ``maps["2019"]`` is the map of a period.

    Attributes
    ----------
    data : HeteroData
        The data of all periods.
    periods : tuple of Period
        In order, with ``name``, ``start`` and ``stop`` (excluded).
    maps : mapping of str to Embedding
        Map of the items of each period, by its name.
    parts : mapping of str to HeteroData
        The items and links of each period.
    n_undated : mapping of str to int
        Number of items without a date in each dataset.
    """

    data: HeteroData
    periods: tuple[Period, ...]
    maps: Mapping[str, Embedding]
    parts: Mapping[str, HeteroData]
    n_undated: Mapping[str, int]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {part.n_rows:,}" for name, part in self.parts.items())
        return f"PeriodMaps({sizes})"

    def __getitem__(self, period: str) -> Embedding:
        if period not in self.maps:
            message = f"There is no period {period!r}. Periods: {join_words(list(self.maps))}."
            raise ParameterError(message)
        return self.maps[period]

    def frame(self) -> pd.DataFrame:
        """Return all places: the columns ``period``, ``dataset``, ``id``, ``x``, ``y``."""
        frames = []
        for name, made in self.maps.items():
            dataset, ids = _names(self.parts[name])
            Y = made.stacked()
            columns = {"period": name, "dataset": dataset, "id": ids, "x": Y[:, 0], "y": Y[:, 1]}
            frames.append(pd.DataFrame(columns).dropna())
        return pd.concat(frames, ignore_index=True)

    def moved(self, before: str, after: str) -> pd.DataFrame:
        """Return how far each item that is in both periods moved.

        Parameters
        ----------
        before, after : str
            Names of two periods.

        Returns
        -------
        DataFrame
            Columns ``dataset``, ``id`` and ``moved``: the distance between both places, as a share
            of the longer side of the later map. The maps are not aligned again.
        """
        Y, Z = (_stacked(self.data, self[name]) for name in (before, after))
        distance = moved_shares(Y, Z)
        rows = np.flatnonzero(np.isfinite(distance))
        dataset, ids = _names(self.data)
        return pd.DataFrame(
            {"dataset": dataset[rows], "id": ids[rows], "moved": distance[rows]}, index=rows
        ).reset_index(drop=True)

    def moved_most(
        self, before: str, after: str, n: int = 10, progress: Progress | None = None
    ) -> pd.DataFrame:
        """Return the items that moved most between two periods, next to how sure their places are.

        Parameters
        ----------
        before, after : str
            Names of two periods.
        n : int
            Number of items.
        progress : callable, optional
            See `hetviz.progress.Progress`.

        Returns
        -------
        DataFrame
            The columns of `moved`, and ``spread``: how far the place of the item varies over
            refits of both periods with resampled links (the root of the sum of both squares of
            `hetviz.spread`), and ``clear``: whether it moved by more than twice its spread, or
            further than nearly all others (five interquartile ranges above the third quartile) and
            by more than half its spread. Sorted by ``clear``, then by ``moved``.

        Notes
        -----
        Costs the refits of `hetviz.spread` for both periods. The refits are not tied, so the
        spread is rather too large than too small. On three samples with planted moves, 8 of 12,530
        unchanged items are called clear, and 30 of 180 items with replaced links. A clear move
        does not say why the item is elsewhere.
        """
        table = self.moved(before, after)
        parts = as_progress(progress)
        Y, Z = (_stacked(self.data, self[name]) for name in (before, after))
        shares = []
        for number, name in enumerate((before, after)):
            part = ProgressPart(parts, number / 2, (number + 1) / 2)
            result = spread(self.parts[name], self[name], progress=part)
            shares.append(_by_ids(self.data, self.parts[name], result.share))
        dataset, ids = _names(self.data)
        of_move = spread_of_move(Y, Z, (shares[0], shares[1]))
        spreads = dict(zip(zip(dataset, ids, strict=True), of_move, strict=True))
        table["spread"] = [spreads[key] for key in zip(table["dataset"], table["id"], strict=True)]
        table["clear"] = moved_clearly(table["moved"].to_numpy(), table["spread"].to_numpy())
        order = ["clear", "moved", "dataset", "id"]
        table = table.sort_values(order, ascending=[False, False, True, True])
        return table.head(n).reset_index(drop=True)

    def trail(self, dataset: str, id: str) -> pd.DataFrame:
        """Return the places of an item over the periods in which it occurs.

        Returns
        -------
        DataFrame
            A row for each of these periods, with the columns ``period`` and ``x``, ``y``.
        """
        if dataset not in self.data.datasets or self.data[dataset].find([id])[0] < 0:
            raise DataError.of("unknown-id", f"dataset {dataset!r}", "there is no such item", id)
        row = self.data.offsets[dataset].start + int(self.data[dataset].find([id])[0])
        places = {name: _stacked(self.data, made)[row] for name, made in self.maps.items()}
        known = [(name, *Y[:2]) for name, Y in places.items() if np.isfinite(Y).all()]
        return pd.DataFrame(known, columns=["period", "x", "y"])


@one_thread()
def embed_periods(
    data: HeteroData,
    by: str | Mapping[str, str],
    *,
    periods: str | int | Sequence[object] = "year",
    method: str = "joint-map",
    tie: float = TIE,
    random_state: int = 0,
    progress: Progress | bool | None = None,
    n_jobs: int | None = None,
    **params: object,
) -> PeriodMaps:
    """Make a map of each period, aligned with the maps of the periods before.

    Each map starts from the latest earlier place of its items and is tied to it by a soft pull
    (``tie``), so that what does not change stays where it is.

    Parameters
    ----------
    data : HeteroData
    by : str or mapping of str to str
        The column with the dates, in datasets and notes of links, or a column for each dataset and
        each kind of links (``"customers|products|link"``). Dates, or numbers such as years.
    periods : {"year", "quarter", "month"}, int, or sequence of dates or numbers
        A unit of the calendar, a number of equally long periods, or their bounds. Units without
        any date are left out.
    method : str
        Key of a method with the parameter `tie`: "joint-map", "mr-sne" or "umap".
    tie : float
        Strength of the ties, from 0 (only a warm start) to 1.
    random_state : int
        Seed of all fits.
    progress : callable or True, optional
        See `hetviz.progress.Progress`.
    n_jobs : int, optional
        Number of threads of layouts, as in `embed`. The maps are the same for any number.
    **params
        Parameters of the method.

    Returns
    -------
    PeriodMaps

    Raises
    ------
    hetviz.errors.ParameterError
        If the method has no ties, or for bad periods.
    hetviz.errors.DataError
        If no dates can be read, a period has none, or a period shares no item with earlier ones.
    hetviz.errors.NotApplicableError
        If a period has too few items or links for the method. The message names it.

    Notes
    -----
    A dated item is in the period of its date. A dated link is in the period of its date, if its
    items are. Items without a date are in each period in which a link connects them to it, and
    datasets that no link connects to dates are in all periods. An item whose neighbours are all
    elsewhere on the earlier map starts there, see the parameter `tie` of the methods. Costs a fit
    for each period. The features of items are the same in all periods.

    Examples
    --------
    >>> import pandas as pd
    >>> import hetviz
    >>> pairs = pd.DataFrame({"tea_id": list("abab"), "cup_id": list("xyxy")})
    >>> pairs["year"] = [2020, 2020, 2021, 2021]
    >>> data = hetviz.HeteroData.from_frames({"tea": list("ab"), "cup": list("xy")}, pairs)
    >>> hetviz.embed_periods(data, "year")
    PeriodMaps(2020 4, 2021 4)
    """
    if "tie" not in get_method(method).params:
        able = [card.title for card in methods() if "tie" in get_method(card.key).params]
        title = get_method(method).card.title
        raise ParameterError(f"{title} cannot tie maps. Methods that can: {join_words(able)}.")
    if params.get("pins"):
        raise ParameterError("embed_periods: items cannot be pinned and tied at once.")
    settings = params | {"tie": tie}
    with limit_threads(n_jobs):
        dates, chosen, fits = fit_periods(
            data, by, periods, method, settings, random_state, progress
        )
    maps: dict[str, Embedding] = {}
    parts: dict[str, HeteroData] = {}
    for period, fitted in zip(chosen, fits, strict=True):
        part, start = fitted.scope.measured, fitted.result.start
        # In the maps of the library, the items of a period are the data.
        run = replace(
            fitted.result,
            fingerprint=part.fingerprint(),
            only=None,
            period=None,
            start=start and _embedding(part, _stacked(part, start), start.note),
        )
        maps[period.name] = fitted.model.embedding_.with_made(EmbeddingOrigin(part, run))
        parts[period.name] = part
    return PeriodMaps(
        data,
        chosen,
        MappingProxyType(maps),
        MappingProxyType(parts),
        MappingProxyType(count_undated(data, dates)),
    )


def fit_periods(
    data: HeteroData,
    by: str | Mapping[str, str],
    periods: str | int | Sequence[object],
    method: str,
    params: Mapping[str, object],
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> tuple[Dates, tuple[Period, ...], list[FittedRun]]:
    """Fit a map of each period, see `embed_periods`; `fit_again` repeats each of them."""
    report = as_progress(progress)
    dates = find_dates(data, by)
    chosen = find_periods(dates, periods)
    latest: Floats | None = None
    fits: list[FittedRun] = []
    for number, period in enumerate(chosen):
        rows = rows_in(data, dates, period)
        start = None
        if latest is not None:
            start = _embedding(data, latest, get_method(method).card.title)
            if not np.isfinite(latest[rows]).all(axis=1).any():
                raise DataError.of(
                    "no-shared-items",
                    f"period {period.name}",
                    "it shares no item with earlier periods, so its map cannot be aligned",
                    remedy="Choose longer periods, or link the items to others that stay.",
                )
        low, high = number / len(chosen), (number + 1) / len(chosen)
        step = ProgressPart(report, low, high, period.name)
        settings = dict(params) if number else {**params, "tie": 0.0}

        record = PeriodRecord(
            by=by if isinstance(by, str) else dict(by),
            name=period.name,
            start=period.start,
            stop=period.stop,
        )
        try:
            fitted = fit_run(
                data, method, settings, seed, step, only=rows, start=start, period=record
            )
        except NotApplicableError as error:
            raise NotApplicableError(
                f"{error.method}, period {period.name},", error.reasons
            ) from error
        fits.append(fitted)
        places = _stacked(data, fitted.result.embedding)
        latest = places if latest is None else np.where(np.isfinite(places), places, latest)
    report(1.0, "Done")
    return dates, chosen, fits


def count_undated(data: HeteroData, dates: Dates) -> dict[str, int]:
    """Return the number of items without a date in each dataset."""
    return {
        name: len(data[name]) if name not in dates.rows else int(np.isnan(dates.rows[name]).sum())
        for name in data.datasets
    }


def _stacked(data: HeteroData, embedding: Embedding) -> Floats:
    """Return the coordinates of all rows of `data`, (n_rows, k), NaN without a place."""
    return np.vstack(list(coordinates_of(data, embedding).values()))


def _embedding(data: HeteroData, places: Floats, note: str) -> Embedding:
    return Embedding(
        {name: places[rows] for name, rows in data.offsets.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
        note=note,
    )


def _by_ids(data: HeteroData, part: HeteroData, values: Floats) -> Floats:
    """Return values of the rows of a part as values of all rows, NaN elsewhere."""
    column = _embedding(part, values[:, None], "")
    return _stacked(data, column)[:, 0]


def _names(data: HeteroData) -> tuple[Texts, Texts]:
    """Return the dataset and the id of each row."""
    names = np.repeat(list(data.datasets), [len(part) for part in data.datasets.values()])
    ids = np.concatenate([part.ids for part in data.datasets.values()])
    return names.astype(object), ids

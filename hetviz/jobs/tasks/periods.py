"""Task that makes and measures maps of periods."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from hetviz.data import HeteroData
from hetviz.data.queries.periods import PERIODS
from hetviz.errors import Cancelled
from hetviz.jobs.tasks.maps import figures_of
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.embed.run import MapResult, notes_of
from hetviz.runs.findings import Findings
from hetviz.runs.periods import TIE, count_undated, fit_periods
from hetviz.runs.place.spread import spread

# Share of the progress that the fits are, with and without the refits.
_FITS, _FITS_ALONE = 0.3, 0.85
_MEASURES = 0.1


def find_periods(
    data: HeteroData,
    by: str,
    periods: str | int | Sequence[object],
    method: str,
    params: Mapping[str, object],
    seed: int,
    measure: bool,
    progress: Progress,
) -> Findings:
    """Make a map of each period, see `hetviz.embed_periods`.

    `measure`: Whether the spread of each position over refits is measured, see `hetviz.spread`.
    A task that is cancelled after the fits has the maps as its result.
    """
    n_fits = _FITS if measure else _FITS_ALONE
    part = ProgressPart(progress, 0.0, n_fits)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            dates, chosen, fits = fit_periods(
                data, by, periods, method, {"tie": TIE, **params}, seed, part
            )
        except Cancelled as stopped:
            # Some maps of periods are of no use.
            stopped.partial = None
            raise
    notes = notes_of(caught)
    maps: list[MapResult] = [
        replace(fitted.result, title=period.name)
        for period, fitted in zip(chosen, fits, strict=True)
    ]
    spreads: dict[str, object] = {}
    content = {
        "by": by,
        "periods": [asdict(period) for period in chosen],
        "undated": count_undated(data, dates),
        "items": data.digest_of_items().hexdigest(),
        "spreads": spreads,
    }
    try:
        for number, (period, fitted) in enumerate(zip(chosen, fits, strict=True)):
            done = n_fits + (_MEASURES if measure else 1.0 - n_fits) * number / len(fits)
            message = f"{period.name}: measuring the map"
            progress(done, message)
            figures = figures_of(
                fitted.scope.measured,
                fitted.model.embedding_,
                beat=lambda done=done, message=message: progress(done, message),  # type: ignore[misc]
            )
            maps[number] = replace(maps[number], figures=figures | notes)
        for number, result in enumerate(maps if measure else ()):
            low = n_fits + _MEASURES
            step = (1.0 - low) / len(maps)
            name = chosen[number].name
            part = ProgressPart(progress, low + number * step, low + (number + 1) * step, name)
            measured = spread(data, result.embedding, run=result, progress=part)
            spreads[name] = measured.rows_to_dict()
    except Cancelled as stopped:
        stopped.partial = Findings(PERIODS, content, tuple(maps))
        raise
    progress(1.0, "Done")
    return Findings(PERIODS, content, tuple(maps))

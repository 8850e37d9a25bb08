"""Time estimates of methods on this machine, from two small fits.

A method is fitted to about 200 and 400 rows of the data. A power law through both times gives the
time for all rows. Times are stored for data of the same kind. Measuring starts only on request.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz._version import __version__
from hetviz.algorithms.base import BaseEmbedder
from hetviz.data import HeteroData
from hetviz.data.queries.rows import select_rows
from hetviz.errors import Cancelled
from hetviz.progress import Progress, ProgressPart, ignore_progress

SIZES = (200, 400)
_MAX_EXPONENT = 3.0
_COSTS_FILE = "costs.json"

Times = Mapping[int, float]


def measure_seconds(
    kind: type[BaseEmbedder], data: HeteroData, progress: Progress | None = None
) -> float | None:
    """Fit a method with its defaults to small parts of the data and store the times.

    Makes three fits. The first, on 200 rows, includes imports and compilation and is not counted.
    """
    report = ignore_progress if progress is None else progress
    sizes = sorted({min(size, data.n_rows) for size in SIZES})
    times: dict[int, float] = {}
    rounds = [sizes[0], *sizes]
    for round_index, size in enumerate(rounds):
        part = small_part(data, size)
        low, high = round_index / len(rounds), (round_index + 1) / len(rounds)
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                # Warnings about a small part do not apply to the data.
                warnings.simplefilter("ignore")
                kind().fit(part, ProgressPart(report, low, high))
        except Cancelled:
            raise
        except Exception:
            # The error is shown when the method runs on all data.
            return None
        times[part.n_rows] = time.perf_counter() - start
    store_times(kind.card.key, data, times)
    return seconds_at(times, data.n_rows)


def stored_seconds(method: str, data: HeteroData) -> float | None:
    """Return the estimate for a method from stored times. None without any."""
    times = _read_times().get(method, {}).get(_data_key(data))
    return seconds_at({int(n): float(s) for n, s in times.items()}, data.n_rows) if times else None


def store_times(method: str, data: HeteroData, times: Times) -> None:
    """Store seconds by number of rows. Does nothing if the folder is read-only."""
    stored = _read_times()
    times_of_kind = stored.setdefault(method, {}).setdefault(_data_key(data), {})
    times_of_kind |= {str(n): round(seconds, 6) for n, seconds in times.items()}
    with contextlib.suppress(OSError):
        store_record(_COSTS_FILE, {"version": __version__, "seconds": stored})


def seconds_at(times: Times, n_rows: int) -> float | None:
    """Return the seconds for `n_rows`, estimated from times at other sizes."""
    if not times:
        return None
    if n_rows in times:
        return times[n_rows]
    closest = sorted(sorted(times, key=lambda n: abs(math.log(n / n_rows)))[:2])
    last = closest[-1]
    if len(closest) < 2:
        return times[last] * n_rows / last
    first = closest[0]
    ratio = max(times[last], 1e-6) / max(times[first], 1e-6)
    exponent = min(max(math.log(ratio) / math.log(last / first), 0.0), _MAX_EXPONENT)
    return float(times[last] * (n_rows / last) ** exponent)


def small_part(data: HeteroData, n_rows: int) -> HeteroData:
    """Return about `n_rows` random rows of the data, a third of them linked, a third compared.

    All views of an object are included, so there may be a few more rows.
    """
    if n_rows >= data.n_rows:
        return data
    rng = np.random.default_rng(0)
    table = data.link_table()
    linked = table.loc[table["weight"] > 0, ["p", "q"]].to_numpy(np.int64)
    compared = [] if data.comparisons is None else [data.comparisons.objects]
    sources = [rng.permutation(linked).ravel()]
    sources += [rng.permutation(rows).ravel() for rows in compared]
    third = max(n_rows // 3, 2)
    selected = [_first_objects(data, rows, third) for rows in sources]
    all_objects = rng.permutation(data.n_objects)
    candidates = np.concatenate([*selected, all_objects])
    _, first_index = np.unique(candidates, return_index=True)
    order = candidates[np.sort(first_index)]
    sizes = np.bincount(data.object_of, minlength=data.n_objects)
    n_needed = int(np.searchsorted(np.cumsum(sizes[order]), n_rows)) + 1
    return select_rows(data, np.flatnonzero(np.isin(data.object_of, order[:n_needed])))


def _first_objects(data: HeteroData, rows: Ints, max_objects: int) -> Ints:
    """Return the distinct objects of rows, in the order of their first row."""
    objects = data.object_of[rows]
    _, first_index = np.unique(objects, return_index=True)
    distinct: Ints = objects[np.sort(first_index)][:max_objects]
    return distinct


def _data_key(data: HeteroData) -> str:
    """Return a key for stored times: widths of the datasets, and numbers of links per row."""
    widths = [
        "k"
        if dataset.X is None and not dataset.is_featureless
        else str(0 if dataset.X is None else dataset.X.shape[1])
        for dataset in data.datasets.values()
    ]
    links = sum(map(len, data.links)) / data.n_rows
    compared = 0 if data.comparisons is None else len(data.comparisons) / data.n_rows
    return " ".join([*widths, _log2_size(links), _log2_size(compared)])


def _log2_size(share: float) -> str:
    """Return the exponent of the nearest power of two as text."""
    return "-" if share <= 0 else str(round(math.log2(share)))


def store_record(name: str, record: Mapping[str, object]) -> None:
    """Store a record on this machine atomically."""
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=name)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(record, file)
    os.replace(temporary, path)


def stored_record(name: str) -> dict[str, Any]:
    """Return a record stored by this version on this machine. Empty if there is none."""
    try:
        record: Any = json.loads(_path(name).read_text(encoding="utf-8"))
        is_current = record["version"] == __version__
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return {}
    return dict(record) if is_current else {}


def _path(name: str) -> Path:
    if home := os.environ.get("HETVIZ_HOME"):
        return Path(home).expanduser() / name
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "hetviz" / name


def _read_times() -> dict[str, dict[str, dict[str, float]]]:
    try:
        times_by_method: dict[str, dict[str, dict[str, float]]] = stored_record(_COSTS_FILE)[
            "seconds"
        ]
        # Ignore damaged files.
        is_valid = all(
            math.isfinite(float(s)) and int(n) > 0
            for kinds in times_by_method.values()
            for times in kinds.values()
            for n, s in times.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return times_by_method if is_valid else {}

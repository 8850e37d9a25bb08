"""How long a method would take on some data on this machine, from two small fits.

A method is fitted to about 200 and 400 rows of the data, a power law through both times says how
long all rows take, and the times are kept for data of the same kind. Nothing here runs unasked.
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
_STEEPEST = 3.0
_FILE = "costs.json"

Times = Mapping[int, float]


def measure_seconds(
    kind: type[BaseEmbedder], data: HeteroData, progress: Progress | None = None
) -> float | None:
    """Fit a method with its defaults to small parts of the data and keep the times.

    Parameters
    ----------
    kind : class of a method
    data : HeteroData
    progress : callable, optional

    Returns
    -------
    float or None
        Estimated seconds on all rows; None where the method does not suit such small parts.

    Raises
    ------
    hetviz.errors.Cancelled
        When `progress` raises it.

    Notes
    -----
    Three fits: the first, on 200 rows, is not counted, since it loads and compiles.
    """
    report = ignore_progress if progress is None else progress
    sizes = sorted({min(size, data.n_rows) for size in SIZES})
    times: dict[int, float] = {}
    rounds = [sizes[0], *sizes]
    for place, size in enumerate(rounds):
        part = small_part(data, size)
        low, high = place / len(rounds), (place + 1) / len(rounds)
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                # What a small part makes a method warn of is no news about the data.
                warnings.simplefilter("ignore")
                kind().fit(part, ProgressPart(report, low, high))
        except Cancelled:
            raise
        except Exception:
            # Whatever keeps it from a small part, it will say so itself when it is run.
            return None
        times[part.n_rows] = time.perf_counter() - started
    keep_times(kind.card.key, data, times)
    return seconds_at(times, data.n_rows)


def known_seconds(method: str, data: HeteroData) -> float | None:
    """Return the estimate for a method from the times that are kept; None without any."""
    times = _read().get(method, {}).get(_kind_of(data))
    return seconds_at({int(n): float(s) for n, s in times.items()}, data.n_rows) if times else None


def keep_times(method: str, data: HeteroData, times: Times) -> None:
    """Keep seconds by number of rows; the folder may be read-only, and then nothing is kept."""
    kept = _read()
    known = kept.setdefault(method, {}).setdefault(_kind_of(data), {})
    known |= {str(n): round(seconds, 6) for n, seconds in times.items()}
    with contextlib.suppress(OSError):
        keep_record(_FILE, {"version": __version__, "seconds": kept})


def seconds_at(times: Times, n_rows: int) -> float | None:
    """Return the seconds that times at other sizes suggest for `n_rows`.

    Notes
    -----
    A power law through the two sizes nearest to `n_rows`, its exponent kept between 0 and 3.
    """
    if not times:
        return None
    if n_rows in times:
        return times[n_rows]
    near = sorted(sorted(times, key=lambda n: abs(math.log(n / n_rows)))[:2])
    last = near[-1]
    if len(near) < 2:
        return times[last] * n_rows / last
    first = near[0]
    ratio = max(times[last], 1e-6) / max(times[first], 1e-6)
    exponent = min(max(math.log(ratio) / math.log(last / first), 0.0), _STEEPEST)
    return float(times[last] * (n_rows / last) ** exponent)


def small_part(data: HeteroData, n_rows: int) -> HeteroData:
    """Return about `n_rows` rows of the data: a third of them linked, a third compared, at random.

    Objects come with all their views, so a few rows more may be in it.
    """
    if n_rows >= data.n_rows:
        return data
    rng = np.random.default_rng(0)
    table = data.link_table()
    linked = table.loc[table["weight"] > 0, ["p", "q"]].to_numpy(np.int64)
    named = [] if data.comparisons is None else [data.comparisons.objects]
    sources = [rng.permutation(linked).ravel()]
    sources += [rng.permutation(rows).ravel() for rows in named]
    third = max(n_rows // 3, 2)
    picked = [_first_objects(data, rows, third) for rows in sources]
    everything = rng.permutation(data.n_objects)
    chosen = np.concatenate([*picked, everything])
    _, first = np.unique(chosen, return_index=True)
    order = chosen[np.sort(first)]
    sizes = np.bincount(data.object_of, minlength=data.n_objects)
    enough = int(np.searchsorted(np.cumsum(sizes[order]), n_rows)) + 1
    return select_rows(data, np.flatnonzero(np.isin(data.object_of, order[:enough])))


def _first_objects(data: HeteroData, rows: Ints, most: int) -> Ints:
    """Return the objects of rows, each once, in the order in which they come."""
    objects = data.object_of[rows]
    _, first = np.unique(objects, return_index=True)
    found: Ints = objects[np.sort(first)][:most]
    return found


def _kind_of(data: HeteroData) -> str:
    """Return what times are kept by: widths of the datasets, and how much is known of them."""
    widths = [
        "k"
        if dataset.X is None and not dataset.is_featureless
        else str(0 if dataset.X is None else dataset.X.shape[1])
        for dataset in data.datasets.values()
    ]
    links = sum(map(len, data.links)) / data.n_rows
    compared = 0 if data.comparisons is None else len(data.comparisons) / data.n_rows
    return " ".join([*widths, _size(links), _size(compared)])


def _size(share: float) -> str:
    """Return a number to the nearest power of two."""
    return "-" if share <= 0 else str(round(math.log2(share)))


def keep_record(name: str, record: Mapping[str, object]) -> None:
    """Keep a record on this machine, whole or not at all.

    Raises
    ------
    OSError
        Where the folder cannot be written.
    """
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, written = tempfile.mkstemp(dir=path.parent, prefix=name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(record, file)
    os.replace(written, path)


def kept_record(name: str) -> dict[str, Any]:
    """Return a record that this version kept on this machine; empty without one."""
    try:
        record: Any = json.loads(_path(name).read_text(encoding="utf-8"))
        ours = record["version"] == __version__
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return {}
    return dict(record) if ours else {}


def _path(name: str) -> Path:
    given = os.environ.get("HETVIZ_HOME")
    if given:
        return Path(given).expanduser() / name
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "hetviz" / name


def _read() -> dict[str, dict[str, dict[str, float]]]:
    try:
        found: dict[str, dict[str, dict[str, float]]] = kept_record(_FILE)["seconds"]
        # A file that somebody else wrote or broke is no file.
        whole = all(
            math.isfinite(float(s)) and int(n) > 0
            for kinds in found.values()
            for times in kinds.values()
            for n, s in times.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return found if whole else {}

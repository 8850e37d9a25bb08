"""Peak memory of fits, against the memory estimates.

The peak is the kernel's (Linux): the largest resident size during the fit less the one before it.
"""

from __future__ import annotations

import ctypes
import gc
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import report
from hetviz.algorithms.registry import get_method, methods
from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.errors import HetvizError
from hetviz.features.problems.label_problems import label_column
from hetviz.runs.predict.label_models import bytes_for
from hetviz.runs.predict.labels import predict_labels

FULL, QUICK = (1_000, 2_000, 4_000, 8_000), (500, 1_000)
COLUMNS = 60
# A method is not tried on more rows once it took as long.
_ENOUGH_S = 12.0
_WARM = 200


def run(out: Path, quick: bool) -> None:
    """Fit each method to growing data; tell the peak in MB, and what it was estimated at."""
    rows: list[dict[str, Any]] = []
    for card in methods():
        fit_peak(card.key, made(_WARM))
        for n_rows in QUICK if quick else FULL:
            row = fit_peak(card.key, made(n_rows))
            if row is None:
                break
            rows.append({"method": card.key, "rows": n_rows, **row})
            if row["s"] > _ENOUGH_S:
                break
    for n_classes in (2, 100):
        for n_rows in QUICK if quick else FULL:
            row = label_peak(n_rows, n_classes)
            if row is None:
                break
            rows.append({"method": f"label of {n_classes} classes", "rows": n_rows, **row})
            if row["s"] > _ENOUGH_S:
                break
    report("memory", rows, out, f"two datasets of {COLUMNS} columns, links and comparisons; MB")


def made(n_rows: int, n_classes: int = 2) -> HeteroData:
    """Two linked datasets of as many rows, half of them compared, with labels."""
    rng = np.random.default_rng(0)
    half = n_rows // 2
    Z = rng.normal(size=(half, 2))
    first = Dataset(
        "first", [f"a{k}" for k in range(half)], Z @ rng.normal(size=(2, COLUMNS))
        + 0.1 * rng.normal(size=(half, COLUMNS)),
    )  # fmt: skip
    second = Dataset(
        "second", [f"b{k}" for k in range(half)], Z @ rng.normal(size=(2, COLUMNS))
        + 0.1 * rng.normal(size=(half, COLUMNS)),
    )  # fmt: skip
    every = np.arange(half)
    triplets = rng.integers(0, half, (half // 2, 3))
    apart = [((Z[triplets[:, 0]] - Z[triplets[:, end]]) ** 2).sum(axis=1) for end in (1, 2)]
    turned = np.where((apart[0] > apart[1])[:, None], triplets[:, [0, 2, 1]], triplets)
    clear = (apart[0] != apart[1]) & (triplets[:, 0] != triplets[:, 1])
    clear &= (triplets[:, 0] != triplets[:, 2]) & (triplets[:, 1] != triplets[:, 2])
    # Of two in ten items the label is to be found.
    side = np.argsort(np.argsort(Z[:, 0])) * n_classes // half
    labels = Labels("first", "side", [f"c{c}" if k % 5 else None for k, c in enumerate(side)])
    links = [Links("first", "second", every, every)]
    return HeteroData([first, second], links, Comparisons(turned[clear]), [labels])


def fit_peak(key: str, data: HeteroData) -> dict[str, Any] | None:
    """Return seconds and peak of one fit; None where the method does not suit the data."""
    model = get_method(key)()
    estimate = model.bytes_for(data) if hasattr(model, "bytes_for") else float("nan")
    return peak_of(lambda: model.fit(data), estimate)


def label_peak(n_rows: int, n_classes: int) -> dict[str, Any] | None:
    """Return seconds and peak of one prediction of a label."""
    data = made(n_rows, n_classes)
    estimate = bytes_for(data, label_column(data, "first", "side"))
    return peak_of(lambda: predict_labels(data, "first", "side", repeats=1), estimate)


def peak_of(act: Callable[[], object], estimate: float) -> dict[str, Any] | None:
    """Return seconds and peak of an act, beside the bytes that were estimated; None if refused."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before, started = _status("VmRSS"), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            act()
    except HetvizError:
        return None
    took = time.perf_counter() - started
    return {
        "s": round(took, 2),
        "peak": round(_status("VmHWM") - before, 1),
        "estimate": round(estimate / 1e6, 1),
    }


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1000

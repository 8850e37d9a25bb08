"""Shared code of benchmarks: threads, CPU time, versions, JSON and tables."""

from __future__ import annotations

import json
import platform
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

import hetviz

REPEATS = 3


def cpu_seconds(work: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Return the median CPU seconds of `work` on one thread, and its last result."""
    taken = []
    result = None
    with threadpool_limits(1):
        for _ in range(repeats):
            start = time.process_time()
            result = work()
            taken.append(time.process_time() - start)
    return float(np.median(taken)), result


def peak_memory_mb() -> float:
    """Return the largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def report(name: str, rows: Sequence[dict[str, Any]], out: Path, note: str = "") -> None:
    """Write ``<name>.json`` and print the rows as a table."""
    out.mkdir(parents=True, exist_ok=True)
    record = {
        "benchmark": name,
        "note": note,
        "hetviz": hetviz.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": f"{platform.machine()}, {platform.system()}",
        "rows": list(rows),
    }
    (out / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    columns = list(rows[0])
    text = [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *text, strict=True)]
    print(f"\n{name}: {note}")
    for line in ([*columns], *text):
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)

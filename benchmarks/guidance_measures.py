"""Time and sampling error of guidance measures, by number of items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import cpu_seconds, report
from hetviz.core.measures.satisfaction import distance_percentiles, satisfaction_area


def run(out: Path, quick: bool) -> None:
    """Rank 100,000 links between two datasets of n items each."""
    rows: list[dict[str, Any]] = []
    for n in (1_000, 4_000, 20_000) if quick else (1_000, 4_000, 20_000, 100_000):
        rng = np.random.default_rng(0)
        A = rng.normal(size=(n, 2))
        B = A + 0.3 * rng.normal(size=(n, 2))
        i = rng.integers(0, n, 100_000)

        def sampled(A: Any = A, B: Any = B, i: Any = i) -> Any:
            return distance_percentiles(A, i, i, B, max_pairs=0)

        def exact(A: Any = A, B: Any = B, i: Any = i) -> Any:
            return distance_percentiles(A, i, i, B, max_pairs=10**12)

        row: dict[str, Any] = {"items": 2 * n}
        row["sampled CPU s"], drawn = cpu_seconds(sampled)
        row["area"] = satisfaction_area(drawn.values)
        if n <= 4_000:
            row["exact CPU s"], counted = cpu_seconds(exact, repeats=1)
            row["error of area"] = abs(row["area"] - satisfaction_area(counted.values))
            row["largest error of F"] = float(np.abs(drawn.values - counted.values).max())
        else:
            row |= {"exact CPU s": "-", "error of area": "-", "largest error of F": "-"}
        rows.append(row)
    report("guidance_measures", rows, out, "100,000 links; 1,000,000 sampled pairs; one thread")

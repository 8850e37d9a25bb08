"""Task that measures how much positions vary over refits."""

from __future__ import annotations

from collections.abc import Mapping

from hetviz._types import Ints
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.trust.spread import SPREAD
from hetviz.progress import Progress
from hetviz.runs.embed.run import Run
from hetviz.runs.findings import Findings
from hetviz.runs.place.spread import spread


def find_spread(
    data: HeteroData,
    map: str,
    method: str,
    params: Mapping[str, object],
    seed: int,
    hold_out: float,
    progress: Progress,
    start: Embedding,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
) -> Findings:
    """Measure the spread of each position of a map, see `hetviz.spread`. `map`: its id."""
    run = Run(
        data.fingerprint(),
        method,
        params,
        seed,
        weights=weights or {},
        only=only,
        hold_out=hold_out,
    )
    measured = spread(data, start, run=run, random_state=seed, progress=progress)
    items = data.digest_of_items().hexdigest()
    return Findings(SPREAD, {"map": map, "items": items, **measured.rows_to_dict()})

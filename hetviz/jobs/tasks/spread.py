"""Task that measures how much positions vary over refits."""

from __future__ import annotations

from typing import Unpack

from hetviz.data import Embedding, HeteroData
from hetviz.metrics.trust.spread import SPREAD
from hetviz.progress import Progress
from hetviz.runs.embed.run import FitArguments, Run
from hetviz.runs.findings import Findings
from hetviz.runs.place.spread import spread


def find_spread(
    data: HeteroData,
    map: str,
    progress: Progress,
    start: Embedding,
    **fit: Unpack[FitArguments],
) -> Findings:
    """Measure the spread of each position of a map, see `hetviz.spread`. `map`: its id."""
    run = Run(data.fingerprint(), **fit)
    measured = spread(data, start, run=run, random_state=run.seed, progress=progress)
    items = data.digest_of_items().hexdigest()
    return Findings(SPREAD, {"map": map, "items": items, **measured.rows_to_dict()})

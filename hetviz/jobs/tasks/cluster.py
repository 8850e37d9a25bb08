"""Task that finds clusters for several numbers of clusters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np

from hetviz._types import Array
from hetviz.data import Embedding, HeteroData
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.cluster.cards import cluster_cards
from hetviz.runs.cluster.codes import codes_as_text
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.search import FULL, search_clusters
from hetviz.runs.embed.run import FitArguments, Run
from hetviz.runs.findings import Findings

CLUSTERS = "clusters"


def find_clusters(
    data: HeteroData,
    by: str,
    space: str,
    progress: Progress,
    start: Embedding,
    **fit: Unpack[FitArguments],
) -> Findings:
    """Cluster a map for several numbers of clusters."""
    run = None
    if space == FULL and fit["method"]:
        run = replace(Run(data.fingerprint(), **fit), hold_out=0.0)
    result = search_clusters(
        data, start, method=by, space=space, run=run, progress=ProgressPart(progress, 0.0, 0.9)
    )
    progress(0.9, "Naming clusters")
    chosen = result.tried[result.chosen]
    cards = cluster_cards(Contrasts(data), result.Y, chosen.code, chosen.k)
    progress(1.0, "Done")
    content = {
        "how": {"method": by, "space": result.space, "asked": space},
        "chosen": result.chosen,
        "choice": [_plain(record) for record in result.choice.to_dict("records")],
        "codes": [codes_as_text(clustering.code) for clustering in result.tried],
        "stability": [_numbers(clustering.of_groups) for clustering in result.tried],
        "names": [card.name for card in cards],
    }
    return Findings(CLUSTERS, content)


def _plain(record: Mapping[Hashable, float]) -> dict[str, float | None]:
    return {str(key): None if value != value else float(value) for key, value in record.items()}


def _numbers(values: Array) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]

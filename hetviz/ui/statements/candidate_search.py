"""Background search for link candidates, cached by data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hetviz.data import HeteroData
from hetviz.jobs import Job, Task
from hetviz.memo import Memo
from hetviz.runs.predict.link_settings import STACK
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.shell import background
from hetviz.ui.shell.page_state import project_id

_N_CANDIDATES = 100
_MAX_ROWS, _MAX_LINKS = 60_000, 600_000
_MAX_CACHED = 24


@dataclass(frozen=True)
class CandidateSearch:
    """State of a search for candidates between two datasets.

    `content` is as `hetviz.jobs.tasks.predict.find_links` returns it, empty until it is ready,
    `fraction` the share of work done, and `problem` why there are no candidates.
    """

    content: Mapping[str, Any] = field(default_factory=dict)
    fraction: float = 0.0
    problem: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether the search has ended, with or without candidates."""
        return bool(self.content or self.problem)


# Finished searches, shared by all visitors with equal data.
_SEARCHES = Memo(max_entries=_MAX_CACHED)


def linked_pairs(data: HeteroData) -> list[tuple[str, str]]:
    """Return the pairs of datasets with links between them, most links first."""
    count: dict[tuple[str, str], int] = {}
    for links in data.links:
        n_together = int((links.weight > 0).sum())
        reversed_pair = (links.target, links.source)
        ends = reversed_pair if reversed_pair in count else (links.source, links.target)
        if n_together:
            count[ends] = count.get(ends, 0) + n_together
    return sorted(count, key=lambda ends: -count[ends])


def is_too_large(data: HeteroData, source: str, target: str) -> bool:
    """Return whether the search takes too long to start it unasked."""
    rows = len(data[source]) + len(data[target])
    return rows > _MAX_ROWS or sum(len(links) for links in data.links) > _MAX_LINKS


def search_candidates(data: HeteroData, source: str, target: str) -> CandidateSearch:
    """Return the search between two datasets, starting it if needed."""
    # No search starts while a job of the visitor runs.
    key = "/".join([data.fingerprint(), source, target])
    cached: CandidateSearch | None = _SEARCHES.get(None, key)
    if cached is not None:
        return cached
    owner = project_id()
    id = hashlib.sha256(f"{owner}/{key}".encode()).hexdigest()[:16]
    job = JOBS.get(id, owner)
    if job is None or job.state == "cancelled":
        arguments = {
            "data": data,
            "source": source,
            "target": target,
            "method": STACK,
            "params": {},
            "seeds": [0],
            "hold_out": 0.0,
            "top": _N_CANDIDATES,
            "quick": True,
        }
        task = Task("find-links", arguments)
        if not background.start_search("Candidates", task, partial(_store_result, key), id):
            return CandidateSearch()
        job = JOBS.get(id, owner)
    fraction = 0.0 if job is None else job.fraction
    return _SEARCHES.get(None, key) or CandidateSearch(fraction=fraction)


def _store_result(key: str, job: Job) -> None:
    """Store the result of a finished job, whether or not a page waits for it."""
    if job.state == "done":
        _SEARCHES.put(None, key, CandidateSearch(job.result.content))
    elif job.state == "failed":
        _SEARCHES.put(None, key, CandidateSearch(problem=str(job.error)))

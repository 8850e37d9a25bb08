"""Background search for link candidates, cached by data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hetviz.data import HeteroData
from hetviz.jobs import Job, Task
from hetviz.memo import Memo
from hetviz.runs.predict.link_settings import STACK
from hetviz.ui.shell import background

_N_CANDIDATES = 100
_KEY_NOTE = "candidates of"
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
    runner, owner = background.RUNNER, background.background_owner()
    id = hashlib.sha256(f"{owner}/{key}".encode()).hexdigest()[:16]
    job = runner.get(id, owner)
    if job is None or job.state == "cancelled":
        for other in runner.jobs(owner):
            if other.is_active:
                runner.cancel(other.id, owner)
            else:
                runner.take(other.id, owner)
        if background.running_job() is not None or runner.get(id, owner) is not None:
            return CandidateSearch()
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
        if _store_result not in background.ON_BACKGROUND_END:
            background.ON_BACKGROUND_END.append(_store_result)
        runner.submit(owner, "Candidates", Task("find-links", arguments), {_KEY_NOTE: key}, id)
        job = runner.get(id, owner)
    if job is not None and not job.is_active:
        runner.take(id, owner)
    fraction = 0.0 if job is None else job.fraction
    return _SEARCHES.get(None, key) or CandidateSearch(fraction=fraction)


def _store_result(job: Job) -> None:
    """Store the result of a finished job, whether or not a page waits for it."""
    key = job.note.get(_KEY_NOTE)
    if key is None or job.state not in ("done", "failed"):
        return
    is_done = job.state == "done"
    _SEARCHES.put(
        None,
        str(key),
        CandidateSearch(job.result.content) if is_done else CandidateSearch(problem=str(job.error)),
    )

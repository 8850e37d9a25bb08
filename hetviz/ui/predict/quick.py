"""Candidates of the data as they are now, worked out unasked in the worker, and kept by data."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hetviz.data import HeteroData
from hetviz.jobs import Job, Task
from hetviz.runs.predict.link_predictor import STACK
from hetviz.ui.shell import background

TASK = "hetviz.jobs.tasks.predict:find_links"
_TOP = 100
_FOR = "candidates of"
_MOST_ROWS, _MOST_LINKS = 60_000, 600_000
_MOST_KEPT = 24


@dataclass(frozen=True)
class Quick:
    """What there is of the candidates between two datasets.

    Attributes
    ----------
    content : mapping
        As `hetviz.jobs.tasks.predict.find_links` gives it; empty until it is there.
    fraction : float
        Share of the work done.
    problem : str
        Why there are none.
    """

    content: Mapping[str, Any] = field(default_factory=dict)
    fraction: float = 0.0
    problem: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more is to come."""
        return bool(self.content or self.problem)


class _Shelf:
    """The candidates last worked out, of all visitors: equal data have equal candidates."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Quick] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Quick | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: str, found: Quick) -> None:
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)


_SHELF = _Shelf()


def linked_pairs(data: HeteroData) -> list[tuple[str, str]]:
    """Return the pairs of datasets that links join, those with most links first."""
    count: dict[tuple[str, str], int] = {}
    for links in data.links:
        together = int((links.weight > 0).sum())
        back = (links.target, links.source)
        ends = back if back in count else (links.source, links.target)
        if together:
            count[ends] = count.get(ends, 0) + together
    return sorted(count, key=lambda ends: -count[ends])


def too_large(data: HeteroData, source: str, target: str) -> bool:
    """Whether the search would keep the worker busy for longer than anybody waits unasked."""
    rows = len(data[source]) + len(data[target])
    return rows > _MOST_ROWS or sum(len(links) for links in data.links) > _MOST_LINKS


def candidates(data: HeteroData, source: str, target: str) -> Quick:
    """Return the candidates between two datasets; begin to look for them where nobody did.

    Nothing begins while a job of the visitor runs: what was asked for goes first.
    """
    key = "/".join([data.fingerprint(), source, target])
    known = _SHELF.get(key)
    if known is not None:
        return known
    runner, owner = background.RUNNER, background.beside()
    id = hashlib.sha256(f"{owner}/{key}".encode()).hexdigest()[:16]
    job = runner.get(id, owner)
    if job is None or job.state == "cancelled":
        for other in runner.jobs(owner):
            if other.live:
                runner.cancel(other.id, owner)
            else:
                runner.take(other.id, owner)
        if background.live() is not None or runner.get(id, owner) is not None:
            return Quick()
        arguments = {
            "data": data,
            "source": source,
            "target": target,
            "method": STACK,
            "params": {},
            "seeds": [0],
            "hold_out": 0.0,
            "top": _TOP,
            "quick": True,
        }
        if _keep not in background.BESIDE_ENDED:
            background.BESIDE_ENDED.append(_keep)
        runner.submit(owner, "Candidates", Task(TASK, arguments), {_FOR: key}, id)
        job = runner.get(id, owner)
    if job is not None and not job.live:
        runner.take(id, owner)
    fraction = 0.0 if job is None else job.fraction
    return _SHELF.get(key) or Quick(fraction=fraction)


def _keep(job: Job) -> None:
    """Keep what a job found, whether or not anybody is looking."""
    key = job.note.get(_FOR)
    if key is None or job.state not in ("done", "failed"):
        return
    done = job.state == "done"
    _SHELF.put(str(key), Quick(job.result.content) if done else Quick(problem=str(job.error)))

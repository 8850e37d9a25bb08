"""Visitors of a server: their places, tabs and work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

# A page opens its web socket, and a reload or a short loss of the network ends, within this time.
KEEP_PLACE_S = 30.0


@dataclass
class Visit:
    """A visitor who is on the server."""

    tabs: int = 0
    kept_until: float = 0.0  # The place is kept without a tab until this time.
    messages: int = 0  # From the tabs. Most of them run a page.
    jobs: int = 0  # Finished jobs.
    job_seconds: float = 0.0  # Processor time of these jobs.
    upload_bytes: int = 0


class Visitors:
    """The visitors of a server, at most `max_visitors` at once; 0 for any number.

    A place is taken with the first page and free again soon after the last tab was closed.
    """

    def __init__(self, max_visitors: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_visitors, self._clock = max_visitors, clock
        self._lock = threading.Lock()
        self._visits: dict[str, Visit] = {}
        self._n_refused = 0
        # Returns the size of the uploads of each visitor.
        self.upload_bytes: Callable[[], Mapping[str, int]] = dict

    def admit(self, visitor: str) -> bool:
        """Give a visitor a place for a page that begins to load; return whether there was one."""
        with self._lock:
            visit = self._find_place(visitor)
            if visit is not None:
                visit.kept_until = self._clock() + KEEP_PLACE_S
            return visit is not None

    def enter(self, visitor: str) -> bool:
        """Add a tab of a visitor; return whether there was a place."""
        with self._lock:
            visit = self._find_place(visitor)
            if visit is not None:
                visit.tabs += 1
            return visit is not None

    def leave(self, visitor: str) -> None:
        """Remove a tab."""
        with self._lock:
            visit = self._visits[visitor]
            visit.tabs -= 1
            visit.kept_until = self._clock() + KEEP_PLACE_S

    def count_message(self, visitor: str) -> None:
        with self._lock:
            self._visits[visitor].messages += 1

    def count_job(self, visitor: str, seconds: float) -> None:
        """Count a finished job of a visitor who is still there."""
        with self._lock:
            visit = self._visits.get(visitor)
            if visit is not None:
                visit.jobs += 1
                visit.job_seconds += seconds

    @property
    def n_refused(self) -> int:
        """Number of pages and web sockets that found no place."""
        with self._lock:
            return self._n_refused

    def visits(self) -> dict[str, Visit]:
        """Return copies of the visits by visitor, those with most processor time first."""
        sizes = self.upload_bytes()
        with self._lock:
            self._drop_gone()
            visits = {
                name: replace(visit, upload_bytes=sizes.get(name, 0))
                for name, visit in self._visits.items()
            }
        order = sorted(visits, key=lambda name: (-visits[name].job_seconds, -visits[name].messages))
        return {name: visits[name] for name in order}

    @property
    def n_present(self) -> int:
        """Number of taken places."""
        with self._lock:
            self._drop_gone()
            return len(self._visits)

    def _find_place(self, visitor: str) -> Visit | None:
        self._drop_gone()
        if visitor not in self._visits and 0 < self.max_visitors <= len(self._visits):
            self._n_refused += 1
            return None
        return self._visits.setdefault(visitor, Visit())

    def _drop_gone(self) -> None:
        now = self._clock()
        for name, visit in list(self._visits.items()):
            if not visit.tabs and visit.kept_until <= now:
                del self._visits[name]

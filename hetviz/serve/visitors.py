"""Visitors of a server: their places, tabs and work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

# A page opens its web socket, and a reload or a short loss of the network ends, within this time.
KEEP_PLACE_S = 30.0


@dataclass
class Visit:
    """A visitor who is on the server."""

    tabs: int = 0
    kept_until: float = 0.0  # The place is kept without a tab until this time.


class Visitors:
    """The visitors of a server, at most `max_visitors` at once; 0 for any number.

    A place is taken with the first page and free again soon after the last tab was closed.
    """

    def __init__(self, max_visitors: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_visitors, self._clock = max_visitors, clock
        self._lock = threading.Lock()
        self._visits: dict[str, Visit] = {}

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

    @property
    def n_present(self) -> int:
        """Number of taken places."""
        with self._lock:
            self._drop_gone()
            return len(self._visits)

    def _find_place(self, visitor: str) -> Visit | None:
        self._drop_gone()
        if visitor not in self._visits and 0 < self.max_visitors <= len(self._visits):
            return None
        return self._visits.setdefault(visitor, Visit())

    def _drop_gone(self) -> None:
        now = self._clock()
        for name, visit in list(self._visits.items()):
            if not visit.tabs and visit.kept_until <= now:
                del self._visits[name]

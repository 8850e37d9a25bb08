"""Queues that are fair to every owner of work, and the queue of readers."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_MIN_READERS, _MAX_READERS = 2, 4
# Interval of queue position reports.
_REPORT_S = 0.5
_VISITOR: ContextVar[str] = ContextVar("hetviz_reads_for", default="")


class FairQueue:
    """Order of waiting work: the owner with the fewest running pieces is next.

    Among these it is the owner whose last piece started longest ago, so an owner with much work
    does not block others.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._waiting: dict[str, str] = {}
        self._running: dict[str, str] = {}
        # Number of the last start of each active owner.
        self._last_start: dict[str, int] = {}

    def load(self) -> tuple[int, int]:
        """Return the numbers of running and waiting pieces."""
        return len(self._running), len(self._waiting)

    def add(self, id: str, owner: str) -> None:
        self._waiting[id] = owner

    def start(self, id: str) -> None:
        """Note that a waiting piece runs."""
        owner = self._running[id] = self._waiting.pop(id)
        self._last_start[owner] = next(self._numbers)

    def remove(self, id: str) -> None:
        """Remove a piece that has ended or no longer waits."""
        self._waiting.pop(id, None)
        self._running.pop(id, None)
        active = {*self._running.values(), *self._waiting.values()}
        self._last_start = {o: start for o, start in self._last_start.items() if o in active}

    def order(self) -> list[str]:
        """Return the waiting pieces in the order in which they would start."""
        waiting, running = dict(self._waiting), Counter(self._running.values())
        last_start = dict(self._last_start)
        order = []
        while waiting:
            # The oldest piece of the owner, because min keeps the first.
            id = min(waiting, key=lambda i: (running[waiting[i]], last_start.get(waiting[i], 0)))
            order.append(id)
            owner = waiting.pop(id)
            running[owner] += 1
            last_start[owner] = sys.maxsize
        return order


def set_visitor(visitor: str) -> None:
    """Set the visitor for whom this thread reads."""
    _VISITOR.set(visitor)


def n_readers(requested: int = 0) -> int:
    """Return the maximum number of readers: as configured, or half of the processors."""
    # Set by the server configuration, which checks it at start.
    asked = requested or int(os.environ.get("HETVIZ_WORK_READERS") or 0)
    return asked or max(_MIN_READERS, min(_MAX_READERS, (os.cpu_count() or 1) // 2))


class ReaderQueue:
    """Limits simultaneous readers, which can use gigabytes of memory, fairly to each visitor."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._queue = FairQueue()

    def load(self) -> tuple[int, int]:
        """Return the numbers of running and waiting readers."""
        with self._changed:
            return self._queue.load()

    @contextmanager
    def wait_for_turn(self, on_wait: Callable[[int], None] | None = None) -> Iterator[None]:
        """Hold a turn during the block; while waiting, `on_wait` gets the queue position."""
        with self._changed:
            id = str(next(self._numbers))
            self._queue.add(id, _VISITOR.get())
        try:
            while (n_before := self._take_turn(id)) is not None:
                if on_wait is not None:
                    # Call without the lock, because it may render a page.
                    on_wait(n_before)
                with self._changed:
                    if self._n_before(id) is not None:
                        self._changed.wait(_REPORT_S)
            yield
        finally:
            with self._changed:
                self._queue.remove(id)
                self._changed.notify_all()

    def _take_turn(self, id: str) -> int | None:
        """Take the turn and return None, or return the number of readers ahead."""
        with self._changed:
            n_before = self._n_before(id)
            if n_before is None:
                self._queue.start(id)
                self._changed.notify_all()
            return n_before

    def _n_before(self, id: str) -> int | None:
        """Return the number of waiting readers ahead, None if it is the turn."""
        n_before = self._queue.order().index(id)
        return None if n_before < n_readers() - self._queue.load()[0] else n_before


READER_QUEUE = ReaderQueue()
"""The queue of all readers that this process starts."""

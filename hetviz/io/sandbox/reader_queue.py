"""Queue for file readers that limits how many run at once, fair to each visitor.

A reader is a process of `hetviz.io.sandbox.process`, which can use gigabytes of memory.
"""

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


def set_visitor(visitor: str) -> None:
    """Set the visitor for whom this thread reads."""
    _VISITOR.set(visitor)


def n_readers() -> int:
    """Return the maximum number of readers: as configured, or half of the processors."""
    # Set by the server configuration, which checks it at start.
    asked = int(os.environ.get("HETVIZ_WORK_READERS") or 0)
    return asked or max(_MIN_READERS, min(_MAX_READERS, (os.cpu_count() or 1) // 2))


class ReaderQueue:
    """Limits simultaneous readers; the visitor with the fewest running readers is next."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._waiting: dict[int, str] = {}
        self._running: Counter[str] = Counter()
        # Turn number of the last start of each active visitor.
        self._began: dict[str, int] = {}

    def load(self) -> tuple[int, int]:
        """Return the numbers of running and waiting readers."""
        with self._changed:
            return self._running.total(), len(self._waiting)

    @contextmanager
    def wait_for_turn(self, on_wait: Callable[[int], None] | None = None) -> Iterator[None]:
        """Hold a turn during the block; while waiting, `on_wait` gets the queue position."""
        visitor = _VISITOR.get()
        with self._changed:
            number = next(self._numbers)
            self._waiting[number] = visitor
        try:
            while (n_before := self._take_turn(number)) is not None:
                if on_wait is not None:
                    # Call without the lock, because it may render a page.
                    on_wait(n_before)
                with self._changed:
                    if self._place(number) is not None:
                        self._changed.wait(_REPORT_S)
        except BaseException:
            self._leave(number)
            raise
        try:
            yield
        finally:
            with self._changed:
                self._running[visitor] -= 1
                self._running += Counter()
                self._forget_idle()
                self._changed.notify_all()

    def _take_turn(self, number: int) -> int | None:
        """Take the turn and return None, or return the number of readers ahead."""
        with self._changed:
            place = self._place(number)
            if place is None:
                visitor = self._waiting.pop(number)
                self._running[visitor] += 1
                self._began[visitor] = next(self._numbers)
                self._changed.notify_all()
            return place

    def _place(self, number: int) -> int | None:
        """Return the number of waiting readers ahead, None if it is the turn."""
        order = self._order()
        place = order.index(number)
        return None if place < n_readers() - self._running.total() else place

    def _order(self) -> list[int]:
        left, running, began = dict(self._waiting), Counter(self._running), dict(self._began)
        order = []
        for turn in range(len(left)):
            number = min(left, key=lambda n: (running[left[n]], began.get(left[n], -1), n))
            visitor = left.pop(number)
            running[visitor] += 1
            began[visitor] = sys.maxsize - len(self._waiting) + turn
            order.append(number)
        return order

    def _forget_idle(self) -> None:
        active = {*self._running, *self._waiting.values()}
        self._began = {name: turn for name, turn in self._began.items() if name in active}

    def _leave(self, number: int) -> None:
        with self._changed:
            self._waiting.pop(number, None)
            self._forget_idle()
            self._changed.notify_all()


READER_QUEUE = ReaderQueue()
"""The queue of all readers that this process starts."""

"""So many readers of files at once; the others wait for their turn, each visitor alike.

A reader is a process of `hetviz.io.sandbox.process`, which may hold gigabytes.
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
# How often who waits is told how many come first.
_REPORT_S = 0.5
_VISITOR: ContextVar[str] = ContextVar("hetviz_reads_for", default="")


def set_visitor(visitor: str) -> None:
    """Say for whom this thread reads from now on."""
    _VISITOR.set(visitor)


def n_readers() -> int:
    """Return how many readers run at once: as set, or half of the processors, 2 to 4."""
    # Set by who runs the server; settings that are none are refused when it starts.
    asked = int(os.environ.get("HETVIZ_WORK_READERS") or 0)
    return asked or max(_MIN_READERS, min(_MAX_READERS, (os.cpu_count() or 1) // 2))


class ReaderQueue:
    """Lets so many through at once.

    Of those that wait, the next is of the visitor for whom the fewest are being read, and among
    these of the one whose last turn began longest ago: a visitor with many files does not hold up
    one with a single file.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._waiting: dict[int, str] = {}
        self._running: Counter[str] = Counter()
        # When the last turn of a visitor began, in turns; of those that read or wait.
        self._began: dict[str, int] = {}

    def load(self) -> tuple[int, int]:
        """Return how many read and how many wait."""
        with self._changed:
            return self._running.total(), len(self._waiting)

    @contextmanager
    def wait_for_turn(self, on_wait: Callable[[int], None] | None = None) -> Iterator[None]:
        """Wait for a turn, and have it for as long as the block lasts.

        `on_wait` hears twice a second how many come first; what it raises ends the waiting.
        """
        visitor = _VISITOR.get()
        with self._changed:
            number = next(self._numbers)
            self._waiting[number] = visitor
        try:
            while (n_before := self._take_turn(number)) is not None:
                if on_wait is not None:
                    # Outside of the lock: it may draw a page.
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
        """Return how many come before; None when it is its turn, which it has taken then."""
        with self._changed:
            place = self._place(number)
            if place is None:
                visitor = self._waiting.pop(number)
                self._running[visitor] += 1
                self._began[visitor] = next(self._numbers)
                self._changed.notify_all()
            return place

    def _place(self, number: int) -> int | None:
        """Return how many of those that wait come before; None when it is its turn."""
        order = self._order()
        place = order.index(number)
        return None if place < n_readers() - self._running.total() else place

    def _order(self) -> list[int]:
        left, running, began = dict(self._waiting), Counter(self._running), dict(self._began)
        order = []
        for turn in range(len(left)):
            number = min(left, key=lambda one: (running[left[one]], began.get(left[one], -1), one))
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
"""Those of all readers that this process starts."""

"""Turns of threads that share Python, which runs one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Lets a few threads work at once; the others follow about in the order in which they came.

    If all threads worked at once, each would take as long as all of them together.
    """

    def __init__(self, n: int, patience_s: float) -> None:
        self._turns = threading.Semaphore(n)
        self._patience_s = patience_s
        self._thread = threading.local()

    @contextmanager
    def take(self) -> Iterator[bool]:
        """Hold a turn during the block, or begin without one after some time (gives False)."""
        # Whoever has a turn may wait for another thread, which thus must not wait for ever.
        self._acquire()
        try:
            yield self._thread.has_turn
        finally:
            self._release()

    @contextmanager
    def leave(self) -> Iterator[None]:
        """Give the turn of this thread, if any, to others during the block."""
        if not self._release():
            yield
            return
        try:
            yield
        finally:
            self._acquire()

    def _acquire(self) -> None:
        self._thread.has_turn = self._turns.acquire(timeout=self._patience_s)

    def _release(self) -> bool:
        had_turn: bool = getattr(self._thread, "has_turn", False)
        if had_turn:
            self._thread.has_turn = False
            self._turns.release()
        return had_turn


PAGE_TURNS = Turns(2, 1.0)
"""Turns of the page scripts of a server."""

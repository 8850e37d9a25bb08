"""Compiled kernels, and a few threads to run them on.

This module and those that use its decorator load numba, which takes a moment: they are imported
inside functions, by the worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

MOST_THREADS = 8


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers on its first call; it then runs without the GIL.

    The arithmetic is done as written. Were the compiler free to reorder sums, the last bits would
    depend on the width of the processor's registers and on what had been compiled before, and a
    layout by many small steps makes another picture of that. A sum over a long loop is therefore
    slow: let the inner loop run over several sums. The machine code is kept on disk beside the
    source, or in the user's cache folder where that is read-only.
    """
    return _compiled(function, {})


def compiled_loosely(function: F) -> F:
    """Compile likewise, with sums reordered and no infinities, for a quarter to half of the time.

    For results that a last bit does not change beyond the last bits. What such a function calls
    becomes a part of it, so that its code does not depend on what else was compiled before.
    """
    return _compiled(function, {"fastmath": True, "inline": "always"})


def _compiled(function: F, more: Mapping[str, object]) -> F:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **more}
    try:
        kernel: F = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # no folder to write to: compile anew in each process
        kernel = numba.njit(**options)(function)
    return kernel


def available_threads() -> int:
    """Return how many threads may be used: cores of this process, at most OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    allowed = int(asked) if asked.isdigit() and int(asked) else MOST_THREADS
    return min(cores or 1, allowed, MOST_THREADS)


class Team:
    """Threads that share out the chunks of a loop; with one thread, a plain loop.

    Kernels release the GIL, so plain threads run them side by side. They wait asleep, where a
    spinning barrier would slow down manyfold on cores that other work uses too, and need no
    threading library of the compiler's.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def each(
        self, chunks: Sequence[tuple[int, ...]], kernel: Callable[..., object], *args: object
    ) -> None:
        """Call ``kernel(*chunk, *args)`` for every chunk, in any order."""
        if self._pool is None:
            for chunk in chunks:
                kernel(*chunk, *args)
            return
        todo = iter(chunks)

        def work() -> None:
            # taking the next element of a list's iterator is atomic
            for chunk in todo:
                kernel(*chunk, *args)

        others = [self._pool.submit(work) for _ in range(self.threads - 1)]
        work()
        for other in others:
            other.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)

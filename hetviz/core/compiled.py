"""Compiled kernels, and a few threads to run them on.

This module and those that use its decorator load numba, which takes a moment, so they are imported
inside functions, in the worker process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numba

from hetviz.core.threads import requested_threads

F = TypeVar("F", bound=Callable[..., Any])

MAX_THREADS = 8


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers on its first call; it then runs without the GIL.

    The arithmetic is done as written. If the compiler could reorder sums, the last bits would
    depend on the width of the processor's registers and on previously compiled code, and a layout
    of many small steps would turn these into a different map. A sum over a long loop is therefore
    slow: let the inner loop run over several sums. The machine code is cached on disk, next to the
    source or in the user's cache folder if the source is read-only.
    """
    return _compiled(function, {})


def compiled_fastmath(function: F) -> F:
    """Compile with reordered sums and without infinities, which takes 25 to 50 % of the time.

    For results whose last bits do not matter. Called functions are inlined, so that the code does
    not depend on what else was compiled.
    """
    return _compiled(function, {"fastmath": True, "inline": "always"})


def _compiled(function: F, extra: Mapping[str, object]) -> F:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **extra}
    try:
        kernel: F = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # No folder to write to: compile in each process.
        kernel = numba.njit(**options)(function)
    return kernel


def available_threads() -> int:
    """Return ``n_jobs`` of the fit, or else the cores of this process, at most OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if (threads := requested_threads(cores or 1)) is not None:
        return threads
    requested = os.environ.get("OMP_NUM_THREADS", "")
    allowed = int(requested) if requested.isdigit() and int(requested) else MAX_THREADS
    return min(cores or 1, allowed, MAX_THREADS)


class Team:
    """Threads that share the chunks of a loop; with one thread, a plain loop.

    Kernels release the GIL, so plain Python threads run them in parallel. Idle threads sleep: a
    spinning barrier slows down manyfold on cores that are shared with other work.
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
        remaining = iter(chunks)

        def work() -> None:
            # Taking the next element of a list iterator is atomic.
            for chunk in remaining:
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

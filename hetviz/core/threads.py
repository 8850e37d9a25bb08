"""Single-threaded linear algebra, for reproducible results, and the threads of compiled loops.

The number of threads decides in which order a sum is added up and so the last bits of the result,
which a descent of many steps turns into a different map. On shared cores a single thread is also
many times faster, because the threads of these libraries wait for each other in loops.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from numbers import Integral
from types import SimpleNamespace
from typing import Self

import threadpoolctl

from hetviz.errors import ParameterError

N_THREADS = 1
"""Number of threads of linear algebra in a fit."""

_lock = threading.Lock()
# OpenMP limits threads for each thread separately, BLAS for the whole process.
_process_state = SimpleNamespace(inside=0, algebra=None, modules=None, libraries=None)
_thread_state = threading.local()

_n_jobs: ContextVar[int | None] = ContextVar("n_jobs", default=None)


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Run compiled loops on this many threads in this context; None keeps the outer limit."""
    wrong_type = isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)
    if n_jobs is not None and (wrong_type or n_jobs == 0):
        raise ParameterError(
            f"n_jobs = {n_jobs!r} must be a number of threads, or -1 for all cores, or None."
        )
    token = _n_jobs.set(_n_jobs.get() if n_jobs is None else int(n_jobs))
    try:
        yield
    finally:
        _n_jobs.reset(token)


def requested_threads(cores: int) -> int | None:
    """Return the number of threads that `limit_threads` sets; None if it sets none."""
    n_jobs = _n_jobs.get()
    if n_jobs is None or n_jobs > 0:
        return n_jobs
    # As in joblib: -2 leaves one core free.
    return max(cores + 1 + n_jobs, 1)


class one_thread(ContextDecorator):  # noqa: N801 - used as a decorator and after `with`
    """Context manager and decorator that limits linear algebra libraries to one thread."""

    def __enter__(self) -> Self:
        # A library that is loaded later would start with all of its threads.
        import scipy.linalg  # noqa: F401
        import sklearn.utils  # noqa: F401

        depth = getattr(_thread_state, "depth", 0)
        if depth == 0:
            libraries = _loaded_libraries()
            _thread_state.openmp = libraries.select(user_api="openmp").limit(limits=N_THREADS)
            with _lock:
                if _process_state.inside == 0:
                    _allow_all_threads()
                    algebra = libraries.select(user_api="blas")
                    _process_state.algebra = algebra.limit(limits=N_THREADS)
                _process_state.inside += 1
        _thread_state.depth = depth + 1
        return self

    def __exit__(self, *_: object) -> None:
        _thread_state.depth -= 1
        if _thread_state.depth == 0:
            _thread_state.openmp.restore_original_limits()
            with _lock:
                _process_state.inside -= 1
                if _process_state.inside == 0:
                    _allow_all_threads()
                    _process_state.algebra.restore_original_limits()
                    _allow_all_threads()


def _loaded_libraries() -> threadpoolctl.ThreadpoolController:
    """Return the libraries with threads; finding them takes milliseconds."""
    modules = frozenset(sys.modules)
    with _lock:
        # Only an import loads another one.
        if _process_state.modules != modules:
            _process_state.libraries = threadpoolctl.ThreadpoolController()
            _process_state.modules = modules
        return _process_state.libraries


def _allow_all_threads() -> None:
    """Let any thread set the limit: newer threadpoolctl accepts only the first one that did."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)

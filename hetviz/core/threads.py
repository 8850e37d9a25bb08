"""One thread for linear algebra: how it shares out a sum decides the last bits of the result.

A descent over many steps makes another picture of another last bit. Where cores are shared, the
threads of such libraries also wait for each other in loops, and one is many times faster.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from types import SimpleNamespace
from typing import Self

import threadpoolctl

_lock = threading.Lock()
# OpenMP counts threads for each thread by itself, linear algebra for the whole process.
_process = SimpleNamespace(inside=0, algebra=None)
_mine = threading.local()


class one_thread(ContextDecorator):  # noqa: N801 - used as a decorator and after `with`
    """Within it (or within a function so decorated) libraries of linear algebra use one thread.

    Other threads of the process may be within it too: the last to leave gives the libraries
    their threads back.
    """

    def __enter__(self) -> Self:
        # What is loaded only later would start with all of its threads.
        import scipy.linalg  # noqa: F401
        import sklearn.utils  # noqa: F401

        depth = getattr(_mine, "depth", 0)
        if depth == 0:
            libraries = threadpoolctl.ThreadpoolController()
            _mine.openmp = libraries.select(user_api="openmp").limit(limits=1)
            with _lock:
                if _process.inside == 0:
                    _for_all_threads()
                    _process.algebra = libraries.select(user_api="blas").limit(limits=1)
                _process.inside += 1
        _mine.depth = depth + 1
        return self

    def __exit__(self, *_: object) -> None:
        _mine.depth -= 1
        if _mine.depth == 0:
            _mine.openmp.restore_original_limits()
            with _lock:
                _process.inside -= 1
                if _process.inside == 0:
                    _for_all_threads()
                    _process.algebra.restore_original_limits()
                    _for_all_threads()


def _for_all_threads() -> None:
    """Let any thread set the limit; newer threadpoolctl heeds the first that did, and no other."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)

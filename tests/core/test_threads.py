"""Thread limit of `one_thread` and its end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - so that one_thread loads nothing more
import sklearn.utils  # noqa: F401 - so that OpenMP is loaded
from threadpoolctl import (
    OpenBLASController,
    ThreadpoolController,
    threadpool_info,
    threadpool_limits,
)

from hetviz.core import threads
from hetviz.core.threads import one_thread


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    # A thread that an earlier test left behind may still be the one that sets limits.
    OpenBLASController.clear_controlling_thread(force=True)
    # Not after `with`: then only this Python thread could set any further limit.
    limits = threadpool_limits(2)
    yield
    limits.restore_original_limits()


def counts() -> set[int]:
    # An earlier test may have loaded a library that was built for one thread: cvxpy brings one.
    return {
        library["num_threads"]
        for library in threadpool_info()
        if library.get("threading_layer") != "disabled"
    }


def test_one_thread_ends_with_the_outermost() -> None:
    np.zeros((2, 2)) @ np.zeros((2, 2))
    assert counts() == {2}
    with one_thread():
        assert counts() == {1}
        with one_thread():
            assert counts() == {1}
        assert counts() == {1}
    assert counts() == {2}


def test_one_thread_ends_on_error() -> None:
    @one_thread()
    def fails() -> None:
        assert counts() == {1}
        raise ValueError("on purpose")

    for _ in range(2):
        with pytest.raises(ValueError, match="on purpose"):
            fails()
        assert counts() == {2}


def test_one_thread_is_kept_until_the_last_thread_leaves() -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with one_thread():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(10)
    with one_thread():
        leave.set()
        thread.join(10)
        assert counts() == {1}
    assert counts() == {2}


def test_libraries_are_found_again_after_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    class Noted(ThreadpoolController):
        def __init__(self) -> None:
            found.append(self)
            super().__init__()

    monkeypatch.setattr(threads.threadpoolctl, "ThreadpoolController", Noted)
    for name in ("one", "two"):
        # A module that brings a library with threads of its own.
        monkeypatch.setitem(sys.modules, f"hetviz_test_{name}", threading)
        for _ in range(3):
            with one_thread():
                pass
    assert len(found) == 2

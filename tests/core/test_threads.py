"""Thread limit of `one_thread` and its end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - so that one_thread loads nothing more
import sklearn.utils  # noqa: F401 - so that OpenMP is loaded
from sklearn.base import clone
from threadpoolctl import (
    ThreadpoolController,
    threadpool_info,
    threadpool_limits,
)

import hetviz
from hetviz.core import compiled, threads
from hetviz.core.layout import sne
from hetviz.core.threads import limit_threads, one_thread, requested_threads
from hetviz.errors import ParameterError


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    # A thread that an earlier test left behind may still be the one that sets limits.
    threads._allow_all_threads()
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


def test_maps_are_the_same_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 4))
    monkeypatch.setattr(sne, "ONE_THREAD_ROWS", 50)
    used: list[int] = []
    team = compiled.Team.__init__
    monkeypatch.setattr(
        compiled.Team, "__init__", lambda self, n: (used.append(n), team(self, n))[1]
    )
    data = hetviz.HeteroData.from_frames({"items": table})
    maps = [
        hetviz.MRSNE(n_jobs=1).fit(data).embedding_,
        hetviz.MRSNE(n_jobs=3).fit(data).embedding_,
        hetviz.embed(data, "mr-sne", n_jobs=2),
    ]
    assert {1, 2, 3} == set(used)
    for embedding in maps[1:]:
        np.testing.assert_array_equal(embedding["items"], maps[0]["items"])


def test_number_of_threads_is_no_parameter_of_a_run() -> None:
    model = clone(hetviz.PCA(n_jobs=2))
    assert model.get_params()["n_jobs"] == 2
    assert "n_jobs" not in hetviz.PCA.params
    data = hetviz.HeteroData.from_frames({"items": np.arange(20.0).reshape(10, 2)})
    assert "n_jobs" not in hetviz.embed(data, "pca", n_jobs=2).made.run.params
    for wrong in (0, 1.5, "2", True):
        with pytest.raises(ParameterError, match=r"n_jobs = .* must be a number of threads"):
            hetviz.PCA(n_jobs=wrong).fit(data)


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, None), (3, 3), (-1, 4), (-2, 3), (-9, 1)])
def test_negative_numbers_count_from_all_cores(n_jobs: int | None, expected: int | None) -> None:
    with limit_threads(n_jobs):
        assert requested_threads(4) == expected
        with limit_threads(None):
            assert requested_threads(4) == expected
    assert requested_threads(4) is None

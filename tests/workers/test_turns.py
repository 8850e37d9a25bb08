"""Tests of turns of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from hetviz.workers.turns import Turns
from tests.waits import PATIENCE_S, wait_until


def in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_few_threads_work_at_once() -> None:
    turns, lock, working, most = Turns(2, PATIENCE_S), threading.Lock(), 0, 0
    both = threading.Barrier(2)

    def work(_: int) -> None:
        nonlocal working, most
        with turns.take():
            with lock:
                working += 1
                most = max(most, working)
            # Passes only when two threads have a turn.
            both.wait(PATIENCE_S)
            with lock:
                working -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert most == 2


def test_thread_begins_without_turn_after_some_time() -> None:
    turns, free = Turns(1, 0.01), threading.Event()

    def hold() -> None:
        with turns.take() as has_turn:
            assert has_turn
            free.wait(PATIENCE_S)

    holder = in_thread(hold)
    assert wait_until(lambda: not turns._turns._value)
    with turns.take() as has_turn:
        assert not has_turn
        with turns.leave():
            pass
    # It has no turn to give back.
    with turns.take() as has_turn:
        assert not has_turn
    free.set()
    holder.join()
    with turns.take() as has_turn:
        assert has_turn


def test_others_have_turn_meanwhile() -> None:
    turns, done = Turns(1, PATIENCE_S), []

    def other() -> None:
        with turns.take():
            done.append(True)

    with turns.take():
        waiting = in_thread(other)
        with turns.leave():
            assert wait_until(lambda: bool(done))
    waiting.join()


def test_turn_ends_with_error() -> None:
    turns = Turns(1, PATIENCE_S)
    with pytest.raises(ValueError, match="failed"), turns.take():
        raise ValueError("failed")
    with turns.take() as has_turn:
        assert has_turn

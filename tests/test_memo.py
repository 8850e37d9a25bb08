"""Tests of the bounded cache of computed results."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from hetviz.memo import Memo, cached_while_alive


class Thing:
    """An object that can be an owner."""


def test_memo_computes_once_per_key() -> None:
    memo, calls = Memo(), []
    first = memo.get_or_compute(None, "a", lambda: calls.append(1) or object())
    assert memo.get_or_compute(None, "a", lambda: calls.append(2)) is first
    assert memo.get_or_compute("s", "a", lambda: calls.append(3)) is None
    assert memo.get_or_compute("s", "a", lambda: calls.append(4)) is None
    assert calls == [1, 3]
    assert memo.get("t", "a") is None


def test_memo_computes_once_for_many_threads() -> None:
    memo, calls = Memo(), []
    start = threading.Barrier(8)

    def make() -> object:
        calls.append(1)
        time.sleep(0.02)
        return object()

    results: list[object] = []

    def ask() -> None:
        start.wait()
        results.append(memo.get_or_compute(None, "a", make))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len({id(result) for result in results}) == 1


def test_memo_computes_again_after_error() -> None:
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.get_or_compute(None, "a", lambda: 1 // 0)
    assert memo.get_or_compute(None, "a", lambda: 3) == 3


def test_memo_nests_keys() -> None:
    memo = Memo()
    outer = memo.get_or_compute(None, "a", lambda: memo.get_or_compute(None, "b", lambda: 2) + 1)
    assert (outer, memo.get(None, "b")) == (3, 2)


def test_memo_drops_least_recently_used_entries_of_an_owner() -> None:
    memo = Memo(max_entries=2)
    for key in "abac":
        memo.get_or_compute("x", key, object)
    memo.put("y", "a", 1)
    assert memo.keys("x") == ["a", "c"]
    assert memo.keys("y") == ["a"]


def test_memo_limits_size_of_owners_and_of_all() -> None:
    memo = Memo(max_size=500, max_owner_size=300, size_of=len)
    arrays = [bytes([k]) * 100 for k in range(6)]
    for k in range(3):
        memo.put("a", k, arrays[k])
    assert memo.get("a", 0) is arrays[0]
    memo.put("a", 3, arrays[3])
    assert memo.keys("a") == [2, 0, 3]
    for k in range(3):
        memo.put("b", k, arrays[k])
    assert memo.size == 500
    assert memo.keys("a") == [0, 3]
    memo.put("b", 2, arrays[2])
    assert memo.size == 500
    # The newest stays even if it is too large.
    memo.put("c", 0, bytes(4000))
    assert (memo.size, memo.keys("a"), memo.keys("c")) == (4000, [], [0])


def test_memo_clears_and_drops() -> None:
    memo = Memo(size_of=len)
    for owner in "ab":
        for key in "xy":
            memo.put(owner, key, "one")
    memo.clear("a")
    memo.drop("b", "x")
    memo.drop("b", "z")
    assert (memo.keys("a"), memo.keys("b"), memo.size) == ([], ["y"], 3)


def test_memo_drops_results_of_deleted_owner() -> None:
    memo, owner, result = Memo(size_of=lambda _: 1), Thing(), Thing()
    alive = weakref.ref(result)
    memo.put(owner, "x", result)
    del result
    assert memo.get(owner, "x") is alive()
    del owner
    gc.collect()
    assert alive() is None
    assert memo.size == 0


def test_memo_drops_results_of_owner_deleted_under_its_lock() -> None:
    memo = Memo(max_entries=1)
    # The entry that is dropped holds the last reference to an owner.
    owner = Thing()
    memo.put(owner, "x", 1)
    memo.put("a", "x", owner)
    del owner
    memo.put("a", "y", 2)
    assert len(memo._groups) == 1


def test_memo_with_several_owners() -> None:
    memo, first, second, third = Memo(), Thing(), Thing(), Thing()
    assert memo.get_or_compute((first, second), "x", lambda: 1) == 1
    assert memo.get((first, second), "x") == 1
    assert memo.get((first, third), "x") is None
    assert memo.get(first, "x") is None
    assert memo.get_or_compute((first, third), "x", lambda: 2) == 2


def test_memo_keeps_objects_alive_that_a_key_names() -> None:
    memo, named = Memo(), Thing()
    alive = weakref.ref(named)
    memo.get_or_compute(None, id(named), object, named)
    del named
    gc.collect()
    assert alive() is not None
    memo.drop_unused(-1.0)
    gc.collect()
    assert alive() is None


def test_memo_drops_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    memo = Memo()
    memo.put("a", "old", 1)
    later = time.monotonic() + 1000
    monkeypatch.setattr(time, "monotonic", lambda: later)
    memo.put("a", "fresh", 2)
    memo.drop_unused(1000)
    assert memo.keys("a") == ["fresh"]


def test_cached_while_alive() -> None:
    calls = []

    @cached_while_alive
    def number(owner: Thing) -> int:
        calls.append(1)
        return len(calls)

    one, other = Thing(), Thing()
    assert [number(one), number(other), number(one)] == [1, 2, 1]

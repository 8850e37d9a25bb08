"""So many readers at once, each visitor alike."""

from __future__ import annotations

import threading

import pytest

from hetviz.workers import queue as reader_queue
from hetviz.workers import reader as process


class Reader:
    """One that reads until it is told to end."""

    def __init__(self, all: reader_queue.ReaderQueue, visitor: str) -> None:
        self.reads, self.may_end = threading.Event(), threading.Event()
        self.last_message: list[int] = []
        self.asked = threading.Event()
        self._all, self._visitor = all, visitor
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        # In its place in the queue before the next one comes.
        while not (self.asked.is_set() or self.reads.wait(0.01)):
            pass

    def _read(self) -> None:
        reader_queue.set_visitor(self._visitor)
        with self._all.wait_for_turn(self._told):
            self.reads.set()
            self.may_end.wait()

    def _told(self, before: int) -> None:
        self.last_message.append(before)
        self.asked.set()

    def end(self) -> None:
        self.may_end.set()
        self.thread.join()


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> reader_queue.ReaderQueue:
    monkeypatch.setenv("HETVIZ_WORK_READERS", "1")
    return reader_queue.ReaderQueue()


def test_reader_queue_is_fair_to_visitors_with_one_file(
    one: reader_queue.ReaderQueue,
) -> None:
    many = [Reader(one, "ada") for _ in range(3)]
    single = Reader(one, "bob")
    assert many[0].reads.is_set() and one.load() == (1, 3)
    # Ada has had a turn, so Bob, who came last, comes first.
    assert many[1].last_message[0] == 0 and single.last_message[0] == 0
    many[0].end()
    assert single.reads.wait(10) and not many[1].reads.is_set()
    single.end()
    assert many[1].reads.wait(10) and not many[2].reads.is_set()
    many[1].end()
    assert many[2].reads.wait(10)
    many[2].end()
    assert one.load() == (0, 0)


def test_reader_queue_allows_configured_number_of_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETVIZ_WORK_READERS", "2")
    both = reader_queue.ReaderQueue()
    readers = [Reader(both, name) for name in ("ada", "bob", "cem")]
    assert both.load() == (2, 1)
    assert [one.reads.is_set() for one in readers] == [True, True, False]
    readers[1].end()
    assert readers[2].reads.wait(10)
    for reader in readers:
        reader.end()


def test_number_of_readers_follows_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HETVIZ_WORK_READERS", raising=False)
    numbers = []
    for processors in (1, 6, 64):
        monkeypatch.setattr(reader_queue.os, "cpu_count", lambda n=processors: n)
        numbers.append(reader_queue.n_readers())
    assert numbers == [2, 3, 4]


def test_reader_queue_drops_cancelled_waiters(one: reader_queue.ReaderQueue) -> None:
    first = Reader(one, "ada")

    def leave(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), one.wait_for_turn(leave):
        pass
    assert one.load() == (1, 0)
    first.end()
    with one.wait_for_turn(leave):
        assert one.load() == (1, 0)


def test_reader_queue_releases_turn_on_error(one: reader_queue.ReaderQueue) -> None:
    with pytest.raises(ZeroDivisionError), one.wait_for_turn():
        raise ZeroDivisionError
    assert one.load() == (0, 0)


def test_reader_queue_reports_waiting(
    one: reader_queue.ReaderQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "READER_QUEUE", one)
    other = Reader(one, "ada")
    said: list[str] = []

    def heard(_: float, words: str) -> None:
        said.append(words)
        other.may_end.set()

    # A module that is there and does nothing.
    assert process.run("this", [b""], "a.csv", on_progress=heard).startswith(b"The Zen")
    assert said[0] == "Waiting for other files"
    other.end()

"""Runners: results, progress, typed errors, the queue, cancel, and who may see what."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hetviz.errors import ParameterError
from hetviz.jobs import InlineRunner, Job, Runner, Task, ThreadRunner
from hetviz.jobs.failures import NO_MEMORY, UNEXPECTED
from hetviz.jobs.runner import seconds_left
from hetviz.progress import Progress

HERE = __name__
GATES: dict[str, threading.Event] = {}


def double(value: int, progress: Progress) -> int:
    progress(0.5, "half way")
    return 2 * value


def refuse(progress: Progress) -> None:
    raise ParameterError("gamma must be positive")


def crash(progress: Progress) -> None:
    raise ZeroDivisionError("secret detail")


def hoard(progress: Progress) -> None:
    raise MemoryError("512 GiB")


def show(progress: Progress) -> None:
    progress(0.2, "first", layout=np.zeros((3, 2)))
    progress(0.4, "no layout")
    progress(0.6, "last", layout=lambda: np.arange(9).reshape(3, 3))


def show_badly(progress: Progress) -> None:
    progress(0.2, layout=np.zeros(3))


def until_stopped(started: str, progress: Progress) -> None:
    GATES[started].set()
    while True:
        progress(0.3, "turning")
        threading.Event().wait(0.005)


def until_released(started: str, release: str, progress: Progress) -> str:
    GATES[started].set()
    assert GATES[release].wait(20)
    return "released"


@pytest.fixture(autouse=True)
def this_module_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, HERE, sys.modules.get(HERE) or _this_module())


def _this_module() -> Any:
    import types

    module = types.ModuleType(HERE)
    module.__dict__.update(globals())
    return module


def task(name: str, **arguments: Any) -> Task:
    return Task(f"{HERE}:{name}", arguments)


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(4000):
        if condition():
            return
        threading.Event().wait(0.005)
    raise AssertionError("it did not happen within 20 s")


def over(runner: Runner, id: str) -> bool:
    job = runner.get(id, "me")
    return job is not None and not job.live


@pytest.fixture(params=[InlineRunner, ThreadRunner])
def runner(request: pytest.FixtureRequest) -> Any:
    return request.param()


def test_a_result_comes_back_with_its_note(runner: Runner) -> None:
    id = runner.submit("me", "Doubling", task("double", value=21), {"seed": 3})
    wait_for(lambda: over(runner, id))
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, job.result, job.fraction, job.note) == ("done", 42, 1.0, {"seed": 3})


def test_an_error_in_plain_words_is_kept_as_it_is(runner: Runner) -> None:
    id = runner.submit("me", "Refusing", task("refuse"))
    wait_for(lambda: over(runner, id))
    job = runner.get(id, "me")
    assert job is not None
    assert job.state == "failed"
    assert isinstance(job.error, ParameterError)
    assert str(job.error) == "gamma must be positive"


def test_an_unexpected_failure_shows_no_internals(runner: Runner) -> None:
    id = runner.submit("me", "Crashing", task("crash"))
    wait_for(lambda: over(runner, id))
    job = runner.get(id, "me")
    assert job is not None
    assert job.state == "failed"
    assert str(job.error) == UNEXPECTED


def test_too_little_memory_is_said_plainly(runner: Runner) -> None:
    id = runner.submit("me", "Hoarding", task("hoard"))
    wait_for(lambda: over(runner, id))
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, str(job.error)) == ("failed", NO_MEMORY)


def test_the_newest_layout_is_kept(runner: Runner) -> None:
    id = runner.submit("me", "Showing", task("show"))
    wait_for(lambda: over(runner, id))
    job, frame = runner.get(id, "me"), runner.frame(id, "me", after=1)
    assert job is not None and frame is not None
    assert (job.seq, frame.seq) == (2, 2)
    layout = np.frombuffer(frame.layout, dtype="<f4").reshape(3, 2)
    assert layout.tolist() == [[0, 1], [3, 4], [6, 7]]
    assert runner.frame(id, "me", after=2) is None
    assert runner.frame(id, "you") is None


def test_a_layout_of_another_shape_is_a_fault_of_the_method(runner: Runner) -> None:
    id = runner.submit("me", "Showing", task("show_badly"))
    wait_for(lambda: over(runner, id))
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, str(job.error)) == ("failed", UNEXPECTED)


def test_the_end_of_an_inline_job_is_told_before_it_is_seen() -> None:
    ends: list[Job] = []

    def on_end(job: Job) -> None:
        seen = runner.get(job.id, "me")
        assert seen is not None and seen.live
        ends.append(job)

    runner = InlineRunner(on_end)
    runner.warm()
    runner.submit("me", "Doubling", task("double", value=2), id="mine")
    assert [(job.id, job.state, job.result) for job in ends] == [("mine", "done", 4)]


def test_only_the_owner_sees_a_job(runner: Runner) -> None:
    id = runner.submit("me", "Doubling", task("double", value=1))
    wait_for(lambda: over(runner, id))
    assert runner.get(id, "you") is None
    assert runner.jobs("you") == []
    assert runner.take(id, "you") is None
    assert [job.id for job in runner.jobs("me")] == [id]
    taken = runner.take(id, "me")
    assert taken is not None
    assert taken.result == 2
    assert runner.take(id, "me") is None
    assert runner.jobs("me") == []


def test_cancel_stops_a_running_job_and_the_next_one_runs() -> None:
    GATES["started"] = threading.Event()
    runner = ThreadRunner()
    first = runner.submit("me", "Turning", task("until_stopped", started="started"))
    assert GATES["started"].wait(20)
    second = runner.submit("me", "Doubling", task("double", value=2))
    waiting = runner.get(second, "me")
    assert waiting is not None
    assert (waiting.state, waiting.ahead) == ("waiting", 1)
    runner.cancel(first, "you")
    assert not over(runner, first)
    runner.cancel(first, "me")
    wait_for(lambda: over(runner, first) and over(runner, second))
    stopped, done = runner.get(first, "me"), runner.get(second, "me")
    assert stopped is not None and done is not None
    assert stopped.state == "cancelled"
    assert (done.state, done.result) == ("done", 4)


def test_a_waiting_job_is_cancelled_at_once_and_others_move_up() -> None:
    GATES["in"], GATES["out"] = threading.Event(), threading.Event()
    runner = ThreadRunner()
    runner.submit("me", "Busy", task("until_released", started="in", release="out"))
    assert GATES["in"].wait(20)
    second = runner.submit("me", "Second", task("double", value=2))
    third = runner.submit("me", "Third", task("double", value=3))
    before = runner.get(third, "me")
    runner.cancel(second, "me")
    after, gone = runner.get(third, "me"), runner.get(second, "me")
    GATES["out"].set()
    assert before is not None and after is not None and gone is not None
    assert (before.ahead, after.ahead, gone.state) == (2, 1, "cancelled")
    wait_for(lambda: over(runner, third))
    assert [job.state for job in runner.jobs("me")] == ["done", "cancelled", "done"]


def test_time_left_follows_from_the_share_done() -> None:
    assert seconds_left(0.25, 10.0) == pytest.approx(30.0)
    assert seconds_left(0.0, 10.0) is None
    assert seconds_left(0.5, 0.1) is None

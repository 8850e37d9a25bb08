"""Tests of the inline runner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetviz.errors import ParameterError
from hetviz.jobs import InlineRunner, Job, Runner, Task
from hetviz.jobs.runner import seconds_left
from hetviz.progress import Progress
from hetviz.workers.failures import NO_MEMORY, UNEXPECTED
from tests.jobs.chores import chore

HERE = __name__


def double(value: int, progress: Progress) -> int:
    progress(0.5, "half way")
    return 2 * value


def refuse(progress: Progress) -> None:
    raise ParameterError("gamma must be positive")


def crash(progress: Progress) -> None:
    raise ZeroDivisionError("secret detail")


def use_memory(progress: Progress) -> None:
    raise MemoryError("512 GiB")


def show(progress: Progress) -> None:
    progress(0.2, "first", layout=np.zeros((3, 2)))
    progress(0.4, "no layout")
    progress(0.6, "last", layout=lambda: np.arange(9).reshape(3, 3))


def show_badly(progress: Progress) -> None:
    progress(0.2, layout=np.zeros(3))


@pytest.fixture(autouse=True)
def importable_module(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, HERE, sys.modules.get(HERE) or _this_module())


def _this_module() -> Any:
    import types

    module = types.ModuleType(HERE)
    module.__dict__.update(globals())
    return module


def task(name: str, **arguments: Any) -> Task:
    return chore(name, HERE, **arguments)


@pytest.fixture
def runner() -> Runner:
    return InlineRunner()


def test_result_has_note(runner: Runner) -> None:
    id = runner.submit("me", "Doubling", task("double", value=21), {"seed": 3})
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, job.result, job.fraction, job.note) == ("done", 42, 1.0, {"seed": 3})


def test_hetviz_error_is_kept(runner: Runner) -> None:
    id = runner.submit("me", "Refusing", task("refuse"))
    job = runner.get(id, "me")
    assert job is not None
    assert job.state == "failed"
    assert isinstance(job.error, ParameterError)
    assert str(job.error) == "gamma must be positive"


def test_unexpected_error_is_hidden(runner: Runner) -> None:
    id = runner.submit("me", "Crashing", task("crash"))
    job = runner.get(id, "me")
    assert job is not None
    assert job.state == "failed"
    assert str(job.error) == UNEXPECTED


def test_memory_error_message(runner: Runner) -> None:
    id = runner.submit("me", "Hoarding", task("use_memory"))
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, str(job.error)) == ("failed", NO_MEMORY)


def test_newest_frame_is_kept(runner: Runner) -> None:
    id = runner.submit("me", "Showing", task("show"))
    job, frame = runner.get(id, "me"), runner.frame(id, "me", after=1)
    assert job is not None and frame is not None
    assert (job.seq, frame.seq) == (2, 2)
    layout = np.frombuffer(frame.layout, dtype="<f4").reshape(3, 2)
    assert layout.tolist() == [[0, 1], [3, 4], [6, 7]]
    assert runner.frame(id, "me", after=2) is None
    assert runner.frame(id, "you") is None


def test_parts_are_kept(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    call = chore("in_parts", gate=str(tmp_path / "gate"))
    job = runner.take(runner.submit("me", "parts", call), "me")
    assert job is not None
    assert job.parts == (("First", 0.25, "running"), ("Second", 1.0, "waiting"))


def test_bad_layout_shape_is_error(runner: Runner) -> None:
    id = runner.submit("me", "Showing", task("show_badly"))
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, str(job.error)) == ("failed", UNEXPECTED)


def test_on_end_is_called_before_publication() -> None:
    ends: list[Job] = []

    def on_end(job: Job) -> None:
        seen = runner.get(job.id, "me")
        assert seen is not None and seen.is_active
        ends.append(job)

    runner = InlineRunner(on_end)
    runner.warm()
    runner.submit("me", "Doubling", task("double", value=2), id="mine")
    assert [(job.id, job.state, job.result) for job in ends] == [("mine", "done", 4)]


def test_job_visible_to_owner_only(runner: Runner) -> None:
    id = runner.submit("me", "Doubling", task("double", value=1))
    assert runner.get(id, "you") is None
    assert runner.jobs("you") == []
    assert runner.take(id, "you") is None
    assert [job.id for job in runner.jobs("me")] == [id]
    taken = runner.take(id, "me")
    assert taken is not None
    assert taken.result == 2
    assert runner.take(id, "me") is None
    assert runner.jobs("me") == []


def test_seconds_left() -> None:
    assert seconds_left(0.25, 10.0) == pytest.approx(30.0)
    assert seconds_left(0.0, 10.0) is None
    assert seconds_left(0.5, 0.1) is None

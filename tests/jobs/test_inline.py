"""Tests of the inline runner."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetviz.errors import ParameterError
from hetviz.jobs import Job, Task
from hetviz.jobs.runner import TimeLeft
from hetviz.progress import Progress
from hetviz.workers.failures import NO_MEMORY, UNEXPECTED
from tests.inline_runner import InlineRunner
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
def runner() -> InlineRunner:
    return InlineRunner()


def test_result_has_note(runner: InlineRunner) -> None:
    id = runner.submit("me", "Doubling", task("double", value=21), {"seed": 3})
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, job.result, job.fraction, job.note) == ("done", 42, 1.0, {"seed": 3})


def test_hetviz_error_is_kept(runner: InlineRunner) -> None:
    id = runner.submit("me", "Refusing", task("refuse"))
    job = runner.get(id, "me")
    assert job is not None
    assert job.state == "failed"
    assert isinstance(job.error, ParameterError)
    assert str(job.error) == "gamma must be positive"


def test_unexpected_error_is_hidden(runner: InlineRunner) -> None:
    id = runner.submit("me", "Crashing", task("crash"))
    job = runner.get(id, "me")
    assert job is not None
    assert job.state == "failed"
    assert str(job.error) == UNEXPECTED


def test_memory_error_message(runner: InlineRunner) -> None:
    id = runner.submit("me", "Hoarding", task("use_memory"))
    job = runner.get(id, "me")
    assert job is not None
    assert (job.state, str(job.error)) == ("failed", NO_MEMORY)


def test_newest_frame_is_kept(runner: InlineRunner) -> None:
    id = runner.submit("me", "Showing", task("show"))
    job, frame = runner.get(id, "me"), runner.frame(id, "me", after=1)
    assert job is not None and frame is not None
    assert (job.seq, frame.seq) == (2, 2)
    layout = np.frombuffer(frame.layout, dtype="<f4").reshape(3, 2)
    assert layout.tolist() == [[0, 1], [3, 4], [6, 7]]
    assert runner.frame(id, "me", after=2) is None
    assert runner.frame(id, "you") is None


def test_parts_are_kept(runner: InlineRunner, tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    call = chore("in_parts", gate=str(tmp_path / "gate"))
    job = runner.take(runner.submit("me", "parts", call), "me")
    assert job is not None
    assert job.parts == (("First", 0.25, "running"), ("Second", 1.0, "waiting"))


def test_bad_layout_shape_is_error(runner: InlineRunner) -> None:
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


def test_job_visible_to_owner_only(runner: InlineRunner) -> None:
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


def profile(phases: list[tuple[float, float]], noise: float = 0.0) -> list[tuple[float, float]]:
    """Return times and shares done of a job whose phases are (share of the work, seconds)."""
    rng = np.random.default_rng(0)
    reports, done, at = [], 0.0, 0.0
    for share, seconds in phases:
        steps = np.arange(1, int(4 * seconds) + 1) / int(4 * seconds)
        fractions = done + share * steps + rng.uniform(-noise, noise, len(steps))
        reports += list(zip(at + seconds * steps, np.clip(fractions, 0.0, 1.0), strict=True))
        done, at = done + share, at + seconds
    return reports


@pytest.mark.parametrize(
    ("phases", "noise", "max_rises"),
    [
        ([(1.0, 40.0)], 0.0, 0),
        ([(1.0, 40.0)], 0.02, 0),
        ([(1.0, 300.0)], 0.02, 0),
        ([(0.4, 4.0), (0.4, 24.0), (0.2, 12.0)], 0.01, 1),
        ([(0.4, 30.0), (0.4, 180.0), (0.2, 90.0)], 0.01, 3),
    ],
)
def test_time_left_does_not_jump(
    phases: list[tuple[float, float]], noise: float, max_rises: int
) -> None:
    started_at, total = time.monotonic(), sum(seconds for _, seconds in phases)
    time_left = TimeLeft()
    reports = profile(phases, noise)
    shown = [(at, time_left.update(done, started_at + at)) for at, done in reports]
    estimates = [left for _, left in shown if left is not None]
    changes = np.diff(estimates)
    assert (changes > 0).sum() <= max_rises
    # It ends at nothing, and a job of even speed is foreseen.
    assert estimates[-1] < 0.05 * total
    if len(phases) == 1:
        late = [(total - at, left) for at, left in shown if left is not None and at > total / 4]
        assert all(abs(left - true) < 0.2 * total for true, left in late)


def test_time_left_is_unknown_at_first() -> None:
    time_left, now = TimeLeft(), time.monotonic()
    assert time_left.update(0.5, now + 0.5) is None
    assert time_left.update(0.01, now + 10.0) is None
    assert time_left.update(0.25, now + 10.0) == pytest.approx(30.0, rel=0.1)

"""Tests of the process runner: results, errors, frames, crashes, shutdown."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetviz.data import Dataset, HeteroData
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError
from hetviz.jobs import Job, Pool
from hetviz.jobs import pool as process
from hetviz.workers.failures import CANNOT_START, ENDED_FROM_OUTSIDE, NO_MEMORY, UNEXPECTED
from tests.jobs.chores import chore
from tests.waits import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]
WARM_UP, NO_WARM_UP = process._WARM_UP, "tests.jobs.chores:load_nothing"


def wait_for(condition: Callable[[], bool]) -> None:
    assert wait_until(condition)


def pid_of(pool: Pool) -> int | None:
    """Return the process id of the only worker."""
    return next(iter(pool.worker_pids), None)


def see(runner: Pool, id: str, owner: str = "me") -> Job:
    job = runner.get(id, owner)
    assert job is not None
    return job


def over(runner: Pool, id: str) -> Job:
    wait_for(lambda: not see(runner, id).is_active)
    return see(runner, id)


def do(runner: Pool, name: str, **arguments: Any) -> Job:
    return over(runner, runner.submit("me", name, chore(name, **arguments)))


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has asked after since it ended does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.fixture(scope="module", autouse=True)
def no_warm_up() -> Iterator[None]:
    """Start workers that load nothing before their first task; their warm-up takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_WARM_UP", NO_WARM_UP)
        yield


@pytest.fixture(scope="module")
def shared(no_warm_up: None) -> Iterator[Pool]:
    """One runner for all tests, also for those that end its worker: it starts another."""
    runner = Pool(workers=1)
    yield runner
    runner.close()


@pytest.fixture
def runner(no_warm_up: None) -> Iterator[Pool]:
    """Return a runner without a worker."""
    runner = Pool(workers=1)
    yield runner
    runner.close()


# What comes back


def test_result_has_note(shared: Pool) -> None:
    id = shared.submit("me", "Doubling", chore("double", value=21), {"seed": 3})
    job = over(shared, id)
    assert (job.state, job.result, job.fraction, job.note) == ("done", 42, 1.0, {"seed": 3})
    assert (job.message, job.ahead, job.error, job.title) == ("half way", 0, None, "Doubling")


def test_submit_accepts_id(shared: Pool) -> None:
    assert shared.submit("me", "Doubling", chore("double", value=1), id="chosen") == "chosen"
    assert over(shared, "chosen").result == 2
    with pytest.raises(ValueError, match="chosen"):
        shared.submit("me", "Doubling", chore("double", value=1), id="chosen")


def test_worker_is_separate_low_priority_process(shared: Pool) -> None:
    job = do(shared, "pid")
    assert job.result == pid_of(shared) != os.getpid()
    result = do(shared, "process_environment").result
    assert int(result["threads"]) >= 1
    assert result["nice"] > os.nice(0) or result["nice"] == 19
    assert result["interrupt"]
    assert not result["streamlit"]


def test_job_visible_to_owner_only(shared: Pool) -> None:
    id = shared.submit("alone", "Showing", chore("layouts", number=1, n=3))
    wait_for(lambda: not see(shared, id, "alone").is_active)
    assert shared.get(id, "you") is None
    assert shared.jobs("you") == []
    assert shared.take(id, "you") is None
    assert shared.frame(id, "you") is None
    assert shared.frame(id, "alone") is not None
    assert [job.id for job in shared.jobs("alone")] == [id]
    taken = shared.take(id, "alone")
    assert taken is not None and taken.result == 1
    assert shared.take(id, "alone") is None
    assert shared.frame(id, "alone") is None


# Errors


@pytest.mark.parametrize("kind", ["parameter", "data", "method"])
def test_hetviz_error_keeps_class_and_fields(shared: Pool, kind: str) -> None:
    job = do(shared, "refuse", kind=kind)
    assert job.state == "failed"
    if kind == "parameter":
        assert type(job.error) is ParameterError
        assert str(job.error) == "gamma must be positive"
    elif kind == "data":
        assert type(job.error) is DataError
        assert [problem.row for problem in job.error.problems] == [6, 6]
        assert str(job.error).startswith("a.csv, row 7: twice ('x').")
    else:
        assert type(job.error) is NotApplicableError
        assert (job.error.method, job.error.reasons[1]) == ("PCA", "No features.")
        assert str(job.error) == "PCA does not suit these data: Too few items. No features."


@pytest.mark.parametrize(
    ("name", "trace"),
    [
        ("crash", "ZeroDivisionError: secret detail"),
        ("exit_process", "SystemExit: 3"),
        ("unpicklable", "function cannot be stored"),
        ("no_such_task", "no_such_task"),
    ],
)
def test_unexpected_error_is_logged_and_hidden(
    shared: Pool, caplog: pytest.LogCaptureFixture, name: str, trace: str
) -> None:
    worker = pid_of(shared)
    with caplog.at_level(logging.ERROR):
        job = do(shared, name)
    assert (job.state, type(job.error), str(job.error)) == ("failed", HetvizError, UNEXPECTED)
    assert "Traceback" in caplog.text
    assert trace in caplog.text
    assert worker in (None, pid_of(shared))


def test_unpicklable_error_keeps_message(shared: Pool) -> None:
    job = do(shared, "raise_unpicklable")
    assert (job.state, str(job.error)) == ("failed", "No.")


def test_memory_error_message(shared: Pool) -> None:
    job = do(shared, "use_memory")
    assert (job.state, str(job.error)) == ("failed", NO_MEMORY)


def test_unpicklable_arguments_fail_one_job(shared: Pool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        job = do(shared, "double", value=lambda: None)
    assert (job.state, str(job.error)) == ("failed", UNEXPECTED)
    assert "Traceback" in caplog.text
    assert do(shared, "double", value=4).result == 8


# Progress and layouts


def test_newest_frame_is_returned(shared: Pool) -> None:
    id = shared.submit("me", "Showing", chore("layouts", number=4, n=5))
    seen = []
    while see(shared, id).is_active:
        frame = shared.frame(id, "me", seen[-1].seq if seen else 0)
        if frame is not None:
            seen.append(frame)
        time.sleep(0.01)
    assert seen
    job = see(shared, id)
    last = shared.frame(id, "me")
    assert last is not None and last.seq == job.seq
    assert 1 <= job.seq <= 4
    assert shared.frame(id, "me", after=last.seq) is None
    Y = np.frombuffer(last.layout, dtype="<f4").reshape(5, 2)
    assert np.isnan(Y[0]).all()
    assert set(Y[1:].ravel()) <= {1.0, 2.0, 3.0, 4.0}
    assert [frame.seq for frame in seen] == sorted({frame.seq for frame in seen})


def test_parts_are_reported(shared: Pool, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    id = shared.submit("me", "parts", chore("in_parts", gate=str(gate)))
    wait_for(lambda: see(shared, id).message == "waiting")
    assert see(shared, id).parts == (("First", 0.25, "running"), ("Second", 1.0, "waiting"))
    gate.touch()
    assert over(shared, id).parts == (("First", 0.25, "running"), ("Second", 1.0, "waiting"))


def test_reports_are_rate_limited(shared: Pool) -> None:
    began = time.monotonic()
    job = do(shared, "report_rapidly")
    assert job.state == "done"
    # 8 a second at most, and one at once.
    assert 1 <= job.seq <= 2 + 8 * (time.monotonic() - began)


# Data


def some_data(media: str) -> HeteroData:
    X = np.arange(12.0).reshape(4, 3)
    return HeteroData([Dataset("a", list("wxyz"), X, media=[media] * 4)])


def test_data_are_sent_once(shared: Pool) -> None:
    data, other = some_data("one"), some_data("other")
    first, again = (do(shared, "describe", data=data).result for _ in range(2))
    assert first["fingerprint"] == data.fingerprint()
    assert not first["writeable"]
    assert first == again
    # The same fingerprint, since that does not cover pictures, but other data.
    assert other.fingerprint() == data.fingerprint()
    different = do(shared, "describe", data=other).result
    assert different["media"] == ("other",) * 4
    assert different["object"] != first["object"]
    assert do(shared, "describe", data=data).result == first


def test_new_worker_gets_data(shared: Pool) -> None:
    data = some_data("one")
    assert do(shared, "describe", data=data).state == "done"
    assert do(shared, "exit_at_once").state == "failed"
    assert do(shared, "describe", data=data).state == "done"


def test_large_arguments_and_results(shared: Pool) -> None:
    n = 8_000_000
    X = do(shared, "large", n=n).result
    assert X.shape == (n,)
    assert X[-1] == n - 1
    assert do(shared, "total", X=X).result == n * (n - 1) / 2


# The queue


def test_waiting_jobs_have_positions(shared: Pool, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    first = shared.submit("me", "First", chore("wait_for_file", path=str(gate)))
    wait_for(lambda: see(shared, first).state == "running")
    second = shared.submit("you", "Second", chore("double", value=2))
    third = shared.submit("me", "Third", chore("double", value=3))
    assert [see(shared, second, "you").ahead, see(shared, third).ahead] == [1, 2]
    shared.cancel(second, "me")
    shared.cancel(second, "you")
    wait_for(lambda: not see(shared, second, "you").is_active)
    assert see(shared, second, "you").state == "cancelled"
    assert (see(shared, third).state, see(shared, third).ahead) == ("waiting", 1)
    gate.touch()
    assert over(shared, third).result == 6
    assert see(shared, first).result == "there"


def test_on_end_is_called_before_publication(tmp_path: Path) -> None:
    ends: list[Job] = []
    seen_live: list[bool] = []
    threads: list[str] = []

    def on_end(job: Job) -> None:
        seen_live.append(see(runner, job.id).is_active)
        threads.append(threading.current_thread().name)
        ends.append(job)
        if job.state == "failed":
            raise OSError("the disk is full")

    runner = Pool(on_end, workers=1)
    try:
        done = runner.submit("me", "Doubling", chore("double", value=1))
        gone = runner.submit("me", "Turning", chore("run_until_cancelled"))
        runner.cancel(gone, "me")
        failed = runner.submit("me", "Refusing", chore("refuse", kind="data"))
        assert over(runner, failed).state == "failed"
        assert over(runner, done).state == "done"
        assert over(runner, gone).state == "cancelled"
    finally:
        runner.close()
    assert sorted(job.title for job in ends) == ["Doubling", "Refusing", "Turning"]
    assert {job.id: job.result for job in ends}[done] == 2
    assert seen_live == [True, True, True]
    assert set(threads) == {"hetviz-jobs"}


def test_finished_jobs_are_limited(shared: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.jobs.job_table._MAX_FINISHED", 3)
    ids = [shared.submit("many", "Doubling", chore("double", value=k)) for k in range(6)]
    wait_for(lambda: shared.get(ids[0], "many") is None)
    wait_for(lambda: not any(job.is_active for job in shared.jobs("many")))
    assert [job.id for job in shared.jobs("many")] == ids[3:]


# Cancel


def test_cancel_keeps_worker(shared: Pool) -> None:
    id = shared.submit("me", "Turning", chore("run_until_cancelled"))
    after = shared.submit("me", "Asking", chore("pid"))
    wait_for(lambda: see(shared, id).message == "turning")
    worker = pid_of(shared)
    shared.cancel(id, "you")
    time.sleep(0.1)
    assert see(shared, id).is_active
    shared.cancel(id, "me")
    assert over(shared, id).state == "cancelled"
    assert over(shared, after).result == worker


def test_cancelled_job_keeps_partial_result(shared: Pool) -> None:
    id = shared.submit("me", "Turning", chore("run_until_cancelled_with_partial"))
    wait_for(lambda: see(shared, id).message == "turning")
    shared.cancel(id, "me")
    job = over(shared, id)
    assert (job.state, job.result) == ("cancelled", {"so far": 3})


@pytest.mark.parametrize("name", ["ignore_cancel", "factor", "stubborn"])
def test_unresponsive_worker_is_killed(shared: Pool, tmp_path: Path, name: str) -> None:
    started = tmp_path / "started"
    id = shared.submit("me", name, chore(name, started=str(started)))
    after = shared.submit("me", "Asking", chore("pid"))
    wait_for(started.exists)
    worker = pid_of(shared)
    assert worker is not None
    shared.cancel(id, "me")
    assert over(shared, id).state == "cancelled"
    assert not alive(worker)
    assert over(shared, after).result not in (None, worker)


def test_cancel_during_send(shared: Pool) -> None:
    assert do(shared, "double", value=1).result == 2
    worker = pid_of(shared)
    assert worker is not None
    # A worker that takes nothing: its end of the pipe fills up.
    os.kill(worker, signal.SIGSTOP)
    id = shared.submit("me", "Adding", chore("total", X=np.zeros(20_000_000)))
    wait_for(lambda: see(shared, id).state == "running")
    shared.cancel(id, "me")
    assert over(shared, id).state == "cancelled"
    assert not alive(worker)
    assert do(shared, "double", value=2).result == 4


# A worker that dies


@pytest.mark.parametrize(("name", "words"), [("fault", "SIGSEGV"), ("exit_at_once", "exit code 7")])
def test_worker_crash_fails_one_job(
    shared: Pool, caplog: pytest.LogCaptureFixture, name: str, words: str
) -> None:
    with caplog.at_level(logging.ERROR):
        id = shared.submit("me", "Dying", chore(name))
        after = shared.submit("me", "Doubling", chore("double", value=3))
        job = over(shared, id)
    assert (job.state, type(job.error)) == ("failed", HetvizError)
    assert words in str(job.error)
    assert words in caplog.text
    assert over(shared, after).result == 6


def test_killed_worker_reports_memory(shared: Pool) -> None:
    id = shared.submit("me", "Turning", chore("run_until_cancelled"))
    after = shared.submit("me", "Doubling", chore("double", value=3))
    wait_for(lambda: see(shared, id).message == "turning")
    worker = pid_of(shared)
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    job = over(shared, id)
    assert (job.state, str(job.error)) == ("failed", ENDED_FROM_OUTSIDE)
    assert over(shared, after).result == 6


def test_idle_worker_is_replaced(
    shared: Pool,
) -> None:
    first = do(shared, "pid").result
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: pid_of(shared) not in (None, first))
    assert do(shared, "pid").result != first


def test_unstarted_job_is_sent_again(shared: Pool) -> None:
    first = do(shared, "pid").result
    # What is stopped takes nothing up, as what is killed on a busy machine.
    os.kill(first, signal.SIGSTOP)
    id = shared.submit("me", "Asking", chore("pid"))
    wait_for(lambda: see(shared, id).state == "running")
    os.kill(first, signal.SIGKILL)
    job = over(shared, id)
    assert job.state == "done"
    assert job.result != first


def test_failed_starts_are_limited(
    runner: Pool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    starts = []

    def start(*_: str) -> Any:
        starts.append(time.monotonic())
        raise OSError("no more processes")

    real = process.WorkerProcess
    monkeypatch.setattr(process, "WorkerProcess", start)
    with caplog.at_level(logging.ERROR):
        job = do(runner, "double", value=1)
    assert (job.state, str(job.error)) == ("failed", CANNOT_START)
    assert "no more processes" in caplog.text
    assert len(starts) == 3
    assert starts[2] - starts[1] >= 1.0
    monkeypatch.setattr(process, "WorkerProcess", real)
    assert do(runner, "double", value=1).result == 2


def test_exit_before_ready_is_failed_start(runner: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    job = do(runner, "double", value=1)
    assert (job.state, str(job.error)) == ("failed", CANNOT_START)


# The start and the end


def test_worker_starts_on_demand(runner: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_WARM_UP", WARM_UP)
    assert pid_of(runner) is None
    runner.warm()
    wait_for(lambda: pid_of(runner) is not None)
    worker = pid_of(runner)
    runner.warm()
    assert do(runner, "pid").result == worker


def test_worker_survives_calling_thread(runner: Pool) -> None:
    asking = threading.Thread(target=runner.warm)
    asking.start()
    asking.join()
    assert do(runner, "pid").result == do(runner, "pid").result


SERVER = """
    import signal, sys, time
    # A shell starts what runs in its background deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from hetviz.jobs import Pool, pool
    from tests.jobs.chores import chore
    pool._WARM_UP = "tests.jobs.chores:load_nothing"
    runner = Pool(workers=1)
    task = chore("{name}", started=sys.argv[1])
    runner.submit("me", "Working", task)
    while not runner.worker_pids:
        time.sleep(0.01)
    print(runner.worker_pids[0], flush=True)
    {then}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("run_until_cancelled", "SIGTERM"),
        ("ignore_cancel", "SIGKILL"),
        ("ignore_cancel", "SIGINT"),
        ("run_until_cancelled", "return"),
        *(
            pytest.param(*entry, marks=pytest.mark.soak)
            for entry in (
                ("run_until_cancelled", "SIGKILL"),
                ("run_until_cancelled", "SIGINT"),
                ("ignore_cancel", "SIGTERM"),
                ("ignore_cancel", "return"),
            )
        ),
    ],
)
def test_worker_ends_with_server(tmp_path: Path, name: str, end: str) -> None:
    started = tmp_path / "started"
    then = "sys.stdin.readline()" if end == "return" else "time.sleep(600)"
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER.format(name=name, then=then)), str(started)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with server:
        assert server.stdin is not None and server.stdout is not None
        worker = int(server.stdout.readline())
        try:
            wait_for(started.exists)
            assert alive(worker)
            if end == "return":
                server.stdin.write("\n")
                server.stdin.flush()
            elif end == "SIGINT":
                # Ctrl-C in a terminal goes to the whole group.
                os.killpg(server.pid, signal.SIGINT)
            else:
                server.send_signal(signal.Signals[end])
            server.wait(PATIENCE_S)
            wait_for(lambda: not alive(worker))
        finally:
            server.kill()


def test_runner_imports_no_numerics() -> None:
    script = "import sys, hetviz.jobs; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "hetviz.jobs.pool" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "pandas", "sklearn", "multiprocessing"})

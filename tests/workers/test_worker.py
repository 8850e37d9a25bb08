"""Tests of the worker process: warm-up, cancellation, exit."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hetviz.algorithms import registry
from hetviz.jobs.warm_up import warm_up_steps
from hetviz.workers import launch
from hetviz.workers.protocol import Message, MessageReader, encode_message, encode_value
from tests.waits import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]

# Steps of getting ready: one that waits for a file and for a task, and one that leaves a file.
BUSY = """
import sys, time
from pathlib import Path
from hetviz.workers import worker
folder = Path(sys.argv[3])
def first():
    (folder / "first").touch()
    while not (folder / "gate").exists() or me[0]._next is None:
        time.sleep(0.01)
def broken():
    raise RuntimeError("cannot warm up")
me = []
class Known(worker.Worker):
    def __init__(self, server):
        super().__init__(server)
        me.append(self)
worker.Worker = Known
load = worker.load_function
steps = [first, broken, (folder / "last").touch]
worker.load_function = lambda path: (lambda: steps) if path == "steps" else load(path)
worker.main(int(sys.argv[1]), int(sys.argv[2]), "steps")
"""


class Rig:
    """A worker that is getting ready, and our end of its socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(PATIENCE_S)
        arguments = [str(theirs.fileno()), str(os.getpid()), str(folder)]
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", BUSY, *arguments],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
                stderr=subprocess.DEVNULL,
            )
        self.reader = MessageReader()

    def hear(self) -> Message:
        return self.reader.read(self.socket)

    def say(self, kind: str, parts: Any = (), **fields: Any) -> None:
        for part in encode_message(kind, parts, **fields):
            self.socket.sendall(part)

    def submit(self, id: str, name: str, **arguments: Any) -> None:
        self.say("task", encode_value(arguments), id=id, function=f"tests.jobs.chores:{name}")

    def wait_for(self, name: str) -> None:
        assert wait_until((self.folder / name).exists), f"no {name}"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    with rig.process, rig.socket:
        yield rig
        rig.process.kill()


def test_task_waits_for_one_warm_up_step(rig: Rig) -> None:
    assert rig.hear().kind == "ready"
    rig.wait_for("first")
    rig.submit("1", "pid")
    rig.say("cancel", id="1")
    answer = rig.hear()
    assert (answer.kind, answer.fields["id"]) == ("cancelled", "1")
    last = rig.folder / "last"
    assert not last.exists()
    rig.submit("2", "exists", path=str(last))
    (rig.folder / "gate").touch()
    answer = rig.hear()
    assert (answer.kind, answer.fields["id"]) == ("begun", "2")
    answer = rig.hear()
    assert (answer.kind, answer.fields["id"], answer.value()) == ("done", "2", False)
    rig.wait_for("last")


def test_worker_ends_when_socket_closes(rig: Rig) -> None:
    assert rig.hear().kind == "ready"
    rig.socket.close()
    assert rig.process.wait(120) == 0


def test_worker_ends_under_other_parent() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-m", "hetviz.workers.worker", str(theirs.fileno()), "1"]
        done = subprocess.run(
            command, pass_fds=[theirs.fileno()], cwd=ROOT, timeout=PATIENCE_S, check=False
        )
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(1)
    assert done.returncode == 0


def test_memory_of_a_worker_is_limited() -> None:
    code = (
        "import os, resource, sys; from hetviz.workers import worker\n"
        "def tell(_): print(resource.getrlimit(resource.RLIMIT_AS)); sys.exit()\n"
        "worker.Worker = tell; worker.main(int(sys.argv[1]), os.getppid())"
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        done = subprocess.run(
            [sys.executable, "-c", code, str(theirs.fileno())],
            env={**launch.worker_environment(), "HETVIZ_WORK_MEMORY_MB": "3000"},
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == "(3000000000, 3000000000)\n"


def test_methods_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    class Plain:
        pass

    class Slow:
        @classmethod
        def warm_up(cls) -> None:
            done.append(cls.__name__)

    class Slower(Slow):
        pass

    classes = {"a": Slow, "b": Plain, "c": Slower}
    monkeypatch.setattr(registry, "methods", lambda: [SimpleNamespace(key=key) for key in classes])
    monkeypatch.setattr(registry, "get_method", classes.__getitem__)
    monkeypatch.setitem(sys.modules, "hetviz.jobs.tasks.maps", SimpleNamespace())
    after_each = []
    for chore in warm_up_steps():
        chore()
        after_each.append(len(done))
    assert done == ["Slow", "Slower"]
    assert after_each[-3:] == [0, 1, 2]


def test_worker_threads_are_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launch, "_n_processors", lambda: 3)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    env = launch.worker_environment()
    assert (env["OPENBLAS_NUM_THREADS"], env["OMP_NUM_THREADS"]) == ("2", "7")
    monkeypatch.setattr(launch, "_n_processors", lambda: 1)
    assert launch.worker_environment()["OPENBLAS_NUM_THREADS"] == "1"


def test_numba_cache_folder_is_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "NUMBA_CACHE_DIR" not in launch.worker_environment()
    real = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: path != launch._PACKAGE and real(path, mode)
    )
    launch._cache_folder.cache_clear()
    folder = Path(launch.worker_environment()["NUMBA_CACHE_DIR"])
    assert folder == tmp_path / "hetviz" / "numba"
    assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    launch._cache_folder.cache_clear()
    other = Path(launch.worker_environment()["NUMBA_CACHE_DIR"])
    launch._cache_folder.cache_clear()
    assert other != folder
    assert other.stat().st_mode & 0o077 == 0
    other.rmdir()

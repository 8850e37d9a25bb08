"""Job runner of the app: a queue and one worker process.

One thread of the server, the manager, owns the process, the pipe and all changes of jobs. Pages
only add requests to the job table and wake the manager. They never wait for the worker.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import math
import os
import selectors
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from hetviz.errors import HetvizError
from hetviz.jobs.process.array_cache import ArrayNumbers
from hetviz.jobs.process.failures import (
    CANNOT_START,
    describe_exit,
    is_unexpected,
    user_error,
    worker_ended_error,
)
from hetviz.jobs.process.job_table import JobTable
from hetviz.jobs.process.wire import (
    Message,
    MessageBuffer,
    MessageReader,
    Outbox,
    encode_message,
    pickle_value,
)
from hetviz.jobs.runner import Job, Task, normalise_parts, seconds_left

log = logging.getLogger(__name__)

# Time for a job to stop before its process is killed.
GRACE_S = 2.0
# Time for a worker to get ready.
_START_S = 120.0
_MAX_STARTS = 3
_MAX_PAUSE_S = 30.0
# A worker that ran this long resets the count of failures.
_STABLE_S = 60.0


class ProcessRunner(JobTable):
    """Runs tasks in a worker process, one at a time, in the order of submission.

    The worker starts with the first task, or earlier with `warm`. It needs Linux or macOS.

    Parameters
    ----------
    on_end : callable, optional
        Called on the manager's thread with each job that ends, before its owner sees the end. It is
        not called for jobs that are active when the server ends.
    """

    def __init__(self, on_end: Callable[[Job], None] | None = None) -> None:
        super().__init__(on_end)
        self._waiting: dict[str, Task] = {}
        self._thread: threading.Thread | None = None
        self._worker_needed = False
        self._is_closing = False
        self._end_requested = False
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        # All attributes below belong to the manager's thread.
        self._worker: WorkerProcess | None = None
        self._worker_started_at = 0.0
        self._running: str | None = None
        self._job_started_at = 0.0
        # Task that was sent but not started yet.
        self._sent: Task | None = None
        self._resent: str | None = None
        # Time at which an unresponsive worker is killed.
        self._deadline = math.inf
        self._failures = 0
        self._not_before = 0.0
        self._numbers = ArrayNumbers()

    def add_cancelled(self, job: Job) -> None:
        """Add a job as cancelled."""
        id = self._add_job(job.owner, job.title, Task(""), job.note, job.id)
        self._end_job(id, state="cancelled")

    def end_worker(self) -> None:
        """End an idle worker. The next task starts another."""
        with self._lock:
            self._worker_needed = False
            self._end_requested = True
        self._wake()

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker, or None."""
        child = self._worker
        return None if child is None else child.pid

    def warm(self) -> None:
        """Start the worker in advance for the first job."""
        with self._lock:
            self._worker_needed = True
            if self._thread is None and not self._is_closing:
                # A worker ends with the thread that started it, so a page's thread cannot be used.
                self._thread = threading.Thread(target=self._run_manager, name="hetviz-jobs")
                self._thread.daemon = True
                self._thread.start()
                atexit.register(self.close)
        self._wake()

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> str:
        """Queue a task and return the job's id."""
        with self._lock:
            id = self._add_job(owner, title, task, note, id)
            self._waiting[id] = task
            self._update_positions()
        self.warm()
        return id

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop. A waiting job never starts."""
        super().cancel(id, owner)
        self._wake()

    def close(self) -> None:
        """End the worker and the manager."""
        with self._lock:
            self._is_closing = True
            thread, self._thread = self._thread, None
        if thread is not None:
            atexit.unregister(self.close)
            self._wake()
            thread.join()
            self._wake_receiver.close()
            self._wake_sender.close()

    def _wake(self) -> None:
        # A full buffer means a pending wake-up, a closed socket a finished manager.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"!")

    def _update_positions(self) -> None:
        ahead = int(self._running is not None)
        for id in self._waiting:
            self._change(id, ahead=ahead)
            ahead += id not in self._cancelled

    # The methods below run on the manager's thread.

    def _run_manager(self) -> None:
        while not self._is_closing:
            try:
                self._run_once()
            except Exception as error:
                log.exception("The manager of background jobs failed")
                self._end_child()
                self._end_running(state="failed", error=user_error(error))
                self._delay_restart()
                # Avoid a busy loop if the error repeats.
                time.sleep(1.0)
        self._end_child()

    def _run_once(self) -> None:
        self._end_cancelled()
        if self._end_requested:
            self._end_requested = False
            if self._running is None and not self._waiting:
                self._end_child()
        now = time.monotonic()
        if self._worker is None and self._worker_needed and now >= self._not_before:
            self._start_child()
        if self._worker is None:
            self._wait_idle()
            return
        while self._worker.is_ready and self._running is None and self._waiting:
            self._start_next(self._worker)
        self._forward_cancel(self._worker)
        timeout = max(0.0, self._deadline - time.monotonic())
        messages, alive = self._worker.wait(
            self._wake_receiver, None if timeout == math.inf else timeout
        )
        self._drain()
        for message in messages:
            self._handle(self._worker, message)
        if not alive:
            self._on_child_exit(self._worker.wait_for_exit())
        elif time.monotonic() >= self._deadline:
            self._on_timeout()

    def _wait_idle(self) -> None:
        """Wait for a wake-up, or until the next worker may start."""
        wait = max(0.01, self._not_before - time.monotonic()) if self._worker_needed else None
        self._wake_receiver.settimeout(wait)
        with contextlib.suppress(TimeoutError):
            self._wake_receiver.recv(4096)
        self._wake_receiver.setblocking(False)

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._wake_receiver.recv(4096)

    def _end_cancelled(self) -> None:
        with self._lock:
            cancelled = [id for id in self._waiting if id in self._cancelled]
            for id in cancelled:
                del self._waiting[id]
            if cancelled:
                self._update_positions()
        for id in cancelled:
            self._end_job(id, state="cancelled")

    def _start_child(self) -> None:
        try:
            self._worker = WorkerProcess()
        except (OSError, ValueError):
            log.exception("The worker cannot be started")
            self._start_failed()
            return
        self._worker_started_at = time.monotonic()
        self._deadline = self._worker_started_at + _START_S
        with self._lock:
            for id in self._waiting:
                self._change(id, message="Getting ready")

    def _start_next(self, child: WorkerProcess) -> None:
        with self._lock:
            id = next(iter(self._waiting))
            task = self._waiting.pop(id)
            self._running = id
            self._change(id, state="running", ahead=0, message="Starting")
            self._update_positions()
        self._job_started_at = time.monotonic()
        try:
            parts = pickle_value(self._numbers.wrap(task.arguments, child.cached))
        except Exception as error:
            if is_unexpected(error):
                log.exception("A task cannot be sent: %s", task.function)
            self._end_running(state="failed", error=user_error(error))
            return
        self._sent = task
        child.post(encode_message("task", parts, id=id, function=task.function))

    def _forward_cancel(self, child: WorkerProcess) -> None:
        if self._running in self._cancelled and self._deadline == math.inf:
            self._deadline = time.monotonic() + GRACE_S
            child.post(encode_message("cancel", id=self._running))

    def _handle(self, child: WorkerProcess, message: Message) -> None:
        if message.kind == "ready":
            child.is_ready = True
            self._deadline = math.inf
            return
        id = message.fields["id"]
        if id != self._running:
            return
        self._sent = None
        if message.kind == "begun":
            return
        if message.kind == "progress":
            fraction = message.fields["fraction"]
            remaining = seconds_left(fraction, time.monotonic() - self._job_started_at)
            self._change(
                id,
                fraction=fraction,
                message=message.fields["text"],
                seconds_left=remaining,
                parts=normalise_parts(message.fields["of_job"]),
            )
            if message.parts:
                self._keep_frame(id, bytes(message.parts[0]))
            return
        child.cached = message.fields["held"]
        self._change(id, processor_s=message.fields["processor_s"])
        self._failures = 0
        if message.kind == "cancelled":
            self._end_with_result(message, state="cancelled")
        elif id in self._cancelled:
            # A stopped job counts as cancelled even if its result arrives.
            self._end_running(state="cancelled")
        elif message.kind == "done":
            self._end_with_result(message, state="done", fraction=1.0)
        else:
            self._end_failed(message)

    def _end_with_result(self, message: Message, **fields: object) -> None:
        try:
            result = message.value() if message.parts else None
        except Exception as error:
            log.exception("The result of a task cannot be read")
            self._end_running(state="failed", error=user_error(error))
            return
        self._end_running(result=result, **fields)

    def _end_failed(self, message: Message) -> None:
        if message.fields["trace"]:
            log.error("A task failed in the worker:\n%s", message.fields["trace"])
        try:
            error = message.value()
        except Exception as fault:
            log.exception("The error of a task cannot be read")
            error = user_error(fault)
        self._end_running(state="failed", error=error)

    def _end_running(self, **fields: object) -> None:
        id, self._running = self._running, None
        self._deadline = math.inf
        if id is not None:
            self._end_job(id, **fields)
        with self._lock:
            self._update_positions()

    def _end_child(self) -> None:
        child, self._worker = self._worker, None
        if child is not None:
            child.kill()

    def _on_timeout(self) -> None:
        """Kill a worker that does not stop its job or does not get ready."""
        self._end_child()
        if self._running is None:
            log.error("The worker did not get ready within %g s", _START_S)
            self._start_failed()
        else:
            self._end_running(state="cancelled")

    def _on_child_exit(self, returncode: int) -> None:
        """Handle the unexpected end of a worker."""
        child, self._worker = self._worker, None
        log.error("The worker ended: %s", describe_exit(returncode))
        if self._running is not None:
            # The job ends with its worker, so it cannot crash workers repeatedly.
            if self._running in self._cancelled:
                self._end_running(state="cancelled")
            elif self._sent is not None and self._running != self._resent:
                self._resend(self._running, self._sent)
            else:
                self._end_running(state="failed", error=worker_ended_error(returncode))
        elif child is not None and child.is_ready:
            if time.monotonic() - self._worker_started_at > _STABLE_S:
                self._failures = 0
            self._delay_restart()
        else:
            self._start_failed()

    def _resend(self, id: str, task: Task) -> None:
        """Queue a job again that a crashed worker had not started, at most once."""
        self._running, self._sent, self._resent = None, None, id
        with self._lock:
            self._waiting = {id: task, **self._waiting}
            self._change(id, state="waiting", message="Getting ready")
            self._update_positions()

    def _delay_restart(self) -> None:
        """Delay the next start, longer after each failure."""
        self._failures += 1
        pause = 0.0 if self._failures == 1 else min(_MAX_PAUSE_S, 2.0 ** (self._failures - 2))
        self._not_before = time.monotonic() + pause

    def _start_failed(self) -> None:
        self._deadline = math.inf
        self._delay_restart()
        if self._failures < _MAX_STARTS:
            return
        # All waiting jobs fail. The next submitted task tries again.
        with self._lock:
            self._worker_needed = False
            ids = list(self._waiting)
            self._waiting.clear()
        for id in ids:
            self._end_job(id, state="failed", error=HetvizError(CANNOT_START))


# Worker process.


_PACKAGE = Path(__file__).resolve().parents[2]
_SERVER_ONLY = ("PYTHONMALLOC", "MALLOC_ARENA_MAX", "NUMPY_MADVISE_HUGEPAGE")
# Variables that limit the threads of numerical libraries.
_THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_MAX_THREADS = 4
_WAIT_S = 5.0


class WorkerProcess:
    """A worker process and the socket to it, for use by one thread.

    On Linux a worker ends with the thread that started it.

    Attributes
    ----------
    is_ready : bool
        Whether the worker reported that it is ready.
    cached : collection of int
        Numbers of the data in the worker's cache.

    Raises
    ------
    OSError, ValueError
        If the process cannot be started.
    """

    def __init__(self) -> None:
        self.is_ready = False
        self.cached: Sequence[int] = ()
        self._reader, self._outbox = MessageReader(), Outbox()
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "hetviz.jobs.process.worker"]
        try:
            with theirs:
                # multiprocessing would run the main script, the app, in the child.
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                    [*command, str(theirs.fileno()), str(os.getpid())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    env=worker_environment(),
                )
        except BaseException:
            self._socket.close()
            raise
        self._socket.setblocking(False)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def post(self, message: Sequence[MessageBuffer]) -> None:
        """Send a message without waiting."""
        self._outbox.put(message)

    def wait(self, wake_socket: socket.socket, timeout: float | None) -> tuple[list[Message], bool]:
        """Wait for messages or a wake-up; return the messages and whether the worker is alive."""
        with selectors.DefaultSelector() as selector:
            sending = selectors.EVENT_WRITE if self._outbox else 0
            selector.register(self._socket, selectors.EVENT_READ | sending)
            selector.register(wake_socket, selectors.EVENT_READ)
            selector.select(timeout)
        self._outbox.flush(self._socket)
        return self._reader.read_available(self._socket)

    def kill(self) -> int:
        """Kill the process if needed, and return its exit code."""
        self._socket.close()
        self._process.kill()
        return self._process.wait()

    def wait_for_exit(self) -> int:
        """Return the exit code of a process that has closed its socket."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT_S)
        return self.kill()


def worker_environment() -> dict[str, str]:
    """Return the environment of the worker: fewer threads, no secrets, paths."""
    # Workers need no secrets. The memory settings of the server would slow them down.
    env = {
        name: text
        for name, text in os.environ.items()
        if "SECRET" not in name and name not in _SERVER_ONLY
    }
    # Leave one processor to the server.
    threads = max(1, min(_MAX_THREADS, _n_processors() - 1))
    for name in _THREAD_VARIABLES:
        env.setdefault(name, str(threads))
    root = str(_PACKAGE.parent)
    # site-packages must not come before the standard library.
    if root not in [*site.getsitepackages(), site.getusersitepackages()]:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, env.get("PYTHONPATH")]))
    if "NUMBA_CACHE_DIR" not in env and not os.access(_PACKAGE, os.W_OK):
        env["NUMBA_CACHE_DIR"] = str(_cache_folder())
    return env


def _n_processors() -> int:
    # The process may be limited to some of the processors.
    ours = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if ours is None else len(ours(0))


@cache
def _cache_folder() -> Path:
    """Return a folder that only this user can write, because compiled code in it is executed."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(home) if home else Path.home() / ".cache") / "hetviz" / "numba"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        # No writable home folder.
        pass
    return Path(tempfile.mkdtemp(prefix="hetviz-numba-"))

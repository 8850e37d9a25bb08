"""The runner of the app: one warm worker process behind a queue.

One thread of the server, the manager, owns the process, the pipe and every change of a job. Pages
only put requests into the book and ring its bell; they never wait for the worker.
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

# A job that was asked to stop and does not is ended with its process.
GRACE_S = 2.0
# A worker that has not said by then that it is ready never will.
_START_S = 120.0
_MAX_STARTS = 3
_MAX_PAUSE_S = 30.0
# A worker that was idle for so long before it ended is no sign that the next one ends too.
_STABLE_S = 60.0


class ProcessRunner(JobTable):
    """Runs tasks in a worker process, one at a time, in the order in which they came.

    The worker starts with the first task, or earlier with `warm`. It needs Linux or macOS.

    Parameters
    ----------
    on_end : callable, optional
        Called on the manager's thread once with each job that ends, before anybody sees it as
        over. Jobs that are alive when the server ends do not end in this sense.
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
        # From here on all is the manager's own.
        self._worker: WorkerProcess | None = None
        self._worker_started_at = 0.0
        self._running: str | None = None
        self._job_started_at = 0.0
        # What the worker was sent and has not taken up: it may have ended before.
        self._sent: Task | None = None
        self._resent: str | None = None
        # When the worker is ended if it has not done by then what was asked of it.
        self._deadline = math.inf
        self._failures = 0
        self._not_before = 0.0
        self._numbers = ArrayNumbers()

    def add_cancelled(self, job: Job) -> None:
        """Take in a job that will not begin, as one that was cancelled while it waited."""
        id = self._add_job(job.owner, job.title, Task(""), job.note, job.id)
        self._end_job(id, state="cancelled")

    def end_worker(self) -> None:
        """Have the worker end if it has nothing to do; the next task starts another."""
        with self._lock:
            self._worker_needed = False
            self._end_requested = True
        self._wake()

    @property
    def worker_pid(self) -> int | None:
        """The worker's process number, None while there is none; for tests and diagnosis."""
        child = self._worker
        return None if child is None else child.pid

    def warm(self) -> None:
        """Start the worker now, if there is none, so that the first job finds it ready."""
        with self._lock:
            self._worker_needed = True
            if self._thread is None and not self._is_closing:
                # Of the server, never of a page: a worker ends with the thread that started it.
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
        """Ask a job of this owner to stop; a waiting one does not start any more."""
        super().cancel(id, owner)
        self._wake()

    def close(self) -> None:
        """End the worker and the manager, as the server does when it ends."""
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
        # Full: it has been ringing for a while. Closed: nobody is there to hear it.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"!")

    def _update_positions(self) -> None:
        ahead = int(self._running is not None)
        for id in self._waiting:
            self._change(id, ahead=ahead)
            ahead += id not in self._cancelled

    # What follows runs on the manager's thread only.

    def _run_manager(self) -> None:
        while not self._is_closing:
            try:
                self._run_once()
            except Exception as error:
                log.exception("The manager of the long work failed")
                self._end_child()
                self._end_running(state="failed", error=user_error(error))
                self._delay_restart()
                # Whatever it was may come again at once.
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
        """Wait for the bell, or for the time at which the next worker may start."""
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
            # Asked to stop is stopped, even where the result was just ready: that is what the
            # person expects to find.
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
        """End a worker that does not do what was asked of it: to stop its job, or to get ready."""
        self._end_child()
        if self._running is None:
            log.error("The worker did not get ready within %g s", _START_S)
            self._start_failed()
        else:
            self._end_running(state="cancelled")

    def _on_child_exit(self, returncode: int) -> None:
        """Carry on after a worker that ended by itself, or at the hands of somebody else."""
        child, self._worker = self._worker, None
        log.error("The worker ended: %s", describe_exit(returncode))
        if self._running is not None:
            # Its job is gone with it, so this cannot go round and round.
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
        """Give a job that the ended worker had not taken up to the next one; once only."""
        self._running, self._sent, self._resent = None, None, id
        with self._lock:
            self._waiting = {id: task, **self._waiting}
            self._change(id, state="waiting", message="Getting ready")
            self._update_positions()

    def _delay_restart(self) -> None:
        """Start the next worker at once, but each further one that fails later and later."""
        self._failures += 1
        pause = 0.0 if self._failures == 1 else min(_MAX_PAUSE_S, 2.0 ** (self._failures - 2))
        self._not_before = time.monotonic() + pause

    def _start_failed(self) -> None:
        self._deadline = math.inf
        self._delay_restart()
        if self._failures < _MAX_STARTS:
            return
        # Nobody should wait for what does not come; the next task that is submitted tries again.
        with self._lock:
            self._worker_needed = False
            ids = list(self._waiting)
            self._waiting.clear()
        for id in ids:
            self._end_job(id, state="failed", error=HetvizError(CANNOT_START))


# The server's handle on one worker process: start it, talk to it, end it.


_PACKAGE = Path(__file__).resolve().parents[2]
_SERVER_ONLY = ("PYTHONMALLOC", "MALLOC_ARENA_MAX", "NUMPY_MADVISE_HUGEPAGE")
# Every library that keeps threads of its own, by the variable that it reads when it is loaded.
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
    """A worker process and the socket to it; all of it is used by one thread.

    That thread has to live as long as the worker may: on Linux a worker ends with the thread that
    started it.

    Attributes
    ----------
    is_ready : bool
        Whether it has said so; set by who reads its messages.
    cached : collection of int
        Numbers of the data it holds, as it last said.

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
                # Not multiprocessing: its children run the main script again, here the app.
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
        """The process's number."""
        return self._process.pid

    def post(self, message: Sequence[MessageBuffer]) -> None:
        """Send a message, as the worker takes it; returns at once."""
        self._outbox.put(message)

    def wait(self, wake_socket: socket.socket, timeout: float | None) -> tuple[list[Message], bool]:
        """Wait for something to happen; return what the worker said and whether it is alive.

        Parameters
        ----------
        wake_socket : socket
            Readable when there is something else to do.
        timeout : float or None
            Seconds.
        """
        with selectors.DefaultSelector() as selector:
            sending = selectors.EVENT_WRITE if self._outbox else 0
            selector.register(self._socket, selectors.EVENT_READ | sending)
            selector.register(wake_socket, selectors.EVENT_READ)
            selector.select(timeout)
        self._outbox.flush(self._socket)
        return self._reader.is_ready(self._socket)

    def kill(self) -> int:
        """Kill the process if it is still there; return how it ended."""
        self._socket.close()
        self._process.kill()
        return self._process.wait()

    def wait_for_exit(self) -> int:
        """Return how the process ended that has closed its socket."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT_S)
        return self.kill()


def worker_environment() -> dict[str, str]:
    """Return the worker's environment: ours, fewer threads, and places it needs."""
    # A worker serves everybody, and needs no secret of the server for it. How the server is to
    # take memory costs time, and a worker is not there for long.
    env = {
        name: text
        for name, text in os.environ.items()
        if "SECRET" not in name and name not in _SERVER_ONLY
    }
    # One processor is left to the server, which has pages to draw meanwhile.
    threads = max(1, min(_MAX_THREADS, _n_processors() - 1))
    for name in _THREAD_VARIABLES:
        env.setdefault(name, str(threads))
    root = str(_PACKAGE.parent)
    # An installed copy is found anyway, and its folder before the standard library would hide it.
    if root not in [*site.getsitepackages(), site.getusersitepackages()]:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, env.get("PYTHONPATH")]))
    if "NUMBA_CACHE_DIR" not in env and not os.access(_PACKAGE, os.W_OK):
        env["NUMBA_CACHE_DIR"] = str(_cache_folder())
    return env


def _n_processors() -> int:
    # Where the system can tell which ones are ours, that may be fewer than there are.
    ours = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if ours is None else len(ours(0))


@cache
def _cache_folder() -> Path:
    """Return a folder that only this user can write: what is compiled there is run later."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(home) if home else Path.home() / ".cache") / "hetviz" / "numba"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        # No home at all, or one that cannot be written.
        pass
    return Path(tempfile.mkdtemp(prefix="hetviz-numba-"))

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
from hetviz.jobs.process.array_cache import Numbers
from hetviz.jobs.process.failures import CANNOT_START, ended, how_it_ended, is_fault, plain
from hetviz.jobs.process.job_table import Book
from hetviz.jobs.process.wire import Buffer, Message, Outbox, Reader, message, pickled
from hetviz.jobs.runner import Job, Task, as_parts, seconds_left

log = logging.getLogger(__name__)

# A job that was asked to stop and does not is ended with its process.
GRACE_S = 2.0
# A worker that has not said by then that it is ready never will.
_START_S = 120.0
_MOST_STARTS = 3
_LONGEST_PAUSE_S = 30.0
# A worker that was idle for so long before it ended is no sign that the next one ends too.
_SOUND_S = 60.0


class ProcessRunner(Book):
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
        self._wanted = False
        self._closing = False
        self._dismissed = False
        self._bell, self._rope = socket.socketpair()
        self._bell.setblocking(False)
        self._rope.setblocking(False)
        # From here on all is the manager's own.
        self._child: Child | None = None
        self._born = 0.0
        self._running: str | None = None
        self._began = 0.0
        # What the worker was sent and has not taken up: it may have ended before.
        self._sent: Task | None = None
        self._sent_again: str | None = None
        # When the worker is ended if it has not done by then what was asked of it.
        self._deadline = math.inf
        self._failures = 0
        self._not_before = 0.0
        self._numbers = Numbers()

    def end_unbegun(self, job: Job) -> None:
        """Take in a job that will not begin, as one that was cancelled while it waited."""
        id = self._new(job.owner, job.title, Task(""), job.note, job.id)
        self._end(id, state="cancelled")

    def end_worker(self) -> None:
        """Have the worker end if it has nothing to do; the next task starts another."""
        with self._lock:
            self._wanted = False
            self._dismissed = True
        self._ring()

    @property
    def worker_pid(self) -> int | None:
        """The worker's process number, None while there is none; for tests and diagnosis."""
        child = self._child
        return None if child is None else child.pid

    def warm(self) -> None:
        """Start the worker now, if there is none, so that the first job finds it ready."""
        with self._lock:
            self._wanted = True
            if self._thread is None and not self._closing:
                # Of the server, never of a page: a worker ends with the thread that started it.
                self._thread = threading.Thread(target=self._manage, name="hetviz-jobs")
                self._thread.daemon = True
                self._thread.start()
                atexit.register(self.close)
        self._ring()

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
            id = self._new(owner, title, task, note, id)
            self._waiting[id] = task
            self._tell_places()
        self.warm()
        return id

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop; a waiting one does not start any more."""
        super().cancel(id, owner)
        self._ring()

    def close(self) -> None:
        """End the worker and the manager, as the server does when it ends."""
        with self._lock:
            self._closing = True
            thread, self._thread = self._thread, None
        if thread is not None:
            atexit.unregister(self.close)
            self._ring()
            thread.join()
            self._bell.close()
            self._rope.close()

    def _ring(self) -> None:
        # Full: it has been ringing for a while. Closed: nobody is there to hear it.
        with contextlib.suppress(OSError):
            self._rope.send(b"!")

    def _tell_places(self) -> None:
        ahead = int(self._running is not None)
        for id in self._waiting:
            self._change(id, ahead=ahead)
            ahead += id not in self._stopped

    # What follows runs on the manager's thread only.

    def _manage(self) -> None:
        while not self._closing:
            try:
                self._turn()
            except Exception as error:
                log.exception("The manager of the long work failed")
                self._end_child()
                self._end_running(state="failed", error=plain(error))
                self._put_off()
                # Whatever it was may come again at once.
                time.sleep(1.0)
        self._end_child()

    def _turn(self) -> None:
        self._drop_cancelled()
        if self._dismissed:
            self._dismissed = False
            if self._running is None and not self._waiting:
                self._end_child()
        now = time.monotonic()
        if self._child is None and self._wanted and now >= self._not_before:
            self._start_child()
        if self._child is None:
            self._pause()
            return
        while self._child.ready and self._running is None and self._waiting:
            self._start_next(self._child)
        self._pass_on_cancel(self._child)
        timeout = max(0.0, self._deadline - time.monotonic())
        heard, alive = self._child.wait(self._bell, None if timeout == math.inf else timeout)
        self._hush()
        for one in heard:
            self._heed(self._child, one)
        if not alive:
            self._child_ended(self._child.ended())
        elif time.monotonic() >= self._deadline:
            self._child_is_late()

    def _pause(self) -> None:
        """Wait for the bell, or for the time at which the next worker may start."""
        wait = max(0.01, self._not_before - time.monotonic()) if self._wanted else None
        self._bell.settimeout(wait)
        with contextlib.suppress(TimeoutError):
            self._bell.recv(4096)
        self._bell.setblocking(False)

    def _hush(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._bell.recv(4096)

    def _drop_cancelled(self) -> None:
        with self._lock:
            gone = [id for id in self._waiting if id in self._stopped]
            for id in gone:
                del self._waiting[id]
            if gone:
                self._tell_places()
        for id in gone:
            self._end(id, state="cancelled")

    def _start_child(self) -> None:
        try:
            self._child = Child()
        except (OSError, ValueError):
            log.exception("The worker cannot be started")
            self._start_failed()
            return
        self._born = time.monotonic()
        self._deadline = self._born + _START_S
        with self._lock:
            for id in self._waiting:
                self._change(id, message="Getting ready")

    def _start_next(self, child: Child) -> None:
        with self._lock:
            id = next(iter(self._waiting))
            task = self._waiting.pop(id)
            self._running = id
            self._change(id, state="running", ahead=0, message="Starting")
            self._tell_places()
        self._began = time.monotonic()
        try:
            parts = pickled(self._numbers.wrap(task.arguments, child.held))
        except Exception as error:
            if is_fault(error):
                log.exception("A task cannot be sent: %s", task.function)
            self._end_running(state="failed", error=plain(error))
            return
        self._sent = task
        child.post(message("task", parts, id=id, function=task.function))

    def _pass_on_cancel(self, child: Child) -> None:
        if self._running in self._stopped and self._deadline == math.inf:
            self._deadline = time.monotonic() + GRACE_S
            child.post(message("cancel", id=self._running))

    def _heed(self, child: Child, heard: Message) -> None:
        if heard.kind == "ready":
            child.ready = True
            self._deadline = math.inf
            return
        id = heard.fields["id"]
        if id != self._running:
            return
        self._sent = None
        if heard.kind == "begun":
            return
        if heard.kind == "progress":
            fraction = heard.fields["fraction"]
            left = seconds_left(fraction, time.monotonic() - self._began)
            self._change(
                id,
                fraction=fraction,
                message=heard.fields["text"],
                seconds_left=left,
                parts=as_parts(heard.fields["of_job"]),
            )
            if heard.parts:
                self._keep_frame(id, bytes(heard.parts[0]))
            return
        child.held = heard.fields["held"]
        self._change(id, processor_s=heard.fields["processor_s"])
        self._failures = 0
        if heard.kind == "cancelled":
            self._end_with_result(heard, state="cancelled")
        elif id in self._stopped:
            # Asked to stop is stopped, even where the result was just ready: that is what the
            # person expects to find.
            self._end_running(state="cancelled")
        elif heard.kind == "done":
            self._end_with_result(heard, state="done", fraction=1.0)
        else:
            self._end_failed(heard)

    def _end_with_result(self, heard: Message, **fields: object) -> None:
        try:
            result = heard.value() if heard.parts else None
        except Exception as error:
            log.exception("The result of a task cannot be read")
            self._end_running(state="failed", error=plain(error))
            return
        self._end_running(result=result, **fields)

    def _end_failed(self, heard: Message) -> None:
        if heard.fields["trace"]:
            log.error("A task failed in the worker:\n%s", heard.fields["trace"])
        try:
            error = heard.value()
        except Exception as fault:
            log.exception("The error of a task cannot be read")
            error = plain(fault)
        self._end_running(state="failed", error=error)

    def _end_running(self, **fields: object) -> None:
        id, self._running = self._running, None
        self._deadline = math.inf
        if id is not None:
            self._end(id, **fields)
        with self._lock:
            self._tell_places()

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _child_is_late(self) -> None:
        """End a worker that does not do what was asked of it: to stop its job, or to get ready."""
        self._end_child()
        if self._running is None:
            log.error("The worker did not get ready within %g s", _START_S)
            self._start_failed()
        else:
            self._end_running(state="cancelled")

    def _child_ended(self, returncode: int) -> None:
        """Carry on after a worker that ended by itself, or at the hands of somebody else."""
        child, self._child = self._child, None
        log.error("The worker ended: %s", how_it_ended(returncode))
        if self._running is not None:
            # Its job is gone with it, so this cannot go round and round.
            if self._running in self._stopped:
                self._end_running(state="cancelled")
            elif self._sent is not None and self._running != self._sent_again:
                self._send_again(self._running, self._sent)
            else:
                self._end_running(state="failed", error=ended(returncode))
        elif child is not None and child.ready:
            if time.monotonic() - self._born > _SOUND_S:
                self._failures = 0
            self._put_off()
        else:
            self._start_failed()

    def _send_again(self, id: str, task: Task) -> None:
        """Give a job that the ended worker had not taken up to the next one; once only."""
        self._running, self._sent, self._sent_again = None, None, id
        with self._lock:
            self._waiting = {id: task, **self._waiting}
            self._change(id, state="waiting", message="Getting ready")
            self._tell_places()

    def _put_off(self) -> None:
        """Start the next worker at once, but each further one that fails later and later."""
        self._failures += 1
        pause = 0.0 if self._failures == 1 else min(_LONGEST_PAUSE_S, 2.0 ** (self._failures - 2))
        self._not_before = time.monotonic() + pause

    def _start_failed(self) -> None:
        self._deadline = math.inf
        self._put_off()
        if self._failures < _MOST_STARTS:
            return
        # Nobody should wait for what does not come; the next task that is submitted tries again.
        with self._lock:
            self._wanted = False
            gone = list(self._waiting)
            self._waiting.clear()
        for id in gone:
            self._end(id, state="failed", error=HetvizError(CANNOT_START))


# The server's handle on one worker process: start it, talk to it, end it.


_PACKAGE = Path(__file__).resolve().parents[2]
_OF_SERVER = ("PYTHONMALLOC", "MALLOC_ARENA_MAX", "NUMPY_MADVISE_HUGEPAGE")
# Every library that keeps threads of its own, by the variable that it reads when it is loaded.
_THREADS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_MOST_THREADS = 4
_WAIT_S = 5.0


class Child:
    """A worker process and the socket to it; all of it is used by one thread.

    That thread has to live as long as the worker may: on Linux a worker ends with the thread that
    started it.

    Attributes
    ----------
    ready : bool
        Whether it has said so; set by who reads its messages.
    held : collection of int
        Numbers of the data it holds, as it last said.

    Raises
    ------
    OSError, ValueError
        If the process cannot be started.
    """

    def __init__(self) -> None:
        self.ready = False
        self.held: Sequence[int] = ()
        self._reader, self._outbox = Reader(), Outbox()
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "hetviz.jobs.process.worker"]
        try:
            with theirs:
                # Not multiprocessing: its children run the main script again, here the app.
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                    [*command, str(theirs.fileno()), str(os.getpid())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    env=environment(),
                )
        except BaseException:
            self._socket.close()
            raise
        self._socket.setblocking(False)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def post(self, message: Sequence[Buffer]) -> None:
        """Send a message, as the worker takes it; returns at once."""
        self._outbox.put(message)

    def wait(self, bell: socket.socket, timeout: float | None) -> tuple[list[Message], bool]:
        """Wait for something to happen; return what the worker said and whether it is alive.

        Parameters
        ----------
        bell : socket
            Readable when there is something else to do.
        timeout : float or None
            Seconds.
        """
        with selectors.DefaultSelector() as selector:
            sending = selectors.EVENT_WRITE if self._outbox else 0
            selector.register(self._socket, selectors.EVENT_READ | sending)
            selector.register(bell, selectors.EVENT_READ)
            selector.select(timeout)
        self._outbox.flush(self._socket)
        return self._reader.ready(self._socket)

    def end(self) -> int:
        """Kill the process if it is still there; return how it ended."""
        self._socket.close()
        self._process.kill()
        return self._process.wait()

    def ended(self) -> int:
        """Return how the process ended that has closed its socket."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT_S)
        return self.end()


def environment() -> dict[str, str]:
    """Return the worker's environment: ours, fewer threads, and places it needs."""
    # A worker serves everybody, and needs no secret of the server for it. How the server is to
    # take memory costs time, and a worker is not there for long.
    env = {
        name: text
        for name, text in os.environ.items()
        if "SECRET" not in name and name not in _OF_SERVER
    }
    # One processor is left to the server, which has pages to draw meanwhile.
    threads = max(1, min(_MOST_THREADS, _processors() - 1))
    for name in _THREADS:
        env.setdefault(name, str(threads))
    root = str(_PACKAGE.parent)
    # An installed copy is found anyway, and its folder before the standard library would hide it.
    if root not in [*site.getsitepackages(), site.getusersitepackages()]:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, env.get("PYTHONPATH")]))
    if "NUMBA_CACHE_DIR" not in env and not os.access(_PACKAGE, os.W_OK):
        env["NUMBA_CACHE_DIR"] = str(_cache_folder())
    return env


def _processors() -> int:
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

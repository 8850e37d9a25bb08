"""Worker process, which runs one task at a time for the server.

``python -m hetviz.jobs.process.worker FD PARENT``: descriptor of the inherited socket, and process
id of the parent. Only this process of the app imports the heavy libraries.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import logging
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from hetviz.errors import Cancelled, HetvizError
from hetviz.io.sandbox import confine
from hetviz.jobs.process.array_cache import WorkerData
from hetviz.jobs.process.failures import is_unexpected, user_error
from hetviz.jobs.process.wire import (
    Message,
    MessageBuffer,
    MessageReader,
    encode_message,
    pickle_value,
)
from hetviz.jobs.results import pack_frame
from hetviz.jobs.runner import JobPart, normalise_parts, run_function

log = logging.getLogger(__name__)

_NICE = 5
_OOM_SCORE = 900
_SET_PDEATHSIG = 1
_FRAME_S = 1 / 8
# Maximum number of progress reports in a burst, and per second.
_BURST = 10.0


class Worker:
    """A main thread that runs tasks, and a thread that listens to the server."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._sending = threading.Lock()
        # Guards the next and the running task.
        self._condition = threading.Condition()
        self._next: Message | None = None
        self._running: str | None = None
        self._stop = threading.Event()
        self._arrays = WorkerData()
        self._began = time.process_time()

    def work(self) -> None:
        """Report readiness and run tasks until the server ends."""
        threading.Thread(target=self._listen, name="hetviz-listen", daemon=True).start()
        self._send(encode_message("ready"))
        for chore in _warm_up_steps():
            while self._run_next(0.0):
                pass
            try:
                chore()
            except Exception:
                log.exception("A warm-up step failed. Tasks may still run.")
        while True:
            self._run_next(None)

    def _run_next(self, timeout: float | None) -> bool:
        """Wait for a task and run it; return whether one came in time."""
        task = self._wait(timeout)
        if task is not None:
            self._run(task)
        return task is not None

    def _listen(self) -> None:
        reader = MessageReader()
        while True:
            try:
                message = reader.read(self._server)
            except (EOFError, OSError):
                # The server has ended.
                os._exit(0)
            with self._condition:
                if message.kind == "task":
                    self._next = message
                    self._condition.notify()
                elif self._next is not None and self._next.fields["id"] == message.fields["id"]:
                    self._next = None
                    self._send(self._reply("cancelled", message.fields["id"]))
                elif self._running == message.fields["id"]:
                    self._stop.set()

    def _wait(self, timeout: float | None) -> Message | None:
        with self._condition:
            if self._next is None:
                self._condition.wait(timeout)
            task, self._next = self._next, None
            if task is not None:
                self._running = task.fields["id"]
                self._stop.clear()
            return task

    def _run(self, task: Message) -> None:
        id, function = task.fields["id"], task.fields["function"]
        self._began = time.process_time()
        self._send(encode_message("begun", id=id))
        try:
            arguments = self._arrays.unwrap(task.value())
            report = ProgressReporter(id, self._stop, self._send)
            try:
                kind, result = "done", run_function(function, arguments, report)
            except Cancelled as stopped:
                kind, result = "cancelled", stopped.partial
            reply = self._reply(kind, id, pickle_value(result))
        except BaseException as error:
            if isinstance(error, MemoryError):
                self._arrays.clear()
            reply = self._failed(id, error)
        with self._condition:
            self._running = None
        self._send(reply)

    def _failed(self, id: str, error: BaseException) -> list[MessageBuffer]:
        trace = "".join(traceback.format_exception(error)) if is_unexpected(error) else ""
        error_to_send = user_error(error)
        try:
            parts = pickle_value(error_to_send)
        except Exception:
            # A field cannot be pickled. Send the message only.
            parts = pickle_value(HetvizError(str(error_to_send)))
        return self._reply("failed", id, parts, trace=trace)

    def _reply(
        self, kind: str, id: str, parts: Sequence[MessageBuffer] = (), **fields: object
    ) -> list[MessageBuffer]:
        seconds = round(time.process_time() - self._began, 3)
        cached = self._arrays.numbers
        return encode_message(kind, parts, id=id, held=cached, processor_s=seconds, **fields)

    def _send(self, buffers: Sequence[MessageBuffer]) -> None:
        with self._sending:
            for buffer in buffers:
                self._server.sendall(buffer)


class ProgressReporter:
    """Progress callback of a task, which limits the rate of messages.

    Parameters
    ----------
    id : str
        Id of the job.
    stop : threading.Event
        Set when the job is to stop.
    send : callable
        Sends a message.
    """

    def __init__(
        self, id: str, stop: threading.Event, send: Callable[[Sequence[MessageBuffer]], None]
    ) -> None:
        self._id, self._stop, self._send = id, stop, send
        self._allowance = _BURST
        self._last_look = time.monotonic()
        self._last_frame = -_FRAME_S
        self._last_message: str | None = None
        self._last_report = 0.0
        # Reports without parts keep the last ones.
        self._of_job: tuple[JobPart, ...] = ()

    def __call__(self, fraction: float, message: str = "", **figures: object) -> None:
        if self._stop.is_set():
            raise Cancelled("Stopped.")
        now = time.monotonic()
        if (parts := figures.get("parts")) is not None:
            self._of_job = normalise_parts(parts)
        layout = figures.get("layout")
        if layout is not None and now - self._last_frame >= _FRAME_S:
            self._last_frame = now
            self._send_progress(fraction, message, [pack_frame(layout)])
        elif self._is_due(now, message):
            self._send_progress(fraction, message, [])
            self._last_report, self._last_message = now, message

    def _is_due(self, now: float, message: str) -> bool:
        # New messages are sent immediately, within the rate limit.
        self._allowance = min(_BURST, self._allowance + _BURST * (now - self._last_look))
        self._last_look = now
        due = message != self._last_message or now - self._last_report >= 1 / _BURST
        if not due or self._allowance < 1.0:
            return False
        self._allowance -= 1.0
        return True

    def _send_progress(self, fraction: float, text: str, parts: Sequence[MessageBuffer]) -> None:
        share = min(max(float(fraction), 0.0), 1.0)
        fields = {"fraction": share, "text": text, "of_job": self._of_job}
        self._send(encode_message("progress", parts, id=self._id, **fields))


def _warm_up_steps() -> Iterator[Callable[[], object]]:
    """Yield warm-up steps: imports, then the classmethod ``warm_up()`` of methods that have one."""
    # A task that arrives meanwhile waits for one step at most.
    for name in ("hetviz.algorithms.registry", "hetviz.jobs.tasks.maps"):
        yield partial(importlib.import_module, name)
    registry = sys.modules.get("hetviz.algorithms.registry")
    if registry is None:
        return
    cards: list[Any] = []
    yield lambda: cards.extend(registry.methods())
    for card in cards:
        warm_up = getattr(registry.get_method(card.key), "warm_up", None)
        if warm_up is not None:
            yield warm_up


def _exit_with(parent: int) -> None:
    """Make this process end with its parent."""
    if sys.platform == "linux":
        # A long library call may block the listening thread, so the kernel sends the signal.
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent has already ended.
        os._exit(0)


def _lower_priority() -> None:
    """Give the server priority for processors and memory."""
    # The server handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write(str(_OOM_SCORE))
    with contextlib.suppress(OSError):
        os.nice(_NICE)


def main(descriptor: int, parent: int) -> None:
    """Serve the process `parent` over the socket `descriptor`."""
    _lower_priority()
    confine.block_network()
    confine.limit_memory(int(os.environ.get("HETVIZ_WORK_MEMORY_MB") or 0))
    # After `keep_off_network`, which resets the setting.
    _exit_with(parent)
    server = socket.socket(fileno=descriptor)
    server.set_inheritable(False)
    # Threads are still allowed.
    confine.block_system_calls()
    for name in ("numpy", "scipy.linalg"):
        importlib.import_module(name)
    Worker(server).work()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

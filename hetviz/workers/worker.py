"""Worker process, which runs one task at a time for the server.

``python -m hetviz.workers.worker FD PARENT WARM_UP``: descriptor of the inherited socket, process
id of the parent, and the function with the steps of getting ready. Only this process of the app
imports the heavy libraries.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hetviz.codec import Buffer
from hetviz.core.threads import one_thread
from hetviz.errors import Cancelled, HetvizError
from hetviz.progress import Progress
from hetviz.workers import confine
from hetviz.workers.array_cache import WorkerData
from hetviz.workers.failures import is_unexpected, user_error
from hetviz.workers.progress import ProgressReporter
from hetviz.workers.protocol import Message, MessageReader, encode_message, encode_value

log = logging.getLogger(__name__)

_NICE = 5
_OOM_SCORE = 900


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

    def work(self, warm_up_steps: Iterable[Callable[[], object]] = ()) -> None:
        """Report readiness, and run tasks until the server ends, between steps of warming up."""
        threading.Thread(target=self._listen, name="hetviz-listen", daemon=True).start()
        self._send(encode_message("ready"))
        for step in warm_up_steps:
            while self._run_next(0.0):
                pass
            try:
                step()
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
            reply = self._reply(kind, id, encode_value(result))
        except BaseException as error:
            if isinstance(error, MemoryError):
                self._arrays.clear()
            reply = self._failed(id, error)
        with self._condition:
            self._running = None
        self._send(reply)

    def _failed(self, id: str, error: BaseException) -> list[Buffer]:
        trace = "".join(traceback.format_exception(error)) if is_unexpected(error) else ""
        error_to_send = user_error(error)
        try:
            parts = encode_value(error_to_send)
        except Exception:
            # A field cannot be sent, so send the message only.
            parts = encode_value(HetvizError(str(error_to_send)))
        return self._reply("failed", id, parts, trace=trace)

    def _reply(
        self, kind: str, id: str, parts: Sequence[Buffer] = (), **fields: object
    ) -> list[Buffer]:
        seconds = round(time.process_time() - self._began, 3)
        cached = self._arrays.numbers
        return encode_message(kind, parts, id=id, held=cached, processor_s=seconds, **fields)

    def _send(self, buffers: Sequence[Buffer]) -> None:
        with self._sending:
            for buffer in buffers:
                self._server.sendall(buffer)


@one_thread()
def run_function(path: str, arguments: Mapping[str, Any], progress: Progress) -> object:
    """Call the function of a task and return its result."""
    return load_function(path)(**arguments, progress=progress)


def load_function(path: str) -> Callable[..., Any]:
    """Import and return a function given as ``module:function``."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _lower_priority() -> None:
    """Give the server priority for processors and memory."""
    # The server handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write(str(_OOM_SCORE))
    with contextlib.suppress(OSError):
        os.nice(_NICE)


def main(descriptor: int, parent: int, warm_up: str = "") -> None:
    """Serve the process `parent` over the socket `descriptor`."""
    _lower_priority()
    # Not on every system that has a server.
    import resource

    memory = 1_000_000 * int(os.environ.get("HETVIZ_WORK_MEMORY_MB") or 0)
    confine.confine([(resource.RLIMIT_AS, memory, memory)] if memory else (), parent)
    server = socket.socket(fileno=descriptor)
    server.set_inheritable(False)
    for name in ("numpy", "scipy.linalg"):
        importlib.import_module(name)
    Worker(server).work(load_function(warm_up)() if warm_up else ())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])

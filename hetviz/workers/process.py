"""The server's end of a worker process."""

from __future__ import annotations

import contextlib
import selectors
import subprocess
from collections.abc import Sequence

from hetviz.codec import Buffer
from hetviz.workers.launch import launch
from hetviz.workers.protocol import Message, MessageReader, Outbox

_WAIT_S = 5.0


class WorkerProcess:
    """A worker process and the socket to it, for use by one thread.

    On Linux a worker ends with the thread that started it.
    """

    def __init__(self, warm_up: str = "") -> None:
        self.is_ready = False
        self.cached: Sequence[int] = ()
        self._reader, self._outbox = MessageReader(), Outbox()
        self._process, self.socket = launch("hetviz.workers.worker", warm_up)

    @property
    def pid(self) -> int:
        return self._process.pid

    def post(self, message: Sequence[Buffer]) -> None:
        """Send a message without waiting."""
        self._outbox.put(message)

    @property
    def events(self) -> int:
        """The events of the socket to wait for, as of `selectors`."""
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outbox else 0)

    def exchange(self) -> tuple[list[Message], bool]:
        """Send and receive without waiting; return messages and whether the worker is alive."""
        self._outbox.flush(self.socket)
        return self._reader.read_available(self.socket)

    def kill(self) -> int:
        """Kill the process if needed, and return its exit code."""
        self.socket.close()
        self._process.kill()
        return self._process.wait()

    def wait_for_exit(self) -> int:
        """Return the exit code of a process that has closed its socket."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT_S)
        return self.kill()

"""The server's handle on one worker process: start it, talk to it, end it."""

from __future__ import annotations

import contextlib
import os
import selectors
import site
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hetviz.jobs.process.wire import Buffer, Message, Outbox, Reader

_PACKAGE = Path(__file__).resolve().parents[2]
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
    env = dict(os.environ)
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

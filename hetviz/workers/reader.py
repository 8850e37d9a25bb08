"""Short-lived workers with limits, which read untrusted bytes.

A reader gets a document of `hetviz.codec` on standard input and writes its answer to standard
output. Both are unnamed temporary files. It reports its progress over the socket.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event
from typing import IO

from hetviz._text import count
from hetviz.codec import Buffer, CodecError, Limits, Records, decode, encode_buffers
from hetviz.errors import DataError, Problem
from hetviz.workers import confine
from hetviz.workers.launch import launch
from hetviz.workers.progress import progress_message
from hetviz.workers.protocol import MessageReader
from hetviz.workers.queue import READER_QUEUE
from hetviz.workers.turns import PAGE_TURNS

_MB = 1_000_000
MAX_MEMORY_BYTES = 4_000 * _MB
MAX_RESIDENT_BYTES = 2_500 * _MB
MAX_PROCESSOR_S = 60
# A limit for endless waiting only; processor time is the actual limit.
MAX_WALL_S = 600.0
_MAX_OPEN_FILES = 64
_GRACE_S = 5
_MAX_OUTPUT_BYTES = 2_000 * _MB
_MIN_POLL_S = 0.02
_MAX_POLL_S = 0.1
_MAX_READS = 100
TOO_LARGE, _REJECTED = 3, 4
_MAX_REJECTION_BYTES = 100 * _MB
_PROBLEMS = Records(Problem)
_GIVE_LESS = "Give fewer rows or columns, or save it as CSV."
_CHECK = "Check the file. Save it again, or save it as CSV."
_CONFINED = Event()
# Interval of progress reports, also without news.
_REPORT_S = 0.5
MAX_MESSAGE_CHARS = 200
_MESSAGE_LIMITS = Limits(body_bytes=4_096, header_bytes=4_096, parts=0)


def is_confined() -> bool:
    """Whether this process has limits."""
    return _CONFINED.is_set()


class ReaderFailed(DataError):
    """The reader crashed, hung or hit a limit."""

    def __init__(self, problem: Problem, last_message: str) -> None:
        super().__init__(problem)
        self.last_message = last_message


OnProgress = Callable[[float, str], None]
"""Called with the share of work done and a message."""


def run(
    module: str,
    request: Iterable[Buffer],
    where: str,
    processor_s: int = MAX_PROCESSOR_S,
    on_progress: OnProgress | None = None,
    into: IO[bytes] | None = None,
) -> bytes:
    """Run a module in a limited process, after waiting for a turn, and return its answer."""
    with contextlib.ExitStack() as stack:
        try:
            source = stack.enter_context(tempfile.TemporaryFile())
            out = into or stack.enter_context(tempfile.TemporaryFile())
            write_request(source, request)
        except OSError as error:
            message = f"the file cannot be passed to the reader: {error.strerror}"
            problem = Problem("no-room", where, message, "", "Free some disk space.")
            raise DataError(problem) from None
        source.seek(0)
        stack.enter_context(PAGE_TURNS.leave())
        stack.enter_context(
            READER_QUEUE.wait_for_turn(
                None if on_progress is None else _waiting_reporter(on_progress)
            )
        )
        reader = _Reader(module, source, out, processor_s)
        if (failure := reader.watch(on_progress)) is not None:
            code, message, remedy = failure
            problem = Problem(code, where, message, "", remedy)
            raise ReaderFailed(problem, reader.last_progress[1])
        out.seek(0)
        if reader.has_rejected:
            raise _rejection(out.read(_MAX_REJECTION_BYTES), where)
        return out.read() if into is None else b""


def _waiting_reporter(on_progress: OnProgress) -> Callable[[int], None]:
    def on_wait(n_before: int) -> None:
        first = f", {n_before} before this one" if n_before else ""
        on_progress(0.0, f"Waiting for other files{first}")

    return on_wait


def no_result_error(where: str) -> DataError:
    """Return the error for a process with invalid output."""
    return DataError.of("reader-ended", where, "the reader returned no result", "", _CHECK)


def _rejection(content: bytes, where: str) -> DataError:
    """Return the error with the problems that a reader wrote."""
    with contextlib.suppress(CodecError):
        problems = decode(content, _PROBLEMS)
        if isinstance(problems, tuple) and all(isinstance(p, Problem) for p in problems):
            return DataError(problems)
    return no_result_error(where)


def write_request(stream: IO[bytes], request: Iterable[Buffer]) -> None:
    """Write a request for a reader."""
    stream.writelines(request)
    stream.flush()


def serve(answer: Callable[[bytes, OnProgress], Iterable[Buffer]]) -> int:
    """Answer the request on standard input within the limits, and return the exit code."""
    apply_limits()
    report = progress_writer()
    out, code = sys.stdout.buffer, 0
    try:
        try:
            output = answer(sys.stdin.buffer.read(), report)
        except DataError as error:
            output, code = encode_buffers(error.problems, _PROBLEMS), _REJECTED
        out.writelines(output)
        out.flush()
    except (MemoryError, OSError):
        return TOO_LARGE
    return code


def progress_writer() -> OnProgress:
    """Return a callable that reports progress to the parent process."""
    parent = socket.socket(fileno=int(sys.argv[1])) if len(sys.argv) > 1 else None

    def report(fraction: float, message: str) -> None:
        if parent is not None:
            with contextlib.suppress(OSError):
                for buffer in progress_message(fraction, message[:MAX_MESSAGE_CHARS]):
                    parent.sendall(buffer)

    return report


def apply_limits() -> None:
    """Apply the limits in the child process, as far as the system supports them."""
    import resource

    parent, processor_s = map(int, sys.argv[2:4]) if len(sys.argv) > 3 else (0, MAX_PROCESSOR_S)
    # Importing modules does not count as work on the file.
    begun = math.ceil(time.process_time())
    end = begun + processor_s + _GRACE_S
    limits = (
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES, MAX_MEMORY_BYTES),
        # The soft limit sends SIGXCPU, the hard limit kills without a reason.
        (resource.RLIMIT_CPU, begun + min(processor_s, MAX_PROCESSOR_S), end),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES, _MAX_OPEN_FILES),
        (resource.RLIMIT_FSIZE, _MAX_OUTPUT_BYTES, _MAX_OUTPUT_BYTES),
        (resource.RLIMIT_CORE, 0, 0),
    )
    confine.confine(limits, parent)
    _CONFINED.set()


def allow_seconds(processor_s: int) -> None:
    """Allow this process some seconds of processor time from now on."""
    _set_processor_limit(math.ceil(time.process_time()) + processor_s)


def allow_all_seconds() -> None:
    """Allow this process all the processor time that its parent granted."""
    _set_processor_limit(None)


def _set_processor_limit(until: int | None) -> None:
    import resource

    if not is_confined():
        return
    with contextlib.suppress(ValueError, OSError):
        _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
        # Stay below the hard limit, which kills without a reason.
        end = max(1, hard_limit - _GRACE_S)
        resource.setrlimit(resource.RLIMIT_CPU, (min(end, until or end), hard_limit))


class _Reader:
    """A running reader, watched by one thread."""

    def __init__(self, module: str, source: IO[bytes], out: IO[bytes], processor_s: int) -> None:
        self.last_progress = 0.0, ""
        self._processor_s = processor_s
        self._messages = MessageReader(_MESSAGE_LIMITS)
        self._process, self._socket = launch(
            module, processor_s, is_reader=True, source=source, out=out
        )
        self._is_open = True

    @property
    def has_rejected(self) -> bool:
        """Whether the reader has ended and written problems instead of an answer."""
        return self._process.returncode == _REJECTED

    def watch(self, on_progress: OnProgress | None) -> tuple[str, str, str] | None:
        """Wait for the end; return problem code, message and remedy of a failure, else None."""
        started_at = last_report = time.monotonic()
        try:
            while self._process.poll() is None:
                now = time.monotonic()
                if on_progress is not None and now - last_report > _REPORT_S:
                    last_report = now
                    on_progress(*self.last_progress)
                if (failure := self._find_excess(now - started_at)) is not None:
                    return failure
                # Look less often over time.
                self._wait(min(_MAX_POLL_S, max(_MIN_POLL_S, (now - started_at) / 20)))
            # The last report names what a crashed reader was reading.
            for _ in range(_MAX_READS):
                if not self._read_reports():
                    break
        finally:
            # Also if this thread is interrupted.
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()
            self._socket.close()
        return _failure_of(self._process.returncode, self._processor_s)

    def _find_excess(self, seconds: float) -> tuple[str, str, str] | None:
        if seconds > MAX_WALL_S:
            message = f"reading took longer than the allowed {MAX_WALL_S:.0f} seconds"
            return "too-slow", message, _GIVE_LESS
        if _resident(self._process.pid) > MAX_RESIDENT_BYTES:
            message = f"reading used more than the allowed {MAX_RESIDENT_BYTES / _MB:,.0f} MB"
            return "too-large", message, _GIVE_LESS
        return None

    def _wait(self, seconds: float) -> None:
        """Read reports for some time, or until the reader ends."""
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            while self._is_open and (left := until - time.monotonic()) > 0:
                if selector.select(left):
                    self._read_reports()
        if not self._is_open:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.0, until - time.monotonic()))

    def _read_reports(self) -> bool:
        """Read the reports that have arrived; return whether there was one."""
        messages, self._is_open = self._messages.read_available(self._socket)
        for message in messages:
            with contextlib.suppress(KeyError, TypeError, ValueError):
                share, text = float(message.fields["fraction"]), str(message.fields["text"])
                self.last_progress = min(max(share, 0.0), 1.0), text[:MAX_MESSAGE_CHARS]
        return bool(messages)


def _failure_of(code: int, processor_s: int) -> tuple[str, str, str] | None:
    if code in (0, _REJECTED):
        return None
    if code == -signal.SIGXCPU:
        # The longer limit includes loading, the shorter one only reading.
        limit = "" if processor_s > MAX_PROCESSOR_S else f"{count(processor_s, 'second')} of "
        message = f"reading took more than the {limit}allowed processor time"
        return (
            "too-slow",
            message,
            "Give fewer rows or columns. A small file that takes this long is probably damaged.",
        )
    if code == TOO_LARGE:
        message = f"reading needs more than the allowed {MAX_MEMORY_BYTES / _MB:,.0f} MB"
        return ("too-large", message, _GIVE_LESS)
    message = "the reader crashed on this file, but other data are not affected"
    return ("reader-ended", message, _CHECK)


def _resident(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 if unknown."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0

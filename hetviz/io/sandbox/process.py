"""A separate process with limits for reading untrusted bytes.

Its module reads parts with length prefixes from standard input and writes its result to standard
output. Both are unnamed temporary files.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import IO

from hetviz._text import count
from hetviz.codec import Buffer
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.sandbox.confine import block_network, block_system_calls
from hetviz.io.sandbox.reader_queue import READER_QUEUE

MAX_MEMORY_BYTES = 4_000 * limits.MB
MAX_RESIDENT_BYTES = 2_500 * limits.MB
MAX_PROCESSOR_S = 60
# A limit for endless waiting only; processor time is the actual limit.
MAX_WALL_S = 600.0
_MAX_OPEN_FILES = 64
_GRACE_S = 5
_MAX_OUTPUT_BYTES = 2_000 * limits.MB
_MIN_POLL_S = 0.02
_MAX_POLL_S = 0.1
TOO_LARGE = 3
_LENGTH = struct.Struct("<Q")
_PASSED_VARIABLES = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")
_GIVE_LESS = "Give fewer rows or columns, or save it as CSV."
_CHECK = "Check the file. Save it again, or save it as CSV."
_CONFINED = Event()
# Interval of progress reports, also without news.
_REPORT_S = 0.5
MAX_MESSAGE_CHARS = 200
# Including JSON escapes.
_MAX_LINE_BYTES = 2_500


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
    inputs: Iterable[Buffer],
    where: str,
    processor_s: int = MAX_PROCESSOR_S,
    on_progress: OnProgress | None = None,
    into: IO[bytes] | None = None,
) -> bytes:
    """Run a module in a limited process, after waiting for a turn, and return its output."""
    with contextlib.ExitStack() as stack:
        try:
            source = stack.enter_context(tempfile.TemporaryFile())
            out = into or stack.enter_context(tempfile.TemporaryFile())
            progress_file = stack.enter_context(tempfile.TemporaryFile())
            write_parts(source, inputs)
        except OSError as error:
            message = f"the file cannot be passed to the reader: {error.strerror}"
            raise gate.refusal("no-room", where, message, remedy="Free some disk space.") from None
        source.seek(0)
        stack.enter_context(
            READER_QUEUE.wait_for_turn(
                None if on_progress is None else _waiting_reporter(on_progress)
            )
        )
        why = _run_watched(module, source, out, processor_s, progress_file, on_progress)
        if why is not None:
            code, message, remedy = why
            raise ReaderFailed(
                Problem(code, where, message, "", remedy), _last_progress(progress_file)[1]
            )
        if into is not None:
            return b""
        out.seek(0)
        return out.read()


def _waiting_reporter(on_progress: OnProgress) -> Callable[[int], None]:
    def on_wait(n_before: int) -> None:
        first = f", {n_before} before this one" if n_before else ""
        on_progress(0.0, f"Waiting for other files{first}")

    return on_wait


def no_result_error(where: str) -> Exception:
    """Return the error for a process with invalid output."""
    return gate.refusal("reader-ended", where, "the reader returned no result", remedy=_CHECK)


def write_parts(stream: IO[bytes], parts: Iterable[Buffer]) -> None:
    """Write parts, each with its length before it."""
    for part in parts:
        stream.write(_LENGTH.pack(len(part)))
        stream.write(part)
    stream.flush()


def read_parts(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the parts that `write_parts` wrote."""
    while head := stream.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(head)
        yield stream.read(length)


def progress_writer() -> OnProgress:
    """Return a callable that reports progress to the parent process."""
    number = int(sys.argv[2]) if len(sys.argv) > 2 else -1

    def tell(fraction: float, message: str) -> None:
        if number < 0:
            return
        line = json.dumps([round(float(fraction), 4), message[:MAX_MESSAGE_CHARS]])
        with contextlib.suppress(OSError):
            os.write(number, f"{line}\n".encode())

    return tell


def _last_progress(progress_file: IO[bytes]) -> tuple[float, str]:
    """Return the last reported progress, (0, "") if it is invalid."""
    try:
        size = os.fstat(progress_file.fileno()).st_size
        end = os.pread(progress_file.fileno(), _MAX_LINE_BYTES, max(0, size - _MAX_LINE_BYTES))
        fraction, message = json.loads(end.rstrip(b"\n").rpartition(b"\n")[2])
        return min(max(float(fraction), 0.0), 1.0), str(message)[:MAX_MESSAGE_CHARS]
    except (OSError, ValueError, TypeError):
        return 0.0, ""


def apply_limits() -> None:
    """Apply the limits in the child process, as far as the system supports them."""
    import resource

    processor_s = int(sys.argv[1]) if len(sys.argv) > 1 else MAX_PROCESSOR_S
    # Importing modules does not count as work on the file.
    begun = math.ceil(time.process_time())
    end = begun + processor_s + _GRACE_S
    for resource_kind, soft_limit, hard_limit in (
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES, MAX_MEMORY_BYTES),
        # The soft limit sends SIGXCPU, the hard limit kills without a reason.
        (resource.RLIMIT_CPU, begun + min(processor_s, MAX_PROCESSOR_S), end),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES, _MAX_OPEN_FILES),
        (resource.RLIMIT_FSIZE, _MAX_OUTPUT_BYTES, _MAX_OUTPUT_BYTES),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource_kind, (soft_limit, hard_limit))
    # Readers need no network.
    block_network()
    block_system_calls()
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


def _run_watched(
    module: str,
    source: IO[bytes],
    out: IO[bytes],
    processor_s: int,
    progress_file: IO[bytes],
    on_progress: OnProgress | None,
) -> tuple[str, str, str] | None:
    """Run the process; return problem code, message and remedy if it fails, else None."""
    process = subprocess.Popen(  # noqa: S603
        # -P: do not import from the working directory.
        [sys.executable, "-P", "-m", module, str(processor_s), str(progress_file.fileno())],
        stdin=source,
        stdout=out,
        stderr=subprocess.DEVNULL,
        env=environment(),
        cwd=tempfile.gettempdir(),
        start_new_session=True,
        close_fds=True,
        pass_fds=(progress_file.fileno(),),
    )
    start, why = time.monotonic(), None
    last_report = start
    try:
        while process.poll() is None:
            if on_progress is not None and time.monotonic() - last_report > _REPORT_S:
                last_report = time.monotonic()
                on_progress(*_last_progress(progress_file))
            if time.monotonic() - start > MAX_WALL_S:
                message = f"reading took longer than the allowed {MAX_WALL_S:.0f} seconds"
                why = ("too-slow", message, _GIVE_LESS)
            elif _resident(process.pid) > MAX_RESIDENT_BYTES:
                message = (
                    f"reading used more than the allowed {MAX_RESIDENT_BYTES / limits.MB:,.0f} MB"
                )
                why = ("too-large", message, _GIVE_LESS)
            if why is not None:
                return why
            # Poll less often over time.
            time.sleep(min(_MAX_POLL_S, max(_MIN_POLL_S, (time.monotonic() - start) / 20)))
    finally:
        # Also if this thread is interrupted.
        if process.poll() is None:
            process.kill()
        process.wait()
    return _failure_of(process.returncode, processor_s)


def _failure_of(code: int, processor_s: int) -> tuple[str, str, str] | None:
    if code == 0:
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
        message = f"reading needs more than the allowed {MAX_MEMORY_BYTES / limits.MB:,.0f} MB"
        return ("too-large", message, _GIVE_LESS)
    message = "the reader crashed on this file, but other data are not affected"
    return ("reader-ended", message, _CHECK)


def environment() -> dict[str, str]:
    """Return a minimal environment for reading files."""
    passed = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
    return {
        **passed,
        "PYTHONPATH": str(Path(__file__).resolve().parents[3]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        # Readers must not write to the home folder.
        "HOME": tempfile.gettempdir(),
    }


def _resident(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 if unknown."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0

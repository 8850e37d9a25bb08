"""Reading files in a process of its own, which may be killed, hang or grow too large in our place.

``python -m hetviz.io.sandbox.child`` is that process: files come in on its standard input, what was
read goes out on its standard output, both plain files without a name.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from hetviz.errors import DataError
from hetviz.io import gate, limits
from hetviz.io.intake import drop, looking
from hetviz.io.intake.drop import Drop
from hetviz.io.intake.looking import Look
from hetviz.io.piece import Choices, Piece

# Text tables up to this size are read in this process: nothing but the standard library opens them.
SMALL = 5 * limits.MB
LOOKED_AT_HERE = limits.MB // 4
MEMORY = 4_000 * limits.MB
RESIDENT = 2_500 * limits.MB
PROCESSOR_S = 60
WALL_S = 120.0
_OPEN_FILES = 64
_OUT = 2_000 * limits.MB
_LOOK_S = 0.02
_TOO_LARGE = 3
_LENGTH = struct.Struct("<Q")
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")


def read_drop(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> Drop:
    """Read files as `hetviz.io.intake.drop.read_drop` does, in a process with limits where need be.

    Where the process does not come to its end, each file is read by itself, so that one that cannot
    be read does not stop the others.
    """
    if reads_here(files):
        return drop.read_drop(files, choices)
    try:
        return _drop_in_child(files, choices)
    except DataError as error:
        if len(files) == 1:
            return Drop((), ((files[0][0], error),))
    pieces: list[Piece] = []
    refused: list[tuple[str, DataError]] = []
    for file in files:
        alone = read_drop([file], choices)
        pieces += alone.pieces
        refused += alone.refused
    return Drop(tuple(pieces), tuple(refused))


def look_at(
    files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]
) -> tuple[list[Look], bytes]:
    """Look at files as `hetviz.io.intake.looking.look_at` does, in a process with limits.

    Returns
    -------
    list of Look
        None where the process does not come to its end: the reading then says why.
    bytes
        What `read_drop` gives for them, packed, as the process has them at hand; empty where it was
        not asked for what is read here anyway.
    """
    if reads_here(files) and sum(len(content) for _, content in files) <= LOOKED_AT_HERE:
        return looking.look_at(files, choices), b""
    try:
        parts = _parts(io.BytesIO(_in_child(files, choices, "look")))
        return [Look.from_dict(fields) for fields in json.loads(next(parts))], next(parts)
    except (DataError, ValueError, StopIteration):
        return [], b""


def reads_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are so plain that they are read in this process."""
    return all(_is_small_text(name, content) for name, content in files)


def _is_small_text(name: str, content: bytes) -> bool:
    try:
        return len(content) <= SMALL and gate.kind_of(name, content) == "text"
    except DataError:
        return True


def _drop_in_child(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> Drop:
    from hetviz.io.sandbox.pieces_as_bytes import unpacked

    try:
        return unpacked(_in_child(files, choices, "read"))
    except ValueError:
        raise gate.refusal(
            "reader-ended",
            _named(files),
            "reading ended without a result",
            remedy="Check the file; save it again, or save it as CSV.",
        ) from None


def _named(files: Sequence[tuple[str, bytes]]) -> str:
    return ", ".join(name for name, _ in files)[:200]


def _in_child(
    files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices], task: str
) -> bytes:
    """Read or look at files in a process of their own; return what it wrote.

    Raises
    ------
    hetviz.errors.DataError
        If the process does not come to its end.
    """
    where = _named(files)
    with contextlib.ExitStack() as stack:
        try:
            given = stack.enter_context(tempfile.TemporaryFile())
            out = stack.enter_context(tempfile.TemporaryFile())
            _write(given, files, choices, task)
        except OSError as error:
            what = f"the file cannot be handed on: {error.strerror}"
            raise gate.refusal("no-room", where, what, remedy="Free some disk space.") from None
        given.seek(0)
        why = _watched(given, out)
        if why is not None:
            code, what, remedy = why
            raise gate.refusal(code, where, what, remedy=remedy)
        out.seek(0)
        return out.read()


def _watched(given: IO[bytes], out: IO[bytes]) -> tuple[str, str, str] | None:
    """Run the process; return the code, what happened and a remedy, or None."""
    process = subprocess.Popen(
        # -P: nothing is imported from the folder that it runs in.
        [sys.executable, "-P", "-m", "hetviz.io.sandbox.child"],
        stdin=given,
        stdout=out,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        cwd=tempfile.gettempdir(),
        start_new_session=True,
        close_fds=True,
    )
    start, why = time.monotonic(), None
    smaller = "Give fewer rows or columns, or save it as CSV."
    try:
        while process.poll() is None:
            if time.monotonic() - start > WALL_S:
                what = f"reading took longer than {WALL_S:.0f} seconds, which are allowed"
                why = ("too-slow", what, smaller)
            elif _resident(process.pid) > RESIDENT:
                what = f"reading took more than {RESIDENT / limits.MB:,.0f} MB, which are allowed"
                why = ("too-large", what, smaller)
            if why is not None:
                return why
            time.sleep(_LOOK_S)
    finally:
        # Also where this thread is asked to stop.
        if process.poll() is None:
            process.kill()
        process.wait()
    return _ending(process.returncode, smaller)


def _ending(code: int, smaller: str) -> tuple[str, str, str] | None:
    if code == 0:
        return None
    if code == -signal.SIGXCPU:
        what = f"reading took more than {PROCESSOR_S} seconds of work, which are allowed"
        return ("too-slow", what, smaller)
    if code == _TOO_LARGE:
        what = f"reading needs more than {MEMORY / limits.MB:,.0f} MB, which are allowed"
        return ("too-large", what, smaller)
    what = "reading this file broke off the process that read it; nothing else was touched"
    return ("reader-ended", what, "Check the file; save it again, or save it as CSV.")


def _environment() -> dict[str, str]:
    """Return an environment without anything that is not needed to read a file."""
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **passed,
        "PYTHONPATH": str(Path(__file__).resolve().parents[3]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        # Nothing that is read here is kept in the home folder.
        "HOME": tempfile.gettempdir(),
    }


def _resident(pid: int) -> int:
    """Return the bytes of memory that a process holds, 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _write(
    stream: IO[bytes],
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    task: str,
) -> None:
    about = {
        "task": task,
        "names": [name for name, _ in files],
        "choices": {name: asdict(said) for name, said in choices.items()},
    }
    for part in (json.dumps(about).encode(), *(content for _, content in files)):
        stream.write(_LENGTH.pack(len(part)))
        stream.write(part)
    stream.flush()


def _read(stream: IO[bytes]) -> tuple[list[tuple[str, bytes]], dict[str, Choices], str]:
    parts = list(_parts(stream))
    about = json.loads(parts[0])
    choices = {name: Choices(**_as_given(said)) for name, said in about["choices"].items()}
    return list(zip(about["names"], parts[1:], strict=True)), choices, about["task"]


def _as_given(said: Mapping[str, object]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in said.items()}


def _parts(stream: IO[bytes]) -> Iterator[bytes]:
    while head := stream.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(head)
        yield stream.read(length)


def _limit() -> None:
    """Take on the limits; what the system does not know is passed over."""
    import resource

    for what, most, last in (
        (resource.RLIMIT_AS, MEMORY, MEMORY),
        # At the first the system says why it ends the process, at the last it does not.
        (resource.RLIMIT_CPU, PROCESSOR_S, PROCESSOR_S + 5),
        (resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, _OUT, _OUT),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, last))


def main() -> int:
    """Read files from standard input, and write what they hold to standard output."""
    _limit()
    from hetviz.io.sandbox.pieces_as_bytes import packed

    try:
        files, choices, task = _read(sys.stdin.buffer)
        if task == "look":
            seen = [look.to_dict() for look in looking.look_at(files, choices)]
            for part in (json.dumps(seen).encode(), packed(drop.read_drop(files, choices))):
                sys.stdout.buffer.write(_LENGTH.pack(len(part)))
                sys.stdout.buffer.write(part)
        else:
            sys.stdout.buffer.write(packed(drop.read_drop(files, choices)))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return _TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())

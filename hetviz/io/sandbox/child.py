"""Reading files in a process of its own, which may be killed, hang or grow too large in our place.

``python -m hetviz.io.sandbox.child`` is that process, see `hetviz.io.sandbox.process`.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import IO, Any

from hetviz.errors import DataError
from hetviz.io import gate, limits
from hetviz.io.formats import apart
from hetviz.io.intake import drop, looking
from hetviz.io.intake.looking import Look
from hetviz.io.piece import Choices, Drop, Piece
from hetviz.io.sandbox import process

# Text tables up to this size are read in this process: nothing but the standard library opens them.
SMALL = 5 * limits.MB
LOOKED_AT_HERE = limits.MB // 4
_MOST_CELLS = 64 * limits.MB
_MODULE = "hetviz.io.sandbox.child"


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
) -> tuple[list[Look], bytes, list[bytes]]:
    """Look at files as `hetviz.io.intake.looking.look_at` does, in a process with limits.

    Returns
    -------
    list of Look
        None where the process does not come to its end: the reading then says why.
    bytes
        What `read_drop` gives for them, packed, as the process has them at hand; empty where it was
        not asked for what is read here anyway.
    list of bytes
        The cells that were looked at, for each look, so that it can be changed without the file;
        none where they would take much room, or the look is made here in no time.
    """
    if is_looked_at_here(files):
        return looking.look_at(files, choices), b"", []
    try:
        parts = process.parts(io.BytesIO(_in_child(files, choices, "look")))
        looks = [Look.from_dict(fields) for fields in json.loads(next(parts))]
        return looks, next(parts), list(parts)
    except (DataError, ValueError, StopIteration):
        return [], b"", []


def is_looked_at_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are so plain and small that they are looked at in this process."""
    return reads_here(files) and sum(len(content) for _, content in files) <= LOOKED_AT_HERE


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
        raise process.without_result(_named(files)) from None


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
    about = {
        "task": task,
        "names": [name for name, _ in files],
        "choices": {name: asdict(said) for name, said in choices.items()},
    }
    given = (json.dumps(about).encode(), *(content for _, content in files))
    return process.run(_MODULE, given, _named(files), _work_s(files))


def _work_s(files: Sequence[tuple[str, bytes]]) -> int:
    """Return the seconds of work that files may take."""
    try:
        return max(apart.work_s(content) if gate.kind_of(name, content) == "hdf5"
                   else process.PROCESSOR_S for name, content in files)  # fmt: skip
    except DataError:
        return process.PROCESSOR_S


def _read(stream: IO[bytes]) -> tuple[list[tuple[str, bytes]], dict[str, Choices], str]:
    parts = list(process.parts(stream))
    about = json.loads(parts[0])
    choices = {name: Choices(**_as_given(said)) for name, said in about["choices"].items()}
    return list(zip(about["names"], parts[1:], strict=True)), choices, about["task"]


def _as_given(said: Mapping[str, object]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in said.items()}


def main() -> int:
    """Read files from standard input, and write what they hold to standard output."""
    process.confine()
    from hetviz.io.sandbox.pieces_as_bytes import arrow_bytes, packed

    try:
        files, choices, task = _read(sys.stdin.buffer)
        if task == "look":
            looks = looking.looked_at(files, choices)
            seen = json.dumps([look.to_dict() for look, _ in looks]).encode()
            cells = [arrow_bytes(frame) for _, frame in looks]
            cells = cells if sum(map(len, cells)) <= _MOST_CELLS else []
            del looks
            found = (seen, packed(drop.read_drop(files, choices)), *cells)
            process.write_parts(sys.stdout.buffer, found)
        else:
            sys.stdout.buffer.write(packed(drop.read_drop(files, choices)))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())

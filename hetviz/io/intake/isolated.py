"""Reading of single files, in a limited process where a damaged one can crash the library.

The library can also hang or ask for too much memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO

from hetviz.codec import Buffer, Records, encode_buffers
from hetviz.errors import DataError, Problem
from hetviz.io import limits
from hetviz.io.formats import registry
from hetviz.io.infer.parsed import Choices, Table, Tables, unpack_tables
from hetviz.workers import reader

_MODULE = "hetviz.io.intake.child"
# A small file that takes longer hangs. A large one has more to unpack.
_MIN_SECONDS = 3


@dataclass(frozen=True)
class Request:
    """A task for the reader process."""

    task: str
    files: tuple[tuple[str, bytes], ...]
    choices: Mapping[str, Choices]
    container: Buffer | None = None
    base: bytes | None = None
    without: Mapping[str, Problem] = field(default_factory=dict)

    def run(
        self,
        processor_s: int,
        on_progress: reader.OnProgress | None = None,
        into: IO[bytes] | None = None,
    ) -> bytes:
        """Do the task in a process with limits and return its answer."""
        request = encode_buffers(self, REQUEST_RECORDS)
        return reader.run(_MODULE, request, self.names, processor_s, on_progress, into)

    @property
    def names(self) -> str:
        return joined_names(self.files)


def joined_names(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the names of files, for messages."""
    return ", ".join(name for name, _ in files)[:200]


REQUEST_RECORDS = Records(Request, Choices, Problem)


def allowed_seconds(name: str, content: bytes) -> int:
    """Return the allowed processor time for a file, in seconds."""
    if not registry.format_of(name, content).can_hang:
        return reader.MAX_PROCESSOR_S
    return min(reader.MAX_PROCESSOR_S, _MIN_SECONDS + len(content) // limits.MB)


def can_hang(name: str, content: bytes) -> bool:
    """Whether reading a damaged file of this format may never end."""
    try:
        return registry.format_of(name, content).can_hang
    except DataError:
        return False


def parse_file(name: str, content: bytes, choices: Choices | None = None) -> list[Table]:
    """Parse a file as `hetviz.io.formats.registry.parse_file` does, with limits if needed."""
    file_format = registry.format_of(name, content)
    if not file_format.own_process or reader.is_confined():
        return registry.parse_file(name, content, choices)
    if file_format.require is not None:
        file_format.require()
    return _read_in_process(name, content, choices or Choices())


def _read_in_process(name: str, content: bytes, choices: Choices) -> list[Table]:
    request = Request("file", ((name, content),), {name: choices})
    tables = tables_of(request.run(allowed_seconds(name, content)), name)
    return list(tables.frames[0].tables)


def tables_of(container: bytes, where: str) -> Tables:
    """Return the tables in the answer of a reader."""
    try:
        return unpack_tables(container)
    except ValueError:
        raise reader.no_result_error(where) from None

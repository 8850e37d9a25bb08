"""Reading of single files, in a limited process where a damaged one can crash the library.

The library can also hang or ask for too much memory. ``python -m hetviz.io.intake.isolated`` is
the child process, see `hetviz.io.sandbox.process`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from hetviz.errors import DataError
from hetviz.io import limits
from hetviz.io.formats import registry
from hetviz.io.infer.parsed import Choices, Collection, Table, Tables, pack_tables, unpack_tables
from hetviz.io.sandbox import process

_MODULE = "hetviz.io.intake.isolated"
# A small file that takes longer hangs. A large one has more to unpack.
_MIN_SECONDS = 3


def allowed_seconds(name: str, content: bytes) -> int:
    """Return the allowed processor time for a file, in seconds."""
    if not registry.format_of(name, content).can_hang:
        return process.MAX_PROCESSOR_S
    return min(process.MAX_PROCESSOR_S, _MIN_SECONDS + len(content) // limits.MB)


def can_hang(name: str, content: bytes) -> bool:
    """Whether reading a damaged file of this format may never end."""
    try:
        return registry.format_of(name, content).can_hang
    except DataError:
        return False


def parse_file(name: str, content: bytes, choices: Choices | None = None) -> list[Table]:
    """Parse a file as `hetviz.io.formats.registry.parse_file` does, with limits if needed."""
    file_format = registry.format_of(name, content)
    if not file_format.own_process or process.is_confined():
        return registry.parse_file(name, content, choices)
    if file_format.require is not None:
        file_format.require()
    return _read_in_process(name, content, choices or Choices())


def choices_from_json(fields_read: Mapping[str, object]) -> Choices:
    """Return choices from JSON fields, with lists as tuples."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields_read.items()
    }
    return Choices(**fields)


def _read_in_process(name: str, content: bytes, choices: Choices) -> list[Table]:
    request = {"name": name, "choices": asdict(choices)}
    out = process.run(
        _MODULE, (json.dumps(request).encode(), content), name, allowed_seconds(name, content)
    )
    try:
        parsed = unpack_tables(out)
    except ValueError:
        raise process.no_result_error(name) from None
    for _, problems in parsed.problems:
        raise DataError(problems)
    return list(parsed.frames[0].tables)


def main() -> int:
    """Read a file from standard input and write its parsed content to standard output."""
    process.apply_limits()
    try:
        header, content = process.read_parts(sys.stdin.buffer)
        request = json.loads(header)
        name, choices = request["name"], choices_from_json(request["choices"])
        try:
            tables = registry.parse_file(name, content, choices)
            parsed = Tables({}, (Collection(name, tuple(tables)),))
        except DataError as error:
            parsed = Tables({}, (), ((name, error.problems),))
        sys.stdout.buffer.write(pack_tables(parsed))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())

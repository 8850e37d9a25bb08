"""HDF5 files and binary workbooks, read in a limited process because damaged ones can crash it.

The library can also hang or ask for too much memory. ``python -m hetviz.io.formats.isolated`` is
the child process, see `hetviz.io.sandbox.process`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from hetviz.errors import DataError
from hetviz.io import gate, limits
from hetviz.io.formats import anndata, workbooks
from hetviz.io.formats.hdf5 import require_h5py
from hetviz.io.parsed import Choices, ParsedFiles, Piece
from hetviz.io.sandbox import process
from hetviz.io.sandbox.pack_parts import pack_parsed, unpack_parsed

_MODULE = "hetviz.io.formats.isolated"
# A small file that takes longer hangs. A large one has more to unpack.
_MIN_SECONDS = 3


def allowed_seconds(content: bytes) -> int:
    """Return the allowed processor time for a file of this size, in seconds."""
    return min(process.MAX_PROCESSOR_S, _MIN_SECONDS + len(content) // limits.MB)


def read_hdf5(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read an AnnData or MuData file as `hetviz.io.formats.anndata.read_hdf5` does, with limits."""
    if process.is_confined():
        return anndata.read_hdf5(name, content, choices)
    require_h5py()
    return _read_in_process(name, content, choices, allowed_seconds(content))


def read_binary_workbook(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read an XLS or XLSB file as `hetviz.io.formats.workbooks.read_workbook` does, with limits."""
    if process.is_confined():
        return workbooks.read_workbook(name, content, choices)
    return _read_in_process(name, content, choices, process.MAX_PROCESSOR_S)


def choices_from_json(fields_read: Mapping[str, object]) -> Choices:
    """Return choices from JSON fields, with lists as tuples."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields_read.items()
    }
    return Choices(**fields)


def _read_in_process(name: str, content: bytes, choices: Choices, processor_s: int) -> list[Piece]:
    request = {"name": name, "choices": asdict(choices)}
    out = process.run(_MODULE, (json.dumps(request).encode(), content), name, processor_s)
    try:
        parsed = unpack_parsed(out)
    except ValueError:
        raise process.no_result_error(name) from None
    for _, error in parsed.rejected:
        raise error
    return list(parsed.pieces)


def main() -> int:
    """Read a file from standard input and write its parsed content to standard output."""
    process.apply_limits()
    try:
        header, content = process.read_parts(sys.stdin.buffer)
        request = json.loads(header)
        name, choices = request["name"], choices_from_json(request["choices"])
        is_hdf5 = gate.kind_of(name, content) == "hdf5"
        read = anndata.read_hdf5 if is_hdf5 else workbooks.read_workbook
        try:
            parsed = ParsedFiles(tuple(read(name, content, choices)))
        except DataError as error:
            parsed = ParsedFiles((), ((name, error),))
        sys.stdout.buffer.write(pack_parsed(parsed))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())

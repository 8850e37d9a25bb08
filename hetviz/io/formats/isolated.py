"""HDF5 files and binary workbooks are read in a process with limits: a damaged one may kill it.

Or the library turns in it for ever, or asks for more memory than there is.

``python -m hetviz.io.formats.isolated`` is that process, see `hetviz.io.sandbox.process`.
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
from hetviz.io.sandbox.pack_parts import packed, unpacked

_MODULE = "hetviz.io.formats.isolated"
# A small file that takes longer does not get on; a large one has more to unpack.
_LEAST_S = 3


def work_s(content: bytes) -> int:
    """Return the seconds of work that reading a file may take, by its size."""
    return min(process.PROCESSOR_S, _LEAST_S + len(content) // limits.MB)


def read_hdf5(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read an AnnData or MuData file as `hetviz.io.formats.anndata.read_hdf5` does, with limits.

    Raises
    ------
    hetviz.errors.DataError
        Also if the library hangs in the file, dies of it or grows too large.
    hetviz.errors.MissingExtraError
        If h5py is not installed.
    """
    if process.is_confined():
        return anndata.read_hdf5(name, content, choices)
    require_h5py()
    return _read_apart(name, content, choices, work_s(content))


def read_binary_book(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read an XLS or XLSB file as `hetviz.io.formats.workbooks.read_workbook` does, with limits.

    Raises
    ------
    hetviz.errors.DataError
        Also if the library hangs in the file, dies of it or grows too large.
    """
    if process.is_confined():
        return workbooks.read_workbook(name, content, choices)
    return _read_apart(name, content, choices, process.PROCESSOR_S)


def choices_of(said: Mapping[str, object]) -> Choices:
    """Return choices that were handed on as JSON, which knows no tuples."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in said.items()
    }
    return Choices(**fields)


def _read_apart(name: str, content: bytes, choices: Choices, processor_s: int) -> list[Piece]:
    about = {"name": name, "choices": asdict(choices)}
    out = process.run(_MODULE, (json.dumps(about).encode(), content), name, processor_s)
    try:
        parsed = unpacked(out)
    except ValueError:
        raise process.without_result(name) from None
    for _, error in parsed.rejected:
        raise error
    return list(parsed.pieces)


def main() -> int:
    """Read the file on standard input, and write what it holds to standard output."""
    process.confine()
    try:
        about, content = process.parts(sys.stdin.buffer)
        said = json.loads(about)
        name, choices = said["name"], choices_of(said["choices"])
        is_hdf5 = gate.kind_of(name, content) == "hdf5"
        read = anndata.read_hdf5 if is_hdf5 else workbooks.read_workbook
        try:
            parsed = ParsedFiles(tuple(read(name, content, choices)))
        except DataError as error:
            parsed = ParsedFiles((), ((name, error),))
        sys.stdout.buffer.write(packed(parsed))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())

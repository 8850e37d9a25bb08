"""HDF5 files are read in a process with limits: in a damaged one the library may turn for ever.

``python -m hetviz.io.formats.apart`` is that process, see `hetviz.io.sandbox.process`.
"""

from __future__ import annotations

import json
import sys

from hetviz.errors import DataError
from hetviz.io import limits
from hetviz.io.formats import anndata
from hetviz.io.formats.hdf5 import require_h5py
from hetviz.io.piece import Choices, Drop, Piece
from hetviz.io.sandbox import process
from hetviz.io.sandbox.pieces_as_bytes import packed, unpacked

_MODULE = "hetviz.io.formats.apart"
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
    about = {"name": name, "part": choices.part, "called": choices.name}
    out = process.run(_MODULE, (json.dumps(about).encode(), content), name, work_s(content))
    try:
        drop = unpacked(out)
    except ValueError:
        raise process.without_result(name) from None
    for _, error in drop.refused:
        raise error
    return list(drop.pieces)


def main() -> int:
    """Read the file on standard input, and write what it holds to standard output."""
    process.confine()
    try:
        about, content = process.parts(sys.stdin.buffer)
        said = json.loads(about)
        name, choices = said["name"], Choices(part=said["part"], name=said["called"])
        try:
            drop = Drop(tuple(anndata.read_hdf5(name, content, choices)))
        except DataError as error:
            drop = Drop((), ((name, error),))
        sys.stdout.buffer.write(packed(drop))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())

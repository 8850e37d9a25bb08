"""Where data come from: samples, bundles and tables, all through `hetviz.io`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from hetviz.data import HeteroData
from hetviz.errors import DataError, ParameterError, Problem
from hetviz.io import Choices, Loaded, read_bundle, read_tables, sample_path

_READING = Lock()


def read_sample(name: str) -> Loaded:
    """Read a sample; everybody shares one copy, which nobody can change.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such sample.
    """
    path = sample_path(name)
    if path is None:
        raise DataError(Problem("unknown-sample", "samples", "there is no such sample", name))
    # Two that ask at once wait for one reading.
    with _READING:
        return _read(path)


@lru_cache(maxsize=8)
def _read(path: Path) -> Loaded:
    return read_bundle(path)


def read_zip(content: bytes, filename: str) -> Loaded:
    """Read an uploaded bundle."""
    return read_bundle(content, filename)


def read_files(
    files: Mapping[str, bytes],
    choices: Mapping[str, Mapping[str, Any]] | None = None,
    base: HeteroData | None = None,
) -> Loaded:
    """Read uploaded tables, as additions to `base` where it is given.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used, or a choice is no choice.
    """
    try:
        chosen = {name: Choices(**fields) for name, fields in (choices or {}).items()}
    except TypeError as error:
        raise ParameterError(f"How to read a file: {error}.") from None
    return read_tables(list(files.items()), chosen, base)

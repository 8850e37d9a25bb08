"""Safe HDF5 access: no external links, sizes checked before reading."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from hetviz._types import Array
from hetviz.errors import DataError, MissingExtraError
from hetviz.io import gate, limits

if TYPE_CHECKING:
    import h5py

_ERRORS = (OSError, KeyError, ValueError, TypeError, RuntimeError, IndexError, AttributeError,
           OverflowError, MemoryError, NotImplementedError)  # fmt: skip
_SAVE_AGAIN = "Save it again with a new version of the program that made it."


class Budget:
    """Number of bytes that may still be read from a file."""

    def __init__(self, where: str, size: int) -> None:
        self.where = where
        self.left = min(limits.MAX_UNPACKED_BYTES, max(limits.MB, limits.MAX_RATIO * size))

    def take(self, where: str, n_bytes: int) -> None:
        """Count bytes before they are read."""
        if n_bytes > self.left:
            raise gate.refusal(
                "too-large",
                where,
                f"{n_bytes / limits.MB:,.0f} MB unpacked, but only {self.left / limits.MB:,.0f} MB "
                "are left of the size allowed for this file",
                remedy="Give fewer rows or columns.",
            )
        self.left -= n_bytes


def require_h5py() -> None:
    """Name the extra where h5py is not installed."""
    try:
        import h5py  # noqa: F401
    except ImportError:
        raise MissingExtraError("Reading AnnData and MuData files", "omics") from None


@contextmanager
def open_hdf5(name: str, content: bytes) -> Iterator[Hdf5Group]:
    """Open the bytes of an HDF5 file for reading."""
    require_h5py()
    import h5py

    with _as_data_errors(name), h5py.File(io.BytesIO(content), "r") as file:
        yield Hdf5Group(name, file, Budget(name, len(content)))


@contextmanager
def _as_data_errors(where: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except _ERRORS:
        raise gate.refusal(
            "bad-hdf5", where, "this part of the file is damaged", remedy=_SAVE_AGAIN
        ) from None


class Hdf5Group:
    """A group of an HDF5 file."""

    def __init__(self, where: str, group: h5py.Group, budget: Budget) -> None:
        self.where, self._group, self._budget = where, group, budget

    def place(self, name: str) -> str:
        """Name a member for messages."""
        return f"{self.where}, {name}"

    def names(self) -> list[str]:
        """Return the member names of the group, without external links."""
        with _as_data_errors(self.where):
            n = len(self._group)
            gate.check_count(self.where, n, limits.MAX_COLUMNS, "members", "", "too-many")
            return [name for name in self._group if self._is_here(name)]

    def __contains__(self, name: str) -> bool:
        with _as_data_errors(self.where):
            return self._is_here(name)

    def is_external_link(self, name: str) -> bool:
        """Whether a member is a link to another place or file."""
        with _as_data_errors(self.where):
            return self._group.get(name, getlink=True) is not None and not self._is_here(name)

    def _is_here(self, name: str) -> bool:
        import h5py

        # A path could contain an undetected link.
        if "/" in name or name in ("", ".", ".."):
            return False
        link = self._group.get(name, getlink=True)
        return link is not None and type(link) is h5py.HardLink

    def _member(self, name: str) -> Any:
        with _as_data_errors(self.place(name)):
            if not self._is_here(name):
                message = "it is missing, or an external link, which is not followed"
                raise gate.refusal("no-member", self.place(name), message)
            return self._group[name]

    def box(self, name: str) -> Hdf5Group | None:
        """Return a subgroup, None if the member is something else."""
        import h5py

        if name not in self:
            return None
        member = self._member(name)
        return (
            Hdf5Group(self.place(name), member, self._budget)
            if type(member) is h5py.Group
            else None
        )

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of an array, None if it does not exist."""
        import h5py

        if name not in self:
            return None
        member = self._member(name)
        with _as_data_errors(self.place(name)):
            return None if type(member) is not h5py.Dataset else member.shape

    def word(self, name: str) -> str:
        """Return a text attribute, "" if it does not exist."""
        with _as_data_errors(self.where):
            value = self._group.attrs.get(name, "")
            value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            return value if isinstance(value, str) else ""

    def words(self, name: str) -> list[str]:
        """Return an attribute that is a list of text."""
        return [str(value) for value in self._list(name) if isinstance(value, (str, bytes))]

    def integers(self, name: str) -> list[int]:
        """Return an attribute that is a list of whole numbers."""
        return [int(value) for value in self._list(name) if isinstance(value, (int, np.integer))]

    def _list(self, name: str) -> list[object]:
        with _as_data_errors(self.where):
            value = self._group.attrs.get(name)
            return [] if value is None else np.atleast_1d(np.asarray(value)).tolist()

    def array(self, name: str) -> Array:
        """Return an array of numbers or text after checking its size."""
        import h5py

        where = self.place(name)
        member = self._member(name)
        with _as_data_errors(where):
            if type(member) is not h5py.Dataset or member.shape is None:
                raise gate.refusal("bad-hdf5", where, "an array is needed", remedy=_SAVE_AGAIN)
            if member.external or member.is_virtual:
                raise gate.refusal("link", where, "its numbers are in another file")
            cells = math.prod(map(int, member.shape))
            gate.check_count(where, cells, limits.MAX_CELLS, "cells")
            self._budget.take(where, cells * member.dtype.itemsize)
            if h5py.check_string_dtype(member.dtype) is not None:
                texts: Array = np.asarray(member.asstr(errors="replace")[()], dtype=object)
                self._budget.take(where, sum(map(len, texts.ravel().tolist())))
                return texts
            if member.dtype.kind not in "fiub":
                message = f"it contains neither numbers nor text but {member.dtype}"
                raise gate.refusal("bad-hdf5", where, message[:200], remedy=_SAVE_AGAIN)
            return np.asarray(member[()])

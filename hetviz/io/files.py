"""Files of a bundle in a folder or zip, read by name and never unpacked to disk."""

from __future__ import annotations

import io
import stat
import zipfile
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Protocol

from hetviz._samples import MANIFEST
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits

PROJECT = "hetviz-project.json"
"""First member of a project file, see `hetviz.workspace.project_file`."""


class Files(Protocol):
    """Named files that belong together."""

    name: str

    def names(self) -> list[str]: ...

    def read(self, name: str) -> bytes:
        """Return the content of a file, or raise DataError."""
        ...


class Folder:
    """The files of a folder; nothing outside it can be named."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.name = self.root.name

    def names(self) -> list[str]:
        """Return the names of the files, with forward slashes."""
        paths = list(islice(self.root.rglob("*"), limits.MAX_MEMBERS + 1))
        if len(paths) > limits.MAX_MEMBERS:
            message = f"the folder contains more than {limits.MAX_MEMBERS:,} files"
            raise gate.refusal(
                "too-many", self.name, message, remedy="Give the bundle's own folder."
            )
        return [path.relative_to(self.root).as_posix() for path in sorted(paths) if path.is_file()]

    def read(self, name: str) -> bytes:
        check_name(self.name, name)
        try:
            path = (self.root / name).resolve()
        except (OSError, ValueError):
            raise gate.refusal("bad-name", self.name, "the file name is not valid", name) from None
        if not path.is_relative_to(self.root):
            raise gate.refusal(
                "outside",
                self.name,
                "the file is outside the bundle folder",
                name,
                "Copy it into the folder.",
            )
        return gate.read_file(path, name)


class Archive:
    """The members of a zip, checked before reading and limited in size."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        gate.check_size(name, len(content))
        if not is_zip(content):
            raise gate.refusal("not-a-zip", name, "this is not a zip archive")
        _check_member_count(name, content)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            infos = self._zip.infolist()
        except gate.UNZIP_ERRORS as error:
            raise gate.refusal(
                "bad-zip",
                name,
                "the file is damaged, parts of it are missing or changed",
                remedy="Save or copy it again.",
            ) from error
        self._left = limits.MAX_UNPACKED_BYTES
        members = [info for info in infos if not info.is_dir()]
        n_members = len(members)
        members = [info for info in members if not info.filename.startswith("__MACOSX/")]
        self.n_system_files = n_members - len(members)
        _check_members(name, members, len(content))
        self._prefix = _common_folder([info.filename for info in members])
        self._members = {info.filename[len(self._prefix) :]: info for info in members}

    def names(self) -> list[str]:
        """Return the names of the members, with forward slashes."""
        return list(self._members)

    def size(self, name: str) -> int:
        """Return the declared unpacked size of a member in bytes."""
        return self._members[name].file_size

    def read(self, name: str, max_bytes: int = limits.MAX_FILE_BYTES) -> bytes:
        """Return the content of a member of at most `max_bytes` bytes."""
        check_name(self.name, name)
        where = f"{self.name}, {name}"
        if name not in self._members:
            raise gate.refusal("no-file", where, "the file does not exist")
        info = self._members[name]
        gate.check_size(where, info.file_size, max_bytes)
        limit = min(max_bytes, self._left, info.file_size)
        try:
            with self._zip.open(info) as stream:
                content = stream.read(limit + 1)
        except gate.UNZIP_ERRORS as error:
            raise gate.refusal(
                "bad-zip", f"{self.name}, {name}", "this file in the zip is damaged"
            ) from error
        if len(content) > limit:
            raise gate.refusal(
                "too-large",
                f"{self.name}, {name}",
                "this file in the zip is larger than declared or allowed",
            )
        self._left -= len(content)
        return content


def is_zip(content: bytes) -> bool:
    """Whether bytes begin as a zip does."""
    return content.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def member_names(name: str, content: bytes) -> list[str]:
    """Return the member names of a zip without opening any, [] if it is damaged."""
    _check_member_count(name, content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.namelist()
    except gate.UNZIP_ERRORS:
        return []


def _check_member_count(name: str, content: bytes) -> None:
    # Count first: each directory entry becomes an object of half a kilobyte.
    n, remedy = content.count(b"PK\x01\x02"), "Give fewer files."
    gate.check_count(name, n, limits.MAX_MEMBERS, "files in the zip", remedy, "too-many")


def check_name(where: str, name: str) -> None:
    """Raise an error for names that could lead out of the bundle."""
    if why := _bad_name(name):
        raise gate.refusal("bad-name", where, why, name, "Use plain names inside the bundle.")


def _bad_name(name: str) -> str:
    if not name or "\0" in name:
        return "the file name is empty or contains a NUL character"
    if "\\" in name or ":" in name:
        return "the file name contains a backslash or a colon"
    path = PurePosixPath(name)
    if path.is_absolute():
        return "the file name is absolute"
    if ".." in path.parts:
        return "the file name points outside the folder (..)"
    return ""


def _check_members(name: str, members: list[zipfile.ZipInfo], packed: int) -> None:
    problems: list[Problem] = []

    def refuse(code: str, where: str, message: str, value: str = "") -> None:
        problems.append(Problem(code, where, message, value, "Make the zip again without it."))

    total = sum(info.file_size for info in members)
    if total > limits.MAX_UNPACKED_BYTES:
        limit = limits.MAX_UNPACKED_BYTES / limits.MB
        refuse(
            "too-large",
            name,
            f"{total / limits.MB:,.0f} MB unpacked, at most {limit:,.0f} MB are allowed",
        )
    if total > max(limits.MB, limits.MAX_RATIO * packed):
        refuse("zip-bomb", name, f"it unpacks to more than {limits.MAX_RATIO} times its size")
    names: set[str] = set()
    for info in members:
        where = f"{name}, {info.filename!r}"
        if why := _bad_name(info.orig_filename) or _bad_name(info.filename):
            refuse("bad-name", where, why)
        if info.flag_bits & 0x1:
            refuse("encrypted", where, "this file in the zip is encrypted")
        if stat.S_ISLNK(info.external_attr >> 16):
            refuse("link", where, "this file in the zip is a symbolic link")
        if info.filename in names:
            refuse("duplicate-name", where, "another file in the zip has the same name")
        names.add(info.filename)
    if problems:
        raise DataError(problems)


def _common_folder(names: list[str]) -> str:
    """Return the folder that wraps everything (a zipped folder), or nothing."""
    if MANIFEST in names or not names:
        return ""
    first = names[0].split("/")[0] + "/"
    if not all(name.startswith(first) for name in names):
        return ""
    return first + _common_folder([name.removeprefix(first) for name in names])

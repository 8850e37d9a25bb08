"""Bytes kept by their SHA-256: the same content is stored once and can never change."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import re
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

from hetviz.errors import DataError, Problem
from hetviz.workspace.store.files import make_folder, not_saved, replace_file

MB = 1_000_000
MAX_BYTES = 500 * MB
MAX_CACHE_BYTES = 200 * MB
DAY_S = 86_400.0

_KEY = re.compile(r"[0-9a-f]{64}\Z")


def map_file(file: IO[bytes]) -> memoryview:
    """Return the content of a file without a copy of it.

    Raises
    ------
    ValueError
        If the file is empty.
    """
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


class ReadCache:
    """What was read from files of a project and can be read again: what is not used makes room.

    Parameters
    ----------
    folder : Path
        Made on the first `put`.
    max_bytes : int
        Bytes that it may hold in all.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self.folder, self.max_bytes = folder, min(max_bytes, MAX_CACHE_BYTES)

    def get(self, name: str) -> bytes | None:
        """Return what is kept under a name, or None."""
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        self._mark_used(name)
        return content

    def _mark_used(self, name: str) -> None:
        with contextlib.suppress(OSError):
            os.utime(self.folder / name)

    def put(self, name: str, content: bytes) -> None:
        """Keep something in place of the oldest; without room it is read again some day."""
        if len(content) <= self.max_bytes:
            self.shrink(self.max_bytes - len(content))
            with contextlib.suppress(OSError):
                replace_file(self.folder / name, content)

    def view(self, name: str) -> memoryview | None:
        """Return what is kept under a name without a copy of it, or None.

        It can be read as long as it is held, also after it has made room.
        """
        try:
            with (self.folder / name).open("rb") as file:
                content = map_file(file)
        except (OSError, ValueError):
            return None
        self._mark_used(name)
        return content

    @contextlib.contextmanager
    def new_file(self) -> Iterator[IO[bytes]]:
        """Give a file to write to, which is gone at the end unless `adopt_file` keeps it."""
        try:
            make_folder(self.folder)
            file = tempfile.NamedTemporaryFile(dir=self.folder, delete=False)  # noqa: SIM115
        except OSError:
            # Whatever says how it is read can still be shown.
            file = tempfile.NamedTemporaryFile(delete=False)  # noqa: SIM115
        try:
            yield file
        finally:
            file.close()
            with contextlib.suppress(OSError):
                os.unlink(file.name)

    def adopt_file(self, file: IO[bytes], name: str) -> None:
        """Keep a file of `new_file` in place of the oldest, as `put` does."""
        size = os.fstat(file.fileno()).st_size
        if size <= self.max_bytes:
            self.shrink(self.max_bytes - size, Path(file.name))
            with contextlib.suppress(OSError):
                os.replace(file.name, self.folder / name)

    def shrink(self, max_bytes: int, excluded: Path | None = None) -> None:
        """Remove what was used longest ago until at most so many bytes are held.

        As far as the disk allows; the file `excluded` neither counts nor goes.
        """
        with contextlib.suppress(OSError):
            entries = [(path.stat(), path) for path in self.folder.iterdir() if path != excluded]
            size = sum(status.st_size for status, _ in entries)
            for status, path in sorted(entries, key=lambda found: found[0].st_mtime):
                if size <= max_bytes:
                    return
                path.unlink(missing_ok=True)
                size -= status.st_size


class BlobStore:
    """A folder of blobs.

    Parameters
    ----------
    folder : Path
        Made on the first `put`, readable by its owner only.
    limit : int
        Bytes that it may hold in all, with what is kept of what was read from blobs.
    """

    def __init__(self, folder: Path, limit: int = MAX_BYTES) -> None:
        self.folder, self.limit = folder, limit

    @property
    def n_bytes(self) -> int:
        """How many bytes it holds."""
        if not self.folder.is_dir():
            return 0
        return sum(entry.stat().st_size for entry in os.scandir(self.folder))

    @property
    def read_cache(self) -> ReadCache:
        """What was read from blobs, in a folder beside them, as far as they leave room for it."""
        return ReadCache(self.folder.parent / "read", self.limit - self.n_bytes)

    def put(self, content: bytes) -> str:
        """Keep `content` and return its key, the SHA-256 as hex.

        Raises
        ------
        hetviz.errors.DataError
            If there would be more than may be held.
        hetviz.workspace.store.files.NotSaved
            If it cannot be written.
        """
        key = hashlib.sha256(content).hexdigest()
        path = self.folder / key
        try:
            if not path.exists():
                self._check_limit(len(content))
                replace_file(path, content)
        except OSError as error:
            raise not_saved(error) from None
        return key

    def _check_limit(self, size: int) -> None:
        n_bytes = self.n_bytes
        if n_bytes + size <= self.limit:
            self.read_cache.shrink(self.limit - n_bytes - size)
            return
        problem = Problem(
            "project-full",
            "project",
            f"it holds {n_bytes / MB:,.0f} MB of files and maps, and {self.limit / MB:,.0f} MB are "
            "allowed; what you had is as it was",
            f"{size / MB:,.1f} MB more",
            "Take the data as guided on the Export page, and open that file as a new project: it "
            "holds what is used now and nothing older.",
        )
        raise DataError(problem)

    def has(self, key: str) -> bool:
        """Whether there is content of that key, whole or not."""
        return _KEY.match(key) is not None and (self.folder / key).exists()

    def get(self, key: str) -> bytes:
        """Return the content of a key.

        Raises
        ------
        hetviz.errors.DataError
            If it is not there, or not what the key says.
        """
        path = self.folder / key
        if not self.has(key):
            raise DataError(
                Problem("missing-content", "project", "a stored file is missing", key[:12])
            )
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != key:
            raise DataError(
                Problem("damaged-content", "project", "a stored file is damaged", key[:12])
            )
        return content

    def sweep(self, used: Collection[str], min_age_s: float = DAY_S) -> int:
        """Remove what nothing names any more, such as uploads that were not opened.

        Parameters
        ----------
        used : collection of str
            Keys to keep.
        min_age_s : float
            Seconds; younger ones stay, as they may be on their way into the log.
        """
        if not self.folder.is_dir():
            return 0
        n, oldest = 0, time.time() - min_age_s
        for entry in list(os.scandir(self.folder)):
            if entry.name not in used and entry.stat().st_mtime < oldest:
                os.unlink(entry.path)
                n += 1
        return n

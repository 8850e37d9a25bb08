"""Immutable bytes stored under their SHA-256."""

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
from hetviz.workspace.store.files import READ, make_folder, not_saved, replace_file

MB = 1_000_000
MAX_BYTES = 500 * MB
MAX_CACHE_BYTES = 200 * MB
DAY_S = 86_400.0

_KEY = re.compile(r"[0-9a-f]{64}\Z")


def is_key(text: str) -> bool:
    """Whether a text is a SHA-256 as hex, not another file name."""
    return _KEY.match(text) is not None


def map_file(file: IO[bytes]) -> memoryview:
    """Return the content of a file as a memory map."""
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


class ReadCache:
    """A cache of read files, which removes the least recently used entries."""

    def __init__(self, folder: Path, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self.folder, self.max_bytes = folder, min(max_bytes, MAX_CACHE_BYTES)

    def get(self, name: str) -> bytes | None:
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
        """Store an entry, removing the oldest ones. Content above the limit is not stored."""
        if len(content) <= self.max_bytes:
            self.shrink(self.max_bytes - len(content))
            with contextlib.suppress(OSError):
                replace_file(self.folder / name, content)

    def view(self, name: str) -> memoryview | None:
        """Return a memory map of an entry or None; it survives the removal of the entry."""
        try:
            with (self.folder / name).open("rb") as file:
                content = map_file(file)
        except (OSError, ValueError):
            return None
        self._mark_used(name)
        return content

    @contextlib.contextmanager
    def new_file(self) -> Iterator[IO[bytes]]:
        """Yield a temporary file, which is deleted unless `adopt_file` stores it."""
        try:
            make_folder(self.folder)
            file = tempfile.NamedTemporaryFile(dir=self.folder, delete=False)  # noqa: SIM115
        except OSError:
            # Reading still works without the cache.
            file = tempfile.NamedTemporaryFile(delete=False)  # noqa: SIM115
        try:
            yield file
        finally:
            file.close()
            with contextlib.suppress(OSError):
                os.unlink(file.name)

    def adopt_file(self, file: IO[bytes], name: str) -> None:
        """Store a file of `new_file`, as `put` does."""
        size = os.fstat(file.fileno()).st_size
        if size <= self.max_bytes:
            self.shrink(self.max_bytes - size, Path(file.name))
            with contextlib.suppress(OSError):
                os.replace(file.name, self.folder / name)

    def shrink(self, max_bytes: int, excluded: Path | None = None) -> None:
        """Remove the least recently used entries down to `max_bytes`, ignoring `excluded`."""
        with contextlib.suppress(OSError):
            entries = [(path.stat(), path) for path in self.folder.iterdir() if path != excluded]
            size = sum(status.st_size for status, _ in entries)
            for status, path in sorted(entries, key=lambda entry: entry[0].st_mtime):
                if size <= max_bytes:
                    return
                path.unlink(missing_ok=True)
                size -= status.st_size


class BlobStore:
    """A folder of blobs."""

    def __init__(self, folder: Path, limit: int = MAX_BYTES) -> None:
        self.folder, self.limit = folder, limit

    @property
    def n_bytes(self) -> int:
        if not self.folder.is_dir():
            return 0
        return sum(entry.stat().st_size for entry in os.scandir(self.folder))

    @property
    def read_cache(self) -> ReadCache:
        """Cache of files read from blobs, limited to the remaining space."""
        return ReadCache(self.folder.parent / READ, self.limit - self.n_bytes)

    def put(self, content: bytes) -> str:
        """Store `content` and return its key, the SHA-256 as hex."""
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
            f"it has {n_bytes / MB:,.0f} MB of files and maps, and at most "
            f"{self.limit / MB:,.0f} MB are allowed, so nothing was changed",
            f"{size / MB:,.1f} MB more",
            "Download the data with guidance on the Export page and open that file as a new "
            "project: it has no older files and maps.",
        )
        raise DataError(problem)

    def has(self, key: str) -> bool:
        """Whether a key has content, intact or not."""
        return is_key(key) and (self.folder / key).exists()

    def get(self, key: str) -> bytes:
        path = self.folder / key
        if not self.has(key):
            raise DataError.of("missing-content", "project", "a stored file is missing", key[:12])
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != key:
            raise DataError.of("damaged-content", "project", "a stored file is damaged", key[:12])
        return content

    def unused(self, used: Collection[str], min_age_s: float = DAY_S) -> list[Path]:
        """Return the files of unused blobs, such as uploads that were never opened."""
        if not self.folder.is_dir():
            return []
        oldest = time.time() - min_age_s
        return [
            Path(entry.path)
            for entry in os.scandir(self.folder)
            if entry.name not in used and entry.stat().st_mtime < oldest
        ]

    def sweep(self, used: Collection[str], min_age_s: float = DAY_S) -> int:
        """Remove unused blobs and return their number."""
        files = self.unused(used, min_age_s)
        for file in files:
            file.unlink()
        return len(files)

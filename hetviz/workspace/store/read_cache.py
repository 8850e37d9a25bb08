"""What was read from the files of a project, which can be read again: the oldest makes room."""

from __future__ import annotations

import contextlib
from pathlib import Path

from hetviz.workspace.store.files import replace_file

MOST_KEPT = 200_000_000


class Kept:
    """A folder of what was read.

    Parameters
    ----------
    folder : Path
        Made on the first `put`.
    most : int
        Bytes that it may hold in all.
    """

    def __init__(self, folder: Path, most: int = MOST_KEPT) -> None:
        self.folder, self.most = folder, min(most, MOST_KEPT)

    def get(self, name: str) -> bytes | None:
        """Return what is kept under a name, or None."""
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return None

    def put(self, name: str, content: bytes) -> None:
        """Keep something in place of the oldest; without room it is read again some day."""
        if len(content) <= self.most:
            self.shrink(self.most - len(content))
            with contextlib.suppress(OSError):
                replace_file(self.folder / name, content)

    def shrink(self, most: int) -> None:
        """Remove the oldest until at most so many bytes are held, as far as the disk allows."""
        with contextlib.suppress(OSError):
            there = [(path.stat(), path) for path in self.folder.iterdir()]
            size = sum(about.st_size for about, _ in there)
            for about, path in sorted(there, key=lambda found: found[0].st_mtime):
                if size <= most:
                    return
                path.unlink(missing_ok=True)
                size -= about.st_size

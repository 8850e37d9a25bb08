"""Bytes kept by their SHA-256: the same content is stored once and can never change."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from hetviz.errors import DataError, Problem
from hetviz.workspace.files import not_saved, replace_file

_KEY = re.compile(r"[0-9a-f]{64}\Z")


class BlobStore:
    """A folder of blobs.

    Parameters
    ----------
    folder : Path
        Made on the first `put`, readable by its owner only.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes) -> str:
        """Keep `content` and return its key, the SHA-256 as hex.

        Raises
        ------
        hetviz.workspace.files.NotSaved
            If it cannot be written.
        """
        key = hashlib.sha256(content).hexdigest()
        path = self.folder / key
        try:
            if not path.exists():
                replace_file(path, content)
        except OSError as error:
            raise not_saved(error) from None
        return key

    def get(self, key: str) -> bytes:
        """Return the content of a key.

        Raises
        ------
        hetviz.errors.DataError
            If it is not there, or not what the key says.
        """
        path = self.folder / key
        if not _KEY.match(key) or not path.exists():
            raise DataError(
                Problem("missing-content", "project", "a stored file is missing", key[:12])
            )
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != key:
            raise DataError(
                Problem("damaged-content", "project", "a stored file is damaged", key[:12])
            )
        return content

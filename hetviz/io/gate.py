"""Errors and size checks for files from users."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hetviz.errors import DataError
from hetviz.io import limits

UNZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    struct.error,
)


_GZIP_START = b"\x1f\x8b\x08"
refusal = DataError.of
_WEB_ADDRESS = re.compile(r"(?:https?|ftps?|s3|gs|file):/", re.I)


def check_format(where: str, written: object, newest_supported: int) -> None:
    """Raise an error for files written by a newer version of hetviz."""
    if isinstance(written, int) and not isinstance(written, bool) and written > newest_supported:
        message = "a newer version of hetviz wrote this file, "
        message += f"but this version only reads up to format {newest_supported}"
        remedy = "Open it with that version, or install it here."
        raise refusal("later-format", where, message, f"format {written}", remedy)


def read_file(path: Path, name: str | None = None) -> bytes:
    """Read a file within the size limit."""
    where = name or path.name
    if _WEB_ADDRESS.match(str(path)):
        raise refusal(
            "web-address",
            where,
            "this is a web address, but hetviz only reads files on this computer",
            remedy="Save the file on this computer first.",
        )
    try:
        if not path.is_file():
            raise refusal("no-file", where, "the file does not exist", remedy="Check the name.")
        check_size(where, path.stat().st_size)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name is not valid"
        raise refusal("unreadable", where, f"the file cannot be read: {reason}") from None


def target_path(path: object) -> Path:
    """Return a path to write to; raise for what is not the name of a file or folder."""
    if not isinstance(path, str | Path):
        message = "the name of a file or folder is needed"
        raise refusal("no-path", "path", message, type(path).__name__)
    return Path(path)


@contextmanager
def refusing_write(path: str | Path) -> Iterator[None]:
    """Turn failures to write into an error that names the path."""
    try:
        yield
    except OSError as error:
        raise refusal("not-written", str(path), f"cannot be written: {error.strerror}") from None


def unpack_gzip(name: str, content: bytes) -> tuple[str, bytes]:
    """Return name and content of a gzipped file unpacked; other files are returned unchanged."""
    limit = min(limits.MAX_FILE_BYTES, max(limits.MB, limits.MAX_RATIO * len(content)))
    unpacked, remaining = bytearray(), content
    while remaining.startswith(_GZIP_START) and len(content) <= limits.MAX_FILE_BYTES:
        stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            unpacked += stream.decompress(remaining, limit + 1 - len(unpacked))
        except zlib.error:
            break
        if not stream.eof or len(unpacked) > limit:
            break
        # Concatenated parts are one file. Zeros may fill a block.
        remaining = stream.unused_data.lstrip(b"\0")
        if not remaining:
            return re.sub(r"\.gz$", "", name, flags=re.I) or name, bytes(unpacked)
    return name, content


def check_size(
    where: str,
    size: int,
    limit: int = limits.MAX_FILE_BYTES,
    *,
    remedy: str = "Give fewer rows or columns.",
) -> None:
    """Raise an error for content above the limit."""
    if size > limit:
        raise refusal(
            "too-large",
            where,
            f"{size / limits.MB:,.0f} MB, at most {limit / limits.MB:,.0f} MB are allowed",
            remedy=remedy,
        )


def check_count(
    where: str,
    n: int,
    limit: int,
    unit: str,
    remedy: str = "Give fewer rows or columns.",
    code: str = "too-large",
) -> None:
    """Raise an error for more of a unit than the limit."""
    if n > limit:
        raise refusal(code, where, f"{n:,} {unit}, at most {limit:,} are allowed", remedy=remedy)


def decompress(content: bytes, max_bytes: int) -> bytes:
    """Return zlib content unpacked, at most `max_bytes` bytes."""
    unpacking = zlib.decompressobj()
    try:
        # One byte more than allowed, because 0 means no limit.
        out = unpacking.decompress(content, max_bytes + 1)
    except zlib.error as error:
        raise ValueError from error
    if len(out) > max_bytes or not unpacking.eof:
        raise ValueError
    return out

"""Format detection and size checks for files from users, by content rather than by name.

Formats that are not on the allow-list are refused with a message. Sizes are checked before memory
is allocated.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from pathlib import Path

from hetviz.errors import DataError, Problem
from hetviz.io import limits

PICTURES = ("png", "jpeg", "webp")
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


KINDS = {
    "text": "text",
    "json": "JSON",
    "jsonl": "JSON lines",
    "parquet": "a Parquet file",
    "xlsx": "an Excel workbook",
    "xlsb": "a binary Excel workbook",
    "xls": "an old Excel workbook (.xls)",
    "ods": "an OpenDocument spreadsheet",
    "arrow": "an Arrow or Feather file",
    "stata": "a Stata file",
    "spss": "an SPSS file",
    "sas": "a SAS file",
    "sas-transport": "a SAS transport file",
    "sqlite": "an SQLite database",
    "duckdb": "a DuckDB database",
    "npy": "an NPY matrix",
    "npz": "an NPZ archive of matrices",
    "graphml": "a GraphML graph",
    "gexf": "a GEXF graph",
    "gml": "a GML graph",
    "hdf5": "an HDF5 file",
    "png": "a PNG picture",
    "jpeg": "a JPEG picture",
    "webp": "a WEBP picture",
    "zip": "a zip archive",
}

_ZIP_START = b"PK\x03\x04"
_GZIP_START = b"\x1f\x8b\x08"
_EMPTY_ZIP = b"PK\x05\x06"
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"\x89HDF\r\n\x1a\n", "hdf5"),
    (b"\x93NUMPY", "npy"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xls"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"<stata_dta>", "stata"),
    (b"$FL2@(#)", "spss"),
    (b"$FL3@(#)", "spss"),
    (bytes.fromhex("0000000000000000000000 00c2ea8160b31411cfbd92080009c7318c181f1011"), "sas"),
    (b"HEADER RECORD*******LIB", "sas-transport"),
    (b"SQLite format 3\0", "sqlite"),
)
ZIPPED_WORKBOOKS = ("xlsx", "xlsb", "ods")
_ODS_TYPE = b"application/vnd.oasis.opendocument.spreadsheet"
# Old Stata files begin with the version, the byte order, 1 and 0.
_OLD_STATA = re.compile(rb"[\x68-\x73][\x01\x02]\x01\x00")
_GML = re.compile(
    rb"(?:\s*(?:#[^\n]*\n|(?:creator|version|comment|label)\s[^\n\[]*\n))*\s*graph\s*\[", re.I
)
_REFUSED_FORMATS: tuple[tuple[bytes, str, str], ...] = (
    (
        b"\x1f\x8b",
        "a gzip archive that is nested, damaged or too large",
        "Unpack it first, or use zip.",
    ),
    (b"BZh", "a bzip2 archive", "Unpack it first, or use zip."),
    (b"\xfd7zXZ", "an xz archive", "Unpack it first, or use zip."),
    (b"7z\xbc\xaf", "a 7-Zip archive", "Unpack it first, or use zip."),
    (b"Rar!", "a RAR archive", "Unpack it first, or use zip."),
    (b"%PDF", "a PDF document", "Save the table in it as CSV."),
    (b"GIF8", "a GIF picture", "Save it as PNG, JPEG or WEBP."),
    (b"BM", "a BMP picture", "Save it as PNG, JPEG or WEBP."),
    (b"\x7fELF", "a program", "Give a table as CSV."),
)
# Text can begin with these too ("ARROW1,ARROW2").
_TEXT_LIKE_KINDS = ("parquet", "arrow")
_WEB_ADDRESS = re.compile(r"(?:https?|ftps?|s3|gs|file):/", re.I)
_PICKLES = tuple(bytes([0x80, version]) for version in range(2, 6))
_MARKUP = (b"<?xml", b"<!doctype", b"<!--", b"<html", b"<svg", b"<graphml", b"<gexf")
_HTML_TAG = re.compile(
    rb"<(?:!--|(?:a|b|body|br|center|div|font|h[1-6]|head|html|i|meta|p|pre|script|span|style|svg|"
    rb"table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?/?>)",
    re.I,
)
_JSON_START = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")


def check_format(where: str, written: object, newest_supported: int) -> None:
    """Raise an error for files written by a newer version of hetviz."""
    if isinstance(written, int) and not isinstance(written, bool) and written > newest_supported:
        message = "a newer version of hetviz wrote this file, "
        message += f"but this version only reads up to format {newest_supported}"
        remedy = "Open it with that version, or install it here."
        raise refusal("later-format", where, message, f"format {written}", remedy)


def refusal(code: str, where: str, what: str, value: object = "", remedy: str = "") -> DataError:
    """Return an error with one problem."""
    return DataError(Problem(code, where, what, str(value), remedy))


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


def kind_of(name: str, content: bytes) -> str:
    """Return the kind of the bytes: a key of `KINDS`."""
    check_size(name, len(content))
    if not content:
        raise refusal("empty-file", name, "the file is empty", remedy="Check how it was saved.")
    kind = _kind_by_magic(name, content)
    if kind is not None:
        return kind
    for magic, message, remedy in _REFUSED_FORMATS:
        if content.startswith(magic) and not _is_plain_text(content):
            raise refusal("unknown-format", name, f"this is {message}", remedy=remedy)
    if content[257:262] == b"ustar":
        raise refusal("unknown-format", name, "this is a tar archive", remedy="Use a zip instead.")
    if content.startswith(_PICKLES):
        raise refusal(
            "pickle",
            name,
            "this is a Python pickle, which can run code when opened",
            remedy="Save the table as CSV, or the matrix with numpy.save.",
        )
    head = content[:4000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.lower().startswith(_MARKUP) or _HTML_TAG.match(head):
        if b"<graphml" in head and not head.lower().startswith((b"<!doctype", b"<html", b"<svg")):
            return "graphml"
        if b"<gexf" in head and not head.lower().startswith((b"<!doctype", b"<html", b"<svg")):
            return "gexf"
        raise refusal(
            "unknown-format",
            name,
            "this is XML or HTML",
            remedy="Save a table as CSV, and a graph as GraphML or GEXF.",
        )
    return _kind_of_text(content)


def _kind_by_magic(name: str, content: bytes) -> str | None:
    if content.startswith((_ZIP_START, _EMPTY_ZIP)):
        return _kind_of_zip(name, content)
    for magic, kind in _MAGIC:
        if content.startswith(magic) and not (kind in _TEXT_LIKE_KINDS and _is_plain_text(content)):
            return kind
    if content[8:12] == b"DUCK" and not _is_plain_text(content):
        return "duckdb"
    if _OLD_STATA.match(content):
        return "stata"
    return "webp" if content.startswith(b"RIFF") and content[8:12] == b"WEBP" else None


def _kind_of_text(content: bytes) -> str:
    """Distinguish GML, JSON and JSON lines from other text."""
    if _GML.match(content[:4000].removeprefix(b"\xef\xbb\xbf")):
        return "gml"
    if _JSON_START.match(content[:4000].removeprefix(b"\xef\xbb\xbf")) is None:
        return "text"
    start, _, other_lines = content[: limits.MB].lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if not other_lines.lstrip()[:1] or other_lines.lstrip()[:1] not in b"{[":
        return "json"
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        return "json"
    return "jsonl"


def _is_plain_text(content: bytes) -> bool:
    """Whether bytes that begin like a binary format are text (``BMI,age``)."""
    return all(byte >= 32 or byte in (9, 10, 13) for byte in content[:512])


def _kind_of_zip(name: str, content: bytes) -> str:
    """Return the kind of a zip by its member names."""
    members = member_names(name, content)
    if "xl/workbook.xml" in members:
        return "xlsx"
    if "xl/workbook.bin" in members:
        return "xlsb"
    if "[Content_Types].xml" in members:
        raise refusal(
            "unknown-format",
            name,
            "this Office file contains no workbook that can be read",
            remedy="Save the table as XLSX or CSV.",
        )
    if "mimetype" in members and "content.xml" in members:
        # The type is the first member and not compressed.
        if _ODS_TYPE in content[:200]:
            return "ods"
        raise refusal(
            "unknown-format",
            name,
            "this OpenDocument file contains no spreadsheet that can be read",
            remedy="Save the table as ODS, XLSX or CSV.",
        )
    if members and all(member.endswith(".npy") for member in members):
        return "npz"
    return "zip"


def member_names(name: str, content: bytes) -> list[str]:
    """Return the member names of a zip without opening any, [] if it is damaged."""
    # Count first: each directory entry becomes an object of half a kilobyte.
    count = content.count(b"PK\x01\x02")
    if count > limits.MAX_MEMBERS:
        raise refusal(
            "too-many",
            name,
            f"{count:,} files in the zip, at most {limits.MAX_MEMBERS:,} are allowed",
            remedy="Give fewer files.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.namelist()
    except UNZIP_ERRORS:
        return []


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

"""Registry of all file formats in `hetviz.io.formats`, and recognition of files by content.

Contents that no format allows are refused with a message. Sizes are checked before memory is
allocated.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from pathlib import PurePosixPath

from hetviz.errors import HetvizError
from hetviz.io import formats, gate
from hetviz.io.files import Archive, is_zip, member_names
from hetviz.io.formats import delimited
from hetviz.io.formats.archives import ZIP
from hetviz.io.formats.base import FileFormat, Kind, is_printable
from hetviz.io.infer.parsed import Choices, Table
from hetviz.io.infer.typed import typed_table

_ADDRESS = re.compile(rb"\s*(?:\[InternetShortcut\]|(?:https?|ftp)://\S+\s*$)")
_MAX_ADDRESS_BYTES = 5_000
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
_PICKLES = tuple(bytes([0x80, version]) for version in range(2, 6))
_MARKUP = (b"<?xml", b"<!doctype", b"<!--", b"<html", b"<svg", b"<graphml", b"<gexf")
_HTML_TAG = re.compile(
    rb"<(?:!--|(?:a|b|body|br|center|div|font|h[1-6]|head|html|i|meta|p|pre|script|span|style|svg|"
    rb"table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?/?>)",
    re.I,
)


@cache
def file_formats() -> tuple[FileFormat, ...]:
    """Return all formats: the `FORMATS` of each module of `hetviz.io.formats`."""
    by_key: dict[str, FileFormat] = {}
    for info in pkgutil.iter_modules(formats.__path__):
        if info.name == "registry":
            continue
        module = importlib.import_module(f"{formats.__name__}.{info.name}")
        for file_format in getattr(module, "FORMATS", ()):
            if file_format.key in by_key:
                raise ImportError(f"Two file formats have the key {file_format.key!r}.")
            by_key[file_format.key] = file_format
    return tuple(by_key.values())


def format_by_extension(name: str) -> FileFormat | None:
    """Return the format of an extension, None if it is unknown."""
    extension = PurePosixPath(name).suffix.lower()
    return next((each for each in file_formats() if extension in each.extensions), None)


def extensions_of(*kinds: Kind) -> tuple[str, ...]:
    """Return the extensions of all formats of some kinds."""
    return tuple(
        extension for each in file_formats() if each.kind in kinds for extension in each.extensions
    )


def format_of(name: str, content: bytes) -> FileFormat:
    """Return the format of a file by its content, or raise DataError."""
    gate.check_size(name, len(content))
    if not content:
        raise gate.refusal(
            "empty-file", name, "the file is empty", remedy="Check how it was saved."
        )
    if is_zip(content):
        return _format_of_zip(name, content)
    for each in file_formats():
        if each.has_magic(content):
            return each
    _refuse_unsupported(name, content)
    head = content[:4000].lstrip(b"\xef\xbb\xbf \t\r\n")
    start = head.lower()
    if start.startswith(_MARKUP) or _HTML_TAG.match(head):
        is_other = start.startswith((b"<!doctype", b"<html", b"<svg"))
        for each in file_formats():
            if each.xml_tag and each.xml_tag in head and not is_other:
                return each
        raise gate.refusal(
            "unknown-format",
            name,
            "this is XML or HTML",
            remedy="Save a table as CSV, and a graph as GraphML or GEXF.",
        )
    for each in file_formats():
        if each.detect_text is not None and each.detect_text(content):
            return each
    by_name = format_by_extension(name)
    return by_name if by_name is not None and by_name.is_plain_text else delimited.TEXT_FORMAT


def kind_of(name: str, content: bytes) -> str:
    """Return the key of the format of a file."""
    return format_of(name, content).key


def open_archive(name: str, content: bytes) -> Archive:
    """Open a zip after checking what it is."""
    format_of(name, content)
    return Archive(name, content)


def parse_file(name: str, content: bytes, choices: Choices | None = None) -> list[Table]:
    """Parse the tables of a file that is neither a picture nor a zip."""
    file_format = format_of(name, content)
    if file_format.read is None:
        raise gate.refusal(
            "not-a-table",
            name,
            f"a table is needed, but this is {file_format.label}",
            remedy="Give a table, or a zip of tables and pictures.",
        )
    is_short = file_format.is_plain_text and len(content) < _MAX_ADDRESS_BYTES
    if is_short and _ADDRESS.match(content):
        raise gate.refusal(
            "web-address",
            name,
            "the file only contains a web address, but hetviz only reads files on this computer",
            remedy="Save the file at that address on this computer first.",
        )
    try:
        return file_format.read(name, content, choices or Choices())
    except (HetvizError, ImportError):
        raise
    except BaseException as error:
        # A library can raise anything on a damaged file. The panics of calamine are no Exception,
        # and their class cannot be imported. Arrow has its own MemoryError for absurd sizes.
        is_failure = isinstance(error, Exception) or type(error).__name__ == "PanicException"
        if file_format.damage is None or not is_failure or type(error) is MemoryError:
            raise
        code, message, remedy = file_format.damage
        raise gate.refusal(code, name, message, remedy=remedy) from error


def read_table(name: str, content: bytes, choices: Choices | None = None) -> Table:
    """Read a table of text from bytes."""
    file_format = format_of(name, content)
    if not file_format.is_plain_text:
        raise gate.refusal(
            "not-a-table",
            name,
            f"a text table is needed, but this is {file_format.label}",
            remedy="Save a spreadsheet as CSV. Upload a zip by itself.",
        )
    choices = choices or Choices()
    (table,) = delimited.read_text(name, content, choices)
    return typed_table(table, choices)


def _format_of_zip(name: str, content: bytes) -> FileFormat:
    members = member_names(name, content)
    for each in file_formats():
        if each.detect_zip is not None and each.detect_zip(members, content):
            return each
    if "[Content_Types].xml" in members:
        raise gate.refusal(
            "unknown-format",
            name,
            "this Office file contains no workbook that can be read",
            remedy="Save the table as XLSX or CSV.",
        )
    if "mimetype" in members and "content.xml" in members:
        raise gate.refusal(
            "unknown-format",
            name,
            "this OpenDocument file contains no spreadsheet that can be read",
            remedy="Save the table as ODS, XLSX or CSV.",
        )
    return ZIP


def _refuse_unsupported(name: str, content: bytes) -> None:
    for magic, message, remedy in _REFUSED_FORMATS:
        if content.startswith(magic) and not is_printable(content):
            raise gate.refusal("unknown-format", name, f"this is {message}", remedy=remedy)
    if content[257:262] == b"ustar":
        raise gate.refusal(
            "unknown-format", name, "this is a tar archive", remedy="Use a zip instead."
        )
    if content.startswith(_PICKLES):
        raise gate.refusal(
            "pickle",
            name,
            "this is a Python pickle, which can run code when opened",
            remedy="Save the table as CSV, or the matrix with numpy.save.",
        )

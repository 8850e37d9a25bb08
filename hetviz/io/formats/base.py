"""The declaration of a file format, found by `hetviz.io.formats.registry`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from hetviz.io.infer.parsed import FileReader

Kind = Literal["table", "workbook", "database", "matrix", "network", "prose", "picture", "archive"]
_OPTIONS: dict[tuple[str, bool], tuple[str, ...]] = {
    ("table", False): (
        "role", "separator", "decimal", "encoding", "header", "skip", "id", "square",
    ),
    ("table", True): ("role", "id"),
    ("workbook", False): ("role", "sheet", "decimal", "header", "skip", "id", "square"),
    ("database", True): ("sheet",),
    ("matrix", True): ("matrix", "rows_of"),
}  # fmt: skip


@dataclass(frozen=True)
class FileFormat:
    """A file format: how it is recognised, read and shown.

    Formats are recognised by their bytes: by one of `magic` or by `detect`, zips by `detect_zip`
    (member names and bytes), XML by `xml_tag`, structured text by `detect_text`. Text that no
    format detects belongs to the `is_plain_text` format with the extension of the file.

    Attributes
    ----------
    key, label : str
        Short name, and a noun for messages such as "this is a Parquet file".
    kind : str
    extensions : tuple of str
        In lower case, with the point.
    read : callable, optional
        ``read(name, content, choices)`` returns tables. None for pictures and archives.
    magic : tuple of bytes
        Possible bytes at `offset`.
    may_be_text : bool
        Whether text can begin with the magic bytes too, as in "ARROW1,ARROW2".
    is_typed : bool
        Whether cells have types. Tables without types have rows whose header can be chosen.
    own_options : tuple of str, optional
        Other reading options than those of the kind, see
        `hetviz.ui.reading.reading_options`.
    own_process : bool
        Whether the library may crash the process, so that the file is never read in this one.
    can_hang : bool
        Whether a small damaged file can take forever, so that it gets less time.
    damage : (str, str, str), optional
        Code, message and remedy for a file on which the library fails, with any exception.
    require : callable, optional
        Raises MissingExtraError where a package is missing.
    """

    key: str
    label: str
    kind: Kind
    extensions: tuple[str, ...]
    read: FileReader | None = None
    magic: tuple[bytes, ...] = ()
    offset: int = 0
    may_be_text: bool = False
    detect: Callable[[bytes], bool] | None = None
    detect_zip: Callable[[Sequence[str], bytes], bool] | None = None
    xml_tag: bytes = b""
    detect_text: Callable[[bytes], bool] | None = None
    is_plain_text: bool = False
    is_typed: bool = True
    own_options: tuple[str, ...] | None = None
    own_process: bool = False
    can_hang: bool = False
    damage: tuple[str, str, str] | None = None
    require: Callable[[], None] | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The reading options that the format has."""
        options = _OPTIONS.get((self.kind, self.is_typed), ())
        return options if self.own_options is None else self.own_options

    def has_magic(self, content: bytes) -> bool:
        """Whether binary content begins as this format does."""
        if self.detect is not None and self.detect(content):
            return True
        return content.startswith(self.magic, self.offset) and not (
            self.may_be_text and is_printable(content)
        )


def is_printable(content: bytes) -> bool:
    """Whether bytes that begin like a binary format are text (``BMI,age``)."""
    return all(byte >= 32 or byte in (9, 10, 13) for byte in content[:512])

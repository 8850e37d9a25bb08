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
    """

    # `key`, `label`: short name, and a noun for messages such as "this is a Parquet file".
    key: str
    label: str
    kind: Kind
    extensions: tuple[str, ...]  # In lower case, with the point.
    # ``read(name, content, choices)`` returns tables. None for pictures and archives.
    read: FileReader | None = None
    magic: tuple[bytes, ...] = ()  # Possible bytes at `offset`.
    offset: int = 0
    # Whether text can begin with the magic bytes too, as in "ARROW1,ARROW2".
    may_be_text: bool = False
    detect: Callable[[bytes], bool] | None = None
    detect_zip: Callable[[Sequence[str], bytes], bool] | None = None
    xml_tag: bytes = b""
    detect_text: Callable[[bytes], bool] | None = None
    is_plain_text: bool = False
    # Whether cells have types. Tables without types have rows whose header can be chosen.
    is_typed: bool = True
    # Other reading options than those of the kind, see `hetviz.ui.reading.reading_options`.
    own_options: tuple[str, ...] | None = None
    # Whether the library may crash the process, so that the file is never read in this one.
    own_process: bool = False
    # Whether a small damaged file can take forever, so that it gets less time.
    can_hang: bool = False
    # Code, message and remedy for a file on which the library fails, with any exception.
    damage: tuple[str, str, str] | None = None
    # Raises MissingExtraError where a package is missing.
    require: Callable[[], None] | None = None

    @property
    def options(self) -> tuple[str, ...]:
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

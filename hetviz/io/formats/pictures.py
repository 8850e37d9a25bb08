"""PNG, JPEG and WEBP pictures, read by `hetviz.io.datasets.images`."""

from __future__ import annotations

from hetviz.io.formats.base import FileFormat


def _is_webp(content: bytes) -> bool:
    return content.startswith(b"RIFF") and content[8:12] == b"WEBP"


FORMATS = (
    FileFormat("png", "a PNG picture", "picture", (".png",), magic=(b"\x89PNG\r\n\x1a\n",)),
    FileFormat("jpeg", "a JPEG picture", "picture", (".jpg", ".jpeg"), magic=(b"\xff\xd8\xff",)),
    FileFormat("webp", "a WEBP picture", "picture", (".webp",), detect=_is_webp),
)

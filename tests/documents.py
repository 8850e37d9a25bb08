"""Changed documents of `hetviz.codec` for tests of damaged and hostile bytes."""

from __future__ import annotations

import json
import struct
from typing import Any

from hetviz import codec

_PREFIX = struct.Struct("<6sBBQQ")


def header_of(content: bytes) -> Any:
    """Return the JSON header of a document."""
    header_bytes = _PREFIX.unpack_from(content)[3]
    return json.loads(content[_PREFIX.size : _PREFIX.size + header_bytes])


def with_header(content: bytes, header: object) -> bytes:
    """Return a document with another header."""
    old = _PREFIX.unpack_from(content)[3]
    text = json.dumps(header).encode()
    body = text + bytes(-len(text) % 8) + content[_PREFIX.size + old + -old % 8 :]
    return _PREFIX.pack(codec.MAGIC, codec.VERSION, 0, len(text), len(body)) + body

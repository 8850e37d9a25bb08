"""Pictures of items: an address for each, and what is there.

The address carries the session's id, which is what allows it, so a picture of one session cannot
be had from another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from hetviz.data import HeteroData

_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


def picture_address(session: str, data: HeteroData, dataset: str, row: int) -> str | None:
    """Return the address of a row's picture, or None if it has none."""
    media = data[dataset].media
    if media is None or media[row] is None:
        return None
    # The fingerprint makes a changed dataset a new address, so that browsers may keep pictures.
    return f"/picture/{session}/{row}/{quote(dataset, safe='')}?v={data.fingerprint()[:8]}"


def read_picture(media: Any) -> tuple[bytes, str] | None:
    """Return a picture's bytes and type, or None if it is no picture we know."""
    if media is None:
        return None
    try:
        raw = media if isinstance(media, bytes) else Path(media).read_bytes()
    except OSError:
        # A file that was named by its path, and is gone.
        return None
    kind = next((kind for start, kind in _TYPES if raw.startswith(start)), None)
    return None if kind is None else (raw, kind)

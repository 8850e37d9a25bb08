"""Pictures of items and their addresses, which contain the session id as the access key."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from hetviz.data import HeteroData
from hetviz.serve.config import settings
from hetviz.serve.processes import own_base

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
    # The fingerprint changes with the data, so that browsers may cache pictures.
    place = f"{session}/{row}/{quote(dataset, safe='')}"
    return f"{own_base(settings())}/hv/picture/{place}?v={data.fingerprint()[:8]}"


def read_picture(media: Any) -> tuple[bytes, str] | None:
    """Return a picture's bytes and type, or None if its format is unknown."""
    if media is None:
        return None
    try:
        raw = media if isinstance(media, bytes) else Path(media).read_bytes()
    except OSError:
        # The file was deleted.
        return None
    kind = next((kind for start, kind in _TYPES if raw.startswith(start)), None)
    return None if kind is None else (raw, kind)

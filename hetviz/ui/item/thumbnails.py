"""Thumbnails of many rows in one image, so that the map sends a single request."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hetviz.data import HeteroData
from hetviz.io.limits import MAX_PICTURE_PIXELS
from hetviz.memo import Memo
from hetviz.ui.item import pictures
from hetviz.ui.item.item import find_item

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_CELLS = 200
CELL_SIZE_RANGE = (16, 192)
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
_MAX_CACHE_BYTES = 64_000_000
# Maximum side of a WEBP image in pixels.
_MAX_WEBP_SIDE = 16_383
_CORNER_SHARE = 0.16


THUMBNAILS = Memo(
    max_size=_MAX_CACHE_BYTES, size_of=lambda tile: 4 * tile.width * tile.height if tile else 1_000
)


def _thumbnail(data: HeteroData, row: int, size: int) -> Image | None:
    """Return the thumbnail of a global row, at most `size` pixels wide and high, or None."""
    item = find_item(data, row)
    content = pictures.read_picture(item.dataset.media and item.dataset.media[item.row])
    if content is None:
        return None
    key = (hashlib.sha256(content[0]).digest(), size)
    return THUMBNAILS.get_or_compute(None, key, lambda: make_thumbnail(content[0], size))


def thumbnail_strip(data: HeteroData, rows: Sequence[int], size: int) -> tuple[bytes, str]:
    """Return one image of ``len(rows)`` square cells in a row, and its media type."""
    from PIL import Image

    canvas = Image.new("RGBA", (size * len(rows), size))
    for k, row in enumerate(rows):
        tile = _thumbnail(data, row, size)
        if tile is not None:
            canvas.paste(tile, (k * size + (size - tile.width) // 2, (size - tile.height) // 2))
    stream = io.BytesIO()
    if canvas.width <= _MAX_WEBP_SIDE:
        canvas.save(stream, "WEBP", quality=85, method=2)
        return stream.getvalue(), "image/webp"
    canvas.save(stream, "PNG", compress_level=3)
    return stream.getvalue(), "image/png"


def make_thumbnail(content: bytes, size: int) -> Image | None:
    """Return a picture fitted into ``size`` x ``size``, or None if it cannot be read."""
    # The number of pixels is checked before decoding. An opaque picture gets round corners, since
    # square edges look like a hole in a map of the other theme.
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
                if opened.width * opened.height > MAX_PICTURE_PIXELS:
                    return None
                opened.draft("RGB", (2 * size, 2 * size))
                picture = opened.convert("RGBA")
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        MemoryError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
    ):
        return None
    grown = size / max(picture.size)
    fitted = [max(1, round(side * grown)) for side in picture.size]
    # Small pictures such as digits of 8 x 8 are not smoothed.
    resampling = Image.Resampling.NEAREST if grown >= 2 else Image.Resampling.LANCZOS
    tile = picture.resize((fitted[0], fitted[1]), resampling)
    return _round_corners(tile) if _is_opaque(tile) else tile


def _is_opaque(tile: Image) -> bool:
    lowest: Any = tile.getchannel("A").getextrema()[0]
    return bool(lowest == 255)


def _round_corners(tile: Image) -> Image:
    from PIL import Image, ImageDraw

    # Drawn larger and reduced, for smooth edges.
    mask = Image.new("L", (4 * tile.width, 4 * tile.height))
    radius = 4 * _CORNER_SHARE * min(tile.size)
    edges = (0, 0, mask.width - 1, mask.height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(edges, radius, fill=255)
    tile.putalpha(mask.resize(tile.size, Image.Resampling.BOX))
    return tile

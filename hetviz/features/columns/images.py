"""Features of pictures: principal components of edge and colour histograms."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hetviz._types import Floats
from hetviz.features.columns.options import Fields
from hetviz.features.columns.principal import fit_principal_axes, project_rows

_SIDE, _CELL, _ANGLES, _COLOURS = 48, 8, 9, 4

N_COMPONENTS = 32


def describe(content: bytes) -> Floats | None:
    r"""Describe a picture by its edges and colours; None if it cannot be read.

    Returns (372,): normalised histograms of edge directions in 6 x 6 cells (324 values), then the
    mean colours of 4 x 4 parts (48 values). Both parts have length 1, so shapes and colours count
    equally.

    Histograms of oriented gradients (Dalal and Triggs 2005), unsigned and without overlap, on 48 x
    48 pixels over white. About 1 ms.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as opened:
            picture = opened.convert("RGBA").resize((_SIDE, _SIDE), Image.Resampling.BILINEAR)
    except (OSError, SyntaxError, ValueError, EOFError):
        return None
    rgba = np.asarray(picture, dtype=np.float64) / 255.0
    rgb = rgba[:, :, :3] * rgba[:, :, 3:] + 1.0 - rgba[:, :, 3:]
    colours = rgb.reshape(_COLOURS, _SIDE // _COLOURS, _COLOURS, -1, 3).mean(axis=(1, 3)).ravel()
    return np.concatenate(
        [_unit_length(_edge_histograms(rgb.mean(axis=2))), _unit_length(1.0 - colours)]
    )


def _edge_histograms(grey: Floats) -> Floats:
    down, across = np.gradient(grey)
    size = np.hypot(down, across)
    angle = (np.arctan2(down, across) % np.pi) * (_ANGLES / np.pi)
    direction = np.minimum(angle.astype(np.int64), _ANGLES - 1)
    n = _SIDE // _CELL
    cell = np.arange(_SIDE) // _CELL
    place = (cell[:, None] * n + cell[None, :]) * _ANGLES + direction
    histograms = np.bincount(place.ravel(), size.ravel(), n * n * _ANGLES).reshape(n * n, _ANGLES)
    length = np.linalg.norm(histograms, axis=1, keepdims=True)
    return np.asarray(histograms / (length + 0.1)).ravel()


def _unit_length(values: Floats) -> Floats:
    length = float(np.linalg.norm(values))
    return np.asarray(values / length) if length > 0 else values


def describe_all(media: Sequence[object]) -> Floats:
    """Describe pictures given as bytes, paths or None.

    Returns (n, p): See `hetviz.features.columns.images.describe`; NaN for missing or unreadable
        pictures. p is 0 if there is no picture at all.

    About 1 ms per picture.
    """
    return stack_descriptors(
        [None if picture is None else describe(_read_content(picture)) for picture in media]
    )


def stack_descriptors(descriptors: Sequence[Floats | None]) -> Floats:
    """Return descriptors as rows (n, p), NaN for missing ones."""
    width = next((len(descriptor) for descriptor in descriptors if descriptor is not None), 0)
    out = np.full((len(descriptors), width), np.nan)
    for row, descriptor in enumerate(descriptors):
        if descriptor is not None:
            out[row] = descriptor
    return out


def _read_content(source: object) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        return Path(str(source)).read_bytes()
    except OSError:
        # A missing file counts as no picture.
        return b""


def learn(D: Floats) -> Fields | None:
    """Fit principal components of descriptors (n, p); None if all pictures are equal."""
    present = D[~np.isnan(D).any(axis=1)] if D.shape[1] else D[:0]
    return fit_principal_axes(present, N_COMPONENTS) if len(present) > 1 else None


def parts(step: Fields, D: Floats) -> list[Floats]:
    """Return the components of descriptors, (n, k); 0 for missing pictures."""
    out = np.zeros((len(D), len(step["components"])))
    if D.shape[1]:
        has_picture = ~np.isnan(D).any(axis=1)
        out[has_picture] = project_rows(step, D[has_picture])
    return [out]


def names(step: Fields) -> list[str]:
    """Return the names of the features."""
    return [f"picture~{axis + 1}" for axis in range(len(step["components"]))]

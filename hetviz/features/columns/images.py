"""Pictures to features: edges and colours, and their leading directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetviz._types import Floats
from hetviz.features.columns.image_similarity import describe
from hetviz.features.columns.leading import fit_leading, project

N_COMPONENTS = 32


def described(media: Sequence[Any]) -> Floats:
    """Describe pictures, given as bytes, paths or None.

    Returns
    -------
    array of shape (n, p)
        See `hetviz.features.columns.image_similarity.describe`; NaN where there is no picture that
        can be read. p is 0 where there is none at all.

    Notes
    -----
    About 1 ms a picture.
    """
    found = [None if one is None else describe(_content(one)) for one in media]
    width = next((len(one) for one in found if one is not None), 0)
    out = np.full((len(media), width), np.nan)
    for row, one in enumerate(found):
        if one is not None:
            out[row] = one
    return out


def _content(one: Any) -> bytes:
    if isinstance(one, bytes):
        return one
    try:
        return Path(one).read_bytes()
    except OSError:
        # The picture is gone: the row has none.
        return b""


def learn(D: Floats) -> dict[str, Any] | None:
    """Learn the leading directions of descriptions (n, p); None where all pictures are alike."""
    known = D[~np.isnan(D).any(axis=1)] if D.shape[1] else D[:0]
    return fit_leading(known, N_COMPONENTS) if len(known) > 1 else None


def parts(step: Mapping[str, Any], D: Floats) -> list[Floats]:
    """Return what was learned, applied to descriptions: (n, k), 0 where there is no picture."""
    out = np.zeros((len(D), len(step["components"])))
    if D.shape[1]:
        seen = ~np.isnan(D).any(axis=1)
        out[seen] = project(step, D[seen])
    return [out]


def names(step: Mapping[str, Any]) -> list[str]:
    """Return the names of the features."""
    return [f"picture~{axis + 1}" for axis in range(len(step["components"]))]

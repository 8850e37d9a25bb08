"""A small still map as SVG text, without any chart library."""

from __future__ import annotations

import numpy as np

from hetviz.data import Embedding, HeteroData
from hetviz.plots.colour import Colouring
from hetviz.plots.palette import N_COLOURS, Theme, tokens

_MOST = 1500


def still_map(
    data: HeteroData,
    embedding: Embedding,
    colouring: Colouring,
    theme: Theme = "light",
    *,
    width: int = 150,
    height: int = 110,
    dot: float = 2.2,
) -> str:
    """Return a still map as SVG: one path a colour, dots round of width `dot`, at most 1,500.

    Items beyond the 0.6 to 99.4 % quantiles are left out.
    """
    token = tokens(theme)
    Y = embedding.planar().stacked()
    rows = np.flatnonzero(~np.isnan(Y).any(axis=1))
    paths = ""
    if len(rows):
        low, high = np.quantile(Y[rows], [0.006, 0.994], axis=0)
        rows = rows[((Y[rows] >= low) & (Y[rows] <= high)).all(axis=1)]
        rows = rows[:: max(1, -(-len(rows) // _MOST))]
        span = np.maximum(high - low, 1e-12)
        scale = min((width - 8) / span[0], (height - 8) / span[1])
        at = (Y[rows] - (low + high) / 2) * [scale, -scale] + [width / 2, height / 2]
        for code in np.unique(colouring.code[rows]):
            colour = token.categories[code % N_COLOURS] if code >= 0 else token.ghost
            moves = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in at[colouring.code[rows] == code])
            paths += f'<path d="{moves}" stroke="{colour}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" fill="none" '
        f'stroke-width="{dot}" stroke-linecap="round" opacity=".85">{paths}</svg>'
    )


def recoloured(still: str, theme: Theme) -> str:
    """Return a still map that was drawn for the light theme in the colours of `theme`."""
    old, new = tokens("light"), tokens(theme)
    for before, after in zip(
        (*old.categories, old.ghost), (*new.categories, new.ghost), strict=True
    ):
        still = still.replace(f'"{before}"', f'"{after}"')
    return still

"""Small static map as SVG, without a chart library."""

from __future__ import annotations

import re

import numpy as np

from hetviz.data import Embedding, HeteroData
from hetviz.features.linked_values import NO_VALUE
from hetviz.plots.colour import Colouring
from hetviz.plots.palette import N_COLOURS, Theme, category_colours, number_scale, pale, tokens

_MAX_POINTS = 1500
# Number of colours for a numeric column.
_N_NUMBER_COLOURS = 8


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
    """Return a static map as SVG with at most 1,500 dots of width `dot`, one path per colour."""
    # Items beyond the 0.6 to 99.4 % quantiles are not drawn.
    ghost, palette, codes = tokens(theme).ghost, colouring.colours(theme), colouring.code
    if colouring.option.kind == "numbers":
        share = np.nan_to_num(colouring.shares)
        codes = np.clip(share * _N_NUMBER_COLOURS, 0, _N_NUMBER_COLOURS - 1).astype(np.int64)
        codes[np.isnan(colouring.value)] = NO_VALUE
        palette = number_scale(_N_NUMBER_COLOURS, theme)
    n_colours = len(palette)
    if colouring.is_pale is not None:
        palette = (*palette, *(pale(colour, theme) for colour in palette))
        codes = np.where(colouring.is_pale & (codes >= 0), codes + n_colours, codes)
    Y = embedding.planar().stacked()
    rows = np.flatnonzero(~np.isnan(Y).any(axis=1))
    paths = ""
    if len(rows):
        low, high = np.quantile(Y[rows], [0.006, 0.994], axis=0)
        rows = rows[((Y[rows] >= low) & (Y[rows] <= high)).all(axis=1)]
        rows = rows[:: max(1, -(-len(rows) // _MAX_POINTS))]
        span = np.maximum(high - low, 1e-12)
        scale = min((width - 8) / span[0], (height - 8) / span[1])
        at = (Y[rows] - (low + high) / 2) * [scale, -scale] + [width / 2, height / 2]
        for code in np.unique(codes[rows]):
            colour = palette[code] if code >= 0 else ghost
            moves = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in at[codes[rows] == code])
            paths += f'<path d="{moves}" stroke="{colour}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" fill="none" '
        f'stroke-width="{dot}" stroke-linecap="round" opacity=".85">{paths}</svg>'
    )


def recolour_still(still: str, theme: Theme) -> str:
    """Return a static map drawn for the light theme in the colours of `theme`."""
    light, dark = tokens("light"), tokens(theme)
    new = dict(zip((*light.categories, light.ghost), (*dark.categories, dark.ghost), strict=True))
    # Ramps of two to twelve ordered categories. Equal colours map to equal colours.
    for n in range(2, N_COLOURS + 1):
        ramps = (category_colours(n, ramp_theme, ordered=True) for ramp_theme in ("light", theme))
        new |= {k: v for k, v in zip(*ramps, strict=True) if k not in new}
    new |= {pale(k, "light"): pale(v, theme) for k, v in new.items()}
    return re.sub('"(#[0-9a-f]{6})"', lambda match: f'"{new.get(match[1], match[1])}"', still)

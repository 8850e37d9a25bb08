"""Map with new items as rings and all others in grey."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from hetviz._text import escape, shorten
from hetviz._types import Floats
from hetviz.data import Embedding
from hetviz.plots.charts import draw_ground, style_map, write_text
from hetviz.plots.label_placement import Frame
from hetviz.plots.palette import Theme, tokens
from hetviz.plots.planar import points_to_draw

_MAX_NAMES = 12
_MAX_LETTERS = 22
_HEIGHT = 380


def new_items_figure(
    embedding: Embedding,
    places: Floats,
    names: Sequence[str],
    doubtful: Sequence[bool],
    theme: Theme = "light",
) -> go.Figure:
    """Draw a map in grey with rings around new items."""
    token = tokens(theme)
    drawing = points_to_draw(embedding)
    points = drawing.points
    new = _to_drawn_points(embedding, points, places)
    placed = np.flatnonzero(np.isfinite(points).all(axis=1))
    figure = go.Figure()
    kind = draw_ground(figure, points, placed, len(new), token.faint, opacity=0.55)
    for uncertain, symbol, suffix in ((False, "circle", ""), (True, "diamond", " (uncertain)")):
        rows = [
            k
            for k, is_doubtful in enumerate(doubtful)
            if is_doubtful == uncertain and np.isfinite(new[k]).all()
        ]
        colour = token.minus if uncertain else token.accent
        figure.add_trace(
            {
                "type": kind,
                "x": new[rows, 0],
                "y": new[rows, 1],
                "mode": "markers",
                "marker": {
                    "size": 13,
                    "symbol": f"{symbol}-open",
                    "color": colour,
                    "line": {"color": colour, "width": 2.5},
                },
                "text": [escape(names[k]) + suffix for k in rows],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    frame = Frame.around(points[placed])
    low, high = np.array(frame.low, float), np.array(frame.high, float)
    placed_new = new[np.isfinite(new).all(axis=1)]
    if len(placed_new):
        low, high = (
            np.minimum(low, placed_new.min(axis=0)),
            np.maximum(high, placed_new.max(axis=0)),
        )
    size = np.where(high > low, high - low, 1.0)
    taken: list[tuple[float, float]] = []
    for k, (x, y) in enumerate((new - low) / size):
        if len(taken) == _MAX_NAMES or not np.isfinite([x, y]).all():
            continue
        if any(abs(y - v) < 0.06 and abs(x - u) < 0.35 for u, v in taken):
            continue
        taken.append((x, y))
        # Names at the edges stay in the picture.
        side = "left" if x < 0.2 else "right" if x > 0.8 else "center"
        name, halo = escape(shorten(names[k], _MAX_LETTERS)), f"0 0 3px {token.bg}"
        at = new[k, 0], new[k, 1]
        write_text(figure, at, name, token.ink, halo=halo, yshift=15, xanchor=side)
    style_map(figure, theme, _HEIGHT, low, high, 0.06)
    return figure


def _to_drawn_points(embedding: Embedding, points: Floats, places: Floats) -> Floats:
    """Return places on the map's axes in the coordinates of the drawing."""
    Y = embedding.stacked()
    is_placed = np.isfinite(Y).all(axis=1) & np.isfinite(points).all(axis=1)
    if not is_placed.any():
        return places[:, :2]
    A = np.column_stack([Y[is_placed], np.ones(int(is_placed.sum()))])
    transform, *_ = np.linalg.lstsq(A, points[is_placed], rcond=None)
    out: Floats = np.column_stack([places, np.ones(len(places))]) @ transform
    return out


def new_items_alt(n: int) -> str:
    """Return the text alternative of the map."""
    return f"Map of all items in grey, with rings around {n:,} new items."

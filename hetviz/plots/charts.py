"""Parts that all small Plotly charts share: layout, axes, texts and maps in grey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.plots.palette import Theme, ground, plain_layout, points_kind, tokens

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MAX_POINTS = 8_000


def style_chart(
    figure: go.Figure,
    theme: Theme,
    height: int,
    margin: Mapping[str, int],
    x: Mapping[str, object],
    y: Mapping[str, object],
    title: str,
) -> None:
    """Set the layout and the axes; `title` is that of the x axis."""
    line = tokens(theme).line
    figure.update_layout(**plain_layout(theme, height, margin))
    quiet = {"zeroline": False, "fixedrange": True}
    figure.update_xaxes(showgrid=False, linecolor=line, title=axis_title(title), **quiet, **x)
    figure.update_yaxes(gridcolor=line, **quiet, **y)


def axis_title(text: str) -> dict[str, object]:
    """Return the title of an axis."""
    return {"text": text, "font": {"size": 12.5}, "standoff": 4}


def outer_ticks(theme: Theme) -> dict[str, object]:
    """Return the ticks of an axis with lines outside."""
    return {"ticks": "outside", "ticklen": 4, "tickcolor": tokens(theme).line}


def write_text(
    figure: go.Figure,
    at: tuple[float, float],
    text: str,
    color: str | None,
    size: float = 12.5,
    halo: str | None = None,
    **place: object,
) -> None:
    """Write a text into a chart, with a halo of some CSS shadows."""
    font = {"size": size, "color": color} | ({} if halo is None else {"shadow": halo})
    figure.add_annotation(x=at[0], y=at[1], text=text, showarrow=False, font=font, **place)


def draw_ground(
    figure: go.Figure,
    points: Floats,
    rows: Ints,
    n_others: int,
    colour: str,
    size: float = 4,
    opacity: float = 1.0,
) -> str:
    """Draw some points in grey and return the kind of trace for `n_others` more."""
    rows = rows[:: max(1, -(-len(rows) // _MAX_POINTS))]
    # All traces share one kind, so that grey points never cover others.
    kind = points_kind(len(rows) + n_others)
    figure.add_trace(ground(points, rows, kind, colour, size, opacity))
    return kind


def style_map(
    figure: go.Figure, theme: Theme, height: int, low: Floats, high: Floats, pad: float = 0.0
) -> None:
    """Show a window of a map without axes, with a margin as a share of its size."""
    margin = pad * np.where(high > low, high - low, 1.0)
    figure.update_layout(**plain_layout(theme, height, {"l": 0, "r": 0, "t": 0, "b": 0}))
    axis = {"visible": False, "fixedrange": True}
    figure.update_xaxes(range=[low[0] - margin[0], high[0] + margin[0]], **axis)
    figure.update_yaxes(range=[low[1] - margin[1], high[1] + margin[1]], scaleanchor="x", **axis)

"""Charts of predicted links: precision on hidden links, and proposals on the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._text import escape, round_percent, shorten
from hetviz._types import Floats
from hetviz.data import Embedding
from hetviz.plots.charts import draw_ground, style_chart, style_map, write_text
from hetviz.plots.label_placement import Frame
from hetviz.plots.palette import Theme, shape_of, tokens
from hetviz.plots.planar import points_to_draw

if TYPE_CHECKING:
    import plotly.graph_objects as go

MODEL_NAMES = {
    "method": "this method",
    "profiles": "similar items",
    "popularity": "popularity",
    "chance": "chance",
}
_DASH = {"method": "solid", "profiles": "5px,3px", "popularity": "2px,3px", "chance": "dot"}
_MAX_LETTERS = 22


def percent_with_error(value: Sequence[float | None]) -> str:
    """Return a mean share and its standard error as percentages without their sign."""
    mean, error = value
    text = f"{100 * (mean or 0.0):.1f}"
    return text if not error else f"{text} ± {100 * error:.1f}"


def known_links_table(test: Mapping[str, Any]) -> pd.DataFrame:
    """Return the test of predicted links by the known links of the item with fewer."""
    rows = [
        [
            row["known_links"],
            f"{row['n_links']:,}",
            *(percent_with_error(row["auc"][key]) for key in ("method", "popularity")),
        ]
        for row in test.get("by_known_links", ())
    ]
    names = [MODEL_NAMES[key] for key in ("method", "popularity")]
    columns = ["Known links of the item with fewer", "hidden links", *names]
    return pd.DataFrame(rows, columns=columns)


def precision_figure(precision: Mapping[str, Any], theme: Theme = "light") -> go.Figure:
    """Draw the share of hidden links among the best pairs."""
    import plotly.graph_objects as go  # reports need the rest of this module, but no Plotly

    token = tokens(theme)
    colours = {
        "method": token.accent,
        "profiles": token.mute,
        "popularity": token.mute,
        "chance": token.faint,
    }
    figure = go.Figure()
    counts = sorted({int(row[0]) for rows in precision.values() for row in rows})
    top = max((row[1] + (row[2] or 0.0) for rows in precision.values() for row in rows), default=1)
    ends = []
    for key, rows in precision.items():
        k, mean, error = (np.array([row[at] for row in rows], dtype=float) for at in range(3))
        bars = key != "chance" and np.isfinite(error).any()
        figure.add_scatter(
            x=k,
            y=mean,
            mode="lines" if key == "chance" else "lines+markers",
            line={
                "color": colours[key],
                "width": 2.5 if key == "method" else 1.5,
                "dash": _DASH[key],
            },
            marker={"size": 5, "color": colours[key]},
            error_y={"array": np.nan_to_num(error), "width": 0, "thickness": 1} if bars else None,
            hovertemplate=f"{MODEL_NAMES[key]}: %{{y:.0%}} of the best %{{x}}<extra></extra>",
        )
        ends.append((float(mean[-1]), key))
    _name_ends(figure, ends, counts[-1], top, colours)
    # Every other tick, so that the labels fit a narrow chart.
    ticks = {"tickvals": counts[::2], "ticktext": [f"{k:,}" for k in counts[::2]], "tickangle": 0}
    style_chart(
        figure,
        theme,
        190,
        {"l": 42, "r": 96, "t": 8, "b": 40},
        {"type": "log", **ticks},
        {"range": [-0.02 * top, 1.08 * top], "tickformat": ".0%", "nticks": 4},
        "number of best pairs",
    )
    return figure


def _name_ends(
    figure: go.Figure,
    ends: list[tuple[float, str]],
    last: int,
    top: float,
    colours: Mapping[str, str],
) -> None:
    """Write the names at the ends of the lines, without overlap."""
    floor = 0.0
    for height, key in sorted(ends):
        at = max(height, floor)
        floor = at + 0.16 * top
        colour = colours[key] if key == "method" else None
        end = float(np.log10(last)), at
        write_text(figure, end, MODEL_NAMES[key], colour, xanchor="left", xshift=6)


def precision_alt(precision: Mapping[str, Any]) -> str:
    """Return the text alternative of the chart."""
    parts = []
    for key, rows in precision.items():
        k, share = next(((row[0], row[1]) for row in rows if row[0] == 10), rows[0][:2])
        parts.append(f"{MODEL_NAMES[key]} {round_percent(share)} of the best {k:.0f}")
    return f"Share of hidden links among the best pairs: {', '.join(parts)}."


def proposals_figure(
    embedding: Embedding,
    pairs: ArrayLike,
    names: Mapping[int, str],
    star: Sequence[float] | None = None,
    theme: Theme = "light",
    height: int = 380,
) -> go.Figure:
    """Draw a map in grey with proposed pairs or the place of a new item."""
    token = tokens(theme)
    points = points_to_draw(embedding).points
    joined = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    placed = np.flatnonzero(np.isfinite(points).all(axis=1))
    placed_rows = set(placed.tolist())
    marked = [
        row for row in dict.fromkeys([*joined.ravel().tolist(), *names]) if row in placed_rows
    ]
    import plotly.graph_objects as go

    figure = go.Figure()
    draw_ground(figure, points, placed, 0, token.line)
    ends = points[joined]
    gaps = np.full((len(joined), 1), np.nan)
    figure.add_scatter(
        x=np.hstack([ends[:, :, 0], gaps]).ravel(),
        y=np.hstack([ends[:, :, 1], gaps]).ravel(),
        mode="lines",
        line={"color": token.accent, "width": 1.5, "dash": "5px,3px"},
        hoverinfo="skip",
    )
    starts = np.cumsum([0, *(len(Y) for Y in embedding.coordinates.values())])
    symbols = [shape_of(int(np.searchsorted(starts, row, side="right")) - 1)[0] for row in marked]
    figure.add_scatter(
        x=points[marked, 0],
        y=points[marked, 1],
        mode="markers",
        marker={
            "size": 8,
            "symbol": symbols,
            "color": token.accent,
            "line": {"color": token.bg, "width": 0.6},
        },
        text=[escape(names.get(row, "")) for row in marked],
        hovertemplate="%{text}<extra></extra>",
    )
    if star is not None:
        figure.add_scatter(
            x=[star[0]],
            y=[star[1]],
            mode="markers",
            marker={"size": 17, "symbol": "star", "color": token.minus},
            hovertemplate="new item<extra></extra>",
        )
    seen = points[placed]
    frame = Frame.around(seen)
    low, high = np.array(frame.low, float), np.array(frame.high, float)
    extra = points[marked] if star is None else np.vstack([points[marked], [star[:2]]])
    if len(extra):
        low, high = np.minimum(low, extra.min(axis=0)), np.maximum(high, extra.max(axis=0))
    _names(figure, points, marked, names, (low, high), token.ink, token.bg)
    style_map(figure, theme, height, low, high, 0.04)
    return figure


def _names(
    figure: go.Figure,
    points: Floats,
    marked: Sequence[int],
    names: Mapping[int, str],
    window: tuple[Floats, Floats],
    ink: str,
    paper: str,
) -> None:
    """Write names in order, skipping those that overlap."""
    low, high = window
    size = np.where(high > low, high - low, 1.0)
    taken: list[tuple[float, float, float]] = []
    for row in marked:
        if row not in names:
            continue
        text = shorten(names[row], _MAX_LETTERS)
        x, y = (points[row] - low) / size
        wide = 0.022 * len(text)
        left = min(max(x - wide / 2, 0.0), 1.0 - wide)
        if any(abs(y - v) < 0.05 and left < u + w and u < left + wide for u, v, w in taken):
            continue
        taken.append((left, y, wide))
        at = low[0] + (left + wide / 2) * size[0], points[row, 1]
        halo = f"0 0 3px {paper}, 0 0 3px {paper}"
        write_text(figure, at, escape(text), ink, halo=halo, yshift=12)

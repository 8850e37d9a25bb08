"""The map: one trace a dataset, colours from a colouring."""

from __future__ import annotations

import html
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from hetviz._types import Bools, Floats, Ints
from hetviz.data import Embedding, HeteroData
from hetviz.plots.colour import NO_VALUE, OTHER, Colouring, number_range, spoken
from hetviz.plots.label_placement import Frame
from hetviz.plots.labels import WORD_FONT, PictureOf, Written, write
from hetviz.plots.palette import N_SLOTS, Theme, Tokens, shape_of, tokens
from hetviz.plots.planar import drawn, unjoined
from hetviz.plots.text import escape, short

DOT = 5.5


@dataclass(frozen=True, eq=False)
class MapPicture:
    """A drawn map and what must be said beside it.

    Attributes
    ----------
    figure : Figure
    alt : str
        The map in words.
    outside, unplaced : int
        Items beyond the edge of the frame, and items without a place.
    notes : tuple of str
        What the picture does to the map, one sentence each.
    written : Written
        Which texts and pictures fit which size of the window.
    """

    figure: go.Figure
    alt: str
    outside: int
    unplaced: int
    notes: tuple[str, ...]
    written: Written


def map_figure(
    data: HeteroData,
    embedding: Embedding,
    colouring: Colouring,
    theme: Theme = "light",
    *,
    hidden: Collection[str] = (),
    picture_of: PictureOf | None = None,
    selected: Collection[int] = (),
    webgl: bool = True,
) -> MapPicture:
    """Draw an embedding.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Of the same rows; its `planar` form is drawn.
    colouring : Colouring
    theme : {"light", "dark"}
    hidden : collection of str
        Datasets to leave out.
    picture_of : callable, optional
        ``picture_of(dataset, row)`` gives the address of a row's picture, or None. Addresses go
        into the figure, pictures never do.
    selected : collection of int
        Global rows to show as selected.
    webgl : bool
        Draw on the graphics card: needed for many points, slower to begin for few.

    Returns
    -------
    MapPicture

    Notes
    -----
    Costs O(n) plus at most 800 x 800 distances for each name.
    """
    token = tokens(theme)
    form = drawn(embedding)
    points, placed = form.points, form.placed
    shown = np.zeros(data.n_rows, dtype=bool)
    for name, rows in data.offsets.items():
        shown[rows] = name not in hidden
    frame = Frame.around(points[shown & placed])
    figure = go.Figure(layout=_layout(frame, token))
    for place, name in enumerate(data.datasets):
        if name not in hidden:
            trace = _trace(data, name, place, points, placed, colouring, theme, selected)
            figure.add_trace(go.Scattergl(trace) if webgl else go.Scatter(trace))
    seen = np.flatnonzero(shown & placed)
    seen = seen[frame.inside(points[seen])]
    written = write(figure, data, points, seen, frame, colouring, theme, picture_of)
    return MapPicture(
        figure,
        map_alt(data, colouring, hidden),
        frame.outside,
        int((shown & ~placed).sum()),
        (*form.notes, *unjoined(embedding, hidden)),
        written,
    )


def map_alt(data: HeteroData, colouring: Colouring, hidden: Collection[str] = ()) -> str:
    """Say in words what the map shows."""
    kinds = [f"{len(d):,} {name}" for name, d in data.datasets.items() if name not in hidden]
    words = f"Map of {' and '.join(kinds) or 'nothing'}, coloured by {colouring.option.title}"
    if colouring.categories:
        words += ": " + ", ".join(map(spoken, colouring.categories))
    return words + "."


def _layout(frame: Frame, token: Tokens) -> go.Layout:
    def axis(low: float, high: float) -> dict[str, object]:
        return {"visible": False, "range": [float(low), float(high)]}

    return go.Layout(
        xaxis=axis(frame.low[0], frame.high[0]),
        yaxis={
            **axis(frame.low[1], frame.high[1]),
            "scaleanchor": "x",
            "scaleratio": 1.0 / frame.stretch,
        },
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,
        dragmode="pan",
        hovermode="closest",
        hoverdistance=12,
        hoverlabel={
            "bgcolor": token.card,
            "bordercolor": token.line,
            "font": {"color": token.ink, "size": 13, "family": "Source Sans, sans-serif"},
        },
        font={"family": "Source Sans, sans-serif", "color": token.mute, "size": WORD_FONT},
        newselection={"line": {"color": token.ink, "width": 1.5, "dash": "dot"}},
        activeselection={"fillcolor": "rgba(0,0,0,0)", "opacity": 1},
        modebar={
            "bgcolor": "rgba(0,0,0,0)",
            "color": token.mute,
            "activecolor": token.accent,
            "orientation": "v",
        },
    )


def _trace(
    data: HeteroData,
    name: str,
    place: int,
    points: Floats,
    placed: Bools,
    colouring: Colouring,
    theme: Theme,
    selected: Collection[int],
) -> dict[str, object]:
    token = tokens(theme)
    symbol, _, factor = shape_of(place)
    # Few points are drawn larger, many smaller.
    dot = DOT * factor * float(np.clip((1000 / max(data.n_rows, 1)) ** 0.25, 0.7, 1.5))
    rows = np.arange(data.n_rows)[data.offsets[name]]
    rows = rows[placed[rows]]
    marker: dict[str, object] = {
        "symbol": symbol,
        "size": dot,
        "opacity": 0.82,
        "line": {"width": 0.6, "color": token.bg},
    }
    chosen = [int(k) for k in np.flatnonzero(np.isin(rows, list(selected)))]
    return {
        "x": points[rows, 0].astype(np.float32),
        "y": points[rows, 1].astype(np.float32),
        "mode": "markers",
        "name": html.escape(name),
        "marker": {**marker, **_marker_colours(colouring, rows, theme, place == 0)},
        "customdata": rows.astype(np.int32),
        "hovertext": _hover(data, name, rows, colouring),
        "hoverinfo": "text",
        "selectedpoints": chosen if selected else None,
        "selected": {"marker": {"opacity": 1.0, "size": dot * 1.5}},
        "unselected": {"marker": {"opacity": 0.28}},
    }


def _marker_colours(
    colouring: Colouring, rows: Ints, theme: Theme, with_bar: bool
) -> dict[str, object]:
    token = tokens(theme)
    if colouring.option.kind == "numbers":
        value = colouring.value[rows]
        low, high = number_range(colouring.value)
        bar = {
            "thickness": 8,
            "len": 0.32,
            "x": 0.995,
            "xanchor": "right",
            "y": 0.02,
            "yanchor": "bottom",
            "outlinewidth": 0,
            "tickfont": {"size": 12, "color": token.mute},
            "title": {
                "text": escape(colouring.option.title),
                "side": "top",
                "font": {"size": 12.5, "color": token.mute},
            },
        }
        return {
            "color": value.astype(np.float32),
            "colorscale": "Viridis",
            "cmin": low,
            "cmax": high,
            "colorbar": bar,
            "showscale": with_bar,
        }
    # Codes with a stepped scale: one byte a point, where colour strings would take eight.
    code = colouring.code[rows]
    steps = [token.ghost, token.ghost, *token.categories]
    scale = [
        [edge, colour]
        for k, colour in enumerate(steps)
        for edge in (k / len(steps), (k + 1) / len(steps))
    ]
    return {
        "color": (np.where(code < 0, code, code % N_SLOTS) + 2).astype(np.int8),
        "colorscale": scale,
        "cmin": -0.5,
        "cmax": len(steps) - 0.5,
        "showscale": False,
    }


def _hover(data: HeteroData, name: str, rows: Ints, colouring: Colouring) -> list[str]:
    titles = data[name].titles
    start = data.offsets[name].start
    by_dataset = colouring.option.kind == "dataset"
    out = []
    for row in rows:
        words = f"<b>{escape(short(str(titles[row - start]), 60))}</b><br>{escape(name)}"
        code = int(colouring.code[row])
        if colouring.option.kind == "numbers":
            if not np.isnan(colouring.value[row]):
                words += f" · {colouring.value[row]:,.4g}"
        elif not by_dataset and code >= 0:
            words += " · " + escape(short(spoken(colouring.categories[code]), 40))
        elif code == OTHER and not by_dataset:
            words += " · other"
        out.append(words)
    return out


__all__ = ["NO_VALUE", "MapPicture", "map_alt", "map_figure"]

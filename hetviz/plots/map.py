"""The map: one trace a dataset, colours from a colouring, names and pictures where they fit."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from hetviz.data import Embedding, HeteroData
from hetviz.plots.colour import NO_VALUE, OTHER, Colouring, spoken
from hetviz.plots.palette import Theme, Tokens, shape_of, text_colour, tokens
from hetviz.plots.place import Board, Frame, Pixels, place_items, place_names, text_width

DOT = 5.5
NAME_FONT, WORD_FONT = 16, 12.5
PICTURE = 23.0
# About the smallest picture the app shows; what has room here has room in every larger one.
WIDTH, HEIGHT = 600.0, 470.0
WORD_AREA = 15_000.0
# Spreads that differ by less than this are drawn as they are.
_UNLIKE = 3.0
_LONGEST_WORD = 18

PictureOf = Callable[[str, int], str | None]


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
    """

    figure: go.Figure
    alt: str
    outside: int
    unplaced: int
    notes: tuple[str, ...]


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
    points, notes = _comparable(embedding.planar())
    shown = np.zeros(data.n_rows, dtype=bool)
    for name, rows in data.offsets.items():
        shown[rows] = name not in hidden
    placed = embedding.stacked_placed()
    frame = Frame.around(points[shown & placed])
    figure = go.Figure(layout=_layout(frame, token))
    for place, name in enumerate(data.datasets):
        if name not in hidden:
            trace = _trace(data, name, place, points, placed, colouring, theme, selected)
            figure.add_trace(go.Scattergl(trace) if webgl else go.Scatter(trace))
    drawn = np.flatnonzero(shown & placed)
    drawn = drawn[frame.inside(points[drawn])]
    _write(figure, data, points, drawn, frame, colouring, theme, picture_of)
    return MapPicture(
        figure,
        map_alt(data, colouring, hidden),
        frame.outside,
        int((shown & ~placed).sum()),
        tuple(notes),
    )


def map_alt(data: HeteroData, colouring: Colouring, hidden: Collection[str] = ()) -> str:
    """Say in words what the map shows."""
    kinds = [f"{len(d):,} {name}" for name, d in data.datasets.items() if name not in hidden]
    words = f"Map of {' and '.join(kinds) or 'nothing'}, coloured by {colouring.option.title}"
    if colouring.categories:
        words += ": " + ", ".join(map(spoken, colouring.categories))
    return words + "."


def _comparable(embedding: Embedding) -> tuple[NDArray[np.float64], list[str]]:
    """Return the points, a dataset of far smaller spread than the widest enlarged, and notes."""
    radius: dict[str, float] = {}
    for name, Y in embedding.coordinates.items():
        there = Y[embedding.placed[name]]
        if len(there) > 1:
            centre = np.median(there, axis=0)
            radius[name] = float(np.median(np.linalg.norm(there - centre, axis=1)))
    largest = max(radius.values(), default=0.0)
    parts, notes = [], []
    for name, Y in embedding.coordinates.items():
        r = radius.get(name, 0.0)
        if r > 0 and largest / r > _UNLIKE:
            centre = np.nanmedian(Y, axis=0)
            parts.append(centre + (Y - centre) * (largest / r))
            notes.append(f"{name} is drawn {largest / r:,.0f} times larger, to be seen at all.")
        else:
            parts.append(Y)
    return np.vstack(parts), notes


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
    points: NDArray[np.float64],
    placed: NDArray[np.bool_],
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
    colouring: Colouring, rows: NDArray[np.int64], theme: Theme, with_bar: bool
) -> dict[str, object]:
    token = tokens(theme)
    if colouring.option.kind == "numbers":
        value = colouring.value[rows]
        known = colouring.value[~np.isnan(colouring.value)]
        low, high = np.quantile(known, [0.02, 0.98]) if len(known) else (0.0, 1.0)
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
            "cmin": float(low),
            "cmax": float(high) if high > low else float(low) + 1.0,
            "colorbar": bar,
            "showscale": with_bar,
        }
    # Codes with a stepped scale: one byte a point, where colour strings would take eight.
    steps = [token.ghost, token.ghost, *token.categories]
    scale = [
        [edge, colour]
        for k, colour in enumerate(steps)
        for edge in (k / len(steps), (k + 1) / len(steps))
    ]
    return {
        "color": (colouring.code[rows] + 2).astype(np.int8),
        "colorscale": scale,
        "cmin": -0.5,
        "cmax": len(steps) - 0.5,
        "showscale": False,
    }


def _hover(data: HeteroData, name: str, rows: NDArray[np.int64], colouring: Colouring) -> list[str]:
    titles = data[name].titles
    start = data.offsets[name].start
    by_dataset = colouring.option.kind == "dataset"
    out = []
    for row in rows:
        words = f"<b>{escape(_short(str(titles[row - start]), 60))}</b><br>{escape(name)}"
        code = int(colouring.code[row])
        if colouring.option.kind == "numbers":
            if not np.isnan(colouring.value[row]):
                words += f" · {colouring.value[row]:,.4g}"
        elif not by_dataset and code >= 0:
            words += " · " + escape(_short(spoken(colouring.categories[code]), 40))
        elif code == OTHER and not by_dataset:
            words += " · other"
        out.append(words)
    return out


def _write(
    figure: go.Figure,
    data: HeteroData,
    points: NDArray[np.float64],
    drawn: NDArray[np.int64],
    frame: Frame,
    colouring: Colouring,
    theme: Theme,
    picture_of: PictureOf | None,
) -> None:
    """Write group names, then words, then pictures, each where it still fits."""
    if len(drawn) == 0:
        return
    token = tokens(theme)
    board = Board(WIDTH, HEIGHT)
    pixels = frame.pixels(points[drawn], WIDTH, HEIGHT)
    middle = (frame.low + frame.high) / 2
    halo = ", ".join(f"0 0 {blur}px {token.bg}" for blur in (1, 2, 3, 3, 4, 4))

    def note(x: float, y: float, text: str, font: dict[str, object], **more: object) -> None:
        figure.add_annotation(
            x=float(middle[0] + x / pixels.scale[0]),
            y=float(middle[1] + y / pixels.scale[1]),
            text=escape(text),
            showarrow=False,
            captureevents=False,
            font={"shadow": halo, **font},
            **more,
        )

    groups = []
    for k, name in enumerate(colouring.categories):
        members = pixels.at[colouring.code[drawn] == k]
        if len(members):
            groups.append((_short(spoken(name), 28), members, token.categories[k]))
    colour_of = {name: text_colour(colour, theme) for name, _, colour in groups}
    names = place_names(board, [(name, at) for name, at, _ in groups], NAME_FONT)
    degree = data.adjacency("+").astype(bool).sum(axis=1)[drawn]
    order = np.argsort(-degree, kind="stable")
    illustrated = [
        name for name, d in data.datasets.items() if picture_of is not None and d.media is not None
    ]
    mask = np.zeros(data.n_rows, dtype=bool)
    for name in illustrated:
        mask[data.offsets[name]] = True
    has_picture = mask[drawn]
    words = _words(board, data, drawn, order[~has_picture[order]], pixels)
    if picture_of is not None:
        _pictures(figure, board, data, drawn, order[has_picture[order]], points, pixels, picture_of)
    for k, text in words:
        font = {"size": WORD_FONT, "color": token.mute}
        note(pixels.at[k, 0], pixels.at[k, 1], text, font, xanchor="left", xshift=3)
    for name, (x, y) in names.items():
        note(x, y, name, {"size": NAME_FONT, "color": colour_of[name], "weight": 600})


def _words(
    board: Board,
    data: HeteroData,
    drawn: NDArray[np.int64],
    order: NDArray[np.int64],
    pixels: Pixels,
) -> list[tuple[int, str]]:
    most = int(board.width * board.height / WORD_AREA)
    starts = np.array([rows.start for rows in data.offsets.values()])
    datasets = list(data.datasets.values())
    texts: dict[int, str] = {}
    sizes = [(0.0, 0.0)] * len(drawn)
    shifted = pixels.at.copy()
    for k in order[: 20 * most]:
        owner = int(np.searchsorted(starts, drawn[k], side="right")) - 1
        texts[int(k)] = _short(str(datasets[owner].titles[drawn[k] - starts[owner]]), _LONGEST_WORD)
        sizes[k] = (text_width(texts[int(k)], WORD_FONT), WORD_FONT * 1.5)
        shifted[k, 0] += sizes[k][0] / 2
    placed = place_items(board, shifted, order, sizes, most, 20 * most)
    return [(k, texts[k]) for k in placed]


def _pictures(
    figure: go.Figure,
    board: Board,
    data: HeteroData,
    drawn: NDArray[np.int64],
    order: NDArray[np.int64],
    points: NDArray[np.float64],
    pixels: Pixels,
    picture_of: PictureOf,
) -> None:
    gap = 1.5 * PICTURE
    for k in place_items(board, pixels.at, order, [(gap, gap)] * len(drawn), 60, 2000):
        for name, rows in data.offsets.items():
            if rows.start <= drawn[k] < rows.stop:
                source = picture_of(name, int(drawn[k] - rows.start))
                if source is not None:
                    figure.add_layout_image(
                        source=source,
                        xref="x",
                        yref="y",
                        x=float(points[drawn[k], 0]),
                        y=float(points[drawn[k], 1]),
                        sizex=float(PICTURE / pixels.scale[0]),
                        sizey=float(PICTURE / pixels.scale[1]),
                        xanchor="center",
                        yanchor="middle",
                        layer="above",
                    )


def escape(text: str) -> str:
    """Return text that Plotly shows as it is: no tags, no entities, no formulas."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def _short(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


__all__ = ["NO_VALUE", "MapPicture", "PictureOf", "escape", "map_alt", "map_figure"]

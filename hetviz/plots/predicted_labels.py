"""Charts of predicted labels: errors, weights over rounds, and uncertainty on the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from hetviz._text import escape, round_percent, shorten
from hetviz._types import Bools, Floats, Ints
from hetviz.data import Embedding
from hetviz.plots.charts import axis_title, draw_ground, style_chart, style_map, write_text
from hetviz.plots.colour import display_name
from hetviz.plots.label_placement import Frame
from hetviz.plots.palette import (
    N_COLOURS,
    Theme,
    number_scale,
    plain_layout,
    shape_of,
    text_colour,
    tokens,
)
from hetviz.plots.planar import points_to_draw

_MAX_LETTERS, _LINE_LETTERS = 26, 18
_MIN_DOT, _MAX_DOT = 4.5, 10.0


def error_figure(
    held_out: Mapping[str, Sequence[Any]],
    names: Mapping[str, str],
    classes: bool,
    theme: Theme = "light",
) -> go.Figure:
    """Draw errors on hidden labels as bars, the smallest first."""
    token = tokens(theme)
    order = sorted(range(len(held_out["model"])), key=lambda k: -held_out["error"][k])
    models = [held_out["model"][k] for k in order]
    errors = np.array([held_out["error"][k] for k in order], dtype=float)
    spread = np.array([held_out["standard_error"][k] or 0.0 for k in order], dtype=float)
    first = held_out["model"][0]
    error_texts = [round_percent(error, 1) if classes else f"{error:.3g}" for error in errors]
    labels = [
        "<br>".join(map(escape, wrap(names.get(model, model), _LINE_LETTERS))) for model in models
    ]
    figure = go.Figure(
        go.Bar(
            x=errors,
            y=list(range(len(models))),
            orientation="h",
            width=0.6,
            marker={"color": [token.accent if m == first else token.line for m in models]},
            error_x={"array": spread, "width": 0, "thickness": 1.5, "color": token.mute},
            hoverinfo="skip",
        )
    )
    top = float((errors + spread).max(initial=0.0)) or 1.0
    for place, text in enumerate(error_texts):
        at = errors[place] + spread[place], place
        write_text(figure, at, text, token.ink, 12.5, xanchor="left", xshift=5)
    figure.update_layout(
        **plain_layout(theme, 34 + 34 * len(models), {"l": 8, "r": 8, "t": 4, "b": 8})
    )
    figure.update_xaxes(visible=False, range=[0, 1.45 * top], fixedrange=True)
    figure.update_yaxes(
        tickvals=list(range(len(models))),
        ticktext=labels,
        automargin=True,
        showgrid=False,
        fixedrange=True,
        tickfont={"size": 12.5},
    )
    return figure


def error_alt(
    held_out: Mapping[str, Sequence[Any]], names: Mapping[str, str], classes: bool
) -> str:
    """Return the text alternative of the bars."""
    parts = [
        f"{names.get(model, model)} {round_percent(error, 1) if classes else f'{error:.3g}'}"
        for model, error in zip(held_out["model"], held_out["error"], strict=True)
    ]
    return f"Error on hidden labels: {', '.join(parts)}."


def weights_figure(weights: Mapping[str, Sequence[Any]], theme: Theme = "light") -> go.Figure:
    """Draw the weight of each source over the rounds."""
    token = tokens(theme)
    sources = list(dict.fromkeys(weights["source"]))
    rounds = np.array(weights["round"], dtype=float)
    values = np.array(weights["weight"], dtype=float)
    owner = np.array(weights["source"], dtype=object)
    figure = go.Figure()
    ceiling = 1.0
    ends = sorted(
        ((float(values[owner == source_name][-1]), source_name) for source_name in sources),
        reverse=True,
    )
    for height, source in ends:
        own_rounds = owner == source
        place = sources.index(source)
        colour = token.categories[place % N_COLOURS]
        figure.add_scatter(
            x=rounds[own_rounds],
            y=values[own_rounds],
            mode="lines",
            line={"color": colour, "width": 2},
            hovertemplate=f"{escape(source)}: %{{y:.2f}} in round %{{x}}<extra></extra>",
        )
        at = min(height, ceiling)
        ceiling = at - 0.13
        name, end = escape(shorten(source, _MAX_LETTERS)), (float(rounds.max()), at)
        write_text(figure, end, name, text_colour(colour, theme), xanchor="left", xshift=6)
    margin, heights = {"l": 34, "r": 110, "t": 8, "b": 36}, [0, 0.5, 1]
    y_axis = {"range": [-0.03, 1.06], "tickvals": heights}
    style_chart(figure, theme, 170, margin, {"nticks": 5}, y_axis, "round")
    return figure


def weights_alt(weights: Mapping[str, Sequence[object]]) -> str:
    """Return the text alternative of the lines."""
    last = dict(zip(weights["source"], weights["weight"], strict=True))
    parts = [f"{source} {value:.2f}" for source, value in last.items()]
    return f"Weight of each source after the last round: {', '.join(parts)}."


def uncertainty_figure(
    embedding: Embedding,
    rows: ArrayLike,
    labels: Sequence[Any],
    uncertainty: ArrayLike,
    classes: Sequence[str],
    theme: Theme = "light",
    height: int = 330,
) -> go.Figure:
    """Draw a map with predicted labels as colour and uncertainty as size."""
    token = tokens(theme)
    form = points_to_draw(embedding)
    points, placed = form.points, form.placed
    figure = go.Figure()
    others = np.setdiff1d(np.flatnonzero(placed), np.asarray(rows))
    labelled_rows = np.asarray(rows, dtype=np.int64)
    kind = draw_ground(figure, points, others, len(labelled_rows), token.line, size=3.5)
    size = _MIN_DOT + (_MAX_DOT - _MIN_DOT) * np.clip(
        np.nan_to_num(np.asarray(uncertainty, float)), 0, 1
    )
    is_labelled = np.array([label is not None for label in labels], dtype=bool)
    is_drawn = np.array(is_labelled & placed[labelled_rows])
    starts = np.cumsum([0, *(len(Y) for Y in embedding.coordinates.values())])
    symbol = (
        shape_of(int(np.searchsorted(starts, labelled_rows[0], side="right")) - 1)[0]
        if len(labelled_rows)
        else None
    )

    def dots(chosen: Bools, colour: object, name: str) -> None:
        extra = {"colorscale": number_scale(10, theme)} if not classes else {}
        figure.add_trace(
            {
                "type": kind,
                "x": points[labelled_rows[chosen], 0],
                "y": points[labelled_rows[chosen], 1],
                "mode": "markers",
                "marker": {
                    "size": size[chosen],
                    "color": colour,
                    "symbol": symbol,
                    "opacity": 0.82,
                    "line": {"color": token.bg, "width": 0.6},
                    **extra,
                },
                "hovertemplate": f"{name}<extra></extra>",
            }
        )

    frame = Frame.around(points[placed])
    if classes:
        for place, class_name in enumerate(classes):
            chosen = is_drawn & np.array([label == class_name for label in labels], dtype=bool)
            colour = token.categories[place] if place < N_COLOURS else token.ghost
            dots(chosen, colour, escape(display_name(class_name)))
        _class_names(figure, points, labelled_rows, labels, classes, is_drawn, theme)
    elif is_drawn.any():
        values = np.array([np.nan if label is None else float(label) for label in labels])
        dots(is_drawn, values[is_drawn], "%{marker.color:.3g}")
    style_map(figure, theme, height, np.array(frame.low, float), np.array(frame.high, float))
    return figure


def _class_names(
    figure: go.Figure,
    points: Floats,
    rows: Ints,
    labels: Sequence[object],
    classes: Sequence[str],
    is_drawn: Bools,
    theme: Theme,
) -> None:
    """Write the name of each class among its items, without overlap."""
    token = tokens(theme)
    span = np.ptp(points[np.isfinite(points).all(axis=1)], axis=0)
    taken: list[Floats] = []
    for place, class_name in enumerate(classes[:N_COLOURS]):
        chosen = is_drawn & np.array([label == class_name for label in labels], dtype=bool)
        if not chosen.any():
            continue
        middle = np.median(points[rows[chosen]], axis=0)
        while any((np.abs(middle - other) < span * [0.28, 0.075]).all() for other in taken):
            middle = middle + np.array([0.0, 0.08 * span[1]])
        taken.append(middle)
        name = f"<b>{escape(shorten(display_name(class_name), _MAX_LETTERS))}</b>"
        colour = text_colour(token.categories[place], theme)
        halo = f"0 0 4px {token.bg}, 0 0 4px {token.bg}"
        write_text(figure, (middle[0], middle[1]), name, colour, 14, halo)


def uncertainty_alt(n: int, label: str) -> str:
    """Return the text alternative of the map."""
    return f"Map of all items. {n:,} are coloured by {label}. Larger items are less certain."


def reliability_figure(rows: Sequence[Sequence[float]], theme: Theme = "light") -> go.Figure:
    """Draw accuracy of the most likely class against the confidence of the model."""
    token = tokens(theme)
    confidence, accuracy, items = (
        np.array([row[at] for row in rows], dtype=float) for at in range(3)
    )
    error = np.sqrt(np.maximum(accuracy * (1 - accuracy), 0.25 / items) / items)
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": token.faint, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=confidence,
        y=accuracy,
        mode="lines+markers",
        line={"color": token.accent, "width": 2.5},
        marker={"size": 5, "color": token.accent},
        error_y={"array": error, "width": 0, "thickness": 1},
        hovertemplate="confidence %{x:.0%}: correct in %{y:.0%}<extra></extra>",
    )
    figure.update_layout(**plain_layout(theme, 190, {"l": 42, "r": 12, "t": 8, "b": 40}))
    titles = ((figure.update_xaxes, "confidence of the model"), (figure.update_yaxes, ""))
    for axis, words in titles:
        axis(
            range=[-0.02, 1.04],
            tickformat=".0%",
            nticks=4,
            gridcolor=token.line,
            zeroline=False,
            fixedrange=True,
            title=axis_title(words),
        )
    return figure


def reliability_alt(rows: Sequence[Sequence[float]]) -> str:
    """Return the text alternative of the chart."""
    parts = ", ".join(
        f"confidence {round_percent(row[0])}, correct {round_percent(row[1])}" for row in rows
    )
    return f"Accuracy of the most likely class by confidence of the model: {parts}."

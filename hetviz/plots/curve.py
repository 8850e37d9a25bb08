"""The satisfaction curve: how many links a map keeps among the nearest pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from hetviz.plots.palette import Theme, tokens

Curve = tuple[Sequence[float], Sequence[float]]

LOOK_AT = 0.05
_NAMES = {"given": "given", "held_out": "held out"}
_DASH = {"given": "solid", "held_out": "5px,3px"}
_TICKS = (0.001, 0.01, 0.1, 1.0)
# Of a label, in powers of ten across and in shares up.
_LABEL_WIDTH, _LABEL_HEIGHT = 1.0, 0.15
# Right end and foot of the word in the corner under the line of chance, which stays well above it.
_CHANCE, _CHANCE_WIDTH = (-0.01, 0.0), 0.6


def kept_at(curve: Curve, share: float = LOOK_AT) -> float:
    """Return the share of links among the nearest `share` of all pairs, read off a curve."""
    return float(np.interp(share, np.asarray(curve[0]), np.asarray(curve[1])))


def curve_figure(curves: Mapping[str, Curve], theme: Theme = "light") -> go.Figure:
    """Draw satisfaction curves.

    Parameters
    ----------
    curves : mapping of {"given", "held_out"} to (fraction_of_pairs, fraction_satisfied)
        ``fraction_satisfied[k]`` of the links are among the nearest ``fraction_of_pairs[k]`` of
        all pairs.
    theme : {"light", "dark"}

    Returns
    -------
    Figure
        Logarithmic share of pairs across, share of links up; chance is the dotted line.
    """
    token = tokens(theme)
    x = np.geomspace(_TICKS[0], 1.0, 121)
    figure = go.Figure()

    def line(y: object, colour: str, width: float, dash: str, hover: str | None) -> None:
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": width, "dash": dash},
            hovertemplate=hover,
            hoverinfo="skip" if hover is None else None,
        )

    line(x, token.faint, 1, "dot", None)
    for key, curve in curves.items():
        y = np.interp(x, np.asarray(curve[0]), np.asarray(curve[1]))
        hover = f"{_NAMES[key]}: %{{y:.0%}} within the nearest %{{x:.1%}}<extra></extra>"
        line(y, token.accent, 2.5 if key == "given" else 2, _DASH[key], hover)
    heights = {key: kept_at(curve) for key, curve in curves.items()}
    figure.add_scatter(
        x=[LOOK_AT] * len(heights),
        y=list(heights.values()),
        mode="markers",
        marker={"size": 7, "color": token.bg, "line": {"color": token.accent, "width": 2}},
        hoverinfo="skip",
    )
    places = _label_places(curves)
    for key in curves:
        x_text, y_text, side = places[key]
        figure.add_annotation(
            x=x_text,
            y=y_text,
            text=f"<b>{heights[key]:.0%}</b> {_NAMES[key]}",
            showarrow=False,
            xanchor=side,
            yanchor="bottom",
            font={"color": token.accent, "size": 13},
        )
    figure.add_annotation(
        x=_CHANCE[0],
        y=_CHANCE[1],
        text="chance",
        showarrow=False,
        xanchor="right",
        yanchor="bottom",
        font={"color": token.mute, "size": 12.5},
    )
    figure.update_layout(
        height=175,
        margin={"l": 38, "r": 24, "t": 8, "b": 40},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,
        font={"family": "Source Sans, sans-serif", "size": 12.5, "color": token.mute},
        hoverlabel={
            "bgcolor": token.card,
            "bordercolor": token.line,
            "font": {"color": token.ink},
        },
    )
    figure.update_xaxes(
        type="log",
        range=[float(np.log10(_TICKS[0])), 0.0],
        tickvals=list(_TICKS),
        ticktext=["0.1 %", "1 %", "10 %", "100 %"],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        linecolor=token.line,
        ticks="outside",
        ticklen=4,
        tickcolor=token.line,
        title={"text": "nearest pairs looked at", "font": {"size": 12.5}, "standoff": 4},
    )
    figure.update_yaxes(
        range=[0, 1.03],
        tickvals=[0, 0.5, 1],
        ticktext=["0", "50", "100 %"],
        gridcolor=token.line,
        zeroline=False,
        fixedrange=True,
    )
    return figure


def _label_places(curves: Mapping[str, Curve]) -> dict[str, tuple[float, float, str]]:
    """Return where the labels go: beside where their curves are read off, off all lines."""
    lines = [np.geomspace(_TICKS[0], 1.0, 121)]
    across = np.log10(lines[0])
    lines += [
        np.interp(lines[0], np.asarray(curve[0]), np.asarray(curve[1])) for curve in curves.values()
    ]
    at = float(np.log10(LOOK_AT))
    taken = [(_CHANCE[0] - _CHANCE_WIDTH, _CHANCE[1])]
    places = {}

    def cost(place: tuple[float, float, str], height: float) -> tuple[int, float]:
        x, y, side = place
        left = x - _LABEL_WIDTH if side == "right" else x
        under = (across >= left) & (across <= left + _LABEL_WIDTH)
        crossed = sum(
            int(((line > y - 0.02) & (line < y + _LABEL_HEIGHT))[under].sum()) for line in lines
        )
        near = sum(
            100 for x_0, y_0 in taken if abs(x_0 - left) < _LABEL_WIDTH and abs(y_0 - y) < 0.17
        )
        return crossed + near, abs(y + _LABEL_HEIGHT / 2 - height)

    for key in sorted(curves, key=lambda key: -kept_at(curves[key])):
        height = kept_at(curves[key])
        free = [
            (at + shift, float(y), side)
            for shift, side in ((-0.09, "right"), (0.1, "left"))
            for y in np.arange(0.03, 0.87, 0.04)
        ]
        x, y, side = min(free, key=lambda place: cost(place, height))
        taken.append((x - _LABEL_WIDTH if side == "right" else x, y))
        places[key] = (x, y, side)
    return places


def curve_alt(curves: Mapping[str, Curve]) -> str:
    """Say in words what the curve shows."""
    parts = [f"{kept_at(curve):.0%} of the {_NAMES[key]} links" for key, curve in curves.items()]
    return (
        f"Satisfaction curve: {' and '.join(parts)} are among the nearest {LOOK_AT:.0%} of all "
        f"pairs; chance is {LOOK_AT:.0%}."
    )

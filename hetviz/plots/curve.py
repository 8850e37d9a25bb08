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
    for key, (x_text, y_text, side) in _label_places(heights).items():
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
        x=float(np.log10(0.55)),
        y=0.16,
        text="chance",
        showarrow=False,
        xanchor="right",
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


def _label_places(heights: Mapping[str, float]) -> dict[str, tuple[float, float, str]]:
    """Return where the labels of curves go that are `heights` high where they are read off.

    Curves rise to the right: the left above the upper curve is free, and the right below the lower
    one where that is high enough.
    """
    at = float(np.log10(LOOK_AT))
    order = sorted(heights, key=lambda key: -heights[key])
    lowest, highest = heights[order[-1]], heights[order[0]]
    if highest > 0.8:
        # No room above: all of them below, one under the other.
        return {
            key: (at + 0.1, min(lowest - 0.22, 0.6) - 0.16 * k, "left")
            for k, key in enumerate(order)
        }
    places = {order[0]: (at - 0.09, highest + 0.05, "right")}
    if len(order) > 1:
        if lowest > 0.35 and highest - lowest > 0.1:
            places[order[1]] = (at + 0.12, lowest - 0.2, "left")
        else:
            places[order[0]] = (at - 0.09, highest + 0.21, "right")
            places[order[1]] = (at - 0.09, highest + 0.05, "right")
    return places


def curve_alt(curves: Mapping[str, Curve]) -> str:
    """Say in words what the curve shows."""
    parts = [f"{kept_at(curve):.0%} of the {_NAMES[key]} links" for key, curve in curves.items()]
    return (
        f"Satisfaction curve: {' and '.join(parts)} are among the nearest {LOOK_AT:.0%} of all "
        f"pairs; chance is {LOOK_AT:.0%}."
    )

"""Overlaid satisfaction curves of several maps, named at their ends."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from hetviz._text import round_percent
from hetviz.plots.charts import outer_ticks, style_chart, write_text
from hetviz.plots.curve import Curve, pair_share_of, share_close_at
from hetviz.plots.palette import Theme, tokens

# Range of the share of pairs. Beyond a fifth the curves meet, if no more pairs are close.
_LOW, _HIGH = 0.001, 0.2
_HEIGHT, _MARGIN = 260, {"l": 46, "r": 150, "t": 8, "b": 44}
_LINE_PX = 17
_MAX_LINE_LETTERS = 21
_MAX_NAMES = 10
CHANCE = "chance"


def overlaid_figure(curves: Mapping[str, Curve], winner: str, theme: Theme = "light") -> go.Figure:
    """Draw overlaid curves."""
    token = tokens(theme)
    close = pair_share_of(curves, "links")
    highest = min(max(_HIGH, 1.5 * close), 1.0)
    x = np.geomspace(_LOW, highest, 101)
    lines = {name: np.interp(x, curve[0], curve[1]) for name, curve in curves.items()}
    top = min(max([*(float(y[-1]) for y in lines.values()), 0.25]) * 1.06, 1.03)
    figure = go.Figure()
    figure.add_scatter(
        x=x, y=x, mode="lines", line={"color": token.faint, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )  # fmt: skip
    for name in sorted(lines, key=lambda name: name == winner):
        is_winner = name == winner
        figure.add_scatter(
            x=x,
            y=lines[name],
            mode="lines",
            line={
                "color": token.accent if is_winner else token.faint,
                "width": 2.5 if is_winner else 1.4,
            },
            hovertemplate=(
                f"{_escape_plotly(name)}: %{{y:.0%}} among the closest %{{x:.1%}}<extra></extra>"
            ),
        )
    ends = {name: float(y[-1]) for name, y in lines.items()} | {CHANCE: highest}
    named = sorted(ends, key=lambda name: (name not in (winner, CHANCE), -ends[name]))
    inner = _HEIGHT - _MARGIN["t"] - _MARGIN["b"]
    for name, place in _spread_labels(
        {name: ends[name] for name in named[:_MAX_NAMES]}, top, inner
    ).items():
        text = "<br>".join(_escape_plotly(line) for line in _wrap_name(name))
        end = float(np.log10(highest)), place
        colour = token.accent if name == winner else token.mute
        text = f"<b>{text}</b>" if name == winner else text
        write_text(
            figure, end, text, colour, xshift=6, xanchor="left", yanchor="middle", align="left"
        )
    figure.add_shape(
        type="line", x0=close, x1=close, y0=0, y1=top, layer="below",
        line={"color": token.line, "width": 1},
    )  # fmt: skip
    steps = [0, 0.25, 0.5, 0.75, 1.0] if top > 0.4 else [0, 0.1, 0.2, 0.3, 0.4]
    ticks = [step for step in steps if step <= top]
    tick_texts = [f"{100 * step:.0f}" + " %" * (step == ticks[-1]) for step in ticks]
    style_chart(
        figure,
        theme,
        _HEIGHT,
        _MARGIN,
        {
            "type": "log",
            "range": [float(np.log10(_LOW)), float(np.log10(highest))],
            "tickvals": [_LOW, 0.01, close, highest],
            "ticktext": ["0.1 %", "1 %", round_percent(close), round_percent(highest)],
            **outer_ticks(theme),
        },
        {"range": [0, top], "tickvals": ticks, "ticktext": tick_texts},
        "share of closest pairs",
    )
    return figure


def overlaid_alt(curves: Mapping[str, Curve]) -> str:
    """Return the text alternative of the figure."""
    parts = [
        f"{name} {round_percent(share_close_at(curve))}"
        for name, curve in sorted(curves.items(), key=lambda item: -share_close_at(item[1]))
    ]
    share = round_percent(pair_share_of(curves, "links"))
    return (
        f"Close links, among the closest {share} of all pairs: {', '.join(parts)}. "
        f"By chance it would be {share}."
    )


def _spread_labels(ends: Mapping[str, float], top: float, inner: int) -> dict[str, float]:
    """Return label heights at the ends of the lines, without overlap."""
    order = sorted(ends, key=lambda name: -ends[name])
    half = {name: len(_wrap_name(name)) * _LINE_PX / inner * top / 2 for name in order}
    places: dict[str, float] = {}
    ceiling = top
    for name in order:
        places[name] = min(ends[name], ceiling - half[name])
        ceiling = places[name] - half[name]
    # Labels pushed below the axis move up and push those above them.
    floor = 0.0
    for name in reversed(order):
        places[name] = max(places[name], floor + half[name])
        floor = places[name] + half[name]
    return places


def _wrap_name(name: str) -> list[str]:
    lines: list[str] = []
    for word in name.split():
        if lines and len(lines[-1]) + 1 + len(word) <= _MAX_LINE_LETTERS:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _escape_plotly(text: str) -> str:
    """Return text without Plotly markup or placeholders."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("%{", "% {")

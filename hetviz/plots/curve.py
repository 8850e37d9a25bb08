"""Satisfaction curves: share of given and hidden guidance that a map satisfies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hetviz._text import join_words, round_percent
from hetviz._types import Floats
from hetviz.core.measures.satisfaction import NEAR_SHARE
from hetviz.plots.charts import outer_ticks, style_chart, write_text
from hetviz.plots.palette import Theme, tokens

if TYPE_CHECKING:
    import plotly.graph_objects as go

Curve = Sequence[Sequence[float]]
"""Shares of pairs, share of satisfied guidance at each, and for links chance level and value of the
share of links that are close (see `hetviz.curves`); curves of earlier versions have no third."""

_NAMES = {"given": "given", "held_out": "hidden"}
_DASH = {"given": "solid", "held_out": "5px,3px"}
_TICKS = (0.001, 0.01, 0.1, 1.0)
# Size of a label, in powers of ten across and in shares up.
_LABEL_WIDTH, _LABEL_HEIGHT = 1.0, 0.15
# Right end, bottom and width of the label in the corner below the chance line.
_CHANCE, _CHANCE_WIDTH = (-0.01, 0.0), 0.6


@dataclass(frozen=True)
class CurveKind:
    """Style of one kind of curve."""

    read_at: float  # x of the curve, where it has no own
    to_curve_x: Callable[[Floats], Floats]
    chance: Callable[[Floats], Floats]
    ticks: tuple[float, ...]
    tick_texts: tuple[str, ...]
    title: str
    hover: str
    chance_position: tuple[float, float]
    outcome: str


def _even_spread(x: Floats) -> Floats:
    """Return evenly spaced shares for positions on the logarithmic axis."""
    return 1.0 + np.log10(x) / 3.0


CURVE_KINDS = {
    "links": CurveKind(
        NEAR_SHARE,
        lambda x: x,
        lambda x: x,
        _TICKS,
        ("0.1 %", "1 %", "10 %", "100 %"),
        "share of closest pairs",
        "%{y:.0%} among the closest %{customdata:.1%}",
        _CHANCE,
        "close",
    ),
    "apart": CurveKind(
        NEAR_SHARE,
        lambda x: x,
        lambda x: 1.0 - x,
        _TICKS,
        ("0.1 %", "1 %", "10 %", "100 %"),
        "share of closest pairs",
        "%{y:.0%} not among the closest %{customdata:.1%}",
        _CHANCE,
        "not close",
    ),
    "comparisons": CurveKind(
        1.0,
        _even_spread,
        # Chance is defined at the right end only.
        lambda x: np.where(_even_spread(x) >= 0.9, 0.5, np.nan),
        tuple(10.0 ** (3.0 * (share - 1.0)) for share in (0.0, 0.5, 1.0)),
        ("0", "half as far", "as far"),
        "closer pair, compared to the farther pair",
        "%{y:.0%} with the closer pair at most %{customdata:.0%} as far",
        (0.0, 0.36),
        "satisfied",
    ),
}


def share_close_at(curve: Curve, share: float | None = None) -> float:
    """Return the share of links that are close, or among the closest `share` of all pairs."""
    if share is None:
        if has_close_level(curve):
            return curve[2][1]
        share = NEAR_SHARE
    return float(np.interp(share, np.asarray(curve[0]), np.asarray(curve[1])))


def has_close_level(curve: Curve) -> bool:
    """Whether a curve has the share of links that are close; those of earlier versions do not."""
    return len(curve) > 2


def chance_of(curve: Curve) -> float:
    """Return the chance level of the share of links that are close."""
    return curve[2][0] if has_close_level(curve) else NEAR_SHARE


def pair_share_of(curves: Mapping[str, Curve], kind: str) -> float:
    """Return the x at which curves of a kind are read off: where pairs count as close."""
    spec = CURVE_KINDS[kind]
    levels = [curve[2][0] for curve in curves.values() if len(curve) > 2]
    if kind == "comparisons" or not levels:
        return spec.read_at
    return 1.0 - levels[0] if kind == "apart" else levels[0]


def curve_figure(
    curves: Mapping[str, Curve],
    theme: Theme = "light",
    kind: str = "links",
    pair_share: float | None = None,
    *,
    clicked: bool = False,
) -> go.Figure:
    """Draw satisfaction curves."""
    import plotly.graph_objects as go

    token = tokens(theme)
    spec = CURVE_KINDS[kind]
    asked, usual = pair_share, pair_share_of(curves, kind)
    pair_share = usual if pair_share is None else pair_share
    x = np.geomspace(_TICKS[0], 1.0, 121)
    curve_x = spec.to_curve_x(x)
    drawn_at = float(10.0 ** np.interp(pair_share, curve_x, np.log10(x)))
    figure = go.Figure()

    def line(y: object, colour: str, width: float, dash: str, hover: str | None) -> None:
        figure.add_scatter(
            x=x,
            y=y,
            # Lines alone cannot be clicked.
            mode="lines+markers" if clicked and hover else "lines",
            marker={"size": 12, "opacity": 0.0, "color": token.accent},
            selected={"marker": {"opacity": 0.0}},
            unselected={"marker": {"opacity": 0.0}},
            line={"color": colour, "width": width, "dash": dash},
            customdata=curve_x,
            hovertemplate=hover,
            hoverinfo="skip" if hover is None else None,
        )

    line(spec.chance(x), token.faint, 1, "dot", None)
    for key, curve in curves.items():
        y = np.interp(curve_x, np.asarray(curve[0]), np.asarray(curve[1]))
        hover = f"{_NAMES[key]}: {spec.hover}<extra></extra>"
        line(y, token.accent, 2.5 if key == "given" else 2, _DASH[key], hover)
    read_at = pair_share if kind == "comparisons" or asked not in (None, usual) else None
    heights = {key: share_close_at(curve, read_at) for key, curve in curves.items()}
    figure.add_scatter(
        x=[drawn_at] * len(heights),
        y=list(heights.values()),
        mode="markers",
        marker={"size": 7, "color": token.bg, "line": {"color": token.accent, "width": 2}},
        hoverinfo="skip",
    )
    places = _place_labels(curves, spec, heights, drawn_at)
    names = _NAMES if len(curves) > 1 else {**_NAMES, "given": spec.outcome}
    for key in curves:
        x_text, y_text, side = places[key]
        text = f"<b>{round_percent(heights[key])}</b> {names[key]}"
        at = x_text, y_text
        write_text(figure, at, text, token.accent, 12.5, xanchor=side, yanchor="bottom")
    chance_at = spec.chance_position
    write_text(figure, chance_at, "chance", token.mute, xanchor="right", yanchor="bottom")
    style_chart(
        figure,
        theme,
        175,
        {"l": 38, "r": 24, "t": 8, "b": 40},
        {
            "type": "log",
            "range": [float(np.log10(_TICKS[0])), 0.0],
            "tickvals": list(spec.ticks),
            "ticktext": list(spec.tick_texts),
            **outer_ticks(theme),
        },
        {"range": [0, 1.03], "tickvals": [0, 0.5, 1], "ticktext": ["0", "50", "100 %"]},
        spec.title,
    )
    return figure


def _place_labels(
    curves: Mapping[str, Curve], spec: CurveKind, heights: Mapping[str, float], drawn_at: float
) -> dict[str, tuple[float, float, str]]:
    """Return label positions close to the marked points and clear of all lines."""
    grid = np.geomspace(_TICKS[0], 1.0, 121)
    across = np.log10(grid)
    lines = [spec.chance(grid)]
    lines += [
        np.interp(spec.to_curve_x(grid), np.asarray(curve[0]), np.asarray(curve[1]))
        for curve in curves.values()
    ]
    log_share = float(np.log10(drawn_at))
    taken = [(spec.chance_position[0] - _CHANCE_WIDTH, spec.chance_position[1])]
    places = {}

    def cost(place: tuple[float, float, str], height: float) -> tuple[int, float]:
        x, y, side = place
        left = x - _LABEL_WIDTH if side == "right" else x
        under = (across >= left) & (across <= left + _LABEL_WIDTH)
        crossed = sum(
            int(((line > y - 0.02) & (line < y + _LABEL_HEIGHT))[under].sum()) for line in lines
        )
        overlaps = sum(
            100 for x_0, y_0 in taken if abs(x_0 - left) < _LABEL_WIDTH and abs(y_0 - y) < 0.17
        )
        distance = abs(y + _LABEL_HEIGHT / 2 - height) + 0.3 * max(log_share - x, 0.0)
        return crossed + overlaps, distance

    sides = [(-0.09, "right"), (0.1, "left")]
    if log_share + _LABEL_WIDTH > 0.0:
        # Curves that end close together leave no space, so their labels move left.
        sides = [(shift, "right") for shift in (-0.09, -0.5, -0.9, -1.3)]
    elif log_share - _LABEL_WIDTH < float(np.log10(_TICKS[0])):
        sides = sides[1:]
    for key in sorted(curves, key=lambda key: -heights[key]):
        height = heights[key]
        free = [
            (log_share + shift, float(y), side)
            for shift, side in sides
            for y in np.arange(0.03, 0.87, 0.04)
        ]
        x, y, side = min(free, key=lambda place: cost(place, height))
        taken.append((x - _LABEL_WIDTH if side == "right" else x, y))
        places[key] = (x, y, side)
    return places


def curve_alt(curves: Mapping[str, Curve], kind: str = "links") -> str:
    """Return the text alternative of the curve."""
    if kind == "comparisons":
        shares = [
            f"{round_percent(share_close_at(curve, 1.0))} of the {_NAMES[key]} ones"
            for key, curve in curves.items()
        ]
        return f"Curve of comparisons: the map agrees with {join_words(shares)}. Chance is 50 %."
    shares = [
        f"{round_percent(share_close_at(curve))} of the {_NAMES[key]} "
        f"{'links' if kind == 'links' else 'ones'}"
        for key, curve in curves.items()
    ]
    closest = round_percent(pair_share_of(curves, kind))
    chance = round_percent(chance_of(next(iter(curves.values()))))
    if kind == "apart":
        return (
            f"Curve of apart links: {join_words(shares)} are not close (not among the closest "
            f"{closest} of all pairs). Chance is {chance}."
        )
    return (
        f"Curve of links: {join_words(shares)} are close (among the closest {closest} of all "
        f"pairs). Chance is {chance}."
    )

"""Curves and bars for print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hetviz._text import round_percent, shorten
from hetviz.plots.curve import CURVE_KINDS, Curve, share_close_at
from hetviz.plots.paper import MM, PAPER, Page, check_size, font, put_text, text_size

_NAMES = {"given": "given", "held_out": "held out"}
_DASHES = {"given": (0, ()), "held_out": (0, (4, 2))}
_FONT = 7.0


def paper_curve(
    curves: Mapping[str, Curve],
    kind: str = "links",
    *,
    width: float = 85.0,
    height: float | None = None,
    font_size: float | None = None,
) -> Figure:
    """Draw satisfaction curves for print."""
    spec = CURVE_KINDS[kind]
    size = font_size or _font_size(width)
    figure, axes = _make_axes(width, height or 0.62 * width, left=5 * size, bottom=4.2 * size)
    grid = np.geomspace(spec.ticks[0], 1.0, 241)
    curve_x = spec.to_curve_x(grid)
    axes.plot(grid, spec.chance(grid), color=PAPER.mute, linewidth=0.8, linestyle=(0, (1, 2)))
    for key, curve in curves.items():
        y = np.interp(curve_x, np.asarray(curve[0]), np.asarray(curve[1]))
        dash, thick = _DASHES[key], 1.5 if key == "given" else 1.2
        axes.plot(grid, y, color=PAPER.accent, linewidth=thick, linestyle=dash)
    axes.set_xscale("log")
    axes.set_xlim(grid[0], 1.0)
    axes.set_ylim(0, 1.02)
    axes.set_xticks(list(spec.ticks), list(spec.tick_texts))
    axes.set_xticks([], minor=True)
    axes.set_yticks([0, 0.5, 1], ["0", "50", "100 %"])
    axes.grid(axis="y", color=PAPER.line, linewidth=0.5)
    _style_axes(axes, size)
    axes.set_xlabel(
        spec.title, fontproperties=font(size, text=spec.title), color=PAPER.mute, labelpad=2
    )
    read_at = spec.read_at if kind == "comparisons" else None
    heights = {key: share_close_at(curve, read_at) for key, curve in curves.items()}
    texts = [
        f"{_NAMES[key]}: {round_percent(share)} {spec.outcome}" for key, share in heights.items()
    ]
    _draw_legend(
        figure,
        axes,
        [(word, _DASHES[key]) for word, key in zip(texts, heights, strict=True)],
        size,
        kind,
    )
    return figure


def paper_bars(
    names: Sequence[str],
    means: Sequence[float],
    errors: Sequence[float],
    *,
    label: str,
    chance: float | None = None,
    width: float = 85.0,
    height: float | None = None,
    font_size: float | None = None,
) -> Figure:
    """Draw a leaderboard for print with one bar per method, the best first."""
    size = font_size or _font_size(width)
    texts = [shorten(name, 34) for name in names]
    left = max((text_size(text, size) for text in texts), default=0.0) + 8
    tall = (len(texts) * 1.9 * size + 5.5 * size) / MM
    figure, axes = _make_axes(width, max(tall, height or 25.0), left=left, bottom=4.2 * size)
    order = np.argsort(-np.asarray(means, dtype=float), kind="stable")
    positions = np.arange(len(order))
    values = np.asarray(means, dtype=float)[order]
    bars = np.nan_to_num(np.asarray(errors, dtype=float)[order])
    colours = [PAPER.accent if k == 0 else PAPER.faint for k in positions]
    axes.barh(positions, values, height=0.62, color=colours, linewidth=0)
    axes.errorbar(values, positions, xerr=bars, fmt="none", ecolor=PAPER.ink, elinewidth=0.8)
    for k, (value, bar) in enumerate(zip(values, bars, strict=True)):
        axes.annotate(
            f"{100 * value:.0f}",
            (value + bar, k),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontproperties=font(size),
            color=PAPER.ink,
        )
    if chance is not None:
        axes.axvline(chance, color=PAPER.mute, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set_yticks(positions, [texts[k] for k in order])
    top = float(np.max(values + bars, initial=0.01))
    axes.set_xlim(0, 1.12 * top)
    axes.set_ylim(len(order) - 0.4, -0.6)
    ticks = [tick for tick in axes.get_xticks() if 0 <= tick <= 1.12 * top]
    axes.set_xticks(ticks, [f"{100 * tick:g}" for tick in ticks])
    _style_axes(axes, size)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"{label}, %", fontproperties=font(size), color=PAPER.mute, labelpad=2)
    return figure


def _font_size(width: float) -> float:
    return min(_FONT * float(np.sqrt(check_size("width", width) / 85.0)), 11.0)


def _make_axes(width: float, height: float, left: float, bottom: float) -> tuple[Figure, Axes]:
    page = Page(check_size("width", width), check_size("height", height))
    W, H = page.points
    figure = Figure(figsize=(W / 72, H / 72), dpi=72, facecolor="white")
    inner = (left / W, bottom / H, 1 - (left + 16) / W, 1 - (bottom + 6) / H)
    return figure, figure.add_axes(inner)


def _style_axes(axes: Axes, size: float) -> None:
    """Keep only the bottom spine, with small ticks and the figure font."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PAPER.faint)
    axes.spines["bottom"].set_linewidth(0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", length=2.5, width=0.6, color=PAPER.faint, pad=2)
    axes.tick_params(axis="y", length=0, pad=3)
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        text.set_fontproperties(font(size, text=text.get_text()))
        text.set_color(PAPER.mute)


def _draw_legend(
    figure: Figure,
    axes: Axes,
    lines: Sequence[tuple[str, tuple[int, tuple[int, ...]]]],
    size: float,
    kind: str,
) -> None:
    """Draw a legend of the curves in the corner that they leave free."""
    legend = axes.inset_axes((0, 0, 1, 1), zorder=5)
    box = axes.get_position()
    W, H = 72 * figure.get_size_inches() * [box.width, box.height]
    legend.set_xlim(0, W)
    legend.set_ylim(0, H)
    legend.set_axis_off()
    entries = [(text, dash, PAPER.accent, 1.4) for text, dash in lines]
    entries.append(("chance", (0, (1, 2)), PAPER.mute, 0.8))
    # Curves rise from the lower left. Those of apart links fall from the upper left.
    x = 4.0
    y = H - size - 2 if kind != "apart" else (len(entries) - 1) * 1.45 * size + 5
    for text, dash, colour, thick in entries:
        legend.plot(
            [x, x + 16], [y + 0.35 * size] * 2, color=colour, linewidth=thick, linestyle=dash
        )
        put_text(legend, x + 20, y, text, size, PAPER.ink, halo=1.0)
        y -= 1.45 * size

"""Figures of one look: axes with units, means with bars of one standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

# Okabe and Ito's colours, which people who see colours differently tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "hetviz",
}
# Titles and marks look the style up when they are drawn, long after the axes are made.
rcParams.update(STYLE)


def panels(
    columns: int, rows: int = 1, *, width: float = 3.2, height: float = 2.7, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes, row by row.

    Parameters
    ----------
    columns, rows : int
    width, height : float
        Of one panel, in inches.
    **options
        Of ``Figure.subplots``, such as ``sharey``.
    """
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.ravel())


def curve(
    ax: Axes,
    x: Sequence[float],
    mean: Sequence[float],
    error: Sequence[float] | None,
    label: str,
    place: int,
    *,
    line: str = "-",
) -> None:
    """Draw means over x with bars of one standard error, in colour and mark number `place`."""
    bars = None if error is None else np.nan_to_num(np.asarray(error, dtype=np.float64))
    ax.errorbar(
        x,
        mean,
        yerr=bars,
        label=label,
        color=COLOURS[place % len(COLOURS)],
        marker=MARKS[place % len(MARKS)],
        markersize=4,
        linewidth=1.3,
        linestyle=line,
        capsize=2,
    )


def plain_log_x(ax: Axes, at: Sequence[float]) -> None:
    """Make the horizontal axis logarithmic, with plain numbers at the given places."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(at)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def legend_below(figure: Figure, ax: Axes, columns: int = 4) -> None:
    """Put the legend of one panel below all of them."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8
    )

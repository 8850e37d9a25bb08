"""Still picture of a map, for programs without widgets and notebooks without a kernel."""

from __future__ import annotations

from html import escape

from hetviz.data import Embedding, HeteroData
from hetviz.metrics.color_choice import find_best_color
from hetviz.plots.colour import Colouring, colouring
from hetviz.plots.palette import tokens
from hetviz.plots.still import still_map

_WIDTH, _HEIGHT, _FOOT_PX, _MAX_NAMES = 720, 440, 30, 8
# Approximate width of a letter of the legend, in pixels.
_LETTER_PX = 6.4


def still_svg(data: HeteroData, embedding: Embedding) -> str:
    """Return a still picture of a map as SVG, with a legend of its colours."""
    colours = colouring(data, find_best_color(data, embedding))
    token = tokens("light")
    inner = still_map(data, embedding, colours, width=_WIDTH, height=_HEIGHT, dot=4.0)
    size = f'width="{_WIDTH}" height="{_HEIGHT + _FOOT_PX}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT + _FOOT_PX}">'
        f'<rect {size} fill="{token.bg}"/>'
        f"{inner.replace('<svg ', f'<svg {_size_attributes(_HEIGHT)} ', 1)}"
        f'<g font-family="system-ui, sans-serif" font-size="12" fill="{token.ink}">'
        f"{_legend_svg(colours)}</g></svg>"
    )


def _size_attributes(height: int) -> str:
    return f'width="{_WIDTH}" height="{height}"'


def _legend_svg(colours: Colouring) -> str:
    palette = colours.colours("light")
    left, y, parts = 12.0, _HEIGHT + 18, []
    for code, name in enumerate(colours.categories[:_MAX_NAMES]):
        text = str(name)[:24]
        right = left + 14 + _LETTER_PX * len(text)
        if right > _WIDTH - 12:
            break
        parts.append(
            f'<circle cx="{left + 4:.0f}" cy="{y - 4}" r="4" fill="{palette[code]}"/>'
            f'<text x="{left + 12:.0f}" y="{y}">{escape(text)}</text>'
        )
        left = right + 14
    return "".join(parts)

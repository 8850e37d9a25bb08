"""Colours and shapes: tokens of both themes, the categorical palette, one shape a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hetviz._types import Floats, Ints

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Tokens:
    """The colours of one theme, as ``#rrggbb``."""

    # `bg`, `soft`, `card`, `line`: page, quiet areas, hover labels, borders.
    bg: str
    soft: str
    card: str
    line: str
    # `ink`, `mute`, `faint`: text, second lines, thin curves only.
    ink: str
    mute: str
    faint: str
    # `accent`, `on_accent`, `ok`, `bad`: controls and the main curve, text on them, the state dot,
    # errors.
    accent: str
    on_accent: str
    ok: str
    bad: str
    # `plus`, `minus`: together and apart, always beside the word or sign.
    plus: str
    minus: str
    ghost: str  # Points without a value.
    # `edge`, `wash`: outlines of controls; what is chosen or under the hand.
    edge: str
    wash: str
    # Twelve colours at least 0.15 apart in OKLab, 0.10 as colour-blind readers see them. The dark
    # ones come last, because few maps need them.
    categories: tuple[str, ...]


_LIGHT = Tokens(
    bg="#fcfbf8",
    soft="#f3f1eb",
    card="#ffffff",
    line="#e4e0d6",
    ink="#1d1f22",
    mute="#5b5d62",
    faint="#8a8c90",
    accent="#1d5c63",
    on_accent="#ffffff",
    ok="#1d7a5f",
    bad="#a3231f",
    plus="#2f4cc4",
    minus="#b5560d",
    ghost="#c3c1bb",
    edge="#8a877e",
    wash="#e6eeec",
    categories=(
        "#373fbb",
        "#e46e1b",
        "#04a381",
        "#81007c",
        "#16769e",
        "#95613e",
        "#9e7bef",
        "#580227",
        "#892dff",
        "#574318",
        "#25035a",
        "#1f000b",
    ),
)
_DARK = Tokens(
    bg="#14161a",
    soft="#202327",
    card="#1b1e22",
    line="#2c3036",
    ink="#ecebe6",
    mute="#a9abb0",
    faint="#7d8086",
    accent="#7cc7c3",
    on_accent="#0d1f1e",
    ok="#7fd1ae",
    bad="#f08a80",
    plus="#7aaeff",
    minus="#ff9a55",
    ghost="#4a4d53",
    edge="#6d7178",
    wash="#20312f",
    categories=(
        "#4b96ff",
        "#ffd08d",
        "#a8ffe3",
        "#ff9eb8",
        "#5acefe",
        "#bbbc00",
        "#7949ff",
        "#c47781",
        "#dd00bb",
        "#8c8b04",
        "#087637",
        "#7f5984",
    ),
)

# Viridis, from low to high: even in lightness, and read alike by colour-blind readers.
_VIRIDIS = (
    "#440154",
    "#482878",
    "#3e4989",
    "#31688e",
    "#26828e",
    "#1f9e89",
    "#35b779",
    "#6ece58",
    "#b5de2b",
    "#fde725",
)

# The part of it that stands out from the page of a theme: its ends are lost on black or on white.
_SEEN = {"light": (0.0, 0.58), "dark": (0.34, 1.0)}

SHAPES = (
    "circle",
    "diamond",
    "square",
    "triangle-up",
    "cross",
    "star",
    "hexagon",
    "triangle-down",
)
GLYPHS = ("●", "◆", "■", "▲", "✚", "★", "⬢", "▼")
SIZE_FACTORS = (1.00, 1.18, 0.90, 1.12, 1.05, 1.30, 1.05, 1.12)
N_SLOTS = len(SHAPES)
N_COLOURS = len(_LIGHT.categories)


PALE_SHARE = 0.55
"""Share of the page's colour in a paler colour. `colors.js` of the map has the same."""


def tokens(theme: Theme) -> Tokens:
    """Return the colours of a theme."""
    return _DARK if theme == "dark" else _LIGHT


def mix(first: str, second: str, share: float) -> str:
    """Return `first` with `share` of `second` mixed in, channel by channel."""

    def channels(colour: str) -> list[int]:
        return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]

    pairs = zip(channels(first), channels(second), strict=True)
    return "#" + "".join(f"{round((1 - share) * a + share * b):02x}" for a, b in pairs)


def pale(colour: str, theme: Theme) -> str:
    """Return the colour of an item that only takes a colour of what it links to."""
    return mix(colour, tokens(theme).bg, PALE_SHARE)


def number_colour(share: float, theme: Theme) -> str:
    """Return the colour at `share` of the scale of numbers of a theme, from 0 (low) to 1 (high)."""
    low, high = _SEEN[theme]
    at = (low + (high - low) * share) * (len(_VIRIDIS) - 1)
    k = min(int(at), len(_VIRIDIS) - 2)
    return mix(_VIRIDIS[k], _VIRIDIS[k + 1], at - k)


def number_scale(n: int, theme: Theme) -> tuple[str, ...]:
    """Return `n` colours of the scale of numbers of a theme, evenly from low to high."""
    return tuple(number_colour(k / max(n - 1, 1), theme) for k in range(n))


def category_colours(n: int, theme: Theme, *, ordered: bool = False) -> tuple[str, ...]:
    """Return the colours of n categories: all different, or from low to high where `ordered`."""
    # More than there are different colours begin again, and names tell them apart.
    if not ordered:
        plain = tokens(theme).categories
        return tuple(plain[k % len(plain)] for k in range(n))
    return number_scale(n, theme)


def in_theme(colour: str, theme: Theme) -> str:
    """Return the colour of the palette at the same place in a theme; other colours unchanged."""
    for palette in (_LIGHT.categories, _DARK.categories):
        if colour in palette:
            return tokens(theme).categories[palette.index(colour)]
    return colour


def text_colour(colour: str, theme: Theme) -> str:
    """Return a category's colour dark (or light) enough for text."""
    return mix(colour, tokens(theme).ink, 0.26)


def shape_of(place: int) -> tuple[str, str, float]:
    """Return marker symbol, glyph and size factor of the dataset at `place`."""
    k = place % N_SLOTS
    return SHAPES[k], GLYPHS[k], SIZE_FACTORS[k]


_DRAWN_PLAINLY = 3_000


def points_kind(count: int) -> str:
    """Return the kind of Plotly trace for the points of a small map."""
    # WebGL where they are many only: browsers that lack it would show Plotly's complaint instead.
    return "scatter" if count <= _DRAWN_PLAINLY else "scattergl"


def ground(
    points: Floats, rows: Ints, kind: str, colour: str, size: float = 4, opacity: float = 1.0
) -> dict[str, object]:
    """Return the trace of the points that a small map only stands on: faint, without hover."""
    return {
        "type": kind,
        "x": points[rows, 0],
        "y": points[rows, 1],
        "mode": "markers",
        "marker": {"size": size, "color": colour, "opacity": opacity},
        "hoverinfo": "skip",
    }


# What all small charts share: no box, no legend, the page's own colour and type.


def plain_layout(theme: Theme, height: int, margin: Mapping[str, int]) -> dict[str, object]:
    """Return a Plotly layout of that height in pixels."""
    token = tokens(theme)
    return {
        "height": height,
        "margin": dict(margin),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "font": {"family": "Source Sans, sans-serif", "size": 12.5, "color": token.mute},
        "hoverlabel": {
            "bgcolor": token.card,
            "bordercolor": token.line,
            "font": {"color": token.ink},
        },
    }

"""Figures: maps, curves and small still maps, each with its text alternative."""

from hetviz.plots.colour import Colouring, ColourOption, colour_options, colouring
from hetviz.plots.palette import GLYPHS, Theme, tokens
from hetviz.plots.still import still_map

__all__ = [
    "GLYPHS",
    "ColourOption",
    "Colouring",
    "Theme",
    "colour_options",
    "colouring",
    "still_map",
    "tokens",
]

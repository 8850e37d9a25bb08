"""Figures: maps, curves and small still maps, each with its text alternative."""

from hetviz.plots.colour import colour_options as colour_options
from hetviz.plots.colour import colouring as colouring
from hetviz.plots.still import still_map as still_map

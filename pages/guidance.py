"""Guidance: the map, with what was said of how items relate beside it."""

from hetviz.ui.map import work

work.show("Guidance")

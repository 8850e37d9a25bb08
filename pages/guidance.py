"""Guidance: the map, with what was said of how items relate beside it."""

from hetviz.ui.map import map_page

map_page.show_map_page("Guidance")

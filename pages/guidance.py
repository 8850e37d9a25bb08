"""Guidance page: the map and its guidance."""

from hetviz.ui.map import map_page

map_page.show_map_page("Guidance")

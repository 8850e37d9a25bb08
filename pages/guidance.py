"""Guidance page: the map and its guidance."""

from hetviz.ui.app import map_page

map_page.show_map_page("Guidance")

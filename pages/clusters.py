"""Clusters page: the map and its clusters."""

from hetviz.ui.app import map_page

map_page.show_map_page("Clusters")
